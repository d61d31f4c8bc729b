#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/fleet on a real Slurm: what dies, hangs or crashes is an ERROR of its host, and nothing else is lost."""
import json
import re
import shlex
import signal
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from program import PROGRAM, SOURCE, Folder, conform
from slurm import Slurm, missing_packages, supervised

FLEET = str(SOURCE / "scripts/fleet")
DUT_LINUX = str(Path(PROGRAM).with_name("ipoib-dut-linux"))
SKIPPED = 77  # to CTest
SELECTION = ("IPOIB-4391-6-*", "IPOIB-4391-4-*", "rfc4391/6")
COUNT = 12
HANGS = "sleep 1000"


class Fleet(Folder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.slurm = Slurm(COUNT)
        cls.addClassCleanup(cls.slurm.remove)
        cls.slurm.start()
        # The longest first: a job over its limit takes Slurm a minute and more. The others go on beside it.
        cls.long = Campaign(cls.slurm, cls.slurm.folder / "long", hosts="n[1-6]", scenes={
            "n2": 'set -- "$@" --dut mutant:reserved-not-zero', "n3": HANGS, "n4": HANGS, "n5": "kill -SEGV $$",
            # The suite itself, at a DUT that never answers.
            "n6": f'set -- "$@" --listen {cls.slurm.folder}/port --dut "exec:sleep 1000" --timeout-scale 100'},
            options=("--time", "1", "--junit", cls.slurm.folder / "long.xml"))
        cls.addClassCleanup(cls.long.process.kill)
        # At once: later the job might be over its limit before the node is missed.
        cls.slurm.wait(lambda: any(job.endswith("RUNNING n3") for job in cls.long.jobs()), "job on n3")
        cls.slurm.lose("n3")

    @classmethod
    def tearDownClass(cls):
        cls.long.process.terminate()  # where its test was not among the chosen ones
        cls.long.process.communicate(timeout=60)
        cls.slurm.stop()
        left = cls.slurm.left()
        super().tearDownClass()
        assert not left, left

    def campaign(self, **arguments):
        return Campaign(self.slurm, self.folder / "fleet", **arguments)


class Campaign:
    """scripts/fleet with a program that does, on some hosts, something else before the suite, or instead."""

    def __init__(self, slurm, folder, hosts="", scenes=None, options=(), words=SELECTION, where=None):
        self.folder, self.slurm = folder, slurm
        self.work = work = folder.with_name(folder.name + "-work")
        work.mkdir()
        cases = "".join(f"{host}) {does} ;;\n" for host, does in (scenes or {}).items())
        program = work / "program"
        program.write_text('#!/bin/bash\nif [ "$1" = run ] && [ "$2" != --help ]; then\ncase $SLURMD_NODENAME in\n'
                           f'none) ;;\n{cases}esac\nfi\nexec {shlex.quote(PROGRAM)} "$@"\n')
        program.chmod(0o755)
        where = where if where is not None else ("--hosts", hosts)
        self.command = [FLEET, *where, "--folder", str(folder), "--program", str(program), "--no-color",
                        *map(str, options), "--", *words]
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=slurm.environment, cwd=work)

    def end(self, timeout=150):
        """Exit code, standard output, standard error."""
        out, err = self.process.communicate(timeout=timeout)
        return self.process.returncode, out, err

    def jobs(self):
        return [job for job in self.slurm.jobs() if str(self.work) in job]

    def merged(self):
        return json.loads((self.folder / "merged.json").read_text())

    def host(self, name):
        return next(host for host in self.merged()["hosts"] if host["name"] == name)


