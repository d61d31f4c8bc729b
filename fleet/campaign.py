# SPDX-License-Identifier: GPL-2.0-or-later
"""One run of the suite on many hosts, or one question to them: its tasks, the folder that all hosts share, and the script
that each task runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from slurm import Standing

_FORMAT = "ipoib-fleet/1"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_FOREIGN = re.compile(r"slurmstepd:|srun:|\S*/slurm_script: line \d+:")
_HEAD = r"""#!/bin/bash
# One task of scripts/fleet; its line in the list of tasks: file, name of the DUT, host (-: any), shard (-: all).
folder={folder}
read -r file name host shard < <(sed -n "$((SLURM_ARRAY_TASK_ID + $1 + 1))p" "$folder/tasks") || exit 72
if [ "$host" != - ] && [ "$SLURMD_NODENAME" != "$host" ]; then
  echo "this is $SLURMD_NODENAME, not $host" >&2
  exit 70
fi
host=$SLURMD_NODENAME
"""
_RUN = _HEAD + r"""arguments=(run {words} --quiet --no-color --json "$folder/results/$file.json")
[ "$shard" = - ] || arguments+=(--shard "$shard")
{evidence}
# At the time limit all processes get SIGTERM: the suite then writes what it has.
trap : TERM
{program} "${{arguments[@]}}"
code=$?
# A verdict is in the results. Slurm is told of what broke.
case $code in
  0 | 1 | 3 | 4 | 5) [ -s "$folder/results/$file.json" ] && exit 0 ;;
esac
[ $code = 0 ] && code=3
exit $code
"""
# What a host has not told to its end is not there: the file gets its name when it is whole.
_STATE = _HEAD + r"""{program} state {words} > "$folder/results/$file.part" || exit
mv "$folder/results/$file.part" "$folder/results/$file.json"
"""
_SCRIPTS = {"run": _RUN, "state": _STATE}


class FleetError(Exception):
    """Slurm, a host or a folder at fault: exit code 3."""


class UsageError(FleetError):
    """What was asked for makes no sense: exit code 2."""


@dataclass
class Task:
    """One run of the suite."""

    file: str  # results/FILE.json
    name: str  # of the DUT in the report
    host: str  # where it must run; "-": anywhere
    shard: str  # "2/4"; "-": all cases
    fault: str = ""  # what kept it from running


@dataclass
class Job:
    """One array of Slurm, with the tasks from `first` on."""

    id: str
    first: int
    count: int


def checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name of a host")
    return name


def tasks_for(names: Sequence[str], hosts: Sequence[str], shards: int) -> list[Task]:
    """One task for each name, or for each of its shards."""
    tasks = []
    for name, host in zip(names, hosts, strict=True):
        if shards == 1:
            tasks.append(Task(checked_name(name), name, host, "-"))
        for shard in range(1, shards + 1) if shards > 1 else ():
            tasks.append(Task(f"{checked_name(name)}.{shard}-of-{shards}", name, host, f"{shard}/{shards}"))
    return tasks


def _shell_word(word: str) -> str:
    """Quoted, but for {host}, which is the name of the host that the task runs on."""
    return '"$host"'.join(shlex.quote(part) if part or word == "" else "" for part in word.split("{host}"))


def _write(path: Path, text: str | Iterable[str]) -> None:
    """Whole, or not at all."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.writelines([text] if isinstance(text, str) else text)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


