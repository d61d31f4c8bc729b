#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What people see and type at a terminal: help, widths, colours, messages, times, pauses."""
import json
import os
import re
import shlex
import subprocess
import unittest

from active import CASE, MUTANT
from program import CAPTURES, PROGRAM, SOURCE, Folder, conform, drawn_at_terminal

GENERATOR = os.environ["IPOIB_GEN"]
PROGRAMS = {"ipoib-conform": PROGRAM, "ipoib-gen": GENERATOR}


def words_of(line):
    words = shlex.split(line)
    return [PROGRAMS[words[0]], *words[1:]]


def called(line, **options):
    return subprocess.run(words_of(line), capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, check=False,
                          cwd=SOURCE, **options)


def commands(program):
    listed = called(f"{program} --help").stdout.partition("\nCommands:\n")[2].partition("\n\n")[0]
    return re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)


class Help(unittest.TestCase):
    def test_lines_are_as_wide_as_the_terminal(self):
        widest = 0
        for command in ([], *([one] for one in commands("ipoib-conform"))):
            for width in (60, 80, 120):
                with self.subTest(command, width=width):
                    code, drawn = drawn_at_terminal(*command, "--help", stream="stdout", width=width)
                    lines = drawn.decode().replace("\r", "").splitlines()
                    self.assertEqual(code, 0)
                    # A word stays whole, and so does a command of the examples.
                    long = [line for line in lines if len(line) > width and " " in line.strip() and "  " in line.strip()]
                    self.assertEqual(long, [])
                    widest = max(widest, *map(len, lines))
        self.assertGreater(widest, 100, "a wide terminal is made use of")

    def test_help_and_version_are_commands_too(self):
        for program in PROGRAMS:
            with self.subTest(program):
                self.assertEqual(called(f"{program} help").stdout, called(f"{program} --help").stdout)
                version = called(f"{program} version")
                self.assertEqual((version.returncode, version.stdout), (0, called(f"{program} --version").stdout))
                self.assertRegex(version.stdout, rf"^{program} \d+\.\d+")
                for command in commands(program):
                    shown = called(f"{program} help {command}")
                    self.assertEqual((shown.returncode, shown.stdout), (0, called(f"{program} {command} --help").stdout))

    def test_every_option_is_shown_with_what_it_does(self):
        for command in commands("ipoib-conform"):
            shown = called(f"ipoib-conform help {command}").stdout
            completion = called("ipoib-conform completion").stdout
            options = re.search(rf"    {command}\) options='([^']*)'", completion)[1].split()
            for option in options:
                self.assertIn(option, shown)


class Lines(unittest.TestCase):
    """What commands print fits the terminal; for programs that read lines, each stays one."""
    SHOWN = (("explain", "RFC4391-6-02"), ("explain", "0x0200"), ("explain", "encap"), ("list", "rfc4391/9"),
             ("list", "--fabric", "simulated", "--dut", "sa", "tag:sa"), ("requirements",), ("decode", "broken.pcap#17"),
             ("run", "--dry-run", "rfc4391/6"), ("selftest", "IPOIB-4391-6-INV-001"), ("audit", "--fabric", "simulated"),
             ("check", "usual.pcap", "broken.pcap"), ("run", *MUTANT, CASE), ("links", "join-refused-rate.pcap"))

    def test_all_fits_the_terminal(self):
        for words in self.SHOWN:
            words = [CAPTURES / word if ".pcap" in word else word for word in words]
            for width in (60, 100):
                with self.subTest(words, width=width):
                    _, drawn = drawn_at_terminal(*words, stream="stdout", width=width)
                    lines = re.sub(r"\x1b\[[0-9;]*m", "", drawn.decode()).replace("\r", "").splitlines()
                    # Commands stay whole, to be copied, and so do words.
                    long = [line for line in lines if len(line) > width and " " in line.strip() and
                            not re.match(r" *(repeat: |\S*ipoib-conform )", line)]
                    self.assertEqual(long, [])

    def test_so_do_the_lists_of_the_generator(self):
        for option in ("--list", "--list-mutations", "--list-fields"):
            with self.subTest(option):
                _, drawn = drawn_at_terminal(option, stream="stdout", width=60, program=GENERATOR)
                lines = drawn.decode().replace("\r", "").splitlines()
                self.assertGreater(len(lines), 30)
                self.assertEqual([line for line in lines if len(line) > 60 and " " in line.strip()], [])

    def test_elsewhere_a_line_is_a_line(self):
        for words, line in ((("explain", "0x0200"), r"(?m)^  A component of the request .* shows it\.$"),
                            (("list", "rfc4391/9"), r"(?m)^ +checks RFC4391-9\S+(, RFC4391-9\S+){2,}$"),
                            (("requirements",), r"(?m)^ +case and rule: (?:\S+, ){9,}\S+$")):
            self.assertRegex(conform(*words).stdout, line)


