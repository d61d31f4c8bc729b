#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`run` as a person or a script would call it."""
import contextlib
import json
import os
import pathlib
import pty
import re
import shlex
import signal
import socket
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

from active import BREAKING_ADAPTER, CASE, MUTANT, Active
from program import PROGRAM, conform
from waiting import until


class Run(Active):
    def test_the_reference_passes_every_case_that_judges_a_stack(self):
        results = self.results()
        cases = {r["id"]: r for r in results["results"] if r["id"].startswith("IPOIB-")}
        self.assertGreaterEqual(len(cases), 25)
        for case in cases.values():
            self.assertIn(case["verdict"], ("PASS", "NA"), case)
            self.assertEqual(case["verdict"] == "NA", case["na"] is not None, case)
        self.assertEqual(cases[CASE]["verdict"], "PASS")
        self.assertGreaterEqual(cases[CASE]["observed"], 4)
        self.assertTrue(any(r["id"].startswith("RULE-") and r["verdict"] == "PASS" for r in results["results"]))
        self.assertEqual((results["fabric"]["kind"], results["fabric"]["clock"]), ("simulated", "virtual"))

    def test_the_subnet_administrator_is_judged_by_its_own_cases(self):
        judged = {id for id, verdict in self.verdicts("--dut", "sa").items()
                  if id.startswith("IPOIB-") and verdict == "PASS"}
        self.assertTrue(judged)
        self.assertTrue(judged.isdisjoint(
            id for id, verdict in self.verdicts().items() if id.startswith("IPOIB-") and verdict == "PASS"))

    def test_the_same_seed_gives_the_same_results_but_for_times(self):
        def timeless(value):
            if isinstance(value, dict):
                return {k: timeless(v) for k, v in value.items() if k not in ("started", "seconds")}
            return [timeless(v) for v in value] if isinstance(value, list) else value
        first = self.results(*MUTANT, "--seed", 7, code=1)
        self.assertEqual(timeless(first), timeless(self.results(*MUTANT, "--seed", 7, code=1)))
        self.assertEqual(first["seed"], 7)

    def test_a_mutant_fails_and_the_failure_ends_with_the_command_that_repeats_only_it(self):
        evidence = self.folder / "the evidence"
        run = conform("run", *MUTANT, "--seed", 5, "--scenario", "controlled", "--evidence", evidence)
        self.assertEqual(run.returncode, 1, run.stdout)
        for words in (CASE, "RFC4391-6-02", "Encap.Reserved", "expected 0x0000"):
            self.assertIn(words, run.stdout)
        failed = next(r for r in self.results(*MUTANT, "--seed", 5, "--scenario", "controlled", "--evidence", evidence,
                                              CASE, code=1)["results"])
        self.assertEqual((failed["id"], failed["verdict"]), (CASE, "FAIL"))
        repeat = failed["repeat"]
        self.assertEqual(shlex.split(repeat), [PROGRAM, "run", *MUTANT, "--scenario", "controlled", "--seed", "5",
                                               "--evidence", str(evidence), CASE])
        again = subprocess.run(["bash", "-c", repeat + " --json again.json"], cwd=self.folder, stdout=subprocess.PIPE)
        self.assertEqual(again.returncode, 1)
        results = json.loads((self.folder / "again.json").read_text())["results"]
        self.assertEqual([(r["id"], r["frames"]) for r in results], [(CASE, failed["frames"])])

    def test_evidence_proves_the_failure_and_check_does_not_blame_the_dut_for_the_testers_lies(self):
        results = self.results("--evidence", self.folder / "evidence", "tag:encap")
        case = next(r for r in results["results"] if r["id"] == CASE)
        self.assertEqual(case["evidence"], f"evidence/{CASE}.pcapng")
        self.assertIn(case["evidence"], [c["file"] for c in results["captures"]])
        run = conform("check", self.folder / case["evidence"], "RULE-RFC4391-6-02")
        self.assertEqual(run.returncode, 0, "the tester sets Reserved; the DUT does not: " + run.stdout)
        self.results(*MUTANT, "--evidence", self.folder / "evidence", CASE, code=1)
        run = conform("check", self.folder / case["evidence"], "RULE-RFC4391-6-02")
        self.assertEqual(run.returncode, 1, run.stdout)

    def test_evidence_says_that_it_is_whole_and_is_believed_as_long_as_it_is(self):
        self.results("--evidence", self.folder / "evidence", CASE)
        whole = (self.folder / "evidence" / f"{CASE}.pcapng").read_bytes()
        self.assertIn(b"Complete: its writer saw every packet", whole)
        cut = self.folder / "cut.pcapng"
        block = int.from_bytes(whole[-4:], "little")
        for octets, is_believed in ((whole, True), (whole[:-block], False), (whole + whole[-block:], False)):
            cut.write_bytes(octets)
            run = conform("check", cut)
            self.assertEqual("not believed" in run.stdout, not is_believed, run.stdout)

    def test_the_evidence_is_a_folder_of_its_own(self):
        path = self.write("file", b"")
        self.refuse("no folder for the evidence", "--evidence", path)
        self.assertEqual(path.read_bytes(), b"")
        self.refuse("no folder", "--evidence", path / "below")
        self.refuse("overwritten", "--evidence", self.folder / "same", "--json", self.folder / "same")
        self.assertFalse((self.folder / "same").exists())

    def test_evidence_that_cannot_be_written_costs_no_verdict_and_shifts_nothing(self):
        evidence = self.folder / "evidence"
        selected = [*MUTANT, "--seed", 5, "--scenario", "controlled", "--evidence", evidence, "rfc4391/6"]
        before = self.results(*selected, code=1)
        for ending in ("pcapng", "journal.jsonl"):
            (evidence / f"{CASE}.{ending}").unlink()
            (evidence / f"{CASE}.{ending}").mkdir()
        after = self.results(*selected, code=3)
        lost = next(r for r in after["results"] if r["id"] == "EVIDENCE")
        after["results"].remove(lost)
        self.assertEqual(lost["verdict"], "ERROR")
        self.assertRegex(lost["message"], f"{CASE}.*{CASE}.pcapng.*: Is a directory")
        self.assertEqual([(r["id"], r["verdict"], r.get("capture"), len(r["details"])) for r in before["results"]],
                         [(r["id"], r["verdict"], r.get("capture"), len(r["details"])) for r in after["results"]])
        self.assertEqual([c["file"] for c in before["captures"]],
                         [c["file"] or f"evidence/{CASE}.pcapng" for c in after["captures"]])
        notes = next(r for r in after["results"] if r["id"] == CASE)["notes"]
        for ending in ("pcapng", "journal.jsonl"):
            self.assertTrue(any(f"{CASE}.{ending}" in n for n in notes), notes)

    def test_a_folder_that_takes_no_file_is_refused_before_the_run(self):
        self.refuse("no folder for the evidence: /proc/", "--evidence", "/proc/sys")

    def test_selectors_match_cases_and_rules_alike(self):
        chosen = {r["id"]: r["checks"] for r in self.results("rfc4391/6", "!*-VAL-*")["results"]}
        self.assertIn(CASE, chosen)
        self.assertIn("RULE-RFC4391-6-02", chosen)
        for id, checks in chosen.items():
            self.assertNotIn("-VAL-", id)
            self.assertTrue(any(one.startswith("RFC4391-6-") for one in checks), (id, checks))
        everything = self.results()["results"]
        self.assertEqual(set(chosen), {r["id"] for r in everything if "-VAL-" not in r["id"]
                                       and any(one.startswith("RFC4391-6-") for one in r["checks"])})
        self.assertEqual(set(self.verdicts(CASE)), {CASE})
        self.refuse("'rfc4391/66'", "rfc4391/66")
        self.refuse("leave no case", "RULE-RFC4391-6-02")

    def test_what_is_not_allowed_is_na_for_safety(self):
        results = self.results("--allow", "observe", "rfc4391/10", "IPOIB-4391-10-*", code=4)["results"]
        self.assertEqual({r["na"] for r in results if r["id"] == "IPOIB-4391-10-INV-001"}, {"safety"})
        allowed = self.results("--allow", "dut", "IPOIB-4391-10-*")["results"]
        self.assertEqual({r["verdict"] for r in allowed if r["na"] != "safety"} - {"NA"}, {"PASS"})
        self.assertTrue(any(r["na"] == "safety" for r in allowed))

    def test_a_rehearsal_tells_impact_time_and_obstacles_and_writes_nothing(self):
        run = conform("run", "--dry-run", "--allow", "dut", "--timeout-scale", 3, "--json", self.folder / "r.json",
                      "--evidence", self.folder / "evidence")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, rf"(?m)^{CASE} +impact dut +at most 240 s$")
        self.assertRegex(run.stdout, r"(?m)^IPOIB-4391-10-INV-001 +impact link +NA \(safety\): ")
        self.assertIn("Nothing was sent.", run.stdout)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_cases_run_in_the_order_that_was_asked_for(self):
        def order(*arguments):
            path = self.folder / "order.json"
            self.assertEqual(conform("run", "tag:encap", "--json", path, *arguments).returncode, 0)
            results = json.loads(path.read_text())
            return [one["id"] for one in results["results"] if one["id"].startswith("IPOIB-")], results["command"]

        declared, _ = order("--order", "declared")
        self.assertEqual(order()[0], declared)
        shuffled, command = order("--order", "seed=7")
        self.assertEqual(order("--order", "seed=7")[0], shuffled)
        self.assertNotEqual(shuffled, declared)
        self.assertNotEqual(order("--order", "seed=8")[0], shuffled)
        self.assertEqual(sorted(shuffled), sorted(declared))
        self.assertIn("seed=7", command)
        for wrong in ("random", "seed=", "seed=x", "seed=-1", "seed=1 ", ""):
            self.assertEqual(conform("run", "--order", wrong).returncode, 2, wrong)
        run = conform("run", *MUTANT, CASE, "--order", "seed=7")
        self.assertIn("--order seed=7", run.stdout, "the command that repeats it")

    def test_shards_cover_every_case_once_and_every_rule_watches_in_each(self):
        whole = self.verdicts()
        parts = [set(self.verdicts("--shard", f"{i}/3")) for i in (1, 2, 3)]
        cases = [{id for id in part if id.startswith("IPOIB-")} for part in parts]
        self.assertEqual(sum(map(len, cases)), len(set.union(*cases)))
        self.assertEqual(set.union(*parts), set(whole))
        for wrong in ("0/3", "4/3", "3", "1/2x", "a/b", "/2", "-1/2", ""):
            self.assertEqual(conform("run", "--shard", wrong).returncode, 2, wrong)

    def test_only_what_failed_is_run_again(self):
        before = self.folder / "before.json"
        conform("run", *MUTANT, "IPOIB-4391-6-*", "IPOIB-4391-7-*", "--json", before)
        results = json.loads(before.read_text())["results"]
        self.assertEqual([r["id"] for r in results if r["verdict"] != "PASS"], [CASE])
        self.assertEqual(self.verdicts(*MUTANT, "--only-failed", before, code=1), {CASE: "FAIL"})
        self.assertEqual(self.verdicts("--only-failed", before), {CASE: "PASS"}, "the reference has no such fault")
        self.assertEqual(conform("run", "--only-failed", before, "IPOIB-4391-7-*").returncode, 4, "selected out")

    def test_a_failed_rule_brings_the_cases_that_show_it_or_all_when_nothing_tells(self):
        rule, before = "RULE-RFC4391-6-02", self.folder / "before.json"
        evidence = ["--evidence", self.folder / "evidence"]
        for evidence, tells, again in (([], False, {CASE, "IPOIB-4391-6-VAL-001"}),
                                       ([], True, {"IPOIB-4391-6-VAL-001"}),
                                       (evidence, False, {"IPOIB-4391-6-VAL-001"})):
            conform("run", *MUTANT, rule, CASE, "IPOIB-4391-6-VAL-001", "--json", before, *evidence)
            content = json.loads(before.read_text())
            content["results"] = [r for r in content["results"] if r["id"] != CASE or evidence or tells]
            for result in content["results"]:
                if result["id"] == CASE:
                    result["verdict"] = "PASS"
                result["details"] = [d for d in result["details"]
                                     if not evidence or CASE not in content["captures"][d["capture"]]["file"]]
                # Results of older versions do not name the cases.
                result["cases"] = [c for c in result["cases"] if tells and c["id"] != CASE]
            before.write_text(json.dumps(content))
            self.assertEqual(set(self.verdicts(*MUTANT, "IPOIB-4391-6-VAL-001", CASE, rule, "--only-failed", before,
                                               code=1)), again | {rule})

    def test_nothing_to_repeat_exits_4_and_an_id_from_elsewhere_is_named(self):
        before = self.folder / "before.json"
        conform("run", CASE, "--json", before)
        run = conform("run", "--only-failed", before, "--junit", self.folder / "r.xml")
        self.assertEqual(run.returncode, 4, run.stdout)
        self.assertIn("nothing to repeat", run.stderr)
        self.assertTrue((self.folder / "r.xml").exists())
        other = self.write("other.json", b'{"format": "ipoib-conform-results/1", "results": '
                                         b'[{"id": "IPOIB-1-INV-001", "verdict": "FAIL"}]}')
        run = conform("run", "--only-failed", other)
        self.assertEqual(run.returncode, 4)
        self.assertIn("'IPOIB-1-INV-001'", run.stderr)
        self.refuse("cannot be opened", "--only-failed", self.folder / "none.json")
        self.refuse("overwritten", "--only-failed", before, "--json", before)

    def test_the_worst_of_several_repetitions_counts(self):
        results = self.results(*MUTANT, CASE, "--repeat", 3, code=1)["results"]
        self.assertEqual([r["id"] for r in results], [CASE])
        self.assertIn("FAIL in 3 of 3 repetitions: 1, 2, 3", results[0]["notes"])
        self.assertEqual(results[0]["repetitions"], {"FAIL": 3})
        self.assertIn("--repeat 3", results[0]["repeat"])
        for wrong in (0, -1, "x"):
            self.assertEqual(conform("run", "--repeat", wrong).returncode, 2)

    def test_the_profile_names_the_dut_and_what_it_is(self):
        profile = self.write("DUT.toml", b'[dut]\nname = "Ours"\nvendor = "Us"\n[profile]\nrole = "host"\n'
                                         b'[control]\ntester = ["10.1.0.77/24"]\n')
        results = self.results("--profile", profile, CASE)
        self.assertEqual((results["dut"]["name"], results["dut"]["vendor"]), ("Ours", "Us"))
        self.assertEqual(results["dut"]["driver"], "reference", "what only the DUT tells is kept")
        wrong = self.write("wrong.toml", b"[dut]\nnames = 1\n")
        self.refuse("wrong.toml:2", "--profile", wrong)
        self.refuse("overwritten", "--profile", profile, "--json", profile)

    def test_the_baseline_excuses_what_it_names(self):
        self.results(*MUTANT, "rfc4391/6", code=1)
        text = conform("baseline", self.folder / "results.json").stdout.replace('reason = ""', 'reason = "known"')
        known = self.write("known.toml", text.encode())
        self.assertEqual(self.verdicts(*MUTANT, "rfc4391/6", "--expect", known)[CASE], "XFAIL")
        self.assertEqual(self.verdicts("rfc4391/6", "--expect", known, code=1)[CASE], "XPASS")

    def test_what_is_not_built_or_does_not_exist_is_a_usage_error(self):
        for words, arguments in (("--dut", ["--fabric", "verbs:none-such"]),
                                 ("none-such", ["--fabric", "verbs:none-such", "--dut", "none"]),
                                 ("nowhere", ["--fabric", "nowhere"]),
                                 ("nobody", ["--dut", "nobody"]), ("mutant", ["--dut", "mutant:nothing"]),
                                 ("scope5", ["--scenario", "nothing"]), ("--dut", ["--fabric", "socket:/x"]),
                                 ("path", ["--fabric", "socket:tap=/x", "--dut", "none"]),
                                 ("sm-key", ["--fabric", "socket:/x,sm-key=one", "--dut", "none"]),
                                 ("--fabric-control", ["--fabric", "socket:/x", "--dut", "none",
                                                       "--scenario", "mtu4k"]),
                                 ("--listen", ["--fabric", "socket:/x", "--dut", "none", "--listen", "/y"]),
                                 ("10.1.0.1/24", ["--tester-ip", "10.1.0.1"]), ("--allow", ["--allow", "all"]),
                                 ("--timeout-scale", ["--timeout-scale", "nan"]),
                                 ("--timeout-scale", ["--timeout-scale", "0.01"])):
            with self.subTest(arguments=arguments):
                self.refuse(words, *arguments)


