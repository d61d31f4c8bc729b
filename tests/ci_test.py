#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The CI files of samples/ci, executed: their very commands, in a repository laid out as docs/ci.md says."""
import os
import re
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree
from pathlib import Path

try:
    import ci_files
except ModuleNotFoundError as problem:
    if problem.name != "yaml":
        raise
    print("python3-yaml is missing")
    sys.exit(77)

from program import CAPTURES, PROGRAM, SOURCE, Folder

SCHEMA = SOURCE / "tests/schemas/junit-portable.xsd"
PAST, FUTURE = "2020-01-01", "2999-12-31"


class Repository(Folder):
    def setUp(self):
        super().setUp()
        self.repository = self.folder / "repository"
        (self.repository / "captures").mkdir(parents=True)
        (self.repository / "lab").mkdir()
        for name in ("usual.pcap", "wrong-q-key.pcap"):
            shutil.copy(CAPTURES / name, self.repository / "captures")
        self.baseline(FUTURE)
        shutil.copy(SOURCE / "lab/linux.baseline.toml", self.repository / "lab/BASELINE.toml")

    def baseline(self, expires):
        text = (ci_files.FOLDER / "BASELINE.toml").read_text()
        text, count = re.subn(r"(?m)^expires = \S+$", f"expires = {expires}", text)
        self.assertEqual(count, 1)
        (self.repository / "captures/BASELINE.toml").write_text(text)

    def run_job(self, job, **more):
        shutil.rmtree(self.repository / "reports", ignore_errors=True)
        summary = self.folder / "summary"
        summary.write_text("")
        environment = {**os.environ, "PATH": f"{Path(PROGRAM).parent}:{os.environ['PATH']}",
                       "GITHUB_STEP_SUMMARY": str(summary), **more}
        code, said = job.run(self.repository, environment)
        return code, said, summary.read_text()

    def has_published(self, job):
        """Everything that was written is where the CI looks for it, and JUnit is valid."""
        for name in job.written():
            path = self.repository / name
            self.assertTrue(path.is_dir() and any(path.iterdir()) or path.stat().st_size > 0, name)
            self.assertTrue(any(name.startswith(place) for place in job.published), name)
        junit = self.repository / (job.junit or next(name for name in job.written() if name.endswith(".xml")))
        suites = xml.etree.ElementTree.parse(junit).getroot()
        self.assertGreater(int(suites.get("tests")), 0)
        subprocess.run(["xmllint", "--noout", "--nonet", "--schema", SCHEMA, junit], check=True, timeout=60,
                       stderr=subprocess.DEVNULL)
        return suites


