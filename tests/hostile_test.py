#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Inputs that an adversary made, each in little to be much: no command takes more than it may for them."""
import json
import os
import resource
import subprocess
import unittest
from pathlib import Path

import hostile
from program import CAPTURES, PROGRAM, Folder, conform

MOST_KIB = 512 * 1024
SECONDS_A_MB = 5


class Hostile(Folder):
    def resident(self, *arguments, code=(0, 1), seconds=None, files=None):
        """What it printed; refused where it took more memory or time than any input may cost, or more than so many seconds."""
        def bound():
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
            resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
            if files:
                resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

        with open(self.folder / "out", "w+", encoding="utf-8") as out:
            # pylint: disable-next=consider-using-with
            run = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=out, stderr=subprocess.STDOUT, preexec_fn=bound)
            _, status, usage = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            text = out.read()
        self.assertIn(run.returncode, code, text[-1000:])
        self.assertLess(usage.ru_maxrss, MOST_KIB, arguments)
        octets = sum(Path(one).stat().st_size for one in arguments if isinstance(one, Path) and one.exists())
        self.assertLess(usage.ru_utime + usage.ru_stime, seconds or SECONDS_A_MB * max(2, octets / 1e6), arguments)
        return text

    def both(self, capture):
        path = self.write("hostile.pcap", capture)
        return self.resident("check", path), self.resident("links", path), self.resident("links", "--json", path)

    def test_groups_that_were_made_to_collide_are_as_good_as_any(self):
        count = 8194
        *_, links = self.both(hostile.colliding(count))
        self.assertEqual(len(json.loads(links)["links"]), count)

    def test_an_address_is_told_on_its_own_link(self):
        links = 20_000
        *_, text = self.both(hostile.many_addresses(30_000, links))
        told = json.loads(text)["links"]
        self.assertEqual(len(told), links)
        self.assertEqual([(len(port["addresses"]), port.get("more_addresses")) for one in told[:2] for port in one["ports"]],
                         [(16, 30_000 - 16), (0, None)])

    def test_subnets_share_what_is_kept(self):
        check, links, _ = self.both(hostile.many_subnets(16, 1500, 12))
        self.assertIn("one too many to keep", check)

    def checked(self, capture, seconds):
        """What `check` prints of a capture, and its results by id. Nothing in it may cost a walk over all that is kept."""
        path, results = self.write("hostile.pcap", capture), self.folder / "checked.json"
        text = self.resident("check", path, "--json", results, seconds=seconds)
        return " ".join(text.split()), {one["id"]: one for one in json.loads(results.read_text())["results"]}

    def test_an_answer_of_the_sa_costs_the_same_however_many_members_there_are(self):
        self.checked(hostile.told_other_mlids(240_000, 3000), seconds=5)

    def test_an_acknowledgement_is_taken_for_as_many_gids_as_a_port_may_have(self):
        text, _ = self.checked(hostile.acknowledged_at_one_lid(60_000, 2000), seconds=5)
        self.assertIn("2000 times a port, group or membership was one too many to keep", text)

    def test_a_prefix_that_changes_again_and_again_is_not_known(self):
        text, _ = self.checked(hostile.prefixes(60_000, 600), seconds=5)
        self.assertIn("599 times the subnet prefix was told anew; it is taken for not known", text)

    def test_what_a_port_has_to_do_beyond_what_is_kept_is_told_and_not_judged(self):
        told = "14466 times a port had to do something while as many duties were open as are kept"
        text, results = self.checked(hostile.duties(2, 40_000), seconds=5)
        self.assertIn(told, text)
        rule = results["RULE-RFC4391-10-15"]
        self.assertEqual((rule["verdict"], rule["observed"]), ("NA", 0))
        self.assertIn(told, rule["message"])
        text, results = self.checked(hostile.duties(2, 30_000), seconds=5)
        self.assertEqual((results["RULE-RFC4391-10-15"]["verdict"], results["RULE-RFC4391-10-15"]["observed"]), ("PASS", 60_000))
        self.assertNotIn("duties", text)

    def together(self, count, window_log, octets):
        """What check tells of as many captures at once, each with a window of its own, that were taken at the same time."""
        files = []
        for number in range(count):
            content = hostile.zstd(hostile.long_capture(octets, number), window_log)
            if content is None:
                self.skipTest("libzstd is not here")
            files.append(self.write(f"{number}.pcap.zst", content))
        results = self.folder / "together.json"
        self.resident("check", "--together", "--quiet", *files, "--json", results, code=(0, 1, 4), seconds=60)
        self.resident("links", "--together", *files, seconds=60)
        captures = json.loads(results.read_text())["captures"]
        frames = octets // (len(hostile.long_capture(0, 0)) - 40) + 1
        self.assertEqual([(one["packets"], one["error"]) for one in captures], [(frames, "")] * count)

    def test_large_windows_at_once(self):
        self.together(12, 27, 140_000_000)

    def test_very_many_ordinary_windows_at_once(self):
        self.together(100, 23, 10_000_000)

    def test_very_many_captures_at_once(self):
        if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 4000:
            self.skipTest("so many files may not be open")
        files = [self.write(f"{number}.pcap", hostile.long_capture(0, number)) for number in range(3000)]
        text = self.resident("links", "--together", *files, seconds=10, files=4000)
        self.assertEqual(text.count("1 packets, 0 of them IPoIB"), 3000)

    def test_findings_are_many(self):
        ports, groups = 4, 45_000
        path = self.write("hostile.pcap", hostile.senders(ports, groups))
        told = json.loads(self.resident("links", "--json", path))
        name = "sender-never-joined"
        # Each is about one port and its groups.
        self.assertEqual([(len(one["groups"]), one["more_groups"]) for one in told["findings"] if one["name"] == name],
                         [(1000, groups - 1000)] * ports)
        self.assertEqual(sum(len(group["senders_without_join"]) for group in told["links"][0]["groups"]), ports * groups)
        path = self.write("alone.pcap", hostile.senders(1500, 2, is_alone=True))
        told = json.loads(self.resident("links", "--json", path))
        self.assertEqual(sum(one["name"] == name for one in told["findings"]), 1000)
        self.assertEqual(told["more_findings"][name], 500)
        self.assertIn(f"and 500 more of {name}", self.resident("links", path))

    def test_very_many_addresses_are_announced_by_two_ports(self):
        path = self.write("hostile.pcap", hostile.contested(20_000, 6, pairs=1))
        told = json.loads(self.resident("links", "--json", path))
        # Of the same two each time: rails of one host may do so. No more addresses are kept than these.
        self.assertEqual([one["name"] for one in told["findings"] if one["name"] == "arp-flux"], ["arp-flux"])
        self.assertIn("and 16381 more", json.dumps(told["findings"]))
        self.assertIn("16381 more", " ".join(self.resident("check", path).split()))
        path = self.write("pairs.pcap", hostile.contested(20_000, 6, pairs=2000))
        told = json.loads(self.resident("links", "--json", path))
        name = "arp-flux"
        self.assertEqual(sum(one["name"] == name for one in told["findings"]), 1000)
        self.assertEqual(told["more_findings"][name], 1000)
        self.assertIn("findings more", self.resident("check", path))

    def test_violations_are_on_very_many_links(self):
        links = 20_000
        frames = [hostile.packet(slid=5, dlid=0xc001, sgid=hostile.port_gid(5), p_key=0x8000 | number,
                                 dgid=hostile.gid(0xff12_401b_0000_0000 | (0x8000 | number) << 16, 0xef01_0203),
                                 payload=hostile.IP_PACKET, psn=number) for number in range(1, links)]
        path = self.write("hostile.pcap", hostile.pcap(frames))
        told = json.loads(self.resident("links", "--findings-only", "--json", path))
        self.assertEqual(sum(one["name"] == "mapping-32-bit" for one in told["findings"]), 1000)
        self.assertGreater(told["more_violations"], 0)
        self.assertIn("on links beyond those that are kept", self.resident("links", path))

    def results(self, **change):
        """A results file with some members of another making."""
        path = self.folder / "results.json"
        conform("check", "--quiet", CAPTURES / "usual.pcap", "--json", path)
        results = json.loads(path.read_text())
        results.update((name, make(results)) for name, make in change.items())
        path.write_text(json.dumps(results, separators=(",", ":")))
        return path

    def reported(self, *arguments, code):
        """In every form."""
        return "".join(self.resident("merge", *arguments, *form, code=code) for form in (
            [], *([f"--{form}", self.folder / "report"]
                  for form in ("json", "junit", "html", "markdown", "ctrf", "tap"))))

    def test_results_are_many(self):
        def many(results):
            one = results["results"][0]
            return [one | {"id": f"RULE-X-{number}", "verdict": "FAIL", "type": "FAIL", "message": f"it is {number}"}
                    for number in range(30_000)]
        path = self.results(results=many)
        self.assertIn("RULE-X-1", self.resident("merge", f"n1={path}", f"n2={path}", code=(1,)))
        self.reported(f"n1={path}", code=(1,))

    def test_results_are_as_many_as_can_be_read(self):
        def many(results):
            return [results["results"][0] | {"id": f"RULE-X-{number}", "verdict": "FAIL"} for number in range(30_000)]
        path = self.results(results=many)
        for form in "junit", "ctrf":
            self.resident("merge", *(f"n{host}={path}" for host in range(5)), f"--{form}", self.folder / "report", "--quiet",
                          code=(1,), seconds=60)

    def test_results_are_small_and_very_many(self):
        path = self.results(results=lambda _: [{"id": str(number), "verdict": "PASS"} for number in range(1_000_000)])
        self.assertIn("more than a results file of this size can hold", self.reported(f"n1={path}", code=(3,)))

    def test_one_result_checks_everything_many_times(self):
        path = self.results(results=lambda results: [
            {"id": str(number), "verdict": "FAIL", "checks": [one["id"] for one in results["requirements"]]}
            for number in range(4_000)])
        self.reported(f"n1={path}", code=(1,))

    def test_a_result_of_very_many_details(self):
        path = self.results(results=lambda _: [{"id": "RULE-X", "verdict": "FAIL", "details": [{}] * 6_000_000}])
        self.assertIn("more than 500000 values in one entry", self.reported(f"n1={path}", code=(3,)))

    def test_hosts_are_very_many(self):
        path = self.results(hosts=lambda _: [{"name": str(number)} for number in range(1_000_000)], captures=lambda _: [],
                            results=lambda _: [])
        self.assertIn("more than a results file of this size can hold", self.reported(path, code=(2,)))


if __name__ == "__main__":
    unittest.main()
