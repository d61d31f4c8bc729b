#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-conform links and what the user tells of a subnet, as a person or a script would use them."""
import json
import random
import shutil
import tempfile
import unittest
from pathlib import Path

from program import CAPTURES, conform

CAUSES = {
    "join-refused-rate": "join-refused-rate",
    "join-refused-mtu": "join-refused-mtu",
    "pkey-without-membership-bit": "p-key-without-membership-bit",
    "sender-before-group": "sender-before-group",
    "mapping-32-bit": "mapping-32-bit",
    "dlid-not-mlid": "dlid-not-mlid",
    "no-grh": "no-grh",
    "wrong-q-key": "wrong-q-key",
    "sm-restarted": "sm-restarted",
}


def account(*arguments):
    run = conform("links", *arguments, "--json")
    if run.returncode != 0:
        raise AssertionError(run.stderr)
    return json.loads(run.stdout)


def records(file):
    """The header and the packet records of a pcap."""
    data = file.read_bytes()
    head, rest, found = data[:24], data[24:], []
    while rest:
        size = 16 + int.from_bytes(rest[8:12], "little")
        found.append(rest[:size])
        rest = rest[size:]
    return head, found


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="ipoib-links-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def pcap(self, name, head, frames):
        file = self.folder / name
        file.write_bytes(head + b"".join(frames))
        return file


class Findings(Folder):
    def test_each_cause_is_found_by_name_and_first(self):
        for sample, name in CAUSES.items():
            with self.subTest(sample):
                found = [one["name"] for one in account(CAPTURES / f"{sample}.pcap")["findings"]]
                self.assertEqual(found[0], name)
                self.assertLessEqual(set(found), {name, "not-kept"})
                self.assertIn(f"  1. {name}, link fe80::/0x8123", conform("links", CAPTURES / f"{sample}.pcap").stdout)

    def test_a_right_link_has_none(self):
        run = conform("links", CAPTURES / "conformant.pcap")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("No findings.", run.stdout)

    def test_a_refusal_names_status_and_component(self):
        for sample, component in (("join-refused-rate", "Rate"), ("join-refused-mtu", "MTU")):
            group = next(one for one in account(CAPTURES / f"{sample}.pcap")["links"][0]["groups"] if one["refused"])
            self.assertEqual(group["group"], "239.1.2.3")
            self.assertEqual((group["refused"][0]["status"], group["refused"][0]["component"]), ("0x0200", component))
            self.assertGreater(group["refused"][0]["count"], 1)


class Account(Folder):
    def test_ports_groups_and_parameters(self):
        link = account(CAPTURES / "no-grh.pcap")["links"][0]
        self.assertEqual((link["link"], link["source"]), ("fe80::/0x8123", "sa"))
        self.assertEqual(link["broadcast"]["q_key"], "0x80000b1b")
        self.assertEqual(link["broadcast"]["mtu"], 2048)
        ports = {one["port"]: one for one in link["ports"]}
        first = ports["0002c90300100001"]
        self.assertEqual((first["lid"], first["qpns"], first["member"]), ("0x0001", ["0x000041"], True))
        self.assertIn("10.1.0.1", first["addresses"])
        group = next(one for one in link["groups"] if one["group"] == "239.1.2.3")
        self.assertEqual(group["full_members"], ["0002c90300100002", "0002c90300100003"])

    def test_a_capture_without_links(self):
        run = conform("links", CAPTURES / "roce.pcap")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("No IPoIB link is in sight.", run.stdout)

    def test_wrong_usage(self):
        for arguments in ((self.folder / "absent",), (), (CAPTURES / "no-grh.pcap", "--assume", "qkey=x"),
                          (CAPTURES / "no-grh.pcap", "--sa", CAPTURES / "no-grh.pcap"), ("-", "-"),
                          (CAPTURES / "no-grh.pcap", CAPTURES / "no-grh.pcap", "--json")):
            with self.subTest(arguments):
                run = conform("links", *arguments)
                self.assertEqual(run.returncode, 2, run.stdout)
                self.assertNotEqual(run.stderr, "")


