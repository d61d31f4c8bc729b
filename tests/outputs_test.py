#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is written goes through no symbolic link that others may have made. fs.protected_symlinks knows sticky folders only."""
import os
import re
import shutil
import subprocess
import unittest

from program import CAPTURES, Folder, PROGRAM, conform

GENERATOR = os.environ["IPOIB_GEN"]
REFUSED = "is a symbolic link in a folder that others can write"
CASE = "IPOIB-4391-6-INV-001"
# How each command that writes comes to its end quickly.
CALLS = {
    "check": [CAPTURES / "usual.pcap"],
    "run": [CASE],
    "audit": ["--fabric", "simulated"],
    "selftest": [CASE],
    "merge": ["one=one.json"],
}
# Written after minutes, by the same functions: base_test.py sees to that.
LATE = {"--frames", "--decisiveness"}


def options_that_write():
    """(command, option, FILE or DIR), as the programs' help tells of them."""
    commands = re.findall(r"(?m)^  ([a-z-]+) {2,}\S", conform("--help").stdout.partition("Subcommands:")[2]
                          .partition("Examples:")[0])
    for command in commands:
        for option, kind, words in re.findall(r"(?m)^  (--[a-z-]+) (FILE|DIR)\b(.*(?:\n {20,}\S.*)?)",
                                              conform(command, "--help").stdout):
            if option not in LATE and re.search(r"\b(?:Write|Keep|Put|Save|Leave)\b", words):
                yield command, option, kind


class Outputs(Folder):
    def setUp(self):
        super().setUp()
        self.victim = self.folder / "victim"
        self.shared = self.folder / "shared"
        self.shared.mkdir()
        self.results = self.folder / "one.json"
        conform("check", CAPTURES / "usual.pcap", "--json", self.results)

    def call(self, command, *more):
        # Pages are of all cases.
        return conform(command, *([] if "--pages" in more else CALLS[command]), *more, cwd=self.folder)

    def make_victim(self, kind):
        if self.victim.is_dir():
            shutil.rmtree(self.victim)
        else:
            self.victim.unlink(missing_ok=True)
        if kind == "DIR":
            self.victim.mkdir()
        else:
            self.victim.write_text("untouched")

    def is_untouched(self):
        return not list(self.victim.iterdir()) if self.victim.is_dir() else self.victim.read_text() == "untouched"

    def refuses(self, done, codes=(2, 3)):
        self.assertIn(done.returncode, codes, done.stderr)
        # Evidence that cannot be kept is an ERROR of the case.
        self.assertIn(REFUSED, " ".join(f"{done.stdout or ''} {done.stderr}".split()))
        self.assertTrue(self.is_untouched())

    def test_no_option_of_any_command_writes_through_a_link_of_others(self):
        found = list(options_that_write())
        self.assertGreater(len(found), 25)
        self.assertTrue(any("--pages" in option for _, option, _ in found))
        self.assertEqual({command for command, _, _ in found}, set(CALLS))
        for command, option, kind in found:
            for mode in (0o777, 0o1777, 0o770):
                with self.subTest(f"{command} {option}", mode=oct(mode)):
                    # The group of root's own number is root's own.
                    if mode == 0o770:
                        os.chown(self.shared, -1, self.foreign_group())
                    self.shared.chmod(mode)
                    self.make_victim(kind)
                    link = self.shared / f"{command}{option}-{mode:o}"
                    link.symlink_to(self.victim)
                    self.refuses(self.call(command, option, link))

    def foreign_group(self):
        groups = [group for group in ([1] if os.geteuid() == 0 else os.getgroups()) if group not in (0, os.geteuid())]
        if not groups:
            self.skipTest("this user has no group that others have, too")
        return groups[0]

    def test_links_of_ones_own_are_followed(self):
        self.make_victim("FILE")
        link = self.folder / "latest.json"
        link.symlink_to("victim")
        done = conform("check", CAPTURES / "usual.pcap", "--json", link)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(link.is_symlink())
        self.assertIn('"results"', self.victim.read_text())

    def test_a_folder_on_the_way_may_be_no_link_either(self):
        self.shared.chmod(0o777)
        self.victim.mkdir()
        (self.shared / "link").symlink_to(self.victim)
        self.refuses(conform("check", CAPTURES / "usual.pcap", "--json", self.shared / "link/x.json"))
        self.refuses(conform("run", CASE, "--evidence", self.shared / "link/new/folder"))
        self.refuses(subprocess.run([GENERATOR, "day", "--out", self.shared / "link/x.pcap"], stderr=subprocess.PIPE, text=True,
                                    check=False, timeout=60))

    def test_evidence_in_a_folder_of_all_goes_through_no_link_in_it(self):
        self.shared.chmod(0o777)
        self.make_victim("FILE")
        conform("run", CASE, "--evidence", self.shared)
        files = list(self.shared.iterdir())
        self.assertGreater(len(files), 1)
        for file in files:
            with self.subTest(file.name):
                file.unlink()
                file.symlink_to(self.victim)
                self.refuses(conform("run", CASE, "--evidence", self.shared), (3,))
                file.unlink()

    def test_traffic_goes_through_none(self):
        self.shared.chmod(0o777)
        self.make_victim("FILE")
        for name in ("x.pcap", "x.pcapng"):
            with self.subTest(name):
                (self.shared / name).symlink_to(self.victim)
                self.refuses(subprocess.run([GENERATOR, "day", "--count", "3", "--out", self.shared / name], text=True,
                                            stderr=subprocess.PIPE, check=False, timeout=60))

    def test_descriptors_and_pipes_are_no_such_links(self):
        for path in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            with self.subTest(path):
                self.assertIn('"results"', conform("check", CAPTURES / "usual.pcap", "--json", path).stdout)
                made = subprocess.run([GENERATOR, "day", "--count", "3", "--out", path], stdout=subprocess.PIPE, check=True,
                                      stderr=subprocess.DEVNULL, timeout=60)
                self.assertGreater(len(made.stdout), 100)
        pipe = self.shared / "pipe"
        self.shared.chmod(0o777)
        os.mkfifo(pipe)
        with subprocess.Popen([PROGRAM, "check", CAPTURES / "usual.pcap", "--quiet", "--json", pipe],
                              stdout=subprocess.DEVNULL) as run:
            self.assertIn('"results"', pipe.read_text())
        self.assertEqual(run.returncode, 0)


if __name__ == "__main__":
    unittest.main()
