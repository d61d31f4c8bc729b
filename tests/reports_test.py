#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports of real runs, read as their consumers read them: schemas, and programs that are there."""
import json
import subprocess
import unittest

import jsonschema

from program import CAPTURES, SOURCE, Folder, conform

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

    def test_a_report_does_not_replace_another(self):
        path = self.folder / "r"
        self.assertEqual(conform("check", CAPTURES / "usual.pcap", "--tap", path, "--ctrf", path).returncode, 2)
        self.assertFalse(path.exists())

    def test_what_cannot_be_written_is_an_error(self):
        for kind in ("ctrf", "tap", "markdown"):
            run = conform("check", CAPTURES / "usual.pcap", f"--{kind}", "/nonexistent/r")
            self.assertEqual(run.returncode, 2)
            self.assertIn("/nonexistent/r", run.stderr)


if __name__ == "__main__":
    unittest.main()