class Faults(Fleet):
    def test_a_lost_node_a_timeout_and_a_crash_are_errors_and_nothing_else_is_lost(self):
        """Waits for what began before all other tests."""
        long = self.long
        self.down_host()
        code, out, err = long.end()
        self.assertEqual(code, 3, out + err)
        hosts = {host["name"]: host for host in long.merged()["hosts"]}
        self.assertEqual({name: host["verdict"] for name, host in hosts.items()},
                         {"n1": "PASS", "n2": "FAIL", "n3": "ERROR", "n4": "ERROR", "n5": "ERROR", "n6": "ERROR"})
        self.assertEqual(hosts["n3"]["faults"], ["no results: NODE_FAIL on n3"])
        self.assertEqual(hosts["n4"]["faults"], ["no results: TIMEOUT on n4 (--time 1)"])
        self.assertEqual(hosts["n5"]["faults"], ["no results: FAILED on n5: killed by SIGSEGV"])
        # What the suite had when its time was over is kept.
        self.assertEqual(hosts["n6"]["faults"], ["TIMEOUT on n6 (--time 1)"])
        self.assertTrue(any(one["host"] == "n6" for one in long.merged()["results"]))
        self.assertEqual({one["host"] for one in long.merged()["results"]}, {"n1", "n2", "n6"})
        alone = conform("run", *SELECTION, "--json", self.folder / "alone.json")
        self.assertEqual(alone.returncode, 0)
        alone = json.loads((self.folder / "alone.json").read_text())["results"]
        self.assertEqual([(one["id"], one["verdict"]) for one in long.merged()["results"] if one["host"] == "n1"],
                         [(one["id"], one["verdict"]) for one in alone])
        row = {name: host["requirements"]["RFC4391-6-02"] for name, host in hosts.items()}
        self.assertEqual(row, {"n1": "PASS", "n2": "FAIL", **dict.fromkeys(("n3", "n4", "n5", "n6"), "ERROR")})
        self.assertRegex(re.sub(r"\s+", " ", out), r"FAIL on 1 of 6 hosts: n2; ERROR on 1: n6; PASS on 1; no results of 3")
        self.assertIn("hosts: 1 FAIL, 4 ERROR, 1 PASS", out)
        root = ElementTree.parse(self.slurm.folder / "long.xml").getroot()
        self.assertEqual([suite.get("hostname") for suite in root], [f"n{i}" for i in range(1, 7)])
        self.assertIn("6 of 6 over", err)

    def down_host(self):
        """n3 is down now: nobody waits for it, and the other host is judged."""
        self.slurm.wait(lambda: "n3" in self.slurm.run("sinfo", "-h", "-t", "down", "-o", "%N"), "dead node", 60)
        campaign = self.campaign(hosts="n[3,7]", options=("--patience", "1"))
        code, out, err = campaign.end()
        self.assertEqual(code, 3, out + err)
        self.assertEqual(campaign.host("n7")["verdict"], "PASS")
        self.assertRegex(campaign.host("n3")["faults"][0], r"^no results: not begun: .*n3 down\*")


