# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of how changed drivers are read, judged and written up, without a guest."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import unittest
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import mutant_judge
import mutant_report
import mutants
import place
from mutants import Finding, Setting, State, Verdict
from tools import LabError

HEAD = "Breaks: all.\nSeen-by: peer\nRole: host\nFabric: lab\nScenario: default\nCases: IPOIB-1 IPOIB-2\n"
DIFF = """\
--- a/drivers/infiniband/ulp/ipoib/a.c
+++ b/drivers/infiniband/ulp/ipoib/a.c
@@ -1,3 +1,3 @@
 one
-two
+2
 three
"""


def result(identifier: str, verdict: str, cases: Sequence[str] = ()) -> dict:
    return {"id": identifier, "verdict": verdict, "type": "", "checks": ["R-1"], "message": "", "parts": [],
            "cases": [{"id": case} for case in cases]}


class Heads(unittest.TestCase):
    def test_a_head_is_read(self) -> None:
        one = mutants.parse("one", HEAD + "Blind: yes\nBlames: RFC4391-9 RFC4392-1\n---\n" + DIFF)
        self.assertEqual((one.setting, one.cases, one.is_blind, one.is_seen),
                         (Setting("host", "lab", "default"), ("IPOIB-1", "IPOIB-2"), True, True))
        self.assertEqual((one.blames, one.files), (("RFC4391-9", "RFC4392-1"), ("ulp/ipoib/a.c",)))
        self.assertEqual(one.settings(), [Setting("host", "lab", "default"), Setting("host", "simulated", "default")])

    def test_what_is_wrong_with_a_head_is_said(self) -> None:
        whole = HEAD + "---\n" + DIFF
        wrong = {"no line ---": HEAD + DIFF, "Breaks is missing": whole.replace("Breaks: all.\n", ""),
                 "'Color: red' is none of": "Color: red\n" + whole, "Seen-by is god": whole.replace("peer", "god"),
                 "Role is bridge": whole.replace("host", "bridge"), "Breaks is there twice": "Breaks: x\n" + whole,
                 "Fabric is verbs": whole.replace(": lab", ": verbs"),
                 "changes nothing below": whole.replace("b/drivers/infiniband", "b/net"),
                 "it changes nothing": whole.replace("b/drivers/infiniband/ulp", "b/drivers/infiniband/../..")}
        for words, text in wrong.items():
            with self.subTest(words), self.assertRaisesRegex(LabError, "one: .*" + words.removeprefix("no line ")):
                mutants.parse("one", text)

    def test_those_of_this_folder_name_cases_that_there_are(self) -> None:
        every = mutants.load(place.SOURCE / "lab/mutants")
        self.assertGreaterEqual(sum(not one.is_blind for one in every), 30)
        self.assertGreaterEqual(sum(one.is_blind for one in every), 10)
        there = {path.stem for path in (place.SOURCE / "docs/cases").glob("IPOIB-*.md")}
        for one in every:
            self.assertEqual({case for case in one.cases if case.startswith("IPOIB-")} - there, set(), one.name)
            self.assertTrue(one.breaks.endswith("."), one.name)

    def test_names_choose(self) -> None:
        every = [mutants.parse(name, HEAD + "---\n" + DIFF) for name in ("a", "b")]
        self.assertEqual(mutants.chosen(every, []), every)
        self.assertEqual(mutants.chosen(every, ["b"]), every[1:])
        with self.assertRaisesRegex(LabError, "no mutant c"):
            mutants.chosen(every, ["c"])


