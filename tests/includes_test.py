#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Arrows go down only: which folder's headers each folder may include, and which file of the lab's kernel module may call
which (docs/architecture.md, docs/lab.md)."""
import os
import re
import subprocess
import unittest
from pathlib import Path

TOP = Path(os.environ["IPOIB_SOURCE_DIR"]).resolve()

# A folder of two storeys is named with both; a folder's own headers, and those that the build makes, need no mention. What
# nothing makes use of is not allowed either.
BASE = {"base"}
WIRE = {"protocol/wire"}
CHECKED = WIRE | {"protocol/requirements"}
FABRIC = {"fabric", "fabric/change"}
MAY_SEE = {
    "base": set(),
    "protocol": set(),
    "protocol/wire": set(),
    "protocol/requirements": set(),
    "protocol/build": WIRE,
    "protocol/state": BASE | WIRE,
    "protocol/rules": CHECKED | {"protocol/state"},
    "protocol/inspection": WIRE | {"protocol/rules", "protocol/state"},
    "dissector": WIRE | {"protocol/inspection", "conformance/assumptions"},
    "fabric": BASE | WIRE | {"fabric/change"},
    "fabric/change": BASE | WIRE | {"fabric"},
    "fabric/capture": BASE | WIRE,
    "fabric/host": WIRE,
    "fabric/node": BASE | WIRE | {"fabric", "protocol/build"},
    "fabric/simulated": BASE | WIRE | FABRIC | {"protocol/build", "protocol/state", "fabric/node"},
    "fabric/socket": BASE | WIRE | FABRIC | {"fabric/node"},
    "fabric/umad": BASE | WIRE | {"fabric", "fabric/node", "fabric/host", "fabric/socket"},
    "fabric/verbs": WIRE | {"fabric", "fabric/socket", "fabric/umad"},
    "stack": BASE | WIRE | {"fabric", "protocol/build", "fabric/node"},
    "reports": BASE,
    "captures": WIRE | {"protocol/build", "fabric/capture", "conformance/judge"},
    "conformance/assumptions": BASE | WIRE | {"protocol/state"},
    "conformance/dut": BASE | WIRE | {"fabric"},
    "conformance/judge": BASE | CHECKED | {"protocol/inspection", "fabric/capture", "reports"},
    "conformance/bench": BASE | CHECKED | FABRIC | {
        "protocol", "protocol/build", "protocol/rules", "fabric/capture", "reports", "conformance/dut", "conformance/judge"},
    "conformance/interop": BASE | CHECKED | {
        "protocol", "protocol/build", "protocol/rules", "fabric", "fabric/capture", "reports", "conformance/bench",
        "conformance/dut", "conformance/judge"},
    "conformance/target": BASE | WIRE | {
        "fabric", "fabric/node", "stack", "conformance/bench", "conformance/dut", "conformance/interop", "conformance/mutants"},
    "conformance/selftest": {
        "protocol/requirements", "fabric/simulated", "conformance/bench", "conformance/mutants", "conformance/target"},
    "conformance/cases": CHECKED | {"conformance/bench"},
    "conformance/mutants": CHECKED | {"protocol", "fabric/simulated", "stack"},
    "conformance/audit": CHECKED | {
        "protocol/state", "fabric", "reports", "conformance/judge", "conformance/assumptions",
        "conformance/hosts"},
    "conformance/exhibits": BASE | WIRE | {"protocol/inspection", "fabric/capture", "reports", "conformance/judge"},
    "conformance/hosts": BASE | WIRE | {"conformance/assumptions"},
    "conformance/links": BASE | WIRE | {
        "protocol/state", "reports", "conformance/assumptions", "conformance/hosts", "conformance/judge"},
    "conformance/watch": BASE | WIRE | {
        "fabric/capture", "conformance/audit", "conformance/judge", "conformance/links"},
    "conformance/documents": {
        "protocol/rules", "reports", "conformance/audit", "conformance/bench", "conformance/judge", "conformance/selftest"},
    "conformance/shrink": set(),
    "conformance/replay": BASE | WIRE | {
        "protocol/rules", "fabric", "fabric/capture", "reports", "conformance/bench", "conformance/dut", "conformance/interop",
        "conformance/judge"},
    "conformance/excerpt": BASE | {
        "protocol/requirements", "fabric/capture", "conformance/judge", "conformance/links", "conformance/shrink"},
    "conformance/metamorphic": BASE | CHECKED | {
        "protocol", "protocol/build", "protocol/inspection", "fabric/capture", "captures", "traffic-gen",
        "conformance/judge", "conformance/selftest", "conformance/shrink"},
    "conformance/recall": BASE | WIRE | {"protocol/build", "traffic-gen", "conformance/metamorphic"},
    "conformance/explore": BASE | CHECKED | {
        "protocol/rules", "fabric", "fabric/node", "fabric/simulated", "fabric/socket", "stack", "conformance/bench",
        "conformance/dut", "conformance/mutants", "conformance/shrink"},
    "conformance/fuzz": BASE | WIRE | {
        "protocol/build", "fabric", "fabric/capture", "fabric/node", "fabric/simulated", "fabric/socket", "stack", "traffic-gen",
        "conformance/bench", "conformance/dut", "conformance/shrink"},
    "conformance/sa_model": CHECKED,
    "conformance/siege": BASE | WIRE | {
        "fabric", "fabric/node", "fabric/simulated", "conformance/mutants", "conformance/sa_model", "conformance/shrink"},
    "conformance/terminal": BASE | {"fabric", "fabric/capture"},
    "conformance/command": BASE | CHECKED | {
        "fabric", "fabric/capture", "fabric/host", "reports", "conformance/assumptions", "conformance/audit",
        "conformance/bench", "conformance/documents", "conformance/excerpt", "conformance/exhibits",
        "conformance/explore", "conformance/fuzz", "conformance/hosts", "conformance/interop", "conformance/judge",
        "conformance/links", "conformance/metamorphic", "conformance/recall", "conformance/replay", "conformance/selftest",
        "conformance/shrink", "conformance/siege", "conformance/target", "conformance/terminal", "conformance/watch"},
    "traffic-gen": BASE | CHECKED | {
        "protocol", "protocol/build", "protocol/rules", "protocol/state", "fabric", "fabric/capture", "fabric/simulated",
        "conformance/bench", "conformance/judge", "conformance/target", "conformance/terminal"},
    "lab/guest": BASE | {"conformance/dut", "fabric/change"},
    "lab/kernel": set(),
}
# What is behind a kind of fabric, unless it is said above; only the kind itself sees it.
USUAL = WIRE | FABRIC | {"fabric/node"}
NOT_SAID = {f"fabric/{kind.stem}" for kind in (TOP / "conformance/target/fabrics").glob("*.cpp")} - set(MAY_SEE)
for kind in (TOP / "conformance/target/fabrics").glob("*.cpp"):
    MAY_SEE.setdefault(f"fabric/{kind.stem}", USUAL)
    MAY_SEE["conformance/target"].add(f"fabric/{kind.stem}")
# Programs and tests that put several rooms together see all.
FREE = {"bench", "fuzz", "samples", "tests", "fleet"}
TWO_STOREYS = {"protocol", "fabric", "conformance", "lab"}


def folder_of(path: str) -> str:
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in TWO_STOREYS and len(parts) > 2 else parts[0]


def sources() -> list[str]:
    """Also what is not committed yet."""
    files = subprocess.run(["git", "-C", TOP, "ls-files", "-co", "--exclude-standard", "*.cpp", "*.hpp"],
                           capture_output=True, text=True, check=True).stdout.split()
    return [file for file in files if (TOP / file).exists()]


def is_test(path: str) -> bool:
    return ".test." in path or Path(path).name.startswith("test_")


def included(path: str) -> list[str]:
    """The headers of ours that a file includes, as paths from the top. One that is named without a folder is beside the
    file, or in tests/; or nowhere, and then named as it is."""
    found = []
    for name in re.findall(r'^\s*#\s*include "([^"]+)"', (TOP / path).read_text(), re.M):
        where = [f"{folder}/{name}" for folder in (str(Path(path).parent), "tests") if (TOP / folder / name).exists()]
        found.append(name if "/" in name or not where else where[0])
    return found


def in_circles(arrows: dict[str, set[str]]) -> list[str]:
    """Those from which arrows lead back to themselves."""
    return [one for one in sorted(arrows) if one in reached(arrows, one)]


def reached(arrows: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    todo = [start]
    while todo:
        new = arrows[todo.pop()] - found
        found |= new
        todo += new
    return found


class Includes(unittest.TestCase):
    def setUp(self) -> None:
        files = sources()
        self.assertGreater(len(files), 500)
        self.seen = {file: included(file) for file in files if not is_test(file) and folder_of(file) not in FREE}
        # Headers that include what is of tests are of tests, too, whatever they are called.
        self.helpers: set[str] = set()
        while new := {file for file, names in self.seen.items() if file.endswith(".hpp") and file not in self.helpers
                      and any(self.is_of_tests(name) for name in names)}:
            self.helpers |= new

    def is_of_tests(self, path: str) -> bool:
        return is_test(path) or folder_of(path) == "tests" or path in self.helpers

    def test_arrows_go_down_only(self) -> None:
        wrong = []
        for file, names in self.seen.items():
            own = folder_of(file)
            self.assertIn(own, MAY_SEE, f"{file}: say in {Path(__file__).name} what this folder may include")
            for name in names:
                other = folder_of(name)
                is_allowed = other in MAY_SEE[own] | {own, "generated"} or (other == "tests" and file in self.helpers)
                if not is_allowed or (self.is_of_tests(name) and file not in self.helpers):
                    wrong.append(f"{file} includes {name}")
        self.assertEqual(wrong, [])

    def test_nothing_is_allowed_that_nobody_needs(self) -> None:
        used: dict[str, set[str]] = {own: set() for own in MAY_SEE}
        for file, names in self.seen.items():
            used[folder_of(file)] |= {folder_of(name) for name in names}
        idle = [f"{own} may include {other}" for own, others in MAY_SEE.items() if own not in NOT_SAID
                for other in sorted(others - used[own])]
        self.assertEqual(idle, [])

    def test_a_header_without_a_folder_is_looked_at(self) -> None:
        self.assertIn("tests/catch2.hpp", included("base/one_line.test.cpp"))
        self.assertIn("protocol/wire/golden.hpp", self.helpers)
        self.assertNotIn("protocol/wire/field.hpp", self.helpers)

    def test_no_two_rooms_see_each_other(self) -> None:
        rooms = {one: {other for other in seen if other in MAY_SEE} for one, seen in MAY_SEE.items()}
        rooms = {one: seen - {"fabric", "fabric/change"} for one, seen in rooms.items()}  # one room with an annex
        rooms = {one: seen - {one} for one, seen in rooms.items()}
        self.assertEqual(in_circles(rooms), [])


class LabKernel(unittest.TestCase):
    """The order of the files of lab/kernel, which is that of its Kbuild. A .c file and the header of its name are one; a
    header without a .c file is a part of each that includes it."""

    maxDiff = None
    FOLDER = TOP / "lab/kernel"
    # In kernel style a function begins in the first column, and so does its brace.
    FUNCTION = re.compile(r"^(?!static\b)\w[\w \t*]*?\b(\w+)\([^;{}]*\)\n\{", re.M)
    DECLARATION = re.compile(r"^(?!static\b|typedef\b)\w[\w \t*]*?\b(\w+)\([^;{}]*\);", re.M)
    VARIABLE = re.compile(r"^extern [\w \t*]*?\b(\w+);", re.M)
    INCLUDE = re.compile(r'^#include "(\w+)\.h"', re.M)
    NO_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|^#include[^\n]*", re.S | re.M)

    def setUp(self) -> None:
        self.whole = {path.name: path.read_text() for path in self.FOLDER.glob("vib_*.[ch]")}
        self.code = {name: self.NO_CODE.sub("", text) for name, text in self.whole.items()}
        self.units = {name[:-2] for name in self.whole if name.endswith(".c")}

    def names(self, pattern: re.Pattern[str], file: str) -> set[str]:
        return set(pattern.findall(self.code.get(file, "")))

    def arrows(self) -> dict[str, set[str]]:
        """For each file those whose functions or variables it names, or whose header it includes."""
        owner = {name: unit for unit in self.units for name in self.names(self.FUNCTION, f"{unit}.c")}
        owner |= {name: unit for unit in self.units for name in self.names(self.VARIABLE, f"{unit}.h")}
        arrows = {}
        for unit in {name[:-2] for name in self.whole}:
            files = [file for file in (f"{unit}.c", f"{unit}.h") if file in self.whole]
            words = set(re.findall(r"\w+", " ".join(self.code[file] for file in files)))
            included = {name for file in files for name in self.INCLUDE.findall(self.whole[file])}
            arrows[unit] = ({owner[word] for word in words & set(owner)} | included) - {unit}
        return arrows

    def test_no_circle(self) -> None:
        self.assertEqual(in_circles(self.arrows()), [])

    def test_the_build_has_them_from_the_bottom_up(self) -> None:
        order = re.findall(r"(\w+)\.o\b", re.sub(r"^(#|obj-m).*", "", (self.FOLDER / "Kbuild").read_text(), flags=re.M))
        self.assertEqual(sorted(order), sorted(self.units))
        arrows = self.arrows()
        upward = [f"{one} needs {other}, which Kbuild has after it" for at, one in enumerate(order)
                  for other in order[at + 1:] if other in reached(arrows, one)]
        self.assertEqual(upward, [])

    def test_each_header_declares_what_its_own_file_defines(self) -> None:
        headers = {name[:-2] for name in self.whole if name.endswith(".h")}
        self.assertGreater(sum(len(self.names(self.DECLARATION, f"{one}.h")) for one in headers), 80)
        for unit in sorted(self.units | headers):
            with self.subTest(unit):
                self.assertEqual(self.names(self.DECLARATION, f"{unit}.h"), self.names(self.FUNCTION, f"{unit}.c"))


if __name__ == "__main__":
    unittest.main()
