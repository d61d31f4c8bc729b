# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of scripts/fleet. All that is wrong is told before anything is submitted: hours may pass until the
results are merged."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from campaign import UsageError
from watch import without_commands

# As it is called from the source folder, and where it is installed.
_NAME = "ipoib-fleet" if Path(sys.argv[0]).name == "ipoib-fleet" else "scripts/fleet"
_SOURCE = Path(__file__).resolve().parents[1]
_FLAGS = ("strict", "quiet", "no-color")
# What scripts/fleet says itself, for each host.
_OURS = ("--evidence", "--shard", "--dry-run")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


class _Parser(argparse.ArgumentParser):
    """What it complains of are words from outside."""

    def _print_message(self, message: str, file: IO[str] | None = None) -> None:
        super()._print_message(without_commands(message), file)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=_NAME, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=f"{_NAME} (--hosts LIST | --partition NAME | --one-dut NAME) [OPTION]... -- RUN-OPTIONS...\n"
              f"       {_NAME} (--hosts LIST | --partition NAME) --state [OPTION]... [-- INTERFACE...]\n"
              f"       {_NAME} --collect FOLDER [OPTION]...",
        description="Runs `ipoib-conform run RUN-OPTIONS` on many hosts as a Slurm job array, each task on its host, and\n"
                    "merges the results into one report. {host} in RUN-OPTIONS is the name of the host. With --state the\n"
                    "hosts are only asked what they believe.",
        epilog="Exit code: that of ipoib-conform merge (3 where a host has not all its results); 2 wrong usage, 3 Slurm\n"
               "does not take the job. Ctrl-C cancels the job and merges what is there. docs/fleet.md tells more.")
    where = parser.add_argument_group("where")
    where.add_argument("--hosts", metavar="LIST", help="these hosts, as Slurm writes them: n[1-200]")
    where.add_argument("--partition", metavar="NAME", help="all hosts of this partition; with --hosts, where they are")
    where.add_argument("--one-dut", metavar="NAME", help="one DUT of this name, which any host reaches: its shards run "
                       "wherever there is room")
    how = parser.add_argument_group("how")
    how.add_argument("--state", action="store_true", help="run `ipoib-dut-linux state` instead, which changes nothing; "
                     "what the hosts say is put into FOLDER/states.jsonl, for --host-state of audit and links")
    how.add_argument("--shards", metavar="N", type=_positive, default=1, help="so many tasks for each host or DUT")
    how.add_argument("--time", metavar="LIMIT", default="60", help="a task's time limit, as sbatch has it (60 minutes)")
    how.add_argument("--at-once", metavar="N", type=_positive, default=0, help="at most so many tasks at once")
    how.add_argument("--share", action="store_true", help="do not ask for hosts without other jobs (--exclusive)")
    how.add_argument("--sbatch", metavar="WORD", action="append", default=[], help="a further word for sbatch, such "
                     "as --sbatch=--account=hpc")
    how.add_argument("--folder", metavar="DIR", type=Path, default=Path(time.strftime("fleet-%Y%m%d-%H%M%S")),
                     help="new folder that all hosts share (fleet-DATE-TIME)")
    how.add_argument("--program", metavar="PATH", help="ipoib-conform, or with --state ipoib-dut-linux, here and "
                     "on the hosts (build/release's, or the installed one)")
    how.add_argument("--evidence", action="store_true", help="keep the frames in the folder, by host")
    how.add_argument("--patience", metavar="SECONDS", type=float, default=300.0,
                     help="how long a task may wait for a host that is down (300)")
    how.add_argument("--submit-only", action="store_true", help="do not wait; --collect does, later")
    how.add_argument("--collect", metavar="FOLDER", type=Path, help="wait for the tasks of this folder, and merge")
    report = parser.add_argument_group("the report", "--json FILE, --html FILE and every other report of ipoib-conform merge "
                                       "(merge --help)")
    report.add_argument("--expect", metavar="FILE")
    for name in _FLAGS:
        report.add_argument(f"--{name}", action="store_true")
    return parser


