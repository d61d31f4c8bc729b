#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-conform links and what the user tells of a subnet, as a person or a script would use them."""
import datetime
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

import fabric_at_size
import hostile
from generator import generate, names
from program import CAPTURES, PROGRAM, conform, drawn_at_terminal
from waiting import until

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

    def test_what_a_gap_leaves_undecided_is_said(self):
        """As at one port, which lacks what its SA tells others."""
        head, frames = records(CAPTURES / "wrong-q-key.pcap")
        file = self.folder / "gap.pcap"
        file.write_bytes(head + b"".join(frames[:1] + frames[2:]))
        told = account(file)
        self.assertEqual([one["name"] for one in told["findings"] if "rule" in one and one["name"] != "not-kept"], [])
        self.assertIn("RULE-RFC4391-9.1.2-03", {one["rule"] for one in told["suspicions"]})
        self.assertEqual(sum(one["count"] for one in told["suspicions"]), 8)
        self.assertIn("\nSuspicions\n", conform("links", file).stdout)
        self.assertNotIn("Suspicions", conform("links", CAPTURES / "wrong-q-key.pcap").stdout)

    def test_a_refusal_names_status_and_component(self):
        for sample, component in (("join-refused-rate", "Rate"), ("join-refused-mtu", "MTU")):
            group = next(one for one in account(CAPTURES / f"{sample}.pcap")["links"][0]["groups"] if one["refused"])
            self.assertEqual(group["group"], "239.1.2.3")
            self.assertEqual((group["refused"][0]["status"], group["refused"][0]["component"]), ("0x0200", component))
            self.assertGreater(group["refused"][0]["count"], 1)

    def test_who_has_left_was_refused_nothing(self):
        lid, other = hostile.FIRST, hostile.FIRST + 1
        frames = [*hostile.come_up(lid), *hostile.come_up(other)]
        record = hostile.member_record(hostile.BROADCAST, hostile.port_gid(lid), 0xc000)
        for method, ends in ((0x15, (lid, hostile.SA)), (0x95, (hostile.SA, lid))):
            frames.append(hostile.sa_mad(slid=ends[0], dlid=ends[1], method=method, attribute=0x38, transaction=99, mask=0x10083,
                                         record=record))
        frames += [hostile.packet(slid=lid, dlid=0xc000, sgid=hostile.port_gid(lid), dgid=hostile.BROADCAST, p_key=0x8001,
                                  payload=hostile.IP_PACKET, psn=number) for number in range(40)]
        file = self.folder / "left.pcap"
        file.write_bytes(hostile.pcap(frames, range(0, 1_000_000 * len(frames), 1_000_000)))
        told = account(file)["findings"]
        self.assertEqual(told[0]["name"], "uses-link-after-leaving")
        self.assertEqual(told[0]["ports"], ["0002c90300000100"])
        self.assertIn("it has left the broadcast group", told[0]["text"])
        self.assertNotIn("refused its join", conform("links", file).stdout)

    def test_check_notes_what_no_text_forbids(self):
        lid = hostile.FIRST
        ask = {"attribute": 0x38, "transaction": 99, "mask": 0x10083,
               "record": hostile.member_record(hostile.ipv4_mgid(0xef010203), hostile.port_gid(lid), 0)}
        refusal = fabric_at_size.answered(hostile.sa_mad(slid=hostile.SA, dlid=lid, method=0x81, **ask), 0x0100)
        file = self.folder / "limit.pcap"
        request = hostile.sa_mad(slid=lid, dlid=hostile.SA, method=2, **ask)
        file.write_bytes(hostile.pcap([*hostile.come_up(lid), request, refusal]))
        self.assertEqual([one["name"] for one in account(file)["findings"] if "rule" not in one], ["group-limit"])
        words = "finding group-limit, link fe80::/0x8001, frame 5 at "
        self.assertIn(words, " ".join(conform("check", file).stdout.split()))
        conform("check", file, "--write", self.folder / "out.pcapng")
        self.assertEqual((self.folder / "out.pcapng").read_bytes().count(b"finding group-limit, link fe80::/0x8001: The SA"), 1)
        conform("check", file, CAPTURES / "usual.pcap", "--json", self.folder / "r.json", "--quiet")
        notes = [one["notes"] for one in json.loads((self.folder / "r.json").read_text())["captures"]]
        self.assertEqual([sum(words in note for note in of_one) for of_one in notes], [1, 0])

    def test_a_port_is_found_by_each_of_its_addresses(self):
        file = self.folder / "many.pcap"
        file.write_bytes(hostile.many_addresses(40, 1))
        self.assertEqual(account(file)["links"][0]["ports"][0]["more_addresses"], 24)
        for host, count in (("10.0.0.0", 1), ("10.0.0.39", 1), ("10.0.0.40", 0)):
            self.assertEqual(sum(len(one["ports"]) for one in account(file, "--host", host)["links"]), count, host)

    def test_healthy_traffic_of_every_kind_has_no_trouble(self):
        rules = {"not-kept", *CAUSES.values(), "another-scope", "too-large", "stale-address", "uses-link-without-joining",
                 "uses-link-after-leaving", "listens-without-joining"}
        for profile in names("--list"):
            if profile in ("malformed", "replay"):
                continue
            with self.subTest(profile):
                file = self.folder / "healthy.pcap"
                made = generate(profile, "--hosts", 8, "--groups", 4, "--count", 6000, "--rate", 20, "--out", file, "--quiet")
                self.assertEqual(made.returncode, 0, made.stderr)
                told = {one["name"] for one in account(file, "--findings-only")["findings"] if "rule" not in one}
                # Of some profiles senders are idle for so long.
                self.assertLessEqual(told - rules, {"send-only-stays"})


