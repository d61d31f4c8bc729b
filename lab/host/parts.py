# SPDX-License-Identifier: GPL-2.0-or-later
"""A run that is split over several guests: which words go to whom, the parts as processes, and one report of them all."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from machine import dies_with
from supervisor import Interrupted, held_back
from tools import LabError, UsageError, run, say, write_whole

# What is for the report of all parts, and not for a part: with a value, and without.
_OF_THE_REPORT = ("--junit", "--junit-dialect", "--json", "--html", "--ctrf", "--tap", "--ktap", "--markdown", "--expect",
                  "--compare", "--color")
_FLAGS_OF_THE_REPORT = ("--strict", "--quiet", "--no-color")
_OF_BOTH = "--seed"
_ALONE = ("--shard", "--dry-run")
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_EXIT_ERROR = 3


def split_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words of `ipoib-conform run` for each part, and those for the report that is made of all of them."""
    parts: list[str] = []
    report: list[str] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        name, sign, _ = word.partition("=")
        if name in _ALONE:
            raise UsageError(f"{name} is for one guest: --jobs splits the cases by itself")
        taken = [word]
        if name in (*_OF_THE_REPORT, _OF_BOTH) and not sign and waiting:
            taken.append(waiting.pop(0))
        if name in (*_OF_THE_REPORT, *_FLAGS_OF_THE_REPORT, _OF_BOTH):
            report += taken
        if name not in (*_OF_THE_REPORT, *_FLAGS_OF_THE_REPORT):
            parts += taken
    return parts, report


def in_declared_order(results: dict[str, object], declared: Sequence[str]) -> dict[str, object]:
    """As one run has them: the session first if it is told of, then cases as they are declared, then rules as they
    came."""
    place = {identifier: number for number, identifier in enumerate(declared)}

    def key(one: dict[str, object]) -> tuple[int, int]:
        identifier = str(one["id"])
        if identifier in place:
            return 1, place[identifier]
        return (2, 0) if identifier.startswith("RULE-") else (0, 0)

    found = results["results"]
    assert isinstance(found, list)
    return {**results, "results": sorted(found, key=key)}


def without_differences(every: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    """What they say of their fabrics, as far as all say the same: each guest has sockets of its own."""
    fabrics = [dict(one.get("fabric") or {}) for one in every]
    common = {key for fabric in fabrics for key in fabric if all(other.get(key) == fabric[key] for other in fabrics)}
    return [{**one, "fabric": {key: value for key, value in fabric.items() if key in common}}
            for one, fabric in zip(every, fabrics)]


def declared_cases(conform: Path) -> list[str]:
    return re.findall(r"^(IPOIB-\S+)", run([conform, "list"], "asking for the cases"), re.MULTILINE)


class _Part:
    """One guest and the cases that it is given, in a process of its own."""

    def __init__(self, number: int, work: Callable[[], int]) -> None:
        self.number = number
        self.code: int | None = None
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            os._exit(_run_child(parent, work))
        self.ended = os.pidfd_open(self.pid)

    def signal(self, number: int) -> None:
        if self.code is None:
            signal.pidfd_send_signal(self.ended, number)

    def wait(self) -> None:
        _, status = os.waitpid(self.pid, 0)
        self.code = os.waitstatus_to_exitcode(status)
        os.close(self.ended)


def _run_child(parent: int, work: Callable[[], int]) -> int:
    """A process group of its own: a key on the terminal reaches it once, by way of the parent."""
    code = _EXIT_ERROR
    try:
        for number in _FORWARDED:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _FORWARDED)
        os.setpgid(0, 0)
        dies_with(parent, signal.SIGTERM)()
        code = work()
    except LabError as problem:
        say(str(problem))
    except Interrupted as problem:
        code = problem.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return code


@contextmanager
def _forwarding_to(parts: Sequence[_Part]) -> Iterator[list[int]]:
    """The signals that came, which every part has been told of."""
    came: list[int] = []

    def forward(number: int, frame: FrameType | None) -> None:
        came.append(number)
        for part in parts:
            part.signal(number)

    before = {number: signal.signal(number, forward) for number in _FORWARDED}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_parts(count: int, work: Callable[[int], int]) -> list[int]:
    """Runs work(1) to work(count), each in a process; their exit codes. A signal is for all of them."""
    parts: list[_Part] = []
    try:
        with _forwarding_to(parts) as came:
            for number in range(1, count + 1):
                if came:
                    break
                with held_back():
                    parts.append(_Part(number, lambda number=number: work(number)))
            for part in parts:
                part.wait()
    finally:
        for part in parts:
            if part.code is None:
                part.signal(signal.SIGTERM)
                part.wait()
    if came and len(parts) < count:
        raise Interrupted(came[0])
    return [part.code if part.code is not None else _EXIT_ERROR for part in parts]


def merge(conform: Path, files: Sequence[Path], folder: Path, report: Sequence[str]) -> int:
    """Makes the reports of a run out of those of its parts; the exit code of that run. A part that has left no results
    is an ERROR."""
    there = [file for file in files if file.is_file()]
    if not there:
        return _EXIT_ERROR
    every = [json.loads(file.read_text(encoding="utf-8")) for file in there]
    for file, one in zip(there, without_differences(every)):
        write_whole(file, json.dumps(one))
    host = every[0].get("host") or "guests"
    whole, ordered = folder / "merged.json", folder / "ordered.json"
    # Its exit code tells of the verdicts, of which the last merge knows more.
    done = subprocess.run([str(conform), "merge", *(f"{host}={file}" for file in files), "--json", str(whole), "--quiet"],
                          capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, check=False)
    if not whole.is_file():
        raise LabError(f"the parts of the run cannot be joined: {done.stderr.strip()}")
    results = in_declared_order(json.loads(whole.read_text(encoding="utf-8")), declared_cases(conform))
    write_whole(ordered, json.dumps(results))
    return subprocess.run([str(conform), "merge", str(ordered), *report], stdin=subprocess.DEVNULL, check=False).returncode
