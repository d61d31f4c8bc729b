#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-gen as a person or a script would use it; what it writes is read by check and by tshark."""
import json
import os
import resource
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

from program import Folder, conform

GENERATOR = str(Path(os.environ["IPOIB_GEN"]).resolve())


def generate(*arguments, **options):
    options.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([GENERATOR, *map(str, arguments)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          timeout=60, check=False, **options)


def names(option):
    return [line.split()[0] for line in generate(option).stdout.decode().splitlines() if not line.startswith(" ")]


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
        for profile in names("--list"):
            with self.subTest(profile=profile):
                capture, verdicts = self.verdicts(self.made(profile, "--scenario", "controlled", "--count", 300,
                                                            "--hosts", 5, "--groups", 3, "--partitions", 2))
                self.assertGreaterEqual(capture["packets"], 300)
                self.assertEqual({v for v in verdicts.values()} - {"PASS", "NA"}, set(), verdicts)

    def test_every_mutation_is_caught(self):
        for mutation in names("--list-mutations"):
            with self.subTest(mutation=mutation):
                _, verdicts = self.verdicts(self.made("--mutate", mutation, "--scenario", "controlled", "--count", 50))
                self.assertTrue({"FAIL", "WARN"} & set(verdicts.values()))

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
        self.assertEqual(json.loads(run.stderr)["packets"], 5 + 2 * 4)

    def test_a_pipe_is_a_capture_too(self):
        piped = generate("ping4", "--count", 10, "--out", "-", "--quiet")
        self.assertEqual(piped.returncode, 0)
        self.assertEqual(piped.stderr, b"")
        (self.folder / "p.pcap").write_bytes(piped.stdout)
        self.assertEqual(self.verdicts(self.folder / "p.pcap")[1]["RULE-RFC4391-2-01"], "PASS")

    def test_a_rehearsal_prints_and_writes_nothing(self):
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

    def test_after_ctrl_c_the_capture_is_whole(self):
        path = self.folder / "x.pcap"
        run = subprocess.Popen([GENERATOR, "udp", "--count", str(10**9), "--out", path], stderr=subprocess.PIPE)
        while not path.exists() or path.stat().st_size < 100000:
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=20)
        self.assertEqual(run.returncode, 0, said)
        self.assertIn(b"packets", said)
        self.assertEqual(conform("check", path).returncode, 0)

    def test_a_full_disk_is_said(self):
        def small():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        run = generate("udp", "--count", 10000, "--out", self.folder / "x.pcap", preexec_fn=small)
        self.assertEqual(run.returncode, 3)
        self.assertIn(b"File too large", run.stderr)

    def test_what_cannot_be_is_a_usage_error(self):
        out = ("--out", self.folder / "x.pcap")
        for words, said in (((), "no profile"), (("nonsense", *out), "no profile 'nonsense'"), (("udp",), "--out"),
                            (("udp", *out, "--set", "Foo.Bar=1"), "'Foo' is no header"),
                            (("udp", *out, "--set", "Encap.Reserved=65536"), "16 bits"),
                            (("udp", *out, "--set", "ARP.ar$hrd=1"), "no packet of this profile"),
                            (("udp", *out, "--size", "2000"), "--mutate beyond-mtu"), (("udp", *out, "--size", "9..1"), "LEAST..MOST"),
                            (("udp", *out, "--rate", "0"), "--rate"), (("udp", *out, "--rate", "5MB"), "--rate"),
                            (("udp", *out, "--hosts", "1"), "--hosts"), (("udp", *out, "--mutate", "x"), "mutation"),
                            (("udp", *out, "--scenario", "x"), "scenario"), (("udp", "--out", "/nonexistent/x"), "No such file"),
                            (("udp", "--out", "verbs:mlx5_0"), "not built yet")):
            with self.subTest(words=words):
                run = generate(*words)
                self.assertEqual(run.returncode, 2, run.stderr)
                self.assertIn(said.encode(), run.stderr)


if __name__ == "__main__":
    unittest.main()
