# SPDX-License-Identifier: GPL-2.0-or-later
"""What a verdict says: how firmly, of what, in which case, and what a baseline excuses of it."""
import json
import re
import shlex
import unittest

from links_test import records
from program import CAPTURES, SOURCE, Folder, conform
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


class Doubted(Folder):
    """Of a capture that lacks the answer to a join."""
    RULE = "RULE-RFC4391-9.1.2-03"

    def setUp(self):
        super().setUp()
        head, frames = records(CAPTURES / "wrong-q-key.pcap")
        self.capture = self.folder / "gap.pcap"
        self.capture.write_bytes(head + b"".join(frames[:1] + frames[2:]))
        self.path = self.folder / "r.json"

    def check(self, *arguments):
        run = conform("check", self.capture, "--json", self.path, *arguments)
        self.assertNotIn("violates", run.stdout)
        results = json.loads(self.path.read_text())
        verdicts = {one["id"]: one for one in results["results"]}
        return run.stdout, results, verdicts[self.RULE]

    def test_the_command_that_settles_a_suspicion_does(self):
        text, results, result = self.check()
        self.assertEqual(result["verdict"], "INCONC")
        suspected = [one for one in results["suspicions"] if one["rule"] == self.RULE]
        self.assertEqual([(one["doubt"], one["count"]) for one in suspected],
                         [("queued before a change", 3), ("life before the capture", 1)])
        # Two statements are about the same frames.
        self.assertIn("SUSPICION queued before a change: 3 frames of 0002c90300100001 on fe80::/0x8123, one doubt", text)
        self.assertNotIn(f"INCONC {self.RULE} ", text.split("\nfindings:")[0])
        self.assertIn(f"INCONC      {self.RULE}", text)
        first, command = (one["command"] for one in suspected)
        self.assertEqual(first, "")
        self.assertIn(f"  settled by: {command}\n", text)
        text, results, result = self.check(*shlex.split(command)[3:])
        self.assertEqual(result["verdict"], "FAIL")
        self.assertEqual([(one["frame"], one["assumed"]) for one in result["details"]], [(51, ["whole", "from-start"])])
        self.assertIn("assumed: whole, from-start", " ".join(text.split()))
        self.assertEqual({one["doubt"] for one in results["suspicions"]}, {"queued before a change"})

    def test_every_report_for_people_tells_of_it(self):
        html, markdown = self.folder / "r.html", self.folder / "r.md"
        conform("check", self.capture, "--html", html, "--markdown", markdown)
        for page in (html.read_text(), markdown.read_text(), conform("links", self.capture).stdout):
            self.assertIn("one doubt", " ".join(page.split()))
            self.assertIn("innocent if", page)
            self.assertNotIn("violates", page)
        told = conform("watch", self.capture, "--for", "0.5s", "--interval", "0.1s", "--events", "-").stdout.splitlines()
        told = [json.loads(line) for line in told]
        self.assertIn(self.RULE, [one["rule"] for one in told if one["event"] == "suspicion"])

    def test_what_nobody_can_vouch_for_is_refused(self):
        for value in ("whole=5", "wholly", "from-start=", "whole,,steady-clock"):
            run = conform("check", self.capture, "--assume", value)
            self.assertEqual((run.returncode, run.stdout), (2, ""), value)
        run = conform("check", self.capture, "--assume", "whole=0000000000001234")
        self.assertIn("note: warning: --assume whole=0000000000001234: the capture shows no such port",
                      " ".join(run.stdout.split()))

    def test_the_page_has_each_doubt_as_the_code_declares_it(self):
        code = (SOURCE / "protocol/state/doubt.hpp").read_text().split("doubt_specs{{", 1)[1].split("}};", 1)[0]
        declared = [re.findall(r'"([^"]*)"', one) for one in re.split(r"\{Doubt::", code)[1:]]
        page = (SOURCE / "docs/results.md").read_text()
        self.assertGreater(len(declared), 3)
        for words in declared:
            self.assertIn("| " + " | ".join(words) + " |", page)


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