class WhatBreaks(Active):
    """Fabrics, adapters and nodes that fail in the middle of a run, and who interrupts it."""

    def test_a_fabric_that_is_not_there_is_one_error_and_the_reports_are_written(self):
        junit = self.folder / "r.xml"
        arguments = ("--fabric", f"socket:{self.folder / 'none'}", "--dut", "none")
        results = self.results(*arguments, "--junit", junit, CASE, code=3)["results"]
        self.assertEqual([(r["id"], r["verdict"]) for r in results], [("SESSION", "ERROR")])
        self.assertIn("No such file", results[0]["message"])
        self.assertEqual(ElementTree.parse(junit).getroot().find("testsuite").get("errors"), "1")
        self.assertEqual(conform("list", *arguments).returncode, 3)
        self.assertEqual(conform("run", *arguments, "--dry-run").returncode, 3)

    def test_an_adapter_that_ends_at_once_is_an_error_with_the_reason(self):
        verdicts = self.results("--listen", self.folder / "port", "--dut", "exec:echo gone >&2; exit 3", CASE, code=3)
        self.assertEqual(verdicts["results"][0]["verdict"], "ERROR")
        self.assertRegex(verdicts["results"][0]["message"], r"adapter|exit|ended")

    def test_an_adapter_that_breaks_in_one_case_is_an_error_of_that_case_only(self):
        adapter = self.folder / "adapter.py"
        adapter.write_text(BREAKING_ADAPTER)
        for way, reason in (("die", r"ended|exit"), ("hang", r"no answer|answer"), ("flood", r"64 KiB|unasked|asked"),
                            ("lie", r"which does not exist"), ("babble", r"JSON")):
            with self.subTest(way=way):
                (self.folder / way).touch()
                command = f"exec:exec python3 {adapter} {way} {self.folder / way}"
                verdicts = self.results("--listen", self.folder / "port", "--dut", command, "--timeout-scale", "0.1",
                                        "IPOIB-4391-5-VAL-001", "IPOIB-4391-5-INV-002", code=3)["results"]
                self.assertEqual([r["verdict"] for r in verdicts], ["ERROR", "NA"])
                self.assertRegex(verdicts[0]["message"], reason)

    def test_nothing_that_an_adapter_has_started_outlives_the_run(self):
        adapter, note = self.folder / "adapter.py", self.folder / "note"
        adapter.write_text(BREAKING_ADAPTER)

        def pid():
            return int(note.read_text()) if note.exists() and note.read_text().endswith("\n") else 0

        def runs():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                return pathlib.Path(f"/proc/{pid()}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
            return False

        daemon = f"(setsid sh -c 'setsid sleep 1000 & echo $! > {note}')"
        speaks = f"exec python3 {adapter}"
        for what, signals, codes in ((f"{speaks} none none", [], (0, 4, 5)), ("exit 3", [], (3,)),
                                     (f"touch {self.folder}/hang; {speaks} hang {self.folder}/hang", [signal.SIGINT], (3,)),
                                     ("trap '' TERM; while :; do sleep 1000; done", [signal.SIGTERM], (3,))):
            with self.subTest(what=what, signals=signals):
                note.unlink(missing_ok=True)
                child = subprocess.Popen([PROGRAM, "run", "--listen", self.folder / "port", "--dut",
                                          f"exec:{daemon}; {what}", "--timeout-scale", "0.1", CASE],
                                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                         text=True)
                self.addCleanup(lambda child=child: (child.kill() if child.poll() is None else None, child.communicate()))
                until(pid, "process of the adapter's")
                for one in signals:
                    self.assertTrue(runs())
                    child.send_signal(one)
                out, err = child.communicate(timeout=60)
                self.assertIn(child.returncode, codes, out + err)
                self.assertEqual(err, "")
                self.assertFalse(runs(), "it is still there")

    def test_a_node_that_closes_within_a_frame_or_sends_nonsense_harms_only_its_own_cases(self):
        port = self.folder / "port"
        child = subprocess.Popen([PROGRAM, "run", "--listen", port, "--dut", "none", "--timeout-scale", "0.1", CASE],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (child.kill() if child.poll() is None else None, child.communicate()))
        until(port.exists, "raw port")

        def connects(node):
            # The file is there a moment before somebody listens.
            with contextlib.suppress(ConnectionRefusedError):
                node.connect(str(port))
                return True

        for nonsense in (b"\x01\x00abc", b"\xff\xff" + bytes(100), b"\x00\x1a" + bytes(26), b"\x00"):
            with socket.socket(socket.AF_UNIX) as node:
                until(lambda: connects(node), "fabric that listens", 10)
                with contextlib.suppress(BrokenPipeError):  # the fabric has closed it already
                    node.sendall(nonsense)
        out, _ = child.communicate(timeout=60)
        # Nobody tells its address: its case is NA.
        self.assertEqual(child.returncode, 4, out)
        self.assertFalse(port.exists(), "the socket file is left behind")

    def test_after_ctrl_c_the_reports_are_written_and_what_was_not_begun_is_an_error(self):
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        path = self.folder / "r.json"
        child = subprocess.Popen([PROGRAM, "run", "IPOIB-*", "--listen", self.folder / "port", "--dut", "none", "--json",
                                  path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs)
        os.close(theirs)
        self.addCleanup(lambda: (child.kill() if child.poll() is None else None, child.communicate()))
        drawn = b""
        while not re.search(rb"\[\d+/\d+\] IPOIB-", drawn):
            drawn += os.read(ours, 65536)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=30)
        self.assertEqual(child.returncode, 3, out)
        results = json.loads(path.read_text())["results"]
        self.assertTrue(any("interrupted" in r["message"] for r in results if r["verdict"] == "ERROR"))
        try:
            while part := os.read(ours, 65536):
                drawn += part
        except OSError:  # the terminal's other side is closed
            pass
        self.assertTrue(drawn.endswith(b"\r"), "the line is wiped out at the end")

    def test_progress_is_for_terminals_only(self):
        self.assertEqual(conform("run").stderr, "")


if __name__ == "__main__":
    unittest.main()
