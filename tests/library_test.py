#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The installed library, and a program outside the tree that judges its own packets by it."""
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from program import SOURCE, Folder

BUILD = Path(os.environ["IPOIB_BUILD"])


def run(*words, **options):
    return subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
                          check=False, **options)


class Library(Folder):
    def installed(self):
        made = run("cmake", "--build", BUILD, "--target", "ipoib")
        self.assertEqual(made.returncode, 0, made.stdout[-2000:])
        prefix = self.folder / "prefix"
        made = run("cmake", "--install", BUILD, "--component", "library", "--prefix", prefix)
        self.assertEqual(made.returncode, 0, made.stderr)
        return prefix

    def configured(self, sample, prefix):
        return run("cmake", "-S", sample, "-B", self.folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}", "-G", "Ninja")

    def test_the_sample_judges_its_own_packets(self):
        prefix = self.installed()
        # Nothing of the source tree is in reach.
        sample = shutil.copytree(SOURCE / "samples/library", self.folder / "sample")
        made = self.configured(sample, prefix)
        self.assertEqual(made.returncode, 0, made.stderr)
        made = run("cmake", "--build", self.folder / "build")
        self.assertEqual(made.returncode, 0, made.stdout[-3000:])
        judged = run(self.folder / "build/judge-own-packets")
        self.assertEqual(judged.returncode, 1, judged.stderr)
        self.assertEqual(judged.stdout, "frame 2: RFC4391-6-02: Encap.Reserved is 0xabcd, expected 0\n"
                                        "1 violations in 2 packets\n")
        installed = "".join(path.read_text() for path in prefix.rglob("*.cmake"))
        for folder in (SOURCE, BUILD):
            self.assertNotIn(str(folder), installed)

        # Every header stands by itself.
        headers = sorted((prefix / "include/ipoib").rglob("*.hpp"))
        self.assertGreater(len(headers), 80)
        self.assertFalse([path for path in headers if path.name.startswith("test_")])
        included = set()
        for path in headers:
            included |= set(re.findall(r'#include "([^"]+)"', path.read_text()))
        self.assertEqual([one for one in included if not (prefix / "include/ipoib" / one).exists() and "/" in one], [])

        # Another minor version is another interface.
        text = (sample / "CMakeLists.txt").read_text()
        (sample / "CMakeLists.txt").write_text(text.replace("ipoib 0.1", "ipoib 0.2"))
        shutil.rmtree(self.folder / "build")
        refused = self.configured(sample, prefix)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("0.1.0", refused.stderr)


if __name__ == "__main__":
    if not (shutil.which("cmake") and shutil.which("ninja")):
        print("cmake or ninja is missing")
        sys.exit(77)
    unittest.main()
