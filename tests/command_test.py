#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Drives ipoib-conform as a person or a script would: exit codes, messages, reports, pipes, signals, bad input."""
import contextlib
import gzip
import json
import os
import pty
import re
import shlex
import signal
import socket
import struct
import subprocess
import time
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from program import CAPTURES, PROGRAM, Folder, conform


class Check(Folder):
    def test_a_conformant_capture_exits_0(self):
        run = conform("check", CAPTURES / "conformant.pcap")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertRegex(run.stdout, r"judged \d+ of \d+ MUSTs")
        self.assertNotIn("\x1b", run.stdout)

    def test_a_broken_capture_exits_1_and_names_requirement_frame_and_field(self):
        run = conform("check", CAPTURES / "broken.pcap")
        self.assertEqual(run.returncode, 1)
        for words in ("RFC4391-6-02", "frame 17", "Encap.Reserved", "0xabcd", "0002c90300100001"):
            self.assertIn(words, run.stdout)

    def test_the_baseline_excuses_what_it_names(self):
        run = conform("check", CAPTURES / "broken.pcap", "--expect", CAPTURES / "broken.baseline.toml")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("XFAIL", run.stdout)

    def test_a_failure_that_is_gone_is_xpass_and_exits_1(self):
        run = conform("check", CAPTURES / "conformant.pcap", "--expect", CAPTURES / "broken.baseline.toml")
        self.assertEqual(run.returncode, 1)
        self.assertIn("XPASS", run.stdout)

    def test_strict_makes_a_should_a_failure(self):
        self.assertEqual(conform("check", CAPTURES / "usual.pcap").returncode, 0)
        self.assertEqual(conform("check", CAPTURES / "usual.pcap", "--strict").returncode, 1)

    def test_nothing_judged_exits_4(self):
        run = conform("check", CAPTURES / "roce.pcap")
        self.assertEqual(run.returncode, 4, run.stdout)
        self.assertIn("RoCE", run.stdout)

    def test_selectors_choose_and_an_unknown_one_is_a_usage_error(self):
        run = conform("check", CAPTURES / "broken.pcap", "tag:arp", "!*02*")
        self.assertIn("RFC4391-9.2-04", run.stdout)
        self.assertNotIn("Encap.Reserved", run.stdout)
        run = conform("check", CAPTURES / "broken.pcap", "rfc4391/66")
        self.assertEqual(run.returncode, 2)
        self.assertIn("rfc4391/66", run.stderr)

    def test_a_section_with_its_subsections(self):
        run = conform("check", CAPTURES / "conformant.pcap", "rfc4391/9", "--json", self.folder / "r.json")
        ids = [r["id"] for r in json.loads((self.folder / "r.json").read_text())["results"]]
        self.assertIn("RULE-RFC4391-9.3-05", ids)
        self.assertNotIn("RULE-RFC4391-6-02", ids)

    def test_an_unknown_command_is_a_usage_error(self):
        run = conform("nonsense")
        self.assertEqual(run.returncode, 2)
        self.assertIn("'nonsense' is no command", run.stderr)
        self.assertEqual(conform().returncode, 2)

    def test_list_counts_what_a_real_adapter_cannot_do_without_one(self):
        run = conform("list", "--fabric", "verbs:none-such,sm-key=1", "--dut", "exec:true", "--allow", "link")
        self.assertEqual(run.returncode, 0, run.stderr)
        can, of = re.search(r"^(\d+) of (\d+) cases can run there\.$", run.stdout, re.MULTILINE).groups()
        counts = [int(n) for n in re.findall(r"^ +(\d+) NA \(\w+\): ", run.stdout, re.MULTILINE)]
        self.assertEqual(int(can) + sum(counts), int(of))
        self.assertEqual(counts, sorted(counts, reverse=True))
        self.assertIn("NA (tester): this fabric cannot show the frames between other nodes\n", run.stdout)

    def test_devices_are_listed_with_what_is_missing(self):
        run = conform("devices")
        ports = json.loads(conform("devices", "--json").stdout)["ports"]
        self.assertEqual(run.returncode, 0 if any(port["usable"] for port in ports) else 4, run.stderr)
        for port in ports:
            self.assertIn(f"{port['device']}/{port['port']} ", run.stdout)
            self.assertNotEqual(port["usable"], bool(port["obstacles"]))
        if not ports:
            self.assertIn("this host has no RDMA device: ", run.stderr)

    def test_what_a_link_type_cannot_show_is_na_with_that_reason(self):
        conform("check", CAPTURES / "tcpdump.pcap", "--json", self.folder / "r.json")
        results = {r["id"]: r for r in json.loads((self.folder / "r.json").read_text())["results"]}
        self.assertEqual((results["RULE-RFC4391-6-07"]["verdict"], results["RULE-RFC4391-6-07"]["na"]), ("NA", "link"))
        self.assertIn("LINUX_SLL", results["RULE-RFC4391-6-07"]["message"])
        self.assertEqual(results["RULE-RFC4391-9.2-04"]["verdict"], "PASS")

    def test_the_testers_lies_are_not_charged_to_the_dut(self):
        run = conform("check", CAPTURES / "evidence.pcapng")
        self.assertEqual(run.returncode, 0, run.stdout)


