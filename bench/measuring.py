# SPDX-License-Identifier: GPL-2.0-or-later
"""What a program costs."""
import contextlib
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from record import Record

TOP = Path(__file__).resolve().parent.parent
CAPTURES = TOP / "captures"
LEAST = 1e-4  # seconds: less is not measured, and nothing costs nothing


class Failed(Exception):
    """A program that is measured did not do what it was to do."""


@dataclass
class Cost:
    user: float  # seconds of CPU
    mebibytes: float  # peak memory
    elapsed: float  # seconds
    said: str = ""


def cost(command, codes=(0,), keeps=False, **options) -> Cost:
    """Of one run, which ends with one of these exit codes; `keeps` what it writes to standard output."""
    command = [str(word) for word in command]
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE if keeps else subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          text=True, **options) as child:
        said = child.stdout.read() if keeps else ""
        _, status, usage = os.wait4(child.pid, 0)
        elapsed = time.monotonic() - began
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in codes:
        raise Failed(f"{' '.join(command)} ended with exit code {child.returncode}")
    return Cost(max(usage.ru_utime, LEAST), usage.ru_maxrss / 1024, elapsed, said)


def least(commands: dict, repeat: int, **options) -> dict[str, Cost]:
    """Of several, in turn, so that what else the machine does meets all of them: each time the cheapest."""
    found = {}
    for _ in range(repeat):
        for name, command in commands.items():
            once = cost(command, **options)
            if name not in found or once.user < found[name].user:
                found[name] = once
    return found


@dataclass
class Bench:
    """One run of scripts/bench."""
    build: Path
    folder: Path  # for captures, in memory where there is room
    record: Record
    packets: int
    repeat: int
    long: int
    is_short: bool

    @property
    def conform(self):
        return self.build / "ipoib-conform"

    @property
    def gen(self):
        return self.build / "ipoib-gen"

    def program(self, name):
        return self.build / "bench" / name

    def tell(self, name, ratio, of, key=None, is_rate=False, memory=None):
        """A line of the table; with a key it is also kept and compared."""
        more = "" if memory is None else f"{memory:10.1f} MiB at most"
        print(f"{name:<44} {ratio:10.3g} {of}{more}", flush=True)
        if key:
            self.record.keep(key, ratio, is_rate)

    def capture(self, packets, *ports, name="bench.pcap"):
        path = self.folder / name
        subprocess.run([self.program("make-bench-capture"), str(packets), path, *map(str, ports)], check=True)
        return path


@contextlib.contextmanager
def removed(*paths: Path):
    """Afterwards these are gone: memory is small."""
    try:
        yield
    finally:
        for path in paths:
            path.unlink(missing_ok=True)
