#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of many hosts in one report: nothing is lost, what is missing is an ERROR, every report tells hosts apart."""
import json
import os
import re
import resource
import unittest
import xml.etree.ElementTree as ElementTree

from program import CAPTURES, IS_SANITIZED, Folder, conform

SELECTION = ("IPOIB-4391-6-*", "IPOIB-4391-4-*", "rfc4391/6")


class Merge(Folder):
    def run_on(self, host, *arguments, dut="reference", code=0, what=SELECTION):
        """Results of one host, as `run` writes them there."""
        path = self.folder / f"{host}.json"
        run = conform("run", *what, "--dut", dut, "--quiet", *arguments, "--json", path)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return path

    def merge(self, *arguments, code, **options):
        run = conform("merge", *arguments, "--json", self.folder / "all.json", **options)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run.stdout, json.loads((self.folder / "all.json").read_text())

    def three(self):
        """One that keeps all, one that does not, and one that died."""
        return (f"n1={self.run_on('n1')}", f"n2={self.run_on('n2', dut='mutant:reserved-not-zero', code=1)}",
                f"n3={self.folder / 'n3.json'}")


class Reports(Merge):
    def test_one_report_tells_who_breaks_what_and_who_died(self):
        (self.folder / "n3.json.error").write_text("TIMEOUT after 00:01:00\n")
        text, merged = self.merge(*self.three(), code=3)
        self.assertRegex(re.sub(r"\s+", " ", text),
                         r"judged \d+ of \d+ binding statements \(\d+ MUST, \d+ stated\); .* on 3 hosts, "
                         r"1 of them without all results")
        self.assertRegex(text, r"  FAIL   RFC4391-6-02 .*\n(.*\n)?.* FAIL on 1 of 3 hosts: n2; PASS on 1; no results of 1")
        self.assertRegex(text, r"(?m)^  PASS   n1: \d+ PASS")
        self.assertRegex(text, r"(?m)^  FAIL   n2: \d+ FAIL, ")
        self.assertRegex(text, r"(?m)^  ERROR  n3: no results: TIMEOUT after 00:01:00$")
        self.assertRegex(text, r"(?m)^hosts: 1 FAIL, 1 ERROR, 1 PASS$")
        hosts = {host["name"]: host for host in merged["hosts"]}
        self.assertEqual([host["verdict"] for host in hosts.values()], ["PASS", "FAIL", "ERROR"])
        self.assertEqual([host["requirements"]["RFC4391-6-02"] for host in hosts.values()], ["PASS", "FAIL", "ERROR"])
        self.assertEqual({host["requirements"]["IBA-15.2.5.17-10"] for host in hosts.values()}, {"NA"})
        self.assertEqual(hosts["n3"]["faults"], ["no results: TIMEOUT after 00:01:00"])
        self.assertEqual({one["host"] for one in merged["results"]}, {"n1", "n2"})
        self.assertEqual({one["id"]: one["verdict"] for one in merged["requirements"]}["RFC4391-6-02"], "FAIL")

    def test_every_report_tells_hosts_apart(self):
        files = {kind: self.folder / f"r.{kind}" for kind in ("ctrf", "tap", "markdown", "junit")}
        options = [word for kind, path in files.items() for word in (f"--{kind}", path)]
        self.merge(*self.three(), *options, code=3)
        root = ElementTree.parse(files["junit"]).getroot()
        self.assertEqual([suite.get("hostname") for suite in root], ["n1", "n2", "n3"])
        cases = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
        self.assertEqual(len(cases), len(set(cases)))
        self.assertEqual(int(root.get("errors")), 1)
        self.assertEqual(root[2].find("testcase/error").get("message"), "no results: the file is missing")
        ctrf = json.loads(files["ctrf"].read_text())["results"]
        self.assertEqual({test["labels"].get("host") for test in ctrf["tests"]}, {"n1", "n2", "n3"})
        self.assertEqual([host["verdict"] for host in ctrf["environment"]["extra"]["hosts"]], ["PASS", "FAIL", "ERROR"])
        tap = files["tap"].read_text()
        self.assertRegex(tap, r"(?m)^not ok \d+ - HOST .*\[n3\]$")
        self.assertRegex(tap, r"(?m)^not ok \d+ - RULE-RFC4391-6-02 .*\[n2\]$")
        self.assertIn("| FAIL | RFC4391-6-02 | FAIL on 1 of 3 hosts: n2; PASS on 1; no results of 1 |",
                      files["markdown"].read_text())

    def test_quiet_names_who_is_not_well(self):
        text, _ = self.merge(*self.three(), "--quiet", code=3)
        self.assertNotIn("PASS   n1", text)
        self.assertIn("  FAIL   n2", text)
        self.assertIn("  ERROR  n3", text)

    def test_paths_are_relative_to_the_merged_file(self):
        (self.folder / "far/away").mkdir(parents=True)
        there = self.run_on("n1", "--evidence", self.folder / "evidence")
        conform("merge", f"n1={there}", "--json", self.folder / "far/away/all.json")
        merged = json.loads((self.folder / "far/away/all.json").read_text())
        self.assertTrue(merged["captures"])
        for capture in merged["captures"]:
            self.assertTrue((self.folder / "far/away" / capture["file"]).is_file(), capture)
            self.assertEqual(capture["host"], "n1")
        evidence = [one for one in merged["results"] if one["evidence"]]
        for one in evidence:
            self.assertTrue((self.folder / "far/away" / one["evidence"]).is_file())
        for one in (one for one in evidence if one["id"].startswith("IPOIB-")):
            self.assertEqual(merged["captures"][one["capture"]]["file"], one["evidence"])

    def test_captures_of_many_hosts(self):
        for host, capture in (("n1", "usual"), ("n2", "broken")):
            conform("check", CAPTURES / f"{capture}.pcap", "--json", self.folder / f"{host}.json")
        text, merged = self.merge(*(f"{host}={self.folder / host}.json" for host in ("n1", "n2")), code=1)
        self.assertEqual([capture["host"] for capture in merged["captures"]], ["n1", "n2"])
        self.assertIn("broken.pcap frame 17 octet", text)


