# SPDX-License-Identifier: GPL-2.0-or-later
"""The input and output of a command that runs in a guest: its ports, and this process's own streams."""

from __future__ import annotations

import os
import select
import socket
import sys
import time
from collections.abc import Callable

from machine import Machine, State
from terminal import Recorder, connect

PORTS = ("stdin", "stdout", "stderr")
_PORTION = 64 << 10
_LOOK_AGAIN = 0.1  # s
_TERMINAL_AGAIN = 0.5  # s
_CAPTURE_SILENCE = 0.3  # s


class Ending:
    """Finds the words that end a stream, wherever it is cut."""

    def __init__(self, words: bytes) -> None:
        self._words = words
        self._held = b""
        self.is_there = False

    def take(self, data: bytes) -> bytes:
        """What surely is not those words, of what was held and of this."""
        if self.is_there:
            return b""
        data = self._held + data
        before, sign, _ = data.partition(self._words)
        if sign:
            self.is_there, self._held = True, b""
            return before
        length = next((n for n in range(min(len(data), len(self._words) - 1), 0, -1)
                       if self._words.startswith(data[-n:])), 0)
        self._held = data[len(data) - length:]
        return data[:len(data) - length]

    def rest(self) -> bytes:
        """Of a stream that ends without them."""
        held, self._held = self._held, b""
        return held


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data):]


class Streams:
    """Connected from before the guest looks at its ports."""

    def __init__(self, machine: Machine, ending: bytes, recorder: Recorder | None, has_input: bool = True) -> None:
        self._machine = machine
        self._recorder = recorder
        self._ports = {name: connect(machine.folder / name) for name in PORTS}
        self._outputs = {self._ports[name]: (descriptor, Ending(ending)) for name, descriptor in
                         (("stdout", sys.stdout.fileno()), ("stderr", sys.stderr.fileno()))}
        self._has_input = has_input

    def close(self) -> None:
        for port in self._ports.values():
            port.close()

    def pump(self, is_over: Callable[[], bool]) -> bool:
        """Until both outputs have ended, or the guest, or it is over; whether they have ended."""
        while not all(ending.is_there for _, ending in self._outputs.values()):
            is_running = self._machine.poll() is not State.DEAD
            if not (self._move() or is_running):
                for descriptor, ending in self._outputs.values():
                    _write_all(descriptor, ending.rest())
                return False
            if is_over():
                return False
        return True

    def drain_capture(self) -> None:
        """Until nothing more comes."""
        quiet_since = time.monotonic()
        while self._recorder is not None and time.monotonic() - quiet_since < _CAPTURE_SILENCE:
            if select.select([self._recorder], [], [], _CAPTURE_SILENCE)[0]:
                if not self._recorder.take():
                    return
                quiet_since = time.monotonic()

    def _input(self) -> list[int]:
        """Standard input, if something may be read from it: a terminal is read from in the foreground only, and only
        while the guest takes lines."""
        if not self._has_input or self._machine.state is not State.READY:
            return []
        keys = sys.stdin.fileno()
        return [] if os.isatty(keys) and os.tcgetpgrp(keys) != os.getpgrp() else [keys]

    def _move(self) -> bool:
        """Whether anything has moved."""
        keys = self._input()
        sources = [*self._outputs, *keys, *([self._recorder] if self._recorder is not None else [])]
        ready, _, _ = select.select(sources, [], [], _LOOK_AGAIN)
        is_moving = False
        for source in ready:
            if source in self._outputs:
                is_moving |= self._move_output(source)
            elif source is self._recorder:
                is_moving |= self._recorder.take()
            else:
                self._move_input(source)
                is_moving = True
        return is_moving

    def _move_output(self, port: socket.socket) -> bool:
        data = port.recv(_PORTION)
        descriptor, ending = self._outputs[port]
        _write_all(descriptor, ending.take(data))
        return bool(data)

    def _move_input(self, keys: int) -> None:
        port = self._ports["stdin"]
        try:
            data = os.read(keys, _PORTION)
            if data:
                port.sendall(data)
                return
            port.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the command's end is told by its outputs
        self._has_input = False
