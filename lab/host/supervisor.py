# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a program of the host beside a guest, and boots a new guest when the old one has died."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from attach import ANEW
from machine import Machine, State, dies_with
from tools import LabError, say

_LOOK_AGAIN = 0.1  # s
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_MOST_BOOT_FAILURES = 3  # one after another: then no new guest is tried


class Interrupted(Exception):
    """A signal asked the lab to end."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.code = 128 + number


@contextmanager
def ending_on_signals() -> Iterator[None]:
    """Turns the usual signals into Interrupted, so that everything is cleaned up on the way out."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Interrupted(number)

    before = {number: signal.signal(number, interrupt) for number in _FORWARDED}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def held_back() -> Iterator[set[signal.Signals]]:
    """A signal that comes while something begins which it is for, too, waits until it can be told. Gives the signals that
    were held back before: those of a child."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _FORWARDED)
    try:
        yield before
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(command: Sequence[str], mask: set[signal.Signals]) -> subprocess.Popen[bytes]:
    die = dies_with(os.getpid(), signal.SIGTERM)

    def prepare() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        die()

    try:
        # A process group of its own: a key on the terminal reaches it once, by way of this process.
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0, preexec_fn=prepare)
    except OSError as problem:
        raise LabError(f"{command[0]} cannot be started: {problem.strerror}") from problem


@contextmanager
def _running(command: Sequence[str]) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The program, and what can be read once it has ended. It decides what a signal means: it still has reports to
    write."""

    def forward(number: int, frame: FrameType | None) -> None:
        if process.poll() is None:
            process.send_signal(number)
            process.send_signal(signal.SIGCONT)

    with held_back() as mask:
        process = _start(command, mask)
        ended = os.pidfd_open(process.pid)
        before = {number: signal.signal(number, forward) for number in _FORWARDED}
    try:
        yield process, ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(ended)
        _end(process)


def _keep_alive(machine: Machine, failures: int) -> int:
    """Starts a new guest in a dead one's place; returns how many in a row have died without becoming ready."""
    was_booting = machine.state is State.BOOTING
    if machine.poll() is not State.DEAD:
        return 0 if machine.state is State.READY else failures
    if failures >= _MOST_BOOT_FAILURES:
        return failures
    failures += was_booting
    say(f"the guest died: {machine.why}")
    if failures < _MOST_BOOT_FAILURES:
        machine.start()
    else:
        say("no new one boots, either")
    return failures


def _begin_anew_if_asked(machine: Machine) -> None:
    asked = machine.folder / ANEW
    if not asked.exists():
        return
    asked.unlink()
    if machine.state is State.READY:
        machine.start()


def _hold(process: subprocess.Popen[bytes], is_held: bool, has_to_wait: bool) -> bool:
    """The program stands still while a new guest boots: no time limit of its own runs out in which there is nobody to
    judge. Should this process be killed meanwhile, the kernel wakes it up (an orphaned process group)."""
    if has_to_wait != is_held:
        process.send_signal(signal.SIGSTOP if has_to_wait else signal.SIGCONT)
    return has_to_wait


def run_beside(machine: Machine, command: Sequence[str]) -> int:
    """The command's exit code. The machine is running, ready or still booting."""
    failures = 0
    is_held = False
    with _running(command) as (process, ended):
        while process.poll() is None:
            failures = _keep_alive(machine, failures)
            _begin_anew_if_asked(machine)
            was_held, is_held = is_held, _hold(process, is_held, machine.state is State.BOOTING)
            if was_held and machine.state is State.READY:
                say(f"another guest was ready after {machine.ready_after:.1f} s")
            select.select([ended], [], [], _LOOK_AGAIN)
        # A guest that the last case has killed is told of, too.
        machine.poll()
    return 128 - process.returncode if process.returncode < 0 else process.returncode


def _end(process: subprocess.Popen[bytes]) -> None:
    for stop in (process.terminate, process.kill):
        if process.poll() is not None:
            return
        stop()
        process.send_signal(signal.SIGCONT)
        end = time.monotonic() + 5
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
