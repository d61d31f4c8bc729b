#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-conform check --write: a capture again, with what was found as comments, as Wireshark reads it."""
import json
import shutil
import struct
import subprocess
import unittest

from program import CAPTURES, Folder, conform

TSHARK = shutil.which("tshark")


def blocks(data):
    """(type, body) of each block of a little-endian pcapng."""
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert struct.unpack_from("<I", data, at + length - 4)[0] == length
        yield kind, data[at + 8:at + length - 4]
        at += length


def block(order, kind, body):
    body += b"\0" * (-len(body) % 4)
    return struct.pack(order + "II", kind, len(body) + 12) + body + struct.pack(order + "I", len(body) + 12)


def option(order, code, value):
    return struct.pack(order + "HH", code, len(value)) + value + b"\0" * (-len(value) % 4)


class Annotate(Folder):
    def annotated(self, capture, code=1):
        out, results = self.folder / "out.pcapng", self.folder / "r.json"
        run = conform("check", capture, "--write", out, "--json", results)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        found = {}
        for one in json.loads(results.read_text())["results"]:
            for detail in one["details"]:
                found.setdefault(detail["frame"], []).append((one["id"], detail["expected"], detail["actual"]))
        return out, found

    def shown(self, path, *fields):
        """What Wireshark shows of each frame, without our plugin."""
        words = [word for field in fields for word in ("-e", field)]
        run = subprocess.run([TSHARK, "-r", path, "-T", "fields", "-E", "separator=|", "-E", "aggregator=&", *words],
                             capture_output=True, text=True, check=True)
        return [line.split("|") for line in run.stdout.splitlines()]

    def verdicts(self, capture):
        results = self.folder / "verdicts.json"
        conform("check", capture, "--json", results, "--quiet")
        return {one["id"]: (one["verdict"], one["frames"]) for one in json.loads(results.read_text())["results"]}

    @unittest.skipUnless(TSHARK, "tshark is not installed")
    def test_wireshark_shows_each_finding_at_its_packet(self):
        for sample in ("broken.pcap", "evidence.pcapng", "tcpdump-any.pcap"):
            capture = CAPTURES / sample
            out, found = self.annotated(capture, code=conform("check", capture).returncode)
            before = self.shown(capture, "frame.time_epoch", "frame.len", "frame.cap_len", "frame.comment")
            after = self.shown(out, "frame.time_epoch", "frame.len", "frame.cap_len", "frame.comment")
            self.assertEqual([one[:3] for one in before], [one[:3] for one in after])
            for number, (old, new) in enumerate(zip(before, after), 1):
                for rule, expected, actual in found.get(number, []):
                    self.assertIn(f"[{rule};", new[3])
                    self.assertIn(actual, new[3])
                    self.assertIn(f"expected {expected}.", new[3])
                self.assertIn(old[3], new[3])
                if number not in found:
                    self.assertEqual(old[3], new[3])
            self.assertEqual(self.verdicts(capture), self.verdicts(out))

    def test_what_a_pcapng_has_besides_stays(self):
        for order in "<>":
            frames = []
            data = (CAPTURES / "broken.pcap").read_bytes()
            at = 24
            while at < len(data):
                size = struct.unpack_from("<I", data, at + 8)[0]
                frames.append(data[at + 16:at + 16 + size])
                at += 16 + size
            section = block(order, 0x0a0d0d0a, struct.pack(order + "IHHq", 0x1a2b3c4d, 1, 0, -1) +
                            option(order, 1, b"of the file") + option(order, 0, b""))
            interface = block(order, 1, struct.pack(order + "HHI", 197, 0, 0) + option(order, 2, b"here") + option(order, 0, b""))
            names = block(order, 4, b"whatever is in it")
            mine = option(order, 1, b"mine") + option(order, 0, b"")
            packets = [block(order, 6, struct.pack(order + "IIIII", 0, 0, number, len(frame), len(frame)) + frame +
                             b"\0" * (-len(frame) % 4) + (mine if number % 2 else b"")) for number, frame in enumerate(frames)]
            capture = self.write("own.pcapng", section + interface + names + b"".join(packets) + names)
            out, found = self.annotated(capture)
            content = out.read_bytes()
            self.assertTrue(content.startswith(section + interface + names))
            self.assertTrue(content.endswith(names))
            for number, packet in enumerate(packets):
                if number + 1 not in found:
                    self.assertIn(packet, content)
            self.assertEqual(content.count(b"mine"), len(frames) // 2)
            self.assertEqual(self.verdicts(capture), self.verdicts(out))
            if order == "<":
                self.assertEqual([kind for kind, _ in blocks(content)], [kind for kind, _ in blocks(capture.read_bytes())])

    def test_a_simple_packet_becomes_one_that_has_comments(self):
        data = (CAPTURES / "broken.pcap").read_bytes()
        out = [block("<", 0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1)), block("<", 1, struct.pack("<HHI", 197, 0, 0))]
        at = 24
        while at < len(data):
            size = struct.unpack_from("<I", data, at + 8)[0]
            out.append(block("<", 3, struct.pack("<I", size) + data[at + 16:at + 16 + size]))
            at += 16 + size
        capture = self.write("simple.pcapng", b"".join(out))
        written, found = self.annotated(capture, code=conform("check", capture).returncode)
        kinds = [kind for kind, _ in blocks(written.read_bytes())][2:]
        self.assertEqual({number for number, kind in enumerate(kinds, 1) if kind == 6}, set(found))
        self.assertEqual(self.verdicts(capture), self.verdicts(written))

    def test_what_cannot_be_written_is_refused_before_anything_is_read(self):
        capture = self.write("a.pcap", (CAPTURES / "broken.pcap").read_bytes())
        for arguments, code in (([capture, capture, "--write", self.folder / "o"], 2), (["-", "--write", self.folder / "o"], 2),
                                ([capture, "--write", capture], 2), ([capture, "--write", ""], 2),
                                ([capture, "--write", self.folder / "none" / "o"], 3),
                                ([capture, "--write", self.folder / "o", "--json", self.folder / "o"], 2)):
            with self.subTest(arguments):
                run = conform("check", *arguments)
                self.assertEqual(run.returncode, code, run.stderr)
                self.assertIn("o" if code == 3 else "", run.stderr)
        self.assertEqual(capture.read_bytes(), (CAPTURES / "broken.pcap").read_bytes())
        self.assertFalse((self.folder / "o").exists())

    def test_a_damaged_capture_is_written_as_far_as_it_goes(self):
        whole = (CAPTURES / "broken.pcap").read_bytes()
        out, _ = self.annotated(self.write("cut.pcap", whole[:-5]))
        self.assertEqual(self.verdicts(out)["RULE-RFC4391-6-02"][0], "FAIL")


if __name__ == "__main__":
    unittest.main()
