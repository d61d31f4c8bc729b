# SPDX-License-Identifier: GPL-2.0-or-later
"""`scripts/lab attach`: an adapter, or fabric control, whose other half is in the guest.

While the guest lives, lines go through in both directions. When it dies, the request that waits is answered "failed",
`health` is answered once with what the console says of the kernel, and everything else is "failed" until the end of
input: the harness sees an adapter that works and a DUT that has crashed, not a broken channel.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import time
from collections import deque
from pathlib import Path
from typing import BinaryIO

import stacks
from console import faults_in, has_panicked
from tools import last_lines

_LONGEST_LINE = 64 << 10
_MOST_OPEN = 64
_PORTION = 64 << 10
_LOOK_AGAIN = 0.25  # s
_BOOT_PATIENCE = 90.0  # s in which no guest boots; the supervisor limits those in which one does
_TRACE_PATIENCE = 2.0  # s, for QEMU to end behind a panic
_EVIDENCE_LINES = 60
# The guest learns that a port was closed some time after data of the next connection can reach it.
_BETWEEN_CONNECTIONS = 1.2  # s

ANEW = "anew"  # a file in the guest's folder: somebody wants it to be booted anew


def request_of(line: bytes) -> dict[str, object]:
    """The request as an object; an empty one if the line is none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def refusal(identity: object, message: str) -> bytes:
    return json.dumps({"id": identity, "error": "failed", "message": message}).encode() + b"\n"


