# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's kernels and the guest's user land: found and fetched with apt, unpacked, never installed.

What is there stays as it is until `scripts/lab packages` asks for what is current, so that a run needs no network and
two runs compare the same kernel.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from place import COMMAND
from tools import LabError, UsageError, need_program, run, say, write_whole

_KERNEL = "linux-image-amd64"
_USER_LAND = ("opensm", "infiniband-diags", "ibverbs-utils", "ibverbs-providers", "rdmacm-utils", "iproute2",
              "iputils-ping", "busybox-static", "smcroute")
# Taken from this machine, since the programs that are built here need just these versions.
_FROM_THE_HOST = frozenset({"libc6", "libgcc-s1", "libstdc++6", "libcrypt1"})
_STAMP_FORMAT = "lab-packages 1"
_BESIDE = 128 << 20  # octets, for what is made of the packages


class NoRoom(LabError):
    """No other list of packages helps."""


@dataclass(frozen=True)
class Package:
    name: str
    version: str
    architecture: str
    sha256: str
    depends: str
    size: int = 0  # octets of the file
    installed_size: int = 0  # octets

    @property
    def file_name(self) -> str:
        return f"{self.name}_{self.version.replace(':', '%3a')}_{self.architecture}.deb"


class NotListed(LabError):
    """apt lists no package that would do."""


def parse_records(text: str) -> list[Package]:
    """What apt-cache show prints: a paragraph for each version of a package, and each archive that has it."""
    packages: dict[tuple[str, str], Package] = {}
    for paragraph in re.split(r"\n\s*\n", text):
        fields = dict(re.findall(r"^([A-Za-z0-9-]+): (.*)$", paragraph, re.MULTILINE))
        if {"Package", "Version", "Architecture", "SHA256"} <= fields.keys():
            depends = ", ".join(filter(None, (fields.get("Pre-Depends", ""), fields.get("Depends", ""))))
            sizes = int(fields.get("Size", 0)), int(fields.get("Installed-Size", 0)) << 10
            packages.setdefault((fields["Package"], fields["Version"]), Package(
                fields["Package"], fields["Version"], fields["Architecture"], fields["SHA256"], depends, *sizes))
    return list(packages.values())


def dependencies(depends: str) -> list[dict[str, str]]:
    """Of each dependency its alternatives in their order, with the version where it is exact, else ""."""
    found = []
    for part in depends.split(","):
        words = (re.match(r"\s*([a-z0-9][a-z0-9+.-]*)(?:\s*\(=\s*([^)\s]+)\s*\))?", one) for one in part.split("|"))
        found.append({match[1]: match[2] or "" for match in words if match})
    return [alternatives for alternatives in found if alternatives]


def _is_newer(version: str, than: str) -> bool:
    return subprocess.run(["dpkg", "--compare-versions", version, "gt", than], check=False).returncode == 0


