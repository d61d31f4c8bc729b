#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes a subnet that ibsim simulates from outside, for `--fabric-control`: OpenSM restarts, without what it was asked for,
and ports get other LIDs.
usage: ibsim_control.py FOLDER HOST PID      OpenSM's folder, the host that it is on, and the process that it is"""
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from ibsim import OPENSM, at_host
from program import die_with_parent
from waiting import until


class Refused(Exception):
    """Its words are told; `is_unsupported` where such a change cannot be made here at all."""

    def __init__(self, words, is_unsupported=False):
        super().__init__(words)
        self.is_unsupported = is_unsupported


def has_ended(pid):
    """Also where its parent has not asked for its exit code yet."""
    try:
        return re.search(r"\) (\w)", Path(f"/proc/{pid}/stat").read_text()).group(1) in "ZX"
    except FileNotFoundError:
        return True


class Control:
    def __init__(self, folder, host, pid):
        self.folder, self.host, self.pid, self.own = Path(folder), host, pid, None

    def stop(self):
        if self.own:
            self.own.terminate()
            self.own.wait(timeout=10)
            self.own = None
        elif not has_ended(self.pid):
            os.kill(self.pid, signal.SIGTERM)
            until(lambda: has_ended(self.pid), "end of OpenSM", seconds=10)

    def start(self):
        if self.own or not has_ended(self.pid):
            return
        log = self.folder / "opensm.log"
        begin = log.stat().st_size
        with open(self.folder / "opensm-again.out", "wb") as words:
            self.own = subprocess.Popen(OPENSM, cwd=self.folder, env=at_host(os.environ, self.host), stdin=subprocess.DEVNULL,
                                        stdout=words, stderr=words, preexec_fn=die_with_parent)
        until(lambda: b"SUBNET UP" in log.read_bytes()[begin:], "subnet", seconds=9)

    def give_lid(self, guid, lid):
        """A LID that nobody had, where 0 is asked for. OpenSM keeps what it gave in a file, and goes by that when it
        starts."""
        path = self.folder / "guid2lid"
        self.stop()
        lids = {int(one, 16): int(lid, 16) for one, lid in re.findall(r"^(0x\w+) (0x\w+)", path.read_text(), re.M)}
        try:
            if guid not in lids:
                raise Refused("no port has this GUID")
            if lid in lids.values() and lids[guid] != lid:
                raise Refused("another port has the LID")
            lids[guid] = lid or max(lids.values()) + 1
            path.write_text("".join(f"0x{guid:016x} 0x{lid:04x} 0x{lid:04x}\n\n" for guid, lid in lids.items()))
        finally:
            self.start()

    def change(self, request):
        verb, state = request.get("do"), request.get("state")
        if verb == "sm" and state == "stop":
            self.stop()
        elif verb == "sm" and state == "start" and not request.get("keeps_state"):
            self.start()
        elif verb == "lid":
            self.give_lid(int(request["guid"], 16), int(request.get("lid", 0)))
        elif verb == "restore":
            self.start()
        else:
            raise Refused(f"ibsim's OpenSM cannot do this: {verb}", is_unsupported=True)


def main():
    control = Control(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    try:
        for line in sys.stdin:
            request = json.loads(line)
            answer = {"id": request.get("id"), "ok": True}
            try:
                control.change(request)
            except Refused as refused:
                answer.update(ok=False, error="unsupported" if refused.is_unsupported else "failed", message=str(refused))
            except (AssertionError, OSError, KeyError, ValueError, subprocess.TimeoutExpired) as problem:
                answer.update(ok=False, error="failed", message=str(problem) or repr(problem))
            print(json.dumps(answer), flush=True)
    finally:
        control.stop()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    main()
