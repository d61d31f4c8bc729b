#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What `shrink` leaves: the fewest frames, steps or events that show the same."""
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import unittest
from pathlib import Path

from program import CAPTURES, SOURCE, Folder, conform

# Those made to show what is wrong; the rest is of others' formats.
SAMPLES = sorted(path.name[:-len(".expected")] for path in CAPTURES.glob("*.expected")
                 if re.search(r"^(?:FAIL|WARN) ", path.read_text(), re.M))


def broken(capture):
    """The rules that a capture breaks, as `check` says."""
    return set(re.findall(r"^(?:FAIL|WARN)[.\w]* (RULE-\S+)", conform("check", capture).stdout, re.M))


def blocks(path):
    """Of a pcapng, each with its type; numbers are the machine's."""
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        found.append((kind, data[at:at + size]))
        at += size
    return found


def without_frame(path, number):
    """The pcapng without the packet of this number, from 0."""
    left, packets = [], 0
    for kind, block in blocks(path):
        is_packet = kind == 6
        if not (is_packet and packets == number):
            left.append(block)
        packets += is_packet
    out = path.with_name("fewer.pcapng")
    out.write_bytes(b"".join(left))
    return out, packets


class Captures(Folder):
    def shrunk(self, capture, finding, *options):
        out = self.folder / "out.pcapng"
        run = conform("shrink", capture, finding, "--out", out, *options)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return out, run.stdout

    def test_every_finding_of_every_sample_is_shrunk_to_its_minimum(self):
        self.assertIn("broken.pcap", SAMPLES)
        alone = 0
        for sample in SAMPLES:
            for rule in sorted(broken(CAPTURES / sample)):
                with self.subTest(sample=sample, rule=rule):
                    out, told = self.shrunk(CAPTURES / sample, rule)
                    others = set(re.findall(r"^the same frames show (RULE-\S+), too$", told, re.M))
                    self.assertEqual(broken(out), {rule} | others)
                    alone += not others
                    _, packets = without_frame(out, 0)
                    self.assertEqual(int(told.split()[0]), packets)
                    for number in range(packets):
                        fewer, _ = without_frame(out, number)
                        self.assertNotIn(rule, broken(fewer), f"without frame {number + 1}")
        self.assertGreater(alone, 10)

    def test_what_is_broken_by_one_frame_is_that_frame(self):
        out, told = self.shrunk(CAPTURES / "broken.pcap", "RULE-RFC4391-4-08")
        self.assertEqual(told, "1 of 19 frames show RULE-RFC4391-4-08: 19\n")
        self.assertIn(b"frame 19 of broken.pcap; RULE-RFC4391-4-08: ", out.read_bytes())

    def test_a_requirement_and_a_frame_can_be_named(self):
        _, told = self.shrunk(CAPTURES / "broken.pcap", "RFC4391-9.2-04")
        self.assertTrue(told.startswith("1 of "), told)
        _, told = self.shrunk(CAPTURES / "broken.pcap", "RULE-UDMC-02#25")
        self.assertIn(": 25\n", told)
        run = conform("shrink", CAPTURES / "broken.pcap", "RULE-UDMC-02#3", "--out", self.folder / "x")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("does not show RULE-UDMC-02 in frame 3", run.stderr)
        self.assertFalse((self.folder / "x").exists())

    def test_a_finding_of_links_is_shrunk_too(self):
        for sample, name in (("join-refused-rate.pcap", "join-refused-rate"), ("field-troubles.pcap", "dhcp-lease-lost")):
            with self.subTest(name=name):
                out, told = self.shrunk(CAPTURES / sample, name)
                self.assertIn(f'"{name}"', conform("links", out, "--json").stdout)
                frames = int(told.split()[0])
                self.assertLess(frames, 8, told)

    @unittest.skipUnless(shutil.which("tshark"), "tshark is missing")
    def test_wireshark_opens_it_as_infiniband(self):
        out, _ = self.shrunk(CAPTURES / "broken.pcap", "RULE-RFC4391-9.1.2-03")
        shown = subprocess.run(["tshark", "-r", out, "-T", "fields", "-e", "frame.protocols"], capture_output=True, text=True,
                               check=False).stdout.split()
        self.assertEqual(len(shown), 4)
        for protocols in shown:
            self.assertIn("infiniband", protocols)

    def test_parties_of_evidence_stay_parties(self):
        evidence = self.folder / "evidence"
        conform("run", "IPOIB-4391-6-INV-001", "--dut", "mutant:reserved-not-zero", "--evidence", evidence)
        out, _ = self.shrunk(evidence / "IPOIB-4391-6-INV-001.pcapng", "RULE-RFC4391-6-02")
        self.assertIn(b"dut", out.read_bytes())
        self.assertIn("RULE-RFC4391-6-02", broken(out))

    def test_what_cannot_be_shrunk_is_told(self):
        out = self.folder / "out"
        broken_one, text = CAPTURES / "broken.pcap", self.folder / "text"
        text.write_text("no capture")
        for code, words, told in (
                (2, [broken_one, "RULE-X"], "neither a rule nor a requirement"),
                (2, [broken_one, "RULE-UDMC-02#0"], "the number of a frame"),
                (2, [broken_one, "RULE-UDMC-02#x"], "the number of a frame"),
                (2, ["-", "RULE-UDMC-02"], "standard input"),
                (2, [self.folder / "missing", "RULE-UDMC-02"], "cannot be read"),
                (2, [text, "RULE-UDMC-02"], "is not a capture"),
                (1, [CAPTURES / "conformant.pcap", "RULE-UDMC-02"], "they show nothing that is wrong"),
                (1, [broken_one, "duplicate-address"], "does not show duplicate-address")):
            with self.subTest(words=words):
                run = conform("shrink", *words, "--out", out)
                self.assertEqual((run.returncode, run.stdout), (code, ""), run.stderr)
                self.assertIn(told, run.stderr)
                self.assertFalse(out.exists())
        copy = self.folder / "copy.pcap"
        shutil.copy(broken_one, copy)
        run = conform("shrink", copy, "RULE-UDMC-02", "--out", copy)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(copy.read_bytes(), broken_one.read_bytes())


