# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/driver-mutants.md: what the suite finds of changed drivers."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

from mutants import Mutant, Verdict, is_blamed_rightly

_MOST_COLUMNS = 120
_MOST_FINDERS = 4
_Z = 1.959964  # 95%, both sides

INTRODUCTION = """\
# Changed drivers

Made by `scripts/lab mutants`; not edited by hand. Each patch of `lab/mutants` is a small change of Linux's `ib_ipoib`, or of
what it stands on (`core/multicast.c`, `sa_query.c`, `cm.c`), of a kind that drivers have had: right at rest, most of
them, and wrong after something has changed. The lab builds each, and judges it by the cases that should find it, and, if
those do not, by the whole suite on the fabric with OpenSM and on the simulated one. It is found where a result that the
unchanged driver does not have speaks against it, twice. Known deviations (`lab/linux.baseline.toml`) do not count.

"Rightly" says whether a case that was meant to find it did, or the finding names a requirement that it breaks. The blind
ones were written from the driver's source alone, before any case was read. The intervals are Wilson's, of 95%.
"""


def wilson(found: int, total: int) -> tuple[float, float]:
    """Between which shares the true one lies with a probability of 95%."""
    if total == 0:
        return 0.0, 1.0
    share, square = found / total, _Z * _Z
    middle = (share + square / (2 * total)) / (1 + square / total)
    half = _Z * math.sqrt(share * (1 - share) / total + square / (4 * total * total)) / (1 + square / total)
    return max(0.0, middle - half), min(1.0, middle + half)


def _share(judged: Sequence[tuple[Mutant, Verdict]]) -> list[str]:
    found = [one for one in judged if one[1].found]
    low, high = wilson(len(found), len(judged))
    rightly = sum(is_blamed_rightly(*one_of(one)) is True for one in found)
    share = f"{100 * len(found) / len(judged):.0f}%" if judged else "-"
    return [str(len(judged)), str(len(found)), share, f"{100 * low:.0f} to {100 * high:.0f}%", str(rightly)]


def one_of(judged: tuple[Mutant, Verdict]) -> tuple[Mutant, list]:
    return judged[0], judged[1].found


def _table(rows: list[list[str]]) -> list[str]:
    return ["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0]),
            *("| " + " | ".join(row) + " |" for row in rows[1:])]


def _finders(verdict: Verdict) -> str:
    names = [one.id if one.verdict == "FAIL" else f"{one.id} ({one.verdict})" for one in verdict.found]
    more = f" and {len(names) - _MOST_FINDERS} more" if len(names) > _MOST_FINDERS else ""
    return ", ".join(names[:_MOST_FINDERS]) + more


def _row(mutant: Mutant, verdict: Verdict) -> list[str]:
    rightly = {True: "yes", False: "no", None: "-"}[is_blamed_rightly(mutant, verdict.found)]
    return [mutant.name, mutant.seen_by, mutant.breaks, _finders(verdict), rightly]


def _missed(mutant: Mutant, verdict: Verdict) -> list[str]:
    why = mutant.missed_because or ("Nobody outside can see it." if not mutant.is_seen else "Not looked into yet.")
    lines = [f"- **{mutant.name}** ({'blind, ' if mutant.is_blind else ''}seen by {mutant.seen_by}): {mutant.breaks} {why}"]
    if verdict.once:
        lines[0] += f" Failed once, and not again: {', '.join(verdict.once)}."
    if verdict.undecided:
        lines[0] += f" Without a verdict: {', '.join(verdict.undecided[:_MOST_FINDERS])}."
    return textwrap.wrap(lines[0], _MOST_COLUMNS, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)


def markdown(every: Sequence[tuple[Mutant, Verdict | None]], kernel: str) -> str:
    """Of all mutants, with the verdicts that are known."""
    judged = [(mutant, verdict) for mutant, verdict in every if verdict is not None and not verdict.problem]
    open_ones = [(mutant, verdict) for mutant, verdict in every if verdict is None or verdict.problem]
    kinds = [("that a peer or user can see", [one for one in judged if one[0].is_seen and not one[0].is_blind]),
             ("blind", [one for one in judged if one[0].is_blind]),
             ("that nobody can see", [one for one in judged if not one[0].is_seen and not one[0].is_blind])]
    rows = [["mutants", "judged", "found", "recall", "interval", "blamed rightly"]]
    rows += [[name, *_share(some)] for name, some in kinds]
    lines = [INTRODUCTION, f"The kernel is {kernel}.", "", *_table(rows), "", "## Found", ""]
    head = ["mutant", "seen by", "breaks", "found by", "rightly"]
    for title, is_blind in (("", False), ("### Blind", True)):
        found = [_row(*one) for one in judged if one[1].found and one[0].is_blind == is_blind]
        if found:
            lines += [*([title, ""] if title else []), *_table([head, *found]), ""]
    lines += ["## Missed", ""]
    missed = [line for one in judged if not one[1].found for line in _missed(*one)]
    lines += missed or ["None."]
    if open_ones:
        lines += ["", "## Not judged", ""]
        for mutant, verdict in open_ones:
            why = verdict.problem.splitlines()[0] if verdict is not None else "not tried yet"
            lines += textwrap.wrap(f"- {mutant.name}: {why}", _MOST_COLUMNS, subsequent_indent="  ")
    return "\n".join(lines).rstrip() + "\n"