def _help(program: str, command: str) -> str:
    try:
        return subprocess.run([program, command, "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=60, check=True).stdout
    except (OSError, subprocess.SubprocessError) as problem:
        raise UsageError(f"{program} {command} --help: {problem}") from problem


def _known_options(said: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--[A-Za-z][\w-]*", said))


def _report_options(said: str) -> dict[str, str]:
    """Those of the reports, each with what it takes: FILE, NAME."""
    part = re.search(r"^Reports:\n((?: .*\n)*)", said, re.MULTILINE)
    return dict(re.findall(r"^ *(--[\w-]+) ([A-Z]+)", part[1], re.MULTILINE)) if part else {}


def _report_words(words: Sequence[str], said: str) -> list[str]:
    """What is no option of scripts/fleet must be a report that merge writes, with its file."""
    known, taken, rest = _report_options(said), [], list(words)
    while rest:
        name, sign, value = rest.pop(0).partition("=")
        if name not in known:
            raise UsageError(f"ipoib-conform merge has no option {name}" if name.startswith("--") else
                             f"what is {name}? RUN-OPTIONS stand behind --")
        if not sign:
            if not rest:
                raise UsageError(f"{name} {known[name]}: the {known[name]} is missing")
            value = rest.pop(0)
        if known[name] == "FILE" and not os.path.isdir(os.path.dirname(value) or "."):
            raise UsageError(f"there is no folder for {value}")
        taken += [name, value]
    return taken


def _refuse_unknown(words: Sequence[str], said: str) -> None:
    """And what all hosts would write to one file."""
    known, ours = _known_options(said), (*_OURS, *_report_options(said))
    for word in words:
        name = word.split("=", 1)[0]
        if re.match(r"--[A-Za-z]", word) and name not in known:
            raise UsageError(f"ipoib-conform run has no option {word}")
        if name in ours:
            raise UsageError(f"{name} is no option of a single host here; see --help")


def _program(named: str | None, usual: str) -> str:
    built = _SOURCE / "build/release" / usual
    found = shutil.which(named or (str(built) if built.is_file() else usual))
    if found is None:
        raise UsageError(f"there is no program {named or usual} (--program)")
    return os.path.abspath(found)


def _check_state(options: argparse.Namespace, reports: Sequence[str]) -> None:
    """Asking disturbs nobody: the hosts may have other jobs."""
    if options.one_dut or options.collect or options.shards != 1 or options.evidence:
        raise UsageError("--state asks --hosts or a --partition, once each")
    given = [*reports, *(["--expect"] if options.expect else []),
             *(f"--{name}" for name in _FLAGS if getattr(options, name.replace("-", "_")))]
    if given:
        raise UsageError(f"--state writes no reports: {given[0]}; --host-state of ipoib-conform audit takes what it writes")
    for word in options.words:
        if word.startswith("-"):
            raise UsageError(f"behind -- stand interfaces such as ib0, not {word}")
    options.program = _program(options.program, "ipoib-dut-linux")
    options.share, options.report = True, []


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    at = arguments.index("--") if "--" in arguments else len(arguments)
    parser = _parser()
    options, reports = parser.parse_known_args(arguments[:at])
    options.words = list(arguments[at + 1:])
    named = [name for name in ("hosts", "partition", "one_dut", "collect") if getattr(options, name)]
    if named not in (["hosts"], ["partition"], ["hosts", "partition"], ["one_dut"], ["partition", "one_dut"],
                     ["collect"]):
        raise UsageError("one of --hosts, --partition, --one-dut or --collect is needed; --help tells more")
    if options.collect and (options.words or options.submit_only):
        raise UsageError("--collect takes what was submitted before")
    options.does = "state" if options.state else "run"
    if options.state:
        _check_state(options, reports)
        return options
    options.program = _program(options.program, "ipoib-conform")
    options.report = _report_words(reports, _help(options.program, "merge"))
    options.report += ["--expect", options.expect] if options.expect else []
    options.report += [f"--{name}" for name in _FLAGS if getattr(options, name.replace("-", "_"))]
    _refuse_unknown(options.words, _help(options.program, "run"))
    if options.expect and not os.access(options.expect, os.R_OK):
        raise UsageError(f"{options.expect} cannot be read")
    return options
