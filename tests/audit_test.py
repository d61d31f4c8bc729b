#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-conform audit, of lists and of the simulated fabric; of a real OpenSM in opensm_test.py and lab_test.py."""
import json
import re
import unittest

from program import CAPTURES, Folder, conform


class Audit(Folder):
    def results(self, *arguments, code):
        path = self.folder / "r.json"
        run = conform("audit", *arguments, "--json", path)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return {one["id"]: one for one in json.loads(path.read_text())["results"]}, run

    def test_wrong_groups_are_found_in_what_saquery_printed(self):
        results, run = self.results("--sa", CAPTURES / "groups.txt", code=1)
        self.assertEqual({i for i, one in results.items() if one["verdict"] == "FAIL"},
                         {"RULE-RFC4391-4-08-audit", "RULE-RFC4391-10-17-q-key-audit"})
        # A list may be a part of what there is.
        self.assertEqual(results["RULE-RFC4391-5-02-audit"]["verdict"], "INCONC")
        self.assertEqual(results["RULE-RFC4391-5-02-audit"]["details"][0]["subject"],
                         "0000000000100001 (manager HCA-1)")
        self.assertIn("ff12:401b:ffff::efc0:a801", run.stdout)
        results, _ = self.results("--sa", CAPTURES / "groups.txt", "RULE-RFC4391-4-02*", code=0)
        self.assertEqual(list(results), ["RULE-RFC4391-4-02-audit"])

    def test_a_baseline_excuses_and_strict_does_not(self):
        baseline = self.folder / "b.toml"
        self.results("--sa", CAPTURES / "groups.txt", "!rfc4391/5", code=1)
        baseline.write_text(conform("baseline", self.folder / "r.json").stdout.replace('reason = ""', 'reason = "known"'))
        results, _ = self.results("--sa", CAPTURES / "groups.txt", "!rfc4391/5", "--expect", baseline, code=0)
        self.assertEqual(results["RULE-RFC4391-4-08-audit"]["verdict"], "XFAIL")
        self.results("--sa", CAPTURES / "groups.txt", "!rfc4391/5", "--expect", baseline, "--strict", code=1)

    def test_evidence_that_cannot_be_written_takes_no_report_with_it(self):
        (self.folder / "evidence" / "audit.pcapng").mkdir(parents=True)
        results, run = self.results("--fabric", "simulated", "--evidence", self.folder / "evidence", code=3)
        self.assertIn("audit.pcapng", run.stderr)
        self.assertIn("PASS", {one["verdict"] for one in results.values()})
        self.assertFalse(any(one.get("evidence") for one in results.values()))

    def test_what_no_administrator_should_say_is_judged(self):
        text = (CAPTURES / "groups.txt").read_text()
        file = self.folder / "sa.txt"
        file.write_text(text.replace("0xc001", "0x0007").replace("0xC001", "0x0007"))
        results, _ = self.results("--sa", file, code=1)
        self.assertEqual(results["RULE-RFC4392-1.2.1.2-03-mlid-audit"]["verdict"], "FAIL")
        file.write_text(text.replace("ff12:601b:ffff::1:3", "fe12:601b:ffff::1:3"))
        results, run = self.results("--sa", file, code=1)
        self.assertIn("no multicast GID", run.stderr)

    def test_the_simulated_fabric_is_a_rehearsal(self):
        results, run = self.results("--fabric", "simulated", "--scenario", "controlled", "--evidence",
                                    self.folder / "audit", code=0)
        self.assertEqual({one["verdict"] for one in results.values()}, {"PASS", "NA"})
        self.assertEqual(results["RULE-RFC4391-5-02-audit"]["verdict"], "PASS")
        check = conform("check", self.folder / "audit/audit.pcapng")
        self.assertIn(check.returncode, (0, 4), check.stdout)

    def test_a_list_that_lacks_the_broadcast_group_is_inconclusive(self):
        file = self.folder / "sa.json"
        file.write_text('[{"mgid": "ff12:401b:8123::1", "members": []}]')
        results, run = self.results("--sa", file, code=5)
        self.assertEqual(results["RULE-RFC4391-5-01-audit"]["verdict"], "INCONC")
        self.assertIn("a file does not tell", run.stdout)

    def test_what_cannot_be_is_a_usage_error(self):
        (self.folder / "file").write_text("")
        sa = CAPTURES / "groups.txt"
        hosts = ("--host-state", CAPTURES / "hosts.jsonl")
        for words, said in ((), "either --fabric or --sa"), (("tag:audit", *hosts), "of an administrator"), \
                ((*hosts, "--evidence", self.folder), "asks nobody"), (("--fabric", "simulated", "--sa", sa), "either"), \
                (("--sa", "/nonexistent"), "/nonexistent"), (("--sa", self.folder / "file"), "no record"), \
                (("--sa", CAPTURES / "usual.pcap"), "NUL octet"), (("--sa", sa, "tag:arp"), "tag:arp"), \
                (("--sa", sa, "!tag:audit"), "no rule"), (("--sa", sa, "--evidence", self.folder), "asks nobody"), \
                (("--sa", sa, "--json", sa), "overwritten"), (("--fabric", "nonsense"), "nonsense"), \
                (("--fabric", "simulated", "--scenario", "nonsense"), "nonsense"), (("--fabric", "socket:"), "socket"), \
                (("--fabric", "simulated", "--evidence", self.folder / "file"), "no folder"), \
                (("--fabric", "verbs:none-such"), "none-such"), (("--fabric", "verbs:x,pkey=0x8001"), "only sm-key="), \
                (("--fabric", "simulated:x"), "or verbs:DEVICE, not 'simulated:x'"), \
                (("--fabric", f"socket:{self.folder}/none", "--scenario", "nonsense"), "no scenario 'nonsense'"), \
                (("--fabric", f"socket:{self.folder}/none", "--scenario", "scope5"), "--scenario is how"), \
                (("--sa", sa, "--scenario", "controlled"), "asks nobody"):
            with self.subTest(words=words):
                run = conform("audit", *words)
                self.assertIn(said, run.stderr)
                self.assertEqual(run.returncode, 2, run.stderr)
        run = conform("audit", "--fabric", f"socket:{self.folder}/none")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("No such file", run.stderr)

    def test_of_many_findings_alike_five_are_shown_and_all_are_kept(self):
        state = json.loads((CAPTURES / "hosts.jsonl").read_text().splitlines()[0])
        one = state["interfaces"][0] | {"addresses": [], "neighbours": [], "paths": [], "mcg": [], "groups": []}
        hosts = []
        for number in range(1, 10):
            guid = f"00:02:c9:03:00:77:00:{number:02x}"
            address = ":".join([*one["link_address"].split(":")[:12], guid])
            gid = f"fec0:0:0:0:2:c903:77:{number:x}"
            port = one["port"] | {"gid": gid, "lid": 100 + number, "p_keys": ["0x7fff"]}
            hosts.append(state | {"host": f"m{number}", "interfaces": [one | {"link_address": address, "port": port}]})
        file = self.folder / "hosts.jsonl"
        file.write_text("".join(json.dumps(host) + "\n" for host in hosts))
        run = conform("audit", "--host-state", file, "--json", self.folder / "r.json")
        found = [each["name"] for each in json.loads((self.folder / "r.json").read_text())["findings"]]
        self.assertEqual(found.count("host-p-key"), 9, run.stdout + run.stderr)
        self.assertEqual(run.stdout.count("FINDING host-p-key"), 5)
        self.assertIn("and 4 more of host-p-key (--json and --html have them all)", " ".join(run.stdout.split()))

    def test_what_hosts_believe_is_held_against_what_the_administrator_holds(self):
        words = ("audit", "--sa", CAPTURES / "hosts-sa.json", "--host-state", CAPTURES / "hosts.jsonl")
        files = {kind: self.folder / f"r.{kind}" for kind in ("json", "junit", "ctrf", "tap")}
        options = [word for kind, file in files.items() for word in (f"--{kind}", file)]
        run = conform(*words, *options)
        self.assertEqual(run.returncode, 0, run.stderr)
        found = {one["name"] for one in json.loads(files["json"].read_text())["findings"]}
        self.assertEqual(found, {
            "duplicate-address", "host-arp-flux", "host-down-member", "host-group-of-another-p-key", "host-mtu",
            "host-mtus-differ", "host-no-address", "host-no-carrier", "host-not-member", "host-p-key", "stale-neighbour",
            "stale-path"})
        self.assertIn("n2 ib0 (0002c90300100002) believes to be a member of 239.1.2.3, but the SA has it",
                      " ".join(run.stdout.split()))
        junit = files["junit"].read_text()
        self.assertIn("FINDING: n2 ib0", junit)
        self.assertNotIn("<failure", junit)
        ctrf = json.loads(files["ctrf"].read_text())["results"]
        others = [one for one in ctrf["tests"] if one["rawStatus"] == "FINDING"]
        self.assertEqual({one["status"] for one in others}, {"other"})
        self.assertEqual(len(others), len(found))
        self.assertIn("# FINDING: n2 ib0", files["tap"].read_text())
        # What is merged has them, of their host.
        merged = self.folder / "merged.json"
        conform("merge", files["json"], "--json", merged)
        self.assertEqual({one["name"] for one in json.loads(merged.read_text())["findings"]}, found)
        run = conform(*words, "--strict", "--junit", files["junit"])
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertRegex(files["junit"].read_text(), '<failure type="FINDING"|<failure message="[^"]*" type="FINDING"')

    def test_files_of_hosts_that_are_none_are_refused(self):
        for text, said in (("", "the file is empty"), ("[]", "line 1: this is no object"), ("{", "line 1: this is no object"),
                           ('{"format":"x"}', 'format is not "ipoib-host-state/1"'), ("[" * 100000, "no object"),
                           ('{"format":"ipoib-host-state/1","host":5}', "host is no text")):
            with self.subTest(text=text[:40]):
                file = self.folder / "h.json"
                file.write_text(text)
                for words in (("audit", "--sa", CAPTURES / "groups.txt"), ("links", CAPTURES / "usual.pcap")):
                    run = conform(*words, "--host-state", file)
                    self.assertEqual(run.returncode, 2, run.stderr)
                    self.assertIn("--host-state: ", run.stderr)
                    self.assertIn(said, run.stderr)

    def test_a_dead_host_does_not_hide_the_others(self):
        empty, value = self.folder / "empty.json", self.folder / "value.json"
        empty.write_text("")
        value.write_text('{"format":"ipoib-host-state/1","host":"a","interfaces":[{"name":"ib0","mtu":{}}]}\nbash: none\n')
        files = ("--host-state", CAPTURES / "hosts.jsonl", empty, value)
        said = (f"{empty}: the file is empty: skipped", f"{value}, line 2: this is no object",
                f"{value}, line 1, host a: interfaces[0].mtu is no number up to 65535: {{}}: left out")
        file = self.folder / "r.json"
        run = conform("audit", "--sa", CAPTURES / "hosts-sa.json", *files, "--json", file)
        self.assertEqual(run.returncode, 0, run.stderr)
        whole = json.loads(file.read_text())
        self.assertIn("host-mtu", {one["name"] for one in whole["findings"]})
        for words in said:
            self.assertIn(words, run.stderr)
            self.assertIn(words, json.dumps(whole))
        run = conform("links", CAPTURES / "usual.pcap", "--json", *files)
        self.assertEqual(run.returncode, 0, run.stderr)
        notes = " ".join(json.loads(run.stdout)["notes"])
        for words in said:
            self.assertIn(words, notes)

    def test_hosts_alone_are_compared_with_each_other(self):
        file = self.folder / "r.json"
        run = conform("audit", "--host-state", CAPTURES / "hosts.jsonl", "--json", file)
        self.assertEqual(run.returncode, 0, run.stderr)
        found = {one["name"] for one in json.loads(file.read_text())["findings"]}
        self.assertIn("duplicate-address", found)
        self.assertIn("host-p-key", found)
        self.assertNotIn("host-not-member", found)
        self.assertEqual(conform("audit", "--host-state", CAPTURES / "hosts.jsonl", "--strict").returncode, 1)

    def test_a_rehearsal_asks_nobody(self):
        run = conform("audit", "--fabric", f"socket:{self.folder}/none", "--dry-run", "--rate", "50")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue(re.search("at most 50 in a second", " ".join(run.stdout.split())), run.stdout)
        self.assertEqual(conform("audit", "--fabric", "nonsense", "--dry-run").returncode, 2)
        self.assertEqual(conform("audit", "--fabric", "simulated", "--rate", "0").returncode, 2)

    def test_its_rules_are_explained(self):
        text = conform("explain", "RULE-RFC4391-5-02-audit").stdout
        self.assertIn("looks at ports that a subnet administrator holds", text)
        self.assertIn("checked by RULE-RFC4391-5-02-audit", conform("explain", "RFC4391-5-02").stdout)


if __name__ == "__main__":
    unittest.main()
