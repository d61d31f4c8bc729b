#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports as the programs of others read them: KTAP by kunit.py of Linux, JUnit XML by the parser of Maven's Surefire. Both
are of Debian's packages, which are fetched once and unpacked, not installed."""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from program import CAPTURES, SOURCE, Folder, conform

sys.path.insert(0, str(SOURCE / "lab/host"))

import kernels  # noqa: E402
import packages  # noqa: E402
import tools  # noqa: E402

LAB = SOURCE / "build/lab"
KEPT = Path(os.environ["IPOIB_BUILD"]) / "tests/readers"

# Surefire's own goal for reports needs all of Maven; its parser does not.
READER = """
import org.apache.maven.plugin.surefire.log.api.NullConsoleLogger;
import org.apache.maven.plugins.surefire.report.TestSuiteXmlParser;

public class Read {
    public static void main(String[] files) throws Exception {
        for (var file : files)
            for (var suite : new TestSuiteXmlParser(new NullConsoleLogger()).parse(file))
                for (var one : suite.getTestCases())
                    System.out.println((one.hasFailure() ? "failure" : one.hasError() ? "error" : one.hasSkipped() ? "skipped"
                        : "passed") + "\\t" + one.getFullClassName() + "\\t" + one.getName() + "\\t" + one.getFailureType());
    }
}
"""


def fetched(package, *files):
    """These files of a package of Debian's, below KEPT."""
    folder = KEPT / package
    if not (folder / "whole").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

        def plan(apt):
            found = apt.show([package])
            packages.must_have(found, [package])
            return [found[package]]

        one, = packages.plan_and_fetch(packages.Apt(KEPT / "apt"), plan, folder, False)
        whole = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", folder / one.file_name], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", folder, "--wildcards", *files], stdin=whole.stdout, check=True, timeout=600)
        whole.stdout.close()
        whole.wait()
        (folder / one.file_name).unlink()
        (folder / "whole").touch()
    return folder


class Reports(Folder):
    def runs(self):
        """Of each run its results, and what the option made of it."""
        known = self.folder / "known.toml"
        known.write_text('[[expected]]\nid = "RULE-RFC4391-6-02"\nverdict = "FAIL"\nreason = "x"\nreference = "BUG-17"\n')
        for number, words in enumerate((("check", CAPTURES / "usual.pcap"),
                                        ("check", CAPTURES / "usual.pcap", CAPTURES / "broken.pcap", "--expect", known),
                                        ("run", "--dut", "mutant:maps-32-bits", "rfc4391"),
                                        ("run", "--listen", self.folder / "port", "--dut", "exec:/bin/false", "rfc4391/6"),
                                        ("check", CAPTURES / "usual.pcap", "RULE-RFC4755-*"))):
            results = self.folder / f"{number}.json"
            yield words, results, self.folder / f"{number}.report"

    def made(self, kind, *more):
        for words, results, report in self.runs():
            run = conform(*words, "--json", results, kind, report, *more, "--quiet", timeout=300)
            self.assertIn(run.returncode, (0, 1, 3, 4), run.stderr)
            yield json.loads(results.read_text())["results"], report


class Ktap(Reports):
    def setUp(self):
        super().setUp()
        folder = KEPT / "kunit"
        if not folder.exists():
            with tools.locked(LAB):
                kernels.unpack_source(LAB / "packages", folder, None, {"tools/testing/kunit": "."})
        self.kunit = folder / "kunit.py"

    def test_the_kernels_parser_reads_what_was_judged(self):
        for results, report in self.made("--ktap"):
            read = subprocess.run([sys.executable, self.kunit, "parse", report], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, timeout=120, check=False)
            verdicts = [one["verdict"] for one in results]
            wrong = sum(one in ("FAIL", "XPASS", "ERROR", "INCONC") for one in verdicts)
            expected = {"passed": sum(one in ("PASS", "WARN", "FINDING", "XFAIL") for one in verdicts), "failed": wrong,
                        "skipped": verdicts.count("NA")}
            told = re.search(r"Ran (\d+) tests: (.*)$", read.stdout, re.MULTILINE)
            self.assertIsNotNone(told, read.stdout[-2000:])
            self.assertEqual(int(told[1]), len(results))
            counts = {name: int(count) for name, count in re.findall(r"(\w+): (\d+)", told[2])}
            self.assertEqual(counts, {name: count for name, count in expected.items() if count})
            # Where all is skipped, it takes that for no success, as we do.
            self.assertEqual(read.returncode != 0, wrong > 0 or not {"PASS", "WARN", "FINDING", "XFAIL"} & set(verdicts))
            self.assertNotIn("[ERROR]", read.stdout)


@unittest.skipUnless(shutil.which("javac"), "no JDK (package default-jdk-headless)")
class Surefire(Reports):
    def test_surefires_parser_reads_what_was_judged(self):
        jars = [f"./usr/share/java/surefire-{part}.jar" for part in ("report-parser", "logger-api")]
        folder = fetched("libsurefire-java", *jars)
        path = ":".join(str(one) for one in sorted((folder / "usr/share/java").glob("*.jar")))
        (self.folder / "Read.java").write_text(READER)
        for results, report in self.made("--junit", "--junit-dialect", "surefire"):
            files = [report, *report.parent.glob(f"{report.stem}-*.report")]
            read = subprocess.run(["java", "-cp", path, self.folder / "Read.java", *files], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, timeout=120, check=False)
            self.assertEqual(read.returncode, 0, read.stderr)
            outcome = {"PASS": "passed", "WARN": "passed", "FINDING": "passed", "FAIL": "failure", "XPASS": "failure",
                       "NA": "skipped", "XFAIL": "skipped", "INCONC": "error", "ERROR": "error"}
            told = sorted(line.split("\t")[0] for line in read.stdout.splitlines() if "\t" in line)
            self.assertEqual(told, sorted(outcome[one["verdict"]] for one in results))


if __name__ == "__main__":
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        print("apt is missing")
        sys.exit(77)
    unittest.main()
