# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/linux-ipoib.md: what runs against Linux found, requirement by requirement, made of their results files."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

# Worst first, as in the roll-up of the results.
VERDICTS = ("FAIL", "XPASS", "ERROR", "INCONC", "WARN", "XFAIL", "PASS", "NA")
DEVIATIONS = ("FAIL", "XPASS", "WARN", "XFAIL", "ERROR", "INCONC")
MOST_FRAME_LINES = 30
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


def requirements(runs: list[Run]) -> list[str]:
    rows = [["requirement", "level", *(run.name for run in runs)]]
    for one in runs[0].results["requirements"]:
        verdicts = [run.verdict(one["id"]) for run in runs]
        if any(verdict != "NA" for verdict in verdicts):
            rows.append([one["id"], one["level"], *("" if v == "NA" else v for v in verdicts)])
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
        lines.append("; ".join(f"{result['verdict']} ({where.name})" for where, result in seen) + ".")
        lines.append("")
        for requirement in self.broken(one):
            statement = self.statements.get(requirement)
            if statement:
                lines.append(f"- {requirement} ({statement['level']}): {statement['statement']}.")
        if identifier in self.reasons:
            lines += ["", self.reasons[identifier]]
        if one.get("message"):
            lines += ["", "What was seen: " + " ".join(one["message"].split()) + "."]
        return [*lines, *self.frame(run, one), ""]

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
    entries = tomllib.loads(baseline.read_text()).get("expected", [])
    return {entry["id"]: entry["reason"] for entry in entries}


def markdown(runs: list[Run], baseline: Path, conform: Path, introduction: str) -> str:
    facts = runs[0].results["dut"]
    known = ", ".join(f"{key} {value}" for key, value in facts.items() if value and key in ("kernel", "driver"))
    lines = [introduction.strip(), "", f"The DUT: {known}.", "", "## Runs", "", *summary(runs), "",
             "Counted are cases and rules; empty is none.", "", "## Deviations", "",
             *Deviations(runs, reasons_of(baseline), conform).lines(),
             "## Requirements", "", "Empty is NA: nothing applicable occurred, or it cannot be seen or done there.", "",
             *requirements(runs)]
    return "\n".join(lines).rstrip() + "\n"
