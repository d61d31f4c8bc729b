#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a registry holds stands nowhere else: who adds a row need not look for other places."""
import json
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

TOP = Path(os.environ["IPOIB_SOURCE_DIR"]).resolve()


def code(path: Path) -> str:
    """Without comments. Literals have no two slashes here but in addresses, which are no code either."""
    return re.sub(r"//.*", "", path.read_text())


def sources(*folders: str) -> list[str]:
    """The files of a program; tests may name what they like."""
    files = subprocess.run(["git", "-C", TOP, "ls-files", "-co", "--exclude-standard", "*.cpp", "*.hpp"],
                           capture_output=True, text=True, check=True).stdout.split()
    return [file for file in files if file.startswith(folders) and (TOP / file).exists() and ".test." not in file
            and not Path(file).name.startswith("test_")]


class Fabrics(unittest.TestCase):
    """conformance/target/fabric_kind.hpp, and a file of conformance/target/fabrics for each scheme."""
    SCHEMES = sorted(path.stem for path in (TOP / "conformance/target/fabrics").glob("*.cpp"))
    # With a colon and what follows it, behind --fabric, and where it is compared or taken.
    NAMED = r'(?<![\w/.])(?:{0}):(?=[^:\s])|--fabric (?:{0})\b|= *"(?:{0})"|starts_with\("(?:{0})"'

    def own(self, file: str) -> bool:
        """The registry; a kind's file, and the fabric behind it; what stands on the fabric of this process."""
        return file.startswith(("conformance/target/fabric_kind.", "conformance/target/fabrics/",
                                "conformance/target/simulated_", *(f"fabric/{scheme}/" for scheme in self.SCHEMES)))

    def named(self, text: str) -> list[str]:
        return re.findall(self.NAMED.format("|".join(self.SCHEMES)), text)

    def test_what_counts_as_naming_a_scheme(self) -> None:
        for text in ('x.starts_with("verbs:")', 'fabric == "simulated"', 'fabric = "simulated"', '"--fabric umad: can"',
                     '"of whom: socket:PATH"', 'kind != "verbs"'):
            self.assertTrue(self.named(text), text)
        for text in ('"no socket: "', '"the simulated fabric"', 'name.starts_with("umadX")', '"verbs knows"', "fabric::socket()"):
            self.assertFalse(self.named(text), text)

    def test_a_scheme_is_named_in_its_own_file_only(self) -> None:
        self.assertGreater(len(self.SCHEMES), 3)
        # The adapter of a Linux host sees device files of these names.
        files = [file for file in sources("conformance/", "fabric/", "reports/", "traffic-gen/")
                 if not self.own(file) and not file.startswith("conformance/dut/linux/")]
        self.assertGreater(len(files), 300)
        self.assertEqual([f"{file}: {found}" for file in files for found in self.named(code(TOP / file))], [])

    def test_what_a_build_lacks_is_asked_where_it_is_used(self) -> None:
        asking = [file for file in sources("conformance/", "traffic-gen/") if "IPOIB_HAS_" in (TOP / file).read_text()]
        self.assertEqual([file for file in asking if not self.own(file)], ["conformance/target/hca.cpp"])


class Tests(unittest.TestCase):
    # Only where it is installed; how the build tells that it is left out, see tests/CMakeLists.txt.
    NEEDS = {"wireshark_test": "tshark"}

    def test_every_script_of_tests_is_run_by_ctest(self) -> None:
        """A condition in a CMakeLists.txt that never holds takes a test away, and nobody is told."""
        shown = json.loads(subprocess.run(["ctest", "--test-dir", os.environ["IPOIB_BUILD"], "-C", "Long",
                                           "--show-only=json-v1"], capture_output=True, text=True, check=True).stdout)
        run = {Path(word).stem for test in shown["tests"] for word in test.get("command", ()) if word.endswith("_test.py")}
        scripts = {path.stem for path in (TOP / "tests").glob("*_test.py")}
        self.assertGreater(len(scripts), 30)
        self.assertEqual({one for one in scripts - run if shutil.which(self.NEEDS.get(one, "ctest"))}, set())


class Reports(unittest.TestCase):
    """reports/format.cpp. The lab, which makes one report of many guests, tells its options from those for the guests."""
    def test_the_lab_knows_the_options_of_each(self) -> None:
        shown = subprocess.run([os.environ["IPOIB_CONFORM"], "merge", "--help"], capture_output=True, text=True, check=True)
        options = re.findall(r"^  (--[\w-]+) ", shown.stdout.partition("\nReports:\n")[2], re.MULTILINE)
        self.assertGreater(len(options), 6)
        known = re.search(r"^_OF_THE_REPORT = \((.*?)\)$", (TOP / "lab/host/parts.py").read_text(), re.MULTILINE | re.DOTALL)[1]
        self.assertEqual(sorted({*options, "--color"} - set(re.findall(r'"(--[\w-]+)"', known))), [])


class LinkTypes(unittest.TestCase):
    """protocol/wire/medium.cpp."""
    ROWS = re.findall(r'\{Medium::(\w+), (\d+), "(\w+)", "(\w*)"', code(TOP / "protocol/wire/medium.cpp"))

    def test_link_types_are_told_apart_by_their_rows_only(self) -> None:
        self.assertGreater(len(self.ROWS), 4)
        # The LRH is what everything else is about; an Ethernet capture shows nothing.
        rows = [row for row in self.ROWS if row[0] not in ("infiniband", "ethernet")]
        # What the whole is about has that name, too.
        names = [name for _, _, *both in rows for name in both if name and name != "ipoib"]
        named = "|".join([*(rf"(?:Medium|LinkType)::{medium}\b" for medium, *_ in rows), *(f'"{name}"' for name in names)])
        self.assertRegex("case Medium::linux_sll:", named)
        # Samples are of one link type each, on purpose.
        files = [file for file in sources("captures/", "conformance/", "dissector/", "fabric/", "fuzz/", "protocol/",
                                          "reports/", "traffic-gen/")
                 if file not in ("captures/samples.cpp", "protocol/wire/medium.cpp")]
        self.assertEqual([f"{file}: {found}" for file in files for found in re.findall(named, code(TOP / file))], [])


class Commands(unittest.TestCase):
    """conformance/command/commands.hpp: the files of that folder, and the list in main.cpp."""
    def test_every_command_that_is_defined_has_its_row(self) -> None:
        main = code(TOP / "conformance/command/main.cpp")
        defined = re.findall(r'extern const Command (\w+)\{\s*\.name = "(\w+)"',
                             "".join(code(path) for path in sorted((TOP / "conformance/command").glob("*.cpp"))))
        names = sorted(name for name, _ in defined)
        self.assertGreater(len(names), 10)
        self.assertEqual(names, sorted(name for _, name in defined))
        self.assertEqual(names, sorted(re.findall(r"\w+", re.search(r"extern const Command ([^{;]*);", main)[1])))
        self.assertEqual(names, sorted(re.findall(r"&command::(\w+)", main)))


if __name__ == "__main__":
    unittest.main()
