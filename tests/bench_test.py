#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/bench: what it says beside an earlier run, whatever that record is like; and that each part does measure."""
import json
import os
import subprocess
import sys
import unittest

from program import SOURCE, Folder

sys.path.insert(0, str(SOURCE / "bench"))
from record import Record  # noqa: E402


class Recorded(Folder):
    def record(self, **ratios):
        record = Record(self.folder / "recorded.json", "release")
        for name, ratio in ratios.items():
            record.keep(name, ratio, is_rate=name.startswith("rate"))
        return record

    def said(self, content, **ratios):
        (self.folder / "recorded.json").write_text(content if isinstance(content, str) else json.dumps(content))
        return self.record(**ratios).compare()

    def test_what_is_worse_by_more_than_a_seventh_is_told_and_nothing_else(self):
        before = {"release": {"a": {"ratio": 1.0}, "b": {"ratio": 1.0}, "rate c": {"ratio": 2.0, "rate": True},
                              "rate d": {"ratio": 2.0, "rate": True}, "gone": {"ratio": 7}}}
        self.assertEqual(self.said(before, **{"a": 1.2, "b": 1.1, "rate c": 1.6, "rate d": 2.9}),
                         ["slower than recorded: a: 1.2, was 1", "slower than recorded: rate c: 1.6, was 2"])
        self.assertEqual(self.said(before, **{"a": 0.1, "rate c": 9}), ["Nothing of 2 ratios is slower than recorded."])

    def test_programs_of_another_preset_are_no_measure(self):
        said = self.said({"test": {"a": {"ratio": 1}}}, a=9)
        self.assertEqual(len(said), 1)
        self.assertIn("nothing is recorded yet of the preset release", said[0])

    def test_rows_that_are_missing_are_named(self):
        said = self.said({"release": {"a": {"ratio": 1}}}, a=1, new=3)
        self.assertEqual(said, ["not recorded yet: new", "Nothing of 1 ratios is slower than recorded."])

    def test_no_file_and_damaged_files_are_told_and_end_nothing(self):
        self.assertIn("nothing is recorded yet", self.record(a=1).compare()[0])
        for content in ("", "{", "[]", "7", '{"release": []}', "\x00\xff", '{"release": {"a": {"ratio": 1}'):
            with self.subTest(content=content):
                said = self.said(content, a=1)
                self.assertEqual(len(said), 1)
                self.assertIn("cannot be read", said[0])

    def test_rows_that_are_no_ratios_are_passed_over(self):
        for row in (None, 1, "1", {}, {"ratio": "1"}, {"ratio": None}, {"ratio": 0}, {"ratio": -1}, {"ratio": True},
                    {"ratio": float("nan")}, {"ratio": float("inf")}):
            with self.subTest(row=row):
                said = self.said({"release": {"a": row, "b": {"ratio": 1}}}, a=5, b=5)
                self.assertEqual(said, ["recorded, but as no ratio: a", "slower than recorded: b: 5, was 1"])

    def test_what_is_recorded_is_what_is_compared_with_and_other_rows_stay(self):
        for content in (None, "{", json.dumps({"test": {"x": {"ratio": 1}}, "release": {"y": {"ratio": 2}, "z": 3}})):
            with self.subTest(content=content):
                if content:
                    (self.folder / "recorded.json").write_text(content)
                self.record(a=1.23456, **{"rate b": 5}).write()
                self.assertEqual(self.record(a=1.23, **{"rate b": 5}).compare(),
                                 ["Nothing of 2 ratios is slower than recorded."])
        kept = json.loads((self.folder / "recorded.json").read_text())
        self.assertEqual(kept, {"test": {"x": {"ratio": 1}},
                                "release": {"y": {"ratio": 2}, "a": {"ratio": 1.23}, "rate b": {"ratio": 5.0, "rate": True}}})


class Parts(unittest.TestCase):
    def test_the_short_form_measures_and_compares_and_fails_nothing(self):
        """With next to nothing to do: numbers are not looked at."""
        run = subprocess.run([SOURCE / "scripts/bench", "--short", "--build", os.environ["IPOIB_BUILD"], "--packets", "2000",
                              "--repeat", "1"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             timeout=300, check=False)
        self.assertEqual(run.returncode, 0, run.stdout)
        for words in ("x check", "x fwrite of the same records", "x packets that are only numbered", "fabric of 1000 ports, join",
                      "schedules", "start-up of check", "slower than recorded"):
            self.assertIn(words, run.stdout)

    def test_parts_that_are_not_there_are_named(self):
        run = subprocess.run([SOURCE / "scripts/bench", "--short", "--only", "nothing"], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(run.returncode, 2)
        self.assertIn("'nothing' is none of judging, threads", run.stdout)


if __name__ == "__main__":
    unittest.main()
