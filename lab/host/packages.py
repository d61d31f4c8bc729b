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
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from place import COMMAND
from tools import LabError, UsageError, need_program, run, say, write_whole

_KERNEL = "linux-image-amd64"
_USER_LAND = ("opensm", "infiniband-diags", "ibverbs-utils", "ibverbs-providers", "rdmacm-utils", "iproute2",
              "iputils-ping", "busybox-static", "smcroute")
# Taken from this machine, since the programs that are built here need just these versions.
_FROM_THE_HOST = {"libc6", "libgcc-s1", "libstdc++6", "libcrypt1"}
_STAMP_FORMAT = "lab-packages 1"


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


def parse_records(text: str) -> dict[str, Package]:
    """What apt-cache show prints: a paragraph for each package."""
    packages = {}
    for paragraph in re.split(r"\n\s*\n", text):
        fields = dict(re.findall(r"^([A-Za-z0-9-]+): (.*)$", paragraph, re.MULTILINE))
        if {"Package", "Version", "Architecture", "SHA256"} <= fields.keys():
            depends = ", ".join(filter(None, (fields.get("Pre-Depends", ""), fields.get("Depends", ""))))
            sizes = int(fields.get("Size", 0)), int(fields.get("Installed-Size", 0)) << 10
            packages.setdefault(fields["Package"], Package(fields["Package"], fields["Version"], fields["Architecture"],
                                                           fields["SHA256"], depends, *sizes))
    return packages


def dependency_names(depends: str) -> list[str]:
    """The first choice of each dependency, without versions."""
    return [match.group(1) for part in depends.split(",")
            if (match := re.match(r"\s*([a-z0-9][a-z0-9+.-]*)", part))]


