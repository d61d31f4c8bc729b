# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel's stack with file and line, of what was built here or by the user: Debian's own kernels and modules come without
debug information.

    ipoib_cm_send+0x115/0x4a0 [ib_ipoib]   becomes   ipoib_cm_send+0x115/0x4a0 [ib_ipoib] (ipoib_cm.c:751)
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tools import write_whole

KERNEL = ""  # the name of the kernel itself, among those of its modules
_FILE = "symbols.json"
_MOST_FRAMES = 200
_LONGEST_PADDING = 64  # octets behind a function, which the kernel counts as part of it
_PATIENCE = 60  # s
_FRAME = re.compile(r"(?P<function>[A-Za-z_][\w.]*)\+0x(?P<offset>[0-9a-f]{1,8})/0x(?P<size>[0-9a-f]{1,8})"
                    r"(?: \[(?P<module>\w+)[^\]]*\])?")
_BEFORE_FAULT = re.compile(r"(RIP: (\w+:)?| at \S+:\d+ )\Z")
_LONGEST_BEFORE = 500
_PLACE = re.compile(r"^(?:.*/)?(?:\w+-[0-9a-f]{8}|linux-(?:headers|source)-[^/]+)/(?:\./)?|^\./")


@dataclass(frozen=True)
class _Symbol:
    value: int
    size: int
    section: str


def _output(words: list[str]) -> str:
    """Nothing where the program fails: a stack without lines is better than none."""
    try:
        return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                              timeout=_PATIENCE, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _functions(file: str, wanted: set[str]) -> dict[str, list[_Symbol]]:
    said = _output(["readelf", "--wide", "--sections", "--symbols", file])
    sections = dict(re.findall(r"^ *\[ *(\d+)\] (\S+) ", said, re.MULTILINE))
    found: dict[str, list[_Symbol]] = {}
    for line in said.splitlines():
        words = line.split()
        if len(words) == 8 and words[3] == "FUNC" and words[7] in wanted and words[6] in sections:
            found.setdefault(words[7], []).append(_Symbol(int(words[1], 16), int(words[2], 0), sections[words[6]]))
    return found


def _lines_at(file: str, section: str, addresses: list[int]) -> dict[int, str]:
    """"ipoib_cm.c:751" of each; of inlined functions their names and lines before it, the innermost first."""
    said = _output(["addr2line", "-a", "-i", "-f", "-e", file, *(["-j", section] if file.endswith(".ko") else []),
                    *map(hex, addresses)])
    found: dict[int, str] = {}
    for block in re.split(r"^(?=0x[0-9a-f]+$)", said, flags=re.MULTILINE):
        address, *rest = block.splitlines() or [""]
        places = [_PLACE.sub("", place.partition(" (discriminator")[0]) for place in rest[1::2]]
        if not places or any(place.startswith("??") or place.endswith((":?", ":0")) for place in places):
            continue
        inlined = [f"{function} {place}" for function, place in zip(rest[::2], places[:-1])]
        found[int(address, 16)] = " in ".join([*inlined, places[-1]])
    return found


def _lines_of(file: str, frames: set[tuple[str, int, int]]) -> dict[tuple[str, int, int], str]:
    """By function, offset and size."""
    functions = _functions(file, {function for function, _, _ in frames})
    by_section: dict[str, dict[tuple[str, int, int], int]] = {}
    for frame in frames:
        function, offset, size = frame
        fitting = [s for s in functions.get(function, []) if s.size <= size <= s.size + _LONGEST_PADDING and offset <= size]
        if len(fitting) == 1:  # several functions may have one name
            by_section.setdefault(fitting[0].section, {})[frame] = fitting[0].value + offset
    found: dict[tuple[str, int, int], str] = {}
    for section, places in by_section.items():
        lines = _lines_at(file, section, sorted(set(places.values())))
        found |= {frame: lines[address] for frame, address in places.items() if address in lines}
    return found


def decoded(text: str, symbols: Mapping[str, str]) -> str:
    """The text with file and line behind each place in a function; at the end of several lines, of what there are none."""
    matches = list(_FRAME.finditer(text))[:_MOST_FRAMES]
    if not matches:
        return text
    if not (shutil.which("addr2line") and shutil.which("readelf")):
        return f"{text}\nno files and lines: there is no addr2line (Debian's binutils)"
    by_module: dict[str, set[tuple[str, int, int]]] = {}
    frames = []
    for match in matches:
        # All but the faulting instruction itself are where a call returns to, one behind it.
        is_return = not _BEFORE_FAULT.search(text, max(0, match.start() - _LONGEST_BEFORE), match.start())
        frame = (match["function"], max(0, int(match["offset"], 16) - is_return), int(match["size"], 16))
        frames.append((match, frame))
        by_module.setdefault(match["module"] or KERNEL, set()).add(frame)
    known = {module: _lines_of(symbols[module], wanted) for module, wanted in by_module.items() if module in symbols}
    parts, begin = [], 0
    for match, frame in frames:
        line = known.get(match["module"] or KERNEL, {}).get(frame)
        parts += [text[begin:match.end()], f" ({line})" if line else ""]
        begin = match.end()
    without = sorted(module or "the kernel" for module in by_module if not known.get(module))
    is_trace = "\n" in text
    note = f"\nno files and lines of {', '.join(without)}: there is no debug information here" if without and is_trace else ""
    return "".join(parts) + text[begin:] + note


def note(folder: Path, symbols: Mapping[str, Path]) -> None:
    """For whoever decodes what the guest of this folder says."""
    write_whole(folder / _FILE, json.dumps({name: str(path) for name, path in symbols.items()}))


def decoded_in(folder: Path, text: str) -> str:
    """What the guest of a folder says, decoded."""
    try:
        symbols = json.loads((folder / _FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return text
    return decoded(text, symbols)
