#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Two implementations, each the other's peer: who broke what (docs/against.md)."""
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import unittest
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from active import BREAKING_ADAPTER, Active
from bundles import packed
from program import PROGRAM, SOURCE, conform
from waiting import until

EXCHANGES = ["INTEROP-BRING-UP", "INTEROP-UNICAST-IPV4", "INTEROP-UNICAST-IPV6", "INTEROP-BROADCAST",
             "INTEROP-MULTICAST-IPV4", "INTEROP-MULTICAST-IPV6", "INTEROP-NEW-QPN", "INTEROP-CONNECTED", "INTEROP-DHCP",
             "INTEROP-SM-RESTART"]
NODE = Path(os.environ["IPOIB_BUILD"]) / "samples/ipoib-node"
C_NODE = f"exec:{SOURCE}/samples/python-adapter/adapter.py --node {NODE} --port {{port}} --guid {{guid}}"


def by_side(results):
    """Of each side what each exchange came to."""
    found = {"dut": {}, "against": {}}
    for one in results["results"]:
        if not one["id"].startswith("RULE-"):
            found[one["host"]][one["id"]] = one
    return found


def verdicts(exchanges):
    return {id: one["verdict"] for id, one in exchanges.items()}


class Against(Active):
    def meet(self, *arguments, code=0):
        return by_side(self.results(*arguments, code=code))


