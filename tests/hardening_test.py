#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is installed is hardened as Debian's `hardening=+all` demands, and beyond that against branches and stack clash."""
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import hardening

BUILD = Path(os.environ["IPOIB_BUILD"])
# On all processors; x86 has the branches, too.
COMPILED = {"-fstack-protector-strong", "-fstack-clash-protection", "-Wformat", "-Werror=format-security"}
FORTIFIED = "-D_FORTIFY_SOURCE=2"


def commands():
    return [(Path(entry["file"]), shlex.split(entry["command"]))
            for entry in json.loads((BUILD / "compile_commands.json").read_text())]


def is_optimised(words):
    return ([word for word in words if re.fullmatch(r"-O\w*", word)] or ["-O0"])[-1] != "-O0"


def is_fortified(words):
    """The last word counts."""
    said = [word for word in words if re.match(r"-[DU]_FORTIFY_SOURCE", word)]
    return bool(said) and said[-1] == FORTIFIED


@unittest.skipUnless((BUILD / "compile_commands.json").is_file(), "CMake was not told to write the compiler's commands down")
class Compiled(unittest.TestCase):
    def test_every_file_is_compiled_with_all_of_it(self):
        wanted = COMPILED | ({"-fcf-protection"} if platform.machine() == "x86_64" else set())
        every = commands()
        self.assertGreater(len(every), 50)
        self.assertTrue(any(map(is_optimised, (words for _, words in every))))
        for file, words in every:
            with self.subTest(str(file)):
                self.assertEqual(wanted - set(words), set())
                self.assertTrue({"-fPIC", "-fPIE"} & set(words))
                if any(word.startswith("-fsanitize=") for word in words):
                    # A sanitizer does not know the functions that check.
                    self.assertFalse(is_fortified(words))
                elif is_optimised(words):
                    self.assertTrue(is_fortified(words))

    @unittest.skipUnless(shutil.which("dpkg-buildflags"), "dpkg-dev is missing")
    def test_debian_demands_nothing_beyond_that(self):
        environment = {**os.environ, "DEB_BUILD_MAINT_OPTIONS": "hardening=+all"}
        told = [subprocess.run(["dpkg-buildflags", "--get", name], env=environment, stdout=subprocess.PIPE, text=True,
                               check=True, timeout=60).stdout.split() for name in ("CXXFLAGS", "CPPFLAGS", "LDFLAGS")]
        for word in (word for words in told for word in words):
            # Debug information, optimisation and builds that can be repeated are no hardening.
            if re.match(r"-g|-O|-ffile-prefix-map|-fdebug|-Wdate-time|-flto|-Werror=(?!format)", word):
                continue
            self.assertIn(word, COMPILED | {FORTIFIED, "-fcf-protection", "-Wl,-z,relro", "-Wl,-z,now"})


class Installed(unittest.TestCase):
    def test_every_program_and_the_plugin_are_hardened(self):
        components = re.search(r'CPACK_COMPONENTS_ALL "(.*)"', (BUILD / "CPackConfig.cmake").read_text())[1].split(";")
        with tempfile.TemporaryDirectory(prefix="ipoib-test-") as folder:
            for component in components:
                subprocess.run(["cmake", "--install", BUILD, "--component", component],
                               env={**os.environ, "DESTDIR": folder}, stdout=subprocess.DEVNULL, check=True, timeout=60)
            found = hardening.elf_files(folder)
            names = {path.name for path in found}
            self.assertLessEqual({"ipoib-conform", "ipoib-gen"}, names)
            for path in found:
                with self.subTest(path.name):
                    self.assertEqual(hardening.weaknesses(path), [])
            fortified = {path.name for path in found if hardening.is_fortified(path)}
            self.assertLessEqual({"ipoib-conform", "ipoib-gen"}, fortified)


if __name__ == "__main__":
    if not shutil.which("readelf"):
        print("readelf is missing")
        sys.exit(77)
    unittest.main()
