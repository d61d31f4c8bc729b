# SPDX-License-Identifier: GPL-2.0-or-later
"""`scripts/lab matrix`: the suite on several kernels, and one report of them, in which each kernel is a host of
`ipoib-conform merge`; and a page of what differs between them, made of the same results."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import parts
import report
from supervisor import Interrupted
from tools import LabError, UsageError, say, write_whole

# By what --runs calls it.
RUNS = {"datagram": report.Kind("datagram", "host", "lab", "default"),
        "datagram-simulated": report.Kind("datagram-simulated", "host", "simulated", "default"),
        "connected": report.Kind("connected", "connected", "lab", "default"),
        "connected-simulated": report.Kind("connected-simulated", "connected", "simulated", "default"),
        "enhanced": report.Kind("enhanced", "host", "lab", "default", is_enhanced=True),
        "enhanced-simulated": report.Kind("enhanced-simulated", "host", "simulated", "default", is_enhanced=True)}
USUAL = ("datagram", "datagram-simulated", "connected", "connected-simulated")
_EXIT_USAGE = 2


def split_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words for each run, and those for the report of all of them. A baseline is for the runs: what it excuses is
    known then, also to the report."""
    of_runs, rest = parts.split_words(words)
    of_report: list[str] = []
    while rest:
        word = rest.pop(0)
        name = word.partition("=")[0]
        taken = [word, *([rest.pop(0)] if word == "--expect" and rest else [])]
        of_runs += taken if name in ("--expect", "--strict") else []
        of_report += taken if name != "--expect" else []
    return of_runs, of_report


def results_file(folder: Path, kernel: str, run: str) -> Path:
    return folder / kernel / run / "results.json"


@contextmanager
def _watching_for_signals() -> Iterator[Callable[[], int]]:
    """Tells which signal has come that ends the lab, or 0, whoever has handled it: a run that is interrupted ends in
    good order, and does not say so."""
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def came() -> int:
        try:
            numbers = os.read(reader, 256)
        except BlockingIOError:
            return 0
        return next((number for number in numbers if number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)), 0)

    try:
        yield came
    finally:
        signal.set_wakeup_fd(before)
        os.close(reader)
        os.close(writer)


def judge_all(folder: Path, kernels: Sequence[str], runs: Sequence[str],
              judge: Callable[[str, report.Kind, Path], int]) -> None:
    """judge(kernel, run, file) for each, which writes the file. Why there is none is told beside it, for merge. A kernel
    that is not to be had keeps no other from its verdict; wrong usage and signals end it all."""
    with _watching_for_signals() as came:
        for kernel, run in ((kernel, run) for kernel in kernels for run in runs):
            file = results_file(folder, kernel, run)
            shutil.rmtree(file.parent, ignore_errors=True)
            file.parent.mkdir(parents=True)
            say(f"{kernel}, {run}")
            try:
                code = judge(kernel, RUNS[run], file)
                why = f"it ended with exit code {code} and left no results"
            except UsageError:
                raise
            except LabError as problem:
                code, why = 3, str(problem)
                say(why)
            if number := came():
                raise Interrupted(number)
            if code == _EXIT_USAGE:
                raise UsageError(f"ipoib-conform does not take what the run {run} was asked for")
            if not file.is_file():
                write_whole(file.with_name(file.name + ".error"), f"{why.splitlines()[0]}\n")


def as_host(results: dict[str, Any], name: str) -> dict[str, Any]:
    """Results that were merged of several guests, as those of a host of this name."""
    def renamed(one: dict[str, Any]) -> dict[str, Any]:
        return {**one, "host": name} if "host" in one else one

    return {**results, "hosts": [{**host, "name": name} for host in results["hosts"]],
            **{kind: [renamed(one) for one in results[kind]] for kind in ("results", "captures")}}


def _word_for_merge(file: Path, kernel: str) -> str:
    """HOST=FILE; what was merged already names its host itself."""
    results = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    if "hosts" not in results:
        return f"{kernel}={file}"
    named = file.with_name("named.json")
    write_whole(named, json.dumps(as_host(results, kernel)))
    return str(named)


def merge(conform: Path, folder: Path, kernels: Sequence[str], runs: Sequence[str], words: Sequence[str]) -> int:
    """One report, kernel by requirement; the exit code is that of the worst kernel."""
    files = [_word_for_merge(results_file(folder, kernel, run), kernel) for kernel in kernels for run in runs]
    return subprocess.run([str(conform), "merge", *files, *words], stdin=subprocess.DEVNULL, check=False).returncode


def _different(every: dict[str, dict[str, report.Run]], kind: str, runs: Sequence[str]) -> list[list[str]]:
    """Of the "requirements" or the "results", those whose verdict is not the same on all kernels, run by run."""
    verdicts: dict[str, dict[tuple[str, str], str]] = {}
    for kernel, found in every.items():
        for name, run in found.items():
            for one in run.results[kind]:
                verdicts.setdefault(one["id"], {})[kernel, name] = one["verdict"]
    # A run that is not there on every kernel compares nothing.
    shared = [name for name in runs if all(name in found for found in every.values())]
    rows = []
    for identifier, of in sorted(verdicts.items()):
        if any(len({of.get((kernel, name), "NA") for kernel in every}) > 1 for name in shared):
            rows.append([identifier, *(report.together([every[kernel][name] for name in shared],
                                                       lambda run, k=kernel, o=of: o.get((k, run.name), "NA"))
                                       for kernel in every)])
    return rows


def _seen(every: dict[str, dict[str, report.Run]], identifier: str) -> list[str]:
    """What the runs say of a case where it did not pass, each thing once."""
    said: dict[str, list[str]] = {}
    for kernel, found in every.items():
        for name, run in found.items():
            for one in run.results["results"]:
                message = " ".join(str(one.get("message") or "").split())
                if one["id"] == identifier and one["verdict"] not in ("PASS", "NA") and message:
                    said.setdefault(f"{one['verdict']}: {message}", []).append(f"{kernel} {name}")
    return [f"- {', '.join(where)}: {message}" for message, where in said.items()] or ["- It passed where it was judged."]


def page(folder: Path, kernels: Sequence[str], runs: Sequence[str]) -> str:
    """What there is in the folder: a line for each run, and what is not the same on all kernels."""
    every: dict[str, dict[str, report.Run]] = {}
    for kernel in kernels:
        files = {run: results_file(folder, kernel, run) for run in runs}
        found = {run: report.Run.load(run, file) for run, file in files.items() if file.is_file()}
        if found:
            every[kernel] = found
    missing = [f"{kernel} {run}" for kernel in kernels for run in runs if run not in every.get(kernel, {})]
    rows = [["kernel", "release", "run", *report.VERDICTS]]
    for kernel, found in every.items():
        for name, run in found.items():
            rows.append([kernel, str(run.results["dut"].get("kernel", "?")), name,
                         *(str(n or "") for n in report.counts(run).values())])
    lines = ["# Kernels", "", "Made by `scripts/lab matrix`. A kernel is what Debian publishes of it.", "",
             *report.table(rows), ""]
    if missing:
        lines += [f"Without results: {', '.join(missing)}.", ""]
    for kind, title in (("requirements", "Requirements"), ("results", "Cases and rules")):
        different = _different(every, kind, runs)
        lines += [f"## {title} that are not judged alike", "",
                  *(report.table([["", *every], *different]) if different else ["None."]), ""]
        if kind == "results":
            for row in different:
                lines += [f"### {row[0]}", "", *_seen(every, row[0]), ""]
    return "\n".join(report.filled(lines)).rstrip() + "\n"