class What(Merge):
    def test_a_damaged_file_is_an_error_of_its_host_and_nothing_else_is_lost(self):
        good = self.run_on("n1")
        whole = good.read_bytes()
        (self.folder / "folder").mkdir()
        for name, content in (("empty", b""), ("cut", whole[:len(whole) // 2]), ("binary", bytes(range(256))),
                              ("other", b'{"format":"other"}'), ("nothing", None), ("folder", None)):
            with self.subTest(name):
                path = self.folder / name
                if content is not None:
                    path.write_bytes(content)
                text, merged = self.merge(f"n1={good}", f"n2={path}", "--quiet", code=3)
                self.assertIn("ERROR  n2: no results: ", text)
                self.assertEqual([host["verdict"] for host in merged["hosts"]], ["PASS", "ERROR"])
                self.assertEqual(len(merged["results"]), len(json.loads(whole)["results"]))
                run = conform("merge", path)
                self.assertEqual(run.returncode, 2)
                self.assertIn(str(path), run.stderr)

    def test_the_reason_beside_a_file_is_an_error_also_with_results(self):
        good = self.run_on("n1")
        (self.folder / "n1.json.error").write_text("NODE_FAIL\nexit code 0:9\n")
        text, merged = self.merge(good, code=3)
        self.assertIn("; NODE_FAIL exit code 0:9", text)
        self.assertEqual(merged["hosts"][0]["verdict"], "ERROR")
        self.assertTrue(merged["results"])
        (self.folder / "n1.json.error").write_text("")
        self.assertIn("gives no reason", re.sub(r"\s+", " ", self.merge(good, code=3)[0]))

    def test_shards_are_one_host_and_a_missing_one_is_an_error(self):
        shards = [f"n1={self.run_on(f's{i}', '--shard', f'{i}/3', what=())}" for i in (1, 2, 3)]
        text, merged = self.merge(*shards, code=0)
        self.assertEqual(len(merged["hosts"]), 1)
        whole = json.loads(self.run_on("whole", what=()).read_text())
        kept = [{key: one[key] for key in ("id", "verdict", "observed", "message")} for one in whole["results"]]
        self.assertEqual(sorted(({key: one[key] for key in kept[0]} for one in merged["results"]), key=str),
                         sorted(kept, key=str))
        self.assertEqual(merged["requirements"][5]["verdict"], whole["requirements"][5]["verdict"])
        self.assertNotIn("note:", text)
        text, merged = self.merge(*shards[:2], code=3)
        self.assertIn("shard 3 of 3 is missing", text)
        self.assertEqual(merged["hosts"][0]["verdict"], "ERROR")
        (self.folder / "half.json").write_text(json.dumps(merged))
        self.merge(self.folder / "half.json", shards[2], code=0)

    def test_the_worst_of_a_case_that_was_run_twice_counts_with_a_note(self):
        good, bad = self.run_on("a"), self.run_on("b", dut="mutant:maps-32-bits", code=1)
        for order in ((good, bad), (bad, good)):
            _, merged = self.merge(*(f"n1={path}" for path in order), code=1)
            case = next(one for one in merged["results"] if one["id"] == "IPOIB-4391-4-VAL-001")
            self.assertEqual(case["verdict"], "FAIL")
            self.assertIn("the worst counts; PASS", case["notes"][0])

    def test_another_version_is_noted(self):
        path = self.run_on("n1")
        path.write_text(path.read_text().replace('"suite": "', '"suite": "9.'))
        self.assertRegex(self.merge(f"n1={path}", code=0)[0], r"note: judged by ipoib-conform 9\.")

    def test_a_host_that_judged_nothing_does_not_pass(self):
        empty = self.run_on("n2", what=("IPOIB-IBA-*",), code=4)
        text, _ = self.merge(f"n1={self.run_on('n1')}", f"n2={empty}", code=4)
        self.assertIn("1 of them judged nothing", text.replace("\n", " "))

    def test_a_baseline_asks_each_hosts_own_dut(self):
        for host, firmware in (("n1", "20.1"), ("n2", "20.2")):
            self.write(f"{host}.toml", f'[dut]\nfirmware = "{firmware}"\n'.encode())
            self.run_on(host, "--profile", self.folder / f"{host}.toml", dut="mutant:reserved-not-zero", code=1)
        self.write("known.toml", b'[[expected]]\nid = "RULE-RFC4391-6-02"\nverdict = "FAIL"\nreason = "fixed in 20.2"\n'
                                 b'requirements = ["RFC4391-6-02"]\nwhen = { firmware = "20.1" }\n')
        _, merged = self.merge(*(f"{host}={self.folder / host}.json" for host in ("n1", "n2")), "--expect",
                               self.folder / "known.toml", code=1)
        verdicts = {one["host"]: one["verdict"] for one in merged["results"] if one["id"] == "RULE-RFC4391-6-02"}
        self.assertEqual(verdicts, {"n1": "XFAIL", "n2": "FAIL"})

    def test_what_is_merged_can_be_merged_compared_and_excused(self):
        everything = self.three()
        _, merged = self.merge(*everything[:2], code=1)
        first = self.folder / "first.json"
        first.write_text(json.dumps(merged))
        _, again = self.merge(first, everything[2], code=3)
        self.assertEqual([host["name"] for host in again["hosts"]], ["n1", "n2", "n3"])
        self.assertEqual(again["results"], merged["results"])
        run = conform("diff", first, self.folder / "all.json")
        self.assertEqual(run.returncode, 1)
        self.assertIn("worse: HOST absent -> ERROR on n3", run.stdout)
        run = conform("diff", first, self.run_on("x"))
        self.assertEqual(run.returncode, 0)
        self.assertIn("id = \"RULE-RFC4391-6-02\"", conform("baseline", first).stdout)
        run = conform("run", "--only-failed", first, "--dut", "mutant:reserved-not-zero")
        self.assertEqual(run.returncode, 1, run.stderr)

    def test_five_hundred_hosts(self):
        count = 60 if IS_SANITIZED else 500
        good, bad = self.run_on("good", what=()), self.run_on("bad", what=(), dut="mutant:maps-32-bits", code=1)
        files = {7: self.folder / "none.json", 19: bad, 23: bad}
        names = [f"n{i}={files.get(i, good)}" for i in range(1, count + 1)]
        few = conform("merge", *names[:24])
        out = self.folder / "out.json"
        run = conform("merge", "--list", "-", "--json", out, "--junit", self.folder / "out.xml",
                      input="\n".join(names), stdin=None, timeout=300)
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn(f"FAIL on 2 of {count} hosts: n19, n23; PASS on {count - 3}; no results of 1",
                      re.sub(r"\s+", " ", run.stdout))
        # At most a line for each host more, and those of many hosts in one.
        self.assertLess(len(run.stdout.splitlines()), len(few.stdout.splitlines()) + 50)
        self.assertEqual(conform("merge", out, "--quiet", timeout=300).returncode, 3)
        if not IS_SANITIZED:
            self.assertRegex(run.stdout, r"PASS   n\[1-6,8-18,20-22,24-500\]: 497 hosts")
            self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 1024 * 1024, "KiB")


class Usage(Merge):
    def refused(self, *arguments, word, **options):
        run = conform("merge", *arguments, **options)
        self.assertEqual(run.returncode, 2, run.stdout)
        self.assertIn(word, run.stderr)

    def test_wrong_words_are_usage_errors(self):
        good = self.run_on("n1")
        self.refused(word="no results are named")
        self.refused("=x.json", word="names no host")
        self.refused("a\nb=x.json", word="names no host")
        self.refused("n1=", word="names no file")
        self.refused("/nonexistent/a=b.json", word="/nonexistent/a=b.json")
        self.refused("--list", "/nonexistent", word="/nonexistent")
        self.refused("-", "n2=-", word="only once")
        self.refused(good, "--json", good, word="would be overwritten")
        # A name that is not there yet, in the folder where it is said.
        for other in ("./new.json", str(self.folder / "new.json")):
            self.refused(good.resolve(), "--json", "new.json", "--junit", other, word="would be overwritten", cwd=self.folder)
        self.refused(good, "--expect", "/nonexistent", word="/nonexistent")
        nameless = json.loads(good.read_text())
        nameless["host"] = ""
        self.refused("-", word="names no host", input=json.dumps(nameless), stdin=None)
        self.merge(good, f"n2={good}", code=0)
        self.refused(f"n3={self.folder / 'all.json'}", word="a merged report of 2 hosts")

    def test_a_report_that_cannot_be_written_is_told(self):
        good, page = self.run_on("n1"), self.folder / "r.html"
        run = conform("merge", good, "--tap", "/dev/full", "--html", page)
        self.assertEqual(run.returncode, 3, run.stdout)
        self.assertIn("/dev/full", run.stderr)
        self.assertGreater(page.stat().st_size, 0)

    def test_a_file_whose_name_has_an_equals_sign_is_a_file(self):
        good = self.run_on("n1")
        good.rename(self.folder / "a=b.json")
        _, merged = self.merge("a=b.json", code=0, cwd=self.folder)
        self.assertEqual([host["name"] for host in merged["hosts"]], [os.uname().nodename])

    def test_hostile_names_are_shown_not_obeyed(self):
        good = json.loads(self.run_on("n1").read_text())
        good["host"] = "\x1b[31m<&\u202e|`\n" + "x" * 5000
        path = self.folder / "x.json"
        path.write_text(json.dumps(good))
        text, _ = self.merge(path, "--junit", self.folder / "r.xml", "--markdown", self.folder / "r.md", code=0)
        self.assertNotIn("\x1b", text)
        ElementTree.parse(self.folder / "r.xml")


if __name__ == "__main__":
    unittest.main()
