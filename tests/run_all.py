# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds and runs all tests, as scripts/test says, which installs what this needs and tells it how many seconds that took.
usage: run_all.py all|--fast|--quick|--long SECONDS"""
import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
KEPT, SHOWN, SLOWEST = 50, 8, 12  # runs in the record, runs of it that are printed, tests
LEAST, LAST = 0, 19  # nice values
LEFT_OUT = re.compile(r"^ *LEFT OUT: (.*)$", re.MULTILINE)  # what a test says of one of its cases
# Neither guests, Slurm, other programs' packages, nor every page.
SLOW = r"^(lab_|ci_|fleet|packages|package|documentation|wireshark|opensm|ssh|fuzzing|html|tidy)"


class Interrupted(BaseException):
    """By a signal: nothing more is done, and nothing recorded."""


class Ended(Exception):
    """A step failed without which nothing else makes sense."""


def record_file():
    if os.environ.get("IPOIB_TEST_RECORD"):
        return Path(os.environ["IPOIB_TEST_RECORD"])
    cache = os.environ.get("XDG_CACHE_HOME") or (Path(os.environ["HOME"], ".cache") if "HOME" in os.environ else TOP / "build")
    return Path(cache, "ipoib-conformance/tests.jsonl")


def is_run(one):
    return (isinstance(one, dict) and all(isinstance(one.get(name), str) for name in ("at", "commit", "what"))
            and all(isinstance(one.get(name), (int, float)) for name in ("minutes", "tests"))
            and isinstance(one.get("failed"), list) and all(isinstance(name, str) for name in one["failed"]))


def earlier_runs(path):
    """Of a record that somebody may have damaged what is whole."""
    runs = []
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    for line in lines:
        with contextlib.suppress(ValueError):
            runs.append(json.loads(line))
    return [one for one in runs if is_run(one)]


def end(process):
    """With all that it has begun: ninja has each of its commands in a group of its own, and ends them when it is told to."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def call(*command):
    """The exit code of a command, which ends with this program."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0) as process:
        try:
            return process.wait()
        except BaseException:
            end(process)
            raise


def cpu_seconds():
    """Of all that has ended and was waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Run:
    """Parts of one call, with their times and what failed in them."""

    def __init__(self, seconds_of_packages):
        self.rows = [("packages", seconds_of_packages, 0)]
        self.failed, self.left_out, self.slow, self.count = [], [], [], 0
        self.begun = time.monotonic() - seconds_of_packages

    @contextlib.contextmanager
    def part(self, name):
        begun, cpu = time.monotonic(), cpu_seconds()
        print(f"== {name}", flush=True)
        try:
            yield
        finally:
            self.rows.append((name, time.monotonic() - begun, cpu_seconds() - cpu))

    def do(self, name, *command):
        """A step without which nothing else makes sense."""
        with self.part(name):
            if call(*command) != 0:
                self.failed.append(name)
                raise Ended

    def tests(self, name, preset, *options):
        """ctest over a preset's tests."""
        results = TOP / "build" / preset / "tests.xml"
        results.unlink(missing_ok=True)
        with self.part(name):
            code = call("ctest", "--preset", preset, "--output-junit", results, "--no-tests=error",
                        "--test-output-size-passed", "1000000", *options)
        before = len(self.failed)
        for case in ElementTree.parse(results).getroot().iter("testcase") if results.is_file() else ():
            one = f"{preset}: {case.get('name')}"
            self.count += 1
            self.slow.append((float(case.get("time", 0)), one))
            skipped = case.find("skipped")
            if skipped is not None and skipped.get("message", "").startswith(("SKIP_", "Disabled")):
                self.left_out.append(one)
            elif case.get("status") != "run":
                self.failed.append(one)
            self.left_out += [f"{one}: {words}" for words in LEFT_OUT.findall(case.findtext("system-out") or "")]
        if code != 0 and len(self.failed) == before:
            self.failed.append(name)

    def summary(self):
        print(f"\n{'part':<44}{'minutes':>9}{'CPU minutes':>13}")
        for name, wall, cpu in self.rows:
            print(f"{name:<44}{wall / 60:>9.1f}{cpu / 60:>13.1f}")
        print(f"{'all':<44}{(time.monotonic() - self.begun) / 60:>9.1f}{cpu_seconds() / 60:>13.1f}")
        print("\nslowest tests, seconds:")
        for seconds, name in sorted(self.slow, reverse=True)[:SLOWEST]:
            print(f"{seconds:>8.1f}  {name}")
        for words, names in (("left out", self.left_out), ("failed", self.failed)):
            if names:
                print(f"\n{words}:", *names, sep="\n  ")

    def record(self, which):
        """Adds this run, and tells of the last ones what failed in them."""
        path, commit = record_file(), ""
        with contextlib.suppress(OSError):
            commit = subprocess.run(["git", "describe", "--always", "--dirty"], stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL, text=True, check=False).stdout.strip()
        runs = earlier_runs(path)
        runs.append({"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "commit": commit, "what": which,
                     "minutes": round((time.monotonic() - self.begun) / 60, 1), "tests": self.count, "failed": self.failed})
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text("".join(json.dumps(one) + "\n" for one in runs[-KEPT:]), encoding="utf-8")
            fresh.replace(path)
        except OSError as problem:
            with contextlib.suppress(OSError):
                fresh.unlink()
            print(f"scripts/test: no record is kept: {problem}", file=sys.stderr)
        print(f"\nlast runs ({path}):")
        for one in runs[-SHOWN:]:
            print(f"  {one['at']}  {one['commit']:<20} {one['what']:<8}{one['minutes']:>6.1f} min"
                  f"{one['tests']:>6} tests  {len(one['failed'])} failed")
        for name, count in Counter(name for one in runs for name in one["failed"]).most_common():
            print(f"  failed in {count} of {len(runs)}: {name}")


