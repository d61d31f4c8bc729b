#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`selftest` and `profile` as a person or a script would call them."""
import json
import re
import sys
import unittest
from pathlib import Path

from active import BREAKING_ADAPTER, CASE, Active
from program import IS_SANITIZED, SOURCE, Folder, conform


class Selftest(Folder):
    def test_every_mutant_dies_and_every_case_kills(self):
        # Under sanitizers with a part of the cases: verdicts are the same there.
        run = conform("selftest", *(["rfc4391/6", "rfc4755/6"] if IS_SANITIZED else []), timeout=300)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertRegex(run.stdout, rf"(?m)^dead +reserved-not-zero +{CASE}")
        self.assertNotIn("ALIVE", run.stdout)
        self.assertEqual(run.stderr, "")

    def test_the_matrix_as_json(self):
        path = self.folder / "matrix.json"
        self.assertEqual(conform("selftest", "rfc4391/6", "rfc4755/6", "--json", path, timeout=300).returncode, 0)
        matrix = json.loads(path.read_text())
        self.assertEqual((matrix["format"], matrix["complete"]), ("ipoib-conform-kill-matrix/1", True))
        mutants = {mutant["name"]: mutant for mutant in matrix["mutants"]}
        one = mutants["reserved-not-zero"]
        self.assertEqual((one["kind"], one["fate"], one["breaks"]), ("stack", "dead", ["RFC4391-6-02"]))
        self.assertIn(CASE, one["cases"])
        self.assertIn("RULE-RFC4391-6-02", one["rules"])
        self.assertIn("reserved-not-zero", {case["id"]: case["finds"] for case in matrix["cases"]}[CASE])
        permitted = mutants["permitted-short-advertisement"]
        self.assertEqual((permitted["fate"], permitted["cases"], permitted["rules"]), ("permitted", [], []))

    def test_outputs_that_cannot_be_are_refused_before_anything_runs(self):
        same = self.folder / "same"
        for arguments in (["--json", same, "--markdown", same], ["--pages", Path(__file__) / "none"],
                          [CASE, "--pages", self.folder], ["--json", "-"], ["--pages", ""]):
            run = conform("selftest", *arguments)
            self.assertEqual((run.returncode, run.stdout), (2, ""), arguments)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_selector_that_matches_no_case_is_a_usage_error(self):
        self.assertEqual(conform("selftest", "nonsense").returncode, 2)
        self.assertEqual(conform("selftest", "RULE-RFC4391-6-02").returncode, 2)


class Metamorphic(Folder):
    """The whole bounded run is the test `metamorphic`."""

    def test_relations_that_hold(self):
        run = conform("selftest", "--metamorphic", "--sources", "profile", "--relation", "doubled", "--relation", "split")
        self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout)
        self.assertRegex(run.stdout, r"(?m)^\d+ variants, \d+ a minute, 0 broken relations$")
        again = conform("selftest", "--metamorphic", "--sources", "profile", "--relation", "doubled", "--relation", "split")
        self.assertEqual(*(re.search(r"(\d+) variants, ", one.stdout)[1] for one in (again, run)))

    def test_what_is_known_to_be_broken_and_is_not_is_told(self):
        known = self.write("known", b"# none\nloss-one RULE-RFC4391-6-02 appears\n")
        run = conform("selftest", "--metamorphic", "--sources", "none", SOURCE / "captures/broken.pcap", "--known", known,
                      "--relation", "loss-one")
        self.assertEqual(run.returncode, 1)
        self.assertIn("no longer broken: loss-one RULE-RFC4391-6-02 appears", run.stdout)

    def test_decisiveness_must_not_fall(self):
        page = self.folder / "page.md"
        arguments = ("selftest", "--metamorphic", "--sources", "sample", "--relation", "split")
        self.assertEqual(conform(*arguments, "--decisiveness", page).returncode, 0)
        self.assertEqual(conform(*arguments, "--not-below", page).returncode, 0)
        more = re.sub(r"(\| RFC4391-6-02 \| )(\d+)", lambda found: found[1] + str(int(found[2]) + 1), page.read_text())
        page.write_text(more)
        run = conform(*arguments, "--not-below", page)
        self.assertEqual(run.returncode, 1)
        self.assertIn('less decisive: RFC4391-6-02 is judged in', run.stdout)

    def test_for_a_time_by_chance_and_by_seed(self):
        run = conform("selftest", "--metamorphic", "--sources", "sample", "--relation", "clock-shifted", "--for", "1s",
                      "--seed", "7")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("sources, seed 7", run.stdout)

    def test_one_variant_again(self):
        run = conform("selftest", "--metamorphic", "--variant", "renamed/profile:nd/6", "--sources", "profile")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertRegex(run.stdout, r"(?m)^1 variants, ")

    def test_the_folder_for_frames_is_made(self):
        run = conform("selftest", "--metamorphic", "--variant", "renamed/profile:nd/6", "--sources", "profile", "--frames",
                      self.folder / "new/frames")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue((self.folder / "new/frames").is_dir())

    def test_what_cannot_be_is_refused(self):
        for arguments in (["--relation", "nonsense"], ["--sources", "nonsense"], ["--for", "soon"], ["--for", "0s"],
                          ["--variant", "loss-one"], ["--variant", "loss-one/nobody/1"], ["--full"], ["--json", "x"],
                          ["--known", self.folder / "none"], ["--frames", Path(__file__) / "none"],
                          ["--not-below", __file__], [self.folder / "none"]):
            run = conform("selftest", "--metamorphic", "--sources", "sample", *arguments)
            self.assertEqual((run.returncode, run.stdout), (2, ""), arguments)
        self.assertEqual(conform("selftest", "--for", "1s").returncode, 2)


