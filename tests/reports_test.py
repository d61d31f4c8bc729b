#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports of real runs, read as their consumers read them: schemas, and programs that are there."""
import json
import os
import re
import select
import shutil
import subprocess
import unittest

import jsonschema

from program import CAPTURES, PROGRAM, SOURCE, Folder, conform

SCHEMA = json.loads((SOURCE / "tests/schemas/ctrf.schema.json").read_text())


class Reports(Folder):
    def made(self, *arguments, code):
        files = {kind: self.folder / f"r.{kind}" for kind in ("json", "ctrf", "tap", "markdown", "junit")}
        options = [word for kind, path in files.items() for word in (f"--{kind}", path)]
        run = conform(*arguments, *options, "--quiet")
        self.assertEqual(run.returncode, code, run.stderr)
        return {kind: path.read_text() for kind, path in files.items()}

    def runs(self):
        yield self.made("check", CAPTURES / "broken.pcap", code=1)
        yield self.made("check", CAPTURES / "usual.pcap", CAPTURES / "broken.pcap", code=1)
        yield self.made("run", "IPOIB-4391-6-*", code=0)
        yield self.made("run", "IPOIB-4391-6-*", "--dut", "mutant:reserved-not-zero", code=1)

    def test_all_of_them_tell_the_same(self):
        for reports in self.runs():
            ours = json.loads(reports["json"])["results"]
            ctrf = json.loads(reports["ctrf"])["results"]
            self.assertEqual(ctrf["summary"]["tests"], len(ours))
            self.assertEqual(sorted(one["verdict"] for one in ours),
                             sorted(one["rawStatus"].split(".")[0] for one in ctrf["tests"]))
            wrong = [one["id"] for one in ours if one["verdict"] in ("FAIL", "ERROR", "INCONC", "XPASS")]
            lines = reports["tap"].splitlines()
            self.assertEqual(sum(line.startswith("not ok ") for line in lines), len(wrong))
            self.assertEqual(sum(line.startswith(("ok ", "not ok ")) for line in lines), len(ours))
            for one in wrong:
                self.assertIn(one, reports["markdown"])

    def test_ctrf_is_valid(self):
        dead = f"n2={self.folder / 'dead.json'}"
        conform("check", CAPTURES / "broken.pcap", "--json", self.folder / "n1.json")
        for reports in (*self.runs(), self.made("merge", self.folder / "n1.json", dead, code=3)):
            document = json.loads(reports["ctrf"])
            jsonschema.validate(document, SCHEMA)
            document["results"]["summary"].pop("pending")
            with self.assertRaises(jsonschema.ValidationError):
                jsonschema.validate(document, SCHEMA)

    def test_prove_reads_tap(self):
        (self.folder / "check.tap").write_text(self.made("run", "IPOIB-4391-6-*", code=0)["tap"])
        read = ["prove", "--exec", "cat", str(self.folder / "check.tap")]
        run = subprocess.run(read, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("All tests successful", run.stdout)
        (self.folder / "check.tap").write_text(self.made("check", CAPTURES / "broken.pcap", code=1)["tap"])
        run = subprocess.run(read, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertNotIn("Parse errors", run.stdout)

    def revisions(self, source):
        made = self.folder / "revisions.cpp"
        subprocess.run(["cmake", f"-DSOURCE={source}", f"-DOUT={made}", "-P",
                        SOURCE / "cmake/Revisions.cmake"], check=True, timeout=60)
        return dict(re.findall(r'\{"(.*?)", "([0-9a-f]{8})"\}', made.read_text()))

    def test_every_rule_and_case_has_a_revision(self):
        listed = {one["id"] for one in json.loads(conform("list", "--json").stdout)}
        known = self.revisions(SOURCE)
        self.assertEqual(set(known), listed)
        for arguments in (("check", CAPTURES / "broken.pcap"), ("run", "IPOIB-4391-6-*"), ("audit", "--fabric", "simulated")):
            conform(*arguments, "--json", self.folder / "r.json")
            results = json.loads((self.folder / "r.json").read_text())["results"]
            self.assertEqual({one["id"]: one["revision"] for one in results}, {one["id"]: known[one["id"]] for one in results})

    def test_a_revision_changes_with_the_definition_alone(self):
        copy = self.folder / "source"
        for part in ("protocol/rules", "protocol/wire", "conformance/audit", "conformance/cases"):
            shutil.copytree(SOURCE / part, copy / part)
        before = self.revisions(copy)

        def changed(path, old, new):
            text = (copy / path).read_text()
            self.assertIn(old, text)
            (copy / path).write_text(text.replace(old, new, 1))
            after = self.revisions(copy)
            (copy / path).write_text(text)
            return {one for one in before if before[one] != after[one]}

        rules = "protocol/rules/rfc4391_06_frame_format.cpp"
        title = re.search(r'"RULE-RFC4391-6-02",.*?\.title = "', (copy / rules).read_text(), re.DOTALL)[0]
        self.assertEqual(changed(rules, title, title + "x"), {"RULE-RFC4391-6-02"})
        self.assertEqual(changed(rules, title, "// a remark\n\n  " + title), set())
        of_file = {f"RULE-{one}" for one in re.findall(r'"RULE-(.*?)"', (copy / rules).read_text())}
        self.assertEqual(changed(rules, "namespace {", "namespace {\nint helper();"), of_file)
        naming = {f"RULE-{one}" for path in (copy / "protocol/rules").glob("*.cpp") if ".test." not in path.name
                  for one in re.findall(r'"RULE-([^"]*)"(?:(?!"RULE-).)*\bis_port_qpn\b', path.read_text(), re.DOTALL)}
        shared = changed("protocol/rules/common.hpp", "return qpn > 1", "return qpn > 2")
        self.assertTrue(naming)
        self.assertLessEqual(naming, shared)
        self.assertLess(len(shared), len(before) // 3)
        case = next((copy / "conformance/cases").glob("rfc4391-06*/*.cpp")).relative_to(copy)
        ids = set(re.findall(r'"(IPOIB-.*?)"', (copy / case).read_text()))
        self.assertEqual(changed(case, "namespace", "int helper();\nnamespace"), ids)

    def test_diff_tells_a_rule_that_changed(self):
        before, after = self.folder / "before.json", self.folder / "after.json"
        conform("check", CAPTURES / "usual.pcap", "RULE-RFC4391-6-02", "--json", before)
        conform("check", CAPTURES / "broken.pcap", "RULE-RFC4391-6-02", "--json", after)
        run = conform("diff", before, after)
        self.assertEqual(run.returncode, 1)
        self.assertNotIn("changed", run.stdout)
        results = json.loads(before.read_text())
        results["results"][0]["revision"] = "00000000"
        before.write_text(json.dumps(results))
        run = conform("diff", before, after)
        self.assertEqual(run.returncode, 1)
        self.assertIn("(the rule changed)", run.stdout)

    def test_a_report_does_not_replace_another(self):
        path = self.folder / "r"
        self.assertEqual(conform("check", CAPTURES / "usual.pcap", "--tap", path, "--ctrf", path).returncode, 2)
        self.assertFalse(path.exists())

    # All that the program has, also those to come.
    KINDS = re.findall(r"^  --([\w-]+) FILE", conform("check", "--help").stdout.partition("\nReports:\n")[2], re.MULTILINE)

    def test_every_command_that_judges_has_every_format(self):
        self.assertLessEqual({"json", "junit", "html", "ctrf", "tap", "markdown"}, set(self.KINDS))
        parts = {conform(command, "--help").stdout.partition("\nReports:\n")[2].partition("\n\n")[0]
                 for command in ("check", "run", "audit", "merge")}
        self.assertEqual(len(parts), 1, parts)
        completion, manual = conform("completion").stdout, conform("manual").stdout
        for kind in self.KINDS:
            self.assertIn(f"\\-\\-{kind} FILE", manual)
            for command in ("check", "run", "audit", "merge"):
                self.assertRegex(completion, rf"\b{command}\) options='[^']*--{kind}\b")

    def options(self, **elsewhere):
        """A file for each kind of report, in a folder of its own, and the words that ask for it."""
        (self.folder / "r").mkdir(exist_ok=True)
        files = {kind: elsewhere.get(kind, self.folder / "r" / kind) for kind in self.KINDS}
        return files, [word for kind, path in files.items() for word in (f"--{kind}", path)]

    def test_one_that_cannot_be_written_takes_no_other_with_it(self):
        for kind in self.KINDS:
            for where, reason in (("/dev/full", "No space left"), ("/nonexistent/r", "No such file"),
                                  (self.folder, "directory"), (f"/tmp/{'n' * 300}", "too long")):
                with self.subTest(kind=kind, where=where):
                    shutil.rmtree(self.folder / "r", ignore_errors=True)
                    files, options = self.options(**{kind: where})
                    run = conform("check", CAPTURES / "broken.pcap", *options)
                    self.assertEqual(run.returncode, 3, run.stderr)
                    self.assertIn(str(where), run.stderr)
                    self.assertIn(reason, run.stderr)
                    self.assertIn("FAIL", run.stdout)
                    del files[kind]
                    self.assertEqual({path for path in (self.folder / "r").iterdir() if path.stat().st_size > 0},
                                     set(files.values()))

    def test_each_that_cannot_be_written_is_told(self):
        for arguments in (("check", CAPTURES / "broken.pcap"), ("run", "IPOIB-4391-6-VAL-001"),
                          ("audit", "--fabric", "simulated")):
            files, options = self.options(json="/dev/full", junit="/nonexistent/j", html="/nonexistent/h")
            run = conform(*arguments, *options)
            self.assertEqual(run.returncode, 3, run.stderr)
            for path in ("/dev/full", "/nonexistent/j", "/nonexistent/h"):
                self.assertEqual(run.stderr.count(path), 1, run.stderr)
            for kind in ("ctrf", "tap", "markdown"):
                self.assertGreater(files[kind].stat().st_size, 0)

    def test_an_unwritable_path_is_told_before_anything_is_judged(self):
        reading, writing = os.pipe()
        child = subprocess.Popen([PROGRAM, "check", "-", "--quiet", "--json", "/nonexistent/r", "--tap", self.folder / "r.tap"],
                                 stdin=reading, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        os.close(reading)
        self.addCleanup(child.stderr.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        # Nothing has been sent yet, and the pipe is open.
        self.assertTrue(select.select([child.stderr], [], [], 30)[0], "nothing is told")
        self.assertIn("/nonexistent/r", child.stderr.readline())
        os.write(writing, (CAPTURES / "broken.pcap").read_bytes())
        os.close(writing)
        self.assertEqual((child.stderr.read(), child.wait()), ("", 3))

    def test_a_run_of_which_nothing_can_be_written_does_not_begin(self):
        for arguments, begins in ((("check", CAPTURES / "broken.pcap"), True), (("run", "IPOIB-4391-6-*"), False),
                                  (("audit", "--fabric", "simulated"), True), (("merge", f"n1={self.folder / 'none'}"), True)):
            run = conform(*arguments, "--json", "/nonexistent/r", "--junit", "/nonexistent/j")
            self.assertEqual(run.returncode, 3, run.stderr)
            self.assertEqual("judged" in run.stdout, begins, run.stdout)
            self.assertIn("/nonexistent/r", run.stderr)
            self.assertIn("/nonexistent/j", run.stderr)

    def test_selftest_writes_what_it_can(self):
        page = self.folder / "page.md"
        run = conform("selftest", "IPOIB-4391-6-VAL-001", "--json", "/dev/full", "--markdown", page, timeout=300)
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("/dev/full", run.stderr)
        self.assertGreater(page.stat().st_size, 0)
        run = conform("selftest", "--json", "/nonexistent/r", timeout=5)
        self.assertEqual(run.returncode, 3)
        self.assertEqual(run.stdout, "")

    def test_what_was_tried_leaves_no_trace(self):
        kept = self.write("kept.json", b"an earlier report")
        no_capture = self.write("no.pcap", b"no capture")
        before = sorted(self.folder.iterdir())
        for arguments, code in ((("check", no_capture, "--json", kept, "--tap", self.folder / "new"), 2),
                                (("check", CAPTURES / "usual.pcap", "--html", "/nonexistent/r"), 3)):
            self.assertEqual(conform(*arguments).returncode, code)
            self.assertEqual(sorted(self.folder.iterdir()), before)
            self.assertEqual(kept.read_bytes(), b"an earlier report")

    def test_a_limit_on_the_size_of_files_is_told(self):
        (self.folder / "r.tap").write_text("old")
        run = subprocess.run(["bash", "-c", 'ulimit -f 128 && exec "$@"', "-", PROGRAM, "check", CAPTURES / "broken.pcap",
                              "--json", self.folder / "r.json", "--tap", self.folder / "r.tap"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                             check=False)
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("File too large", run.stderr)
        self.assertIn("not ok", (self.folder / "r.tap").read_text())


if __name__ == "__main__":
    unittest.main()
