# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/linux-ipoib.md: what runs against Linux found, requirement by requirement, made of their results files."""

from __future__ import annotations

import json
import re
import subprocess
import textwrap
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# Worst first, as in the roll-up of the results.
VERDICTS = ("FAIL", "XPASS", "ERROR", "INCONC", "WARN", "XFAIL", "PASS", "NA")
DEVIATIONS = ("FAIL", "XPASS", "WARN", "XFAIL", "ERROR", "INCONC")
MOST_FRAME_LINES = 30
MOST_COLUMNS = 120
HEAD = re.compile(r"\S.* \(offset (\d+)\)")


@dataclass
class Run:
    """One run: a role in a scenario, on the fabric with OpenSM or on the simulated one."""

    name: str
    file: Path
    results: dict

    @classmethod
    def load(cls, name: str, file: Path) -> Run:
        return cls(name, file, json.loads(file.read_text()))

    def verdict(self, requirement: str) -> str:
        return next((r["verdict"] for r in self.results["requirements"] if r["id"] == requirement), "NA")


@dataclass(frozen=True)
class Kind:
    """A run of the whole report."""

    name: str
    role: str
    fabric: str  # lab: with OpenSM
    scenario: str
    dhcp_client: str | None = None
    dhcp_server: str | None = None
    is_enhanced: bool = False


KINDS = (*(Kind(f"{scenario} {manager}", "host", fabric, scenario)
           for fabric, manager in (("lab", "OpenSM"), ("simulated", "simulated"))
           for scenario in ("default", "controlled", "scope5", "mtu4k", "link4k", "hardened")),
         # The adapters of the guest's own fabric have GUIDs of their own.
         Kind("modified-guid simulated", "host", "simulated", "modified-guid"),
         Kind("connected OpenSM", "connected", "lab", "default"),
         Kind("connected simulated", "connected", "simulated", "default"),
         Kind("router OpenSM", "router", "lab", "default"),
         # Who keeps RFC 4390 besides: docs/dhcp.md.
         Kind("DHCP OpenSM", "host", "lab", "default", "networkd", "dnsmasq"))
# The exit codes of ipoib-conform, from good to bad.
EXIT_CODES = (0, 4, 5, 1, 3, 2)

INTRODUCTION = """\
# Linux's ib_ipoib against RFC 4391

Made by `scripts/lab report`; not edited by hand. The unmodified driver of Debian's kernel, on the lab's virtual adapters,
as a host in datagram mode in seven scenarios, as a host in connected mode, as an IP multicast router, and as a host whose DHCP
client is systemd-networkd and whose DHCP server is dnsmasq. A run named
"OpenSM" has OpenSM as subnet manager and administrator; one named "simulated" has the suite's own, which can refuse and
fail on request. The known deviations and their reasons are in `lab/linux.baseline.toml`.
"""