class Recall(Folder):
    """A sample of all situations is the test `recall`."""

    def test_one_situation_and_its_page(self):
        page = self.folder / "page.md"
        run = conform("selftest", "--recall", "group-anew", "--markdown", page)
        self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout)
        self.assertRegex(run.stdout, r"(?m)^mean over cells with PSNs: [0-9.]+ % at rest, [0-9.]+ % after changes")
        self.assertRegex(run.stdout, r"(?m)^0 of \d+ legal worlds accused, and with losses 0 of them")
        self.assertIn("| RFC4391-10-03 | stale MLID |", page.read_text())
        again = conform("selftest", "--recall", "group-anew")
        self.assertEqual(again.stdout, run.stdout)

    def test_frames_of_what_is_not_found(self):
        folder = self.folder / "new/frames"
        run = conform("selftest", "--recall", "ip-move", "--frames", folder)
        self.assertEqual(run.returncode, 0, run.stdout)
        files = list(folder.glob("*.pcapng"))
        self.assertTrue(files)
        for file in files:
            self.assertRegex(file.name, r"^ip-move,ipv[46],[12][^-]*--RFC[0-9A-Z.-]+--[A-Za-z0-9_-]+--\d+\.pcapng$")
        self.assertIn("0 FAIL", conform("check", files[0]).stdout)

    @unittest.skipIf(IS_SANITIZED, "verdicts are the same there")
    def test_a_floor_may_only_rise(self):
        floor = self.folder / "floor"
        self.assertEqual(conform("selftest", "--recall", "--floor", floor).returncode, 0)
        self.assertEqual(conform("selftest", "--recall", "--not-below", floor).returncode, 0)
        lines = floor.read_text().splitlines()
        raised = next(line for line in lines if not line.startswith("#"))
        key = raised.rsplit(" ", 1)[0]
        floor.write_text("\n".join(f"{key} 100.0" if line == raised else line for line in lines))
        run = conform("selftest", "--recall", "--not-below", floor)
        self.assertEqual(run.returncode, 1)
        self.assertIn(f"less is found: {key}: ", run.stdout)

    def test_what_cannot_be_is_refused(self):
        for arguments in (["nonsense"], ["--full"], ["--json", "x"], ["--metamorphic"], ["--not-below", __file__],
                          ["--not-below", self.folder / "none"], ["--frames", Path(__file__) / "none"],
                          ["restart", "--floor", self.folder / "floor"]):
            run = conform("selftest", "--recall", *arguments)
            self.assertEqual((run.returncode, run.stdout), (2, ""), arguments)
        for arguments in (["--whole"], ["--floor", "x"], ["--frames", "x"], ["--not-below", "x"],
                          ["--metamorphic", "--markdown", "x"]):
            self.assertEqual(conform("selftest", *arguments).returncode, 2, arguments)


class ProfileCommand(Active):
    def test_what_the_dut_answers_becomes_a_profile_that_run_takes(self):
        run = conform("profile", "--dut", "reference")
        self.assertEqual(run.returncode, 0, run.stderr)
        for words in ('name = "ipoib-conform reference"', "mtu = 2044", 'modes = ["datagram"]',
                      'guid_format = "unknown"', 'interface_id = "guid"', 'addresses = ["10.1.0.9/24"]',
                      'tester = ["10.1.0.1/24"]'):
            self.assertIn(words, run.stdout)
        profile = self.write("DUT.toml", run.stdout.encode())
        self.assertEqual(self.verdicts("--profile", profile, CASE)[CASE], "PASS")

    def test_a_dut_that_answers_nothing_has_no_profile(self):
        self.assertEqual(conform("profile", "--dut", "none").returncode, 2)
        run = conform("profile", "--listen", self.folder / "port", "--dut", "exec:exit 3")
        self.assertEqual((run.returncode, run.stdout), (3, ""))
        self.assertIn("could not be asked", run.stderr)
        adapter = self.write("adapter.py", BREAKING_ADAPTER.encode())
        run = conform("profile", "--listen", self.folder / "port", "--timeout-scale", "0.1",
                      "--dut", f"exec:{sys.executable} {adapter} not never")
        self.assertEqual((run.returncode, run.stdout), (3, ""))
        self.assertIn("could not be asked: nobody tells an address of the DUT", run.stderr)
        self.assertFalse((self.folder / "port").exists())


if __name__ == "__main__":
    unittest.main()
