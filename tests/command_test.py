#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Drives ipoib-conform as a person or a script would: exit codes, messages, reports, pipes, signals, bad input."""
import gzip
import json
import os
import re
import signal
import struct
import subprocess
import threading
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from program import CAPTURES, PROGRAM, Folder, conform, drawn_at_terminal, sa_answer
from waiting import until
from run_test import CASE


class Check(Folder):
    def test_a_conformant_capture_exits_0(self):
        run = conform("check", CAPTURES / "conformant.pcap")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertRegex(run.stdout, r"judged \d+ of \d+ binding statements \(\d+ MUST, \d+ stated\)")
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
        conform("check", CAPTURES / "conformant.pcap", "rfc4391/9", "--json", self.folder / "r.json")
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
        self.assertEqual(run.returncode, 3)
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
        unknown = self.write("unknown.toml", filled.read_bytes().replace(b"RFC4391-6-02\"]", b"RFC4391-6-99\"]"))
        run = conform("check", CAPTURES / "broken.pcap", "--expect", unknown)
        self.assertEqual(run.returncode, 2)
        self.assertIn('there is no requirement "RFC4391-6-99"', run.stderr)


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
        options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        child = subprocess.Popen([PROGRAM, *map(str, arguments)], **options)
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

    def test_a_file_that_was_not_read_to_its_end_is_an_error_with_what_was_judged_in_every_report(self):
        head, records = (CAPTURES / "usual.pcap").read_bytes()[:24], (CAPTURES / "usual.pcap").read_bytes()[24:]
        large = self.write("large.pcap", head + records * (200_000_000 // len(records)))
        reports = {kind: self.folder / f"r.{kind}" for kind in ("json", "junit", "html")}
        child = self.start("check", large, *(word for kind, path in reports.items() for word in (f"--{kind}", path)))
        until(lambda: int(Path(f"/proc/{child.pid}/io").read_text().split()[1]) > 20_000_000, "it reads")
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 3, out)
        self.assertIn(b"interrupted", out)
        results = json.loads(reports["json"].read_text())
        self.assertIn("interrupted", results["captures"][0]["error"])
        self.assertIn("PASS", {one["verdict"] for one in results["results"]})
        for kind in ("junit", "html"):
            self.assertIn("interrupted", reports[kind].read_text())

    def interrupted(self, *arguments, threads, begun=lambda: True, **options):
        """Exit code and results of a command that gets Ctrl-C once it has read for a while and `begun` says so."""
        report = self.folder / "r.json"
        report.unlink(missing_ok=True)
        said = self.folder / "said.txt"
        with open(said, "wb") as out:
            child = self.start("check", *arguments, "--threads", threads, "--json", report, stdout=out, **options)
        until(lambda: int(Path(f"/proc/{child.pid}/io").read_text().split()[1]) > 5_000_000 and begun(), "it reads")
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=60)
        self.assertIn(b"interrupted", said.read_bytes(), err)
        self.assertEqual(list(self.folder.glob("*json*")), [report])
        return child.returncode, json.loads(report.read_text())["captures"][0]

    def test_ctrl_c_ends_reading_by_any_number_of_threads_with_whole_reports(self):
        head, records = (CAPTURES / "usual.pcap").read_bytes()[:24], (CAPTURES / "usual.pcap").read_bytes()[24:]
        part = records * (8_000_000 // len(records))
        large = self.write("large.pcap", head + part * 25)
        packets = 16 * (len(part) // len(records))
        for threads in (1, 2, 8):
            with self.subTest("a file", threads=threads):
                code, capture = self.interrupted(large, threads=threads)
                self.assertEqual(code, 3)
                self.assertIn("interrupted", capture["error"])
                self.assertLess(capture["packets"], 25 * packets)
            with self.subTest("a pipe that goes on", threads=threads):
                with subprocess.Popen(["sh", "-c", f"cat {large}; while tail -c +25 {large}; do :; done"],
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as endless:
                    try:
                        code, capture = self.interrupted("-", threads=threads, stdin=endless.stdout)
                    finally:
                        endless.kill()
                self.assertEqual(code, 0)
                self.assertGreater(capture["packets"], 0)
            with self.subTest("a pipe that has paused", threads=threads):
                reading, writing = os.pipe()
                with open(writing, "wb") as paused:
                    feeder = threading.Thread(target=lambda: (paused.write(head + part), paused.flush()), daemon=True)
                    feeder.start()
                    with open(reading, "rb") as source:
                        code, capture = self.interrupted("-", threads=threads, stdin=source,
                                                         begun=lambda: not feeder.is_alive())
                self.assertEqual(code, 0)
                self.assertGreater(capture["packets"], packets // 2)

    def test_no_complaint_says_anything_to_the_terminal_that_a_person_did_not_mean(self):
        strange = "x\x1b[31m\u202ey"
        file = self.write("strange.toml", f'"{strange}" = 1\n["{strange}"]\n'.encode())
        named = self.write(strange, b"no capture")
        profile = self.write("profile.toml", b'["a\\u001b[31m\\u202e"]\n[dut]\n"\\u202e" = 1\n')
        for arguments in (("check", named), ("check", CAPTURES / "usual.pcap", strange), ("links", named), (strange,),
                          ("check", CAPTURES / "usual.pcap", "--expect", file), ("run", "--profile", file),
                          ("run", "--profile", profile), ("run", "--" + strange), ("merge", named),
                          ("merge", strange + "=" + str(named)), ("diff", named, named), ("run", "--dut", strange),
                          ("run", "--fabric", strange), ("check", CAPTURES / "usual.pcap", "--json", f"/{strange}/x"),
                          ("run", "--evidence", named), ("check", CAPTURES / "usual.pcap", "--sa", named),
                          ("check", CAPTURES / "usual.pcap", "--assume", strange), ("explain", strange),
                          ("decode", named), ("audit", "--fabric", strange), ("audit", "--sa", named)):
            run = conform(*arguments)
            told = run.stdout + run.stderr
            self.assertNotEqual(run.returncode, 0, arguments)
            self.assertNotRegex(told, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", arguments)

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
        code, drawn = drawn_at_terminal("check", long)
        self.assertEqual(code, 0)
        self.assertRegex(drawn, rb"\[=* *\] +\d+% \d+ MiB")
        self.assertTrue(drawn.endswith(b"\r"), "the bar is wiped out at the end")

    def test_what_is_no_number_above_zero_is_named(self):
        for value, why in (("1e9x", "'1e9x' is no number above zero"), ("0", "'0' is no number above zero"),
                           ("-3", "'-3' is no number above zero"), ("9" * 20, "is more than can be counted")):
            with self.subTest(value):
                run = conform("explore", "--seeds", value)
                self.assertEqual(run.returncode, 2)
                self.assertIn(why, run.stderr)

    def test_lines_are_as_wide_as_the_terminal(self):
        def widest(*words, **terminal):
            text = drawn_at_terminal(*words, stream="stdout", **terminal)[1].decode()
            # Files and what can be copied stay whole.
            return max(len(line) for line in text.splitlines() if str(CAPTURES) not in line)
        for words in (("check", "--no-color", CAPTURES / "broken.pcap", "RFC4391-6-*"),
                      ("links", CAPTURES / "field-troubles.pcap")):
            with self.subTest(words[0]):
                self.assertLessEqual(widest(*words, width=80), 80)
                self.assertGreater(widest(*words, width=120), 100)
                self.assertLessEqual(widest(*words), 100)

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

    def test_a_file_without_end_is_refused(self):
        for arguments in (("explore", "--replay", "/dev/zero"), ("explore", "--dut", "sa", "--replay", "/dev/zero")):
            done = conform(*arguments)
            self.assertEqual((done.returncode, done.stderr),
                             (2, "ipoib-conform: /dev/zero is larger than 4 MiB\n"), arguments)

    def test_a_search_that_is_interrupted_before_it_has_found_anything_is_no_verdict(self):
        child = self.start("explore", "--seeds", "1000000000")
        ticks = 30
        until(lambda: int(Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split()[11]) > ticks, "it plays")
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 3, out)
        self.assertIn(b"interrupted", err)

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

        def is_reading():
            left = struct.unpack("i", fcntl.ioctl(child.stdin, termios.FIONREAD, b"\0" * 4))[0]
            state = Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
            return left == 0 and state == "S"

        until(is_reading, "program that reads", 30)

    def test_the_progress_bar_is_not_for_short_captures(self):
        run = conform("check", CAPTURES / "conformant.pcap")
        self.assertEqual(run.stderr, "")


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
        # Every option of where and on what is heeded, alone as with others.
        self.assertEqual(conform("list", "--scenario", "nonsense").returncode, 2)
        self.assertIn("can run", conform("list", CASE, "--allow", "observe").stdout)
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
        for what, words in (("RFC4391-6-02", "section 6"), ("RFC4391-13-01", "inspection: The adapter tries"),
                            ("RULE-RFC4391-6-02", "Encap.Reserved"),
                            ("ff12:401b:ffff::fff:102", "239.255.1.2"), ("ff12:401b:ffff::ffff:ffff", "broadcast-GID"),
                            ("239.255.1.2", "ff12:401b:ffff::fff:102"), ("ff02::1", "ff12:601b:ffff::1"),
                            ("80:00:04:05:fe:80:00:00:00:00:00:00:00:02:c9:02:00:24:f6:36", "0x000405")):
            run = conform("explain", what)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn(words, run.stdout)
        self.assertIn("ff15:601b:8123::1", conform("explain", "ff02::1", "--pkey", "0x8123", "--scope", "5").stdout)
        self.assertEqual(conform("explain", "nonsense").returncode, 2)
        record = conform("explain", "P_KeyTableRecord").stdout
        for words in ("IBTA Vol 1, 15.2.5.11", "SubnAdm, attribute 0x0033", "--set p_key_table_record.FIELD", "BlockNum"):
            self.assertIn(words, record)
        self.assertIn("rfc4391.p_key_table_record.block_num", conform("explain", "p_keytablerecord.blocknum").stdout)
        self.assertIn("in PortInfoRecord.PortInfo", conform("explain", "PortInfo").stdout)
        self.assertIn("no field 'Block'", conform("explain", "P_KeyTableRecord.Block").stderr)
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

    def test_decode_shows_an_attribute_and_what_is_within_it(self):
        keys = sa_answer(0x33, "0002 0001 03 000000 ffff 8123")
        shown = conform("decode", keys.hex()).stdout
        self.assertIn("P_Key Table Record", shown)
        self.assertRegex(shown, r"BlockNum +1\b")
        node = conform("decode", sa_answer(0x11, "0002 0000 01 01 02").hex()).stdout
        self.assertRegex(node, r"NodeType +2 \(switch\)")

    def test_the_help_names_every_scenario(self):
        names = conform("run", "--scenario", "none-such").stderr.partition("there are ")[2].strip()
        self.assertGreater(len(names.split(", ")), 3)
        for command in ("run", "list", "profile", "audit"):
            self.assertIn(names, " ".join(conform(command, "--help").stdout.split()))

    def test_help_manual_and_completion_know_every_command(self):
        text = conform("--help").stdout
        commands = re.findall(r"^  ([a-z]+) ", text[text.index("Commands"):].split("\n\n")[0], re.MULTILINE)
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
