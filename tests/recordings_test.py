#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the real Linux did in the lab (lab/recordings) is judged as it was then: a change of the engine that changes a verdict on
a real stack is seen without a lab. `scripts/update-recordings` makes them anew."""
import io
import json
import shutil
import subprocess
import tarfile
import tomllib
import unittest

from program import Folder, SOURCE, conform

RECORDINGS = sorted((SOURCE / "lab/recordings").glob("*.tar.zst"))
# As small as what a repository should hold, in octets.
LARGEST = 400_000


class Recordings(Folder):
    def test_each_comes_out_as_it_was_recorded(self):
        for recording in RECORDINGS:
            with self.subTest(recording=recording.name):
                run = conform("verify", recording, timeout=120)
                self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
                self.assertLess(recording.stat().st_size, LARGEST)

    def test_kernels_roles_and_links_are_there(self):
        names = {recording.name.removesuffix(".tar.zst") for recording in RECORDINGS}
        self.assertGreaterEqual(names, {f"linux-{kernel}-{what}" for kernel in ("6.1", "6.12")
                                        for what in ("host", "controlled", "refusing")})

    @unittest.skipUnless(shutil.which("zstd"), "zstd is missing")
    def test_they_are_of_linux_and_hold_what_it_does_otherwise(self):
        with open(SOURCE / "lab/linux.baseline.toml", "rb") as file:
            known = {entry["id"] for entry in tomllib.load(file)["expected"]}
        fails = set()
        for recording in RECORDINGS:
            with self.subTest(recording=recording.name):
                tar = subprocess.run(["zstd", "-dc", recording], check=True, capture_output=True).stdout
                with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
                    results = json.load(archive.extractfile("results.json"))
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
    unittest.main()
