# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of what an installed lab does otherwise than scripts/lab; tests/package_test.py has the real installation."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import image
import place


class Installed(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="ipoib-lab-test-")
        self.addCleanup(folder.cleanup)
        self.prefix = Path(folder.name)
        self.home = self.prefix / "share/ipoib-conformance"
        shutil.copytree(place.SOURCE / "lab/host", self.home / "lab/host", ignore=shutil.ignore_patterns("test_*", "__*"))
        (self.home / "scripts").mkdir()
        shutil.copy(place.SOURCE / "scripts/lab", self.home / "scripts")
        (self.home / "version").write_text("1.2.3\n")
        (self.prefix / "bin").mkdir()
        (self.prefix / "bin/ipoib-lab").symlink_to("../share/ipoib-conformance/scripts/lab")

    def lab(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
        return subprocess.run([sys.executable, self.prefix / "bin/ipoib-lab", *words], env={**kept, **environment},
                              capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=60, check=False)

    def test_it_knows_its_name_and_version_and_has_no_setup(self) -> None:
        self.assertEqual(self.lab("--version", HOME="/root").stdout, "ipoib-lab 1.2.3\n")
        self.assertEqual(self.lab("setup", HOME="/").returncode, 2)
        for word in ("manual", "completion"):
            said = self.lab(word, HOME="/").stdout
            self.assertIn("ipoib", said)
            self.assertNotIn("scripts/lab", said)

    def test_what_it_makes_goes_to_the_users_cache_and_never_beside_it(self) -> None:
        before = sorted(self.prefix.rglob("*"))
        cache = self.prefix / "cache"
        for environment, folder in (({"XDG_CACHE_HOME": str(cache), "HOME": "/"}, cache / "ipoib-lab"),
                                    ({"XDG_CACHE_HOME": "relative", "HOME": str(cache)}, cache / ".cache/ipoib-lab")):
            # Nothing can be fetched: apt is not there.
            done = self.lab("packages", **environment, PATH="/nowhere")
            self.assertEqual(done.returncode, 3)
            self.assertIn("apt-get is not installed", done.stderr)
            self.assertTrue(folder.is_dir())
        shutil.rmtree(cache)
        self.assertEqual(sorted(self.prefix.rglob("*")), before)

    def test_it_never_builds_programs(self) -> None:
        done = self.lab("build", HOME="/")
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"{self.prefix}/bin has no ipoib-conform", done.stderr)

    def test_without_a_home_it_says_what_is_missing(self) -> None:
        done = self.lab("build")
        self.assertEqual(done.returncode, 3)
        self.assertIn("--build", done.stderr)

    def test_programs_of_the_guest_are_found_beside_bin(self) -> None:
        folder = self.prefix / "libexec/ipoib-conformance"
        folder.mkdir(parents=True)
        (folder / "ipoib-lab-port").touch()
        self.assertEqual(image.find_program(self.prefix / "bin", "ipoib-lab-port"), folder / "ipoib-lab-port")


class Place(unittest.TestCase):
    def test_a_source_tree_keeps_everything_in_its_build_folder(self) -> None:
        self.assertFalse(place.IS_INSTALLED)
        self.assertEqual(place.build_folder(), place.SOURCE / "build/lab")
        self.assertRegex(place.version(), r"^\d+\.\d+\.\d+$")


if __name__ == "__main__":
    unittest.main()