class Behind:
    """A command that takes what the tests leave over, until it is needed. Ends with this program, whatever happens."""

    def __init__(self, log, script):
        self.log = TOP / "build" / log
        self.log.parent.mkdir(exist_ok=True)
        with open(self.log, "wb") as out:
            self.process = subprocess.Popen(["bash", "-ec", script], stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=subprocess.STDOUT, process_group=0, preexec_fn=lambda: os.nice(LAST))

    def __enter__(self):
        return self

    def is_well(self):
        """Waits for its end; what it said if that was none to wish for."""
        with contextlib.suppress(OSError):  # only root may
            os.setpriority(os.PRIO_PGRP, self.process.pid, LEAST)
        if self.process.wait() == 0:
            return True
        print(self.log.read_text(errors="replace"), flush=True)
        return False

    def __exit__(self, *_):
        if self.process.poll() is None:
            end(self.process)


def built(preset, *options):
    """Words for bash."""
    return (f"cmake --preset {preset} -Wno-dev {' '.join(options)} >/dev/null && "
            f"cmake --build --preset {preset} -j {os.cpu_count()}")


def test(run, which):
    jobs = str(os.cpu_count())
    # A unit test runs in one build, the stricter one where both are made.
    both = "ON" if which == "all" else "OFF"
    run.do("build", "bash", "-c", built("test", f"-DIPOIB_SANITIZED_TOO={both}"))
    usual = ("--timeout", "600")
    if which == "--fast":
        return run.tests("tests", "test", "-j", jobs, *usual, "-E", SLOW)
    if which == "--long":
        run.tests("long tests", "test", "-C", "Long", "-L", "^long$", "-j", "2", "--timeout", "1800")
        run.do("build with sanitizers", "bash", "-c", built("asan"))
        return run.tests("long tests with sanitizers", "asan", "-C", "Long", "-L", "^rest$", "-j", jobs)
    # The guests of the lab wait more than they work: one test more than processors runs at a time.
    all_at_once = ("tests", "test", "-j", str(os.cpu_count() + 1), *usual)
    if which == "--quick":
        return run.tests(*all_at_once)
    with Behind("asan.log", built("asan")) as second:
        run.tests(*all_at_once)
        with run.part("build with sanitizers, what was left"):
            if not second.is_well():
                return run.failed.append("build with sanitizers")
    # Of threads one program knows: what only they could break is for another sanitizer.
    with Behind("tsan.log", f"{built('tsan')} && build/tsan/tests/threads_test") as third:
        run.tests("tests with sanitizers", "asan", "-j", jobs, *usual)
        with run.part("threads, what was left"):
            if not third.is_well():
                run.failed.append("tsan: threads_test")
    return None


def interrupt(number, _):
    raise Interrupted(number)


def main(which, seconds_of_packages):
    os.chdir(TOP)
    for one in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(one, interrupt)
    run = Run(int(seconds_of_packages))
    try:
        test(run, which)
    except Ended:
        pass
    except Interrupted as interrupted:
        return 128 + interrupted.args[0]
    run.summary()
    run.record(which)
    return 1 if run.failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