class Files(unittest.TestCase):
    def test_they_are_well_formed_and_use_keys_that_exist(self):
        for name, read in ci_files.ALL.items():
            with self.subTest(name):
                jobs, _, complaints = read()
                self.assertEqual(complaints, [])
                self.assertEqual(set(jobs), {"captures", "lab"})
                for job in jobs.values():
                    self.assertIn(job.junit, [None, *job.written()])
                    self.assertTrue(job.published)

    def test_images_are_of_this_version(self):
        version = re.search(r"VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text().partition("project(")[2])[1]
        for name in ("gitlab-ci.yml", "github-actions.yml", "Jenkinsfile"):
            images = re.findall(r"example\.org/([\w-]+):([\w.]+)", (ci_files.FOLDER / name).read_text())
            self.assertEqual(images, [("ipoib-conformance", version), ("ipoib-conformance-lab", version)], name)

    def test_inconclusive_is_neither_good_nor_bad_where_there_is_a_word_for_it(self):
        _, document, _ = ci_files.gitlab()
        for job in ("ipoib-captures", "ipoib-lab"):
            self.assertEqual(document[job]["allow_failure"], {"exit_codes": 5})
            self.assertEqual(document[job]["artifacts"]["when"], "always")
        _, text, _ = ci_files.jenkins()
        self.assertRegex(text, r"if \(code == 5\) \{\n\s+unstable\(.*\n\s+\} else if \(code != 0\) \{\n\s+error\(")


class Captures(Repository):
    def test_a_known_deviation_is_excused_until_it_expires(self):
        for name, read in ci_files.ALL.items():
            job = read()[0]["captures"]
            for expires, wanted in ((FUTURE, 0), (PAST, 1)):
                with self.subTest(name, expires=expires):
                    self.baseline(expires)
                    code, said, summary = self.run_job(job)
                    self.assertEqual(code, wanted, said)
                    self.assertEqual(int(self.has_published(job).get("failures")), wanted)
                    self.assertEqual("expired on 2020-01-01" in said, bool(wanted), said)
                    if name == "GitHub":
                        self.assertIn("RULE-RFC4391-9.1.2-03" if wanted else "| XFAIL |", summary)

    def test_a_new_failure_fails_and_so_does_an_entry_that_is_no_longer_needed(self):
        for name, read in ci_files.ALL.items():
            job = read()[0]["captures"]
            with self.subTest(name):
                shutil.copy(CAPTURES / "no-grh.pcap", self.repository / "captures/new.pcap")
                code, said, _ = self.run_job(job)
                self.assertEqual(code, 1, said)
                self.assertIn("FAIL.STATED RULE-RFC4391-6-07", said)
                self.assertEqual(int(self.has_published(job).get("failures")), 1)
                (self.repository / "captures/new.pcap").unlink()

                (self.repository / "captures/wrong-q-key.pcap").unlink()
                code, said, _ = self.run_job(job)
                self.assertEqual(code, 1, said)
                self.assertIn("XPASS RULE-RFC4391-9.1.2-03", said)
                self.has_published(job)
                shutil.copy(CAPTURES / "wrong-q-key.pcap", self.repository / "captures")

    def test_without_anything_to_judge_no_job_is_green(self):
        for name, read in ci_files.ALL.items():
            job = read()[0]["captures"]
            for captures, wanted in (((), 2), (("roce.pcap",), 4)):
                with self.subTest(name, captures=captures):
                    for old in (self.repository / "captures").glob("*.pcap"):
                        old.unlink()
                    for one in captures:
                        shutil.copy(CAPTURES / one, self.repository / "captures")
                    code, said, _ = self.run_job(job)
                    self.assertEqual(code, wanted, said)


class Lab(Repository):
    """With real guests; one case, since the lab's own tests run them all."""

    def setUp(self):
        if shutil.which("qemu-system-x86_64") is None:
            self.skipTest("QEMU IS NOT INSTALLED (scripts/setup lab): THE LAB'S JOBS ARE NOT TESTED")
        super().setUp()
        # Always the same: the lab keeps the module of each place that its source is at.
        prefix = Path(PROGRAM).parent / "tests/ci-prefix"
        self.addCleanup(shutil.rmtree, prefix, ignore_errors=True)
        for component in ("tools", "lab"):
            subprocess.run(["cmake", "--install", Path(PROGRAM).parent, "--component", component, "--prefix", prefix,
                            "--strip"], check=True, stdout=subprocess.DEVNULL, timeout=120)
        # The cache that a CI brings back.
        (SOURCE / "build/lab").mkdir(parents=True, exist_ok=True)
        (self.repository / ".cache").mkdir()
        (self.repository / ".cache/ipoib-lab").symlink_to(SOURCE / "build/lab")
        self.path = {"PATH": f"{prefix}/bin:{os.environ['PATH']}"}

    def test_linux_is_judged_and_what_is_known_of_it_excused(self):
        for name, read in ci_files.ALL.items():
            job = read()[0]["lab"]
            with self.subTest(name):
                # A known deviation.
                known = "IPOIB-4391-10-INV-001"
                code, said, _ = self.run_job(job, IPOIB_LAB=known, **self.path)
                self.assertEqual(code, 0, said)
                cases = self.has_published(job).iterfind(".//testcase")
                skipped = next(case.find("skipped") for case in cases if case.get("name").startswith(known))
                self.assertIn("To send to a group, Linux joins it", skipped.get("message"))

    def test_a_guest_that_does_not_boot_is_tried_again(self):
        for name, read in ci_files.ALL.items():
            jobs, document, _ = read()
            with self.subTest(name):
                code, said, _ = self.run_job(jobs["lab"], IPOIB_LAB="rfc4391/6 --boot-limit 0.2", **self.path)
                self.assertEqual(code, 3, said)
                self.has_published(jobs["lab"])
                boots = said.count("it was not ready after 0.2 s")
                if name == "GitLab":
                    self.assertEqual(document["ipoib-lab"]["retry"], {"max": 1, "exit_codes": 3})
                    self.assertGreater(boots, 0)
                else:
                    self.assertEqual(said.count("judged 0 of"), 2, said)


if __name__ == "__main__":
    unittest.main()
