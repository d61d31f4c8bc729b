# SPDX-License-Identifier: GPL-2.0-or-later
"""Waiting for the tasks of a campaign, as Slurm tells of them; what interrupts it; what a person sees meanwhile."""

from __future__ import annotations

import re
import signal
import sys
import threading
import time
from collections import Counter

import slurm
from campaign import Campaign
from slurm import Standing


# What the runner of a job obeys in its log: base/job_log.hpp does the same.
_BETWEEN = r"[\x80-\U0010ffff]*"
_OBEYED = re.compile(rf"(?:^|(?<=\r))([\s\x80-\U0010ffff]*):(?={_BETWEEN}:)|#(?={_BETWEEN}#[a-z\x80-\U0010ffff]*\[)",
                     re.ASCII | re.IGNORECASE | re.MULTILINE)


def without_commands(text: str) -> str:
    """The text with what begins a command of a CI runner written visibly, by number."""
    return _OBEYED.sub(lambda found: "\\x23" if found[0] == "#" else f"{found[1]}\\x3a", text)


def say(text: str) -> None:
    _draw(f"fleet: {text}\n")


def _draw(text: str) -> None:
    try:
        print(without_commands(text), end="", file=sys.stderr, flush=True)
    except OSError:
        pass  # the terminal has gone; the work has not


class Progress:
    """One line that is replaced on a terminal; elsewhere a line now and then, and the last one."""

    _SELDOM = 10.0  # s

    def __init__(self) -> None:
        self._is_terminal, self._last, self._told, self._when = sys.stderr.isatty(), "", "", -self._SELDOM

    def show(self, text: str) -> None:
        if self._is_terminal and text != self._last:
            _draw(f"\r{text:{len(self._last)}}")
        self._last = text
        if not self._is_terminal and time.monotonic() - self._when >= self._SELDOM:
            self._tell()

    def _tell(self) -> None:
        if self._last != self._told:
            say(self._last)
            self._told, self._when = self._last, time.monotonic()

    def end(self) -> None:
        if not self._is_terminal:
            self._tell()
        elif self._last:
            _draw("\n")
        self._last = ""


class Stop:
    """Ctrl-C, SIGTERM and SIGHUP end the waiting, not the program: something is to be cleaned up first."""

    def __init__(self) -> None:
        self._event = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: self._event.set())

    @property
    def is_requested(self) -> bool:
        return self._event.is_set()

    def sleep(self, seconds: float) -> None:
        self._event.wait(seconds)

    def clear(self) -> None:
        self._event.clear()


class Watch:
    """The tasks of a campaign as Slurm tells of them, until all are over."""

    def __init__(self, campaign: Campaign, patience: float) -> None:
        self._campaign, self._patience = campaign, patience
        self.standings: dict[int, Standing] = {}
        self._gone: set[int] = set()
        self._stuck_since: dict[int, float] = {}

    def is_over(self, index: int) -> bool:
        return index in self._gone or (index in self.standings and self.standings[index].is_over)

    def look(self) -> None:
        for job in self._campaign.jobs:
            found = slurm.standings(job.id)
            for place in range(job.count):
                index = job.first + place
                if self.is_over(index):
                    continue  # for good, whatever a controller remembers that was restarted
                if place in found:
                    self.standings[index] = found[place]
                else:
                    self._gone.add(index)  # over for so long that Slurm has forgotten it
        self._cancel_stuck()

    def _cancel_stuck(self) -> None:
        """What waits for a host that is down would wait for ever."""
        now = time.monotonic()
        for index, standing in self.standings.items():
            if not standing.is_stuck:
                self._stuck_since.pop(index, None)
            elif now - self._stuck_since.setdefault(index, now) >= self._patience:
                task, (job, place) = self._campaign.tasks[index], self._campaign.job_of(index)
                slurm.cancel(f"{job.id}_{place}")
                where = slurm.condition([task.host]) if task.host != "-" else ""
                task.fault = f"not begun: {standing.reason.replace('_', ' ')}{', ' + where if where else ''}"

    def text(self) -> str:
        states = Counter("over" if self.is_over(index) else standing.state.lower()
                         for index, standing in self.standings.items())
        over = sum(self.is_over(index) for index in range(len(self._campaign.tasks)))
        rest = "".join(f", {count} {state}" for state, count in sorted(states.items()) if state != "over")
        return f"{over} of {len(self._campaign.tasks)} over{rest}"

    def are_all_over(self) -> bool:
        return all(self.is_over(index) for index in range(len(self._campaign.tasks)))

    def ask_accounting(self) -> None:
        """Of tasks that Slurm has forgotten before they were seen to end."""
        missed = {index for index in self._gone if index not in self.standings or not self.standings[index].is_over}
        for index in missed:
            self.standings.pop(index, None)
        for job in self._campaign.jobs:
            if missed & set(range(job.first, job.first + job.count)):
                found = slurm.accounted(job.id)
                self.standings |= {job.first + place: standing for place, standing in found.items()
                                   if job.first + place in missed and standing.is_over}