class Messages(unittest.TestCase):
    """docs/messages.md has a table of wrong uses, and what is said of each."""

    def test_wrong_uses_are_told_as_the_table_says(self):
        rows = re.findall(r"^\| `(ipoib-[^`]*)` \| (.*) \|$", (SOURCE / "docs/messages.md").read_text(), re.MULTILINE)
        self.assertGreaterEqual(len(rows), 25)
        for line, said in rows:
            with self.subTest(line):
                run = called(line.replace("\\|", "|"))
                self.assertEqual((run.returncode, run.stdout), (2, ""))
                self.assertEqual(run.stderr, said.replace("\\|", "|") + "\n")

    def test_every_message_names_its_program(self):
        for line in ("ipoib-conform check --nonsense", "ipoib-conform", "ipoib-gen --nonsense", "ipoib-conform run --seed x"):
            self.assertRegex(called(line).stderr, r"^ipoib-(conform|gen)[ a-z]*: ", line)


class Colour(unittest.TestCase):
    def test_always_never_and_auto(self):
        for options, is_coloured in (("", False), ("--color always", True), ("--color=never", False), ("--no-color", False),
                                     ("--color always --no-color", False)):
            with self.subTest(options):
                run = called(f"ipoib-conform check captures/usual.pcap {options}")
                self.assertEqual("\x1b[" in run.stdout, is_coloured)
        for options, is_coloured in (([], True), (["--color=never"], False)):
            _, drawn = drawn_at_terminal("check", CAPTURES / "usual.pcap", *options, stream="stdout")
            self.assertEqual(b"\x1b[" in drawn, is_coloured)


class Baselines(Folder):
    def test_an_id_that_there_is_not_is_an_error(self):
        for id, meant in (("RULE-RFC4391-6-2", "RULE-RFC4391-6-02"), ("IPOIB-4391-6-INV-01", "IPOIB-4391-6-INV-001")):
            known = self.write("known.toml", f'[[expected]]\nid = "{id}"\nverdict = "FAIL"\nreason = "x"\n'.encode())
            run = conform("check", CAPTURES / "usual.pcap", "--expect", known)
            self.assertEqual(run.returncode, 2)
            self.assertIn(f'there is no rule and no case "{id}"; did you mean \'{meant}\'?', run.stderr)


