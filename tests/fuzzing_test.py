#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/fuzz tells what it found, and docs/fuzzing.md names every fuzzer that there is."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

TOP = Path(os.environ["IPOIB_SOURCE_DIR"]).resolve()
SCRIPT = TOP / "scripts" / "fuzz"
PAGE = (TOP / "docs" / "fuzzing.md").read_text()
RAN = "#200 DONE cov: 12 ft: 34 corp: 5/6b"


def listed(*arguments):
    return subprocess.run([SCRIPT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


class Page(unittest.TestCase):
    names = listed("--list").stdout.split()

    def test_every_fuzzer_has_its_file_and_every_file_its_row(self) -> None:
        files = {path.stem for path in (TOP / "fuzz").glob("*.cpp")} - {"options", "seeds"}
        self.assertEqual(sorted(self.names), sorted(files | {"plugin"}))
        self.assertGreater(len(files), 10)

    def test_both_tables_of_the_page_have_every_fuzzer(self) -> None:
        self.assertEqual(re.findall(r"^\| `(\w+)` \| \D", PAGE, re.MULTILINE), self.names)
        self.assertEqual(re.findall(r"^\| `(\w+)` \| \d", PAGE, re.MULTILINE), self.names)

    def test_what_the_page_runs_is_understood(self) -> None:
        commands = re.findall(r"^    scripts/fuzz ([^#\n]*)", PAGE, re.MULTILINE)
        self.assertGreater(len(commands), 2)
        for command in commands:
            with self.subTest(command=command):
                self.assertEqual(listed(*command.split(), "--list").returncode, 0)

    def test_what_makes_no_sense_is_refused(self) -> None:
        for arguments, said in ((["none-such"], "there is no fuzzer none-such"), (["--for", "soon"], "'soon' is no time"),
                                (["--for", "0s"], "'0s' is no time"), (["--jobs", "0"], "--jobs is at least 1")):
            with self.subTest(arguments=arguments):
                run = listed(*arguments)
                self.assertEqual(run.returncode, 2)
                self.assertIn(said, run.stderr)


class Run(unittest.TestCase):
    """With programs that stand for fuzzers."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ipoib-fuzzing-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        loader = importlib.machinery.SourceFileLoader("fuzz_script", str(SCRIPT))
        with mock.patch.object(sys, "dont_write_bytecode", True):
            self.script = importlib.util.module_from_spec(importlib.util.spec_from_loader("fuzz_script", loader))
            sys.modules["fuzz_script"] = self.script
            loader.exec_module(self.script)
        self.script.BUILD = self.folder
        self.script.PAGE = self.folder / "page.md"
        self.program("make-seeds", "")

    def program(self, name: str, does: str) -> None:
        (self.folder / "fuzz").mkdir(exist_ok=True)
        file = self.folder / "fuzz" / name
        prefix = "for one in \"$@\"; do case $one in -artifact_prefix=*) at=${one#*=};; esac; done"
        file.write_text(f"#!/bin/bash\n{prefix}\n{does}\n")
        file.chmod(0o755)

    def run_script(self, *arguments: str) -> tuple[int, str, str]:
        with mock.patch.object(sys, "argv", ["fuzz", "--no-build", "--for", "1s", *arguments]), \
                contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            status = self.script.main()
        return status, out.getvalue(), err.getvalue()

    def test_a_run_that_finds_nothing(self) -> None:
        self.program("fuzz_rmpp", f"echo '{RAN}'")
        status, out, _ = self.run_script("rmpp")
        self.assertEqual(status, 0)
        self.assertRegex(out, r"\| `rmpp` \| \d+ \| 12 \| 34 \| 0 \| 0 \|")

    def test_a_finding_is_named_and_makes_the_exit_code(self) -> None:
        self.program("fuzz_rmpp", f"echo '{RAN}'; echo x > $at/crash-$$; exit 77")
        status, out, err = self.run_script("rmpp")
        self.assertEqual(status, 1)
        self.assertRegex(out, r"\| [1-9]\d* \|$")
        self.assertIn(f"rmpp found {self.folder}/findings/rmpp/crash-", err)
        # What was found before is not found again.
        self.program("fuzz_rmpp", f"echo '{RAN}'")
        self.assertEqual(self.run_script("rmpp")[0], 0)

    def test_one_that_cannot_run_is_no_success(self) -> None:
        self.program("fuzz_rmpp", "exit 1")
        status, _, err = self.run_script("rmpp")
        self.assertEqual(status, 3)
        self.assertIn("rmpp did not run", err)

    def test_the_table_keeps_the_rows_of_the_others(self) -> None:
        head = self.script.HEAD
        self.script.PAGE.write_text(f"before\n\n{head}| `links` | 7 | 8 | 9 | 1 | 0 |\n| `rmpp` | 1 | 1 | 1 | 1 | 1 |\n\nafter\n")
        self.program("fuzz_rmpp", f"echo '{RAN}'")
        self.assertEqual(self.run_script("--table", "rmpp")[0], 0)
        self.assertRegex(self.script.PAGE.read_text(),
                         r"\| `links` \| 7 \| 8 \| 9 \| 1 \| 0 \|\n\| `rmpp` \| \d+ \| 12 \| 34 \| 0 \| 0 \|\n\nafter\n$")


if __name__ == "__main__":
    unittest.main()