class AtSize(unittest.TestCase):
    """Thirty partitions, a thousand hosts, two faults at once."""

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="ipoib-links-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.capture = fabric_at_size.two_faults(cls.folder)
        cls.told = account(cls.capture)
        cls.causes = [one for one in cls.told["findings"] if "cause" not in one]

    def test_a_summary_comes_first_and_all_of_it_can_be_read(self):
        lines = conform("links", self.capture).stdout.splitlines()
        self.assertLess(len(lines), 150)
        self.assertIn("30 links, 1000 ports, ", "\n".join(lines[:5]))
        self.assertTrue(any(line.startswith("Findings") for line in lines[:10]))

    def test_what_explains_most_is_first_and_its_consequences_stand_under_it(self):
        self.assertEqual([one["name"] for one in self.causes[:2]], ["mapping-32-bit", "join-refused-rate"])
        self.assertEqual({one["name"] for one in self.causes[2:]}, {"not-kept"})
        under = [[one["name"] for one in self.told["findings"] if one.get("cause") == self.told["findings"].index(cause)]
                 for cause in self.causes[:2]]
        self.assertLessEqual({"mapping-32-bit", "no-such-group", "sender-never-joined"}, set(under[0]))
        self.assertEqual(set(under[1]), {"sender-never-joined", "not-kept"})
        self.assertEqual(self.causes[1]["count"], 24)
        text = conform("links", self.capture).stdout
        self.assertIn("\n  1. mapping-32-bit, link fe80::/0xfff3, ", text)
        self.assertIn("\n     so: no-such-group, link fe80::/0xfff3, ", text)

    def test_a_finding_names_the_link_of_its_frames_and_the_hosts_as_they_are_known_there(self):
        first, second = self.causes[:2]
        self.assertEqual((first["link"], second["link"]), (fabric_at_size.link(12), fabric_at_size.link(5)))
        self.assertEqual(first["ports"], [f"{fabric_at_size.guid(host):016x}" for host in range(100, 400)])
        self.assertEqual(second["ports"], [f"{fabric_at_size.guid(7):016x}"])
        self.assertEqual(len(second["groups"]), 12)
        self.assertIn(fabric_at_size.ipv4(100, 12), first["text"])
        self.assertIn(fabric_at_size.ipv4(7, 5) + " (", second["text"])
        # A rule that all links break is told of each, with that link's frames.
        broken = {one["link"]: one["frames"][0]["frame"] for one in self.causes[2:]}
        self.assertEqual(set(broken), {fabric_at_size.link(number) for number in range(30)})
        joins = {link["link"]: link["learned"]["frame"] for link in self.told["links"]}
        self.assertEqual(broken, joins)

    def test_an_address_is_on_its_own_link_once(self):
        for number in range(30):
            ports = next(one for one in self.told["links"] if one["link"] == fabric_at_size.link(number))["ports"]
            self.assertEqual(len(ports), 1000)
            for port in ports:
                host = int(port["port"], 16) - fabric_at_size.FIRST_GUID
                own = fabric_at_size.ipv4(host, number)
                self.assertEqual(sorted(port["addresses"]), sorted(set(port["addresses"])))
                self.assertLessEqual({one for one in port["addresses"] if "." in one}, {own})
                self.assertEqual(port["qpns"], [f"{fabric_at_size.FIRST_QPN + number * fabric_at_size.QPNS + host:#08x}"])

    def test_one_link_one_group_one_host(self):
        link, host = fabric_at_size.link(5), fabric_at_size.ipv4(7, 5)
        only = account(self.capture, "--link", "0x7ffa")
        self.assertEqual([one["link"] for one in only["links"]], [link])
        self.assertEqual({one["link"] for one in only["findings"]}, {link})
        self.assertEqual(only["findings"][0]["name"], "join-refused-rate")
        self.assertEqual(account(self.capture, "--link", link), only)
        guid = f"{fabric_at_size.guid(7):016x}"
        for words in (host, guid, "9", fabric_at_size.guid(7).to_bytes(8, "big").hex(":", 2)):
            told = account(self.capture, "--link", link, "--host", words)
            self.assertEqual([[port["port"] for port in one["ports"]] for one in told["links"]], [[guid]], words)
            self.assertEqual({tuple(one["ports"]) for one in told["findings"]}, {(guid,)}, words)
        self.assertEqual(len(account(self.capture, "--host", guid)["links"]), 30)
        told = account(self.capture, "--group", "239.192.0.3", "--link", link)
        self.assertEqual([group["group"] for group in told["links"][0]["groups"]], ["239.192.0.3"])
        text = conform("links", self.capture, "--link", link, "--host", host).stdout
        self.assertIn(f"    {host} ", text)
        self.assertNotIn(fabric_at_size.ipv4(6, 5) + " ", text)
        everybody = conform("links", self.capture, "--group", "broadcast", "--link", link).stdout
        self.assertIn(fabric_at_size.ipv4(999, 5), everybody)
        for more in ((), ("--findings-only",)):
            text = conform("links", self.capture, "--host", "10.99.0.1", *more).stdout
            self.assertEqual(text.count("on no link of this capture"), 1)
            self.assertNotIn("No findings", text)

    def test_four_digits_of_a_link_are_those_of_an_interface(self):
        run = conform("links", self.capture, "--link", "fffa", "--json")
        self.assertEqual(json.loads(run.stdout), account(self.capture, "--link", "0xfffa"))
        self.assertIn("--link fffa is read as P_Key 0xfffa", run.stderr)
        self.assertEqual(conform("links", self.capture, "--link", "0xfffa").stderr, "")
        self.assertIn("32762 is read as P_Key 0x7ffa", conform("links", self.capture, "--link", "32762").stderr)

    def test_only_findings(self):
        text = conform("links", self.capture, "--findings-only").stdout
        self.assertEqual(text.count("RFC4391-4.1-02"), 30)
        self.assertNotIn("\nlink ", text)
        self.assertNotIn("\nLink ", text)
        told = account(self.capture, "--findings-only")
        self.assertEqual((told["links"], told["findings"]), ([], self.told["findings"]))

    def test_times_are_those_of_the_clock(self):
        for one in self.causes[:2]:
            self.assertRegex(one["frames"][0]["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$")
            self.assertLessEqual(self.told["began"], one["frames"][0]["time"])
            self.assertLessEqual(one["frames"][-1]["time"], self.told["ended"])
        zone = dict(os.environ, TZ="XST-5:30")
        text = conform("links", self.capture, "--findings-only", env=zone).stdout
        first = datetime.datetime.fromisoformat(self.causes[0]["frames"][0]["time"][:26])
        there = first + datetime.timedelta(hours=5, minutes=30)
        self.assertIn(f"first at {there:%b %d %H:%M:%S.%f}", text)
        self.assertIn(", UTC+05:30\n", text)

    def test_the_largest_is_told_on_a_few_pages(self):
        file = self.folder / "largest.pcap"
        made = generate("day", "--partitions", 30, "--hosts", 5000, "--groups", 10_000, "--count", 100_000, "--out", file,
                        "--quiet")
        self.assertEqual(made.returncode, 0, made.stderr)
        run = conform("links", file)
        self.assertIn("30 links, 5000 ports, ", run.stdout)
        self.assertLess(run.stdout.count("\n"), 100)

    def test_wrong_words(self):
        for option, words in (("--link", "x"), ("--link", "0"), ("--group", "10.1.0.1"), ("--host", "239.1.2.3"), ("--host", "")):
            run = conform("links", self.capture, option, words)
            self.assertEqual(run.returncode, 2, run.stdout)
            self.assertIn(option, run.stderr)
        self.assertIn("neither an IP address", conform("links", self.capture, "--host", "x").stderr)

    def test_why_a_capture_cannot_be_read_is_told_once(self):
        run = conform("links", "/nonexistent")
        self.assertEqual(run.returncode, 2)
        self.assertEqual((run.stdout + run.stderr).count("/nonexistent"), 1, run.stdout + run.stderr)
        self.assertNotIn("No findings", run.stdout)


class Long(Folder):
    def long(self):
        head, frames = records(CAPTURES / "conformant.pcap")
        return self.pcap("long.pcap", head, frames * 60_000)


class Reading(Long):
    def test_what_was_read_until_it_was_interrupted_is_told(self):
        child = subprocess.Popen([PROGRAM, "links", self.long(), CAPTURES / "no-grh.pcap"], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(child.kill)
        until(lambda: int(Path(f"/proc/{child.pid}/io").read_text().split()[1]) > 20_000_000, "it reads")
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 3, err)
        self.assertIn(b"interrupted; the verdicts are those of what was read until then", b" ".join(out.split()))
        self.assertIn(b"Link fe80::/0x8123", out)
        self.assertIn(b"no-grh.pcap: interrupted before it was read", err)


class Progress(Long):
    def test_the_terminal_shows_how_far_it_is(self):
        code, drawn = drawn_at_terminal("links", self.long())
        self.assertEqual(code, 0)
        self.assertRegex(drawn, rb"\[=* *\] +\d+% \d+ MiB")


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

    def test_captures_that_show_no_link_say_what_does(self):
        for sample, words in (("roce", "an Ethernet capture"), ("tcpdump", "taken at a network interface (LINUX_SLL)"),
                              ("tcpdump-any", "taken at a network interface (LINUX_SLL2)")):
            run = conform("links", CAPTURES / f"{sample}.pcap")
            self.assertEqual(run.returncode, 0, run.stderr)
            told = " ".join(run.stdout.split())
            self.assertIn("No IPoIB link is in sight.", told)
            self.assertIn(words, told)
            self.assertIn("ibdump -d mlx5_0", told)
            self.assertIn(words, account(CAPTURES / f"{sample}.pcap")["advice"][0])

    def test_two_links_of_one_partition_have_their_own_addresses(self):
        file = self.folder / "scopes.pcap"
        made = generate("two-scopes", "--count", 2000, "--out", file, "--quiet")
        self.assertEqual(made.returncode, 0, made.stderr)
        links = account(file)["links"]
        self.assertEqual(len({one["p_key"] for one in links}), 1)
        self.assertEqual(len(links), 2)
        for ports in zip(*(one["ports"] for one in links)):
            self.assertFalse(set(ports[0]["addresses"]) & set(ports[1]["addresses"]), ports)

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