class Applied(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for part in ("core", "ulp/ipoib"):
            (self.folder / "pristine" / part).mkdir(parents=True)
            (self.folder / "pristine" / part / "a.c").write_text("one\ntwo\nthree\n")

    def test_a_copy_is_changed_and_only_what_is_needed_is_there(self) -> None:
        for part, names in (("ulp/ipoib", ["ulp"]), ("core", ["core", "ulp"])):
            one = mutants.parse("one", HEAD + "---\n" + DIFF.replace("ulp/ipoib", part))
            mutants.apply(one, self.folder / "pristine", self.folder / "copy")
            self.assertEqual((self.folder / "copy" / part / "a.c").read_text(), "one\n2\nthree\n")
            self.assertEqual(sorted(path.name for path in (self.folder / "copy").iterdir() if path.is_dir()), names)
            self.assertEqual((self.folder / "pristine" / part / "a.c").read_text(), "one\ntwo\nthree\n")

    def test_the_planted_faults_are_of_roles_that_fuzz_has(self) -> None:
        planted = mutants.load(place.SOURCE / "lab/planted")
        self.assertGreaterEqual(len(planted), 8)
        self.assertLessEqual({one.setting.role for one in planted}, {"host", "connected"})
        with self.assertRaisesRegex(LabError, "no-such"):
            mutants.chosen(planted, ["no-such"])

    def test_a_patch_that_does_not_fit_is_an_error_with_its_name(self) -> None:
        one = mutants.parse("one", HEAD + "---\n" + DIFF.replace("-two", "-zwei"))
        with self.assertRaisesRegex(LabError, "applying one"):
            mutants.apply(one, self.folder / "pristine", self.folder / "copy")


class FakeLaboratory(mutant_judge.Laboratory):
    """Its runs are told beforehand: (setting, cases) to results; what it was asked is in `asked`."""

    answers: dict[tuple[str, ...], dict]

    def run(self, name: str, setting: Setting, cases: Sequence[str], modules: Path | None) -> dict:
        if self.is_stopped.is_set():
            raise mutant_judge.Stopped
        self.asked.append((name, setting.fabric, *cases))
        asked = ("unchanged" if name.startswith("unchanged.") else name, setting.fabric, *cases)
        for key, results in self.answers.items():
            if key == asked[:len(key)]:
                return {"results": results.pop(0) if results and isinstance(results[0], list) else results}
        return {"results": []}


class Judged(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "pristine/ulp/ipoib").mkdir(parents=True)
        (self.folder / "pristine/ulp/ipoib/a.c").write_text("one\ntwo\nthree\n")
        self.mutant = mutants.parse("one", HEAD + "---\n" + DIFF)

    def laboratory(self, answers: dict, suite: str = "s") -> FakeLaboratory:
        made = FakeLaboratory(self.folder, self.folder, self.folder / "pristine", self.folder,
                              State(self.folder / "state"), [], suite)
        made.answers, made.asked = answers, []
        return made

    def judge(self, laboratory: FakeLaboratory) -> Verdict:
        mutant_judge.judge_all(laboratory, [self.mutant], 2)
        verdict = mutant_judge.verdict_on(laboratory, self.mutant)
        assert verdict is not None
        return verdict

    def test_named_cases_that_fail_twice_are_enough(self) -> None:
        laboratory = self.laboratory({("one", "lab"): [result("IPOIB-2", "FAIL"), result("IPOIB-1", "PASS")]})
        self.assertEqual([one.id for one in self.judge(laboratory).found], ["IPOIB-2"])
        first, second, control = laboratory.asked
        self.assertEqual((first, second), (("one", "lab", "IPOIB-1", "IPOIB-2", "RULE-*"), ("one", "lab", "IPOIB-2", "RULE-*")))
        self.assertEqual(control[1:], second[1:])
        self.assertTrue(control[0].startswith("unchanged."))

    def test_what_survives_them_meets_the_whole_suite_on_both_fabrics(self) -> None:
        laboratory = self.laboratory({("one", "simulated", "IPOIB-9"): [result("RULE-1", "WARN", ["IPOIB-9"])],
                                      ("one", "simulated", "IPOIB-1"): [],
                                      ("one", "simulated"): [result("RULE-1", "WARN", ["IPOIB-9"])]})
        self.assertEqual([one.id for one in self.judge(laboratory).found], ["RULE-1"])
        self.assertEqual([asked for asked in laboratory.asked if asked[2:] == ()], [("one", "simulated")])

    def test_what_the_unchanged_driver_fails_or_what_fails_once_does_not_count(self) -> None:
        fails = [result("IPOIB-2", "FAIL")]
        laboratory = self.laboratory({("one", "lab", "IPOIB-1"): [[*fails, result("IPOIB-1", "FAIL")], fails],
                                      ("unchanged",): fails})
        verdict = self.judge(laboratory)
        self.assertEqual((verdict.found, verdict.once, verdict.is_done), ([], ["IPOIB-1"], True))

    def test_it_goes_on_where_it_was_stopped(self) -> None:
        laboratory = self.laboratory({})
        laboratory.stop()
        mutant_judge.judge_all(laboratory, [self.mutant], 1)
        self.assertIsNone(mutant_judge.verdict_on(laboratory, self.mutant))
        State(self.folder / "state").put("one", Verdict(mutant_judge._key(laboratory, self.mutant),
                                                        named=[str(one) for one in self.mutant.settings()],
                                                        settings=["host, lab, default"]))
        second = self.laboratory({})
        self.assertTrue(self.judge(second).is_done)
        self.assertEqual(second.asked, [("one", "simulated")])
        third = self.laboratory({})
        self.judge(third)
        self.assertEqual(third.asked, [])
        self.assertEqual(self.judge(self.laboratory({}, suite="another")).settings,
                         ["host, simulated, default", "host, lab, default"])

    def test_what_has_found_it_before_is_tried_first(self) -> None:
        State(self.folder / "state").put("one", Verdict("old", [Finding("IPOIB-7", "FAIL", "", [], "", "")]))
        laboratory = self.laboratory({})
        self.judge(laboratory)
        self.assertEqual(laboratory.asked[0], ("one", "lab", "IPOIB-7", "IPOIB-1", "IPOIB-2", "RULE-*"))

    def test_a_fault_of_the_judge_comes_out(self) -> None:
        laboratory = self.laboratory({("one", "lab"): None})
        with self.assertRaises(TypeError):
            self.judge(laboratory)
        self.assertEqual(threading.active_count(), 1)

    def test_what_does_not_build_is_told_and_not_missed(self) -> None:
        self.mutant = mutants.parse("one", HEAD + "---\n" + DIFF.replace("-two", "-zwei"))
        verdict = self.judge(self.laboratory({}))
        self.assertIn("applying one", verdict.problem)
        self.assertFalse(verdict.is_done)
        text = mutant_report.markdown([(self.mutant, verdict)], "6.1")
        self.assertIn("## Not judged to the end\n\n- one: applying one", text)

    def test_what_could_not_be_judged_is_tried_again(self) -> None:
        (self.folder / "pristine/ulp/ipoib/a.c").rename(self.folder / "a.c")
        self.assertTrue(self.judge(self.laboratory({})).problem)
        (self.folder / "a.c").rename(self.folder / "pristine/ulp/ipoib/a.c")
        verdict = self.judge(self.laboratory({}))
        self.assertEqual((verdict.problem, verdict.is_done), ("", True))

    def test_damaged_state_is_no_state(self) -> None:
        state = State(self.folder / "state")
        state.put("one", Verdict("k"))
        for text in ("", "[]", '{"format": 1}', '{"format": 9, "key": "k", "found": []}'):
            (self.folder / "state/one.json").write_text(text)
            self.assertIsNone(state.get("one"))


class Report(unittest.TestCase):
    def test_wilson_intervals(self) -> None:
        # Of the literature: Newcombe 1998, table I.
        for found, total, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611),
                                        (1, 29, 0.0061, 0.1718)):
            self.assertAlmostEqual(mutant_report.wilson(found, total)[0], low, 4)
            self.assertAlmostEqual(mutant_report.wilson(found, total)[1], high, 4)
        self.assertEqual(mutant_report.wilson(0, 0), (0.0, 1.0))
        self.assertAlmostEqual(mutant_report.wilson(10, 10)[1], 1.0)

    def test_recall_is_told_apart_for_the_blind_and_for_what_nobody_sees(self) -> None:
        found = Verdict("k", [Finding("IPOIB-1", "FAIL", "", ["R-1"], "", "")], is_done=True)
        missed = Verdict("k", undecided=["IPOIB-4"], is_done=True)
        named = mutants.parse("named", HEAD + "---\n" + DIFF)
        lost = mutants.parse("lost", HEAD + "Missed-because: No case waits.\n---\n" + DIFF)
        blind = mutants.parse("blind", HEAD.replace("Cases: IPOIB-1 IPOIB-2\n", "Blind: yes\n") + "---\n" + DIFF)
        unseen = mutants.parse("unseen", HEAD.replace("peer", "nobody") + "---\n" + DIFF)
        every = [(named, found), (lost, missed), (blind, found), (unseen, missed)]
        text = mutant_report.markdown(every, "6.1")
        self.assertIn("| that a peer or user can see | 2 | 1 | 1 | 0 | 50% | 9 to 91% | 1 |", text)
        self.assertIn("| blind | 1 | 1 | 0 | 0 | 100% | 21 to 100% | 0 |", text)
        self.assertIn("| that nobody can see | 1 | 0 | 1 | 0 | 0% | 0 to 79% | 0 |", text)
        self.assertIn("- **lost** (seen by peer): all. No case waits. Without a verdict: IPOIB-4.", text)
        # What is found is known before what is missed.
        text = mutant_report.markdown([*every, (named, None)], "6.1")
        self.assertIn("| that a peer or user can see | 3 | 1 | 1 | 1 | at least 33% | - | 1 |", text)
        self.assertIn("- named: not found so far", text)

    def test_a_right_finding_is_of_a_named_case_or_names_the_requirement(self) -> None:
        one = mutants.parse("one", HEAD + "Blames: RFC4391-9\n---\n" + DIFF)
        self.assertTrue(mutants.is_blamed_rightly(one, [Finding("IPOIB-2", "FAIL", "", [], "", "")]))
        self.assertTrue(mutants.is_blamed_rightly(one, [Finding("IPOIB-8", "FAIL", "", ["RFC4391-9.1-02"], "", "")]))
        self.assertFalse(mutants.is_blamed_rightly(one, [Finding("IPOIB-8", "FAIL", "", ["RFC4391-5-02"], "", "")]))


class Command(unittest.TestCase):
    def test_a_name_that_is_none_is_refused_before_anything_is_built(self) -> None:
        done = subprocess.run([sys.executable, "-B", place.SOURCE / "scripts/lab", "mutants", "nonsense"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (3, "lab: there is no mutant nonsense\n"))


if __name__ == "__main__":
    unittest.main()
