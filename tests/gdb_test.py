#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A DUT in gdb: at --pause-on, and at a breakpoint within a case. However long that takes, no verdict comes of it."""
import json
import os
import re
import shutil
import subprocess
import sys
import time
import unittest
from threading import Timer

from program import PROGRAM, SOURCE, Folder
from waiting import until

# Echo requests, each with a deadline of a second.
CASE = "IPOIB-4391-6-INV-001"
LONGER = 3.0  # s


class Gdb(Folder):
    def setUp(self):
        super().setUp()
        self.node = self.folder / "node"
        subprocess.run(["cc", "-std=c11", "-g", "-O0", "-o", self.node, SOURCE / "samples/c-node/ipoib_node.c"], check=True,
                       timeout=120)
        self.results, self.port = self.folder / "r.json", self.folder / "port"

    def ends_with_the_test(self, process):
        """Or earlier: nothing here takes a minute, and a line that does not come is waited for no longer."""
        limit = Timer(60, process.kill)
        limit.start()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                self.addCleanup(stream.close)
        for step in (process.wait, process.kill, limit.cancel):
            self.addCleanup(step)
        return process

    def begun(self):
        """The run, waiting before the case, and the process of its node."""
        adapter = f"{SOURCE}/samples/python-adapter/adapter.py --node {self.node} --port {self.port}"
        run = subprocess.Popen([PROGRAM, "run", "--listen", self.port, "--dut", f"exec:{sys.executable} {adapter}", "--json",
                                self.results, "--pause-on", CASE, CASE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.ends_with_the_test(run)
        paused = run.stderr.readline()
        found = re.search(r"Its processes here: .*node \(process (\d+)\)", paused)
        self.assertIsNotNone(found, paused)
        return run, found[1]

    def gdb(self, node, *commands):
        gdb = subprocess.Popen(["gdb", "-q", "-nx", "-batch", "-p", node, *(word for one in commands for word in ("-ex", one))],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return self.ends_with_the_test(gdb)

    def ended(self, run, said=""):
        out, error = run.communicate(said, timeout=60)
        self.assertEqual(run.returncode, 0, out + error)
        case = next(one for one in json.loads(self.results.read_text())["results"] if one["id"] == CASE)
        # Undecided, it would have been tried again.
        self.assertEqual((case["verdict"], [note for note in case.get("notes", []) if "attempt" in note]), ("PASS", []))
        return out, error, case

    def test_at_a_pause_the_clock_stands(self):
        start = time.monotonic()
        run, node = self.begun()
        began, looks = time.monotonic(), 0
        while looks < 2 or time.monotonic() < began + LONGER:
            shown, _ = self.gdb(node, "backtrace", "print port.out_length").communicate(timeout=60)
            self.assertRegex(shown, r"(?s)main \(.*\$1 = \d+")
            looks += 1
        _, error, case = self.ended(run, "\n")
        self.assertNotIn("stopped", error)
        self.assertLessEqual(case["seconds"] + LONGER, time.monotonic() - start)

    def test_at_a_breakpoint_no_deadline_runs(self):
        hold, attached = self.folder / "hold", self.folder / "attached"
        os.mkfifo(hold)
        run, node = self.begun()
        gdb = self.gdb(node, "break receive_icmp", f"shell touch {attached}", "continue", "backtrace 1", f"shell cat {hold}")
        until(attached.exists, "debugger")
        run.stdin.write("\n")
        run.stdin.flush()
        began = time.monotonic()
        self.assertRegex(run.stderr.readline(), r"node \(process \d+\) is stopped, by a debugger or SIGSTOP: waiting")
        until(lambda: time.monotonic() > began + LONGER, "end of time")
        hold.write_text("")
        self.assertIn("receive_icmp (", gdb.communicate(timeout=60)[0])
        _, error, _ = self.ended(run)
        self.assertIn("is not stopped any more", error)


if __name__ == "__main__":
    missing = [one for one in ("gdb", "cc") if not shutil.which(one)]
    if missing:
        print(f"{missing[0]} is missing")
        sys.exit(77)
    unittest.main()
