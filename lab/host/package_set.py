# SPDX-License-Identifier: GPL-2.0-or-later
"""Sets of Debian's packages as layers of the hosts' root: a base that every host has, and what somebody asks for beside it.

A layer is a read-only disk image of what is in the packages, with dpkg's notes on them as if dpkg had just unpacked them.
Their maintainer scripts run later, in a guest (configuration.py). A layer is made once and kept; which packages it needs,
apt says, with the layers below as what is installed.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from packages import Apt, Package, check_room, plan_and_fetch
from squashfs import HostTools
from tools import LabError, UsageError, need_program, run, say, write_whole

# What scripts of maintainers and of users take for granted, and InfiniBand's usual tools.
BASE = ("base-files", "base-passwd", "bash", "coreutils", "dash", "debconf", "debianutils", "diffutils", "dpkg", "findutils",
        "grep", "gzip", "hostname", "init-system-helpers", "libc-bin", "login", "mawk", "ncurses-base", "ncurses-bin",
        "passwd", "adduser", "perl-base", "sed", "systemd-standalone-sysusers", "systemd-standalone-tmpfiles",
        "sysvinit-utils", "tar", "usr-is-merged", "util-linux", "mount", "netbase", "procps", "kmod", "iproute2",
        "iputils-ping", "ibverbs-providers", "ibverbs-utils", "rdmacm-utils")
_FORMAT = "package-set 1"
_MERGED = ("bin", "sbin", "lib", "lib64")
_LEFT_OUT = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info")
_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+")
_KEPT = 24  # sets


@dataclass(frozen=True)
class Layer:
    """What a set has in its folder."""

    folder: Path

    @property
    def image(self) -> Path:
        return self.folder / "image.squashfs"

    @property
    def status(self) -> Path:
        """dpkg's records, those of the layers below not among them."""
        return self.folder / "status"

    @property
    def state(self) -> Path:
        """A tar of what the maintainer scripts have changed, those of the layers below with them."""
        return self.folder / "state.tar"

    @property
    def stamp(self) -> Path:
        return self.folder / "stamp"


def folder_of(build: Path, names: Iterable[str]) -> Path:
    return build / "sets" / hashlib.sha256(" ".join(sorted(set(names))).encode()).hexdigest()[:12]


def check_names(names: Iterable[str]) -> None:
    for name in names:
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name} is no name of a Debian package")


def _unpack_one(deb: Path, root: Path) -> list[str]:
    """The paths of what is in it."""
    left_out = [f"--exclude=./{path}/*" for path in _LEFT_OUT]
    content = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE)
    listed = subprocess.run(["tar", "-xv", "--keep-directory-symlink", "--no-same-owner", "-p", *left_out, "-C", root],
                            stdin=content.stdout, capture_output=True, text=True, errors="replace", check=False)
    if content.stdout is not None:
        content.stdout.close()
    if content.wait() != 0 or listed.returncode != 0:
        raise LabError(f"{deb.name} cannot be unpacked: {listed.stderr.strip()[-500:]}")
    return [line.removeprefix(".").rstrip("/") or "/." for line in listed.stdout.splitlines()]


def _note(deb: Path, package: Package, paths: list[str], root: Path) -> str:
    """What dpkg has in var/lib/dpkg/info of a package, and its record in the status file."""
    control = root / "var/lib/dpkg/control"
    run(["dpkg-deb", "--control", deb, control], f"reading {deb.name}")
    record = (control / "control").read_text(encoding="utf-8").strip()
    conffiles = control / "conffiles"
    is_multiple = re.search(r"^Multi-Arch: same$", record, re.MULTILINE) is not None
    name = f"{package.name}:{package.architecture}" if is_multiple else package.name
    for file in control.iterdir():
        if file.name != "control":
            file.rename(root / f"var/lib/dpkg/info/{name}.{file.name}")
    (root / f"var/lib/dpkg/info/{name}.list").write_text("".join(f"{path}\n" for path in paths), encoding="utf-8")
    shutil.rmtree(control)
    if conffiles.exists():
        raise LabError(f"{conffiles} is still there")
    return re.sub(r"^(Package: .*)$", r"\1\nStatus: install ok unpacked", record, count=1, flags=re.MULTILINE) + "\n\n"


def _unpack(packages: list[Package], debs: Path, root: Path) -> str:
    """Below the root; returns dpkg's records."""
    for folder in ("usr", "var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers", "var/lib/dpkg/alternatives",
                   "var/lib/dpkg/parts"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for name in _MERGED:
        (root / "usr" / name).mkdir(exist_ok=True)
        (root / name).symlink_to(f"usr/{name}")
    records = ""
    for package in packages:
        deb = debs / package.file_name
        records += _note(deb, package, _unpack_one(deb, root), root)
    return records


def _make(folder: Path, packages: list[Package], debs: Path, tools: HostTools, stamp: str) -> Layer:
    layer, root = Layer(folder), folder / "root"
    say(f"making an image of {len(packages)} packages")
    shutil.rmtree(folder, ignore_errors=True)
    root.mkdir(parents=True)
    records = _unpack(packages, debs, root)
    (root / "usr/share/base-passwd").mkdir(parents=True, exist_ok=True)
    for kind in ("passwd", "group"):
        master = root / f"usr/share/base-passwd/{kind}.master"
        if master.is_file():
            shutil.copyfile(master, root / f"etc/{kind}")
    tools.image(root, layer.image)
    write_whole(layer.status, records)
    write_whole(layer.stamp, stamp)
    shutil.rmtree(root, ignore_errors=True)
    return layer


def prepare(build: Path, tools: HostTools, names: Iterable[str], below: Layer | None = None, refresh: bool = False) -> Layer:
    """The layer of these packages and of what they depend on, as far as the one below does not have it."""
    names = sorted(set(names))
    check_names(names)
    layer = Layer(folder_of(build, names))
    begin = f"{_FORMAT}\n{' '.join(names)}\n{below.stamp.read_text(encoding='utf-8') if below else ''}"
    if not refresh and layer.image.is_file() and layer.stamp.is_file() and \
            layer.stamp.read_text(encoding="utf-8").startswith(begin):
        layer.folder.touch()
        return layer
    for program in ("apt-get", "apt-cache", "dpkg-deb", "tar"):
        need_program(program)
    debs = build / "sets/debs"
    debs.mkdir(parents=True, exist_ok=True)
    installed = build / "sets/installed"
    write_whole(installed, below.status.read_text(encoding="utf-8").replace("install ok unpacked", "install ok installed")
                if below else "")

    def plan(apt: Apt) -> list[Package]:
        chosen = apt.install(names, installed)
        check_room(chosen, build, copies=2)  # unpacked, and the image
        return chosen

    wanted = plan_and_fetch(Apt(build / "packages/apt"), plan, debs, refresh)
    stamp = begin + "".join(f"{p.name} {p.version} {p.sha256}\n" for p in wanted)
    if not (layer.stamp.is_file() and layer.stamp.read_text(encoding="utf-8") == stamp):
        _make(layer.folder, wanted, debs, tools, stamp)
    shutil.rmtree(debs, ignore_errors=True)
    _forget_old(build)
    return layer


def forget(build: Path) -> None:
    """All sets: the next ones are made of what Debian has then."""
    shutil.rmtree(build / "sets", ignore_errors=True)


def _forget_old(build: Path) -> None:
    sets = sorted((p for p in (build / "sets").iterdir() if (p / "stamp").is_file()), key=lambda p: p.stat().st_mtime)
    for old in sets[:-_KEPT]:
        shutil.rmtree(old, ignore_errors=True)
