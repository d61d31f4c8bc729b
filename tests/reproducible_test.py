#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The same sources, compiled in two places, give the same octets: of a program and of the library, in the release build."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from program import SOURCE

MADE = ("ipoib-dut-linux", "libipoib.a")


class Reproducible(unittest.TestCase):
    def made(self, folder):
        source = folder / "source"
        source.mkdir(parents=True)
        files = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z"], stdout=subprocess.PIPE, check=True).stdout
        there = b"\0".join(name for name in files.split(b"\0") if name and (SOURCE / os.fsdecode(name)).exists())
        packed = subprocess.run(["tar", "-C", SOURCE, "-c", "--null", "-T", "-"], input=there, stdout=subprocess.PIPE, check=True)
        subprocess.run(["tar", "-C", source, "-x"], input=packed.stdout, check=True)
        build = folder / "build"
        # A cache of compilers would compare with itself.
        environment = {**os.environ, "CCACHE_DISABLE": "1"}
        configure = ["cmake", "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DIPOIB_TESTS=OFF",
                     "-DIPOIB_UNITY=ON", "-Wno-dev"]
        compile = ["cmake", "--build", build, "-j", str(os.cpu_count() or 1), "--target", "ipoib-dut-linux", "ipoib"]
        for words in (configure, compile):
            run = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, timeout=1200, check=False)
            self.assertEqual(run.returncode, 0, run.stdout[-3000:])
        return {name: next(build.rglob(name)).read_bytes() for name in MADE}

    def test_compiled_in_two_places_it_is_the_same(self):
        with tempfile.TemporaryDirectory(prefix="ipoib-reproducible-") as name:
            first = self.made(Path(name) / "here")
            second = self.made(Path(name) / "elsewhere/further")
        for name in MADE:
            self.assertGreater(len(first[name]), 100_000)
            self.assertNotIn(b"ipoib-reproducible-", first[name])
            self.assertEqual(first[name] == second[name], True, f"{name} differs")


if __name__ == "__main__":
    if not (shutil.which("cmake") and shutil.which("ninja") and (SOURCE / ".git").exists()):
        print("cmake, ninja or the repository is missing")
        sys.exit(77)
    unittest.main()
