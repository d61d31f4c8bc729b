#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""explore --dut sa: what is found is told, written and played again; and what only histories find, no case does."""
import json
import re
import unittest

from program import SOURCE, Folder, conform

LAPSES = re.findall(r"^\| `([a-z0-9-]+)` \|", (SOURCE / "docs/sa-lapses.md").read_text(), re.M)
# Cases that are about what others do, and about the last group that there is room for, see some.
SEEN_BY_CASES = {"end-of-one-ends-others": "IPOIB-4392-1.3.2.3-INV-001", "second-subscriber-first": "IPOIB-4392-1.3.2.3-INV-001",
                 "refused-proxy-opens-member": "IPOIB-IBA-15.2.5.17-INV-004", "full-stays-full": "IPOIB-IBA-15.2.5.17-INO-001"}
LEAK = "--fabric", "simulated:sa-mutant=proxy-leave-keeps-mlid"


class Histories(Folder):
    def explore(self, *arguments, exit_code=0):
        run = conform("explore", "--dut", "sa", *arguments, cwd=self.folder, timeout=300)
        if exit_code is None:
            self.assertIn(run.returncode, (0, 1), run.stdout + run.stderr)
        else:
            self.assertEqual(run.returncode, exit_code, run.stdout + run.stderr)
        return run.stdout + run.stderr

    def test_an_administrator_that_is_right_is_found_right(self):
        self.assertRegex(self.explore("--seeds", "300"), r"^300 histories, .* 0 found$")

    def test_the_same_seed_plays_the_same(self):
        def found(seed):
            said = self.explore(*LEAK, "--seeds", "1000", "--seed", seed)
            return [line for line in said.splitlines() if line.startswith("    ")]
        self.assertTrue(found(7))
        self.assertEqual(found(7), found(7))

    def test_a_leak_is_suspected_confirmed_written_and_played_again(self):
        said = self.explore(*LEAK, "--seeds", "2000", "--out", ".")
        self.assertIn("SUSPICION leak: MLIDs in use are not more than groups held", said)
        self.assertRegex(said, r"CONFIRMED after \d repeats")
        self.explore(*LEAK, "--seeds", "2000", "--strict", exit_code=1)
        path = next(self.folder.glob("*-leak.json"))
        written = json.loads(path.read_text())
        self.assertLessEqual(len(written["steps"]), 3)
        self.assertEqual({port["port"] for port in written["ports"]},
                         {step[name] for step in written["steps"] for name in ("port", "of") if name in step})
        self.assertIn("SUSPICION leak", self.explore(*LEAK, "--replay", path))
        self.assertIn("0 deviations", self.explore("--replay", path))

    def test_one_that_gives_no_mlid_again_is_suspected_and_confirmed(self):
        said = self.explore("--fabric", "simulated:sa-mutant=sa-leaks-mlids", "--seeds", "20")
        self.assertRegex(said, r"(?s)before any history:\n.*SUSPICION leak.*CONFIRMED after \d+ repeats")

    def test_a_database_may_last(self):
        said = self.explore("--fabric", "simulated:sa-mutant=permitted-sa-keeps-database", "--seeds", "500")
        self.assertRegex(said, r"^500 histories, .* 0 found$")

    def test_all_transitions_as_far_as_the_time_goes(self):
        said = self.explore("--exhaustive", "0", "--for", "1s")
        self.assertRegex(said, r"\d+ of 15360 histories: 256 states of two ports, and 60 joins and leaves in each\n$")

    def test_a_requirement_that_is_violated_is_a_failure(self):
        said = self.explore("--fabric", "simulated:sa-mutant=union-of-three-ends", "--seeds", "300", exit_code=1)
        self.assertIn("FAIL states RFC4392-1.3.1.1-04", said)

    def test_what_a_wrong_administrator_deletes_ends_no_search(self):
        for mutant in ("sa-deletes-broadcast", "sa-leaks-mlids"):
            said = self.explore("--fabric", f"simulated:sa-mutant={mutant}", "--seeds", "20", exit_code=None)
            self.assertRegex(said, r"\d+ histories, .* [1-9]\d* found")

    def test_steps_of_what_is_not_there_are_told(self):
        path = self.write("other.json", b'{"explore-sa": 2, "steps": [{"do": "join", "port": 0, "group": "ip-1", "states": 1},'
                          b' {"do": "join", "port": 7, "group": "ip-1", "states": 1}]}')
        said = self.explore("--replay", path, exit_code=2)
        self.assertIn("0 deviations", said)
        self.assertIn("or this cannot be done to it: steps 2", " ".join(said.split()))

    def test_a_history_is_played_by_ports_like_its_own_or_not_at_all(self):
        def history(link, port=7):
            return self.write("other.json", json.dumps({"explore-sa": 2, "steps": [
                {"do": "join", "port": port, "group": "ip-1", "states": 1}],
                "ports": [{"port": port, "link": link, "other": "full", "mtu": "usual"}]}).encode())
        self.assertNotIn("of the file", self.explore("--replay", history("full", 0)))
        said = self.explore("--replay", history("limited"))
        self.assertIn("port 7 of the file is port 3 here\n    port 3 joins ip-1", said)
        said = " ".join(self.explore("--replay", history("none"), exit_code=2).split())
        self.assertIn("other.json: cannot be played here: port 7 of the history is no member of the link, a full member of the "
                      "other partition, and asks by itself; no port that is left here is", said)

    def test_what_cannot_be_is_refused(self):
        other = self.write("other.json", b'{"explore": 1, "steps": []}')
        old = self.write("old.json", b'{"explore-sa": 1, "steps": []}')
        wrong = self.write("wrong.json",
                           b'{"explore-sa": 2, "steps": [{"do": "join", "port": 0, "group": "ip-2", "states": 16}]}')
        for words, arguments in {
                "explore-sa": ["--dut", "sa", "--replay", other],
                "others on each kind of fabric": ["--dut", "sa", "--replay", old],
                "states": ["--dut", "sa", "--replay", wrong],
                "--allow fabric": ["--dut", "sa", "--fabric", "umad:ibsim0/1"],
                "no mutant": ["--dut", "sa", "--fabric", "simulated:sa-mutant=nobody"],
                "not for --dut sa": ["--dut", "sa", "--faults", "sm"],
                "--dut sa": ["--exhaustive", "0"],
                "--join-states does not go with": ["--dut", "sa", "--exhaustive", "0", "--join-states", "7"],
                "--seeds does not go with": ["--dut", "sa", "--exhaustive", "0", "--seeds", "5"],
                "--fabric does not go with": ["--dut", "sa", "--mutants", *LEAK],
                "--strict does not go with": ["--dut", "sa", "--mutants", "--strict"]}.items():
            run = conform("explore", *arguments, cwd=self.folder)
            self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
            self.assertIn(words, run.stderr)

    def test_no_case_finds_what_histories_find_but_for_a_few(self):
        self.assertGreaterEqual(len(LAPSES), 20)
        for lapse in LAPSES:
            with self.subTest(lapse):
                path = self.folder / "results.json"
                run = conform("run", "--fabric", f"simulated:sa-mutant={lapse}", "--dut", "sa", "--quiet", "--json", path)
                found = [SEEN_BY_CASES[lapse]] if lapse in SEEN_BY_CASES else []
                self.assertEqual(run.returncode, 1 if found else 0, run.stdout + run.stderr)
                results = json.loads(path.read_text())["results"]
                self.assertGreater([one["verdict"] for one in results].count("PASS"), 20)
                self.assertEqual([one["id"] for one in results if one["verdict"] == "FAIL"], found)


if __name__ == "__main__":
    unittest.main()