class Apt:
    """apt with the machine's own package lists, or with lists in a folder of the lab, which anybody may bring up to
    date."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._options: list[str] = ["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []

    def update(self) -> None:
        for part in ("state/lists/partial", "cache/archives/partial"):
            (self._folder / part).mkdir(parents=True, exist_ok=True)
        self._options = [*self._options[:2 if os.geteuid() == 0 else 0],
                         "-o", f"Dir::State={self._folder}/state", "-o", f"Dir::Cache={self._folder}/cache",
                         "-o", "Dir::State::status=/var/lib/dpkg/status"]
        say("asking Debian for its current packages")
        run(["apt-get", *self._options, "-q", "-o", "APT::Update::Error-Mode=any", "update"],
            "fetching the list of packages (is there a network?)")

    def install(self, names: Iterable[str], status: Path) -> list[str]:
        """The packages that would be installed beside those of a status file, as apt chooses them."""
        wanted = sorted(set(names))
        try:
            said = run(["apt-get", *self._options, "-q", "-s", "--no-install-recommends",
                        "-o", f"Dir::State::status={status}", "-o", "Dir::State::extended_states=/dev/null",
                        "-o", "Debug::NoLocking=1", "install", *wanted], f"choosing packages for {', '.join(wanted)}")
        except LabError as problem:
            unknown = re.findall(r"Unable to locate package (\S+)|Package '?([^' ]+)'? has no installation candidate",
                                 str(problem))
            if not unknown:
                raise
            raise UsageError(f"Debian has no package {', '.join(a or b for a, b in unknown)}") from problem
        return re.findall(r"^Inst (\S+)", said, re.MULTILINE)

    def show(self, names: Iterable[str]) -> dict[str, Package]:
        """The candidates; names that apt does not know are left out."""
        wanted = sorted(set(names))
        if not wanted:
            return {}
        known = set(run(["apt-cache", *self._options, "pkgnames"], "listing packages").split())
        wanted = [name for name in wanted if name in known]
        return parse_records(run(["apt-cache", *self._options, "--no-all-versions", "show", *wanted],
                                 "looking packages up")) if wanted else {}

    def download(self, packages: Iterable[Package], folder: Path) -> None:
        names = [f"{p.name}={p.version}" for p in packages]
        run(["apt-get", *self._options, "-q", "download", *names], "downloading packages (is there a network?)",
            cwd=folder, timeout=1800)


_Plan = Callable[[Apt], list[Package]]


def _must_have(found: dict[str, Package], names: Iterable[str]) -> None:
    missing = sorted(set(names) - found.keys())
    if missing:
        raise LabError(f"apt knows no package {', '.join(missing)}. The lab's guest is made of Debian's packages "
                       "(Debian 12 or later, amd64, with its usual entries in apt's sources)")


def _follow(apt: Apt, names: Iterable[str], wants: re.Pattern[str]) -> dict[str, Package]:
    """These packages and what they depend on, as far as the pattern likes its name."""
    found: dict[str, Package] = {}
    waiting = set(names)
    while waiting:
        records = apt.show(waiting)
        found.update(records)
        waiting = {name for record in records.values() for name in dependency_names(record.depends)
                   if wants.match(name)} - found.keys() - _FROM_THE_HOST
    return found


def _kernel_packages(apt: Apt, meta: str) -> dict[str, Package]:
    """The kernel that a package stands for, and what modules for it are built with."""
    found = apt.show([meta])
    _must_have(found, [meta])
    image = next((n for n in dependency_names(found[meta].depends) if n.startswith("linux-image-")), None)
    if image is None:
        raise LabError(f"the package {meta} depends on no kernel")
    headers = image.replace("linux-image-", "linux-headers-", 1)
    kernel = _follow(apt, [image, headers], re.compile(r"linux-(headers|kbuild)-"))
    _must_have(kernel, [image, headers])
    if kernel[image].version != kernel[headers].version:
        raise LabError(f"{image} is {kernel[image].version}, but {headers} is {kernel[headers].version}: a module "
                       "built for one does not load into the other. Try again when Debian has both")
    return kernel


def _plan(apt: Apt) -> list[Package]:
    kernel = _kernel_packages(apt, _KERNEL)
    user_land = _follow(apt, _USER_LAND, re.compile(r"lib(?!.*perl)"))
    _must_have(user_land, _USER_LAND)
    return sorted({**kernel, **user_land}.values(), key=lambda p: p.name)


def _is_whole(path: Path, package: Package) -> bool:
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == package.sha256


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


def _unpack(packages: list[Package], debs: Path, root: Path) -> None:
    say(f"unpacking {len(packages)} packages")
    fresh = root.with_name(root.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    for package in packages:
        run(["dpkg", "-x", debs / package.file_name, fresh], f"unpacking {package.name}")
    shutil.rmtree(root, ignore_errors=True)
    fresh.rename(root)
    _mend_headers(root)


def plan_and_fetch(apt: Apt, plan: _Plan, debs: Path, must_update: bool) -> list[Package]:
    """With the machine's own lists if they serve: they are old where nobody runs apt-get update."""
    try:
        if must_update:
            apt.update()
        packages = plan(apt)
        fetch(apt, packages, debs)
    except LabError as problem:
        if must_update:
            raise
        say(str(problem).splitlines()[0])
        apt.update()
        packages = plan(apt)
        fetch(apt, packages, debs)
    return packages


def _prepare(folder: Path, apt: Apt, plan: _Plan, refresh: bool) -> Path:
    if platform.machine() != "x86_64":
        raise LabError("the lab needs an x86-64 machine: its guest runs programs that are built here")
    root, stamp = folder / "root", folder / "stamp"
    if not refresh and root.is_dir() and stamp.is_file() and \
            stamp.read_text(encoding="utf-8").startswith(f"{_STAMP_FORMAT}\n{root}\n"):
        return root
    for program in ("apt-get", "apt-cache", "dpkg"):
        need_program(program)
    packages = plan_and_fetch(apt, plan, folder / "debs", refresh)
    text = "".join(f"{p.name} {p.version} {p.sha256}\n" for p in packages)
    wanted = f"{_STAMP_FORMAT}\n{root}\n{text}"
    if root.is_dir() and stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return root
    stamp.unlink(missing_ok=True)
    _unpack(packages, folder / "debs", root)
    wanted_files = {p.file_name for p in packages}
    for old in (folder / "debs").glob("*.deb"):
        if old.name not in wanted_files:
            old.unlink()
    write_whole(stamp, wanted)
    return root


