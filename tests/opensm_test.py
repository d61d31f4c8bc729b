#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges a real OpenSM on a simulated subnet (ibsim), through libibumad: what the simulated subnet administrator is held
to must hold there too, but for what docs/opensm.md lists."""
import ipaddress
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from ibsim import SKIPPED, Subnet, missing_packages
from program import PROGRAM

ASKS = str(Path(os.environ["IPOIB_SA_ANSWERS"]).resolve())
HOSTS = {"manager": "manager HCA-1", "tester": "tester HCA-1"}
TESTER_GID = "fe80::10:3"
PARTITIONS = '''\
Default=0x7fff, ipoib, rate=3, mtu=4 : ALL=full;
controlled=0x0123, ipoib, rate=3, mtu=4, sl=3, Q_Key=0x80000b1b, TClass=0x20, FlowLabel=0x12345 : ALL=full;
'''
# A group of all 32 bits of an IPv4 address, and one with parameters of its own.
WRONG_GROUPS = '''\
Default=0x7fff, ipoib, rate=3, mtu=4, sl=0, Q_Key=0x80000b1b :
  mgid=ff12:401b::efc0:a801
  mgid=ff12:601b::1:3,Q_Key=0x1234,TClass=0x20
  ALL=full;
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
        if run.returncode != exit_code:
            # What was found first, and how OpenSM took it: of long messages reports show the begin.
            log = (self.folder / "opensm.log").read_text(errors="replace").splitlines()[-30:]
            self.fail("\n".join([f"{run.returncode} instead of {exit_code}", out[out.rfind("findings:"):], err, *log, out]))
        return out + err

    def judge(self, *arguments, fabric=FABRIC, exit_code=0):
        """The results by id."""
        path = self.folder / "results.json"
        self.finish(self.start("--json", path, *arguments, fabric=fabric), exit_code)
        return {result["id"]: result for result in json.loads(path.read_text())["results"]}

    @staticmethod
    def journal():
        folder = "/run" if os.geteuid() == 0 else os.environ.get("XDG_RUNTIME_DIR", "/nonexistent")
        guid = int(ipaddress.ip_address(TESTER_GID)) & (1 << 64) - 1
        return Path(folder, "ipoib-conform", f"0x{guid:016x}")

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
        self.assertFalse(self.journal().exists(), self.journal())

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

    def audit(self, *arguments, subnet=None, exit_code=0):
        """The results by id, and what was said beside them."""
        subnet = subnet or self.subnet
        path = self.folder / "audit.json"
        path.unlink(missing_ok=True)
        run = subprocess.run([PROGRAM, "audit", "--json", path, *map(str, arguments)], cwd=self.folder,
                             env=subnet.at("tester"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(run.returncode, exit_code, run.stdout + run.stderr)
        results = json.loads(path.read_text())
        return {result["id"]: result for result in results["results"]}, results, run.stderr

    def test_an_audit_finds_nothing_wrong(self):
        evidence = self.folder / "audit"
        results, whole, _ = self.audit("--fabric", "umad:ibsim0/1,sm-key=1", "--evidence", evidence)
        self.assertEqual({i for i, one in results.items() if one["verdict"] == "WARN"}, {"RULE-RFC4391-4.1-02-audit"})
        self.assertEqual({one["verdict"] for one in results.values()}, {"PASS", "WARN", "NA"})
        self.assertEqual(whole["fabric"]["groups"], "2")
        # Nothing but Get and GetTable was asked.
        shown = subprocess.run(["tshark", "-r", evidence / "audit.pcapng", "-T", "fields", "-e", "infiniband.lrh.slid",
                                "-e", "infiniband.mad.mgmtclass", "-e", "infiniband.mad.method"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60,
                               check=False).stdout if shutil.which("tshark") else ""
        methods = {line.split("\t")[2] for line in shown.splitlines() if line.split("\t")[1] == "0x03"}
        if shown:
            get, get_table, get_resp, get_table_resp = "0x01", "0x12", "0x81", "0x92"
            self.assertLessEqual(methods, {get, get_table, get_resp, get_table_resp})
            self.assertIn(get_table, methods)
        members = self.members()
        self.audit("--fabric", "verbs:ibsim0")
        self.assertEqual(self.members(), members)

    def test_what_saquery_prints_is_judged_alike(self):
        live, _, _ = self.audit("--fabric", "umad:ibsim0/1,sm-key=1")
        (self.folder / "sa.txt").write_text(self.subnet.saquery("MCMR") + self.subnet.saquery("--smkey", "1", "-m"))
        printed, _, _ = self.audit("--sa", self.folder / "sa.txt")
        for name, one in printed.items():
            if "NA" not in (one["verdict"], live[name]["verdict"]):
                self.assertEqual(one["verdict"], live[name]["verdict"], name)
        self.assertGreater(sum(one["verdict"] != "NA" for one in printed.values()), 10)

    def test_a_stranger_is_told_of_groups_alone(self):
        results, _, said = self.audit("--fabric", "umad:ibsim0/1")
        self.assertIn("only to those who know its SM_Key", said)
        self.assertEqual(results["RULE-RFC4391-5-02-audit"]["verdict"], "NA")
        self.assertEqual(results["RULE-RFC4391-4-05-audit"]["verdict"], "PASS")

    def test_groups_that_are_wrong_are_found(self):
        with tempfile.TemporaryDirectory(prefix="ipoib-opensm-") as folder:
            subnet = Subnet(Path(folder), HOSTS, WRONG_GROUPS, speed="4xSDR")
            try:
                subnet.start(groups=3)
                subnet.wait(lambda: "State: Active" in subnet.run("tester", "ibstat", check=False))
                results, _, _ = self.audit("--fabric", "umad:ibsim0/1,sm-key=1", subnet=subnet, exit_code=1)
            finally:
                subnet.stop()
        self.assertEqual({i: one["verdict"] for i, one in results.items() if one["verdict"] not in ("PASS", "NA")},
                         {"RULE-RFC4391-4-08-audit": "FAIL", "RULE-RFC4391-10-17-q-key-audit": "FAIL",
                          "RULE-RFC4391-10-18-tclass-audit": "WARN"})
        subject = results["RULE-RFC4391-4-08-audit"]["details"][0]["subject"]
        self.assertEqual(subject, "ff12:401b:ffff::efc0:a801")

    def explore(self, subnet, *arguments, fabric=FABRIC):
        """What histories find in an OpenSM of its own, which may be without room afterwards."""
        run = subprocess.run([PROGRAM, "explore", "--dut", "sa", "--fabric", fabric, "--allow", "fabric",
                              *map(str, arguments)], cwd=self.folder, env=subnet.at("tester"),
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             timeout=500)
        self.assertIn(run.returncode, {0, 1}, run.stdout + run.stderr)
        return run.stdout

    def test_histories_find_what_the_document_says(self):
        with tempfile.TemporaryDirectory(prefix="ipoib-opensm-") as folder:
            subnet = Subnet(Path(folder), HOSTS, PARTITIONS, speed="4xSDR")
            try:
                subnet.start(groups=2)
                subnet.wait(lambda: "State: Active" in subnet.run("tester", "ibstat", check=False))
                rest = self.explore(subnet, "--seeds", 60, "--join-states", 7)
                said = self.explore(subnet, "--seeds", 40)
            finally:
                subnet.stop()
        self.assertEqual(re.findall(r"^  (?:FAIL|FINDING|SUSPICION) .*?[:;] (\w+)", rest, re.M), ["ProxyJoin"], rest)
        suspicion = re.search(r"first after ([\d.]+) s:\n(?:    .*\n)+  SUSPICION leak:.*\n  CONFIRMED after (\d+) repeats, "
                              r"([\d.]+) s", said)
        self.assertTrue(suspicion, said)
        self.assertLess(float(suspicion.group(1)), 60)
        self.assertLess(float(suspicion.group(3)), 600)
        self.assertIn("FullMember, SendOnlyFullMember\n", suspicion.group(0))

    def test_histories_of_restarts_and_other_lids_find_nothing_more(self):
        history = self.folder / "moves.json"
        history.write_text(json.dumps({"explore-sa": 2, "steps": [
            {"do": "join", "port": 0, "group": "ip-1", "states": 3, "twice": True}, {"do": "port-moves", "port": 0},
            {"do": "join", "port": 0, "group": "ip-1", "states": 1, "twice": True},
            {"do": "leave", "port": 0, "group": "ip-1", "states": 1, "twice": True}, {"do": "restart"}]}))
        # Beside a port with the IsSM bit OpenSM does not start.
        fabric = FABRIC.replace(",issm", "")

        def explore(*arguments):
            """The control has OpenSM in its charge, and ends it."""
            with tempfile.TemporaryDirectory(prefix="ipoib-opensm-") as folder:
                subnet = Subnet(Path(folder), HOSTS, PARTITIONS, speed="4xSDR")
                try:
                    subnet.start(groups=2)
                    subnet.wait(lambda: "State: Active" in subnet.run("tester", "ibstat", check=False))
                    lids = subnet.folder / "guid2lid"
                    before = lids.read_text()
                    said = self.explore(subnet, "--fabric-control", subnet.control(), *arguments, fabric=fabric)
                    self.assertNotEqual(lids.read_text(), before)
                    return said
                finally:
                    subnet.stop()

        self.assertIn("\n0 deviations\n", explore("--replay", history))
        rest = explore("--seeds", 60, "--join-states", 7)
        self.assertEqual(re.findall(r"^  (?:FAIL|FINDING|SUSPICION) .*?[:;] (\w+)", rest, re.M), ["ProxyJoin"], rest)
        left_out = re.search("^left out here: (.*)$", rest, re.M).group(1)
        self.assertIn("reports", left_out)
        self.assertNotIn("LIDs", left_out)
        self.assertNotIn("restarts", left_out)

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
