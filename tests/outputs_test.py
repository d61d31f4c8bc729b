#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is written goes through no symbolic link that others may have made; fs.protected_symlinks knows sticky folders only.
What is written as JSON reads back as it was, and shows all that it holds."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import unicodedata
import unittest
import xml.etree.ElementTree as ElementTree

from program import CAPTURES, Folder, PROGRAM, SOURCE, conform

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
    "matrix": [SOURCE / "implementations/reference.toml", "--only", "reference"],
    "explore": ["--seeds", "1"],
    "fuzz": ["--listen", "f.sock", "--dut", f"exec:python3 {SOURCE}/samples/python-adapter/adapter.py --port f.sock "
             f"--node {pathlib.Path(PROGRAM).parent}/samples/ipoib-node", "--sessions", "1"],
}
# What an option needs beside these.
NEEDED = {("explore", "--markdown"): ["--mutants"], ("selftest", "--floor"): ["--recall"]}
OF_NONE = {"--pages", "--floor"}  # options that take no case: pages are of all, and recall has situations
# Written after minutes, by the same functions: base_test.py sees to that.
LATE = {"--frames", "--decisiveness"}


def options_that_write():
    """(command, option, FILE or DIR), as the programs' help tells of them."""
    commands = re.findall(r"(?m)^  ([a-z-]+) {2,}\S", conform("--help").stdout.partition("Commands:")[2]
                          .partition("Examples:")[0])
    for command in commands:
        for option, kind, words in re.findall(r"(?m)^  (--[a-z-]+) (FILE|DIR)\b(.*(?:\n {20,}\S.*)*)",
                                              conform(command, "--help").stdout):
            if option not in LATE and re.search(r"\b(?:Write|Keep|Put|Save|Leave)\b", words):
                yield command, option, kind


class Written(Folder):
    def setUp(self):
        super().setUp()
        self.results = self.folder / "one.json"
        conform("check", CAPTURES / "usual.pcap", "--json", self.results)

    def call(self, command, *more):
        needed = NEEDED.get((command, str(more[0])), []) if more else []
        selected = [] if OF_NONE.intersection(map(str, more)) else CALLS[command]
        return conform(command, *selected, *needed, *more, cwd=self.folder)


class Outputs(Written):
    def setUp(self):
        super().setUp()
        self.victim = self.folder / "victim"
        self.shared = self.folder / "shared"
        self.shared.mkdir()

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

    def test_where_a_link_leads_is_told_and_a_descriptor_by_the_name_it_was_given(self):
        (self.folder / "latest.json").symlink_to("/none/there.json")
        for path, words in (("latest.json", "latest.json, a link to /none/there.json: cannot be created: "),
                            ("/dev/fd/987", "/dev/fd/987: cannot be written: ")):
            with self.subTest(path):
                done = self.call("check", "--json", path)
                self.assertEqual(done.returncode, 3)
                self.assertIn(f"ipoib-conform: {words}", done.stderr)

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


class StandardOutput(Written):
    """With a report there nothing else is."""

    def test_a_report_of_any_command(self):
        for command in CALLS.keys() - {"explore", "fuzz"}:
            for path in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
                with self.subTest(command, path=path):
                    done = self.call(command, "--json", path)
                    self.assertIn('"format": "ipoib-conform-', done.stdout)
                    json.loads(done.stdout)

    def test_a_report_of_any_format(self):
        for form, read in (("json", json.loads), ("ctrf", json.loads), ("junit", ElementTree.fromstring),
                           ("html", ElementTree.fromstring)):
            with self.subTest(form):
                read(re.sub(r"<!DOCTYPE html>", "", self.call("check", f"--{form}", "/dev/stdout").stdout))

    def test_what_is_judged_as_it_comes(self):
        with open(CAPTURES / "broken.pcap", "rb") as capture:
            done = conform("check", "-", "--json", "/dev/stdout", stdin=capture)
        self.assertEqual(json.loads(done.stdout)["captures"][0]["file"], "-")

    def test_the_same_file_by_its_name(self):
        path = self.folder / "out.json"
        with open(path, "wb") as out:
            subprocess.run([PROGRAM, "check", CAPTURES / "usual.pcap", "--json", path], stdout=out, check=True)
        json.loads(path.read_text())

    def test_remarks_are_told_all_the_same(self):
        known = self.folder / "known.toml"
        known.write_text('[[expected]]\nid = "RULE-RFC4391-6-01"\nverdict = "FAIL"\nreason = "x"\nexpires = 2000-01-01\n')
        done = self.call("check", "--json", "/dev/stdout", "--expect", known)
        json.loads(done.stdout)
        self.assertIn("note: ", done.stderr)

    def test_two_reports_are_refused(self):
        done = self.call("check", "--json", "/dev/stdout", "--junit", "/dev/fd/1")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("/dev/fd/1 and /dev/stdout are both standard output", done.stderr)
        with open("/dev/null", "wb") as nothing:
            subprocess.run([PROGRAM, "check", CAPTURES / "usual.pcap", "--json", "/dev/null", "--junit", "/dev/stdout"],
                           stdout=nothing, check=True)


class Json(Written):
    # A terminal obeys the first three, and nobody sees the others.
    NAME = "a\u009b31m\u0085\u202e\u2028\u2066\u00ad\u200b\ufeff\U000e0001 \u00fc\u4e16.pcap"

    def read(self, text):
        """What it says; refused where a character of it is not seen."""
        unseen = {char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp") and char != "\n"}
        self.assertEqual(unseen, set())
        self.assertTrue(text.endswith("\n"))
        return json.loads(text)

    def test_the_name_of_a_capture(self):
        shutil.copy(CAPTURES / "broken.pcap", self.folder / self.NAME)
        for arguments in (["check", self.NAME, "--json", "/dev/stdout"], ["links", self.NAME, "--json"]):
            text = conform(*arguments, cwd=self.folder).stdout
            self.assertEqual(self.read(text)["captures"][0]["file"], self.NAME)
            self.assertIn("\u00fc\u4e16", text, "what is seen stays as it is")
        conform("check", self.NAME, "--json", "file.json", "--ctrf", "file.ctrf", cwd=self.folder)
        self.assertEqual(self.read((self.folder / "file.json").read_text())["command"][2], self.NAME)
        self.read((self.folder / "file.ctrf").read_text())

    def test_every_text_of_results_that_are_merged(self):
        def with_name(value):
            if isinstance(value, dict):
                return {key: one if key in ("format", "verdict", "type", "na", "id", "force", "strength", "level", "status")
                        else with_name(one) for key, one in value.items()}
            if isinstance(value, list):
                return [with_name(one) for one in value]
            return f"{self.NAME} {value}" if isinstance(value, str) and " " in value else value

        said = with_name(json.loads(self.results.read_text()))
        self.results.write_text(json.dumps(said))
        merged = self.read(conform("merge", f"one={self.results}", "--json", "/dev/stdout").stdout)
        for member in ("title", "message"):
            self.assertEqual([one[member] for one in merged["results"]], [one[member] for one in said["results"]])

    def test_what_the_suite_says_of_itself_and_the_host(self):
        for arguments in (["list", "--json"], ["requirements", "--json"], ["devices", "--json"],
                          ["audit", "--fabric", "simulated", "--json", "/dev/stdout"],
                          ["run", CASE, "--json", "/dev/stdout"], ["selftest", CASE, "--json", "/dev/stdout"]):
            with self.subTest(arguments[0]):
                self.assertTrue(self.read(conform(*arguments).stdout))


if __name__ == "__main__":
    unittest.main()
