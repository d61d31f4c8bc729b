# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of scripts/fleet. All that is wrong is told before anything is submitted: hours may pass until the
results are merged."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from campaign import UsageError

_SOURCE = Path(__file__).resolve().parents[1]
_FILES = ("json", "junit", "junit-dialect", "html", "ctrf", "tap", "markdown", "expect")
_FLAGS = ("strict", "quiet", "no-color")
# What scripts/fleet says itself, for each host, or what all hosts would write to one file.
_OURS = ("--json", "--junit", "--html", "--ctrf", "--tap", "--markdown", "--evidence", "--shard", "--dry-run")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scripts/fleet", allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="scripts/fleet (--hosts LIST | --partition NAME | --one-dut NAME) [OPTION]... -- RUN-OPTIONS...\n"
              "       scripts/fleet --collect FOLDER [OPTION]...",
        description="Runs `ipoib-conform run RUN-OPTIONS` on many hosts as a Slurm job array, each task on its host, and\n"
                    "merges the results into one report. {host} in RUN-OPTIONS is the name of the host.",
        epilog="Exit code: that of ipoib-conform merge (3 where a host has not all its results); 2 wrong usage, 3 Slurm\n"
               "does not take the job. Ctrl-C cancels the job and merges what is there. docs/fleet.md tells more.")
    where = parser.add_argument_group("where")
    where.add_argument("--hosts", metavar="LIST", help="these hosts, as Slurm writes them: n[1-200]")
    where.add_argument("--partition", metavar="NAME", help="all hosts of this partition; with --hosts, where they are")
    where.add_argument("--one-dut", metavar="NAME", help="one DUT of this name, which any host reaches: its shards run "
                       "wherever there is room")
    how = parser.add_argument_group("how")
    how.add_argument("--shards", metavar="N", type=_positive, default=1, help="so many tasks for each host or DUT")
    how.add_argument("--time", metavar="LIMIT", default="60", help="a task's time limit, as sbatch has it (60 minutes)")
    how.add_argument("--at-once", metavar="N", type=_positive, default=0, help="at most so many tasks at once")
    how.add_argument("--share", action="store_true", help="do not ask for hosts without other jobs (--exclusive)")
    how.add_argument("--sbatch", metavar="WORD", action="append", default=[], help="a further word for sbatch, such "
                     "as --sbatch=--account=hpc")
    how.add_argument("--folder", metavar="DIR", type=Path, default=Path(time.strftime("fleet-%Y%m%d-%H%M%S")),
                     help="new folder that all hosts share (fleet-DATE-TIME)")
    how.add_argument("--program", metavar="PATH", help="ipoib-conform, here and on the hosts (build/release's, or the "
                     "installed one)")
    how.add_argument("--evidence", action="store_true", help="keep the frames in the folder, by host")
    how.add_argument("--patience", metavar="SECONDS", type=float, default=300.0,
                     help="how long a task may wait for a host that is down (300)")
    how.add_argument("--submit-only", action="store_true", help="do not wait; --collect does, later")
    how.add_argument("--collect", metavar="FOLDER", type=Path, help="wait for the tasks of this folder, and merge")
    report = parser.add_argument_group("the report (ipoib-conform merge --help)")
    for name in _FILES:
        report.add_argument(f"--{name}", metavar="FILE" if name != "junit-dialect" else "NAME")
    for name in _FLAGS:
        report.add_argument(f"--{name}", action="store_true")
    return parser


def _known_options(program: str, command: str) -> set[str]:
    try:
        said = subprocess.run([program, command, "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=60, check=True).stdout
    except (OSError, subprocess.SubprocessError) as problem:
        raise UsageError(f"{program} {command} --help: {problem}") from problem
    return set(re.findall(r"(?<![\w-])--[A-Za-z][\w-]*", said))


def _refuse_unknown(words: Sequence[str], program: str, command: str) -> None:
    known = _known_options(program, command)
    for word in words:
        if re.match(r"--[A-Za-z]", word) and word.split("=", 1)[0] not in known:
            raise UsageError(f"ipoib-conform {command} has no option {word}")


def _program(named: str | None) -> str:
    built = _SOURCE / "build/release/ipoib-conform"
    found = shutil.which(named or (str(built) if built.is_file() else "ipoib-conform"))
    if found is None:
        raise UsageError(f"there is no program {named or 'ipoib-conform'} (--program)")
    return os.path.abspath(found)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    at = arguments.index("--") if "--" in arguments else len(arguments)
    parser = _parser()
    options = parser.parse_args(arguments[:at])
    options.words = list(arguments[at + 1:])
    named = [name for name in ("hosts", "partition", "one_dut", "collect") if getattr(options, name)]
    if named not in (["hosts"], ["partition"], ["hosts", "partition"], ["one_dut"], ["partition", "one_dut"],
                     ["collect"]):
        raise UsageError("one of --hosts, --partition, --one-dut or --collect is needed; --help tells more")
    if options.collect and (options.words or options.submit_only):
        raise UsageError("--collect takes what was submitted before")
    options.program = _program(options.program)
    values = {name: getattr(options, name.replace("-", "_")) for name in (*_FILES, *_FLAGS)}
    options.report = [word for name in _FILES if values[name] is not None for word in (f"--{name}", values[name])]
    options.report += [f"--{name}" for name in _FLAGS if values[name]]
    _refuse_unknown([word for word in options.report if word[2:] in values], options.program, "merge")
    _refuse_unknown(options.words, options.program, "run")
    for word in options.words:
        if word.split("=", 1)[0] in _OURS:
            raise UsageError(f"{word.split('=', 1)[0]} is no option of a single host here; see --help")
    if options.expect and not os.access(options.expect, os.R_OK):
        raise UsageError(f"{options.expect} cannot be read")
    for name in set(_FILES) - {"expect", "junit-dialect"}:
        if values[name] and not os.path.isdir(os.path.dirname(values[name]) or "."):
            raise UsageError(f"there is no folder for {values[name]}")
    return options
