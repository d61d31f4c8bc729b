#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges a real OpenSM on a simulated subnet (ibsim), through libibumad: what the simulated subnet administrator is held
to must hold there too, but for what docs/opensm.md lists."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from ibsim import SKIPPED, Subnet, missing_packages

PROGRAM = str(Path(os.environ["IPOIB_CONFORM"]).resolve())
ASKS = str(Path(os.environ["IPOIB_SA_ANSWERS"]).resolve())
HOSTS = {"manager": "manager HCA-1", "tester": "tester HCA-1"}
TESTER_GID = "fe80::10:3"
PARTITIONS = '''\
Default=0x7fff, ipoib, rate=3, mtu=4 : ALL=full;
controlled=0x0123, ipoib, rate=3, mtu=4, sl=3, Q_Key=0x80000b1b, TClass=0x20, FlowLabel=0x12345 : ALL=full;
'''
FABRIC = "umad:ibsim0/1,issm,sm-key=1"
# What is no PASS: the Default partition has an ordinary Q_Key; RFC 4391, 4.1 recommends another.
ORDINARY_Q_KEY = {"IPOIB-4391-4.1-VAL-002": "WARN", "RULE-RFC4391-4.1-02": "WARN"}
REPORTS = "IPOIB-4392-1.3.2.3-VAL-002"
# Where the answers of the simulated SA (first) and OpenSM's are different: each has its line in docs/opensm.md.
UNTRUSTED = {"PortGID": ("own", "::"), "JoinState": ("0xf", "0x0")}
OFFSET = {"at each": ("40 octets", "32 octets")}
DIFFERENT = {
    "GetTable of it without": UNTRUSTED,
    "GetTable of oneself without": UNTRUSTED,
    "A new group with MGID zero": {"MGID": ("ff12:a01b:fe80::1", "ff12:a01b:fe80::")},
    "A new group with scope 0, not given": {"Scope": ("0x2", "0x0")},
    "A new group with the SA's signature and global scope": {"Scope": ("0xe", "0x2")},
    "Its leave as FullMember": {"JoinState": ("0x8", "0x0")},
    "The group with a SendOnlyFullMember": {"": ("granted, 1 record", "granted, 0 records")},
    "Its leave as SendOnlyFullMember": {"": ("granted, 1 record", "status 0x0200")},
    "A subscription to trap 66": OFFSET,
    "The same again": OFFSET,
    "Its end": OFFSET,
    "A subscription to all traps": OFFSET,
    "The end of that": OFFSET,
    "Set of a path": {"": ("status 0x000c", "no answer")},
}


def parts(answer):
    """An answer's fields by name, and what became of the request as the one without a name."""
    count = answer.count("{")
    found = dict(re.findall(r"(\w+)=(\S+)", answer), **{"": answer})
    if answer.startswith("granted"):
        found[""] = f"granted, {count} record" + "s" * (count != 1)
    found["at each"] = answer.partition(" at each ")[2]
    return found


def difference(first, second):
    first, second = parts(first), parts(second)
    if first[""] != second[""]:
        return {"": (first[""], second[""])}
    return {name: (first[name], second[name]) for name in first if first[name] != second[name]}


class OpenSm(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="ipoib-opensm-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        # The rate and the MTU of the simulated fabric's ports.
        cls.subnet = Subnet(cls.folder, HOSTS, PARTITIONS, speed="4xSDR")
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

    def assert_as_expected(self, results, otherwise):
        """Every result is PASS or NA, but for those named."""
        cases = {name: result for name, result in results.items() if name.startswith("IPOIB-")}
        judged = {name: result["verdict"] for name, result in cases.items() if result["verdict"] != "NA"}
        self.assertGreaterEqual(len(judged), 13, [result["message"] for result in cases.values()])
        for name, verdict in judged.items():
            self.assertEqual(verdict, otherwise.get(name, "PASS"), f"{name}: {cases[name]['message']}")
        for name, result in results.items():
            if not name.startswith("IPOIB-"):
                self.assertIn(result["verdict"], {"PASS", "NA", otherwise.get(name)}, f"{name}: {result['message']}")

    def test_the_cases_hold(self):
        self.assert_as_expected(self.judge(), ORDINARY_Q_KEY)

    def test_the_cases_hold_on_a_link_with_parameters_of_its_own(self):
        self.assert_as_expected(self.judge(fabric=FABRIC + ",pkey=0x8123"), {})

    def test_the_cases_hold_for_a_stranger(self):
        results = self.judge(fabric="umad:ibsim0")
        self.assert_as_expected(results, ORDINARY_Q_KEY)
        self.assertEqual(results[REPORTS]["verdict"], "NA")

    def test_reports_come_and_end(self):
        result = self.judge(REPORTS)[REPORTS]
        self.assertEqual(result["verdict"], "PASS", result["message"])

    def test_the_answers_are_those_of_the_simulated_administrator(self):
        answers = {}
        for whom in "simulated", "ibsim":
            run = subprocess.run([ASKS, whom], cwd=self.folder, env=self.subnet.at("tester"),
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 timeout=60)
            self.assertEqual(run.returncode, 0, run.stderr)
            answers[whom] = json.loads(run.stdout)
        simulated, real = answers["simulated"], answers["ibsim"]
        self.assertEqual(list(simulated), list(real))
        self.assertGreater(len(real), 150)
        found = {what: difference(simulated[what], real[what]) for what in real}
        self.assertEqual({what: parts for what, parts in found.items() if parts}, DIFFERENT)

    def test_every_difference_is_in_the_document(self):
        told = (Path(__file__).resolve().parent.parent / "docs/opensm.md").read_text()
        for what in DIFFERENT:
            self.assertIn(f"`{what}`", told)

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
