#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Arrows go down only: which folder's headers each folder may include (docs/architecture.md)."""
import os
import re
import subprocess
import unittest
from pathlib import Path

TOP = Path(os.environ["IPOIB_SOURCE_DIR"]).resolve()

# A folder of two storeys is named with both; a folder's own headers, and those that the build makes, need no mention.
BASE = {"base"}
PROTOCOL = {"protocol", "protocol/wire"}
RULES = PROTOCOL | {"protocol/build", "protocol/requirements", "protocol/state", "protocol/rules"}
FABRIC = {"fabric", "fabric/change"}
MAY_SEE = {
    "base": set(),
    "protocol": set(),
    "protocol/wire": set(),
    "protocol/requirements": {"protocol"},
    "protocol/build": PROTOCOL,
    "protocol/state": PROTOCOL,
    "protocol/rules": RULES,
    "protocol/inspection": RULES,
    "dissector": RULES | {"protocol/inspection", "conformance/assumptions"},
    "fabric": BASE | PROTOCOL | FABRIC,
    "fabric/change": BASE | PROTOCOL | FABRIC,
    "fabric/capture": BASE | PROTOCOL,
    "fabric/host": PROTOCOL,
    "fabric/node": PROTOCOL | FABRIC | {"protocol/build"},
    "fabric/simulated": PROTOCOL | FABRIC | {"protocol/build", "protocol/state", "fabric/node"},
    "fabric/socket": BASE | PROTOCOL | FABRIC | {"fabric/node"},
    "fabric/umad": BASE | PROTOCOL | FABRIC | {"fabric/node", "fabric/host", "fabric/socket"},
    "fabric/verbs": PROTOCOL | FABRIC | {"fabric/socket", "fabric/umad"},
    "stack": BASE | PROTOCOL | FABRIC | {"protocol/build", "fabric/node", "fabric/simulated"},
    "reports": BASE,
    "captures": PROTOCOL | {"protocol/build", "fabric/capture", "conformance/judge"},
    "conformance/assumptions": BASE | PROTOCOL | {"protocol/state"},
    "conformance/dut": BASE | PROTOCOL | {"fabric"},
    "conformance/judge": RULES | {"protocol/inspection", "fabric/capture", "reports"},
    "conformance/bench": BASE | RULES | FABRIC | {"fabric/capture", "reports", "conformance/dut", "conformance/judge"},
    "conformance/target": RULES | FABRIC | {
        "fabric/node", "fabric/simulated", "fabric/socket", "fabric/umad", "fabric/verbs", "stack", "conformance/bench",
        "conformance/dut", "conformance/mutants"},
    "conformance/selftest": RULES | {
        "fabric/simulated", "reports", "conformance/bench", "conformance/mutants", "conformance/target"},
    "conformance/cases": RULES | {"fabric", "conformance/bench"},
    "conformance/mutants": RULES | {"fabric/simulated", "stack"},
    "conformance/audit": RULES | FABRIC | {"reports", "conformance/judge", "conformance/assumptions"},
    "conformance/exhibits": BASE | RULES | {
        "protocol/inspection", "fabric/capture", "reports", "conformance/bench", "conformance/judge"},
    "conformance/links": BASE | RULES | {"reports", "conformance/judge"},
    "conformance/documents": RULES | {
        "reports", "conformance/audit", "conformance/bench", "conformance/judge", "conformance/selftest"},
    "conformance/shrink": set(),
    "conformance/metamorphic": BASE | RULES | {
        "protocol/inspection", "fabric/capture", "captures", "traffic-gen", "conformance/judge",
        "conformance/selftest", "conformance/shrink"},
    "conformance/terminal": BASE | {"fabric", "fabric/capture"},
    "conformance/command": BASE | RULES | FABRIC | {
        "fabric/capture", "fabric/host", "reports", "conformance/assumptions", "conformance/audit", "conformance/bench",
        "conformance/documents", "conformance/exhibits", "conformance/judge", "conformance/links",
        "conformance/metamorphic", "conformance/selftest", "conformance/target", "conformance/terminal"},
    "traffic-gen": RULES | FABRIC | {
        "fabric/capture", "fabric/simulated", "conformance/bench", "conformance/judge", "conformance/target",
        "conformance/terminal"},
    "lab/guest": BASE | {"conformance/dut", "fabric/change"},
    "lab/kernel": set(),
}
# Programs and tests that put several rooms together see all.
FREE = {"bench", "fuzz", "samples", "tests", "fleet"}
TWO_STOREYS = {"protocol", "fabric", "conformance", "lab"}


def folder_of(path: str) -> str:
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in TWO_STOREYS and len(parts) > 2 else parts[0]


def included(path: str) -> list[str]:
    """The headers of ours that a file includes; those of its own folder are named without one."""
    return [name for name in re.findall(r'^\s*#\s*include "([^"]+)"', (TOP / path).read_text(), re.M) if "/" in name]


class Includes(unittest.TestCase):
    def test_arrows_go_down_only(self) -> None:
        files = subprocess.run(["git", "-C", TOP, "ls-files", "*.cpp", "*.hpp"], capture_output=True, text=True,
                               check=True).stdout.split()
        self.assertGreater(len(files), 500)
        wrong = []
        for file in files:
            own = folder_of(file)
            if ".test." in file or Path(file).name.startswith("test_") or own in FREE:
                continue
            self.assertIn(own, MAY_SEE, f"{file}: say in {Path(__file__).name} what this folder may include")
            for name in included(file):
                other = folder_of(name)
                if other not in (own, "generated") and other not in MAY_SEE[own]:
                    wrong.append(f"{file} includes {name}")
        self.assertEqual(wrong, [])

    def test_no_two_rooms_see_each_other(self) -> None:
        rooms = {one: {other for other in seen if other in MAY_SEE} for one, seen in MAY_SEE.items()}
        rooms = {one: seen - {"fabric", "fabric/change"} for one, seen in rooms.items()}  # one room with an annex
        open_rooms = dict(rooms)
        while open_rooms:
            leaves = [one for one, seen in open_rooms.items() if not (seen - {one}) & set(open_rooms)]
            self.assertTrue(leaves, f"a circle among {sorted(open_rooms)}")
            for one in leaves:
                del open_rooms[one]


if __name__ == "__main__":
    unittest.main()
