#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges a real OpenSM on a simulated subnet (ibsim), through libibumad: what the simulated subnet administrator is held
to must hold there too, but for what docs/opensm.md lists."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from ibsim import SKIPPED, Subnet, missing_packages

PROGRAM = str(Path(os.environ["IPOIB_CONFORM"]).resolve())
HOSTS = {"manager": "manager HCA-1", "tester": "tester HCA-1"}
TESTER_GID = "fe80::10:3"
PARTITIONS = '''\
Default=0x7fff, ipoib, rate=3, mtu=4 : ALL=full;
controlled=0x0123, ipoib, rate=3, mtu=4, sl=3, Q_Key=0x80000b1b, TClass=0x20, FlowLabel=0x12345 : ALL=full;
'''
FABRIC = "umad:ibsim0/1,issm,sm-key=1"
# What is not PASS though it can run, with its reason in docs/opensm.md.
DIFFERENT = {}
# The Default partition has an ordinary Q_Key; RFC 4391, 4.1 recommends another.
ORDINARY_Q_KEY = {"IPOIB-4391-4.1-VAL-002": "WARN", "RULE-RFC4391-4.1-02": "WARN"}


class OpenSm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="ipoib-opensm-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.subnet = Subnet(cls.folder, HOSTS, PARTITIONS)
        cls.addClassCleanup(cls.subnet.stop)
        cls.subnet.start(groups=2)
        cls.subnet.wait(lambda: "State: Active" in cls.subnet.run("tester", "ibstat", check=False))

    def start(self, *arguments, fabric=FABRIC):
        return subprocess.Popen([PROGRAM, "run", "--fabric", fabric, "--allow", "fabric", *map(str, arguments)],
                                cwd=self.folder, env=self.subnet.at("tester"), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, run, exit_code, seconds=120):
        try:
            out, err = run.communicate(timeout=seconds)
        finally:
            run.kill()
        self.assertEqual(run.returncode, exit_code, out + err)
        return out + err

    def judge(self, *arguments, fabric=FABRIC, exit_code=0):
        """The results by id."""
        path = self.folder / "results.json"
        self.finish(self.start("--json", path, *arguments, fabric=fabric), exit_code)
        return {result["id"]: result for result in json.loads(path.read_text())["results"]}

    def members(self):
        return self.subnet.saquery("--smkey", "1", "-m")

    def assert_as_expected(self, results, different):
        cases = {name: result for name, result in results.items() if name.startswith("IPOIB-")}
        judged = {name: result["verdict"] for name, result in cases.items() if result["verdict"] != "NA"}
        self.assertGreaterEqual(len(judged), 2)
        for name, verdict in judged.items():
            self.assertEqual(verdict, different.get(name, "PASS"), f"{name}: {cases[name]['message']}")
        for name, result in results.items():
            if not name.startswith("IPOIB-"):
                self.assertIn(result["verdict"], {"PASS", "NA", different.get(name)}, f"{name}: {result['message']}")

    def test_the_cases_hold(self):
        self.assert_as_expected(self.judge(), DIFFERENT | ORDINARY_Q_KEY)

    def test_the_cases_hold_on_a_link_with_parameters_of_its_own(self):
        self.assert_as_expected(self.judge(fabric=FABRIC + ",pkey=0x8123"), DIFFERENT)

    def test_without_key_and_reports_fewer_cases_hold(self):
        self.assert_as_expected(self.judge(fabric="umad:ibsim0"), DIFFERENT | ORDINARY_Q_KEY)

    def test_nothing_is_left_behind(self):
        before = self.subnet.saquery("-g")
        self.judge()
        self.assertNotIn(TESTER_GID, self.members())
        self.assertEqual(self.subnet.saquery("-g"), before)

    def test_nothing_is_left_behind_after_an_interrupt(self):
        before = self.subnet.saquery("-g")
        run = self.start("--repeat", 10000, "--quiet", "tag:sa")
        self.subnet.wait(lambda: TESTER_GID in self.members())
        run.send_signal(signal.SIGINT)
        self.finish(run, 3)
        self.assertNotIn(TESTER_GID, self.members())
        self.assertEqual(self.subnet.saquery("-g"), before)

    def test_the_evidence_tells_the_same(self):
        evidence = self.folder / "evidence"
        results = self.judge("--evidence", evidence)
        captures = sorted(evidence.glob("*.pcapng"))
        self.assertTrue(captures)
        path = self.folder / "check.json"
        check = subprocess.run([PROGRAM, "check", "--quiet", "--json", path, *captures], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertIn(check.returncode, {0, 4}, check.stdout + check.stderr)
        observed = {}
        for result in json.loads(path.read_text())["results"]:
            observed[result["id"]] = observed.get(result["id"], 0) + result["observed"]
        for name, result in results.items():
            if name.startswith("RULE-") and result["observed"]:
                self.assertEqual(observed[name], result["observed"], name)

    def test_a_silent_administrator_ends_the_run(self):
        opensm = self.subnet.processes[-1]
        opensm.send_signal(signal.SIGSTOP)
        try:
            begin = time.monotonic()
            said = self.finish(self.start("--quiet"), 3, seconds=60)
            self.assertLess(time.monotonic() - begin, 30)
        finally:
            opensm.send_signal(signal.SIGCONT)
        self.assertIn("does not answer", said)
        # What waited for it is answered now, to nobody.
        self.subnet.wait(lambda: self.subnet.saquery("-g").count("MGID") == 2)

    def test_what_is_no_port_is_refused(self):
        for fabric, words in {"umad:mlx5_0": "ibsim0/1", "umad:ibsim0/2": "no port 2"}.items():
            self.assertIn(words, self.finish(self.start(fabric=fabric), 2))
        self.assertIn("management datagrams only", self.finish(self.start("--dut", "reference"), 2))


if __name__ == "__main__":
    if missing_packages():
        print("SKIPPED: no real SA is judged; missing packages: " + " ".join(missing_packages()), file=sys.stderr)
        sys.exit(SKIPPED)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    unittest.main(verbosity=2)
