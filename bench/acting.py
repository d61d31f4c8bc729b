# SPDX-License-Identifier: GPL-2.0-or-later
"""What the active side costs: cases, simulated fabrics, schedules, changed captures."""
import re

from measuring import Bench, cost, least


def active(bench: Bench):
    """Beside what each may take."""
    conform = bench.conform
    goals = [("run: every case on the reference", [conform, "run", "--quiet"], 1),
             ("1,000,000 frames through a switch", [bench.program("bench-forwarding"), "1000000"], 1)]
    if not bench.is_short:
        goals += [("selftest", [conform, "selftest"], 60), ("selftest --full", [conform, "selftest", "--full"], 60)]
    for name, command, allowed in goals:
        seconds = least({"": command}, bench.repeat)[""].user
        bench.tell(name, seconds / allowed, f"of the {allowed} s of CPU that are allowed", f"active: {name}")


def fabrics(bench: Bench):
    """Simulated fabrics of more and more ports: what each port costs, beside the smallest fabric."""
    questions, base = 100, {}
    for ports in (300, 1000) if bench.is_short else (1000, 3000, 10000):
        run = cost([bench.program("bench-many-ports"), ports, questions], codes=(0, 1), keeps=True)
        *lines, last = run.said.splitlines()
        if not last.startswith("resolve"):
            print(f"fabric of {ports} ports: {last}")
            lines = lines[:-1]
        else:
            lines.append(last)
        parts = {name: float(seconds) for name, seconds in (line.split() for line in lines)}
        base = base or {name: seconds / ports for name, seconds in parts.items()}
        for name, seconds in parts.items():
            bench.tell(f"fabric of {ports} ports, {name}", seconds / ports / base[name], "x the CPU of a port in the smallest",
                       f"fabric: {ports} ports, {name}")
        print(f"fabric of {ports} ports: {run.mebibytes:.0f} MiB at most")


def _rate(bench: Bench, words, pattern, codes):
    run = cost([bench.conform, *words], codes, keeps=True)
    found = re.search(pattern, run.said)
    return int(found[1].replace(",", "")) / run.user


def metamorphic(bench: Bench):
    """Small variants of captures, judged: how many a minute of one core."""
    wanted, seconds = 1_000_000, 4 if bench.is_short else 20
    for kinds in ("profile,mutation", "all"):
        words = ["selftest", "--metamorphic", "--sources", kinds, "--for", f"{seconds}s"]
        said = cost([bench.conform, *words], (0, 1), keeps=True).said
        rate = int(re.search(r"variants, (\d+) a minute", said)[1])
        bench.tell(f"variants of {kinds}", rate / wanted, "of the 1,000,000 a minute that are the aim",
                   f"metamorphic: variants of {kinds}", is_rate=True)


def explore(bench: Bench):
    """Schedules, each with a fabric, nodes, newcomers and all rules, beside a case of `run`."""
    seeds = 100 if bench.is_short else 1000
    costs = least({"explore": [bench.conform, "explore", "--seeds", seeds], "run": [bench.conform, "run", "--quiet"]},
                  bench.repeat)
    bench.tell("explore: 100 schedules", costs["explore"].user / seeds * 100 / costs["run"].user, "x a run of every case",
               "explore: 100 schedules to a run of every case")
