#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-gen as a person or a script would use it; what it writes is read by check and by tshark."""
import contextlib
import json
import os
import pty
import re
import resource
import shutil
import signal
import struct
import subprocess
import unittest

from generator import GENERATOR, generate, names
from program import Folder, conform
from waiting import until


class Generate(Folder):
    def made(self, *arguments, name="x.pcap", code=0):
        path = self.folder / name
        run = generate(*arguments, "--out", path)
        self.assertEqual(run.returncode, code, run.stderr)
        return path

    def verdicts(self, path):
        conform("check", path, "--json", self.folder / "r.json")
        results = json.loads((self.folder / "r.json").read_text())
        return results["captures"][0], {one["id"]: one["verdict"] for one in results["results"]}

    def test_every_profile_is_without_fault_and_as_long_as_was_asked(self):
        for profile in set(names("--list")) - {"replay", "malformed"}:
            with self.subTest(profile=profile):
                capture, verdicts = self.verdicts(self.made(profile, "--scenario", "controlled", "--count", 300,
                                                            "--hosts", 5, "--groups", 3, "--partitions", 2))
                self.assertGreaterEqual(capture["packets"], 300)
                # What was before a capture begins may explain what is in it.
                right = {"PASS", "NA", "INCONC"} if profile == "late-start" else {"PASS", "NA"}
                self.assertEqual(set(verdicts.values()) - right, set(), verdicts)

    def test_every_mutation_is_caught(self):
        for mutation in names("--list-mutations"):
            with self.subTest(mutation=mutation):
                _, verdicts = self.verdicts(self.made("--mutate", mutation, "--scenario", "controlled", "--count", 400))
                # What something off the wire may explain is not decided.
                unproven = mutation in ("creates-to-send", "cm-flags-no-service", "path-sl")
                self.assertTrue(({"INCONC"} if unproven else {"FAIL", "WARN"}) & set(verdicts.values()))

    def test_the_same_seed_gives_the_same_octets(self):
        one = self.made("day", "--seed", 7, "--count", 500, "--size", "0..1400").read_bytes()
        self.assertEqual(self.made("day", "--seed", 7, "--count", 500, "--size", "0..1400").read_bytes(), one)
        self.assertNotEqual(self.made("day", "--seed", 8, "--count", 500, "--size", "0..1400").read_bytes(), one)

    @unittest.skipUnless(shutil.which("tshark"), "tshark is missing")
    def test_tshark_reads_what_was_set(self):
        for name in ("x.pcap", "x.pcapng"):
            path = self.made("udp", "--count", 4, "--set", "UDP.SourcePort=5000..5001", "--set",
                             "IPv4.TTL=3", "--size", 100, name=name)
            shown = subprocess.run(["tshark", "-r", path, "-Y", "udp", "-T", "fields", "-e", "udp.srcport", "-e",
                                    "ip.ttl", "-e", "udp.checksum.status", "-o", "udp.check_checksum:TRUE"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60,
                                   check=True).stdout.split()
            self.assertEqual(shown, ["5000", "3", "1", "5001", "3", "1"] * 2)

    def test_crcs_are_right_unless_they_are_kept(self):
        right, _ = self.verdicts(self.made("udp", "--count", 20, "--set", "Encap.Reserved=1"))
        self.assertEqual(right["notes"], [])
        kept, _ = self.verdicts(self.made("udp", "--count", 20, "--set", "Encap.Reserved=1", "--keep-crc"))
        self.assertTrue(any("ICRC" in note for note in kept["notes"]), kept)

    def test_damage_is_what_a_bad_cable_does(self):
        capture, _ = self.verdicts(self.made("udp", "--count", 400, "--damage", 0.25))
        wrong = sum(int(note.split()[0]) for note in capture["notes"] if "wrong VCRC" in note)
        self.assertTrue(60 < wrong < 140, capture["notes"])

    def test_the_summary_as_json(self):
        run = generate("udp", "--count", 5, "--out", self.folder / "x.pcap", "--stats", "json")
        self.assertEqual(json.loads(run.stderr)["packets"], 5 + 7 * 4)

    def test_a_pipe_is_a_capture_too(self):
        piped = generate("ping4", "--count", 10, "--out", "-", "--quiet")
        self.assertEqual(piped.returncode, 0)
        self.assertEqual(piped.stderr, b"")
        (self.folder / "p.pcap").write_bytes(piped.stdout)
        self.assertEqual(self.verdicts(self.folder / "p.pcap")[1]["RULE-RFC4391-2-01"], "PASS")

    def test_malformed_packets_break_what_all_mutations_break(self):
        _, verdicts = self.verdicts(self.made("malformed", "--scenario", "controlled", "--count", 40000))
        wrong = {rule for rule, verdict in verdicts.items() if verdict in ("FAIL", "WARN")}
        self.assertGreater(len(wrong), 60)

    def test_a_dry_run_prints_and_writes_nothing(self):
        run = generate("arp", "--count", 2, "--dry-run")
        self.assertEqual(run.returncode, 0)
        self.assertIn(b"ARP request 10.1.0.1 to 10.1.0.2", run.stdout)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_rate_and_duration_are_times_in_the_capture(self):
        run = generate("ping4", "--rate", 100, "--duration", 2, "--dry-run", "--hosts", 2)
        lines = [line for line in run.stdout.decode().splitlines() if "echo" in line]
        self.assertEqual(len(lines), 200)
        times = [float(line.split()[0]) for line in lines]
        self.assertAlmostEqual(times[-1] - times[0], 1.99, places=3)

    def test_a_ramp_rises(self):
        run = generate("ping4", "--rate", "10..1000", "--count", 200, "--dry-run")
        times = [float(line.split()[0]) for line in run.stdout.decode().splitlines() if "echo" in line]
        self.assertGreater(times[1] - times[0], 50 * (times[-1] - times[-2]))

    def test_other_kinds_of_capture(self):
        refused = generate("udp", "--out", "x.pcap", "--link-type", "token-ring").stderr.decode()
        kinds = re.findall(r"\w+", refused.split(": ")[-1].replace(" or ", " "))
        self.assertLessEqual({"erf", "infiniband", "ipoib", "sll"}, set(kinds))
        for kind in kinds:
            with self.subTest(kind=kind):
                capture, verdicts = self.verdicts(self.made("day", "--link-type", kind, "--count", 300))
                self.assertGreaterEqual(capture["packets"], 300)
                self.assertEqual(set(verdicts.values()) & {"FAIL", "ERROR"}, set())

    def test_lines_on_the_way(self):
        run = generate("udp", "--count", 3000000, "--out", "/dev/null", "--interval", 0.05, "--stats", "json")
        lines = [json.loads(line) for line in run.stderr.splitlines()]
        self.assertGreater(len(lines), 2)
        self.assertEqual(lines, sorted(lines, key=lambda line: line["packets"]))

    def test_a_bar_on_a_terminal(self):
        ours, its = pty.openpty()
        run = subprocess.Popen([GENERATOR, "udp", "--count", "8000000", "--out", "/dev/null"], stderr=its)
        os.close(its)
        said = b""
        with contextlib.suppress(OSError):  # its end is gone
            while chunk := os.read(ours, 4096):
                said += chunk
        os.close(ours)
        self.assertEqual(run.wait(20), 0)
        self.assertRegex(said, rb"\[#+ *\] +\d+ %")

    def test_a_replay(self):
        day = self.made("day", "--count", 400, "--link-type", "infiniband", name="day.pcap")
        self.assertEqual(self.made("replay", "--in", day, "--link-type", "infiniband").read_bytes(), day.read_bytes())
        recorded, longer = (self.made("replay", "--in", day, "--timing", timing, name=f"{timing}.pcap")
                            for timing in ("recorded", "0.5"))
        self.assertAlmostEqual(self.seconds(longer), 2 * self.seconds(recorded), delta=0.02)
        self.assertEqual(self.seconds(self.made("replay", "--in", day, "--timing", "max", name="max.pcap")), 0)
        edited = self.made("replay", "--in", day, "--set", "Encap.Reserved=7", name="edited.pcap")
        capture, verdicts = self.verdicts(edited)
        self.assertEqual(capture["notes"], [])
        self.assertEqual(verdicts["RULE-RFC4391-6-02"], "FAIL")
        wrong = self.made("replay", "--in", day, "--mutate", "no-grh", name="wrong.pcap")
        self.assertEqual(self.verdicts(wrong)[1]["RULE-RFC4391-6-07"], "FAIL")

    def seconds(self, capture):
        shown = subprocess.run(["tshark", "-r", capture, "-T", "fields", "-e", "frame.time_relative"], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60, check=True).stdout.split()
        return round(float(shown[-1]), 2)

    def test_a_replay_that_cannot_be(self):
        cooked = self.made("udp", "--link-type", "sll", name="cooked.pcap")
        self.assertIn("frame 1 was captured without", self.wrong(2, "replay", "--in", cooked))
        self.assertIn("No such file", self.wrong(2, "replay", "--in", self.folder / "none.pcap"))
        corrupt = self.folder / "corrupt.pcap"
        corrupt.write_bytes(self.made("udp", "--count", 20).read_bytes()[:-7] + b"\xff" * 60)
        self.wrong(3, "replay", "--in", corrupt)
        self.assertIn("--in CAPTURE", self.wrong(2, "replay"))
        self.assertIn("profile replay", self.wrong(2, "udp", "--in", corrupt))
        self.assertIn("--timing", self.wrong(2, "replay", "--in", corrupt, "--timing", "fast"))

    def test_nothing_is_overwritten_in_vain(self):
        path = self.folder / "precious.pcap"
        path.write_bytes(self.made("udp", "--count", 5).read_bytes())
        before = path.read_bytes()
        for words in (("replay", "--in", path), ("udp", "--set", "Foo.Bar=1"), ("replay", "--in", self.folder / "none"),
                      ("udp", "--size", 5000), ("malformed", "--mutate", "no-grh")):
            run = generate(*words, "--out", path)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertEqual(path.read_bytes(), before, words)

    def test_a_full_disk_harms_nothing_that_was_there(self):
        path = self.folder / "all.bin"
        path.write_bytes(bytes(300000))
        with path.open("r+b") as out:
            out.seek(300000)
            run = generate("udp", "--count", 10000, "--out", "-", stdout=out,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (400000, 400000)))
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertEqual(path.read_bytes()[:300000], bytes(300000))
        (self.folder / "rest.pcap").write_bytes(path.read_bytes()[300000:])
        self.assertEqual(self.verdicts(self.folder / "rest.pcap")[0]["notes"], [])

    def test_a_mutation_that_is_about_no_packet_is_said(self):
        self.assertIn("take udp-multicast", self.wrong(2, "ping4", "--mutate", "maps-32-bits"))

    def test_frames_that_were_cut_are_not_sent_again(self):
        header = self.made("udp", "--count", 1, "--link-type", "infiniband").read_bytes()[:24]
        for name, captured, said in (("empty.pcap", 0, "cut"), ("cut.pcap", 60, "cut"), ("none.pcap", None, "no frame")):
            record = b"" if captured is None else struct.pack("<IIII", 1, 0, captured, 130) + bytes(captured)
            (self.folder / name).write_bytes(header + record)
            self.assertIn(said, self.wrong(2, "replay", "--in", self.folder / name, "--damage", 1))
        (self.folder / "zero.pcap").write_bytes(header + struct.pack("<IIII", 1, 0, 0, 0))
        self.made("replay", "--in", self.folder / "zero.pcap", "--damage", 1)

    def test_a_closed_output_of_a_dry_run_is_an_error(self):
        with open("/dev/full", "wb") as full:
            self.assertEqual(generate("udp", "--count", 1, "--dry-run", stdout=full).returncode, 3)

    def test_more_groups_than_multicast_lids(self):
        capture, verdicts = self.verdicts(self.made("udp-multicast", "--groups", 4096, "--hosts", 2, "--count", 20000))
        self.assertEqual(set(verdicts.values()) & {"FAIL", "ERROR"}, set())

    def wrong(self, code, *arguments):
        run = generate(*arguments, "--out", self.folder / "wrong.pcap")
        self.assertEqual(run.returncode, code, run.stderr)
        return run.stderr.decode()

    def test_after_ctrl_c_the_capture_is_whole(self):
        path = self.folder / "x.pcap"
        run = subprocess.Popen([GENERATOR, "udp", "--count", str(10**9), "--out", path], stderr=subprocess.PIPE)
        until(lambda: path.exists() and path.stat().st_size >= 100000, "packets in the file")
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=20)
        self.assertEqual(run.returncode, 0, said)
        self.assertIn(b"packets", said)
        self.assertEqual(conform("check", path).returncode, 0)

    def test_a_full_disk_is_said(self):
        def small():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        for name in ("x.pcap", "x.pcapng"):
            path = self.folder / name
            run = generate("udp", "--count", 10000, "--size", "0..1000", "--out", path, preexec_fn=small)
            self.assertEqual(run.returncode, 3)
            self.assertIn(b"File too large", run.stderr)
            # What is there ends with a whole record.
            self.assertGreater(path.stat().st_size, 98000)
            capture, _ = self.verdicts(path)
            self.assertEqual((capture["notes"], capture.get("error", "")), ([], ""))

    def test_the_help_names_every_scenario(self):
        names = generate("udp", "--dry-run", "--scenario", "x").stderr.decode().partition("there are ")[2].strip()
        self.assertGreater(len(names.split(", ")), 3)
        for words in ([], ["receive"]):
            self.assertIn(names, " ".join(generate(*words, "--help").stdout.decode().split()))

    def test_help_manual_and_completion(self):
        manual, completion = (generate(word).stdout.decode() for word in ("manual", "completion"))
        for option in re.findall(r"^  (--[a-z-]+)", generate("--help").stdout.decode(), re.MULTILINE):
            self.assertIn(option.replace("-", "\\-"), manual)
            self.assertIn(option, completion)
        self.assertIn(".SS receive", manual)
        self.assertEqual(subprocess.run(["bash", "-n"], input=completion, text=True, check=False).returncode, 0)
        formatted = subprocess.run(["man", "--warnings", "-l", "-"], input=manual, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env={**os.environ, "MANWIDTH": "100"}, check=True)
        self.assertEqual(formatted.stderr, "")

    def test_what_cannot_be_is_a_usage_error(self):
        out = ("--out", self.folder / "x.pcap")
        for words, said in (((), "no profile"), (("nonsense", *out), "no profile 'nonsense'"), (("udp",), "--out"),
                            (("udp", *out, "--set", "Foo.Bar=1"), "'Foo' is no header"),
                            (("udp", *out, "--set", "Encap.Reserved=65536"), "16 bits"),
                            (("udp", *out, "--set", "ARP.ar$hrd=1"), "no packet of this profile"),
                            (("udp", *out, "--size", "2017"), "--mutate beyond-mtu"),
                            (("udp", *out, "--size", "9..1"), "LEAST..MOST"),
                            (("udp", *out, "--interval", "1e-12"), "seconds"), (("udp", *out, "--duration", "1e300"), "seconds"),
                            (("udp", *out, "--seed", "-1"), "2^53"), (("udp", *out, "--min-rate", "5"), "for fabrics"),
                            (("udp", *out, "--rate", "0"), "--rate"), (("udp", *out, "--rate", "5MB"), "--rate"),
                            (("udp", *out, "--hosts", "1"), "--hosts"), (("udp", *out, "--hosts", "0"), "above zero"),
                            (("udp", *out, "--count", "0"), "above zero"), (("udp", *out, "--count", "1.5"), "--count"),
                            (("udp", *out, "--mutate", "x"), "mutation"),
                            (("udp", *out, "--scenario", "x"), "scenario"), (("udp", "--out", "/nonexistent/x"), "No such file"),
                            (("udp", "--out", "umad:x"), "--out 'umad:x': traffic is on"),
                            (("udp", *out, "--to", "10.1.0.9"), "for fabrics"),
                            (("udp", *out, "--link-type", "x"), "--link-type")):
            with self.subTest(words=words):
                run = generate(*words)
                self.assertEqual(run.returncode, 2, run.stderr)
                self.assertIn(said.encode(), run.stderr)


if __name__ == "__main__":
    unittest.main()
