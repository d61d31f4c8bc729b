# SPDX-License-Identifier: GPL-2.0-or-later
"""The state of a guest that is ready, kept in a file, so that further ones begin there instead of at a boot.

QEMU 7.2 can migrate neither to `file:` nor, in its sandbox, to `exec:`. It does migrate to a descriptor, and one of a file
will do. It is told so by its monitor (QMP), at the other end of a pair of sockets that has no path."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from typing import Any

from tools import LabError

_ANSWERS_WITHIN = 10.0  # s
_SAVED_WITHIN = 60.0  # s
_LOOK_AGAIN = 0.02  # s
_PORTION = 64 << 10
_UNLIMITED = 1 << 40  # octets a second; by default the state goes as slowly as through a network


class Monitor:
    """Of one QEMU. Only what it answers to commands counts; nobody waits for what it tells of itself."""

    def __init__(self, end: socket.socket) -> None:
        self._here = end
        self._here.setblocking(False)
        self._read = b""
        self._number = 0  # of the last command
        self._looking = 0  # the number of the question whether the guest runs, while it is not answered
        self._send("qmp_capabilities")

    def close(self) -> None:
        self._here.close()

    def is_running(self) -> bool:
        """Whether the guest's processors run, as far as QEMU has told; never waits. False while its state is still read."""
        if self._looking == 0:
            self._looking = self._send("query-status")
        answer = self._answers().get(self._looking)
        if answer is None:
            return False
        self._looking = 0
        return bool(_value_of(answer, "query-status").get("running"))

    def save(self, path: Path) -> None:
        """The state of a guest that runs, into a new file; the guest goes on. LabError where QEMU does not do it."""
        self._ask("migrate-set-parameters", {"max-bandwidth": _UNLIMITED})
        with open(path, "xb") as file:
            self._ask("getfd", {"fdname": "state"}, file.fileno())
        self._ask("migrate", {"uri": "fd:state"})
        end = time.monotonic() + _SAVED_WITHIN
        while (status := self._ask("query-migrate").get("status")) != "completed":
            if status == "failed" or time.monotonic() > end:
                raise LabError(f"QEMU does not save the guest's state: its migration is \"{status}\"")
            time.sleep(_LOOK_AGAIN)
        self._ask("cont")

    def _send(self, command: str, arguments: dict[str, Any] | None = None, descriptor: int | None = None) -> int:
        """The command's number."""
        self._number += 1
        line = json.dumps({"execute": command, "arguments": arguments or {}, "id": self._number}).encode() + b"\n"
        try:
            socket.send_fds(self._here, [line], [] if descriptor is None else [descriptor])
        except OSError as problem:
            raise LabError(f"QEMU's monitor: {problem.strerror}") from problem
        return self._number

    def _answers(self) -> dict[int, dict[str, Any]]:
        """What has come, by the number of the command."""
        try:
            while data := self._here.recv(_PORTION):
                self._read += data
        except BlockingIOError:
            pass
        except OSError as problem:
            raise LabError(f"QEMU's monitor: {problem.strerror}") from problem
        *lines, self._read = self._read.split(b"\n")
        try:
            found = [json.loads(line) for line in lines if line.strip()]
        except ValueError as problem:
            raise LabError(f"QEMU's monitor says what is no JSON: {problem}") from problem
        return {one["id"]: one for one in found if "id" in one}

    def _ask(self, command: str, arguments: dict[str, Any] | None = None, descriptor: int | None = None) -> dict[str, Any]:
        number = self._send(command, arguments, descriptor)
        end = time.monotonic() + _ANSWERS_WITHIN
        while (answer := self._answers().get(number)) is None:
            if time.monotonic() > end:
                raise LabError(f"QEMU's monitor does not answer to {command}")
            time.sleep(_LOOK_AGAIN)
        return _value_of(answer, command)


def _value_of(answer: dict[str, Any], command: str) -> dict[str, Any]:
    if "error" in answer:
        raise LabError(f"QEMU's monitor refuses {command}: {answer['error'].get('desc', '')}")
    value = answer.get("return")
    return value if isinstance(value, dict) else {}
