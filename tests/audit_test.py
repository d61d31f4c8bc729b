#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-conform audit, of lists and of the simulated fabric; of a real OpenSM in opensm_test.py and lab_test.py."""
import json
import unittest

from program import CAPTURES, Folder, conform


class Audit(Folder):
    def results(self, *arguments, code):
        path = self.folder / "r.json"
        run = conform("audit", *arguments, "--json", path)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return {one["id"]: one for one in json.loads(path.read_text())["results"]}, run

    def test_wrong_groups_are_found_in_what_saquery_printed(self):
        results, run = self.results("--sa", CAPTURES / "groups.txt", code=1)
        self.assertEqual({i for i, one in results.items() if one["verdict"] == "FAIL"},
                         {"RULE-RFC4391-4-08-audit", "RULE-RFC4391-10-17-q-key-audit"})
        # A list may be a part of what there is.
        self.assertEqual(results["RULE-RFC4391-5-02-audit"]["verdict"], "INCONC")
        self.assertEqual(results["RULE-RFC4391-5-02-audit"]["details"][0]["subject"],
                         "0000000000100001 (manager HCA-1)")
        self.assertIn("ff12:401b:ffff::efc0:a801", run.stdout)
        results, _ = self.results("--sa", CAPTURES / "groups.txt", "RULE-RFC4391-4-02*", code=0)
        self.assertEqual(list(results), ["RULE-RFC4391-4-02-audit"])

    def test_a_baseline_excuses_and_strict_does_not(self):
        baseline = self.folder / "b.toml"
        self.results("--sa", CAPTURES / "groups.txt", "!rfc4391/5", code=1)
        baseline.write_text(conform("baseline", self.folder / "r.json").stdout.replace('reason = ""', 'reason = "known"'))
        results, _ = self.results("--sa", CAPTURES / "groups.txt", "!rfc4391/5", "--expect", baseline, code=0)
        self.assertEqual(results["RULE-RFC4391-4-08-audit"]["verdict"], "XFAIL")
        self.results("--sa", CAPTURES / "groups.txt", "!rfc4391/5", "--expect", baseline, "--strict", code=1)

    def test_evidence_that_cannot_be_written_takes_no_report_with_it(self):
        (self.folder / "evidence" / "audit.pcapng").mkdir(parents=True)
        results, run = self.results("--fabric", "simulated", "--evidence", self.folder / "evidence", code=3)
        self.assertIn("audit.pcapng", run.stderr)
        self.assertIn("PASS", {one["verdict"] for one in results.values()})
        self.assertFalse(any(one.get("evidence") for one in results.values()))

    def test_what_no_administrator_should_say_is_judged(self):
        text = (CAPTURES / "groups.txt").read_text()
        file = self.folder / "sa.txt"
        file.write_text(text.replace("0xc001", "0x0007").replace("0xC001", "0x0007"))
        results, _ = self.results("--sa", file, code=1)
        self.assertEqual(results["RULE-RFC4392-1.2.1.2-03-mlid-audit"]["verdict"], "FAIL")
        file.write_text(text.replace("ff12:601b:ffff::1:3", "fe12:601b:ffff::1:3"))
        results, run = self.results("--sa", file, code=1)
        self.assertIn("no multicast GID", run.stderr)

    def test_the_simulated_fabric_is_a_rehearsal(self):
        results, run = self.results("--fabric", "simulated", "--scenario", "controlled", "--evidence",
                                    self.folder / "audit", code=0)
        self.assertEqual({one["verdict"] for one in results.values()}, {"PASS", "NA"})
        self.assertEqual(results["RULE-RFC4391-5-02-audit"]["verdict"], "PASS")
        check = conform("check", self.folder / "audit/audit.pcapng")
        self.assertIn(check.returncode, (0, 4), check.stdout)

    def test_a_list_that_lacks_the_broadcast_group_is_inconclusive(self):
        file = self.folder / "sa.json"
        file.write_text('[{"mgid": "ff12:401b:8123::1", "members": []}]')
        results, run = self.results("--sa", file, code=5)
        self.assertEqual(results["RULE-RFC4391-5-01-audit"]["verdict"], "INCONC")
        self.assertIn("a file does not tell", run.stdout)

    def test_what_cannot_be_is_a_usage_error(self):
        (self.folder / "file").write_text("")
        sa = CAPTURES / "groups.txt"
        for words, said in ((), "either --fabric or --sa"), (("--fabric", "simulated", "--sa", sa), "either"), \
                (("--sa", "/nonexistent"), "/nonexistent"), (("--sa", self.folder / "file"), "no record"), \
                (("--sa", CAPTURES / "usual.pcap"), "NUL octet"), (("--sa", sa, "tag:arp"), "tag:arp"), \
                (("--sa", sa, "!tag:audit"), "no rule"), (("--sa", sa, "--evidence", self.folder), "asks nobody"), \
                (("--sa", sa, "--json", sa), "overwritten"), (("--fabric", "nonsense"), "nonsense"), \
                (("--fabric", "simulated", "--scenario", "nonsense"), "nonsense"), (("--fabric", "socket:"), "socket"), \
                (("--fabric", "simulated", "--evidence", self.folder / "file"), "no folder"), \
                (("--fabric", "verbs:none-such"), "none-such"), (("--fabric", "verbs:x,pkey=0x8001"), "only sm-key="), \
                (("--fabric", "simulated:x"), "or verbs:DEVICE, not 'simulated:x'"), \
                (("--fabric", f"socket:{self.folder}/none", "--scenario", "nonsense"), "no scenario 'nonsense'"), \
                (("--fabric", f"socket:{self.folder}/none", "--scenario", "scope5"), "--scenario is how"), \
                (("--sa", sa, "--scenario", "controlled"), "asks nobody"):
            with self.subTest(words=words):
                run = conform("audit", *words)
                self.assertIn(said, run.stderr)
                self.assertEqual(run.returncode, 2, run.stderr)
        run = conform("audit", "--fabric", f"socket:{self.folder}/none")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("No such file", run.stderr)

    def test_its_rules_are_explained(self):
        text = conform("explain", "RULE-RFC4391-5-02-audit").stdout
        self.assertIn("looks at ports that a subnet administrator holds", text)
        self.assertIn("checked by RULE-RFC4391-5-02-audit", conform("explain", "RFC4391-5-02").stdout)


if __name__ == "__main__":
    unittest.main()
