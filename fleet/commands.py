# SPDX-License-Identifier: GPL-2.0-or-later
"""What scripts/fleet does: submits, waits, and has the results merged or what hosts told put together."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence

import slurm
from campaign import Campaign, FleetError, Job, Task, UsageError, tasks_for
from options import parse
from slurm import SlurmError
from watch import Progress, Stop, Watch, say

_EXIT_ERROR, _EXIT_USAGE = 3, 2
_QUICKEST_POLL, _SLOWEST_POLL = 1.0, 10.0  # s
_SETTLES_WITHIN = 15.0  # s; a shared folder may show a file later than Slurm tells of the job's end
_CANCELLED_WITHIN = 120.0  # s; KillWait is 30 s usually


def _wait(watch: Watch, stop: Stop) -> None:
    progress, begin = Progress(), time.monotonic()
    while not stop.is_requested:
        try:
            watch.look()
            progress.show(watch.text())
            if watch.are_all_over():
                break
        except SlurmError as problem:
            progress.show(f"Slurm does not answer, trying on: {problem}")
        stop.sleep(min(_SLOWEST_POLL, max(_QUICKEST_POLL, (time.monotonic() - begin) / 40)))
    progress.end()


def _cancel(campaign: Campaign, watch: Watch, stop: Stop) -> None:
    """Returns when no task is left, or says that some may be. A second interruption ends the waiting."""
    say("interrupted: cancelling what is not over")
    stop.clear()
    end = time.monotonic() + _CANCELLED_WITHIN
    open_jobs = {job.id for job in campaign.jobs}
    while time.monotonic() < end:
        try:
            for job in sorted(open_jobs):
                slurm.cancel(job)
                open_jobs.discard(job)
            watch.look()
            if watch.are_all_over():
                return
        except SlurmError as problem:
            say(str(problem))
        if stop.is_requested and not open_jobs:
            break
        stop.sleep(_QUICKEST_POLL)
    say(f"may still be there: scancel {' '.join(job.id for job in campaign.jobs)}")


def _settle(campaign: Campaign, watch: Watch) -> None:
    def is_awaited(index: int) -> bool:
        standing = watch.standings.get(index)
        return bool(standing and standing.state == "COMPLETED" and not campaign.has_results(campaign.tasks[index]))

    end = time.monotonic() + _SETTLES_WITHIN
    while time.monotonic() < end and any(is_awaited(index) for index in range(len(campaign.tasks))):
        os.listdir(campaign.folder / "results")  # which makes NFS look again
        time.sleep(_QUICKEST_POLL)


def _note_faults(campaign: Campaign, watch: Watch, *, was_cancelled: bool) -> dict[str, str]:
    """What became of each task is written beside its results; of those that have not all of them, why, by file."""
    watch.ask_accounting()
    _settle(campaign, watch)
    faults = {}
    for index, task in enumerate(campaign.tasks):
        standing = watch.standings.get(index)
        fault = campaign.fault_of(index, standing)
        if was_cancelled and standing and standing.state == "CANCELLED" and not task.fault:
            fault = "CANCELLED: the fleet was interrupted"
        try:
            campaign.note_fault(task, fault)
        except OSError as problem:
            fault = f"{fault or 'all right'}, but {problem}"
            say(f"{task.name}: {fault}")  # no report can tell of it
        if fault:
            faults[task.file] = fault
    return faults


def _merge(campaign: Campaign, program: str, report: Sequence[str]) -> int:
    words = [program, "merge", "--list", str(campaign.folder / "list"), *report]
    if "--json" not in report:
        words += ["--json", str(campaign.folder / "merged.json")]
    return subprocess.run(words, stdin=subprocess.DEVNULL, check=False, start_new_session=True).returncode


def _gather(campaign: Campaign, faults: dict[str, str]) -> int:
    for name, fault in faults.items():
        say(f"{name}: {fault}")
    count = campaign.gather_states()
    say(f"{count} of {len(campaign.tasks)} hosts have told: {campaign.folder / 'states.jsonl'}")
    return 0


def _submit(campaign: Campaign, options: argparse.Namespace) -> None:
    """Submits held arrays, gives each task its host, and lets them go. Nothing is left when that fails."""
    words = ["--job-name=ipoib-fleet", *options.sbatch, "--nodes=1", "--ntasks=1", "--no-requeue",
             f"--time={options.time}", f"--output={campaign.folder / 'logs'}/%A_%a.log"]
    if not options.share:
        words.append("--exclusive")
    if options.partition:
        words.append(f"--partition={options.partition}")
    most = slurm.most_tasks()
    try:
        for first in range(0, len(campaign.tasks), most):
            count = min(most, len(campaign.tasks) - first)
            job = slurm.submit(count, options.at_once, words, [str(campaign.folder / "task.sh"), str(first)])
            campaign.jobs.append(Job(job, first, count))
            campaign.save()
        for index, task in enumerate(campaign.tasks):
            if task.host != "-":
                _bind(campaign, index, task)
        campaign.save()
        for job in campaign.jobs:
            slurm.release(job.id)
    except BaseException:
        for job in campaign.jobs:
            slurm.cancel(job.id)
        raise


def _bind(campaign: Campaign, index: int, task: Task) -> None:
    job, place = campaign.job_of(index)
    try:
        slurm.bind(job.id, place, task.host)
    except SlurmError as problem:
        task.fault = f"Slurm does not take {task.host}: {problem}"
        slurm.cancel(f"{job.id}_{place}")


def _run(options: argparse.Namespace) -> int:
    stop = Stop()
    if options.collect:
        campaign = Campaign.load(options.collect.resolve())
    else:
        campaign = Campaign(options.folder.resolve(), _tasks(options), limit=options.time, does=options.does)
        campaign.prepare(options.program, options.words, options.evidence)
        _submit(campaign, options)
        say(f"job {', '.join(job.id for job in campaign.jobs)}, {len(campaign.tasks)} tasks, in {campaign.folder}")
        if options.submit_only and not stop.is_requested:
            return 0
    watch = Watch(campaign, options.patience)
    try:
        _wait(watch, stop)
    except BaseException:
        if not options.collect:
            _cancel(campaign, watch, stop)
        raise
    was_cancelled = stop.is_requested and not options.collect
    if was_cancelled:
        _cancel(campaign, watch, stop)
    elif stop.is_requested:
        say("interrupted: the tasks go on; this is what there is")
    faults = _note_faults(campaign, watch, was_cancelled=was_cancelled)
    code = _gather(campaign, faults) if campaign.does == "state" else _merge(campaign, options.program, options.report)
    return _EXIT_ERROR if faults and code != _EXIT_USAGE else code


def _tasks(options: argparse.Namespace) -> list[Task]:
    if options.one_dut:
        return tasks_for([options.one_dut], ["-"], options.shards)
    hosts = slurm.hosts_in(options.hosts) if options.hosts else slurm.hosts_of(options.partition)
    if not hosts:
        raise UsageError(f"no hosts in {options.hosts or 'partition ' + options.partition}")
    if len(set(hosts)) < len(hosts):
        raise UsageError(f"a host is there twice in {options.hosts}")
    return tasks_for(hosts, hosts, options.shards)


def main() -> int:
    try:
        return _run(parse(sys.argv[1:]))
    except UsageError as problem:
        say(str(problem))
        return _EXIT_USAGE
    except (FleetError, SlurmError) as problem:
        say(str(problem))
        return _EXIT_ERROR
