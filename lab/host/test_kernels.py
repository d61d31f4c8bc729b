# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the choice of kernels, of their trees and of the matrix, without a network and without guests."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
import tempfile
import unittest
from collections.abc import Iterable
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))

import kernel
import kernels
import matrix
import options
import packages
import report
import suite_tree
from supervisor import Interrupted
from tools import LabError, UsageError, write_whole

NAMES = ["linux-image-7.3.4+deb13-amd64", "linux-image-7.3.10+deb13-amd64", "linux-image-7.3.9+deb13-rt-amd64",
         "linux-image-7.3.4+deb13-amd64-unsigned", "linux-image-7.3.9+deb13-cloud-amd64", "linux-image-7.2.6+deb13-amd64",
         "linux-image-7.2.12+deb13-amd64", "linux-image-amd64", "linux-image-7.2.13+deb13-amd64",
         *(f"linux-headers-{one}+deb13-amd64" for one in ("7.3.4", "7.3.10", "7.2.6", "7.2.12"))]


class Names(unittest.TestCase):
    def test_a_series_or_one_kernel_of_another_suite_is_known(self) -> None:
        self.assertEqual(kernels.known("6.12").suite, None)
        self.assertEqual(kernels.known("7.3").pinned, "7.3.4")
        self.assertEqual((kernels.known("7.2.6").name, kernels.known("7.2.6").pinned), ("7.2.6", "7.2.6"))
        self.assertEqual(kernels.known("sid").suite, kernels.SID)

    def test_a_wrong_name_is_answered_with_those_that_there_are(self) -> None:
        for name in ("6.2", "7.30", "6.1.5", "7.3.x", "nowhere", ""):
            with self.subTest(name), self.assertRaisesRegex(UsageError, "6.1, 6.12, .*sid "):
                kernels.known(name)

    def test_the_usual_flavour_counts_where_modules_can_be_built_for_it(self) -> None:
        self.assertEqual(list(kernels.releases(NAMES, "7.3").items()), [("7.3.4", NAMES[0]), ("7.3.10", NAMES[1])])
        self.assertEqual(list(kernels.releases(NAMES, "")), ["7.2.6", "7.2.12", "7.3.4", "7.3.10"])
        usual = [f"linux-{part}-6.1.0-{build}-amd64" for part in ("image", "headers") for build in (9, 56)]
        self.assertEqual(list(kernels.releases(usual, "6.1")), ["6.1.0-9", "6.1.0-56"])

    def test_a_pinned_kernel_is_taken_also_where_there_is_a_newer_one(self) -> None:
        self.assertEqual(kernels.image_among(kernels.known("7.3"), NAMES), NAMES[0])
        self.assertEqual(kernels.image_among(kernels.known("7.2"), NAMES), "linux-image-7.2.12+deb13-amd64")
        self.assertEqual(kernels.image_among(kernels.known("7.2.6"), NAMES), "linux-image-7.2.6+deb13-amd64")

    def test_a_kernel_that_has_gone_is_told_with_what_is_left_of_its_series(self) -> None:
        with self.assertRaisesRegex(LabError, r"trixie-backports has no kernel 7\.3\.4 any more.*; of 7\.3 it has 7\.3\.10:"):
            kernels.image_among(kernels.known("7.3"), NAMES[1:])
        with self.assertRaisesRegex(LabError, "no kernel sid any more, with what its modules are built with$"):
            kernels.image_among(kernels.known("sid"), [])


