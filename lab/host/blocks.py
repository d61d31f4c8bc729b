# SPDX-License-Identifier: GPL-2.0-or-later
"""Of the modules that tell which of their code ran: how many blocks each source file has, and how many of them ran."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tools import LabError, run

_CALLBACK = "vibcov_block"
_CALL = 4  # octets from the relocation of a call to where it returns
_PIECE = re.compile(r"\.(?:cold|part|isra|constprop)[.\d]*.*$")


@dataclass
class SourceFile:
    """`blocks` of each function; those that ran, by function."""

    name: str
    blocks: Counter[str] = field(default_factory=Counter)
    ran: Counter[str] = field(default_factory=Counter)

    @property
    def unreached(self) -> list[str]:
        return sorted(name for name in self.blocks if not self.ran[name])


def _functions(objects: Path) -> dict[str, list[tuple[int, str]]]:
    """By section: where functions begin, in order."""
    by_section: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for line in run(["objdump", "--syms", objects], f"reading {objects.name}").splitlines():
        match = re.match(r"([0-9a-f]{16}) .{6}F (\S+)\s+[0-9a-f]{16}\s+(?:\.hidden )?(\S+)$", line)
        if match and match[2].startswith(".text"):
            by_section[match[2]].append((int(match[1], 16), match[3]))
    return {section: sorted(some) for section, some in by_section.items()}


def _places(objects: Path) -> list[str]:
    """Of an object file: where its blocks tell, "function+0x1f", as the kernel prints it."""
    functions, found, section = _functions(objects), [], ""
    for line in run(["objdump", "--reloc", objects], f"reading {objects.name}").splitlines():
        if head := re.match(r"RELOCATION RECORDS FOR \[(\S+)\]", line):
            section = head[1]
        call = re.match(rf"([0-9a-f]{{16}}) R_X86_64_PLT32\s+{_CALLBACK}\b", line)
        if not call or section not in functions:
            continue
        starts = functions[section]
        place = int(call[1], 16) + _CALL
        at = bisect_right(starts, (place, "\x7f")) - 1
        if at >= 0:
            found.append(f"{starts[at][1]}+{place - starts[at][0]:#x}")
    return found


def _function_of(place: str) -> str:
    return _PIECE.sub("", place.partition("+")[0])


def coverage(modules: dict[str, Path], files: Iterable[str], told: Iterable[str]) -> list[SourceFile]:
    """Of the files, "ipoib_cm.c", what was told, "module:function+0x1f" each. A function of the same name in two files of a
    module counts for the first. What is told of a place where no block is comes from another driver, and does not count."""
    sources, owners = [], dict[str, SourceFile]()
    for name in files:
        objects = next((path for module in modules.values()
                        if (path := module.parent / Path(name).with_suffix(".o")).is_file()), None)
        if objects is None:
            raise LabError(f"there is no object file of {name} where the modules were built")
        places = _places(objects)
        sources.append(SourceFile(name, Counter(map(_function_of, places))))
        for place in places:
            owners.setdefault(place, sources[-1])
    for place in {line.partition(":")[2] for line in told}:
        if place in owners:
            owners[place].ran[_function_of(place)] += 1
    return sources


# What a frame from the wire can get to: the driver, joins and path queries, MADs, connections.
FILES = ("ipoib_main.c", "ipoib_ib.c", "ipoib_multicast.c", "ipoib_cm.c", "ipoib_verbs.c", "ipoib_vlan.c",
         "ipoib_netlink.c", "ipoib_ethtool.c", "ipoib_fs.c", "multicast.c", "sa_query.c", "mad.c", "cm.c")


def table(sources: Iterable[SourceFile]) -> str:
    lines = ["| file | blocks | ran | functions | entered |", "|---|---|---|---|---|"]
    for one in sources:
        lines.append(f"| {one.name} | {sum(one.blocks.values())} | {sum(one.ran.values())} | {len(one.blocks)} | "
                     f"{len(one.blocks) - len(one.unreached)} |")
    return "".join(f"{line}\n" for line in lines)