class Explain(unittest.TestCase):
    def test_findings_by_name_as_the_pages_have_them(self):
        names = []
        for page in ("links.md", "host-state.md", "audit.md", "explore.md"):
            text = (SOURCE / "docs" / page).read_text()
            for table in re.findall(r"^\| (?:name|invariant) \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE):
                for row in re.findall(r"^\| ((?:`[a-z0-9_-]+`(?:, )?)+) \|", table, re.MULTILINE):
                    names += re.findall(r"`([^`]+)`", row)
        self.assertGreater(len(names), 60)
        for name in names:
            with self.subTest(name):
                run = conform("explain", name)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertIn(f"{name}: ", run.stdout)

    def test_a_verdict_as_tables_have_it(self):
        page = (SOURCE / "docs/results.md").read_text()
        words = ["PASS", "WARN", "FAIL", "INCONC", "ERROR", "XFAIL", "XPASS", "NA", "FINDING", "fail.must",
                 *re.findall(r"^\| (FAIL\.[A-Z]+) \|", page, re.MULTILINE),
                 *re.findall(r"`([a-z-]+)`", page.partition("| `na` |")[2].partition("\n\n")[0])]
        self.assertGreater(len(words), 19)
        for word in words:
            run = conform("explain", word)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertRegex(run.stdout, rf"(?i)^{re.escape(word)}: \w.*\n  .*docs/results\.md\n$")

    def test_a_status_by_number_and_name(self):
        for word in ("0x0200", "512", "ERR_REQ_INVALID", "err_req_invalid"):
            run = conform("explain", word)
            self.assertEqual(run.returncode, 0)
            self.assertIn("status 0x0200: ERR_REQ_INVALID", run.stdout)
        self.assertEqual(conform("explain", "0x4711").returncode, 2)


class Times(Folder):
    def test_decode_and_check_tell_when_frames_were(self):
        path = self.folder / "r.json"
        run = conform("check", CAPTURES / "broken.pcap", "RULE-RFC4391-6-02", "--json", path)
        capture = json.loads(path.read_text())["captures"][0]
        self.assertRegex(run.stdout, r"(?m)IPoIB; \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, \d+\.\d{6} s$")
        self.assertRegex(run.stdout, r"frame 17 octet 30 at \d+\.\d{6} s: Encap\.Reserved")
        detail = json.loads(path.read_text())["results"][0]["details"][0]
        self.assertLess(capture["began"], detail["time"])
        self.assertLess(detail["time"], capture["ended"])
        shown = conform("decode", f"{CAPTURES / 'broken.pcap'}#17").stdout.splitlines()[0]
        self.assertTrue(shown.startswith(detail["time"] + ", "), shown)
        self.assertRegex(shown, r", \d+\.\d{6} s since the first frame, \d+\.\d{6} s since the one before$")


class End(Folder):
    def test_the_findings_once_more_a_line_each(self):
        run = conform("check", CAPTURES / "broken.pcap")
        brief = run.stdout.partition("\nfindings:\n")[2].partition("\n\n")[0].splitlines()
        path = self.folder / "r.json"
        conform("check", CAPTURES / "broken.pcap", "--json", path)
        found = [one["id"] for one in json.loads(path.read_text())["results"] if one["verdict"] in ("FAIL", "WARN")]
        self.assertEqual(sorted(line.split()[1].rstrip(":") for line in brief), sorted(found))
        self.assertTrue(all(len(line) <= 100 for line in brief))
        self.assertNotIn("findings:", conform("check", CAPTURES / "conformant.pcap", "level:must").stdout)

    def test_the_slowest_cases(self):
        self.assertRegex(conform("run").stdout, r"(?m)^slowest in virtual time: IPOIB-\S+ \d+\.\d s, IPOIB-")


class Runs(Folder):
    def test_no_further_case_begins_after_so_many_failures_that_are_not_known(self):
        run = conform("run", *MUTANT, "rfc4391/6", "--max-failures", "1")
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stdout, r"note: there are 1 failures \(--max-failures\): \d+ cases were not begun")
        known = self.write("known.toml", f'[[expected]]\nid = "{CASE}"\nverdict = "FAIL"\nreason = "x"\n'.encode())
        run = conform("run", *MUTANT, CASE, "IPOIB-4391-6-VAL-001", "!RULE-*", "--max-failures", "1", "--expect", known)
        self.assertNotIn("(--max-failures)", run.stdout)

    def test_it_waits_for_enter_at_a_failure_and_before_a_case(self):
        for where, why in (("fail", 'step "'), (CASE, "its steps begin now")):
            with self.subTest(where), subprocess.Popen([PROGRAM, "run", *MUTANT, CASE, "--pause-on", where],
                                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                                       stderr=subprocess.PIPE, text=True) as run:
                line = run.stderr.readline()
                self.assertIn(f"ipoib-conform: paused: {CASE}: {why}", line)
                self.assertIn("Enter goes on.", line)
                self.assertIsNone(run.poll())
                out, _ = run.communicate("\n", timeout=60)
                self.assertEqual(run.returncode, 1)
                self.assertIn("FAIL.MUST", out)

    def test_without_anybody_to_press_enter_it_goes_on(self):
        run = conform("run", *MUTANT, CASE, "--pause-on", "fail")
        self.assertEqual(run.returncode, 1)
        self.assertIn("standard input is at its end: the run goes on", run.stderr)


if __name__ == "__main__":
    unittest.main()