class Options(unittest.TestCase):
    def test_a_folder_is_a_tree_and_anything_else_must_be_a_name(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(options.parse(["run", "--kernel", folder])[0].kernel, Path(folder))
        self.assertEqual(options.parse(["run", "--kernel", "7.3"])[0].kernel, "7.3")
        for words in (("run", "--kernel", "6.13"), ("shell", "--kernel", "no/where"), ("matrix", "--kernels", "6.1,7"),
                      ("matrix", "--runs", "datagram,router"), ("ipoib-source", "x", "--kernel", "/")):
            with self.subTest(words), self.assertRaises(UsageError):
                options.parse(words)

    def test_a_matrix_has_the_usual_kernels_and_runs_unless_told(self) -> None:
        one, rest = options.parse(["matrix", "--html", "x.html", "--", "rfc4391/6"])
        self.assertEqual((one.kernels, one.runs, one.words), (list(kernels.USUAL), list(matrix.USUAL), ["rfc4391/6"]))
        self.assertEqual(rest, ["--html", "x.html"])
        one, rest = options.parse(["matrix", "--kernels", "7.3,6.1,7.3", "--runs", "connected"])
        self.assertEqual((one.kernels, one.runs), (["7.3", "6.1"], ["connected"]))


class FakeApt:
    """Knows packages by what they depend on."""

    def __init__(self, depends: dict[str, str]) -> None:
        self._depends = depends

    def names(self, prefix: str = "") -> set[str]:
        return {name for name in self._depends if name.startswith(prefix)}

    def show(self, names: Iterable[str]) -> dict[str, packages.Package]:
        return {name: packages.Package(name, "1", "amd64", "", self._depends[name])
                for name in names if name in self._depends}

    def listed(self, name: str) -> list[packages.Package]:
        return list(self.show([name]).values())

    installable = listed


class Tree(unittest.TestCase):
    depends = {"linux-image-7.3.4+deb13-amd64": "dracut, linux-base-7.3.4+deb13-amd64, linux-binary-7.3.4+deb13-amd64, "
                                                "linux-modules-7.3.4+deb13-amd64",
               "linux-headers-7.3.4+deb13-amd64": "gcc-14-for-host, linux-base (>= 4), linux-headers-7.3.4+deb13-common, "
                                                  "linux-kbuild-7.3.4+deb13",
               "linux-headers-7.3.4+deb13-common": "", "linux-kbuild-7.3.4+deb13": "libelf1t64, libc6",
               "linux-base-7.3.4+deb13-amd64": "", "linux-binary-7.3.4+deb13-amd64": "",
               "linux-modules-7.3.4+deb13-amd64": "", "linux-base": "debconf", "debconf": "", "dracut": "",
               "gcc-14-for-host": "libgcc-14-dev, libc6", "libgcc-14-dev": "libasan8, libgcc-s1", "libasan8": "",
               "libgcc-s1": "", "libc6": "", "libelf1t64": "", "make": "libc6", "dash": "debianutils", "coreutils": "",
               "sed": "", "grep": "", "mawk": "", "findutils": "", "binutils": "", "debianutils": ""}

    def test_it_has_the_kernel_its_compiler_and_libc_and_no_more(self) -> None:
        found = {p.name for p in suite_tree.plan(FakeApt(self.depends), "linux-image-7.3.4+deb13-amd64")}
        self.assertEqual(self.depends.keys() - found, {"linux-base", "debconf", "dracut", "libasan8", "debianutils"})
        self.assertLessEqual(found, self.depends.keys())

    def test_a_suite_without_a_program_of_the_tree_is_told(self) -> None:
        without = {name: depends for name, depends in self.depends.items() if name != "make"}
        with self.assertRaisesRegex(LabError, "make"):
            suite_tree.plan(FakeApt(without), "linux-image-7.3.4+deb13-amd64")

    def test_what_make_sees_is_below_the_tree(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            self.assertFalse(suite_tree.is_tree(root))
            suite_tree.lay_out(root)
            self.assertTrue(suite_tree.is_tree(root))
            self.assertEqual((root / "lib64").resolve(), root.resolve() / "usr/lib64")
            one = kernel.Kernel("7.3", root / "vmlinuz", root / "usr/src/h", {}, frozenset(), {}, root / "made", [], root)
            self.assertEqual(one.as_make_sees(one.workshop / "vib"), "/lab/vib")

    def test_a_tree_that_nobody_may_enter_is_told_with_the_reason(self) -> None:
        def refuse(*_: object) -> str:
            raise LabError("entering it failed: Operation not permitted")

        with tempfile.TemporaryDirectory() as folder:
            suite_tree.lay_out(Path(folder))
            with mock.patch.object(suite_tree, "run", refuse), mock.patch("os.geteuid", return_value=1000), \
                    self.assertRaisesRegex(LabError, "(?s)user namespaces.*not permitted"):
                suite_tree.entering(Path(folder))


class Fetched(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        write_whole(self.folder / "stamp", "x\ny\nlinux-image-6.1.0-56-amd64 6.1.192-2 ab\n")
        write_whole(self.folder / "kernels/7.3/stamp", "x\ny\nlinux-image-7.3.4+deb13-amd64 7.3.4 ab\n")
        write_whole(self.folder / "kernels/9.9/stamp", "x\ny\nlinux-image-9.9.1+deb13-amd64 9.9.1 ab\n")

    def test_the_usual_kernel_has_its_series_for_a_name(self) -> None:
        with mock.patch.object(packages, "prepare", return_value=self.folder / "root") as usual:
            self.assertEqual(kernels.prepare(self.folder, "6.1"), self.folder / "root")
        usual.assert_called_once()

    def test_one_that_has_gone_keeps_no_other_from_being_refreshed(self) -> None:
        write_whole(self.folder / "kernels/7.2/stamp", "x\ny\n")

        def prepare(folder: Path, name: str, refresh: bool) -> Path:
            if name == "7.2":
                raise LabError("it has gone")
            return folder / name

        said = io.StringIO()
        with mock.patch.object(kernels, "prepare", prepare), contextlib.redirect_stderr(said):
            self.assertEqual(list(kernels.refresh(self.folder)), [("7.3", self.folder / "7.3")])
        self.assertIn("7.2 stays as it is: it has gone", said.getvalue())

    def test_what_is_fetched_and_known_is_listed(self) -> None:
        self.assertEqual(kernels.fetched(self.folder), ["7.3"])
        apt = mock.Mock(names=lambda prefix: {*NAMES, "linux-image-6.1.0-56-amd64", "linux-headers-6.1.0-56-amd64"})
        with mock.patch.object(kernels, "_apt", return_value=apt):
            rows = [line.split("  ") for line in kernels.table(self.folder).splitlines()]
        told = {row[0]: [cell.strip() for cell in row if cell][1:] for row in rows}
        self.assertEqual(told["6.1"], ["the machine's", "6.1.0-56-amd64", "6.1.0-56-amd64"])
        self.assertEqual(told["6.12"][:2], ["the machine's", "-"])
        self.assertTrue(told["6.12"][2].startswith("no: the machine's apt has no kernel 6.12"))
        self.assertEqual(told["7.3"], ["trixie-backports", "7.3.4+deb13-amd64", "7.3.4+deb13-amd64"])
        self.assertEqual(told["7.2"], ["trixie-backports", "-", "7.2.12+deb13-amd64"])

    def test_a_suite_that_cannot_be_reached_is_told_and_keeps_nothing_else_from_being_listed(self) -> None:
        def apt(_: Path, one: kernels.Known) -> mock.Mock:
            return mock.Mock(names=lambda prefix: {"linux-image-6.1.0-56-amd64", "linux-headers-6.1.0-56-amd64"},
                             update=mock.Mock(side_effect=LabError("no")))

        with mock.patch.object(kernels, "_apt", apt):
            rows = kernels.table(self.folder).splitlines()
        self.assertEqual([row.split()[0] for row in rows if row.endswith("no: it cannot be reached")],
                         ["7.2", "7.3", "trixie", "sid"])


class Matrix(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    @staticmethod
    def results(**verdicts: str) -> str:
        results = [{"id": name, "verdict": verdict, "message": f"{name} was seen"} for name, verdict in verdicts.items()]
        return json.dumps({"dut": {"kernel": "k"}, "results": results, "requirements": results})

    def judge(self, name: str, kind: report.Kind, file: Path) -> int:
        if name == "6.12":
            raise LabError("Debian has it no more\nmore words")
        if kind.role == "host":
            write_whole(file, self.results(A="PASS", B="FAIL" if name == "7.3" else "PASS"))
        return 1

    def test_every_kernel_is_judged_and_what_is_missing_has_a_reason(self) -> None:
        runs = ["datagram", "connected"]
        with contextlib.redirect_stderr(io.StringIO()):
            matrix.judge_all(self.folder, ["6.1", "6.12", "7.3"], runs, self.judge)
        self.assertEqual(sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("results.json*")),
                         ["6.1/connected/results.json.error", "6.1/datagram/results.json",
                          "6.12/connected/results.json.error", "6.12/datagram/results.json.error",
                          "7.3/connected/results.json.error", "7.3/datagram/results.json"])
        self.assertEqual((self.folder / "6.12/datagram/results.json.error").read_text(), "Debian has it no more\n")

    def test_wrong_usage_ends_it(self) -> None:
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(UsageError):
            matrix.judge_all(self.folder, ["6.1", "7.3"], ["datagram"], lambda *_: 2)
        self.assertFalse((self.folder / "7.3").exists())

    def test_a_signal_ends_it_also_where_a_run_has_handled_it(self) -> None:
        def judge(name: str, kind: report.Kind, file: Path) -> int:
            before = signal.signal(signal.SIGTERM, lambda *_: None)
            os.kill(os.getpid(), signal.SIGTERM)
            signal.signal(signal.SIGTERM, before)
            write_whole(file, self.results(A="PASS"))
            return 3

        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(Interrupted):
            matrix.judge_all(self.folder, ["6.1", "7.3"], ["datagram"], judge)
        self.assertTrue((self.folder / "6.1/datagram/results.json").is_file())
        self.assertFalse((self.folder / "7.3").exists())

    def test_the_page_tells_what_differs_and_only_that(self) -> None:
        with contextlib.redirect_stderr(io.StringIO()):
            matrix.judge_all(self.folder, ["6.1", "7.3"], ["datagram"], self.judge)
        page = matrix.page(self.folder, ["6.1", "6.12", "7.3"], ["datagram"])
        self.assertIn("Without results: 6.12 datagram.", page)
        self.assertEqual([line for line in page.splitlines() if line.startswith("| B ")].pop().split(),
                         ["|", "B", "|", "PASS", "|", "FAIL", "|"])
        self.assertIn("- 7.3 datagram: FAIL: B was seen", page)
        self.assertNotIn("| A ", page)

    def test_what_several_guests_found_is_a_kernels_too(self) -> None:
        merged = {"hosts": [{"name": "vm", "verdict": "PASS"}], "results": [{"id": "A", "host": "vm"}], "captures": [{}]}
        self.assertEqual(matrix.as_host(merged, "6.1"), {"hosts": [{"name": "6.1", "verdict": "PASS"}],
                                                         "results": [{"id": "A", "host": "6.1"}], "captures": [{}]})
        write_whole(matrix.results_file(self.folder, "6.1", "datagram"), json.dumps(merged))
        with mock.patch("subprocess.run", return_value=mock.Mock(returncode=5)) as run:
            self.assertEqual(matrix.merge(Path("conform"), self.folder, ["6.1", "7.3"], ["datagram"], ["--quiet"]), 5)
        self.assertEqual(run.call_args.args[0], ["conform", "merge", str(self.folder / "6.1/datagram/named.json"),
                                                 f"7.3={self.folder}/7.3/datagram/results.json", "--quiet"])

    def test_words_go_to_the_runs_or_to_the_report_and_a_baseline_to_the_runs(self) -> None:
        of_runs, of_report = matrix.split_words(["rfc4391/6", "--junit", "x.xml", "--expect", "b.toml", "--strict",
                                                 "--seed=3"])
        self.assertEqual(of_runs, ["rfc4391/6", "--seed=3", "--expect", "b.toml", "--strict"])
        self.assertEqual(of_report, ["--junit", "x.xml", "--strict", "--seed=3"])


if __name__ == "__main__":
    unittest.main()
