#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-conform watch: captures that are still being written, events, metrics."""
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import unittest

from links_test import records
from program import CAPTURES, PROGRAM, SOURCE, Folder, conform
from waiting import until

try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
except ImportError:
    text_string_to_metric_families = None


class Watch(Folder):
    def setUp(self):
        super().setUp()
        self.events, self.metrics = self.folder / "events.jsonl", self.folder / "metrics.txt"

    def start(self, source, *arguments, **options):
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        child = subprocess.Popen([PROGRAM, "watch", source, "--events", self.events, "--metrics", self.metrics, "--interval",
                                  "0.2s", *arguments], **options)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def told(self, kind=None):
        if not self.events.exists():
            return []
        lines = self.events.read_text().splitlines()
        return [one for one in map(json.loads, lines) if kind in (None, one["event"])]

    def stop(self, child, code):
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=30)
        self.assertEqual(child.returncode, code, out + err)
        return out.decode()

    def test_a_fabric_is_asked_again_and_again(self):
        child = subprocess.Popen([PROGRAM, "watch", "simulated", "--events", self.events, "--metrics", self.metrics,
                                  "--interval", "1s", "--for", "1.5s", "--quiet"], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(child.kill)
        out, err = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 0, out + err)
        polls = self.told("poll")
        self.assertEqual(len(polls), 2)
        self.assertGreater(polls[0]["groups"], 2)
        self.assertEqual(polls[0]["questions"], polls[1]["questions"])
        # What has not changed is told once.
        self.assertEqual(len(self.told("violation")), len({one["rule"] for one in self.told("violation")}))
        self.assertEqual(self.told()[-1]["event"], "end")
        self.assertIn("ipoib_sa_polls_total 2\n", self.metrics.read_text())
        if text_string_to_metric_families:
            names = {one.name for one in text_string_to_metric_families(self.metrics.read_text())}
            self.assertLess({"ipoib_sa_groups", "ipoib_sa_mlids_in_use", "ipoib_sa_questions"}, names)

    def test_a_wrong_administrator_and_hosts_beside_it_are_told(self):
        run = conform("watch", "simulated", "--events", "-", "--for", "0.01s", "--host-state", CAPTURES / "hosts.jsonl",
                      "--strict")
        told = [json.loads(line) for line in run.stdout.splitlines()]
        self.assertIn("duplicate-address", {one.get("name") for one in told})
        self.assertEqual(run.returncode, 1, run.stderr)

    def test_a_link_of_a_fabric_has_its_subnet_prefix(self):
        run = conform("watch", "simulated", "--events", "-", "--for", "0.01s")
        told = [json.loads(line) for line in run.stdout.splitlines()]
        links = {one["link"] for one in told if one["event"] == "violation"}
        self.assertEqual({link.split("/")[0] for link in links}, {"fe80::"})
        self.assertIn("on fe80::/0x", conform("watch", "simulated", "--for", "0.01s").stdout)

    def test_what_is_of_a_fabric_or_of_a_capture_alone_is_refused(self):
        for words, said in ((("simulated", "--sa", CAPTURES / "groups.txt"), "are of captures"),
                            (("simulated", "--interval", "0.1s"), "1s and more"),
                            ((CAPTURES / "usual.pcap", "--dry-run"), "are of a fabric"),
                            ((CAPTURES / "usual.pcap", "--host-state", CAPTURES / "hosts.jsonl"), "links takes it"),
                            (("nothing",), "is no file, no folder and no fabric")):
            with self.subTest(words=words):
                run = conform("watch", *words)
                self.assertEqual(run.returncode, 2, run.stderr)
                self.assertIn(said, run.stderr)
        # A survey of a large fabric takes longer than the time between two.
        run = conform("watch", "simulated", "--dry-run")
        self.assertIn("begin every 60 s, and where one takes longer, the next at its end", run.stdout)
        run = conform("watch", "socket:/none", "--dry-run", "--rate", "10")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("at most 10 in a second", " ".join(run.stdout.split()))

    def test_a_capture_that_grows(self):
        head, frames = records(CAPTURES / "broken.pcap")
        path = self.folder / "growing.pcap"
        path.write_bytes(head + b"".join(frames[:16]) + frames[16][:20])
        child = self.start(path)
        until(lambda: self.metrics.exists() and "ipoib_frames_total 16" in self.metrics.read_text(), "16 frames")
        self.assertEqual(self.told("violation"), [])
        with open(path, "ab") as file:
            file.write(frames[16][20:])
            file.flush()
            until(lambda: self.told("violation"), "the violation of frame 17")
            one = self.told("violation")[0]
            self.assertEqual((one["rule"], one["frame"], one["file"]), ("RULE-RFC4391-6-02", 17, str(path)))
            self.assertRegex(one["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$")
            file.write(b"".join(frames[17:]))
        until(lambda: f"ipoib_frames_total {len(frames)}\n" in self.metrics.read_text(), "all frames")
        out = self.stop(child, 1)
        self.assertIn("frame 17: RFC4391-6-02", out)
        self.assertIn("judged ", out)
        self.assertNotIn("interrupted", out)
        self.assertEqual(self.told()[-1]["event"], "end")
        # As check has it; a rule is told once for each link and port.
        results = self.folder / "r.json"
        conform("check", CAPTURES / "broken.pcap", "--json", results, "--quiet")
        violated = {one["id"] for one in json.loads(results.read_text())["results"] if one["violations"]}
        self.assertEqual({one["rule"] for one in self.told("violation")}, violated)

    def test_captures_in_a_folder_take_turns(self):
        head, frames = records(CAPTURES / "broken.pcap")
        folder = self.folder / "ring"
        folder.mkdir()
        child = self.start(folder)
        for number, part in enumerate((frames[:10], frames[10:18], frames[18:])):
            file = folder / f"{number}.pcap"
            file.write_bytes(head + b"".join(part))
            os.utime(file, (1000 + number, 1000 + number))
            until(lambda count=number + 1: len(self.told("capture")) == count, f"capture {number}")
        until(lambda: f"ipoib_frames_total {len(frames)}\n" in self.metrics.read_text(), "all frames")
        self.stop(child, 1)
        places = {one["rule"]: (one["file"], one["frame"]) for one in self.told("violation")}
        self.assertEqual(places["RULE-RFC4391-6-02"], (str(folder / "1.pcap"), 7))
        self.assertEqual([one["file"] for one in self.told("capture")], [str(folder / f"{number}.pcap") for number in range(3)])

    def test_findings_are_events(self):
        child = self.start(CAPTURES / "join-refused-rate.pcap")
        until(lambda: self.told("finding"), "the finding")
        self.stop(child, 0)
        found = self.told("finding")
        self.assertEqual([one["name"] for one in found], ["join-refused-rate"])
        self.assertEqual((found[0]["link"], found[0]["ports"], found[0]["frame"]), ("fe80::/0x8123", ["0002c90300100003"], 53))

    def test_what_a_broken_rule_means_is_an_event_too(self):
        """Told at the end: until then a packet may be missing that would explain it."""
        child = self.start(CAPTURES / "wrong-q-key.pcap")
        until(lambda: self.metrics.exists() and "ipoib_frames_total 54\n" in self.metrics.read_text(), "all frames")
        self.stop(child, 1)
        self.assertEqual([one["name"] for one in self.told("finding")], ["wrong-q-key"])
        self.assertIn("RULE-RFC4391-9.1.2-03", {one["rule"] for one in self.told("violation")})

    def test_a_pipe_ends_the_watch_and_time_does(self):
        with open(CAPTURES / "conformant.pcap", "rb") as file:
            child = self.start("-", stdin=file)
            out, err = child.communicate(timeout=30)
        self.assertEqual(child.returncode, 0, out + err)
        run = conform("watch", CAPTURES / "broken.pcap", "--for", "1s", "--events", "-")
        self.assertEqual(run.returncode, 1, run.stderr)
        kinds = [json.loads(line)["event"] for line in run.stdout.splitlines()]
        self.assertEqual((kinds[0], kinds[-1]), ("capture", "end"))
        self.assertIn("violation", kinds)

    @unittest.skipUnless(text_string_to_metric_families, "python3-prometheus-client is not installed")
    def test_prometheus_reads_the_metrics(self):
        child = self.start(CAPTURES / "broken.pcap")
        until(lambda: self.metrics.exists() and "ipoib_frames_total 27" in self.metrics.read_text(), "all frames")
        self.stop(child, 1)
        families = {one.name: one for one in text_string_to_metric_families(self.metrics.read_text())}
        value = {name: {tuple(sorted(sample.labels.items())): sample.value for sample in one.samples}
                 for name, one in families.items()}
        self.assertEqual(value["ipoib_frames"][()], 27)
        self.assertEqual(value["ipoib_violations"][("requirement", "RFC4391-6-02"), ("rule", "RULE-RFC4391-6-02")], 1)
        self.assertEqual(value["ipoib_findings"][("link", "fe80::/0x8123"), ("name", "no-grh")], 1)
        self.assertEqual(value["ipoib_ports"][(("link", "fe80::/0x8123"),)], 2)
        self.assertGreater(value["ipoib_last_frame_timestamp_seconds"][()], 1e9)
        # Each panel of the board asks for what there is.
        board = json.loads((SOURCE / "samples/grafana/ipoib.json").read_text())
        asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
        exposed = {sample.name for one in families.values() for sample in one.samples}
        metrics = self.folder / "fabric.txt"
        conform("watch", "simulated", "--for", "1s", "--metrics", metrics)
        of_fabric = set(re.findall(r"^# TYPE (ipoib_sa_\w+)", metrics.read_text(), re.M))
        # No switch of the simulated fabric is full of groups at a number that it tells.
        known = exposed | of_fabric | {"ipoib_sa_mlids_room"}
        for expression in asked:
            self.assertTrue(any(name in expression for name in known), expression)
        for name in of_fabric:
            self.assertTrue(any(name in expression for expression in asked), name)

    def test_wrong_usage(self):
        broken = self.write("a.pcap", (CAPTURES / "broken.pcap").read_bytes())
        for arguments, code in (([self.folder / "none"], 2), (["simulated:x"], 2), ([broken, "--events", broken], 2),
                                ([broken, "--for", "0s"], 2), ([broken, "--metrics", self.folder / "no" / "m"], 3),
                                ([broken, "--events", self.folder / "no" / "e"], 3)):
            with self.subTest(arguments):
                run = conform("watch", *arguments)
                self.assertEqual(run.returncode, code, run.stdout + run.stderr)
                self.assertNotEqual(run.stderr, "")

    def test_what_is_no_capture_ends_with_words(self):
        run = conform("watch", self.write("text.pcap", b"hello, this is no capture\n"), "--for", "1s")
        self.assertEqual(run.returncode, 2, run.stdout)
        self.assertIn("not a capture", run.stderr)
        shutil.copy(CAPTURES / "broken.pcap", self.folder / "damaged.pcap")
        data = bytearray((self.folder / "damaged.pcap").read_bytes())
        struct.pack_into("<II", data, 24 + 8, 0x7fffffff, 0x7fffffff)
        self.assertEqual(conform("watch", self.write("damaged.pcap", data), "--for", "1s").returncode, 2)


if __name__ == "__main__":
    unittest.main()