class Assumed(Folder):
    def without_sa(self):
        """The conformant capture without the answers of the SA."""
        head, frames = records(CAPTURES / "conformant.pcap")
        return self.pcap("late.pcap", head, frames[2:])

    def verdict(self, file, rule, *arguments):
        conform("check", file, *arguments, "--json", self.folder / "results.json", "--quiet")
        return next(one for one in json.loads((self.folder / "results.json").read_text())["results"]
                    if one["id"] == rule)

    def test_what_is_assumed_is_judged_by_and_said(self):
        rule = "RULE-RFC4391-9.1.2-03"
        self.assertEqual(self.verdict(self.without_sa(), rule)["verdict"], "NA")
        right = self.verdict(self.without_sa(), rule, "--assume", "pkey=0x8123,qkey=0x80000b1b")
        self.assertEqual(right["verdict"], "PASS")
        self.assertIn("--assume", " ".join(right["notes"]))
        wrong = self.verdict(self.without_sa(), rule, "--assume", "pkey=0x8123,qkey=0x0b1b")
        self.assertEqual(wrong["verdict"], "FAIL")
        # Only what is given is known.
        self.assertEqual(self.verdict(self.without_sa(), "RULE-RFC4391-4.1-05", "--assume",
                                      "pkey=0x8123,qkey=0x80000b1b")["verdict"], "NA")

    def test_a_list_of_the_sa(self):
        file = self.folder / "groups.json"
        file.write_text(json.dumps([{"mgid": "ff12:401b:8123::ffff:ffff", "qkey": "0x80000b1b", "sl": 3}]))
        for rule in ("RULE-RFC4391-9.1.2-03", "RULE-RFC4391-4.1-05"):
            self.assertEqual(self.verdict(self.without_sa(), rule, "--sa", file)["verdict"], "PASS")
        found = account(self.without_sa(), "--sa", file)["links"][0]
        self.assertEqual((found["source"], found["broadcast"]["sl"]), ("file", 3))

    def test_the_sa_in_the_capture_goes_before_what_is_assumed(self):
        file = CAPTURES / "conformant.pcap"
        result = self.verdict(file, "RULE-RFC4391-9.1.2-03", "--assume", "pkey=0x8123,qkey=0x0b1b")
        self.assertEqual(result["verdict"], "PASS")
        run = conform("check", file, "--assume", "pkey=0x8123,qkey=0x0b1b")
        self.assertIn("the SA says something else than --assume", run.stdout)

    def test_only_the_subject_is_judged(self):
        rule = "RULE-RFC4391-6-02"
        for subject in ("0x0001", "1", "0002c90300100001", "0002:c903:0010:0001", "fe80::2:c903:10:1"):
            self.assertEqual(self.verdict(CAPTURES / "broken.pcap", rule, "--subject", subject)["verdict"], "FAIL")
        self.assertEqual(self.verdict(CAPTURES / "broken.pcap", rule, "--subject", "0x0002")["verdict"], "PASS")

    def test_captures_together_are_one_by_their_times(self):
        head, frames = records(CAPTURES / "no-grh.pcap")
        whole = account(CAPTURES / "no-grh.pcap")
        odd, even = self.pcap("odd.pcap", head, frames[::2]), self.pcap("even.pcap", head, frames[1::2])
        both = account(odd, even, "--together")
        self.assertEqual([one["name"] for one in both["findings"]], [one["name"] for one in whole["findings"]])
        self.assertEqual(len(both["captures"]), 2)
        self.assertEqual({frame["capture"] for one in both["findings"] for frame in one["frames"]}, {0, 1})
        one = conform("check", odd, even, "--together", "--json", self.folder / "results.json", "--quiet")
        self.assertEqual(one.returncode, 1, one.stderr)
        results = json.loads((self.folder / "results.json").read_text())["results"]
        self.assertEqual(len(results), len({result["id"] for result in results}))


class Hostile(Folder):
    def test_damaged_captures_end_with_words(self):
        head, frames = records(CAPTURES / "join-refused-rate.pcap")
        for seed in range(200):
            chosen = random.Random(seed)
            damaged = [bytearray(frame) for frame in frames]
            for _ in range(chosen.randrange(1, 40)):
                frame = chosen.choice(damaged)
                frame[chosen.randrange(16, len(frame))] = chosen.randrange(256)
            run = conform("links", self.pcap("damaged.pcap", head, damaged))
            with self.subTest(seed):
                self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()
