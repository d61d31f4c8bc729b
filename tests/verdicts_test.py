# SPDX-License-Identifier: GPL-2.0-or-later
"""What a verdict says: how firmly, of what, in which case, and what a baseline excuses of it."""
import json
import re
import unittest

from program import CAPTURES, Folder, conform
from run_test import Active


class Passive(Folder):
    def test_with_a_selector_the_head_counts_what_was_selected(self):
        for selectors, head in ((["RULE-RFC4391-6-02"], "judged 1 of 1 binding statements (1 MUST, 0 stated); 0 not"),
                                (["rfc4391/6"], "judged 4 of 7 binding statements (4 MUST, 3 stated); 3 not judgeable "
                                                "here: 3 tester")):
            path = self.folder / "r.json"
            said = " ".join(conform("check", CAPTURES / "broken.pcap", *selectors, "--json", path).stdout.split())
            self.assertIn(head, said)
            self.assertEqual(len(re.findall(r"NA tester", said)), int("3 tester" in head))
            self.assertEqual("selected" in json.loads(path.read_text()), True)
        conform("check", CAPTURES / "broken.pcap", "--json", path)
        self.assertNotIn("selected", json.loads(path.read_text()))

    def test_the_status_of_a_document_selects_and_is_told(self):
        path = self.folder / "r.json"
        standard, informative = (
            {one["id"]: one for one in json.loads(path.read_text())["results"]}
            for status in ("standard", "informative")
            if conform("check", CAPTURES / "broken.pcap", f"status:{status}", "--json", path))
        self.assertFalse(standard.keys() & informative.keys())
        self.assertTrue(all(check.startswith(("RFC4392", "UDMC")) for one in informative.values() for check in one["checks"]))
        listed = json.loads(conform("requirements", "--json").stdout)
        self.assertEqual({one["id"].split("-")[0] for one in listed if one["document_status"] == "informative"},
                         {"RFC4392", "UDMC"})
        keywords = {one["level"] for one in listed if one["force"] == "MUST"}
        self.assertEqual(keywords, {"MUST", "MUST NOT", "SHALL"})
        self.assertIn("document: informative", conform("explain", "UDMC-02").stdout)
        self.assertIn("a violation is: FAIL.STATED", conform("explain", "UDMC-02").stdout)
        self.assertIn("a violation is: FAIL.MUST", conform("explain", "RFC4391-6-02").stdout)
        self.assertIn("checks UDMC-02 (STATED, informative)", conform("explain", "RULE-UDMC-02").stdout)
        self.assertIn("checks RFC4391-6-02 (MUST)", conform("explain", "RULE-RFC4391-6-02").stdout)
        self.assertIn("FAIL.MUST RFC4391-6-02", conform("decode", f"{CAPTURES / 'broken.pcap'}#17").stdout)
        said = " ".join(conform("check", CAPTURES / "broken.pcap", "RULE-UDMC-02").stdout.split())
        self.assertIn("FAIL.STATED RULE-UDMC-02", said)
        self.assertIn("(UDMC, stated, informative)", said)


class Driven(Active):
    def test_a_baseline_does_not_excuse_a_second_fault_of_the_same_case(self):
        case, first = "IPOIB-4391-4-VAL-003", ("--dut", "mutant:maps-32-bits")
        self.results(*first, case, code=1)
        text = conform("baseline", self.folder / "results.json").stdout.replace('reason = ""', 'reason = "known"')
        self.assertIn('"RFC4391-4-01", "RFC4391-4-08"', text)
        known = self.write("known.toml", text.encode())
        self.assertEqual(self.verdicts(*first, case, "--expect", known)[case], "XFAIL")
        # Of two faults one is excused.
        one = self.write("one.toml", text.replace('"RFC4391-4-01", ', "").encode())
        results = self.results(*first, case, "--expect", one, code=1)
        result = next(one for one in results["results"] if one["id"] == case)
        self.assertEqual((result["verdict"], result["type"]), ("FAIL", "FAIL.STATED"))
        self.assertIn("not excused: RFC4391-4-01", result["message"])
        verdicts = {one["id"]: one["verdict"] for one in results["requirements"]}
        self.assertEqual((verdicts["RFC4391-4-01"], verdicts["RFC4391-4-05"]), ("FAIL", "PASS"))
        # Another stack fails in the same case for another reason.
        results = self.results("--dut", "mutant:mgid-limited-pkey", case, "--expect", known, code=1)
        result = next(one for one in results["results"] if one["id"] == case)
        self.assertEqual(result["verdict"], "FAIL")
        self.assertIn("not excused: RFC4391-4-05", result["message"])

    def test_a_rules_failure_names_each_case_and_its_frames(self):
        evidence = self.folder / "evidence"
        results = self.results("--dut", "mutant:maps-32-bits", "rfc4391/4", "--evidence", evidence, code=1)
        rule = next(one for one in results["results"] if one["id"] == "RULE-RFC4391-4-08-join")
        self.assertGreater(len(rule["cases"]), 1)
        self.assertEqual(sum(one["violations"] for one in rule["cases"]), rule["violations"])
        self.assertTrue(rule["message"].startswith(
            f"{rule['violations']} of {rule['observed']} packets; first in {rule['cases'][0]['id']}, frame "))
        for detail in rule["details"]:
            frame = conform("decode", f"{evidence / detail['case']}.pcapng#{detail['frame']}")
            self.assertIn(f"MGID                   {detail['actual'].split()[0]}", frame.stdout)
            self.assertIn(detail["frame"], next(one["frames"] for one in rule["cases"] if one["id"] == detail["case"]))

    def test_what_came_instead_is_named(self):
        results = self.results("--dut", "mutant:maps-32-bits", "IPOIB-4391-4-VAL-001", code=1)
        result = next(one for one in results["results"] if one["id"] == "IPOIB-4391-4-VAL-001")
        self.assertIn("the DUT sent frame", result["message"])
        self.assertIn("the DUT sent frame", result["details"][0]["actual"])
        self.assertNotIn("not so", json.dumps(result))

    def test_advice_that_is_not_kept_is_counted_and_told_as_a_violation_is(self):
        case = "IPOIB-4391-10-VAL-001"
        result = self.results("--dut", "mutant:sends-as-full-member", case)["results"][0]
        self.assertEqual((result["id"], result["verdict"], result["violations"], len(result["details"])),
                         (case, "WARN", 2, 2))  # in IPv4 and IPv6
        self.assertEqual(result["details"][0]["requirements"], ["RFC4391-10-09"])
        strict = self.results("--dut", "mutant:sends-as-full-member", case, "--strict", code=1)["results"][0]
        self.assertEqual((strict["verdict"], strict["type"]), ("FAIL", "FAIL.SHOULD"))

    def test_no_requirement_is_worse_off_than_its_strength(self):
        results = self.results("--dut", "mutant:creates-to-send", "rfc4391/10", code=1)
        strength = {one["id"]: (one["strength"], one["verdict"]) for one in results["requirements"]}
        self.assertEqual(strength["RFC4391-10-04"], ("must", "FAIL"))
        self.assertEqual(strength["RFC4392-4.2.1-02"], ("should", "WARN"))
        self.assertNotIn(("should", "FAIL"), strength.values())


if __name__ == "__main__":
    unittest.main()
