# SPDX-License-Identifier: GPL-2.0-or-later
"""`exec` and `shell`: a command, or a terminal, on h1 of a guest with hosts, and what comes of it."""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import hosts
import image
import streams
from console import faults_in, trace_of
from machine import Machine
from options import CHECK_FAILED, KERNEL_COMPLAINED, TIMED_OUT
from place import SOURCE
from private_folder import PrivateFolder
from terminal import Recorder, talk
from tools import LabError, UsageError, last_lines, say

_CONSOLE = 8 << 20  # octets


class _Job:
    """What the guest says of it on its console."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.code: int | None = None
        machine.on_line = self._take

    def _take(self, line: str) -> None:
        if line.startswith("LAB-JOB rc="):
            self.code = int(line.removeprefix("LAB-JOB rc="))

    def complaints(self) -> list[str]:
        """The kernel's, since the hosts were ready."""
        _, ready, text = self._machine.console.tail(_CONSOLE).rpartition("LAB-READY")
        return faults_in(text) if ready else []

    def verdict(self) -> int:
        """The exit code, once the guest has ended."""
        if found := self.complaints():
            trace = trace_of(self._machine.console.tail(_CONSOLE), found[0])
            say(f"the guest's kernel complains: {found[0]}\n{self._machine.decoded(trace)}")
            return KERNEL_COMPLAINED
        if self.code is None:
            raise LabError(self._machine.death())
        return self.code


def _check_outputs(options: argparse.Namespace) -> None:
    if options.check and options.capture is None:
        raise UsageError("--check judges what --capture FILE has recorded")
    if options.capture is not None and (options.capture.is_dir() or not os.access(options.capture.absolute().parent, os.W_OK)):
        raise UsageError(f"--capture {options.capture} cannot be written")


