#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-gen onto fabrics: in its own process, and between processes by raw ports."""
import json
import os
import signal
import subprocess
import unittest

from generator import GENERATOR, generate, names
from program import Folder

# What plays a manager, or interfaces that no fabric has.
ONLY_CAPTURES = {"administrators-groups", "alias-guids", "connected", "dhcp-relay", "foreign-programs", "ib-router",
                 "late-start", "lmc", "many-interfaces", "migration", "mixed-modes", "multicast-router", "port-setup",
                 "sm-failover", "stable-addresses", "two-scopes", "two-subnets"}


class Fabrics(Folder):
    """Frames that cross a fabric: in one process with the judge, or to another ipoib-gen behind a raw port."""

    def rehearsed(self, *arguments, code=0):
        run = generate(*arguments, "--out", "simulated")
        self.assertEqual(run.returncode, code, run.stderr)
        return run.stderr.decode()

    def test_every_profile_is_rehearsed_and_nothing_is_wrong(self):
        for profile in set(names("--list")) - {"replay", "malformed"} - ONLY_CAPTURES:
            for scenario in ("default", "controlled"):
                with self.subTest(profile=profile, scenario=scenario):
                    said = self.rehearsed(profile, "--count", 300, "--hosts", 5, "--groups", 3, "--scenario", scenario)
                    self.assertNotIn("judge: FAIL", said)
                    self.assertIn("rules were kept", said)

    def test_what_only_captures_can_show_is_refused_with_the_reason(self):
        for profile in ONLY_CAPTURES:
            run = generate(profile, "--count", 10, "--out", "simulated")
            self.assertEqual(run.returncode, 2)
            self.assertIn(b"is for captures: ", run.stderr)

    def test_the_judge_hears_a_mutation(self):
        said = self.rehearsed("--mutate", "reserved-not-zero", "--count", 50)
        self.assertIn("judge: FAIL RULE-RFC4391-6-02: 50 of", said)

    def test_the_administrator_is_asked_in_earnest(self):
        said = json.loads(self.rehearsed("join-storm", "--hosts", 10, "--groups", 4, "--count", 400, "--stats", "json"))
        self.assertEqual(said["refused"], 0)
        self.assertGreaterEqual(said["asked"], 200)

    def receiver(self, *arguments):
        path = self.folder / "port"
        run = subprocess.Popen([GENERATOR, "receive", "--from", "simulated", "--listen", str(path), "--ip", "10.1.0.9",
                                "--stats", "json", *map(str, arguments)], stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.stderr.close)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        self.assertIn("10.1.0.9", run.stderr.readline())
        return f"socket:{path}", run

    def counted(self, run):
        _, said = run.communicate(timeout=30)
        return json.loads(said.splitlines()[0])

    def test_a_receiver_counts_what_came(self):
        port, run = self.receiver("--count", 5000, "--duration", 30, "--max-loss", 0, "--max-duplicates", 0,
                                  "--max-reordered", 0)
        sent = generate("udp", "--out", port, "--to", "10.1.0.9", "--ip", "10.1.0.1", "--count", 5000, "--rate", 20000)
        self.assertEqual(sent.returncode, 0, sent.stderr)
        figures = self.counted(run)
        self.assertEqual(run.returncode, 0)
        self.assertEqual((figures["numbered"], figures["lost"], figures["flows"]), (5000, 0, 1))

    def test_what_is_damaged_is_lost(self):
        port, run = self.receiver("--count", 2000, "--patience", 1, "--max-loss", 5)
        sent = generate("udp", "--out", port, "--to", "10.1.0.9", "--count", 2000, "--rate", 5000, "--damage", 0.2)
        self.assertEqual(sent.returncode, 0, sent.stderr)
        figures = self.counted(run)
        self.assertEqual(run.returncode, 1)
        self.assertTrue(250 < figures["lost"] < 550, figures)

    def test_two_runs_into_one_receiver_are_no_duplicates(self):
        port, run = self.receiver("--count", 200, "--duration", 20)
        for _ in range(2):
            sent = generate("udp", "--out", port, "--to", "10.1.0.9", "--ip", "10.1.0.1", "--count", 100)
            self.assertEqual(sent.returncode, 0, sent.stderr)
        figures = self.counted(run)
        self.assertEqual((figures["flows"], figures["duplicates"], figures["lost"]), (2, 0, 0))

    def test_every_neighbour_is_sent_to(self):
        port, run = self.receiver("--duration", 20)
        path = port.removeprefix("socket:")
        second = subprocess.Popen([GENERATOR, "receive", "--from", port, "--ip", "10.1.0.10", "--duration", "20",
                                   "--stats", "json"], stderr=subprocess.PIPE, text=True)
        self.addCleanup(second.kill)
        self.assertIn("10.1.0.10", second.stderr.readline())
        sent = generate("udp", "--out", f"socket:{path},{path}", "--to", "10.1.0.9", "--to", "10.1.0.10", "--ip",
                        "10.1.0.1", "--count", 400)
        self.assertEqual(sent.returncode, 0, sent.stderr)
        for one in (second, run):
            one.send_signal(signal.SIGINT)
            figures = self.counted(one)
            self.assertEqual((figures["numbered"], figures["flows"]), (200, 2), figures)

    def test_the_time_is_over_also_without_pauses(self):
        port, _ = self.receiver("--duration", 20)
        sent = generate("udp", "--out", port, "--to", "10.1.0.9", "--rate", "max", "--duration", 1, "--stats", "json")
        self.assertEqual(sent.returncode, 0, sent.stderr)
        self.assertGreater(json.loads(sent.stderr)["packets"], 1000)

    def test_few_packets_of_every_profile(self):
        for profile in set(names("--list")) - {"replay"} - ONLY_CAPTURES:
            for count in range(1, 25):
                with self.subTest(profile=profile, count=count):
                    self.rehearsed(profile, "--count", count, "--hosts", 3)

    def test_memory_is_bounded_also_without_pauses(self):
        def peak(count):
            # AddressSanitizer keeps what was freed.
            run = subprocess.Popen([GENERATOR, "udp", "--out", "simulated", "--rate", "max", "--count", str(count),
                                    "--quiet"], env={**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=1"})
            _, status, usage = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(run.returncode, 0)
            return usage.ru_maxrss
        self.assertLess(peak(100000), 1.3 * peak(10000))

    def test_groups_that_both_know(self):
        port, run = self.receiver("--count", 300, "--duration", 30, "--groups", 2, "--seed", 9)
        sent = generate("udp-multicast", "--out", port, "--groups", 2, "--seed", 9, "--count", 300, "--rate", 3000)
        self.assertEqual(sent.returncode, 0, sent.stderr)
        self.assertEqual(self.counted(run)["flows"], 4)
        self.assertEqual(run.returncode, 0)

    def test_a_neighbour_gets_echo_requests(self):
        port, run = self.receiver("--duration", 20)
        sent = generate("ping4", "--out", port, "--to", "10.1.0.9", "--count", 50, "--stats", "json")
        self.assertEqual(sent.returncode, 0, sent.stderr)
        run.send_signal(signal.SIGINT)
        self.assertEqual(self.counted(run)["packets"], 50 + 1)  # and who has 10.1.0.9
        self.assertEqual(run.returncode, 1)  # none had a number

    def test_nobody_is_there(self):
        port, _ = self.receiver("--duration", 20)
        for profile, address in (("udp", "10.1.0.8"), ("ping6", "fe80::1")):
            sent = generate(profile, "--out", port, "--to", address, "--count", 50)
            self.assertEqual(sent.returncode, 3, sent.stderr)
            self.assertIn(b"nobody", sent.stderr)

    def test_the_fabric_goes_away(self):
        port, run = self.receiver("--duration", 30, "--interval", 0.1)
        sender = subprocess.Popen([GENERATOR, "udp", "--out", port, "--to", "10.1.0.9", "--count", "1000000"],
                                  stderr=subprocess.PIPE, text=True)
        # From now on packets cross.
        self.assertTrue(any(json.loads(line)["packets"] > 0 for line in run.stderr))
        run.kill()
        _, said = sender.communicate(timeout=20)
        self.assertEqual(sender.returncode, 3, said)
        self.assertIn("port", said)
        self.assertIn(" packets, ", said)

    def test_bounds_set_the_exit_code(self):
        port, _ = self.receiver("--duration", 20)
        for rate, code in (("50", 0), ("1000000", 1), ("10Gbit", 1)):
            sent = generate("udp", "--out", port, "--to", "10.1.0.9", "--count", 100, "--rate", 200, "--min-rate", rate)
            self.assertEqual(sent.returncode, code, sent.stderr)

    def test_what_cannot_be_on_a_fabric(self):
        for words, said in ((("udp", "--out", "simulated", "--partitions", 2), "--partitions"),
                            (("udp", "--out", "socket:/nonexistent"), "/nonexistent"),
                            (("join-storm", "--out", "simulated", "--allow", "link"), "--allow fabric"),
                            (("udp", "--out", "verbs:none", "--to", "10.1.0.9"), "--count or --duration"),
                            (("udp", "--out", "simulated", "--to", "nowhere"), "--to nowhere"),
                            (("udp", "--out", "simulated", "--ip", "nowhere"), "--ip nowhere"),
                            (("udp", "--out", "simulated", "--to", "fe80::1"), "speaks IPv4"),
                            (("ping6", "--out", "simulated", "--to", "10.1.0.2"), "speaks IPv6"),
                            (("day", "--out", "simulated", "--to", "10.1.0.2"), "both IPv4 and IPv6"),
                            (("udp", "--out", "simulated", "--rate", "max", "--duration", 1), "--count"),
                            (("udp", "--out", "simulated:sa-mutant=x"), "--out 'simulated:sa-mutant=x': traffic is on"),
                            (("udp", "--out", "verbs", "--count", 1), "--out 'verbs': traffic is on"),
                            (("udp", "--out", "socket:"), "--out socket: needs"),
                            (("receive", "--from", "socket:"), "--from socket: needs"),
                            (("udp", "--out", "verbs:x,foo", "--count", 1), "--out verbs: "),
                            (("receive", "--from", "simulated:x", "--listen", "/y"), "--from 'simulated:x': traffic is on"),
                            (("receive", "--from", "socket:/x", "--listen", "/y"), "--from socket:/x is another"),
                            (("receive", "--from", "socket:/x", "--scenario", "x"), "no scenario 'x'"),
                            (("udp", "--out", "simulated", "--min-rate", "x"), "--min-rate x"),
                            (("udp", "--out", "x.pcap", "receive", "--from", "simulated"), "options of its own"),
                            (("receive", "--from", "verbs:x", "--groups", 1), "--allow link"),
                            (("receive", "--from", "verbs:x", "--groups", 1, "--allow", "link"), "--seed"),
                            (("udp", "--out", "socket:/x", "--listen", "/y"), "--listen"),
                            (("connected", "--out", "simulated"), "for captures"),
                            (("receive", "--from", "simulated"), "--listen"),
                            (("receive", "--from", "x.pcap"), "--from 'x.pcap'")):
            with self.subTest(words=words):
                run = generate(*words)
                self.assertIn(run.returncode, (2, 3))
                self.assertIn(said.encode(), run.stderr)


if __name__ == "__main__":
    unittest.main()