class Schedules(Folder):
    STEPS = [{"at": 0, "do": "up"}, {"at": 0.1, "do": "join", "group": 0}, {"at": 0.5, "do": "join", "group": 1},
             {"at": 0.8, "do": "send-group", "group": 1}, {"at": 1, "do": "sm-restart"},
             {"at": 1.2, "do": "send-unicast", "peer": 0}]

    def test_the_fewest_events_break_the_same_invariant(self):
        schedule, out = self.folder / "schedule.json", self.folder / "out.json"
        schedule.write_text(json.dumps({"explore": 1, "scenario": "default", "seed": 1, "steps": self.STEPS}))
        wrong = ("--dut", "mutant:rejoins-broadcast-only")
        run = conform("shrink", schedule, "membership", *wrong, "--out", out)
        self.assertEqual(run.returncode, 0, run.stderr)
        left = json.loads(out.read_text())["steps"]
        self.assertEqual([step["do"] for step in left], ["up", "join", "sm-restart"])
        run = conform("explore", *wrong, "--replay", out)
        self.assertIn("FAIL membership ", run.stdout)
        for number in range(len(left)):
            fewer = self.folder / "fewer.json"
            fewer.write_text(json.dumps({"explore": 1, "scenario": "default", "seed": 1,
                                         "steps": left[:number] + left[number + 1:]}))
            self.assertNotIn("FAIL membership ", conform("explore", *wrong, "--replay", fewer).stdout)

    def test_a_stack_that_is_right_breaks_nothing(self):
        schedule = self.folder / "schedule.json"
        schedule.write_text(json.dumps({"explore": 1, "scenario": "default", "seed": 1, "steps": self.STEPS}))
        run = conform("shrink", schedule, "membership", "--out", self.folder / "out.json")
        self.assertEqual(run.returncode, 1)
        self.assertIn("it breaks nothing", run.stderr)
        schedule.write_text('{"explore": 1, "steps": 7}')
        self.assertEqual(conform("shrink", schedule, "membership", "--out", self.folder / "out.json").returncode, 2)


# Says that it joins the first group, and does not; all else goes to the adapter that its arguments are.
LIAR = """
import json, subprocess, sys
adapter = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["do"] == "join" and asked["group"] == "239.9.9.1":
        print(json.dumps({"id": asked["id"], "ok": True}), flush=True)
        continue
    adapter.stdin.write(line)
    adapter.stdin.flush()
    print(adapter.stdout.readline(), end="", flush=True)
adapter.stdin.close()
adapter.wait()
"""


class OfOthers(Folder):
    """In real time: a minute."""

    def test_a_schedule_is_shrunk_against_a_stack_in_another_process(self):
        schedule, out, port = self.folder / "schedule.json", self.folder / "out.json", self.folder / "port"
        schedule.write_text(json.dumps({"explore": 1, "scenario": "default", "seed": 1, "steps": [
            {"at": 0, "do": "up"}, {"at": 0.1, "do": "send-unicast", "peer": 0}, {"at": 0.5, "do": "join", "group": 0}]}))
        node = Path(os.environ["IPOIB_BUILD"]) / "samples/ipoib-node"
        liar = shlex.join([sys.executable, str(self.write("liar.py", LIAR.encode())), sys.executable,
                           str(SOURCE / "samples/python-adapter/adapter.py"), "--node", str(node), "--port", str(port)])
        run = conform("shrink", schedule, "membership", "--dut", f"exec:{liar}", "--listen", port, "--timeout-scale", 0.3,
                      "--out", out, timeout=300)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertEqual([step["do"] for step in json.loads(out.read_text())["steps"]], ["join"])
        self.assertIn("1 of 3 events show membership", run.stdout)

    def test_wrong_uses_are_told(self):
        schedule = self.write("schedule.json", b'{"explore": 1, "scenario": "default", "seed": 1, "steps": []}')
        for words, *arguments in (("needs a raw port", "--dut", "exec:x"),
                                  ("names no command", "--dut", "exec:", "--listen", "/p"),
                                  ("--listen is for a DUT", "--listen", "/p"), ("not 'sa'", "--dut", "sa")):
            run = conform("shrink", schedule, "membership", *arguments, "--out", self.folder / "out.json")
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(words, run.stderr)


