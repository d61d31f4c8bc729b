# SPDX-License-Identifier: GPL-2.0-or-later
"""The ratios of a run of scripts/bench, beside those that were kept of an earlier one."""
import json
import math
from pathlib import Path

TOLERANCE = 1.15  # what the same program differs by from run to run


def _is_ratio(row):
    """Of a file that people may have edited."""
    number = row.get("ratio") if isinstance(row, dict) else None
    return isinstance(number, (int, float)) and not isinstance(number, bool) and math.isfinite(number) and number > 0


class Record:
    """Less is better, but for what is a rate. Programs of another preset are other programs, so each has its own part of the
    file."""

    def __init__(self, path: Path, preset: str):
        self.path, self.preset, self.ratios = path, preset, {}

    def keep(self, name: str, ratio: float, is_rate: bool = False):
        self.ratios[name] = {"ratio": float(f"{ratio:.3g}"), **({"rate": True} if is_rate else {})}

    def _read(self):
        """The whole file; empty where it is none, with what is wrong with it."""
        try:
            content = json.loads(self.path.read_text())
        except FileNotFoundError:
            return {}, ""
        except (OSError, ValueError) as problem:
            return {}, str(problem)
        if not isinstance(content, dict) or not all(isinstance(part, dict) for part in content.values()):
            return {}, "no object of objects"
        return content, ""

    def compare(self) -> list[str]:
        """What is to be said of it, a line each."""
        content, problem = self._read()
        if problem:
            return [f"{self.path.name} cannot be read: {problem}; nothing is compared (--record writes it anew)"]
        before = content.get(self.preset, {})
        if not before:
            return [f"{self.path.name}: nothing is recorded yet of the preset {self.preset} (--record)"]
        lines, compared = [], 0
        for name, now in self.ratios.items():
            if name not in before:
                lines.append(f"not recorded yet: {name}")
            elif not _is_ratio(before[name]):
                lines.append(f"recorded, but as no ratio: {name}")
            elif now["ratio"] > 0:
                compared += 1
                then = before[name]["ratio"]
                change = then / now["ratio"] if now.get("rate") else now["ratio"] / then
                if change > TOLERANCE:
                    lines.append(f"slower than recorded: {name}: {now['ratio']:g}, was {then:g}")
        if not any(line.startswith("slower") for line in lines):
            lines.append(f"Nothing of {compared} ratios is slower than recorded.")
        return lines

    def write(self):
        """What this run did not measure stays."""
        content, _ = self._read()
        part = {name: row for name, row in content.get(self.preset, {}).items() if _is_ratio(row)}
        content[self.preset] = part | self.ratios
        self.path.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n")
