#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/field-problems.md: every row says what finds the trouble, and that is so."""
import re
import shlex
import unittest

from program import SOURCE, conform

PAGE = SOURCE / "docs/field-problems.md"
ROWS = 41


def rows():
    found = []
    for line in PAGE.read_text().splitlines():
        if re.match(r"\| \d+ \|", line):
            found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def in_backquotes(cell):
    return re.findall(r"`([^`]+)`", cell)


class FieldProblems(unittest.TestCase):
    def test_every_row_is_there_once_and_the_count_is_right(self):
        self.assertEqual([row[0] for row in rows()], [str(number) for number in range(1, ROWS + 1)])
        counts = {now: sum(row[2] == now for row in rows()) for now in "FPN"}
        self.assertEqual(sum(counts.values()), ROWS)
        self.assertGreaterEqual(counts["F"], 25)
        self.assertIn(f"{counts['F']} are F, {counts['P']} P, {counts['N']} N.", PAGE.read_text())

    def test_what_is_named_as_shown_by_a_test_is_in_that_file(self):
        for number, trouble, now, what, command, shown in rows():
            with self.subTest(row=number, trouble=trouble):
                self.assertNotEqual(what, "")
                if now == "F":
                    self.assertTrue(command or in_backquotes(shown), "nothing finds it")
                    self.assertTrue(shown)
                for name in in_backquotes(shown):
                    file, test = name.split(": ", 1)
                    wanted = f'TEST_CASE("{test}")' if file.endswith(".cpp") else f"def {test}("
                    self.assertIn(wanted, (SOURCE / file).read_text())

    def test_every_command_runs_and_finds_what_it_is_named_for(self):
        ran = {}
        for number, trouble, now, what, command, shown in rows():
            for words in in_backquotes(command):
                with self.subTest(row=number, command=words):
                    if words not in ran:
                        ran[words] = conform(*shlex.split(words)[1:], cwd=SOURCE, timeout=300)
                    run = ran[words]
                    self.assertIn(run.returncode, (0, 1, 4, 5), run.stderr)
                    if now == "F" and " run " in words:
                        self.assertEqual(run.returncode, 1, run.stdout)
                    # A trouble that a capture, or a list and hosts, show is told by its name.
                    names = [name for name in in_backquotes(what) if re.fullmatch(r"[a-z-]+", name)]
                    if ("--host-state" in words or " links " in words) and names:
                        self.assertTrue(any(name in run.stdout for name in names), run.stdout)
                    if shown == "the command":
                        self.assertEqual(run.returncode, 1, run.stdout)


if __name__ == "__main__":
    unittest.main()