class GuestFolder:
    """What the supervisor tells of its guest, see Machine."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def state(self) -> dict[str, object]:
        try:
            return request_of((self.path / "state.json").read_bytes())
        except OSError:
            return {}

    def console_text(self, name: object) -> str:
        if not isinstance(name, str) or "/" in name:
            return ""
        try:
            with open(self.path / name, "rb") as file:
                file.seek(0, 2)
                file.seek(max(0, file.tell() - (256 << 10)))
                return file.read().decode("utf-8", "replace").replace("\r", "")
        except OSError:
            return ""

    def decoded(self, text: str) -> str:
        """What its kernel says, with file and line of the functions."""
        return stacks.decoded_in(self.path, text)

    def pause_after_last_connection(self, port: str) -> None:
        try:
            closed = (self.path / f"{port}.closed").stat().st_mtime
        except OSError:
            return
        time.sleep(max(0.0, min(_BETWEEN_CONNECTIONS, closed + _BETWEEN_CONNECTIONS - time.time())))

    def ask_for_another(self, port: str) -> None:
        """Has the supervisor boot a guest anew that somebody has been connected to, and waits for it to begin."""
        before = self.state()
        try:
            is_used = (self.path / f"{port}.closed").stat().st_mtime > (self.path / "state.json").stat().st_mtime
            if before.get("state") != "ready" or not is_used:
                return
            (self.path / ANEW).touch()
        except OSError:
            return
        end = time.monotonic() + _BOOT_PATIENCE
        while self.state().get("boot") == before.get("boot") and time.monotonic() < end:
            time.sleep(0.05)

    def note_end_of_connection(self, port: str) -> None:
        try:
            (self.path / f"{port}.closed").touch()
        except OSError:
            pass  # The folder is gone, and the guest with it.


class Attachment:
    """One connection to a port of the guest, between an input and an output of lines."""

    def __init__(self, folder: GuestFolder, port: str, source: int, sink: BinaryIO, evidence: BinaryIO) -> None:
        self._folder = folder
        self._port = port
        self._source = source
        self._sink = sink
        self._evidence = evidence
        self._guest: socket.socket | None = None
        self._console: object = None
        self._open: deque[object] = deque()  # ids of requests that are not answered yet
        self._from_host = bytearray()
        self._from_guest = bytearray()
        self._to_guest = bytearray()
        self._death = ""
        self._faults: list[str] = []

    def run(self) -> int:
        """Until the end of input."""
        if not self._connect():
            self._die("it did not become ready")
        while True:
            wants_input = len(self._to_guest) < _LONGEST_LINE and len(self._open) < _MOST_OPEN
            readers: list[int | socket.socket] = [self._source] if wants_input or self._guest is None else []
            writers: list[socket.socket] = []
            if self._guest is not None:
                readers.append(self._guest)
                writers = [self._guest] if self._to_guest else []
            ready, writable, _ = select.select(readers, writers, [], _LOOK_AGAIN)
            if self._guest is not None:
                self._look_at_guest()
            if self._guest is not None and self._guest in ready:
                self._read_guest()
            if self._guest is not None and self._guest in writable:
                self._write_guest()
            if self._source in ready and not self._read_host():
                return 0

    def _connect(self) -> bool:
        """Waits for the supervisor's guest to be ready; a new one is started where the last has died."""
        end = time.monotonic() + _BOOT_PATIENCE
        while time.monotonic() < end:
            state = self._folder.state()
            if state.get("state") == "ready":
                self._folder.pause_after_last_connection(self._port)
                guest = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                try:
                    guest.connect(str(self._folder.path / self._port))
                except OSError:
                    guest.close()
                else:
                    guest.setblocking(False)
                    self._guest, self._console = guest, state.get("console")
                    return True
            elif not state:
                return False
            elif state.get("state") == "booting":
                end = time.monotonic() + _BOOT_PATIENCE
            time.sleep(0.05)
        return False

    def _look_at_guest(self) -> None:
        state = self._folder.state()
        if state.get("console") != self._console or state.get("state") == "dead":
            self._die(str(state.get("why") or "it was started anew"))

    def _read_guest(self) -> None:
        assert self._guest is not None
        try:
            data = self._guest.recv(_PORTION)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._die("")
            return
        self._from_guest += data
        *lines, rest = bytes(self._from_guest).split(b"\n")
        self._from_guest = bytearray(rest)
        if len(rest) > _LONGEST_LINE:
            # The harness says of such an adapter what there is to say; here it must only not eat the memory.
            lines.append(bytes(rest))
            self._from_guest.clear()
        for line in lines:
            if self._open:
                self._open.popleft()
            self._answer(self._with_lines(line) + b"\n")

    def _with_lines(self, answer: bytes) -> bytes:
        """What the kernel has complained of, with files and lines."""
        value = request_of(answer) if b'"faults"' in answer else {}
        faults = value.get("faults")
        if not isinstance(faults, list) or not all(isinstance(fault, str) for fault in faults):
            return answer
        return json.dumps({**value, "faults": [self._folder.decoded(fault) for fault in faults]}).encode()

    def _write_guest(self) -> None:
        assert self._guest is not None
        try:
            count = self._guest.send(self._to_guest)
        except BlockingIOError:
            return
        except OSError:
            self._die("")
            return
        del self._to_guest[:count]

    def _read_host(self) -> bool:
        """False at the end of input."""
        data = os.read(self._source, _PORTION)
        if not data:
            return False
        self._from_host += data
        *lines, rest = bytes(self._from_host).split(b"\n")
        self._from_host = bytearray(rest)
        for line in lines:
            self._take_request(line)
        if len(rest) > _LONGEST_LINE:
            self._from_host.clear()
            self._answer(refusal(None, "a line longer than 64 KiB"))
        return True

    def _take_request(self, line: bytes) -> None:
        if not line.strip():
            return
        request = request_of(line)
        identity = request.get("id")
        if self._guest is not None:
            self._open.append(identity)
            self._to_guest += line + b"\n"
        elif request.get("do") == "health" and self._faults:
            self._answer(json.dumps({"id": identity, "ok": True, "faults": self._faults}).encode() + b"\n")
            self._faults = []
        else:
            self._answer(refusal(identity, self._death))

    def _die(self, why: str) -> None:
        """Nothing goes to the guest any more. Its console has the reason, a moment later."""
        if self._guest is not None:
            self._guest.close()
            self._guest = None
        end = time.monotonic() + _TRACE_PATIENCE
        text = self._folder.console_text(self._console)
        while self._console and not why and not has_panicked(text) and time.monotonic() < end:
            time.sleep(0.05)
            text = self._folder.console_text(self._console)
            state = self._folder.state()
            if state.get("console") == self._console and state.get("state") == "dead":
                why = str(state.get("why"))
        self._faults = [self._folder.decoded(fault) for fault in faults_in(text)]
        panic = next((fault for fault in self._faults if "panic" in fault), "")
        self._death = "the guest died: " + (why or panic or "its port was closed")
        evidence = f"{self._death}\nthe last lines of its console:\n{self._folder.decoded(last_lines(text, _EVIDENCE_LINES))}\n"
        self._evidence.write(evidence.encode())
        self._evidence.flush()
        while self._open:
            self._answer(refusal(self._open.popleft(), self._death))

    def _answer(self, line: bytes) -> None:
        self._sink.write(line)
        self._sink.flush()


def attach(folder: Path, port: str, has_own_guest: bool = False) -> int:
    """With a guest of its own the connection is to one that nobody has been connected to."""
    guest = GuestFolder(folder)
    if has_own_guest:
        guest.ask_for_another(port)
    # The end of the connection is noted whichever way it comes.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        return Attachment(guest, port, sys.stdin.fileno(), sys.stdout.buffer, sys.stderr.buffer).run()
    except (BrokenPipeError, KeyboardInterrupt):
        return 0
    finally:
        guest.note_end_of_connection(port)
