#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that are built by a profile of themselves say what the others say."""
import shutil
import subprocess
import sys
import unittest

from program import CAPTURES, PROGRAM, SOURCE, Folder


class Profiled(Folder):
    def test_it_judges_every_sample_as_the_other_build_does(self):
        build = self.folder / "build"
        done = subprocess.run([SOURCE / "scripts/profiled", "--build", build], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=2400, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])
        self.assertGreater(len(list(build.rglob("*.gcda"))), 50)
        samples = sorted({*CAPTURES.glob("*.pcap"), *CAPTURES.glob("*.pcapng")})
        self.assertGreater(len(samples), 5)
        for sample in samples:
            with self.subTest(sample.name):
                ours, others = (subprocess.run(["ipoib-conform", "check", sample.name], executable=program, cwd=CAPTURES,
                                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
                                for program in (PROGRAM, build / "ipoib-conform"))
                self.assertEqual((others.returncode, others.stdout), (ours.returncode, ours.stdout))


if __name__ == "__main__":
    if not (shutil.which("cmake") and shutil.which("ninja") and shutil.which("g++") and (SOURCE / ".git").exists()):
        print("cmake, ninja, g++ or the repository is missing")
        sys.exit(77)
    unittest.main()
