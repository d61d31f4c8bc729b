#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian packages, made of this build and taken apart. `scripts/package --try` installs them in a clean tree."""
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from program import CAPTURES, SOURCE, Folder

BUILD = Path(os.environ["IPOIB_BUILD"])


class Packages(Folder):
    def test_the_packages_hold_what_runs(self):
        made = subprocess.run([SOURCE / "scripts/package", "--build", BUILD], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.PIPE, timeout=300, check=False)
        self.assertEqual(made.returncode, 0, made.stderr)
        packages = sorted(made.stdout.split())
        self.assertTrue(packages)
        for package in packages:
            subprocess.run(["dpkg-deb", "-x", BUILD / "packages" / Path(package).name, self.folder], check=True, timeout=60)
        run = subprocess.run([self.folder / "usr/bin/ipoib-conform", "check", CAPTURES / "usual.pcap", "--quiet"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        for name in ("bin/ipoib-gen", "bin/ipoib-dut-linux", "share/man/man1/ipoib-conform.1", "share/man/man1/ipoib-gen.1",
                     "share/bash-completion/completions/ipoib-gen", "share/doc/ipoib-conformance/copyright"):
            self.assertTrue((self.folder / "usr" / name).is_file(), name)
        if (BUILD / "dissector/rfc4391.so").exists():
            self.assertEqual(len(list(self.folder.glob("usr/lib/*/wireshark/plugins/*/epan/rfc4391.so"))), 1)
        depends = subprocess.run(["dpkg-deb", "-f", BUILD / "packages" / Path(packages[0]).name, "Depends"],
                                 stdout=subprocess.PIPE, text=True, timeout=60, check=True).stdout
        self.assertIn("libpcap0.8", depends)


if __name__ == "__main__":
    if not shutil.which("dpkg-shlibdeps"):
        print("dpkg-dev is missing")
        sys.exit(77)
    unittest.main()
