# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks a guest's adapter which blocks of the driver have run, and writes up what the suite and the fuzzer reach together."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import blocks
from place import SOURCE
from tools import LabError
from unreached import REASONS

_MOST_ANSWERS = 200
_MOST_NAMES = 16  # of one reason


def ask(folder: Path) -> set[str]:
    """Blocks, "module:function+0x1f", that ran in the guest of this folder and that nobody was told of."""
    told: set[str] = set()
    command = [sys.executable, "-B", str(SOURCE / "scripts/lab"), "attach", str(folder), "agent"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as adapter:
        assert adapter.stdin is not None and adapter.stdout is not None
        for number in range(_MOST_ANSWERS):
            adapter.stdin.write(json.dumps({"id": number, "do": "coverage"}) + "\n")
            adapter.stdin.flush()
            answer = json.loads(adapter.stdout.readline() or "{}")
            some = answer.get("blocks")
            if some is None:
                raise LabError(f"the guest does not tell which code ran: {answer.get('message', 'no answer')}")
            if not some:
                break
            told.update(str(one) for one in some)
        adapter.stdin.close()
    return told


def read(paths: Iterable[Path]) -> set[str]:
    told: set[str] = set()
    for path in paths:
        try:
            told.update(path.read_text(encoding="utf-8").split())
        except OSError as problem:
            raise LabError(f"{path}: {problem.strerror}") from problem
        except UnicodeDecodeError as problem:
            raise LabError(f"{path}: it is no list of blocks") from problem
    wrong = [line for line in told if not re.fullmatch(r"\w+:[\w.]+\+0x[0-9a-f]+", line)]
    if wrong:
        raise LabError(f"{wrong[0]!r} is no block: it is module:function+0x1f")
    return told


def reason_for(file: str, function: str) -> str:
    """Why nothing that comes over the wire, and no request to the host's interface, gets there; empty: nobody has said."""
    return next((reason for pattern, reason in REASONS if re.fullmatch(pattern, f"{file}:{function}")), "")


@dataclass(frozen=True)
class Row:
    """Of one source file."""

    name: str
    blocks: int
    by_suite: int
    by_fuzz: int
    by_either: int
    functions: int
    entered_by_suite: int
    entered_by_fuzz: int
    unreached: tuple[str, ...]


def rows(modules: dict[str, Path], suite: set[str], fuzz: set[str]) -> list[Row]:
    found = []
    views = [blocks.coverage(modules, blocks.FILES, one) for one in (suite, fuzz, suite | fuzz)]
    for of_suite, of_fuzz, of_either in zip(*views):
        count = len(of_suite.blocks)
        ran = (sum(one.ran.values()) for one in (of_suite, of_fuzz, of_either))
        found.append(Row(of_suite.name, sum(of_suite.blocks.values()), *ran, count,
                         count - len(of_suite.unreached), count - len(of_fuzz.unreached), tuple(of_either.unreached)))
    return found


def _part(some: int, of: int) -> str:
    return f"{some} ({100 * some // of} %)" if of else "0"


def page(found: Sequence[Row], kernel: str, notes: Sequence[str]) -> str:
    """Markdown: the table, and the functions that neither reaches, by reason."""
    lines = ["# Which code of Linux the suite and the fuzzer run", "",
             "Made by `scripts/lab coverage`: [fuzzing a node](fuzzing-nodes.md#how-much-of-the-driver-runs) tells how.",
             f"Kernel {kernel}; blocks are the compiler's basic blocks, each with a call of `-fsanitize-coverage=trace-pc`.", ""]
    lines += [*(f"- {note}" for note in notes), ""] if notes else []
    lines += ["| file | blocks | suite | fuzzer | either | functions | suite | fuzzer | neither |", "|" + 9 * "---|"]
    for one in found:
        lines.append(f"| {one.name} | {one.blocks} | {_part(one.by_suite, one.blocks)} | {_part(one.by_fuzz, one.blocks)} "
                     f"| {_part(one.by_either, one.blocks)} | {one.functions} | {one.entered_by_suite} | {one.entered_by_fuzz} "
                     f"| {len(one.unreached)} |")
    by_reason: dict[str, list[str]] = {}
    for one in found:
        for function in one.unreached:
            by_reason.setdefault(reason_for(one.name, function), []).append(f"`{function}`")
    lines += ["", "## Functions that neither has entered, and why", ""]
    for reason in sorted(by_reason, key=lambda text: (not text, text)):
        some = sorted(by_reason[reason])
        more = f" and {len(some) - _MOST_NAMES} more" if reason and len(some) > _MOST_NAMES else ""
        lines += [f"- **{reason or 'Could be reached, and was not'}**: "
                  + ", ".join(some[:_MOST_NAMES] if more else some) + more]
    return "".join(f"{line}\n" for line in lines)
