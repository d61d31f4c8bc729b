# SPDX-License-Identifier: GPL-2.0-or-later
"""What flows between this process and a running guest as plain octets: a terminal's keys, and a capture."""

from __future__ import annotations

import os
import select
import socket
import sys
import termios
import time
import tty
from pathlib import Path
from types import TracebackType

from machine import Machine, State
from output_path import open_output
from tools import LabError

_PORTION = 64 << 10
_LOOK_AGAIN = 0.1  # s
_END_OF_INPUT = b"\x04"
_PROMPT = b"lab:"  # PS1 in hosts.py


def connect(path: Path, patience: float = 10.0) -> socket.socket:
    end = time.monotonic() + patience
    while True:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(str(path))
            return connection
        except OSError as problem:
            connection.close()
            if time.monotonic() > end:
                raise LabError(f"{path}: {problem.strerror}") from problem
            time.sleep(0.02)


def talk(machine: Machine) -> None:
    """Connects the terminal with the guest's shell until the guest ends. Without a terminal, standard input is what is
    typed, and its end ends the shell."""
    keys = sys.stdin.fileno()
    before = termios.tcgetattr(keys) if os.isatty(keys) else None
    with connect(machine.folder / "shell") as shell:
        if before is not None:
            tty.setraw(keys)
        try:
            _pump(machine, shell, keys)
        finally:
            if before is not None:
                termios.tcsetattr(keys, termios.TCSADRAIN, before)
    machine.wait_end(10)


def _pump(machine: Machine, shell: socket.socket, keys: int) -> None:
    has_input, is_prompted, greeting = True, False, b""
    while True:
        # A shell that begins throws away what was typed before its first prompt.
        ready, _, _ = select.select([shell, keys] if has_input and is_prompted else [shell], [], [], _LOOK_AGAIN)
        if shell in ready:
            data = shell.recv(_PORTION)
            if not data:
                return
            os.write(sys.stdout.fileno(), data)
            if not is_prompted:
                greeting += data
                is_prompted = _PROMPT in greeting
        if keys in ready:
            data = os.read(keys, 1024)
            has_input = bool(data)
            shell.sendall(data or _END_OF_INPUT)
        if not ready and machine.poll() is State.DEAD:
            return


class Recorder:
    """Writes what the guest's capture port sends to a file, from before the guest's first frame."""

    def __init__(self, machine: Machine, path: Path) -> None:
        self.octets = 0
        self._machine = machine
        self._port = connect(machine.folder / "capture")
        try:
            self._file = os.fdopen(open_output(path), "wb")
        except OSError as problem:
            self._port.close()
            raise LabError(f"{path} cannot be written: {problem.strerror}") from problem

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._port.close()
        self._file.close()

    def fileno(self) -> int:
        return self._port.fileno()

    def take(self) -> bool:
        """What has come; whether there can be more."""
        data = self._port.recv(_PORTION)
        self._file.write(data)
        self.octets += len(data)
        return bool(data)

    def record(self, seconds: float) -> bool:
        """Until the guest has ended, or this time after it was ready is over; whether it has ended."""
        end: float | None = None
        while end is None or time.monotonic() < end:
            ready, _, _ = select.select([self._port], [], [], _LOOK_AGAIN)
            if ready:
                if not self.take():
                    self._machine.wait_end(10)
                    return True
            state = self._machine.poll()
            if state is State.READY and end is None:
                end = time.monotonic() + seconds
            elif state is State.DEAD and not ready:
                return True
        return False
