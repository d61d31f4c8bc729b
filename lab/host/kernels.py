# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernels of Debian's that the lab knows by name: where each is, which of them are fetched, and which can be.

The machine's own apt has those of its release, whose modules this machine can build; the others are in suites of their
own, with lists of packages of the lab's and a tree to build in (suite_tree). A name is a series, "6.12", which stands
for the newest of that series or for the one that is pinned here; one kernel of a series in another suite, "7.2.6"; or
a suite, for the newest that it has. A suite keeps old kernels longer than what their modules are built with: only those
count that have both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import packages
import suite_tree
from packages import Apt, Package
from place import COMMAND
from tools import LabError, UsageError, say

_MIRROR = "http://deb.debian.org/debian"
_KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
_NAME = re.compile(r"(\d+\.\d+)(\.\d+)?")


@dataclass(frozen=True)
class Suite:
    name: str
    parts: tuple[str, ...]  # what its packages depend on is in these, too

    def sources(self) -> str:
        return "".join(f"deb [signed-by={_KEYS}] {_MIRROR} {part} main\n" for part in self.parts)


TRIXIE = Suite("trixie", ("trixie",))
BACKPORTS = Suite("trixie-backports", ("trixie", "trixie-backports"))
SID = Suite("sid", ("sid",))


@dataclass(frozen=True)
class Known:
    name: str  # as --kernel has it
    series: str = ""  # empty: of any
    suite: Suite | None = None  # None: what the machine's apt knows
    pinned: str = ""  # a kernel of the series; none: the newest


KNOWN = (Known("6.1", "6.1"), Known("6.12", "6.12"), Known("7.2", "7.2", BACKPORTS), Known("7.3", "7.3", BACKPORTS, "7.3.4"),
         Known("trixie", "", TRIXIE), Known("sid", "", SID))
# One of each long series, and one newer than those: what is judged unless others are named.
USUAL = ("6.1", "6.12", "7.3")


def is_name(text: str) -> bool:
    """Whether this can only be the name of a kernel, and no folder."""
    return _NAME.fullmatch(text) is not None


def known(text: str) -> Known:
    """The kernel of this name; UsageError if there is none."""
    match = _NAME.fullmatch(text)
    one = next((k for k in KNOWN if k.name == (match[1] if match else text)), None)
    if one is None or (match and match[2] and one.suite is None):
        raise UsageError(f"there is no kernel {text}; there are {', '.join(k.name for k in KNOWN)}"
                         f" ({COMMAND} kernels), and releases of those in {BACKPORTS.name}, such as 7.2.6")
    return replace(one, name=text, pinned=text) if match and match[2] else one


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def releases(names: Iterable[str], series: str) -> dict[str, str]:
    """Among names of packages, the usual kernels of a series that have headers, from old to new: "7.3.4" to its
    package. Of those that differ behind the plus sign only, the newest; "6.1.0-56" counts its builds."""
    every = set(names)
    found: dict[str, str] = {}
    for name in sorted(every, key=_numbers):
        match = re.fullmatch(r"linux-image-(\d+\.\d+\.\d+(-\d+)?)[+.0-9a-z]*-amd64", name)
        if match is not None and match[1].startswith(series + "." if series else "") and \
                name.replace("-image-", "-headers-", 1) in every:
            found[match[1]] = name
    return found


def image_among(one: Known, names: Iterable[str]) -> str:
    """The package of a kernel among all that apt knows there."""
    there = releases(names, one.series)
    wanted = one.pinned or next(reversed(there), "")
    if wanted in there:
        return there[wanted]
    where = f"Debian's {one.suite.name}" if one.suite else "the machine's apt"
    raise LabError(f"{where} has no kernel {one.pinned or one.name} any more, with what its modules are built with"
                   + (f"; of {one.series} it has {', '.join(there)}: name one of these" if there else ""))


def _apt(folder: Path, one: Known) -> Apt:
    if one.suite is None:
        return Apt(folder / "apt")
    return Apt(folder / f"apt-{one.suite.name}", one.suite.sources())


def _plan(one: Known) -> Callable[[Apt], list[Package]]:
    def plan(apt: Apt) -> list[Package]:
        if not apt.names("linux-image-"):
            apt.update()
        return suite_tree.plan(apt, image_among(one, apt.names("linux-")))

    return plan


def _folder(folder: Path, one: Known) -> Path:
    return folder / "kernels" / one.name