def table(rows: list[list[str]]) -> list[str]:
    """A Markdown table; the first row is its head."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]


def counts(run: Run) -> dict[str, int]:
    found = dict.fromkeys(VERDICTS, 0)
    for one in run.results["results"]:
        found[one["verdict"]] += 1
    return found


def summary(runs: list[Run]) -> list[str]:
    rows = [["run", *VERDICTS, "requirements judged"]]
    for run in runs:
        judged = sum(1 for r in run.results["requirements"] if r["verdict"] != "NA")
        rows.append([run.name, *(str(n or "") for n in counts(run).values()), str(judged)])
    return table(rows)


def together(runs: list[Run], verdict_of: Callable[[Run], str]) -> str:
    """"PASS", or where the runs differ "PASS; INCONC in connected"; NA is left out where anybody judged."""
    where: dict[str, list[str]] = {}
    for run in runs:
        where.setdefault(verdict_of(run), []).append(run.name)
    where.pop("NA", None)
    if not where:
        return "NA"
    usual = max(where, key=lambda verdict: len(where[verdict]))
    others = (f"{verdict} in {', '.join(names)}" for verdict, names in where.items() if verdict != usual)
    return "; ".join([usual, *others])


def requirements(runs: list[Run]) -> list[str]:
    rows = [["requirement", "level", "verdict", "judged in"]]
    for one in runs[0].results["requirements"]:
        verdict = together(runs, lambda run, identifier=one["id"]: run.verdict(identifier))
        if verdict != "NA":
            judged = sum(1 for run in runs if run.verdict(one["id"]) != "NA")
            rows.append([one["id"], one["level"], verdict, f"{judged} of {len(runs)} runs"])
    return table(rows)


def layer_at(decoded: str, offset: int, field: str) -> list[str]:
    """The lines of `ipoib-conform decode` for the header that holds this octet, with the field ("Encap.Reserved")
    marked."""
    blocks: list[tuple[int, list[str]]] = []
    for line in decoded.splitlines():
        head = HEAD.fullmatch(line)
        if head:
            blocks.append((int(head[1]), [line]))
        elif blocks and line.startswith(" "):
            blocks[-1][1].append(line)
    name = field.partition(".")[2]
    for begin, lines in reversed(blocks):
        if begin <= offset:
            return [f"{text}   <--" if text.split("  ")[2:3] == [name] else text for text in lines[:MOST_FRAME_LINES]]
    return []


def filled(lines: list[str]) -> list[str]:
    """Prose in lines of 120 columns; tables, headings and frames as they are."""
    result, is_frame = [], False
    for line in lines:
        is_frame ^= line == "```"
        if is_frame or len(line) <= MOST_COLUMNS or line.startswith(("|", "#", "```")):
            result.append(line)
        else:
            indent = "  " if line.startswith("- ") else ""
            result += textwrap.wrap(line, MOST_COLUMNS, subsequent_indent=indent, break_on_hyphens=False,
                                    break_long_words=False)
    return result


class Deviations:
    """Every result that is neither PASS nor NA, once, with the runs that it was seen in."""

    def __init__(self, runs: list[Run], reasons: dict[str, str], conform: Path) -> None:
        self.runs = runs
        self.reasons = reasons
        self.conform = conform
        self.statements = {r["id"]: r for run in runs for r in run.results["requirements"]}

    def lines(self) -> list[str]:
        found: dict[str, list[tuple[Run, dict]]] = {}
        for run in self.runs:
            for one in run.results["results"]:
                if one["verdict"] in DEVIATIONS:
                    found.setdefault(one["id"], []).append((run, one))
        lines = []
        for identifier in sorted(found):
            lines += self.section(identifier, found[identifier])
        return lines or ["None."]

    def section(self, identifier: str, seen: list[tuple[Run, dict]]) -> list[str]:
        run, one = seen[0]
        lines = [f"### {identifier}: {one['title']}", ""]
        verdicts = {where.name: result["verdict"] for where, result in seen}
        lines.append(together([where for where, _ in seen], lambda where: verdicts[where.name]) + self.where(seen))
        lines.append("")
        for requirement in self.broken(one):
            statement = self.statements.get(requirement)
            if statement:
                lines.append(f"- {requirement} ({statement['level']}): {statement['statement']}.")
        if identifier in self.reasons:
            lines += ["", self.reasons[identifier]]
        if one.get("message"):
            # The baseline's reason is told already.
            seen_words = " ".join(one["message"].split()).removesuffix(f" [{self.reasons.get(identifier)}]")
            lines += ["", f"What was seen: {seen_words}."]
        return [*lines, *self.frame(run, one), ""]

    def where(self, seen: list[tuple[Run, dict]]) -> str:
        if len(seen) == len(self.runs):
            return ", in every run."
        return f", in {', '.join(run.name for run, _ in seen)}."

    @staticmethod
    def broken(one: dict) -> list[str]:
        parts = [p["id"] for p in one.get("parts", []) if p["verdict"] in DEVIATIONS]
        return parts or one["checks"]

    def frame(self, run: Run, one: dict) -> list[str]:
        """The header at fault, as the first frame of the evidence shows it."""
        for detail in one.get("details", []):
            if not (one.get("evidence") and detail.get("frame") and detail.get("field")):
                continue
            where = f"{run.file.parent / one['evidence']}#{detail['frame']}"
            decoded = subprocess.run([self.conform, "decode", where], capture_output=True, text=True)
            lines = layer_at(decoded.stdout, detail["offset"], detail["field"]) if decoded.returncode == 0 else []
            if lines:
                return ["", "```", *lines, "```"]
        return []


def reasons_of(baseline: Path) -> dict[str, str]:
    """The reason of each known deviation, by the id of its result."""
    if not baseline.is_file():
        return {}
    reasons: dict[str, list[str]] = {}
    for entry in tomllib.loads(baseline.read_text()).get("expected", []):
        reasons.setdefault(entry["id"], []).append(entry["reason"])
    return {identifier: "; ".join(told) for identifier, told in reasons.items()}


def markdown(runs: list[Run], baseline: Path, conform: Path) -> str:
    facts = runs[0].results["dut"]
    known = ", ".join(f"{key} {value}" for key, value in facts.items() if value and key in ("kernel", "driver"))
    lines = [INTRODUCTION, f"The DUT: {known}.", "", "## Runs", "", *summary(runs), "",
             "Counted are cases and rules. XFAIL is a deviation that the baseline knows.", "", "## Deviations", "",
             *Deviations(runs, reasons_of(baseline), conform).lines(),
             "## Requirements", "", "All that could be judged in any run; the others are NA.", "", *requirements(runs)]
    return "\n".join(filled(lines)).rstrip() + "\n"