class Reports(Folder):
    def test_json_has_the_members_of_the_contract(self):
        path = self.folder / "results.json"
        conform("check", CAPTURES / "broken.pcap", "--json", path)
        results = json.loads(path.read_text())
        self.assertEqual(results["format"], "ipoib-conform-results/1")
        for member in ("suite", "command", "seed", "started", "host", "fabric", "dut", "captures", "results",
                       "requirements"):
            self.assertIn(member, results)
        capture = results["captures"][0]
        self.assertEqual((capture["link_type"], capture["packets"], capture["ipoib"]), (197, 27, 25))
        self.assertEqual((path.parent / capture["file"]).resolve(), CAPTURES / "broken.pcap")
        failed = next(r for r in results["results"] if r["id"] == "RULE-RFC4391-6-02")
        self.assertEqual((failed["verdict"], failed["observed"], failed["violations"], failed["frames"]),
                         ("FAIL", 25, 1, [17]))
        self.assertEqual(failed["details"][0]["field"], "Encap.Reserved")
        self.assertEqual(failed["details"][0]["actual"], "0xabcd")
        refused = conform("decode", f"{CAPTURES / 'join-refused-rate.pcap'}#53").stdout
        self.assertRegex(refused, r"Status +0x0200 \(ERR_REQ_INVALID\)")
        self.assertRegex(refused, r"AttributeID +0x0038 \(MCMemberRecord\)")
        frame = read_frame(CAPTURES / "broken.pcap", 17)
        offset = failed["details"][0]["offset"]
        self.assertEqual(frame[offset:offset + 2], b"\xab\xcd")
        requirement = next(r for r in results["requirements"] if r["id"] == "RFC4391-6-01")
        self.assertEqual(requirement["verdict"], "FAIL", "a violated part violates the whole")

    def test_junit_counts_are_right(self):
        path = self.folder / "junit.xml"
        conform("check", CAPTURES / "broken.pcap", "--junit", path)
        suite = ElementTree.parse(path).getroot().find("testsuite")
        cases = suite.findall("testcase")
        self.assertEqual(int(suite.get("tests")), len(cases))
        self.assertEqual(int(suite.get("failures")), len(suite.findall("testcase/failure")))
        self.assertEqual(int(suite.get("failures")), 11)

    def test_a_report_that_cannot_be_written_is_told(self):
        run = conform("check", CAPTURES / "usual.pcap", "--json", self.folder / "no" / "such.json")
        self.assertEqual(run.returncode, 2)
        self.assertIn("such.json", run.stderr)
        self.assertIn("judged", run.stdout)

    def test_a_report_never_overwrites_what_is_read_or_another_report(self):
        capture = self.write("c.pcap", (CAPTURES / "usual.pcap").read_bytes())
        baseline = self.write("b.toml", (CAPTURES / "broken.baseline.toml").read_bytes())
        (self.folder / "link").symlink_to(capture)
        for arguments in (["--json", capture], ["--junit", self.folder / "." / "c.pcap"], ["--json", "-"],
                          ["--json", self.folder / "link"], ["--expect", baseline, "--json", baseline],
                          ["--json", self.folder / "same", "--junit", self.folder / "same"], ["--json", ""],
                          ["--expect", ""], ["--seed", "-1"], ["--seed", "99999999999999999999"]):
            before = capture.read_bytes(), baseline.read_bytes()
            self.assertEqual(conform("check", capture, *arguments).returncode, 2, arguments)
            self.assertEqual((capture.read_bytes(), baseline.read_bytes()), before)
            self.assertFalse((self.folder / "same").exists())

    def test_reports_to_standard_output_and_devices(self):
        run = subprocess.run([PROGRAM, "check", CAPTURES / "usual.pcap", "--quiet", "--json", "/dev/stdout", "--junit",
                              "/dev/null"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn("ipoib-conform-results/1", run.stdout)

    def test_baseline_and_diff(self):
        before, after = self.folder / "before.json", self.folder / "after.json"
        conform("check", CAPTURES / "conformant.pcap", "--json", before)
        conform("check", CAPTURES / "broken.pcap", "--json", after)
        self.assertEqual(conform("diff", before, after).returncode, 1)
        self.assertEqual(conform("diff", after, before).returncode, 0)
        self.assertEqual(conform("diff", before, before).returncode, 0)
        self.assertEqual(conform("diff", before, self.folder / "none.json").returncode, 2)
        nothing = self.folder / "nothing.json"
        conform("check", CAPTURES / "roce.pcap", "--json", nothing)
        self.assertEqual(conform("diff", before, nothing).returncode, 1)
        run = conform("baseline", after)
        self.assertEqual(run.returncode, 0)
        self.assertEqual(run.stdout.count("[[expected]]"), 11)
        empty = self.write("known.toml", run.stdout.encode())
        self.assertEqual(conform("check", CAPTURES / "broken.pcap", "--expect", empty).returncode, 2)
        filled = self.write("known.toml", run.stdout.replace('reason = ""', 'reason = "known"').encode())
        self.assertEqual(conform("check", CAPTURES / "broken.pcap", "--expect", filled).returncode, 0)


def read_frame(path, number):
    """The octets of a frame of an ERF pcap, ERF header taken off."""
    content = path.read_bytes()
    at = 24
    for _ in range(number - 1):
        at += 16 + struct.unpack_from("<I", content, at + 8)[0]
    length = struct.unpack_from("<I", content, at + 8)[0]
    return content[at + 16 + 16:at + 16 + length]


class BadInput(Folder):
    def expect(self, path, code, *words):
        run = conform("check", path)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        for word in words:
            self.assertIn(word, run.stdout + run.stderr)
        return run

    def test_files_that_are_no_captures_exit_2(self):
        self.expect(self.write("text.pcap", b"hello, this is no capture\n"), 2, "text.pcap")
        self.expect(self.write("empty.pcap", b""), 2, "empty")
        self.expect(self.write("short.pcap", (CAPTURES / "usual.pcap").read_bytes()[:10]), 2, "short.pcap")
        self.expect(self.folder, 2)
        self.assertEqual(conform("check", self.folder / "none.pcap").returncode, 2)
        self.assertEqual(conform("check").returncode, 2)

    def test_a_capture_without_frames_exits_2(self):
        self.expect(self.write("header.pcap", (CAPTURES / "usual.pcap").read_bytes()[:24]), 2, "no frame")

    def test_a_cut_last_record_is_a_note(self):
        cut = self.write("cut.pcap", (CAPTURES / "conformant.pcap").read_bytes()[:-5])
        self.expect(cut, 0, "cut off")

    def test_damage_after_some_frames_is_an_error_that_names_frame_and_offset(self):
        content = bytearray((CAPTURES / "broken.pcap").read_bytes())
        at = 24
        for _ in range(20):
            at += 16 + struct.unpack_from("<I", content, at + 8)[0]
        struct.pack_into("<II", content, at + 8, 0x7fffffff, 0x7fffffff)
        run = self.expect(self.write("damaged.pcap", content), 3, "ERROR", "frame 20")
        self.assertIn("RFC4391-6-02", run.stdout, "what was judged before is reported")
        self.assertRegex(run.stdout, f"(?i)0x0*{at:x}|offset {at}")

    def test_every_length_of_a_capture_is_no_crash(self):
        content = (CAPTURES / "evidence.pcapng").read_bytes()
        for length in range(0, len(content), 7):
            run = conform("check", self.write("cut.pcapng", content[:length]), "--quiet")
            self.assertIn(run.returncode, (0, 2, 3, 4), f"{length}: {run.stdout}{run.stderr}")

    def test_a_link_type_that_is_none_of_these_is_named(self):
        content = bytearray((CAPTURES / "usual.pcap").read_bytes())
        struct.pack_into("<I", content, 20, 105)  # IEEE 802.11
        self.expect(self.write("wifi.pcap", content), 4, "another link type")

    def test_hostile_baselines_and_results(self):
        for content in (b"\xff\xfe", b"[[expected]]\nid = 1\n", b"[[expected]]\nidd = 'x'\n", b"{" * 100000):
            path = self.write("hostile", content)
            self.assertEqual(conform("check", CAPTURES / "usual.pcap", "--expect", path).returncode, 2)
            self.assertEqual(conform("diff", path, path).returncode, 2)


class Streams(Folder):
    def start(self, *arguments, **options):
        child = subprocess.Popen([PROGRAM, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, **options)
        self.addCleanup(lambda: (child.kill() if child.poll() is None else None, child.communicate()))
        return child

    def test_standard_input_and_compression(self):
        content = (CAPTURES / "broken.pcap").read_bytes()
        for octets in (content, gzip.compress(content)):
            run = subprocess.run([PROGRAM, "check", "-"], input=octets, stdout=subprocess.PIPE, timeout=60)
            self.assertEqual(run.returncode, 1)

    def test_violations_appear_while_the_pipe_is_open_and_ctrl_c_prints_the_verdicts(self):
        child = self.start("check", "-")
        child.stdin.write((CAPTURES / "broken.pcap").read_bytes())
        child.stdin.flush()
        first = child.stdout.readline().decode()
        self.assertRegex(first, r"^frame 17: RFC4391-6-02 ")
        child.send_signal(signal.SIGINT)
        rest, _ = child.communicate(timeout=30)
        self.assertEqual(child.returncode, 1)
        self.assertIn("judged", rest.decode())
        self.assertIn("interrupted", rest.decode())

    def test_a_reader_that_goes_away_does_not_lose_the_reports(self):
        path = self.folder / "r.json"
        child = self.start("check", CAPTURES / "broken.pcap", "--json", path)
        child.stdout.close()
        self.assertEqual(child.wait(timeout=30), 1)
        self.assertTrue(path.exists())
        child.stdout = None

    def test_a_full_disk_is_told(self):
        with open("/dev/full", "w") as full:
            run = subprocess.run([PROGRAM, "check", CAPTURES / "usual.pcap"], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(run.returncode, 2)
        self.assertIn(b"No space left", run.stderr)

    def test_the_progress_bar_is_for_terminals_only(self):
        content = (CAPTURES / "conformant.pcap").read_bytes()
        long = self.write("long.pcap", content[:24] + content[24:] * 20_000)
        self.assertEqual(conform("check", long).stderr, "")
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        child = subprocess.Popen([PROGRAM, "check", long], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=theirs)
        os.close(theirs)
        drawn = b""
        try:
            while part := os.read(ours, 65536):
                drawn += part
        except OSError:  # the terminal's other side is closed
            pass
        self.assertEqual(child.wait(timeout=60), 0)
        self.assertRegex(drawn, rb"\[=* *\] +\d+% \d+ MiB")
        self.assertTrue(drawn.endswith(b"\r"), "the bar is wiped out at the end")

    def test_every_command_tells_of_a_full_disk_and_bears_a_closed_pipe(self):
        results = self.folder / "r.json"
        conform("check", CAPTURES / "broken.pcap", "--json", results)
        for arguments in (["list"], ["requirements"], ["explain", "RFC4391-6-02"], ["manual"], ["completion"], ["--help"],
                          ["run", "--dry-run"], ["run", "--quiet"], ["profile"], ["baseline", results],
                          ["decode", f"{CAPTURES / 'broken.pcap'}#1"], ["diff", results, results]):
            with open("/dev/full", "w") as full:
                self.assertEqual(subprocess.run([PROGRAM, *arguments], stdout=full, stderr=subprocess.DEVNULL).returncode,
                                 2, arguments)
            reading, writing = os.pipe()
            os.close(reading)
            self.assertEqual(subprocess.run([PROGRAM, *arguments], stdout=writing).returncode, 0, arguments)
            os.close(writing)

    def test_a_capture_that_was_not_begun_is_an_error(self):
        child = self.start("check", "-", CAPTURES / "conformant.pcap")
        child.stdin.write((CAPTURES / "conformant.pcap").read_bytes()[:500])
        child.stdin.flush()
        child.stdin.write(b"")
        self.wait_until_reading(child)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=30)
        self.assertEqual(child.returncode, 3, out)
        self.assertIn(b"interrupted before it was read", out)

    def wait_until_reading(self, child):
        """Until the program has taken all that was written and waits for more."""
        import fcntl
        import termios
        import time
        end = time.monotonic() + 30
        while time.monotonic() < end:
            left = struct.unpack("i", fcntl.ioctl(child.stdin, termios.FIONREAD, b"\0" * 4))[0]
            state = Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
            if left == 0 and state == "S":
                return
        self.fail("the program does not read")

    def test_the_progress_bar_is_not_for_short_captures(self):
        run = conform("check", CAPTURES / "conformant.pcap")
        self.assertEqual(run.stderr, "")


CASE = "IPOIB-4391-6-INV-001"  # checks RFC4391-6-02, which the mutant breaks, and RFC4391-6-03
MUTANT = ("--dut", "mutant:reserved-not-zero")


class Active(Folder):
    def results(self, *arguments, code=0):
        """The results of a run, after its exit code was what it should be."""
        path = self.folder / "results.json"
        run = conform("run", *arguments, "--json", path)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return json.loads(path.read_text())

    def verdicts(self, *arguments, code=0):
        return {r["id"]: r["verdict"] for r in self.results(*arguments, code=code)["results"]}

    def refuse(self, words, *arguments):
        run = conform("run", *arguments)
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        self.assertIn(words, run.stderr)


class Run(Active):
    def test_the_reference_passes_every_case_that_judges_a_stack(self):
        results = self.results()
        cases = {r["id"]: r for r in results["results"] if r["id"].startswith("IPOIB-")}
        self.assertGreaterEqual(len(cases), 25)
        for case in cases.values():
            self.assertIn(case["verdict"], ("PASS", "NA"), case)
            self.assertEqual(case["verdict"] == "NA", case["na"] is not None, case)
        self.assertEqual(cases[CASE]["verdict"], "PASS")
        self.assertGreaterEqual(cases[CASE]["observed"], 4)
        self.assertTrue(any(r["id"].startswith("RULE-") and r["verdict"] == "PASS" for r in results["results"]))
        self.assertEqual((results["fabric"]["kind"], results["fabric"]["clock"]), ("simulated", "virtual"))

    def test_the_subnet_administrator_is_judged_by_its_own_cases(self):
        judged = {id for id, verdict in self.verdicts("--dut", "sa").items()
                  if id.startswith("IPOIB-") and verdict == "PASS"}
        self.assertTrue(judged)
        self.assertTrue(judged.isdisjoint(
            id for id, verdict in self.verdicts().items() if id.startswith("IPOIB-") and verdict == "PASS"))

    def test_the_same_seed_gives_the_same_results_but_for_times(self):
        def timeless(value):
            if isinstance(value, dict):
                return {k: timeless(v) for k, v in value.items() if k not in ("started", "seconds")}
            return [timeless(v) for v in value] if isinstance(value, list) else value
        first = self.results(*MUTANT, "--seed", 7, code=1)
        self.assertEqual(timeless(first), timeless(self.results(*MUTANT, "--seed", 7, code=1)))
        self.assertEqual(first["seed"], 7)

    def test_a_mutant_fails_and_the_failure_ends_with_the_command_that_repeats_only_it(self):
        evidence = self.folder / "the evidence"
        run = conform("run", *MUTANT, "--seed", 5, "--scenario", "controlled", "--evidence", evidence)
        self.assertEqual(run.returncode, 1, run.stdout)
        for words in (CASE, "RFC4391-6-02", "Encap.Reserved", "expected 0x0000"):
            self.assertIn(words, run.stdout)
        failed = next(r for r in self.results(*MUTANT, "--seed", 5, "--scenario", "controlled", "--evidence", evidence,
                                              CASE, code=1)["results"])
        self.assertEqual((failed["id"], failed["verdict"]), (CASE, "FAIL"))
        repeat = failed["repeat"]
        self.assertEqual(shlex.split(repeat), [PROGRAM, "run", *MUTANT, "--scenario", "controlled", "--seed", "5",
                                               "--evidence", str(evidence), CASE])
        again = subprocess.run(["bash", "-c", repeat + " --json again.json"], cwd=self.folder, stdout=subprocess.PIPE)
        self.assertEqual(again.returncode, 1)
        results = json.loads((self.folder / "again.json").read_text())["results"]
        self.assertEqual([(r["id"], r["frames"]) for r in results], [(CASE, failed["frames"])])

    def test_evidence_proves_the_failure_and_check_does_not_blame_the_dut_for_the_testers_lies(self):
        results = self.results("--evidence", self.folder / "evidence", "tag:encap")
        case = next(r for r in results["results"] if r["id"] == CASE)
        self.assertEqual(case["evidence"], f"evidence/{CASE}.pcapng")
        self.assertIn(case["evidence"], [c["file"] for c in results["captures"]])
        run = conform("check", self.folder / case["evidence"], "RULE-RFC4391-6-02")
        self.assertEqual(run.returncode, 0, "the tester sets Reserved; the DUT does not: " + run.stdout)
        self.results(*MUTANT, "--evidence", self.folder / "evidence", CASE, code=1)
        run = conform("check", self.folder / case["evidence"], "RULE-RFC4391-6-02")
        self.assertEqual(run.returncode, 1, run.stdout)

    def test_the_evidence_is_a_folder_of_its_own(self):
        path = self.write("file", b"")
        self.refuse("no folder for the evidence", "--evidence", path)
        self.assertEqual(path.read_bytes(), b"")
        self.refuse("no folder", "--evidence", path / "below")
        self.refuse("overwritten", "--evidence", self.folder / "same", "--json", self.folder / "same")
        self.assertFalse((self.folder / "same").exists())

    def test_selectors_match_cases_and_rules_alike(self):
        ids = set(self.verdicts("rfc4391/6", "!*-VAL-*"))
        self.assertIn(CASE, ids)
        self.assertIn("RULE-RFC4391-6-02", ids)
        self.assertFalse(any("-VAL-" in id or "-9" in id for id in ids), ids)
        self.assertEqual(set(self.verdicts(CASE)), {CASE})
        self.refuse("'rfc4391/66'", "rfc4391/66")
        self.refuse("leave no case", "RULE-RFC4391-6-02")

    def test_what_is_not_allowed_is_na_for_safety(self):
        results = self.results("--allow", "observe", "rfc4391/10", "IPOIB-4391-10-*", code=4)["results"]
        self.assertEqual({r["na"] for r in results if r["id"] == "IPOIB-4391-10-INV-001"}, {"safety"})
        allowed = self.results("--allow", "dut", "IPOIB-4391-10-*")["results"]
        self.assertEqual({r["verdict"] for r in allowed if r["na"] != "safety"} - {"NA"}, {"PASS"})
        self.assertTrue(any(r["na"] == "safety" for r in allowed))

    def test_a_rehearsal_tells_impact_time_and_obstacles_and_writes_nothing(self):
        run = conform("run", "--dry-run", "--allow", "dut", "--timeout-scale", 3, "--json", self.folder / "r.json",
                      "--evidence", self.folder / "evidence")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, rf"(?m)^{CASE} +impact dut +at most 30 s$")
        self.assertRegex(run.stdout, r"(?m)^IPOIB-4391-10-INV-001 +impact link +NA \(safety\): ")
        self.assertIn("Nothing was sent.", run.stdout)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_shards_cover_every_case_once_and_every_rule_watches_in_each(self):
        whole = self.verdicts()
        parts = [set(self.verdicts("--shard", f"{i}/3")) for i in (1, 2, 3)]
        cases = [{id for id in part if id.startswith("IPOIB-")} for part in parts]
        self.assertEqual(sum(map(len, cases)), len(set.union(*cases)))
        self.assertEqual(set.union(*parts), set(whole))
        for wrong in ("0/3", "4/3", "3", "1/2x", "a/b", "/2", "-1/2", ""):
            self.assertEqual(conform("run", "--shard", wrong).returncode, 2, wrong)

    def test_only_what_failed_is_run_again(self):
        before = self.folder / "before.json"
        conform("run", *MUTANT, "IPOIB-4391-6-*", "IPOIB-4391-7-*", "--json", before)
        results = json.loads(before.read_text())["results"]
        self.assertEqual([r["id"] for r in results if r["verdict"] != "PASS"], [CASE])
        self.assertEqual(self.verdicts(*MUTANT, "--only-failed", before, code=1), {CASE: "FAIL"})
        self.assertEqual(self.verdicts("--only-failed", before), {CASE: "PASS"}, "the reference has no such fault")
        self.assertEqual(conform("run", "--only-failed", before, "IPOIB-4391-7-*").returncode, 4, "selected out")

    def test_a_failed_rule_brings_the_cases_that_show_it_or_all_when_nothing_tells(self):
        rule, before = "RULE-RFC4391-6-02", self.folder / "before.json"
        for evidence, again in (([], {CASE, "IPOIB-4391-6-VAL-001"}),
                                (["--evidence", self.folder / "evidence"], {"IPOIB-4391-6-VAL-001"})):
            conform("run", *MUTANT, rule, CASE, "IPOIB-4391-6-VAL-001", "--json", before, *evidence)
            content = json.loads(before.read_text())
            content["results"] = [r for r in content["results"] if r["id"] != CASE or evidence]
            for result in content["results"]:
                if result["id"] == CASE:
                    result["verdict"] = "PASS"
                result["details"] = [d for d in result["details"]
                                     if not evidence or CASE not in content["captures"][d["capture"]]["file"]]
            before.write_text(json.dumps(content))
            self.assertEqual(set(self.verdicts(*MUTANT, "IPOIB-4391-6-VAL-001", CASE, rule, "--only-failed", before,
                                               code=1)), again | {rule})

    def test_nothing_to_repeat_exits_4_and_an_id_from_elsewhere_is_named(self):
        before = self.folder / "before.json"
        conform("run", CASE, "--json", before)
        run = conform("run", "--only-failed", before, "--junit", self.folder / "r.xml")
        self.assertEqual(run.returncode, 4, run.stdout)
        self.assertIn("nothing to repeat", run.stderr)
        self.assertTrue((self.folder / "r.xml").exists())
        other = self.write("other.json", b'{"format": "ipoib-conform-results/1", "results": '
                                         b'[{"id": "IPOIB-1-INV-001", "verdict": "FAIL"}]}')
        run = conform("run", "--only-failed", other)
        self.assertEqual(run.returncode, 4)
        self.assertIn("'IPOIB-1-INV-001'", run.stderr)
        self.refuse("cannot be opened", "--only-failed", self.folder / "none.json")
        self.refuse("overwritten", "--only-failed", before, "--json", before)

    def test_the_worst_of_several_repetitions_counts(self):
        results = self.results(*MUTANT, CASE, "--repeat", 3, code=1)["results"]
        self.assertEqual([r["id"] for r in results], [CASE])
        self.assertIn("repetition 3: FAIL", results[0]["notes"])
        self.assertIn("--repeat 3", results[0]["repeat"])
        for wrong in (0, -1, "x"):
            self.assertEqual(conform("run", "--repeat", wrong).returncode, 2)

    def test_the_profile_names_the_dut_and_what_it_is(self):
        profile = self.write("DUT.toml", b'[dut]\nname = "Ours"\nvendor = "Us"\n[profile]\nrole = "host"\n'
                                         b'[control]\ntester = ["10.1.0.77/24"]\n')
        results = self.results("--profile", profile, CASE)
        self.assertEqual((results["dut"]["name"], results["dut"]["vendor"]), ("Ours", "Us"))
        self.assertEqual(results["dut"]["driver"], "reference", "what only the DUT tells is kept")
        wrong = self.write("wrong.toml", b"[dut]\nnames = 1\n")
        self.refuse("wrong.toml:2", "--profile", wrong)
        self.refuse("overwritten", "--profile", profile, "--json", profile)

    def test_the_baseline_excuses_what_it_names(self):
        self.results(*MUTANT, "rfc4391/6", code=1)
        text = conform("baseline", self.folder / "results.json").stdout.replace('reason = ""', 'reason = "known"')
        known = self.write("known.toml", text.encode())
        self.assertEqual(self.verdicts(*MUTANT, "rfc4391/6", "--expect", known)[CASE], "XFAIL")
        self.assertEqual(self.verdicts("rfc4391/6", "--expect", known, code=1)[CASE], "XPASS")

    def test_what_is_not_built_or_does_not_exist_is_a_usage_error(self):
        for words, arguments in (("--dut", ["--fabric", "verbs:none-such"]),
                                 ("none-such", ["--fabric", "verbs:none-such", "--dut", "none"]),
                                 ("nowhere", ["--fabric", "nowhere"]),
                                 ("nobody", ["--dut", "nobody"]), ("mutant", ["--dut", "mutant:nothing"]),
                                 ("scope5", ["--scenario", "nothing"]), ("--dut", ["--fabric", "socket:/x"]),
                                 ("path", ["--fabric", "socket:tap=/x", "--dut", "none"]),
                                 ("sm-key", ["--fabric", "socket:/x,sm-key=one", "--dut", "none"]),
                                 ("--fabric-control", ["--fabric", "socket:/x", "--dut", "none",
                                                       "--scenario", "mtu4k"]),
                                 ("--listen", ["--fabric", "socket:/x", "--dut", "none", "--listen", "/y"]),
                                 ("10.1.0.1/24", ["--tester-ip", "10.1.0.1"]), ("--allow", ["--allow", "all"]),
                                 ("--timeout-scale", ["--timeout-scale", "nan"]),
                                 ("--timeout-scale", ["--timeout-scale", "0.01"])):
            with self.subTest(arguments=arguments):
                self.refuse(words, *arguments)

    def test_a_fabric_that_is_not_there_is_an_error_of_every_case_and_the_reports_are_written(self):
        junit = self.folder / "r.xml"
        arguments = ("--fabric", f"socket:{self.folder / 'none'}", "--dut", "none")
        results = self.results(*arguments, "--junit", junit, CASE, code=3)["results"]
        self.assertEqual([(r["id"], r["verdict"]) for r in results], [(CASE, "ERROR")])
        self.assertIn("No such file", results[0]["message"])
        self.assertEqual(ElementTree.parse(junit).getroot().find("testsuite").get("errors"), "1")
        self.assertEqual(conform("list", *arguments).returncode, 3)
        self.assertEqual(conform("run", *arguments, "--dry-run").returncode, 3)

    def test_an_adapter_that_ends_at_once_is_an_error_with_the_reason(self):
        verdicts = self.results("--listen", self.folder / "port", "--dut", "exec:echo gone >&2; exit 3", CASE, code=3)
        self.assertEqual(verdicts["results"][0]["verdict"], "ERROR")
        self.assertRegex(verdicts["results"][0]["message"], r"adapter|exit|ended")

    def test_an_adapter_that_breaks_in_one_case_is_an_error_of_that_case_only(self):
        adapter = self.folder / "adapter.py"
        adapter.write_text(BREAKING_ADAPTER)
        for way, reason in (("die", r"ended|exit"), ("hang", r"no answer|answer"), ("flood", r"64 KiB|unasked|asked"),
                            ("lie", r"which does not exist"), ("babble", r"JSON")):
            with self.subTest(way=way):
                (self.folder / way).touch()
                command = f"exec:exec python3 {adapter} {way} {self.folder / way}"
                verdicts = self.results("--listen", self.folder / "port", "--dut", command, "--timeout-scale", "0.1",
                                        "IPOIB-4391-5-VAL-001", "IPOIB-4391-5-INV-002", code=3)["results"]
                self.assertEqual([r["verdict"] for r in verdicts], ["ERROR", "NA"])
                self.assertRegex(verdicts[0]["message"], reason)

    def test_a_node_that_closes_within_a_frame_or_sends_nonsense_harms_only_its_own_cases(self):
        port = self.folder / "port"
        child = subprocess.Popen([PROGRAM, "run", "--listen", port, "--dut", "none", "--timeout-scale", "0.1", CASE],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (child.kill() if child.poll() is None else None, child.communicate()))
        while not port.exists():
            time.sleep(0.01)
        for nonsense in (b"\x01\x00abc", b"\xff\xff" + bytes(100), b"\x00\x1a" + bytes(26), b"\x00"):
            with socket.socket(socket.AF_UNIX) as node:
                # The file is there a moment before somebody listens.
                for _ in range(100):
                    with contextlib.suppress(ConnectionRefusedError):
                        node.connect(str(port))
                        break
                    time.sleep(0.01)
                try:
                    node.sendall(nonsense)
                except BrokenPipeError:  # the fabric has closed it already
                    pass
        out, _ = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 5, out)
        self.assertFalse(port.exists(), "the socket file is left behind")

    def test_after_ctrl_c_the_reports_are_written_and_what_was_not_begun_is_an_error(self):
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        path = self.folder / "r.json"
        child = subprocess.Popen([PROGRAM, "run", "IPOIB-*", "--listen", self.folder / "port", "--dut", "none", "--json",
                                  path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs)
        os.close(theirs)
        self.addCleanup(lambda: (child.kill() if child.poll() is None else None, child.communicate()))
        drawn = b""
        while not re.search(rb"\[\d+/\d+\] IPOIB-", drawn):
            drawn += os.read(ours, 65536)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=30)
        self.assertEqual(child.returncode, 3, out)
        results = json.loads(path.read_text())["results"]
        self.assertTrue(any("interrupted" in r["message"] for r in results if r["verdict"] == "ERROR"))
        try:
            while part := os.read(ours, 65536):
                drawn += part
        except OSError:  # the terminal's other side is closed
            pass
        self.assertTrue(drawn.endswith(b"\r"), "the line is wiped out at the end")

    def test_progress_is_for_terminals_only(self):
        self.assertEqual(conform("run").stderr, "")


# Does what its first argument says at the first request for the interface (or at the probe), as long as the file of the
# second argument is there; the file is gone after the first time.
BREAKING_ADAPTER = '''
import json, os, sys, time
way, once = sys.argv[1:3]
breaks = os.path.exists(once)
def say(answer): print(json.dumps(answer), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["do"] == "hello":
        say({"id": asked["id"], "ok": True, "protocol": 1, "name": "breaking", "can": []})
    elif breaks and (asked["do"] == "interface" or way == "lie"):
        os.remove(once)
        breaks = False
        if way == "die": sys.exit(7)
        if way == "hang": time.sleep(60)
        if way == "flood": sys.stdout.write("x" * (1 << 20) + "\\n"); sys.stdout.flush()
        if way == "lie": say({"id": asked["id"], "ok": True})
        if way == "babble": print("hello!", flush=True)
    else:
        say({"id": asked["id"], "error": "unsupported"})
'''


class Selftest(Folder):
    def test_every_mutant_dies_and_every_case_kills(self):
        run = conform("selftest", timeout=300)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertRegex(run.stdout, rf"(?m)^dead +reserved-not-zero +{CASE}")
        self.assertNotIn("ALIVE", run.stdout)
        self.assertEqual(run.stderr, "")

    def test_the_matrix_as_json(self):
        path = self.folder / "matrix.json"
        self.assertEqual(conform("selftest", "tag:encap", "--json", path, timeout=300).returncode, 0)
        matrix = json.loads(path.read_text())
        self.assertEqual((matrix["format"], matrix["complete"]), ("ipoib-conform-kill-matrix/1", True))
        mutants = {mutant["name"]: mutant for mutant in matrix["mutants"]}
        one = mutants["reserved-not-zero"]
        self.assertEqual((one["kind"], one["fate"], one["breaks"]), ("stack", "dead", ["RFC4391-6-02"]))
        self.assertIn(CASE, one["cases"])
        self.assertIn("RULE-RFC4391-6-02", one["rules"])
        self.assertIn("reserved-not-zero", {case["id"]: case["finds"] for case in matrix["cases"]}[CASE])
        permitted = mutants["permitted-short-advertisement"]
        self.assertEqual((permitted["fate"], permitted["cases"], permitted["rules"]), ("permitted", [], []))

    def test_outputs_that_cannot_be_are_refused_before_anything_runs(self):
        same = self.folder / "same"
        for arguments in (["--json", same, "--markdown", same], ["--pages", self.folder / "none"],
                          [CASE, "--pages", self.folder], ["--json", "-"], ["--pages", ""]):
            run = conform("selftest", *arguments)
            self.assertEqual((run.returncode, run.stdout), (2, ""), arguments)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_selector_that_matches_no_case_is_a_usage_error(self):
        self.assertEqual(conform("selftest", "nonsense").returncode, 2)
        self.assertEqual(conform("selftest", "RULE-RFC4391-6-02").returncode, 2)


class ProfileCommand(Active):
    def test_what_the_dut_answers_becomes_a_profile_that_run_takes(self):
        run = conform("profile", "--dut", "reference")
        self.assertEqual(run.returncode, 0, run.stderr)
        for words in ('name = "ipoib-conform reference"', "mtu = 2044", 'modes = ["datagram"]',
                      'guid_format = "unknown"', 'interface_id = "guid"', 'addresses = ["10.1.0.9/24"]',
                      'tester = ["10.1.0.1/24"]'):
            self.assertIn(words, run.stdout)
        profile = self.write("DUT.toml", run.stdout.encode())
        self.assertEqual(self.verdicts("--profile", profile, CASE)[CASE], "PASS")

    def test_a_dut_that_answers_nothing_has_no_profile(self):
        self.assertEqual(conform("profile", "--dut", "none").returncode, 2)
        run = conform("profile", "--listen", self.folder / "port", "--dut", "exec:exit 3")
        self.assertEqual((run.returncode, run.stdout), (3, ""))
        self.assertIn("could not be asked", run.stderr)


class OtherCommands(Folder):
    def test_list_names_cases_and_rules_and_what_can_run_where(self):
        listed = json.loads(conform("list", "--json").stdout)
        self.assertEqual({entry["kind"] for entry in listed}, {"case", "rule", "audit"})
        self.assertTrue(all(entry["checks"] for entry in listed))
        self.assertEqual(len(conform("list", "RULE-RFC4391-6-02").stdout.splitlines()), 3)
        text = conform("list", CASE).stdout
        self.assertIn("checks RFC4391-6-03, RFC4391-6-02", text)
        self.assertNotIn("can run", text)
        self.assertEqual(conform("list", "nonsense").returncode, 2)
        here = {e["id"]: e for e in json.loads(conform("list", "--json", "--fabric", "simulated").stdout)}
        self.assertEqual((here[CASE]["can_run"], here[CASE]["na"]), (True, None))
        there = {e["id"]: e for e in json.loads(conform("list", "--json", "--dut", "sa").stdout)}
        self.assertEqual((there[CASE]["can_run"], there[CASE]["na"]), (False, "profile"))
        self.assertTrue(there[CASE]["why"])
        self.assertIn("NA (profile)", conform("list", CASE, "--dut", "sa").stdout)

    def test_requirements_name_the_cases_that_check_them(self):
        requirements = {r["id"]: r for r in json.loads(conform("requirements", "--json").stdout)}
        self.assertGreaterEqual(len(requirements), 208)
        self.assertEqual(requirements["RFC4391-6-02"]["status"], "case and rule")
        self.assertEqual(requirements["RFC4391-6-02"]["by"][0], CASE)
        self.assertIn("RULE-RFC4391-6-02", requirements["RFC4391-6-02"]["by"])
        self.assertEqual(requirements["RFC4391-6-03"]["status"], "case", "no capture shows what a receiver ignores")
        self.assertEqual(requirements["RFC4391-9.1-01"]["status"], "rule", "no peer can provoke it")
        self.assertEqual(requirements["RFC4391-5-07"]["status"], "construction")
        self.assertIn("contains the P_Key", requirements["RFC4391-5-07"]["reason"])
        gaps = json.loads(conform("requirements", "--json", "--gaps").stdout)
        self.assertLess(len(gaps), len(requirements))
        self.assertEqual([r["id"] for r in gaps],
                         [id for id, r in requirements.items() if r["status"].startswith("open: needs a case")])
        for entry in gaps:
            self.assertFalse([by for by in entry["by"] if not by.startswith("RULE-")], entry["id"])
        self.assertNotIn("RFC4391-6-02", [r["id"] for r in gaps])
        self.assertNotIn("RFC4391-6-03", [r["id"] for r in gaps])

    def test_explain_a_case(self):
        text = conform("explain", CASE).stdout
        for words in ("checks RFC4391-6-03", "passes if the DUT answers", "impact: dut", "tags: encap"):
            self.assertIn(words, text)
        self.assertIn(f"checked by {CASE}", conform("explain", "RFC4391-6-03").stdout)

    def test_explain(self):
        for what, words in (("RFC4391-6-02", "section 6"), ("RFC4391-13-01", "inspection: Privileges never show"), ("RULE-RFC4391-6-02", "Encap.Reserved"),
                            ("ff12:401b:ffff::fff:102", "239.255.1.2"), ("ff12:401b:ffff::ffff:ffff", "broadcast-GID"),
                            ("239.255.1.2", "ff12:401b:ffff::fff:102"), ("ff02::1", "ff12:601b:ffff::1"),
                            ("80:00:04:05:fe:80:00:00:00:00:00:00:00:02:c9:02:00:24:f6:36", "0x000405")):
            run = conform("explain", what)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn(words, run.stdout)
        self.assertIn("ff15:601b:8123::1", conform("explain", "ff02::1", "--pkey", "0x8123", "--scope", "5").stdout)
        self.assertEqual(conform("explain", "nonsense").returncode, 2)
        self.assertEqual(conform("explain", "10.0.0.1").returncode, 2)

    def test_decode_a_frame_of_a_capture_and_in_hex(self):
        run = conform("decode", f"{CAPTURES / 'broken.pcap'}#17")
        self.assertEqual(run.returncode, 0, run.stderr)
        for words in ("Local Route Header", "0xabcd", "RFC4391-6-02 violated", "ICRC right, VCRC right"):
            self.assertIn(words, run.stdout)
        refused = conform("decode", f"{CAPTURES / 'join-refused-rate.pcap'}#53").stdout
        self.assertRegex(refused, r"Status +0x0200 \(ERR_REQ_INVALID\)")
        self.assertRegex(refused, r"AttributeID +0x0038 \(MCMemberRecord\)")
        frame = read_frame(CAPTURES / "broken.pcap", 17)
        self.assertIn("RFC4391-6-02 violated", conform("decode", frame.hex()).stdout)
        self.assertIn("Decoding stopped at offset", conform("decode", frame[:15].hex()).stdout)
        for wrong in ("zz", "", f"{CAPTURES / 'broken.pcap'}#0", f"{CAPTURES / 'broken.pcap'}#28", "none.pcap#1"):
            self.assertEqual(conform("decode", wrong).returncode, 2, wrong)

    def test_help_manual_and_completion_know_every_command(self):
        text = conform("--help").stdout
        commands = re.findall(r"^  ([a-z]+) ", text[text.index("Subcommands"):].split("\n\n")[0], re.MULTILINE)
        self.assertGreaterEqual(len(commands), 8)
        manual, completion = conform("manual").stdout, conform("completion").stdout
        for command in commands:
            self.assertIn(f".SS {command}", manual)
            self.assertIn(f"    {command}) ", completion)
            self.assertEqual(conform(command, "--help").returncode, 0)
        self.assertEqual(subprocess.run(["bash", "-n"], input=completion, text=True).returncode, 0)
        formatted = subprocess.run(["man", "--warnings", "-l", "-"], input=manual, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env={**os.environ, "MANWIDTH": "100"})
        self.assertEqual(formatted.stderr, "")
        self.assertIn("--junit-dialect", formatted.stdout)


if __name__ == "__main__":
    unittest.main()