class OfOurs(Against):
    def test_the_reference_and_itself_do_everything(self):
        sides = self.meet("--against", "reference")
        for side in sides.values():
            self.assertEqual(verdicts(side), dict.fromkeys(EXCHANGES, "PASS"))
            self.assertGreater(side["INTEROP-UNICAST-IPV4"]["observed"], 20)

    def test_who_tells_of_a_port_that_is_none_is_at_fault_alone(self):
        for broken, right in (("against", "dut"), ("dut", "against")):
            with self.subTest(broken):
                sides = self.meet(f"--{broken}", "mutant:gid-foreign", f"--{right}", "reference", "INTEROP-BR*", code=3)
                self.assertEqual(set(verdicts(sides[broken]).values()), {"ERROR"})
                self.assertEqual(set(verdicts(sides[right]).values()), {"INCONC"})
                said = f"of {broken}, its adapter tells port GUID "
                self.assertIn(said, sides[right]["INTEROP-BRING-UP"]["message"])

    def test_who_does_not_answer_is_charged_whichever_side_it_is_on(self):
        for broken, right in (("against", "dut"), ("dut", "against")):
            with self.subTest(broken):
                sides = self.meet(f"--{broken}", "mutant:arp-unanswered", f"--{right}", "reference", code=1)
                failed = {id for id, verdict in verdicts(sides[broken]).items() if verdict == "FAIL"}
                # Where it has spoken first, it need not be asked.
                self.assertLessEqual({"INTEROP-UNICAST-IPV4", "INTEROP-NEW-QPN", "INTEROP-DHCP"}, failed)
                self.assertLessEqual(failed, {id for id in EXCHANGES if not re.search("IPV6|MULTICAST|BROADCAST|BRING", id)})
                self.assertEqual(set(verdicts(sides[broken]).values()), {"FAIL", "PASS"})
                self.assertEqual(verdicts(sides[right]), dict.fromkeys(EXCHANGES, "PASS"))
                failed = sides[broken]["INTEROP-UNICAST-IPV4"]
                self.assertRegex(failed["message"], f"an ARP reply by {broken} expected, none came after frame \\d+")
                self.assertEqual({id for detail in failed["details"] for id in detail["requirements"]}, {"RFC4391-9-01"})

    def test_a_wrong_frame_is_charged_to_its_sender_and_excuses_the_other(self):
        sides = self.meet("--against", "mutant:arp-hardware-1", code=1)
        failed, excused = sides["against"]["INTEROP-UNICAST-IPV4"], sides["dut"]["INTEROP-UNICAST-IPV4"]
        self.assertEqual((failed["verdict"], excused["verdict"]), ("FAIL", "INCONC"))
        self.assertIn("RULE-RFC4391-9.2-01", failed["message"])
        self.assertRegex(excused["message"], "it need not: of against, frame \\d+ violates RULE-RFC4391-9.2-01")
        self.assertEqual(verdicts(sides["dut"])["INTEROP-UNICAST-IPV6"], "PASS")

    def test_what_goes_astray_is_told_with_its_frame(self):
        sides = self.meet("--against", "mutant:multicast-without-grh", "INTEROP-BROADCAST", code=1)
        self.assertEqual(sides["dut"]["INTEROP-BROADCAST"]["verdict"], "PASS")
        self.assertRegex(sides["against"]["INTEROP-BROADCAST"]["message"], "frame \\d+ is astray: it has no GRH")

    def test_who_does_not_come_up_is_charged_once(self):
        sides = self.meet("--against", "mutant:broadcast-join-send-only", code=1)
        self.assertEqual(verdicts(sides["against"])["INTEROP-BRING-UP"], "FAIL")
        self.assertNotIn("FAIL", verdicts(sides["dut"]).values())
        for id in EXCHANGES[1:]:
            self.assertEqual(sides["against"][id]["verdict"], "INCONC", id)

    def test_the_evidence_names_both_and_is_judged_alike_by_check(self):
        folder = self.folder / "evidence"
        sides = self.meet("--against", "mutant:reserved-not-zero", "--evidence", folder, "INTEROP-BROADCAST", code=1)
        self.assertEqual(sides["against"]["INTEROP-BROADCAST"]["evidence"], "evidence/INTEROP-BROADCAST.pcapng")
        frames = (folder / "INTEROP-BROADCAST.pcapng").read_bytes()
        self.assertIn(b"against\0", frames)
        path = self.folder / "check.json"
        self.assertEqual(conform("check", folder / "INTEROP-BROADCAST.pcapng", "--json", path).returncode, 1)
        rule = next(r for r in json.loads(path.read_text())["results"] if r["id"] == "RULE-RFC4391-6-02")
        self.assertEqual({detail["subject"] for detail in rule["details"]}, {"0002c90300dd0021"})

    def test_reports_name_the_side(self):
        page, junit = self.folder / "page.html", self.folder / "junit.xml"
        run = conform("run", "--against", "mutant:arp-unanswered", "INTEROP-UNICAST-*", "--html", page, "--junit", junit)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("an ARP reply by against expected", page.read_text())
        self.assertRegex(junit.read_text(), "against[^<]*INTEROP-UNICAST-IPV4|INTEROP-UNICAST-IPV4[^<]*against")

    def test_a_bundle_of_two_is_judged_again_and_an_edit_is_told(self):
        bundle, results = self.folder / "two.tar", self.folder / "results.json"
        run = conform("run", "--against", "mutant:arp-unanswered", "--bundle", bundle, "--json", results)
        self.assertEqual(run.returncode, 1, run.stderr)
        again = conform("verify", bundle)
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        self.assertIn(f"{len(EXCHANGES)} exchanges were played again", again.stdout)
        with tarfile.open(bundle) as archive:
            members = {one.name: archive.extractfile(one).read() for one in archive}
        self.assertEqual(set(members), {"SHA256SUMS", "session.json", "results.json"} | {
            id + ending for id in EXCHANGES for ending in (".pcapng", ".journal.jsonl")})
        self.assertEqual(json.loads(members["results.json"])["judge"], json.loads(results.read_text())["judge"])

        def refuse(what, files):
            files = dict(files)
            if "session.json" in files:
                session = json.loads(files["session.json"])
                for pair in session["sha256"]:
                    if pair[0] in files:
                        pair[1] = hashlib.sha256(files[pair[0]]).hexdigest()
                files["session.json"] = json.dumps(session).encode()
            edited = packed(self.folder / "edited.tar", files)
            with self.subTest(what=what):
                run = conform("verify", edited)
                self.assertIn(run.returncode, (1, 2), run.stdout)

        id = "INTEROP-UNICAST-IPV4"
        journal, capture = f"{id}.journal.jsonl", f"{id}.pcapng"
        for what, name, edit in (
                ("a verdict", "results.json", lambda text: text.replace(b'"FAIL"', b'"PASS"', 1)),
                ("a verdict in the record", "session.json", lambda text: text.replace(b'"FAIL"', b'"PASS"', 1)),
                ("an exchange fewer", "session.json", lambda text: text.replace(f'  "{id}",\n'.encode(), b"", 1)),
                ("who was asked", journal, lambda text: text.replace(b'"side":"against"', b'"side":"dut"', 1)),
                ("what the subnet manager holds", journal,
                 lambda text: re.sub(rb'("look_up":"lid".*?"value":)(\d+)', rb"\g<1>77", text, count=1)),
                ("the verdicts of the journal", journal,
                 lambda text: text.replace(b'"verdict":"PASS FAIL"', b'"verdict":"PASS PASS"')),
                ("a cut journal", journal, lambda text: text[:len(text) // 2]),
                ("a frame", capture, lambda octets: octets[:-300] + b"\x55" + octets[-299:])):
            after = edit(members[name])
            self.assertNotEqual(after, members[name], what)
            refuse(what, {**members, name: after})
        for name in members:
            if name != "SHA256SUMS":
                refuse(f"missing {name}", {other: text for other, text in members.items() if other != name})

    def test_of_many_violations_as_many_are_kept_as_a_report_shows(self):
        bundle = self.folder / "two.tar"
        sides = self.meet("--against", "mutant:arp-cut-to-6", "INTEROP-CONNECTED", "--bundle", bundle, code=1)
        failed = sides["against"]["INTEROP-CONNECTED"]
        self.assertGreater(failed["violations"], 100)
        self.assertEqual(len(failed["details"]), 100)
        again = conform("verify", bundle)
        self.assertEqual(again.returncode, 0, again.stdout)

    def test_evidence_is_counted_once_for_each_side(self):
        results = self.results("--against", "reference", "--evidence", self.folder / "evidence")
        captures = [(capture["host"], capture["file"]) for capture in results["captures"]]
        self.assertEqual(sorted(captures), sorted((side, f"evidence/{id}.pcapng") for side in ("dut", "against")
                                                  for id in EXCHANGES))
        for one in results["results"]:
            if one["evidence"]:
                self.assertEqual(captures[one["capture"]], (one["host"], one["evidence"]))

    def test_what_is_repeated_counts_by_the_worst_and_tells_how_often(self):
        bundle = self.folder / "two.tar"
        sides = self.meet("--against", "mutant:arp-unanswered", "INTEROP-BROADCAST", "INTEROP-UNICAST-IPV4", "--repeat", 3,
                          "--bundle", bundle, code=1)
        self.assertEqual(sides["dut"]["INTEROP-BROADCAST"]["repetitions"], {"PASS": 3})
        self.assertEqual(sides["against"]["INTEROP-UNICAST-IPV4"]["repetitions"], {"FAIL": 3})
        again = conform("verify", bundle)
        self.assertEqual(again.returncode, 0, again.stdout)
        self.assertIn("6 exchanges were played again", again.stdout)

    def test_the_same_seed_gives_the_same_frames(self):
        folders = [self.folder / "a", self.folder / "b"]
        for folder in folders:
            conform("run", "--against", "mutant:permitted-chatty", "--seed", 3, "--evidence", folder)
        for id in EXCHANGES:
            self.assertEqual(*((folder / f"{id}.pcapng").read_bytes() for folder in folders), id)


class Parts(Against):
    """What a run of cases can be told, a run of exchanges can be told, too."""
    DEAF = ("--against", "mutant:arp-unanswered")

    def test_shards_are_all_exchanges_and_are_merged_into_one(self):
        whole, paths = self.meet(*self.DEAF, code=1), []
        merged = self.folder / "merged.json"
        parts = []
        for shard in ("1/3", "2/3", "3/3"):
            paths.append(self.folder / f"{shard[0]}.json")
            run = conform("run", *self.DEAF, "--shard", shard, "--json", paths[-1])
            self.assertIn(run.returncode, (0, 1), run.stderr)
            parts.append(by_side(json.loads(paths[-1].read_text())))
        for side in ("dut", "against"):
            self.assertEqual(sorted(id for part in parts for id in part[side]), sorted(EXCHANGES))
            for part in parts:
                self.assertLess(len(part[side]), len(EXCHANGES))
                # An exchange alone is what it is among all.
                self.assertEqual(verdicts(part[side]), {id: whole[side][id]["verdict"] for id in part[side]})
        run = conform("merge", *paths, "--json", merged)
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertEqual({side: verdicts(of) for side, of in by_side(json.loads(merged.read_text())).items()},
                         {side: verdicts(of) for side, of in whole.items()})

    def test_another_order_gives_the_same_verdicts_and_is_kept_in_a_bundle(self):
        bundle = self.folder / "two.tar"
        shuffled = self.meet(*self.DEAF, "--order", "seed=7", "--bundle", bundle, code=1)
        declared = self.meet(*self.DEAF, code=1)
        for side in ("dut", "against"):
            self.assertNotEqual(list(shuffled[side]), list(declared[side]))
            self.assertEqual(verdicts(shuffled[side]), verdicts(declared[side]))
        again = conform("verify", bundle)
        self.assertEqual(again.returncode, 0, again.stdout)

    def test_what_failed_on_either_side_is_repeated(self):
        path = self.folder / "first.json"
        for sides in (("--dut", "reference", *self.DEAF), ("--dut", "mutant:arp-unanswered", "--against", "reference")):
            run = conform("run", *sides, "--json", path)
            self.assertEqual(run.returncode, 1)
            bad = {one["id"] for one in json.loads(path.read_text())["results"]
                   if one["verdict"] in ("FAIL", "WARN", "INCONC") and one["id"] in EXCHANGES}
            self.assertLess(len(bad), len(EXCHANGES))
            self.assertEqual(set(self.meet(*sides, "--only-failed", path, code=1)["dut"]), bad)
        # Where only a rule is told, what brought it about.
        results = json.loads(path.read_text())
        wrong = ("--against", "mutant:reserved-not-zero", "INTEROP-BROADCAST", "INTEROP-UNICAST-IPV4")
        self.assertEqual(conform("run", *wrong, "--json", path).returncode, 1)
        results = json.loads(path.read_text())
        results["results"] = [one for one in results["results"] if one["id"].startswith("RULE-")]
        path.write_text(json.dumps(results))
        self.assertEqual(set(self.meet(*wrong, "--only-failed", path, code=1)["dut"]),
                         {"INTEROP-BROADCAST", "INTEROP-UNICAST-IPV4"})

    def test_nothing_that_failed_is_nothing_to_repeat(self):
        path = self.folder / "first.json"
        conform("run", "--against", "reference", "INTEROP-BROADCAST", "--json", path)
        run = conform("run", "--against", "reference", "--only-failed", path)
        self.assertEqual(run.returncode, 4, run.stdout + run.stderr)
        self.assertIn("nothing to repeat", run.stderr)

    def test_after_so_many_failures_nothing_more_begins(self):
        bundle = self.folder / "two.tar"
        sides = self.meet(*self.DEAF, "--max-failures", 2, "--bundle", bundle, code=1)
        begun = list(sides["dut"])
        self.assertEqual(begun, EXCHANGES[:len(begun)])
        self.assertLess(len(begun), len(EXCHANGES))
        self.assertEqual(list(verdicts(sides["against"]).values()).count("FAIL"), 2)
        self.assertEqual(sides["against"][begun[-1]]["verdict"], "FAIL")
        self.assertIn(f"there are 2 failures (--max-failures): {len(EXCHANGES) - len(begun)} exchanges were not begun",
                      sides["against"][begun[-1]]["notes"])
        # What was not begun is not judged again either.
        again = conform("verify", bundle)
        self.assertEqual(again.returncode, 0, again.stdout)
        self.assertIn(f"{len(begun)} exchanges were played again", again.stdout)

    def test_a_run_is_paused_at_a_violation_or_before_an_exchange(self):
        for where, against, why in (
                ("INTEROP-BROADCAST", "reference", "its steps begin now"),
                ("fail", "mutant:arp-unanswered", r"against: .*ARP reply by against expected, none came after frame \d+"),
                ("fail", "mutant:reserved-not-zero", r"against: frame \d+ violates RULE-RFC4391-6-02 \(.*\)")):
            with self.subTest(where, against=against), subprocess.Popen(
                    [PROGRAM, "run", "--against", against, "INTEROP-BROADCAST", "INTEROP-UNICAST-IPV4", "--pause-on", where],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
                line = run.stderr.readline()
                self.assertRegex(line, f"paused: INTEROP-[A-Z0-9-]+: {why}. Both are as they were then, and no deadline runs. "
                                       "Enter goes on.")
                self.assertIsNone(run.poll())
                out, error = run.communicate("\n\n", timeout=60)
                self.assertEqual(run.returncode, 0 if against == "reference" else 1, out + error)
        # Both adapters' processes are named, for a debugger.
        run = conform("run", "--dut", C_NODE, "--against", C_NODE, "INTEROP-BROADCAST", "--pause-on", "INTEROP-BROADCAST")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(len(re.findall(r"ipoib-node \(process \d+\)", run.stderr)), 2, run.stderr)
        self.assertIn("standard input is at its end: the run goes on", run.stderr)


class OfMutants(Against):
    def test_no_mutant_makes_the_reference_fail(self):
        names = re.findall(r"^\| `([a-z0-9-]+)` \|", (SOURCE / "docs/kill-matrix.md").read_text(), re.MULTILINE)
        self.assertGreater(len(names), 300)

        def accused(name):
            path = self.folder / f"{name}.json"
            run = conform("run", "--against", f"mutant:{name}", "--json", path)
            if run.returncode == 2:  # of the subnet administrator
                return name, None, None
            sides = by_side(json.loads(path.read_text()))
            return name, "FAIL" in verdicts(sides["dut"]).values(), "FAIL" in verdicts(sides["against"]).values()
        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(accused, names))
        self.assertEqual([name for name, reference, _ in found if reference], [])
        # Many show only where a tester says what no right implementation does.
        self.assertGreater(sum(bool(mutant) for _, _, mutant in found), 80)


class OfOthers(Against):
    def test_the_c_node_and_the_reference(self):
        sides = self.meet("--against", C_NODE)
        for side in sides.values():
            self.assertEqual({id for id, verdict in verdicts(side).items() if verdict == "NA"},
                             {"INTEROP-UNICAST-IPV6", "INTEROP-MULTICAST-IPV6", "INTEROP-DHCP"})
            self.assertEqual({verdict for verdict in verdicts(side).values()}, {"PASS", "NA"})
        self.assertIn("its queue pair has the same number after a restart", sides["against"]["INTEROP-NEW-QPN"]["notes"])

    def test_fragments_that_nobody_puts_together_are_a_finding(self):
        path = self.folder / "results.json"
        run = conform("run", "--against", C_NODE, "INTEROP-UNICAST-IPV4", "--json", path)
        self.assertEqual(run.returncode, 0, run.stdout)
        (finding,) = json.loads(path.read_text())["findings"]
        self.assertEqual((finding["name"], finding["host"]), ("fragments-unanswered", "against"))

    def test_two_c_nodes_by_one_port(self):
        sides = self.meet("--dut", C_NODE, "--against", C_NODE, "INTEROP-UNICAST-IPV4", "INTEROP-BROADCAST",
                          "INTEROP-MULTICAST-IPV4")
        for side in sides.values():
            self.assertEqual(set(verdicts(side).values()), {"PASS"})

    def test_two_of_one_guid_are_told_so(self):
        same = C_NODE.replace("{guid}", "0002c90300dd0001")
        sides = self.meet("--dut", same, "--against", same, "INTEROP-BRING-UP", code=3)
        self.assertIn("both have the port GUID 0002c90300dd0001", sides["dut"]["INTEROP-BRING-UP"]["message"])

    def test_a_crash_is_charged_to_who_crashed(self):
        mortal = self.write("mortal", f'#!/bin/sh\nexec timeout --foreground -s ABRT 2 {NODE} "$@"\n'.encode())
        mortal.chmod(0o755)
        sides = self.meet("--against", C_NODE.replace(str(NODE), str(mortal)), "INTEROP-UNICAST-IPV4", code=1)
        crashed = sides["against"]["INTEROP-UNICAST-IPV4"]
        self.assertRegex(crashed["message"], "it reports: the node ended")
        self.assertEqual((crashed["verdict"], crashed["type"]), ("FAIL", "FAIL.CRASH"))
        self.assertNotIn("FAIL", verdicts(sides["dut"]).values())

    def adapter(self, way):
        once = self.write("once", b"")
        script = self.write("adapter.py", BREAKING_ADAPTER.replace('"can": []', '"can": ["interface"]').encode())
        return f"exec:{sys.executable} {script} {way} {once} # {{port}}"

    def test_an_adapter_that_breaks_is_an_error_of_its_side(self):
        for way, words in (("die", "ended|exit"), ("hang", "no answer|not answer"), ("flood", "longer|64 KiB"),
                           ("babble", "JSON")):
            with self.subTest(way):
                sides = self.meet("--against", self.adapter(way), "--timeout-scale", "0.2", "INTEROP-BRING-UP", code=3)
                broken, other = sides["against"]["INTEROP-BRING-UP"], sides["dut"]["INTEROP-BRING-UP"]
                self.assertEqual((broken["verdict"], other["verdict"]), ("ERROR", "INCONC"), (broken, other))
                self.assertIn("against is not there to the end", other["message"])

    def test_who_does_not_start_ends_the_run_once(self):
        sides = self.meet("--against", "exec:/nowhere/adapter # {port}", code=3)
        for side in sides.values():
            self.assertEqual(list(side), ["SESSION"])
            self.assertIn("against: ", side["SESSION"]["message"])
            self.assertIn("10 exchanges were not begun", side["SESSION"]["notes"])

    def test_what_ran_in_real_time_is_judged_again(self):
        bundle = self.folder / "two.tar"
        sides = self.meet("--dut", C_NODE, "--against", "reference", "--bundle", bundle, "INTEROP-BRING-UP",
                          "INTEROP-UNICAST-IPV4",
                          "INTEROP-SM-RESTART")
        self.assertEqual(verdicts(sides["against"]), dict.fromkeys(sides["against"], "PASS"))
        again = conform("verify", bundle, timeout=120)
        self.assertEqual(again.returncode, 0, again.stdout)

    def test_nothing_is_left_behind_by_an_interrupt(self):
        environment = {**os.environ, "TMPDIR": str(self.folder)}
        path = self.folder / "results.json"
        words = [PROGRAM, "run", "--dut", C_NODE, "--against", C_NODE, "--evidence", str(self.folder / "evidence"),
                 "--json", str(path)]
        with subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as run:
            until(lambda: (self.folder / "evidence/INTEROP-BRING-UP.pcapng").exists(), "the first exchange")
            run.send_signal(signal.SIGINT)
            run.communicate(timeout=60)
        self.assertEqual(run.returncode, 3)
        self.assertEqual({one.name for one in self.folder.iterdir()}, {"evidence", "results.json"})
        listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
        self.assertNotIn(str(self.folder), listed)


class Uses(Against):
    def test_a_rehearsal_starts_nothing(self):
        started = self.folder / "started"
        run = conform("run", "--dry-run", "--against", f"exec:touch {started} # {{port}}")
        self.assertEqual(run.returncode, 0, run.stderr)
        for id in EXCHANGES:
            self.assertRegex(run.stdout, f"(?m)^{id} +at most \\d+ s: ")
        self.assertIn("Nothing was started or sent.", run.stdout)
        self.assertFalse(started.exists())

    def test_wrong_uses_are_told_before_anything_starts(self):
        for words, *arguments in (
                ("is reference, mutant:NAME or exec:COMMAND, not 'sa'", "--against", "sa"),
                ("is reference, mutant:NAME or exec:COMMAND, not 'none'", "--dut", "none", "--against", "reference"),
                ("there is no mutant 'arp-unanswerd'; did you mean 'arp-unanswered'", "--against", "mutant:arp-unanswerd"),
                ("is a mutant of the subnet administrator", "--against", "mutant:sa-any-mtu"),
                ("needs a raw port", "--against", "exec:adapter"), ("names no command", "--against", "exec:"),
                ("--listen is for a DUT in another process", "--against", "reference", "--listen", self.folder / "p"),
                ("on a fabric that does nothing wrong", "--fabric", "simulated:sa-mutant=sa-any-mtu", "--against", "reference"),
                ("--profile is about a tester", "--against", "reference", "--profile", "DUT.toml"),
                ("'1/0' is no shard", "--against", "reference", "--shard", "1/0"),
                ("'soon' is no order", "--against", "reference", "--order", "soon"),
                ("nowhere.json", "--against", "reference", "--only-failed", self.folder / "nowhere.json"),
                ("--pause-on: 'INTEROP-BROADCST' is neither fail nor one of the exchanges that run; did you mean "
                 "'INTEROP-BROADCAST'?", "--against", "reference", "--pause-on", "INTEROP-BROADCST"),
                ("no exchange and no rule matches 'INTEROP-UNICST'", "--against", "reference", "INTEROP-UNICST"),
                ("leave no exchange", "--against", "reference", "RULE-RFC4391-6-02"),
                ("--against", "--against", "")):
            with self.subTest(words):
                self.refuse(words, *arguments)

    def test_without_a_tap_nothing_is_judged(self):
        run = conform("run", "--fabric", f"socket:{self.folder}/port", "--dut", "exec:a", "--against", "exec:b")
        self.assertEqual(run.returncode, 4, run.stderr)


def implementation(name, dut, **more):
    keys = {"name": name, "dut": dut, **more}
    return "[[implementation]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())


class Matrix(Against):
    def matrix(self, *lists, code=0, **options):
        """The matrix of these, by pairs."""
        paths = [self.write(f"list-{number}.toml", text.encode()) for number, text in enumerate(lists)]
        path = self.folder / "matrix.json"
        run = conform("matrix", *paths, "--json", path, **options)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        self.document = json.loads(path.read_text())
        return {(pair["dut"], pair["against"]): pair for pair in self.document["pairs"]}

    def refuse_list(self, words, text, *arguments):
        run = conform("matrix", self.write("list.toml", text if isinstance(text, bytes) else text.encode()), *arguments)
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        self.assertIn(words, run.stderr)

    def test_a_planted_incompatibility_is_in_one_cell_and_charged_to_the_right_one(self):
        """Who drops what has a GRH gets on with all but the one that sends it, as it may."""
        pairs = self.matrix(implementation("reference", "reference"),
                            implementation("planted", "mutant:refuses-grh"),
                            implementation("grh", "mutant:permitted-grh-on-unicast"),
                            implementation("opaque", "mutant:permitted-opaque-id"), code=1)
        self.assertEqual(len(pairs), 10)
        broken = {names: pair for names, pair in pairs.items() if pair["verdict"] != "PASS"}
        self.assertEqual(list(broken), [("planted", "grh")])
        pair = broken["planted", "grh"]
        self.assertEqual(pair["broken_by"], ["planted"])
        unicast = next(one for one in pair["exchanges"] if one["id"] == "INTEROP-UNICAST-IPV4")
        self.assertEqual((unicast["dut"]["verdict"], unicast["against"]["verdict"]), ("FAIL", "PASS"))
        self.assertIn("by dut expected, none came after frame", unicast["dut"]["message"])

    def test_all_permitted_ways_accuse_nobody(self):
        names = re.findall(r"^\| `(permitted-[a-z0-9-]+)` \|", (SOURCE / "docs/kill-matrix.md").read_text(), re.MULTILINE)
        stacks = [name for name in names if conform("run", "--against", f"mutant:{name}", "--dry-run").returncode == 0]
        self.assertGreater(len(stacks), 14)
        # Some come between question and answer by chance: then it is INCONC.
        pairs = self.matrix(implementation("reference", "reference"),
                            "".join(implementation(name, f"mutant:{name}") for name in stacks), code=5, timeout=200)
        self.assertGreater(len(pairs), 130)
        verdicts_of_all = [one[side]["verdict"] for pair in pairs.values() for one in pair["exchanges"]
                           for side in ("dut", "against")]
        self.assertNotIn("FAIL", verdicts_of_all)
        self.assertNotIn("ERROR", verdicts_of_all)
        # Who loses packets, comes late or begins anew leaves it open.
        by_chance = ("permitted-restarts", "permitted-loses-packets", "permitted-limits-echo", "permitted-slower")
        unclear = {names for names, pair in pairs.items() if pair["verdict"] == "INCONC"}
        self.assertEqual({names for names in unclear if not any(one in names for one in by_chance)}, set())
        self.assertLess(len(unclear), 16)

    def test_what_is_lost_by_chance_accuses_nobody(self):
        loses = "mutant:permitted-loses-packets"
        for dut, against, seed in (("reference", loses, 97), ("reference", loses, 223), ("reference", loses, 79),
                                   (loses, "mutant:permitted-chatty", 17), *((loses, loses, seed) for seed in range(2, 12))):
            with self.subTest(dut=dut, against=against, seed=seed):
                run = conform("run", "--dut", dut, "--against", against, "--seed", seed)
                self.assertIn(run.returncode, (0, 5), run.stdout)

    def test_what_is_written_says_the_same(self):
        paths = {kind: self.folder / f"matrix.{kind}" for kind in ("html", "md", "svg")}
        one = self.folder / "one.svg"
        lists = self.write("l.toml", (implementation("right", "reference") + implementation("b.o_b-1", "reference")
                                      + implementation("deaf", "mutant:arp-unanswered", about="<script>|x")
                                      + implementation("reserved", "mutant:reserved-not-zero")).encode())
        run = conform("matrix", lists, "--html", paths["html"], "--markdown", paths["md"], "--badge", paths["svg"],
                      "--badge", f"right={one}")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("3 of 10 pairs do together all that both can", run.stdout)
        self.assertIn("FAIL INTEROP-UNICAST-IPV4 deaf: right to deaf, ping 10.1.0.10 with 0 octets: "
                      "an ARP reply by deaf expected", run.stdout)
        page = ElementTree.fromstring(paths["html"].read_text().removeprefix("<!DOCTYPE html>\n"))
        self.assertEqual([e.tag for e in page.iter() if e.tag in ("script", "link", "img")], [])
        self.assertIn("FAIL by deaf", "".join(page.itertext()))
        markdown = paths["md"].read_text()
        self.assertIn("| FAIL by deaf |", markdown)
        self.assertNotRegex(markdown, r"(?<!\\)<script>")
        # What one does with everybody is one line, and what it does once names the frame.
        wrong = [line for line in markdown.split("## What went wrong")[1].splitlines() if line.startswith("| `reserved")]
        [always] = [line for line in wrong if "| `reserved` | FAIL | a frame violates RULE-RFC4391-6-02 " in line]
        self.assertRegex(always, r"`INTEROP-UNICAST-IPV4`, .*`INTEROP-SM-RESTART` \| 4 \|$")
        self.assertRegex(markdown, r"\| `deaf` \| FAIL \| .* none came after frame \d+ \| `INTEROP-DHCP` \| right and deaf \|")
        for path, words in ((paths["svg"], "3 of 10"), (one, "2 of 4")):
            image = ElementTree.fromstring(path.read_text())
            self.assertIn(words, image.get("aria-label"))
        conform("matrix", lists, "--markdown", self.folder / "again.md")
        self.assertEqual((self.folder / "again.md").read_text(), markdown)

    def test_an_implementation_is_set_to_what_its_file_says(self):
        pairs = self.matrix(implementation("a", "reference"), implementation("b", "reference", mtu=1500, mode="connected"),
                            code=0)
        self.assertEqual({pair["verdict"] for pair in pairs.values()}, {"PASS"})
        evidence = self.folder / "evidence"
        conform("matrix", self.folder / "list-0.toml", self.folder / "list-1.toml", "--evidence", evidence)
        self.assertEqual({one.name for one in evidence.iterdir()}, {"a--a", "a--b", "b--b"})
        # 1472 octets are what a packet of 1500 takes.
        run = conform("check", evidence / "a--b/INTEROP-UNICAST-IPV4.pcapng")
        self.assertEqual(run.returncode, 0, run.stdout)

    def test_nobody_is_asked_for_more_than_ip_can_carry(self):
        pairs = self.matrix(implementation("large", "reference", mtu=60000, mode="connected"))
        self.assertEqual([(pair["verdict"], pair["findings"]) for pair in pairs.values()], [("PASS", [])])

    def test_a_start_command_runs_as_long_as_it_takes_part(self):
        pid, node = self.folder / "pid", C_NODE.removeprefix("exec:")
        of_node = "[[implementation]]\nname = \"node\"\nadapter = " + json.dumps(node)
        self.matrix(f"{of_node}\nstart = \"echo $$ >> '{pid}'; exec sleep 1000\"\n", timeout=120)
        for one in pid.read_text().split():
            self.assertFalse(Path(f"/proc/{one}").exists())
        pairs = self.matrix(of_node + '\nstart = "exit 3"\n', code=3)
        self.assertIn("its start command has ended: exit status 3",
                      pairs["node", "node"]["exchanges"][0]["dut"]["message"])

    def test_dhcp_is_not_asked_of_packets_that_are_too_small(self):
        pairs = self.matrix(implementation("a", "reference", mtu=300), implementation("b", "reference"))
        for pair in pairs.values():
            self.assertEqual(pair["verdict"], "PASS")
        self.assertEqual([one["id"] for one in pairs["a", "b"]["exchanges"] if one["dut"]["verdict"] == "NA"], ["INTEROP-DHCP"])

    def test_an_interrupted_matrix_is_written_as_far_as_it_came(self):
        paths = [self.write("list.toml", (implementation("reference", "reference") + "[[implementation]]\nname = \"node\"\n"
                                          f"adapter = {json.dumps(C_NODE.removeprefix('exec:'))}\n").encode())]
        outputs = {name: self.folder / name for name in ("m.json", "m.html", "m.md", "m.svg")}
        words = [PROGRAM, "matrix", *map(str, paths), "--evidence", str(self.folder / "evidence"), "--json", outputs["m.json"],
                 "--html", outputs["m.html"], "--markdown", outputs["m.md"], "--badge", outputs["m.svg"]]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            until(lambda: (self.folder / "evidence/reference--node/INTEROP-BRING-UP.pcapng").exists(), "the second pair")
            run.send_signal(signal.SIGINT)
            said = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 3, said)
        self.assertIn("interrupted: 2 of 3 pairs are missing", said[0])
        document = json.loads(outputs["m.json"].read_text())
        self.assertTrue(document["interrupted"])
        self.assertEqual([(pair["dut"], pair["against"], pair["verdict"]) for pair in document["pairs"]],
                         [("reference", "reference", "PASS")])
        for name in ("m.html", "m.md"):
            self.assertIn("interrupted", outputs[name].read_text())
        self.assertIn("#b3131f", outputs["m.svg"].read_text())

    def test_wrong_lists_are_told_with_file_and_line(self):
        right = implementation("a", "reference")
        for words, text in (
                ('list.toml:1: unknown key "implementations"; there is [[implementation]]', '[[implementations]]\nname = "a"\n'),
                ('list.toml:1: unknown key "implementation"', 'implementation = 3\n'),
                ("no [[implementation]] is here", ""),
                ('unknown key "adaptor" in [implementation]; did you mean \'adapter\'?', right + 'adaptor = "x"\n'),
                ("needs an adapter, or a dut of this program, and not both", '[[implementation]]\nname = "a"\n'),
                ("and not both", right + 'adapter = "x"\n'), ("name must be", implementation("../a", "reference")),
                ("name must be", implementation("a" * 41, "reference")), ("mtu must be", implementation("a", "reference", mtu=3)),
                ("mode must be one of datagram, connected", implementation("a", "reference", mode="fast")),
                ('there is an implementation "a" already', right + right),
                ('there is an implementation "A" already', right + implementation("A", "reference")),
                ("name must be", implementation("a--b", "reference")),
                ("about and url are one line of text", right + 'about = "a\\u001b[31m"\n'),
                ("url begins with https://", right + 'url = "javascript:alert(1)"\n'),
                ("there is no mutant", implementation("a", "mutant:x")),
                ("is started by no command", implementation("a", "reference", start="x")),
                ("needs a raw port", implementation("a", "exec:x")), ("list.toml", b"\xff\xfe\0"),
                ("more than 64 implementations", "".join(implementation(f"a{i}", "reference") for i in range(65)))):
            with self.subTest(words):
                self.refuse_list(words, text)
        for words, *arguments in (("no implementation is called 'b'", "--only", "b"),
                                  ("no implementation is called 'nope'", "--badge", "nope=x.svg"),
                                  ("names no file", "--badge", "a="),
                                  ("--timeout-scale", "--timeout-scale", "0"), ("no scenario", "--scenario", "nowhere"),
                                  ("overwritten", "--json", self.folder / "list.toml")):
            with self.subTest(words):
                self.refuse_list(words, right, *arguments)
        run = conform("matrix", self.folder / "nowhere.toml")
        self.assertEqual((run.returncode, "nowhere.toml" in run.stderr), (2, True), run.stderr)

    def test_a_rehearsal_lists_the_pairs_and_starts_nothing(self):
        started = self.folder / "started"
        lists = self.write("l.toml", (implementation("a", "reference")
                                      + implementation("b", f"exec:touch {started} # {{port}}")).encode())
        run = conform("matrix", lists, "--dry-run")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("a and a (virtual time)\na and b\nb and b\n3 pairs, 2 of them in real time", run.stdout)
        self.assertFalse(started.exists())


class Page(Against):
    def test_the_page_of_the_matrix_is_up_to_date(self):
        page, badge = self.folder / "matrix.md", self.folder / "badge.svg"
        run = conform("matrix", SOURCE / "implementations/reference.toml", SOURCE / "implementations/c-node.toml", "--markdown",
                      page, "--badge", badge, env={**os.environ, "IPOIB_NODE": str(NODE)}, timeout=400)
        self.assertIn(run.returncode, (0, 1), run.stdout + run.stderr)
        kept = (SOURCE / "docs/interop.md").read_text().partition("\n## With Linux\n")[0]
        self.assertEqual(kept[kept.index("\n\n", kept.index("scripts/update-interop")) + 2:], page.read_text(),
                         "run scripts/update-interop")
        self.assertEqual((SOURCE / "docs/pictures/interop.svg").read_text(), badge.read_text())


if __name__ == "__main__":
    unittest.main()