def checked(options: argparse.Namespace, folder: Path, code: int) -> int:
    """What ipoib-conform says of the capture, with Linux's known deviations excused."""
    conform, results = image.find_program(options.programs, "ipoib-conform"), folder / "check.json"
    assert conform is not None
    words = ["check", str(options.capture), "--expect", str(SOURCE / "lab/linux.baseline.toml")]
    named = [f"--reported-as={word}" for word in ("ipoib-conform", *words)]
    done = subprocess.run([str(conform), *words, *named, "--json", str(results), "--quiet", "--no-color"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode in (2, 3) or not results.is_file():
        raise LabError(f"{options.capture} cannot be judged\n{last_lines(done.stdout + done.stderr, 25)}")
    failed = [one["id"] for one in json.loads(results.read_text(encoding="utf-8"))["results"] if one["verdict"] == "FAIL"]
    if not failed:
        say(f"nothing in {options.capture} is against the RFCs, but for what Linux is known for")
        return code
    # What the baseline excuses and did not happen is no news.
    said = "\n".join(line for line in done.stdout.strip().splitlines() if not line.startswith("note: "))
    say(f"the check of {options.capture} fails: {', '.join(failed)}\n{said}")
    return code or CHECK_FAILED


def execute(options: argparse.Namespace) -> int:
    if not options.words and options.script is None:
        raise UsageError("what is to run? exec [OPTION...] -- COMMAND..., or --script FILE")
    return _execute(options, options.words)


def port(options: argparse.Namespace) -> int:
    """Hosts that wait, and raw ports, until a signal ends it."""
    options.node = options.sockets
    return _execute(options, ("sleep", "infinity"), has_input=False)


def _execute(options: argparse.Namespace, words: Sequence[str], has_input: bool = True) -> int:
    _check_outputs(options)
    want = hosts.wanted(options)
    guest = hosts.guest(options, want)
    ending = secrets.token_hex(32).encode()
    with PrivateFolder(options.keep, want.nodes) as folder:
        disk = hosts.job(want, folder.path / "job", words, ending)
        machine = Machine(replace(guest, disks=(*guest.disks, disk), ports=(*streams.PORTS, *_more_ports(options, want))),
                          folder.path)
        try:
            code = _run(options, machine, ending, has_input, lambda: _tell_of_nodes(want, folder))
        finally:
            machine.kill()
        return checked(options, folder.path, code) if options.check else code


def _more_ports(options: argparse.Namespace, want: hosts.Wanted) -> tuple[str, ...]:
    return (*(("capture",) if options.capture is not None else ()), *hosts.ports_of_nodes(want))


def _tell_of_nodes(want: hosts.Wanted, folder: PrivateFolder) -> None:
    """Once the fabric is there."""
    for name, path in hosts.ports_of_nodes(want).items():
        folder.link(path, name)
        say(f"{path} is a raw port of the fabric, for a node of yours")
    if want.nodes:
        say(f"the hosts are h1, 10.1.0.1, to h{want.hosts}, 10.1.0.{want.hosts}")


def _run(options: argparse.Namespace, machine: Machine, ending: bytes, has_input: bool, on_ready: Callable[[], None],
         attempts: int = 2) -> int:
    job = _Job(machine)
    begun: float | None = None

    def is_over() -> bool:
        nonlocal begun
        if begun is None and machine.ready_after:
            begun = time.monotonic()
            on_ready()
        return begun is not None and options.timeout is not None and time.monotonic() > begun + options.timeout

    machine.start()
    recorder = Recorder(machine, options.capture) if options.capture is not None else None
    outputs = streams.Streams(machine, ending, recorder, has_input)
    try:
        has_ended = outputs.pump(is_over)
        if has_ended:
            outputs.drain_capture()
            _await_code(machine, job)
    finally:
        outputs.close()
        if recorder is not None:
            with recorder:
                say(f"{recorder.octets} octets in {options.capture}")
    if begun is None and attempts > 1 and machine.may_boot_again():
        return _run(options, machine, ending, has_input, on_ready, attempts - 1)
    is_late = not has_ended and is_over()
    machine.kill()
    if is_late and not job.complaints():
        say(f"no end after {options.timeout:g} s")
        return TIMED_OUT
    return job.verdict()


def _await_code(machine: Machine, job: _Job) -> None:
    """The console may be read a moment later than the ports."""
    end = time.monotonic() + 5
    while job.code is None and time.monotonic() < end:
        machine.poll()
        time.sleep(0.01)


def shell(options: argparse.Namespace) -> int:
    _check_outputs(options)
    want = hosts.wanted(options)
    guest = hosts.guest(options, want)
    size = shutil.get_terminal_size()
    has_capture = options.capture is not None
    with PrivateFolder(options.keep, want.nodes) as folder:
        disk = hosts.job(want, folder.path / "job", (), b"", terminal=os.environ.get("TERM", "linux"))
        machine = Machine(replace(guest, disks=(*guest.disks, disk), ports=_more_ports(options, want),
                                  parameters={**guest.parameters, "shell": f"{size.lines}x{size.columns}"},
                                  has_shell_port=True), folder.path)
        job = _Job(machine)
        try:
            machine.start()
            with _recording(machine, options.capture) if has_capture else nullcontext():
                # What is recorded begins with this boot.
                machine.wait_ready(attempts=1 if has_capture else 2)
                _tell_of_nodes(want, folder)
                say(f"h1 of {want.hosts} hosts; `host h2 COMMAND` runs a command on another; exit ends the guest")
                talk(machine)
        finally:
            machine.kill()
        return job.verdict()


@contextmanager
def _recording(machine: Machine, path: Path) -> Iterator[None]:
    """Beside a terminal, until the guest ends."""
    def record() -> None:
        while recorder.take():
            pass

    with Recorder(machine, path) as recorder:
        reader = threading.Thread(target=record)
        reader.start()
        try:
            yield
        finally:
            machine.kill()
            reader.join()
    say(f"{recorder.octets} octets in {path}")
