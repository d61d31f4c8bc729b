#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the suite and the fuzzer reach, written up."""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import blocks  # noqa: E402
import told  # noqa: E402
from tools import LabError  # noqa: E402


class Blocks(unittest.TestCase):
    def write(self, text: str) -> Path:
        folder = tempfile.TemporaryDirectory(prefix="ipoib-told-")
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "blocks"
        path.write_text(text)
        return path

    def test_files_are_joined(self) -> None:
        some = self.write("ib_cm:cm_work_handler+0x1f\nib_ipoib:ipoib_open.cold+0x2\n")
        others = self.write("ib_cm:cm_work_handler+0x1f\nib_core:f+0x3\n")
        self.assertEqual(told.read([some, others]),
                         {"ib_cm:cm_work_handler+0x1f", "ib_ipoib:ipoib_open.cold+0x2", "ib_core:f+0x3"})

    def test_what_is_no_block_is_refused_by_name(self) -> None:
        with self.assertRaisesRegex(LabError, "nonsense"):
            told.read([self.write("nonsense\n")])
        with self.assertRaisesRegex(LabError, "no-such-file"):
            told.read([Path("no-such-file")])


@unittest.skipIf(shutil.which("gcc") is None or shutil.which("objdump") is None, "there is no compiler")
class Objects(unittest.TestCase):
    SOURCE = """
        __asm__(".set __sanitizer_cov_trace_pc, vibcov_block");
        int other(int); int used(int a) { if (a > 3) return other(a) + 1; return other(2 * a) + 5; }
        int unused(int a) { return other(a) + 1; }
    """

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="ipoib-told-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        subprocess.run(["gcc", "-O2", "-fcf-protection=none", "-fsanitize-coverage=trace-pc", "-c", "-x", "c", "-",
                        "-o", self.folder / "one.o"],
                       input=self.SOURCE, text=True, check=True)

    def test_what_ran_is_counted_by_function_and_what_is_no_block_is_not(self) -> None:
        places = blocks._places(self.folder / "one.o")
        of_used = [place for place in places if place.startswith("used+0x")]
        self.assertGreater(len(of_used), 1)
        one, = blocks.coverage({"m": self.folder / "m.ko"}, ["one.c"], [f"m:{of_used[0]}", "m:used+0xfff", "m:else+0x1"])
        self.assertEqual((one.blocks["used"], one.ran["used"], one.unreached), (len(of_used), 1, ["unused"]))


class Page(unittest.TestCase):
    row = told.Row("cm.c", 10, 5, 3, 6, 4, 3, 2, ("cm_lap_handler", "cm_dup_req_handler"))

    def test_parts_are_of_the_file(self) -> None:
        page = told.page([self.row], "6.1.0", ["a note"])
        self.assertIn("| cm.c | 10 | 5 (50 %) | 3 (30 %) | 6 (60 %) | 4 | 3 | 2 | 2 |", page)
        self.assertIn("- a note\n", page)

    def test_functions_that_neither_enters_have_a_reason_or_none(self) -> None:
        page = told.page([self.row], "6.1.0", [])
        self.assertIn("- **SIDR, LAP, APR and MRA, which IPoIB does not use**: `cm_lap_handler`", page)
        self.assertIn("- **Could be reached, and was not**: `cm_dup_req_handler`", page)

    def test_reasons_are_for_functions_that_they_name(self) -> None:
        for file, function in (("ipoib_cm.c", "ipoib_cm_handle_rx_wc"), ("ipoib_multicast.c", "ipoib_mcast_dev_flush"),
                               ("cm.c", "cm_rej_handler"), ("mad.c", "ib_mad_recv_done"), ("sa_query.c", "recv_handler")):
            self.assertEqual(told.reason_for(file, function), "", function)


if __name__ == "__main__":
    unittest.main()
