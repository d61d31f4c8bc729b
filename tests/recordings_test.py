#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the real Linux did in the lab (lab/recordings) is judged as it was then: a change of the engine that changes a verdict on
a real stack is seen without a lab. `scripts/update-recordings` makes them anew; `recordings_test.py --update` writes only what
the rules say of their frames."""
import io
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import unittest
from pathlib import Path

from program import Folder, SOURCE, conform

FOLDER = SOURCE / "lab/recordings"
RECORDINGS = sorted(FOLDER.glob("*.tar.zst"))
VERDICTS = FOLDER / "verdicts.txt"
# Those in which the suite does something else by now: only their frames are judged.
OUTDATED = FOLDER / "outdated.txt"
# As small as what a repository should hold, in octets.
LARGEST = 400_000


def name_of(recording):
    return recording.name.removesuffix(".tar.zst")


def outdated():
    return {line for line in OUTDATED.read_text().splitlines() if line and not line.startswith("#")}


def unpacked(recording, folder):
    folder.mkdir()
    tar = subprocess.run(["zstd", "-dc", recording], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def said_by_rules(recording, folder):
    """A line for each capture and each rule that finds something wrong in it, and one for how many packets are right."""
    unpacked(recording, folder)
    captures = sorted(folder.glob("*.pcapng"))
    run = conform("check", *captures, "--json", folder / "check.json", "--quiet", timeout=120)
    if run.returncode not in (0, 1):
        raise AssertionError(run.stdout + run.stderr)
    results = json.loads((folder / "check.json").read_text())["results"]
    lines = []
    for number, capture in enumerate(captures):
        of_it = [one for one in results if one["capture"] == number]
        kept = sum(one["verdict"] == "PASS" for one in of_it)
        lines.append(f"{name_of(recording)} {capture.stem} PASS {kept}\n")
        lines += [f"{name_of(recording)} {capture.stem} {one['verdict']} {one['id']} {one['violations']} of {one['observed']}\n"
                  for one in of_it if one["verdict"] not in ("PASS", "NA")]
    return lines


def said_by_all(folder):
    return "".join(line for recording in RECORDINGS for line in said_by_rules(recording, Path(folder) / name_of(recording)))


class Recordings(Folder):
    def test_each_comes_out_as_it_was_recorded(self):
        """One that does again is no longer outdated: the list says so."""
        wrong = {}
        for recording in RECORDINGS:
            run = conform("verify", recording, timeout=120)
            if run.returncode != 0:
                wrong[name_of(recording)] = run.stdout + run.stderr
            self.assertLess(recording.stat().st_size, LARGEST)
        self.assertEqual(set(wrong), outdated(), wrong)

    @unittest.skipUnless(shutil.which("zstd"), "zstd is missing")
    def test_the_rules_say_of_the_frames_what_they_said(self):
        self.assertEqual(said_by_all(self.folder), VERDICTS.read_text())

    def test_kernels_roles_and_links_are_there(self):
        self.assertGreaterEqual({name_of(recording) for recording in RECORDINGS}, {
            f"linux-{kernel}-{what}" for kernel in ("6.1", "6.12", "7.3") for what in (
                "host", "connected", "router", "controlled", "refusing", "hardened", "scope5", "mtu4k", "link4k",
                "modified-guid")})

    @unittest.skipUnless(shutil.which("zstd"), "zstd is missing")
    def test_they_are_of_linux_and_hold_what_it_does_otherwise(self):
        with open(SOURCE / "lab/linux.baseline.toml", "rb") as file:
            known = {entry["id"] for entry in tomllib.load(file)["expected"]}
        fails = set()
        for recording in RECORDINGS:
            with self.subTest(recording=recording.name):
                results = json.loads((unpacked(recording, self.folder / name_of(recording)) / "results.json").read_text())
                self.assertTrue(results["dut"]["kernel"].startswith(recording.name.split("-")[1] + "."), results["dut"])
                verdicts = {result["id"]: result["verdict"] for result in results["results"]}
                self.assertGreaterEqual(sum(verdict == "PASS" for verdict in verdicts.values()), 3)
                self.assertFalse({"ERROR", "INCONC"} & set(verdicts.values()))
                fails |= {one for one, verdict in verdicts.items() if verdict == "FAIL"}
        self.assertGreater(len(fails), 3)
        self.assertEqual(fails - known, set())

    @unittest.skipUnless(shutil.which("zstd"), "zstd is missing")
    def test_one_octet_that_linux_did_not_send_is_told(self):
        tar = subprocess.run(["zstd", "-dc", RECORDINGS[0]], check=True, capture_output=True).stdout
        at = tar.index(b'"octets":"', tar.index(b'"what":"begins"')) + 60
        edited = self.folder / "edited.tar"
        edited.write_bytes(tar[:at] + (b"0" if tar[at:at + 1] != b"0" else b"1") + tar[at + 1:])
        run = conform("verify", edited, timeout=120)
        self.assertIn(run.returncode, (1, 2), run.stdout)


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        with tempfile.TemporaryDirectory() as scratch:
            VERDICTS.write_text(said_by_all(scratch))
    else:
        unittest.main()
