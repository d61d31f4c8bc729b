# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges changed drivers: the cases that should find one first, the whole suite for those that survive; several at a
time, each in a guest of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import mutants
from machine import dies_with, load_factor
from mutants import Finding, Mutant, Setting, State, Verdict
from place import SOURCE
from tools import LabError, last_lines, say

_LIMIT = 3600.0  # s, for one run of the suite
_MOST_PATIENCE = 2.0  # times the usual: cases wait for what must not come, too
_EVERY_RULE = "RULE-*"


class Stopped(Exception):
    """The judging is to end; nothing is known of this run."""


@dataclass
class Laboratory:
    """What all that are judged have in common."""

    programs: Path
    build: Path
    pristine: Path  # core and ulp/ipoib of the guest's kernel
    baseline: Path
    state: State
    options: list[str]  # of the guest, for every run
    suite: str  # digest of what judges
    turns: dict[str, threading.Lock] = field(default_factory=dict)
    is_stopped: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    running: set[subprocess.Popen[str]] = field(default_factory=set)

    def stop(self) -> None:
        self.is_stopped.set()
        with self.lock:
            for process in self.running:
                process.send_signal(signal.SIGTERM)

    def run(self, name: str, setting: Setting, cases: Sequence[str], modules: Path | None) -> dict:
        """The results of `scripts/lab run`. LabError, with its last words, if it leaves none."""
        results = self.build / "mutants/results" / f"{name}.json"
        results.parent.mkdir(parents=True, exist_ok=True)
        results.unlink(missing_ok=True)
        command = [sys.executable, str(SOURCE / "scripts/lab"), "run", *cases, "--role", setting.role, "--fabric",
                   setting.fabric, "--scenario", setting.scenario, "--programs", str(self.programs), "--build",
                   str(self.build), "--expect", str(self.baseline), "--json", str(results), "--quiet", *self.options]
        command += ["--modules", str(modules)] if modules is not None else []
        command += ["--profile", str(SOURCE / "profiles/linux-ib_ipoib.toml")]
        # Minutes are waited where it is certain that they tell, and once in the whole suite.
        command += ["--allow-long"] if cases or setting.fabric == "simulated" else []
        # A machine that is busy makes a driver slow, and not wrong.
        command += ["--timeout-scale", f"{min(load_factor(), _MOST_PATIENCE):.2g}"]
        words = self._run(command)
        if not results.is_file():
            raise LabError(last_lines(words, 6) or "the run has left no results")
        return json.loads(results.read_text(encoding="utf-8"))

    def _run(self, command: list[str]) -> str:
        """What it printed."""
        with self.lock:
            if self.is_stopped.is_set():
                raise Stopped
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True, errors="replace", process_group=0,
                                       preexec_fn=dies_with(os.getpid(), signal.SIGTERM))
            self.running.add(process)
        try:
            words, _ = process.communicate(timeout=_LIMIT)
        except subprocess.TimeoutExpired:
            process.terminate()
            words, _ = process.communicate()
        finally:
            with self.lock:
                self.running.discard(process)
        if self.is_stopped.is_set():
            raise Stopped
        return words

    def control(self, setting: Setting, cases: Sequence[str]) -> list[Finding]:
        """What these cases have against the unchanged driver, beyond what is known of it."""
        name = "unchanged." + mutants.key_of(str(setting), *cases)[:16]
        with self.lock:
            turn = self.turns.setdefault(name, threading.Lock())
        with turn:
            verdict = self.state.current(name, self.suite)
            if not verdict.is_done:
                found = mutants.findings(self.run(name, setting, cases, None), setting)
                verdict = Verdict(self.suite, found, is_done=True)
                self.state.put(name, verdict)
        return verdict.found


def _key(laboratory: Laboratory, mutant: Mutant) -> str:
    return mutants.key_of(laboratory.suite, mutant.patch, str(mutant.setting), " ".join(mutant.cases))


def verdict_on(laboratory: Laboratory, mutant: Mutant) -> Verdict | None:
    """What is known of it; None while it is not judged to the end, and nobody knows why it cannot be."""
    verdict = laboratory.state.current(mutant.name, _key(laboratory, mutant))
    return verdict if verdict.is_done or verdict.problem else None