class Cancelled(Fleet):
    def test_an_interruption_leaves_no_job_and_merges_what_is_there(self):
        campaign = self.campaign(hosts="n[8-9]", scenes={"n9": HANGS})
        self.slurm.wait(lambda: (campaign.folder / "results/n8.json").exists()
                        and any(job.endswith("RUNNING n9") for job in campaign.jobs()), "results of n8")
        campaign.process.send_signal(signal.SIGINT)
        code, out, err = campaign.end(60)
        self.assertEqual(code, 3, out + err)
        self.assertEqual(campaign.host("n8")["verdict"], "PASS")
        self.assertEqual(campaign.host("n9")["faults"], ["no results: CANCELLED: the fleet was interrupted"])
        self.assertFalse(campaign.jobs())
        running = subprocess.run(["pgrep", "-f", str(campaign.folder)], stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual(running.stdout, "")

    def test_an_interruption_at_once_leaves_no_job_either(self):
        campaign = self.campaign(hosts="n[8-9]", scenes={"n8": HANGS, "n9": HANGS})
        self.slurm.wait((campaign.folder / "list").exists, "folder")
        campaign.process.send_signal(signal.SIGTERM)
        code, out, err = campaign.end(60)
        self.assertEqual(code, 3, out + err)
        self.assertFalse(campaign.jobs())

    def test_a_job_that_somebody_else_cancels_is_an_error(self):
        campaign = self.campaign(hosts="n[8-9]", scenes={"n9": HANGS})
        self.slurm.wait(lambda: any(job.endswith("RUNNING n9") for job in campaign.jobs()), "job on n9")
        job = next(job.split()[0] for job in campaign.jobs() if job.endswith("RUNNING n9"))
        self.slurm.run("scancel", job)
        code, out, err = campaign.end(60)
        self.assertEqual(code, 3, out + err)
        self.assertEqual(campaign.host("n9")["faults"], ["no results: CANCELLED on n9"])
        self.assertEqual(campaign.host("n8")["verdict"], "PASS")


class Whole(Fleet):
    def test_shards_of_each_host_submitted_now_collected_later(self):
        campaign = self.campaign(hosts="n[10-11]", options=("--shards", "2", "--submit-only", "--evidence"))
        code, out, err = campaign.end()
        self.assertEqual((code, out), (0, ""), err)
        self.assertFalse((campaign.folder / "merged.json").exists())
        report = self.folder / "all.json"
        again = [FLEET, "--collect", campaign.folder, "--program", PROGRAM, "--json", report]
        run = subprocess.run(again, env=self.slurm.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        merged = json.loads(report.read_text())
        self.assertEqual([(host["name"], host["shards"]) for host in merged["hosts"]],
                         [(name, ["1/2", "2/2"]) for name in ("n10", "n11")])
        for capture in merged["captures"]:
            self.assertIn(f"/evidence/{capture['host']}/", capture["file"])
            self.assertTrue((report.parent / capture["file"]).is_file())
        # A shard that gets lost on the way does not pass.
        (campaign.folder / "results/n11.2-of-2.json").unlink()
        run = subprocess.run(again, env=self.slurm.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        self.assertEqual(run.returncode, 3, run.stdout + run.stderr)
        self.assertIn("COMPLETED on n11, but the results are not there; shard 2 of 2 is missing",
                      re.sub(r"\s+", " ", run.stdout))

    def test_what_slurm_has_forgotten_counts_where_there_are_results(self):
        slurm = Slurm(2, "MinJobAge=2\n")
        self.addCleanup(slurm.remove)
        self.addCleanup(slurm.stop)
        slurm.start()
        campaign = Campaign(slurm, slurm.folder / "fleet", hosts="n[1-2]", options=("--submit-only",),
                            scenes={"n2": "echo the last words; kill -KILL $$"})
        self.assertEqual(campaign.end()[0], 0)
        slurm.wait(lambda: "JobId" not in slurm.run("scontrol", "show", "job"), "forgetting")
        run = subprocess.run([FLEET, "--collect", campaign.folder, "--program", PROGRAM], env=slurm.environment,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             timeout=60, check=False)
        self.assertEqual(run.returncode, 3, run.stdout + run.stderr)
        self.assertEqual(campaign.host("n1")["verdict"], "PASS")
        self.assertEqual(campaign.host("n2")["faults"],
                         ["no results: Slurm knows nothing of the task any more: the last words"])

    def test_shards_of_one_dut_run_anywhere(self):
        campaign = self.campaign(where=("--one-dut", "switch-7"), options=("--shards", "3", "--share"))
        code, out, err = campaign.end()
        self.assertEqual(code, 0, out + err)
        self.assertEqual([host["name"] for host in campaign.merged()["hosts"]], ["switch-7"])
        self.assertIn("on 1 host", re.sub(r"\s+", " ", out))

    def test_each_host_has_words_of_its_own(self):
        for host in ("n10", "n11"):
            self.write(f"{host}.toml", f'[dut]\nfirmware = "of {host}"\n'.encode())
        campaign = self.campaign(hosts="n[10-11]", words=(*SELECTION, "--profile", f"{self.folder}/{{host}}.toml"))
        code, out, err = campaign.end()
        self.assertEqual(code, 0, out + err)
        self.assertEqual([host["dut"]["firmware"] for host in campaign.merged()["hosts"]], ["of n10", "of n11"])

    def test_what_cannot_be_written_or_run_is_an_error_of_its_host(self):
        campaign = self.campaign(hosts="n[10-12],nowhere", scenes={
            "n10": "ulimit -f 1", "n11": 'set -- "$@" --fabric verbs:none-such --dut none'})
        code, out, err = campaign.end()
        self.assertEqual(code, 3, out + err)
        self.assertRegex(campaign.host("n10")["faults"][0], "^no results: FAILED on n10: ")
        self.assertRegex(campaign.host("n11")["faults"][0], "^no results: FAILED on n11: exit code 2: ipoib-conform: .*none-such")
        self.assertEqual(campaign.host("n12")["verdict"], "PASS")
        self.assertRegex(campaign.host("nowhere")["faults"][0], "^no results: Slurm does not take nowhere: ")

    def state(self, *arguments):
        run = subprocess.run([FLEET, "--state", "--program", DUT_LINUX, "--folder", "asked", *arguments],
                             env=self.slurm.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, timeout=150, cwd=self.folder, check=False)
        told = self.folder / "asked/states.jsonl"
        return run, [json.loads(line) for line in told.read_text().splitlines()] if told.exists() else []

    def test_hosts_are_asked_for_their_state(self):
        run, told = self.state("--hosts", "n[10-12],nowhere", "--", "lo")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("3 of 4 hosts have told", run.stderr)
        self.assertIn("nowhere: Slurm does not take nowhere: ", run.stderr)
        self.assertEqual([(one["format"], one["interfaces"][0]["name"]) for one in told],
                         [("ipoib-host-state/1", "lo")] * 3)
        again = conform("audit", "--host-state", self.folder / "asked/states.jsonl")
        self.assertNotEqual(again.returncode, 2, again.stderr)

    def test_a_host_that_has_nothing_to_tell_is_named(self):
        run, told = self.state("--hosts", "n[10-11]")
        self.assertEqual((run.returncode, told), (3, []), run.stderr)
        self.assertRegex(run.stderr, r"n11: FAILED on n11: exit code 1: ipoib-dut-linux: this host has no IPoIB interface")
        self.assertIn("0 of 2 hosts have told", run.stderr)

    def test_the_commands_of_the_manual(self):
        for line in (SOURCE / "docs/fleet.md").read_text().splitlines():
            if not line.startswith("    scripts/fleet "):
                continue
            with self.subTest(line=line):
                words, _, rest = line.strip().partition(" -- ")
                words = re.sub(r"--hosts \S+|--partition \S+(?! .*--one-dut)", "--hosts n[10-12]", words)
                program = DUT_LINUX if "--state" in words else PROGRAM
                words = f"{words.replace('scripts/fleet', FLEET)} --program {shlex.quote(program)} --time 1"
                run = subprocess.run(["bash", "-c", f"{words} -- {rest}" if rest else words], cwd=self.folder,
                                     env=self.slurm.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True, timeout=120, check=False)
                if "--state" in line:
                    self.assertEqual(run.returncode, 3, run.stdout + run.stderr)
                    self.assertIn("there is no interface ib0", run.stderr)
                    continue
                # Where there is no adapter, each host says so.
                if "verbs:" in line:
                    self.assertEqual(run.returncode, 3, run.stdout + run.stderr)
                    self.assertRegex(re.sub(r"\s+", " ", run.stdout), r"FAILED on n10: exit code 2: .*(InfiniBand|mlx5)")
                else:
                    self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


class Usage(Fleet):
    def refused(self, *arguments, word):
        run = subprocess.run([FLEET, *map(str, arguments)], env=self.slurm.environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, cwd=self.folder,
                             check=False)
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        self.assertIn(word, run.stderr)

    def test_what_is_wrong_is_told_before_anything_is_submitted(self):
        program = ("--program", PROGRAM)
        self.refused(*program, word="is needed")
        self.refused("--hosts", "n1", "--one-dut", "x", *program, word="is needed")
        self.refused("--hosts", "n1", "--program", "/nonexistent", word="/nonexistent")
        self.refused("--hosts", "n[1-", *program, "--", word="no name of a host")
        self.refused("--hosts", "n1,n1", *program, word="twice")
        self.refused("--partition", "none-such", *program, word="no hosts in partition none-such")
        self.refused("--hosts", "n1", *program, "--", "--json", "x", word="--json")
        self.refused("--hosts", "n1", *program, "--", "--shard=1/2", word="--shard")
        self.refused("--hosts", "n1", *program, "--", "--no-such", word="no option --no-such")
        self.refused("--hosts", "n1", *program, "--no-such", word="--no-such")
        self.refused("--hosts", "n1", *program, "--shards", "0", word="--shards")
        self.refused("--hosts", "n1", *program, "--expect", "none-such", word="none-such")
        self.refused("--hosts", "n1", *program, "--junit", "none-such/x", word="none-such/x")
        state = ("--hosts", "n1", "--state", "--program", DUT_LINUX)
        self.refused(*state, "--json", "x", word="no reports: --json")
        self.refused(*state, "--strict", word="no reports: --strict")
        self.refused(*state, "--shards", "2", word="once each")
        self.refused("--one-dut", "x", "--state", word="once each")
        self.refused(*state, "--", "--all", word="not --all")
        self.refused("--collect", self.folder / "none-such", *program, word="none-such")
        (self.folder / "full").mkdir()
        self.write("full/x", b"")
        self.refused("--hosts", "n1", *program, "--folder", "full", word="not empty")
        self.write("full/fleet.json", b'{"format": 7}')
        self.refused("--collect", "full", *program, word="format")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["full"])

    def test_a_job_that_slurm_does_not_take_is_told(self):
        run = subprocess.run([FLEET, "--hosts", "n1", "--program", PROGRAM, "--time", "soon"], env=self.slurm.environment,
                             stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60, cwd=self.folder,
                             check=False)
        self.assertEqual(run.returncode, 3)
        self.assertIn("sbatch: ", run.stderr)


def load_tests(loader, *_):
    """In one class, for one Slurm; the test that waits longest comes last."""
    names = {name: getattr(one, name) for one in (Cancelled, Whole, Usage, Faults) for name in loader.getTestCaseNames(one)}
    helpers = {name: getattr(one, name) for one, name in ((Usage, "refused"), (Faults, "down_host"), (Whole, "state"))}
    everything = type("Everything", (Fleet,), {**names, **helpers})
    return unittest.TestSuite(everything(name) for name in names)


if __name__ == "__main__":
    if missing := missing_packages():
        print("not installed:", ", ".join(missing))
        sys.exit(SKIPPED)
    supervised(unittest.main)