class Apt:
    """apt with the machine's own package lists, or with lists in a folder of the lab, which anybody may bring up to
    date: of what the machine has its packages from, or of these lines of a sources.list."""

    def __init__(self, folder: Path, sources: str | None = None) -> None:
        self._folder = folder
        self._sources = sources
        self.is_current = False  # whether its lists were fetched by this process
        self._names: set[str] = set()
        self._options: list[str] = ["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []
        if sources is not None:
            self._take_lists_of_the_lab()

    def _take_lists_of_the_lab(self) -> None:
        for part in ("state/lists/partial", "cache/archives/partial"):
            (self._folder / part).mkdir(parents=True, exist_ok=True)
        status = Path("/var/lib/dpkg/status")
        own = ["-o", f"Dir::State={self._folder}/state", "-o", f"Dir::Cache={self._folder}/cache"]
        if self._sources is not None:
            # Nothing that the machine has, or prefers, is of that suite.
            status = self._folder / "status"
            write_whole(status, "")
            write_whole(self._folder / "sources.list", self._sources)
            own += ["-o", f"Dir::Etc::sourcelist={self._folder}/sources.list", "-o", "APT::Update::Error-Mode=any",
                    "-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=20",
                    *(word for name in ("sourceparts", "preferences", "preferencesparts")
                      for word in ("-o", f"Dir::Etc::{name}=/dev/null"))]
        self._options = [*self._options[:2 if os.geteuid() == 0 else 0], *own, "-o", f"Dir::State::status={status}"]

    def update(self) -> None:
        self._take_lists_of_the_lab()
        say("asking Debian for its current packages")
        run(["apt-get", *self._options, "-q", "-o", "APT::Update::Error-Mode=any", "update"],
            "fetching the list of packages (is there a network?)")
        self.is_current = True
        self._names = set()

    def install(self, names: Iterable[str], status: Path) -> list[Package]:
        """The packages that would be installed beside those of a status file, as apt chooses them."""
        wanted = sorted(set(names))
        # What is no name of a package apt may take for a pattern, or for what is to be removed.
        unknown = set(wanted) - self.names()
        if unknown:
            raise UsageError(f"Debian has no package {', '.join(sorted(unknown))}")
        said = run(["apt-get", *self._options, "-q", "-s", "--no-install-recommends",
                    "-o", f"Dir::State::status={status}", "-o", "Dir::State::extended_states=/dev/null",
                    "-o", "Debug::NoLocking=1", "install", *wanted], f"choosing packages for {', '.join(wanted)}")
        found = re.findall(r"^Inst (\S+) (?:\[[^\]]*\] )?\((\S+)", said, re.MULTILINE)
        records = {(one.name, one.version): one for one in self._records(name for name, _ in found)}
        missing = [f"{name} {version}" for name, version in found if (name, version) not in records]
        if missing:
            raise LabError(f"apt has no record of {', '.join(missing)}")
        return [records[one] for one in found]

    def names(self, prefix: str = "") -> set[str]:
        """Of all packages that apt knows and that begin with this."""
        if not self._names:
            self._names = set(run(["apt-cache", *self._options, "pkgnames"], "listing packages").split())
        return {name for name in self._names if name.startswith(prefix)}

    def _records(self, names: Iterable[str], *options: str) -> list[Package]:
        wanted = sorted(set(names) & self.names())
        return parse_records(run(["apt-cache", *self._options, *options, "show", *wanted],
                                 "looking packages up")) if wanted else []

    def show(self, names: Iterable[str]) -> dict[str, Package]:
        """The candidates; names that apt does not know are left out."""
        return {one.name: one for one in self._records(names, "--no-all-versions")}

    def listed(self, name: str) -> list[Package]:
        """Each version of a package that apt lists, from new to old."""
        return self._records([name])

    def installable(self, name: str) -> list[Package]:
        """The candidate, and what is older; nothing if there is no candidate."""
        candidate, listed = self.show([name]).get(name), self.listed(name)
        return listed[listed.index(candidate):] if candidate in listed else []

    def download(self, packages: Iterable[Package], folder: Path) -> None:
        names = [f"{p.name}={p.version}" for p in packages]
        run(["apt-get", *self._options, "-q", "download", *names], "downloading packages (is there a network?)",
            cwd=folder, timeout=1800)


_Plan = Callable[[Apt], list[Package]]


def must_have(found: dict[str, Package], names: Iterable[str]) -> None:
    missing = sorted(set(names) - found.keys())
    if missing:
        raise LabError(f"apt knows no package {', '.join(missing)}. The lab's guest is made of Debian's packages "
                       "(Debian 12 or later, amd64, with its usual entries in apt's sources)")


def _upstream(version: str) -> str:
    return version.rpartition("-")[0] or version


def nearest(apt: Apt, name: str, version: str) -> Package:
    """This version of a package if apt lists it, else the next older one of the same upstream version, else the next newer
    one, which is said. NotListed if there is none, and where the lists are not known to be current."""
    listed = apt.listed(name)
    exact = next((one for one in listed if one.version == version), None)
    if exact is not None:
        return exact
    if not apt.is_current:
        raise NotListed(f"apt lists no {name} {version}")
    same = [one for one in listed if _upstream(one.version) == _upstream(version)]
    if not same:
        raise NotListed(f"Debian lists no {name} of {_upstream(version)}" +
                        (f", but {', '.join(one.version for one in listed)}" if listed else ""))
    chosen = next((one for one in same if not _is_newer(one.version, version)), same[-1])
    say(f"Debian lists no {name} {version}; {chosen.version} is the nearest of the same upstream version")
    return chosen


def follow(apt: Apt, names: Iterable[str], wants: re.Pattern[str],
           without: frozenset[str] = _FROM_THE_HOST) -> dict[str, Package]:
    """These packages, NAME or NAME=VERSION, and what they depend on, as far as the pattern likes its name: of alternatives
    the first that apt knows, of versions the one that is asked for by anybody."""
    found: dict[str, Package] = {}
    exact: dict[str, str] = {}
    waiting = {word.partition("=")[0] for word in names}

    def need(name: str, version: str) -> None:
        if version and name not in exact:
            exact[name] = version
            if name in found and found[name].version != version:
                waiting.add(name)

    for word in names:
        need(*word.partition("=")[::2])
    while waiting:
        records = apt.show(waiting)
        for name in waiting & exact.keys():
            if name not in records or records[name].version != exact[name]:
                records[name] = nearest(apt, name, exact[name])
        found.update(records)
        waiting = set()
        for record in records.values():
            for alternatives in dependencies(record.depends):
                known = apt.names() & alternatives.keys()
                name = next((one for one in alternatives if one in known), next(iter(alternatives)))
                if not wants.match(name) or name in without:
                    continue
                if name not in found:
                    waiting.add(name)
                need(name, alternatives[name])
    return found


def kernel_packages(apt: Apt, image: str) -> dict[str, Package]:
    """A kernel, in the one or several packages that it has, and what modules for it are built with, but for the
    compiler: of the newest version that both have."""
    headers, parts = image.replace("linux-image-", "linux-headers-", 1), re.compile(
        r"linux-(headers|kbuild)-|linux-(base|binary|modules)-\d")
    images, built_with = apt.installable(image), {one.version for one in apt.listed(headers)}
    must_have({one.name: one for one in images}, [image])
    version = next((one.version for one in images if one.version in built_with), images[0].version)
    if version != images[0].version:
        if not apt.is_current:
            raise NotListed(f"apt lists no {headers} {images[0].version}")
        say(f"Debian lists no {headers} {images[0].version}; {image} {version} is taken")
    kernel = follow(apt, [f"{image}={version}", f"{headers}={version}"], parts)
    lacking = {name for one in kernel.values() for alternatives in dependencies(one.depends) for name in alternatives
               if parts.match(name)} - kernel.keys()
    if lacking:
        raise NotListed(f"Debian lists no {', '.join(sorted(lacking))}, which {image} {version} needs")
    return kernel


def newest_kernel(apt: Apt, meta: str = _KERNEL) -> list[Package]:
    """The kernel that another package stands for, with what modules for it are built with; where Debian does not have all
    of that, the kernel that it stood for before."""
    metas = apt.installable(meta)
    must_have({one.name: one for one in metas}, [meta])
    first: LabError | None = None
    for one in metas:
        image = next((name for alternatives in dependencies(one.depends) for name in alternatives
                      if name.startswith("linux-image-")), None)
        try:
            if image is None:
                raise LabError(f"the package {meta} {one.version} depends on no kernel")
            kernel = kernel_packages(apt, image)
        except LabError as problem:
            if not apt.is_current:
                raise
            first = first or problem
            continue
        if first is not None:
            say(f"{first}; the kernel before it is taken: {image}")
        return list(kernel.values())
    raise first or LabError(f"apt lists no {meta}")


def _plan(apt: Apt) -> list[Package]:
    kernel = newest_kernel(apt)
    user_land = follow(apt, _USER_LAND, re.compile(r"lib(?!.*perl)"))
    must_have(user_land, _USER_LAND)
    return sorted((*kernel, *user_land.values()), key=lambda p: p.name)


def _is_whole(path: Path, package: Package) -> bool:
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == package.sha256


def check_room(packages: Iterable[Package], folder: Path, copies: int = 1) -> None:
    """Before anything is fetched: for archives and what is unpacked of them, so many times over."""
    needed = sum(package.size + copies * package.installed_size for package in packages) + _BESIDE
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise NoRoom(f"no room in {folder}: the packages need {needed >> 20} MiB, and {free >> 20} MiB are free")


def fetch(apt: Apt, packages: list[Package], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    missing = []
    for package in packages:
        path, cached = folder / package.file_name, Path("/var/cache/apt/archives") / package.file_name
        if _is_whole(path, package):
            continue
        path.unlink(missing_ok=True)
        if _is_whole(cached, package):
            shutil.copyfile(cached, path)
        else:
            missing.append(package)
    if missing:
        say(f"downloading {len(missing)} packages")
        apt.download(missing, folder)
    for package in packages:
        if not _is_whole(folder / package.file_name, package):
            raise LabError(f"{folder / package.file_name} is not what Debian has published; remove it and try again")


def _mend_headers(root: Path) -> None:
    """Debian's headers name their other half by the absolute path that they would be installed at."""
    for makefile in root.glob("usr/src/linux-headers-*/Makefile"):
        text = makefile.read_text(encoding="utf-8")
        mended = re.sub(r"^include /usr/src/", f"include {root}/usr/src/", text, flags=re.MULTILINE)
        if mended != text:
            makefile.write_text(mended, encoding="utf-8")


def _unpack(packages: list[Package], debs: Path, root: Path, prepare_root: Callable[[Path], None] | None) -> None:
    say(f"unpacking {len(packages)} packages")
    fresh = root.with_name(root.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    if prepare_root is not None:
        prepare_root(fresh)
    for package in packages:
        run(["dpkg", "-x", debs / package.file_name, fresh], f"unpacking {package.name}")
    shutil.rmtree(root, ignore_errors=True)
    fresh.rename(root)
    if prepare_root is None:
        _mend_headers(root)


def plan_and_fetch(apt: Apt, plan: _Plan, debs: Path, must_update: bool) -> list[Package]:
    """With the machine's own lists if they serve: they are old where nobody runs apt-get update."""
    try:
        if must_update:
            apt.update()
        packages = plan(apt)
        fetch(apt, packages, debs)
    except LabError as problem:
        if apt.is_current or isinstance(problem, NoRoom):
            raise
        say(str(problem).splitlines()[0])
        try:
            apt.update()
        except LabError as of_update:
            raise type(problem)(f"{problem}\n{of_update}") from problem
        packages = plan(apt)
        fetch(apt, packages, debs)
    return packages


def prepare_by(plan: _Plan, folder: Path, apt: Apt, refresh: bool,
               prepare_root: Callable[[Path], None] | None = None) -> Path:
    """The folder that the packages of a plan are unpacked in. With `prepare_root`, which lays it out before, it is a
    tree to enter as the root of a file system."""
    if platform.machine() != "x86_64":
        raise LabError("the lab needs an x86-64 machine: its guest runs programs that are built here")
    root, stamp = folder / "root", folder / "stamp"
    if not refresh and root.is_dir() and stamp.is_file() and \
            stamp.read_text(encoding="utf-8").startswith(f"{_STAMP_FORMAT}\n{root}\n"):
        return root
    for program in ("apt-get", "apt-cache", "dpkg"):
        need_program(program)
    folder.mkdir(parents=True, exist_ok=True)

    def plan_with_room(apt: Apt) -> list[Package]:
        packages = plan(apt)
        check_room(packages, folder)
        return packages

    packages = plan_and_fetch(apt, plan_with_room, folder / "debs", refresh)
    text = "".join(f"{p.name} {p.version} {p.sha256}\n" for p in packages)
    wanted = f"{_STAMP_FORMAT}\n{root}\n{text}"
    if root.is_dir() and stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return root
    stamp.unlink(missing_ok=True)
    _unpack(packages, folder / "debs", root, prepare_root)
    wanted_files = {p.file_name for p in packages}
    for old in (folder / "debs").glob("*.deb"):
        if old.name not in wanted_files:
            old.unlink()
    write_whole(stamp, wanted)
    return root


def prepare(folder: Path, refresh: bool = False) -> Path:
    """The folder that the packages are unpacked in: Debian's usual kernel, and the guest's user land. Fetches what is
    not there; with `refresh`, whatever is newer."""
    return prepare_by(_plan, folder, Apt(folder / "apt"), refresh)


def prepare_kernel(folder: Path, series: str, refresh: bool = False) -> Path:
    """The same of another kernel that the machine's apt knows, "6.12", alone."""
    def plan(apt: Apt) -> list[Package]:
        return sorted(newest_kernel(apt, f"linux-image-{series}-amd64"), key=lambda p: p.name)

    return prepare_by(plan, folder / "kernels" / series, Apt(folder / "apt"), refresh)


def prepare_tools(folder: Path, names: Iterable[str], refresh: bool = False) -> Path:
    """The same of programs that this machine runs from there, with their libraries."""
    def plan(apt: Apt) -> list[Package]:
        found = follow(apt, names, re.compile(r"lib"))
        must_have(found, names)
        return sorted(found.values(), key=lambda p: p.name)

    return prepare_by(plan, folder / "tools", Apt(folder / "apt"), refresh)


def _source_of(apt: Apt, name: str, version: str, newest: _Plan) -> Package:
    """The source of a kernel that was fetched; if it is gone, the error names what would help."""
    try:
        return nearest(apt, name, version)
    except NotListed as problem:
        if not apt.is_current:
            raise
        try:
            image = next((one for one in newest(apt) if re.match(r"linux-image-\d", one.name)), None)
            helps = image is not None and _upstream(image.version) != _upstream(version) and \
                nearest(apt, f"linux-source-{'.'.join(image.version.split('.')[:2])}", image.version)
        except LabError:
            helps = None
        if not helps:
            raise
        raise LabError(f"{problem}. {COMMAND} packages fetches {image.name} {image.version}, whose source there is") \
            from problem


def unpack_source(apt: Apt, root: Path, debs: Path, destination: Path, trees: dict[str, str], newest: _Plan) -> None:
    """Of Debian's source of the kernel that is unpacked in `root`, these trees, each into a folder of the destination.
    Refuses a destination that exists. `newest` plans the kernel that would be fetched anew."""
    if destination.exists():
        raise LabError(f"{destination} exists already")
    stamp = root.parent / "stamp"
    image = re.search(r"^linux-image-(\d+\.\d+)\S* (\S+) ", stamp.read_text(encoding="utf-8"), re.MULTILINE)
    if image is None:
        raise LabError(f"{stamp} names no kernel; remove it and try again")
    name = f"linux-source-{image[1]}"
    try:
        source, = plan_and_fetch(apt, lambda apt: [_source_of(apt, name, image[2], newest)], debs, False)
        run(["dpkg", "-x", debs / source.file_name, debs], f"unpacking {name}")
        for tree, place in trees.items():
            (destination / place).mkdir(parents=True)
            member = f"{name}/{tree}".rstrip("/")
            run(["tar", "-xf", debs / f"usr/src/{name}.tar.xz", "-C", destination / place,
                 f"--strip-components={member.count('/') + 1}", member], f"unpacking {name}")
    except BaseException:
        shutil.rmtree(destination, ignore_errors=True)
        raise
    finally:
        # It is large, and asked for seldom.
        shutil.rmtree(debs, ignore_errors=True)