def prepare(folder: Path, refresh: bool = False) -> Path:
    """The folder that the packages are unpacked in: Debian's usual kernel, and the guest's user land. Fetches what is
    not there; with `refresh`, whatever is newer."""
    return _prepare(folder, Apt(folder / "apt"), _plan, refresh)


def prepare_kernel(folder: Path, series: str, refresh: bool = False) -> Path:
    """The same of another kernel of Debian's, "6.12", alone."""
    def plan(apt: Apt) -> list[Package]:
        return sorted(_kernel_packages(apt, f"linux-image-{series}-amd64").values(), key=lambda p: p.name)

    return _prepare(folder / "kernels" / series, Apt(folder / "apt"), plan, refresh)


def prepare_tools(folder: Path, names: Iterable[str], refresh: bool = False) -> Path:
    """The same of programs that this machine runs from there, with their libraries."""
    def plan(apt: Apt) -> list[Package]:
        found = _follow(apt, names, re.compile(r"lib"))
        _must_have(found, names)
        return sorted(found.values(), key=lambda p: p.name)

    return _prepare(folder / "tools", Apt(folder / "apt"), plan, refresh)


def kernels_there(folder: Path) -> list[str]:
    """The series of the further kernels that were fetched."""
    return sorted(path.parent.name for path in folder.glob("kernels/*/stamp"))


def _unpack_source(folder: Path, destination: Path, series: str | None, trees: dict[str, str]) -> None:
    """Of Debian's source of the guest's usual kernel, or of this series, these trees, each into a folder of the
    destination. Refuses a destination that exists."""
    if destination.exists():
        raise LabError(f"{destination} exists already")
    root = prepare_kernel(folder, series) if series else prepare(folder)
    stamp = root.parent / "stamp"
    image = re.search(r"^linux-image-(\d+\.\d+)\S* (\S+) ", stamp.read_text(encoding="utf-8"), re.MULTILINE)
    if image is None:
        raise LabError(f"{stamp} names no kernel; remove it and try again")
    name = f"linux-source-{image[1]}"
    apt, debs = Apt(folder / "apt"), folder / "source"
    found = apt.show([name])
    if name not in found or found[name].version != image[2]:
        apt.update()
        found = apt.show([name])
    if name not in found or found[name].version != image[2]:
        raise LabError(f"Debian has no {name} of version {image[2]}, the guest's kernel, any more: {COMMAND} packages "
                       "fetches the current kernel")
    try:
        fetch(apt, [found[name]], debs)
        run(["dpkg", "-x", debs / found[name].file_name, debs], f"unpacking {name}")
        for tree, place in trees.items():
            (destination / place).mkdir(parents=True)
            run(["tar", "-xf", debs / f"usr/src/{name}.tar.xz", "-C", destination / place,
                 f"--strip-components={tree.count('/') + 2}", f"{name}/{tree}"], f"unpacking {name}")
    except BaseException:
        shutil.rmtree(destination, ignore_errors=True)
        raise
    finally:
        # It is large, and asked for seldom.
        shutil.rmtree(debs, ignore_errors=True)


def ipoib_source(folder: Path, destination: Path, series: str | None = None) -> None:
    """Debian's source of ib_ipoib, of the guest's usual kernel or of this series, to be changed and given to --ipoib."""
    _unpack_source(folder, destination, series, {"drivers/infiniband/ulp/ipoib": "."})


def modules_source(folder: Path, destination: Path, series: str | None = None) -> None:
    """The same of ib_ipoib and of what it stands on, ib_core and ib_cm, for --modules."""
    _unpack_source(folder, destination, series, {f"drivers/infiniband/{part}": part for part in ("core", "ulp/ipoib")})
