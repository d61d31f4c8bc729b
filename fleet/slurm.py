# SPDX-License-Identifier: GPL-2.0-or-later
"""What is asked of Slurm, by the commands that every site has: sbatch, scontrol, scancel, sinfo, and sacct if there is
accounting."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_LONGEST_CALL = 120.0  # s; Slurm's own MessageTimeout is a few seconds
# A job in one of these is not over; every other state is final.
_ACTIVE = {"PENDING", "RUNNING", "SUSPENDED", "CONFIGURING", "COMPLETING", "REQUEUED", "RESIZING", "SIGNALING",
           "STAGE_OUT", "STOPPED", "SPECIAL_EXIT", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD"}
# Why a job waits that may wait for ever, as it begins.
_STUCK = ("NodeDown", "Nodes_required_for_job_are_DOWN", "PartitionDown", "PartitionInactive",
          "PartitionNodeLimit", "PartitionTimeLimit", "BadConstraints", "JobHeld", "launch_failed", "InvalidAccount",
          "InvalidQOS", "AccountNotAllowed", "QOSNotAllowed")


class SlurmError(Exception):
    """What Slurm says to a command that failed."""


@dataclass(frozen=True)
class Standing:
    """How a task of a job array stands."""

    state: str
    reason: str = ""
    node: str = ""
    exit_code: int = 0
    signal: int = 0

    @property
    def is_over(self) -> bool:
        return self.state not in _ACTIVE

    @property
    def is_stuck(self) -> bool:
        # ReqNodeNotAvail alone may mean that another job has the node.
        return self.state == "PENDING" and (self.reason.startswith(_STUCK) or "UnavailableNodes" in self.reason)


def _call(*words: str) -> str:
    """In a session of its own: what interrupts this program does not interrupt a submission half way."""
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                              timeout=_LONGEST_CALL, check=False, start_new_session=True,
                              env={**os.environ, "LC_ALL": "C"})
    except FileNotFoundError as problem:
        raise SlurmError(f"{words[0]} is not installed") from problem
    except subprocess.TimeoutExpired as problem:
        raise SlurmError(f"{words[0]}: no answer after {_LONGEST_CALL:.0f} s") from problem
    if done.returncode != 0:
        raise SlurmError(f"{words[0]}: {' '.join((done.stderr or done.stdout).split()) or 'failed'}")
    return done.stdout


def hosts_in(listed: str) -> list[str]:
    """"n[1-3,7]" as names."""
    return _call("scontrol", "show", "hostnames", listed).split()


def hosts_of(partition: str) -> list[str]:
    return sorted(set(_call("sinfo", "-h", "-N", "-p", partition, "-o", "%N").split()), key=_natural)


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def most_tasks() -> int:
    """That one array may have."""
    found = re.search(r"^MaxArraySize\s*=\s*(\d+)", _call("scontrol", "show", "config"), re.MULTILINE)
    return int(found[1]) if found else 1000


def submit(count: int, at_once: int, words: Sequence[str], script: Sequence[str]) -> str:
    """A held array of tasks 0 to count - 1, so many of them at once (0: all); its id."""
    array = f"--array=0-{count - 1}" + (f"%{at_once}" if at_once else "")
    return _call("sbatch", *words, "--parsable", "--hold", array, *script).strip().split(";")[0]


def bind(job: str, index: int, host: str) -> None:
    _call("scontrol", "update", f"JobId={job}_{index}", f"ReqNodeList={host}")


def release(job: str) -> None:
    try:
        _call("scontrol", "release", job)
    except SlurmError:
        # It complains of a task that was cancelled meanwhile, and has released the others.
        if any(one.reason.startswith("JobHeld") for one in standings(job).values() if not one.is_over):
            raise


def cancel(job: str) -> None:
    """A whole array, or "job_index". One that is over, or not known any more, is no error."""
    try:
        _call("scancel", job)
    except SlurmError as problem:
        if "Invalid job id" not in str(problem):
            raise


def _indices(text: str) -> Iterator[int]:
    """Of "0-3,7%2"."""
    for part in text.split("%", 1)[0].split(","):
        first, _, last = part.partition("-")
        if first.isdigit():
            yield from range(int(first), int(last or first) + 1)


def standings(job: str) -> dict[int, Standing]:
    """Of the tasks that Slurm still knows, by their index."""
    try:
        lines = _call("scontrol", "show", "job", "-o", job).splitlines()
    except SlurmError as problem:
        if "Invalid job id" in str(problem):
            return {}
        raise
    found = {}
    for line in lines:
        # The first of each: what users write (a comment) stands behind them.
        values = dict(reversed(re.findall(r"(?:^| )(ArrayTaskId|JobState|Reason|NodeList|ExitCode)=(\S*)", line)))
        code, _, signal = values.get("ExitCode", "0:0").partition(":")
        node = values.get("NodeList", "")
        one = Standing(values.get("JobState", ""), values.get("Reason", ""), "" if node == "(null)" else node,
                       int(code or 0), int(signal or 0))
        found.update(dict.fromkeys(_indices(values.get("ArrayTaskId", "")), one))
    return found


def accounted(job: str) -> dict[int, Standing]:
    """The same of jobs that only the accounting still knows; nothing where there is none."""
    try:
        lines = _call("sacct", "-n", "-P", "-X", "-j", job, "-o", "JobID,State,ExitCode,NodeList").splitlines()
    except SlurmError:
        return {}
    found = {}
    for line in lines:
        name, state, code, node = (line.split("|") + [""] * 4)[:4]
        index = name.partition("_")[2]
        if index.isdigit() and state:
            exit_code, _, signal = code.partition(":")
            # "CANCELLED by 0"
            found[int(index)] = Standing(state.split()[0], "", node, int(exit_code or 0), int(signal or 0))
    return found


def condition(hosts: Iterable[str]) -> str:
    """"n3 down*: Not responding"."""
    try:
        lines = _call("sinfo", "-h", "-N", "-n", ",".join(hosts), "-o", "%N %T: %E").splitlines()
    except SlurmError as problem:
        return str(problem)
    return "; ".join(sorted(set(line.strip() for line in lines)))
