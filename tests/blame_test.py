#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What stops a run, or most of it, is told once; what DUT.toml and the adapter say decides what is not judged, and why."""
import json
import sys
import unittest

from active import CASE, Active
from program import conform

# Its interface is as its first argument says, up or down, and it knows the requests behind that; `dies` beside them: it
# ends at the third request for the interface.
ADAPTER = '''
import json, sys
state, *can = sys.argv[1:]
times = 0
def say(answer): print(json.dumps(answer), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["do"] == "hello":
        say({"id": asked["id"], "ok": True, "protocol": 1, "name": "listed", "can": [one for one in can if one != "dies"]})
    elif asked["do"] == "interface":
        times += 1
        if "dies" in can and times > 2: sys.exit(7)
        say({"id": asked["id"], "ok": True, "up": state == "up"})
    elif asked["do"] in can:
        say({"id": asked["id"], "ok": True})
    else:
        say({"id": asked["id"], "error": "unsupported", "message": ""})
'''
USUAL = ("interface", "up", "down", "send", "join", "leave")


class Blame(Active):
    def setUp(self):
        super().setUp()
        (self.folder / "adapter.py").write_text(ADAPTER)

    def dut(self, state, *can):
        return ("--listen", self.folder / "port", "--timeout-scale", "0.1", "--dut",
                f"exec:{sys.executable} {self.folder}/adapter.py {state} {' '.join(can)}")

    def test_an_adapter_that_cannot_be_started_is_one_error(self):
        run = conform("run", "--listen", self.folder / "port", "--dut", "exec:/nonexistent", "--json", self.folder / "r.json",
                      "--junit", self.folder / "r.xml")
        self.assertEqual(run.returncode, 3, run.stdout)
        told = [one for one in json.loads((self.folder / "r.json").read_text())["results"] if one["verdict"] != "NA"]
        self.assertEqual([(one["id"], one["verdict"]) for one in told], [("SESSION", "ERROR")])
        self.assertIn("/nonexistent", told[0]["message"])
        self.assertRegex(told[0]["notes"][-1], r"^\d\d+ cases were not begun$")
        self.assertEqual((self.folder / "r.xml").read_text().count("<error"), 1)
        # And once more at the end, as all findings are.
        self.assertEqual(run.stdout.count("ERROR SESSION"), 1, run.stdout)

    def test_an_adapter_that_dies_again_and_again_ends_the_run(self):
        results = self.results(*self.dut("up", *USUAL, "dies"), "rfc4391/6", "rfc4391/7", "rfc4391/9.2", code=3)["results"]
        errors = [one for one in results if one["verdict"] == "ERROR"]
        self.assertLessEqual(len(errors), 4)
        self.assertEqual(errors[-1]["id"], "SESSION")
        self.assertIn("3 times in a row", errors[-1]["message"])
        self.assertRegex(errors[-1]["notes"][-1], r"^\d+ cases were not begun$")

    def test_an_interface_that_never_comes_up_is_told_once_and_the_start_is_judged(self):
        found = self.results(*self.dut("down", *USUAL), "rfc4391/5", "rfc4391/6", "rfc4391/7", "rfc4391/9.2", code=1)
        results = [one for one in found["results"] if one["id"].startswith("IPOIB-")]
        down = [one for one in results if "does not come up" in one["message"]]
        self.assertEqual([one["verdict"] for one in down], ["INCONC"])
        self.assertRegex(down[0]["notes"][-1], r"^for want of the interface \d+ more cases were not judged$")
        self.assertIn("FAIL", [one["verdict"] for one in results], "the cases on bring-up")
        # The two cases that waited as long as joins are retried, and those that looked once more.
        self.assertLess(found["seconds"], 0.1 * (2 * 30 + 2 * 60))

    def test_whose_address_nobody_tells_is_not_blamed_for_silence(self):
        results = self.results(*self.dut("down"), "rfc4391/6", "rfc4391/9.2", code=4)["results"]
        told = {one["message"] for one in results if one["id"].startswith("IPOIB-") and "address of the DUT" in one["message"]}
        self.assertEqual(told, {"nobody tells an address of the DUT: neither its adapter nor its profile"})

    def test_what_the_adapter_cannot_is_known_before_a_case_and_without_one(self):
        case, can = "IPOIB-4391-10-VAL-003", ("interface", "up", "down")
        for one in self.results(*self.dut("down", *can), "IPOIB-4391-7-*", case, code=5)["results"]:
            if one["id"] == case:
                self.assertEqual((one["verdict"], one["message"]), ("NA", 'the DUT\'s adapter cannot "send"'))
        run = conform("run", *self.dut("down", *can), "--dry-run")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertRegex(run.stdout, rf'(?m)^{case} .* NA \(tester\): the DUT\'s adapter cannot "\w+"$')
        run = conform("run", "--listen", self.folder / "port", "--dut", "exec:/nonexistent", "--dry-run")
        self.assertEqual(run.returncode, 3, run.stdout)
        self.assertIn("/nonexistent", run.stderr)

    def test_each_key_of_the_profile_decides(self):
        for key, case, why in (('modes = ["datagram"]', "IPOIB-4755-2-VAL-001", r"judges connected mode"),
                               ("mtu = 1500", "IPOIB-4391-7-VAL-001", "2044 octets; the DUT's profile says 1500"),
                               ('role = "host"', "IPOIB-4391-11-VAL-002", "profile says host")):
            with self.subTest(key=key):
                profile = self.folder / "DUT.toml"
                profile.write_text(f"[profile]\n{key}\n")
                run = conform("run", "--dry-run", "--profile", profile)
                self.assertRegex(run.stdout, rf"(?m)^{case} .* NA \(profile\): .*{why}")
                one = self.results("--profile", profile, case, code=4)["results"][0]
                self.assertEqual((one["verdict"], one["na"]), ("NA", "profile"))

    def test_what_its_vendor_says_of_its_identifier_is_held_against_it(self):
        case = "IPOIB-4391-8-VAL-001"
        profile = self.folder / "DUT.toml"
        for text, mutant, verdict in (("", "reference", "PASS"),
                                      ('interface_id = "guid"', "reference", "PASS"),
                                      ('guid_format = "eui64"', "reference", "PASS"),
                                      ('guid_format = "modified-eui64"', "reference", "FAIL"),
                                      ('guid_format = "modified-eui64"', "mutant:u-bit-not-toggled", "PASS"),
                                      ("", "mutant:u-bit-not-toggled", "FAIL"),
                                      ('interface_id = "stable-opaque"', "mutant:u-bit-not-toggled", "PASS"),
                                      ('interface_id = "guid"', "mutant:permitted-opaque-id", "WARN"),
                                      ("", "mutant:permitted-opaque-id", "PASS")):
            with self.subTest(text=text, mutant=mutant):
                profile.write_text(f"[profile]\n{text}\n")
                results = self.results("--profile", profile, "--dut", mutant, case, code=int(verdict == "FAIL"))["results"]
                self.assertEqual(results[0]["verdict"], verdict)

    def test_a_stop_is_told_once(self):
        results = self.results("--dut", "none", "--fabric", f"socket:{self.folder / 'none'}", CASE, code=3)["results"]
        self.assertEqual([one["id"] for one in results], ["SESSION"])
        self.assertEqual(results[0]["notes"], ["1 case was not begun"])

    def test_of_what_was_not_run_there_is_no_bundle(self):
        run = conform("run", "--dut", "none", "--fabric", f"socket:{self.folder / 'none'}", CASE, "--bundle",
                      self.folder / "r.tar")
        self.assertEqual(run.returncode, 3)
        self.assertEqual(run.stderr, "ipoib-conform: --bundle: nothing was run, so there is nothing to put in it\n")
        self.assertFalse((self.folder / "r.tar").exists())


if __name__ == "__main__":
    unittest.main()
