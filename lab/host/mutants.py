# SPDX-License-Identifier: GPL-2.0-or-later
"""Changed drivers, lab/mutants/NAME.patch: what each breaks, who can see it, and what has become of it under the suite."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from options import ROLES
from tools import LabError, run, write_whole

_HEADS = ("Breaks", "Seen-by", "Blind", "Role", "Fabric", "Scenario", "Cases", "Blames", "Missed-because")
_NEEDED = ("Breaks", "Seen-by", "Role", "Fabric", "Scenario")
_SEEN_BY = ("peer", "user", "nobody")
_END_OF_HEAD = "---"
_PLACE = "drivers/infiniband/"  # what the paths of a patch begin with
_AGAINST = ("FAIL", "WARN")  # verdicts that speak against a driver
_STATE_FORMAT = 1


@dataclass(frozen=True)
class Setting:
    """What a driver is judged in."""

    role: str
    fabric: str
    scenario: str

    def __str__(self) -> str:
        return f"{self.role}, {self.fabric}, {self.scenario}"


@dataclass(frozen=True)
class Mutant:
    name: str
    breaks: str
    seen_by: str  # "peer", "user" or "nobody"
    is_blind: bool  # written without a look at the cases
    setting: Setting
    cases: tuple[str, ...]  # that should find it
    blames: tuple[str, ...]  # requirements, or what their ids begin with, that a right finding names
    missed_because: str
    patch: str
    files: tuple[str, ...]  # below drivers/infiniband

    @property
    def is_seen(self) -> bool:
        return self.seen_by != "nobody"

    def settings(self) -> list[Setting]:
        """Those that it is judged in: its own first."""
        role = self.setting.role
        others = [Setting(role, fabric, "default") for fabric in ("lab", "simulated")]
        return [self.setting, *(one for one in others if one != self.setting)]


def parse(name: str, text: str) -> Mutant:
    """A patch with its head. LabError, with the name, for what is missing or means nothing."""
    head, found, patch = text.partition(f"\n{_END_OF_HEAD}\n")
    if not found:
        raise LabError(f"{name}: there is no line {_END_OF_HEAD} between head and patch")
    values: dict[str, str] = {}
    for line in head.splitlines():
        key, colon, value = line.partition(": ")
        if not colon or key not in _HEADS or not value.strip():
            raise LabError(f"{name}: {line!r} is none of {', '.join(_HEADS)} with a value")
        if key in values:
            raise LabError(f"{name}: {key} is there twice")
        values[key] = value.strip()
    missing = [key for key in _NEEDED if key not in values]
    if missing:
        raise LabError(f"{name}: {', '.join(missing)} is missing")
    for key, allowed in (("Seen-by", _SEEN_BY), ("Role", ROLES), ("Blind", ("yes",)), ("Fabric", ("lab", "simulated"))):
        if values.get(key, allowed[0]) not in allowed:
            raise LabError(f"{name}: {key} is {values[key]}, and not {' or '.join(allowed)}")
    files = tuple(re.findall(rf"^\+\+\+ b/{_PLACE}(\S+)$", patch, re.MULTILINE))
    if not files or any(".." in file for file in files):
        raise LabError(f"{name}: it changes nothing below {_PLACE}")
    return Mutant(name, values["Breaks"], values["Seen-by"], "Blind" in values,
                  Setting(values["Role"], values["Fabric"], values["Scenario"]), tuple(values.get("Cases", "").split()),
                  tuple(values.get("Blames", "").split()), values.get("Missed-because", ""), patch, files)


def load(folder: Path) -> list[Mutant]:
    """All of a folder, by name."""
    return [parse(path.stem, path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.patch"))]


def chosen(every: Sequence[Mutant], names: Sequence[str]) -> list[Mutant]:
    known = {one.name: one for one in every}
    for name in names:
        if name not in known:
            raise LabError(f"there is no mutant {name}")
    return [known[name] for name in names] if names else list(every)


def apply(mutant: Mutant, pristine: Path, folder: Path) -> None:
    """Makes `folder` a copy of drivers/infiniband with the change; of core only if that is changed. What stays the same
    keeps its content, so that little is built anew."""
    folder.mkdir(parents=True, exist_ok=True)
    is_of_core = any(file.startswith("core/") for file in mutant.files)
    for part in ("core", "ulp/ipoib"):
        shutil.rmtree(folder / part, ignore_errors=True)
        if part != "core" or is_of_core:
            shutil.copytree(pristine / part, folder / part)
    patch = folder / "change.patch"
    write_whole(patch, mutant.patch)
    run(["patch", "--batch", "--forward", "--fuzz=3", f"-p{1 + _PLACE.count('/')}", "-d", folder, "-i", patch],
        f"applying {mutant.name}")


@dataclass
class Finding:
    """A result that speaks against a driver."""

    id: str
    verdict: str
    type: str
    requirements: list[str]
    message: str
    setting: str


def findings(results: dict, setting: Setting) -> list[Finding]:
    found = []
    for one in results["results"]:
        if one["verdict"] in _AGAINST:
            parts = [part["id"] for part in one.get("parts", []) if part["verdict"] in _AGAINST]
            found.append(Finding(one["id"], one["verdict"], one["type"], parts or list(one["checks"]),
                                 " ".join(one["message"].split())[:300], str(setting)))
    return found


def undecided(results: dict) -> list[str]:
    """Cases that came to no verdict: INCONC or ERROR."""
    return [one["id"] for one in results["results"] if one["verdict"] in ("INCONC", "ERROR")]


def new_ones(found: Iterable[Finding], control: Iterable[Finding]) -> list[Finding]:
    """Those that the unchanged driver does not have."""
    known = {one.id for one in control}
    return [one for one in found if one.id not in known]


def is_blamed_rightly(mutant: Mutant, found: Sequence[Finding]) -> bool | None:
    """Whether what found it is what was to, or names a requirement that it breaks. None where nobody has said which."""
    if not mutant.blames and not mutant.cases:
        return None
    return any(one.id in mutant.cases or any(requirement.startswith(mutant.blames) for requirement in one.requirements)
               for one in found)


@dataclass
class Verdict:
    """What has become of a mutant so far. With another key it is only a hint."""

    key: str
    found: list[Finding] = field(default_factory=list)  # seen twice, and not on the unchanged driver
    once: list[str] = field(default_factory=list)  # failed, but not when it was tried again
    undecided: list[str] = field(default_factory=list)
    named: list[str] = field(default_factory=list)  # settings that the cases which should find it were run in
    settings: list[str] = field(default_factory=list)  # settings that the whole suite was run in
    problem: str = ""  # why it could not be judged at all
    is_done: bool = False


class State:
    """Verdicts in a folder, one file each, so that a run that was stopped goes on where it was."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def get(self, name: str) -> Verdict | None:
        try:
            content = json.loads(self._file(name).read_text(encoding="utf-8"))
            if content.pop("format") != _STATE_FORMAT:
                return None
            found = [Finding(**one) for one in content.pop("found")]
            return Verdict(**content, found=found)
        except (FileNotFoundError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def put(self, name: str, verdict: Verdict) -> None:
        write_whole(self._file(name), json.dumps({"format": _STATE_FORMAT, **asdict(verdict)}, indent=1) + "\n")

    def current(self, name: str, key: str) -> Verdict:
        """The verdict on this very mutant by this very suite; else an empty one."""
        known = self.get(name)
        return known if known is not None and known.key == key else Verdict(key)

    def hints(self, name: str) -> list[str]:
        """Cases that have found it, whatever suite it was."""
        known = self.get(name)
        return [one.id for one in known.found if one.id.startswith("IPOIB-")] if known else []


def key_of(*contents: bytes | str) -> str:
    digest = hashlib.sha256()
    for content in contents:
        data = content.encode() if isinstance(content, str) else content
        digest.update(b"%d " % len(data) + data)
    return digest.hexdigest()