class Runs(Folder):
    def test_a_run_is_shrunk_to_the_case_and_the_step_that_find_it(self):
        results, out = self.folder / "run.json", self.folder / "out.pcapng"
        conform("run", "rfc4391/5", "rfc4391/6", "--dut", "mutant:reserved-not-zero", "--json", results)
        for finding in ("IPOIB-4391-6-INV-001", "RFC4391-6-02", "RULE-RFC4391-6-02"):
            with self.subTest(finding=finding):
                run = conform("shrink", results, finding, "--out", out)
                self.assertEqual(run.returncode, 0, run.stderr)
                # What a rule says of any frame may show before the first step.
                told = re.match(r"1 of \d+ cases, [01] of (\d+) steps of the last show (\S+): (\S+)\n(.*)\n", run.stdout)
                self.assertTrue(told, run.stdout)
                self.assertIn("RULE-RFC4391-6-02", broken(out))
                # The command that is told finds it again.
                again = conform(*told.group(4).split()[1:], "--json", self.folder / "again.json")
                self.assertEqual(again.returncode, 1)

    def test_what_a_run_has_not_found_is_not_shrunk(self):
        results = self.folder / "run.json"
        conform("run", "rfc4391/6", "--json", results)
        run = conform("shrink", results, "RFC4391-6-02", "--out", self.folder / "out")
        self.assertEqual(run.returncode, 1)
        self.assertIn("holds no FAIL, WARN or INCONC of RFC4391-6-02", run.stderr)
        # Of a case that judges several, one that was kept is not shown by the one that was broken.
        conform("run", "rfc4391/6", "--dut", "mutant:reserved-not-zero", "--json", results)
        case = next(one for one in json.loads(results.read_text())["results"] if one["id"] == "IPOIB-4391-6-INV-001")
        parts = {part["id"]: part["verdict"] for part in case["parts"]}
        self.assertEqual((parts["RFC4391-6-03"], parts["RFC4391-6-02"]), ("PASS", "FAIL"))
        self.assertEqual(conform("shrink", results, "RFC4391-6-03", "--out", self.folder / "out").returncode, 1)
        conform("check", CAPTURES / "broken.pcap", "--json", results)
        self.assertEqual(conform("shrink", results, "RULE-UDMC-02", "--out", self.folder / "out").returncode, 1)

    def test_no_command_is_started_that_only_the_results_name(self):
        results, mark = self.folder / "run.json", self.folder / "mark"
        conform("run", "rfc4391/6", "--dut", "mutant:reserved-not-zero", "--json", results)
        run, command = json.loads(results.read_text()), f"exec:touch {mark}"
        profile = self.write("DUT.toml", f'[control]\nadapter = "touch {mark}"\n'.encode())
        for words in (["--dut", command], [f"--dut={command}"], ["--profile", str(profile)]):
            run["command"] = ["ipoib-conform", "run", *words, "--listen", str(self.folder / "port"), "rfc4391/6"]
            results.write_text(json.dumps(run))
            told = conform("shrink", results, "RFC4391-6-02", "--out", self.folder / "out")
            self.assertEqual(told.returncode, 2)
            self.assertIn(f"would start a command, '{command}': if it shall, give the same as --dut", told.stderr)
            self.assertEqual(conform("shrink", results, "RFC4391-6-02", "--out", self.folder / "out", "--dut",
                                     "exec:true").returncode, 2)
            self.assertFalse(mark.exists())
        conform("shrink", results, "RFC4391-6-02", "--out", self.folder / "out", "--dut", command)
        self.assertTrue(mark.exists())

    def test_of_two_that_met_nothing_is_run_again(self):
        results = self.folder / "two.json"
        conform("run", "--against", "mutant:arp-unanswered", "--json", results)
        run = conform("shrink", results, "INTEROP-UNICAST-IPV4", "--out", self.folder / "out")
        self.assertEqual(run.returncode, 2)
        self.assertIn("is of several, that met or were merged", run.stderr)


if __name__ == "__main__":
    unittest.main()