@dataclass
class Campaign:
    folder: Path
    tasks: list[Task]
    jobs: list[Job] = field(default_factory=list)
    limit: str = ""
    does: str = "run"  # of ipoib-conform; or "state" of ipoib-dut-linux

    @classmethod
    def load(cls, folder: Path) -> Campaign:
        try:
            state = json.loads((folder / "fleet.json").read_text())
            if state["format"] != _FORMAT:
                raise UsageError(f"{folder / 'fleet.json'} has another format: {state['format']}")
            does = state.get("does", "run")
            if does not in _SCRIPTS:
                raise UsageError(f"{folder / 'fleet.json'} is of a newer version: {does}")
            return cls(folder, [Task(**one) for one in state["tasks"]], [Job(**one) for one in state["jobs"]],
                       state["limit"], does)
        except OSError as problem:
            raise UsageError(f"{folder} is no folder of a fleet: {problem}") from problem
        except (ValueError, KeyError, TypeError) as problem:
            raise UsageError(f"{folder / 'fleet.json'} is damaged: {problem}") from problem

    def save(self) -> None:
        state = {"format": _FORMAT, "does": self.does, "limit": self.limit, "jobs": [asdict(job) for job in self.jobs],
                 "tasks": [asdict(task) for task in self.tasks]}
        _write(self.folder / "fleet.json", json.dumps(state, indent=1) + "\n")

    def prepare(self, program: str, words: Sequence[str], keeps_evidence: bool) -> None:
        """Results of an earlier run would be taken for this one's: the folder must be new or empty."""
        if "\n" in str(self.folder):
            raise UsageError("the folder has a line feed in its name")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if any(self.folder.iterdir()):
                raise UsageError(f"{self.folder} is not empty (--collect {self.folder} takes what is in it)")
            for name in ("results", "logs"):
                (self.folder / name).mkdir()
            lines = (f"{one.file} {one.name} {one.host} {one.shard}\n" for one in self.tasks)
            _write(self.folder / "tasks", "".join(lines))
            evidence = 'arguments+=(--evidence "$folder/evidence/$name")' if keeps_evidence else ""
            _write(self.folder / "task.sh", _SCRIPTS[self.does].format(
                folder=shlex.quote(str(self.folder)), program=shlex.quote(program), evidence=evidence,
                words=" ".join(_shell_word(word) for word in words)))
            listed = (f"{one.name}={self.results(one)}\n" for one in self.tasks)
            _write(self.folder / "list", "".join(listed))
        except OSError as problem:
            raise UsageError(f"{self.folder}: {problem}") from problem

    def results(self, task: Task) -> Path:
        return self.folder / "results" / f"{task.file}.json"

    def has_results(self, task: Task) -> bool:
        try:
            return self.results(task).stat().st_size > 0
        except OSError:
            return False

    def job_of(self, index: int) -> tuple[Job, int]:
        """The array that task is in, and its index there."""
        job = next(job for job in self.jobs if job.first <= index < job.first + job.count)
        return job, index - job.first

    def last_words(self, index: int) -> str:
        """The last line that a task has printed, of those that neither Slurm nor the shell did."""
        job, place = self.job_of(index)
        try:
            with open(self.folder / "logs" / f"{job.id}_{place}.log", "rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - 8192))
                lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines()]
        except OSError:
            return ""
        return next((line for line in reversed(lines) if line and not _FOREIGN.match(line)), "")

    def fault_of(self, index: int, standing: Standing | None) -> str:
        """Why not all of a task's results can be there; empty when it came to its end."""
        task = self.tasks[index]
        if task.fault:
            return task.fault
        where = f" on {standing.node}" if standing and standing.node else ""
        said = self.last_words(index)
        last = f": {said}" if said else ""
        if standing is None:
            return "" if self.has_results(task) else f"Slurm knows nothing of the task any more{last}"
        if not standing.is_over:
            return f"not over: {standing.state}{where}"
        if standing.state == "COMPLETED":
            return "" if self.has_results(task) else f"COMPLETED{where}, but the results are not there"
        if standing.state == "TIMEOUT":
            return f"TIMEOUT{where} (--time {self.limit})"
        if standing.state != "FAILED":
            return standing.state + where
        return f"FAILED{where}: {_ending(standing)}{last}"

    def gather_states(self) -> int:
        """Puts what the hosts told into states.jsonl, an object a line; how many have told."""
        told = [task for task in self.tasks if not task.fault and self.has_results(task)]
        _write(self.folder / "states.jsonl", (
            " ".join(self.results(task).read_text(errors="replace").splitlines()) + "\n" for task in told))
        return len(told)

    def note_fault(self, task: Task, fault: str) -> None:
        """Beside the results, where `merge` looks for it."""
        path = self.results(task).with_name(self.results(task).name + ".error")
        if fault:
            _write(path, fault + "\n")
        else:
            path.unlink(missing_ok=True)


def _ending(standing: Standing) -> str:
    # A shell tells of a signal in its own way.
    number = standing.signal or (standing.exit_code - 128 if standing.exit_code > 128 else 0)
    if not number:
        return f"exit code {standing.exit_code}"
    try:
        return f"killed by {signal.Signals(number).name}"
    except ValueError:
        return f"killed by signal {number}"