class Judge:
    """Of one mutant."""

    def __init__(self, laboratory: Laboratory, mutant: Mutant, folder: Path) -> None:
        self._laboratory = laboratory
        self._mutant = mutant
        self._folder = folder
        self._key = _key(laboratory, mutant)
        self._verdict = laboratory.state.current(mutant.name, self._key)
        self._hints = laboratory.state.hints(mutant.name)

    def is_done(self) -> bool:
        return self._verdict.is_done

    def judge_named(self) -> Verdict:
        """By the cases that should find it, and those that have before. Rules watch."""
        cases = [one for one in dict.fromkeys((*self._hints, *self._mutant.cases)) if one.startswith("IPOIB-")]
        if cases:
            self._judge(self._mutant.settings(), [*cases, _EVERY_RULE], self._verdict.named)
        return self._verdict

    def judge_whole(self) -> Verdict:
        """By the whole suite. More of it can be judged where the administrator refuses and fails on request."""
        settings = sorted(self._mutant.settings(), key=lambda setting: setting.fabric != "simulated")
        self._judge(settings, [], self._verdict.settings)
        self._verdict.is_done = not self._verdict.problem
        self._keep()
        return self._verdict

    def _judge(self, settings: Sequence[Setting], cases: Sequence[str], done: list[str]) -> None:
        """In each of these, until one finds it."""
        verdict = self._verdict
        verdict.problem = ""
        try:
            mutants.apply(self._mutant, self._laboratory.pristine, self._folder)
            for setting in settings:
                if not verdict.found and str(setting) not in done:
                    self._take(setting, cases)
                    done.append(str(setting))
                    self._keep()
        except LabError as problem:
            verdict.problem = str(problem)
        verdict.is_done = bool(verdict.found)
        self._keep()

    def _keep(self) -> None:
        self._laboratory.state.put(self._mutant.name, self._verdict)

    def _take(self, setting: Setting, cases: Sequence[str]) -> None:
        laboratory, verdict = self._laboratory, self._verdict
        results = laboratory.run(self._mutant.name, setting, cases, self._folder)
        verdict.undecided = sorted({*verdict.undecided, *mutants.undecided(results)})
        found = mutants.findings(results, setting)
        if not found:
            return
        # What failed by chance does not count, nor what the unchanged driver fails: once more, with both, the cases that
        # have found it, or have provoked what a rule has found.
        provoked = {one["id"]: [case["id"] for case in one["cases"]] for one in results["results"]}
        again = sorted({case for one in found for case in (provoked[one.id] if one.id.startswith("RULE-") else [one.id])})
        selectors = [*again, _EVERY_RULE] if again else list(cases)
        second = {one.id for one in mutants.findings(laboratory.run(self._mutant.name, setting, selectors, self._folder),
                                                     setting)}
        confirmed = [one for one in found if one.id in second]
        verdict.once = sorted({*verdict.once, *(one.id for one in found if one.id not in second)})
        if confirmed:
            verdict.found += mutants.new_ones(confirmed, laboratory.control(setting, selectors))


def judge_all(laboratory: Laboratory, every: Sequence[Mutant], jobs: int) -> None:
    """Those that no verdict is known of, so many at a time: all by the cases that should find them, then what is left by
    the whole suite. An interruption ends the runs and comes out again."""
    for way, what in ((Judge.judge_named, "the cases that should find them"), (Judge.judge_whole, "the whole suite")):
        verdicts = [verdict_on(laboratory, one) for one in every]
        is_second = way is Judge.judge_whole
        waiting = [one for one, verdict in zip(every, verdicts)
                   if verdict is None or (verdict.problem and not is_second)]
        if waiting:
            say(f"{len(waiting)} of {len(every)} are judged by {what}")
        _in_threads(laboratory, waiting, jobs, way)


def _in_threads(laboratory: Laboratory, waiting: list[Mutant], jobs: int, way: Callable[[Judge], Verdict]) -> None:
    problems: list[BaseException] = []

    def work(slot: int) -> None:
        while waiting and not laboratory.is_stopped.is_set():
            try:
                mutant = waiting.pop(0)
            except IndexError:
                return
            try:
                verdict = way(Judge(laboratory, mutant, laboratory.build / f"mutants/slot{slot}"))
            except Stopped:
                return
            except BaseException as problem:
                problems.append(problem)
                laboratory.stop()
                return
            say(f"{mutant.name}: {outcome(verdict)} ({len(waiting)} to begin)")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(min(jobs, len(waiting)))]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    except BaseException:
        laboratory.stop()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
        raise
    if problems:
        raise problems[0]


def outcome(verdict: Verdict) -> str:
    if verdict.found:
        return "found by " + ", ".join(one.id for one in verdict.found)
    if verdict.problem:
        return f"not judged: {verdict.problem}"
    return "missed" if verdict.is_done else "not found yet"