def _is_usual(folder: Path, one: Known) -> bool:
    """Whether the kernel that the guest has without --kernel is of this name."""
    return one.suite is None and image_of(folder).startswith(f"linux-image-{one.series}.")


def image_of(folder: Path) -> str:
    """The package of the kernel that was unpacked in this folder; "" if none was."""
    stamp = folder / "stamp"
    text = stamp.read_text(encoding="utf-8") if stamp.is_file() else ""
    match = re.search(r"^(linux-image-\d\S*) ", text, re.MULTILINE)
    return match[1] if match else ""


def prepare(folder: Path, name: str, refresh: bool = False) -> Path:
    """The root of the unpacked kernel of this name, fetched if it is not there; with `refresh`, if there is a newer one."""
    one = known(name)
    if one.suite is None:
        root = packages.prepare(folder) if not refresh else folder / "root"
        return root if _is_usual(folder, one) else packages.prepare_kernel(folder, name, refresh)
    return packages.prepare_by(_plan(one), _folder(folder, one), _apt(folder, one), refresh, suite_tree.lay_out)


def fetched(folder: Path) -> list[str]:
    """The names of the further kernels that were fetched, as far as they are known."""
    found = []
    for path in sorted(folder.glob("kernels/*/stamp")):
        try:
            found.append(known(path.parent.name).name)
        except UsageError:
            pass
    return found


def refresh(folder: Path) -> Iterator[tuple[str, Path]]:
    """Each further kernel that was fetched, with its root, after a look for a newer one. One that cannot be had any more
    stays as it is."""
    for name in fetched(folder):
        try:
            yield name, prepare(folder, name, refresh=True)
        except LabError as problem:
            say(f"{name} stays as it is: {problem}")


def _plan_of(folder: Path, one: Known | None) -> Callable[[Apt], list[Package]]:
    """What would be fetched anew of a kernel, or of the usual one."""
    if one is not None and one.suite is not None:
        return _plan(one)
    if one is None or _is_usual(folder, one):
        return packages.newest_kernel
    return lambda apt: packages.newest_kernel(apt, f"linux-image-{one.series}-amd64")


def unpack_source(folder: Path, destination: Path, name: str | None, trees: dict[str, str]) -> None:
    """These trees of Debian's source of a kernel, or of the guest's usual one, each into a folder of the destination."""
    one = known(name) if name else None
    root = prepare(folder, name) if name else packages.prepare(folder)
    apt = _apt(folder, one) if one else Apt(folder / "apt")
    packages.unpack_source(apt, root, folder / "source", destination, trees, _plan_of(folder, one))


# The trees that each command unpacks, and the folder of the destination for each: ib_ipoib for --ipoib, with what it stands
# on, ib_core and ib_cm, for --modules, all for --kernel.
SOURCES = {"ipoib-source": {"drivers/infiniband/ulp/ipoib": "."},
           "modules-source": {f"drivers/infiniband/{part}": part for part in ("core", "ulp/ipoib")},
           "kernel-source": {"": "."}}


def _names_there(folder: Path, one: Known) -> set[str]:
    """What apt knows where a kernel is; nothing if that cannot be reached."""
    try:
        apt = _apt(folder, one)
        if one.suite:
            apt.update()
        return apt.names("linux-")
    except LabError:
        return set()


def _there_now(folder: Path) -> dict[str, str]:
    """For each kernel what can be fetched now, or why nothing can."""
    names: dict[Suite | None, set[str]] = {}
    said: dict[str, str] = {}
    for one in KNOWN:
        if one.suite not in names:
            names[one.suite] = _names_there(folder, one)
        try:
            said[one.name] = image_among(one, names[one.suite]).removeprefix("linux-image-")
        except LabError as problem:
            said[one.name] = f"no: {problem}" if names[one.suite] else "no: it cannot be reached"
    return said


def table(folder: Path) -> str:
    """What is known, where it is, what is fetched, and what Debian has now."""
    there_now = _there_now(folder)
    rows = [("name", "suite", "fetched", "Debian has now")]
    for one in KNOWN:
        here = image_of(folder) if _is_usual(folder, one) else image_of(_folder(folder, one))
        rows.append((one.name, one.suite.name if one.suite else "the machine's", here.removeprefix("linux-image-") or "-",
                     there_now[one.name]))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "".join("  ".join(cell.ljust(width) for cell, width in zip(row, [*widths, 0])).rstrip() + "\n"
                   for row in rows)
