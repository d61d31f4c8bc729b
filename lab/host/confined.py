# SPDX-License-Identifier: GPL-2.0-or-later
"""What QEMU gets, and no more: descriptors instead of paths, and, where root calls the lab, a user of its own."""

from __future__ import annotations

import ctypes
import os
import pwd
import random
import shutil
import socket
import stat
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from tools import LabError

SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"
_KVM = Path("/dev/kvm")
# Those that systemd gives to services which need a user while they run: nobody owns a file as one of them.
_PASSING_USERS = range(61184, 65520)
_CAP_SETGID, _CAP_SETUID = 6, 7
_PR_CAPBSET_DROP = 24
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class User:
    """A user and a group of the same number, which have no name and nothing else that runs."""

    number: int
    groups: tuple[int, ...] = ()
    group: int | None = None  # if it is another one


def _can_become(number: int) -> bool:
    """Root of a container may have neither the right nor the number."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
                  .splitlines() if ":" in line)
    held = int(status["CapEff"], 16)
    if not (held >> _CAP_SETGID & 1 and held >> _CAP_SETUID & 1):
        return False
    for kind in ("uid", "gid"):
        rows = [tuple(map(int, row.split()))
                for row in Path(f"/proc/self/{kind}_map").read_text(encoding="ascii").splitlines()]
        if not any(first <= number < first + count for first, _, count in rows):
            return False
    groups = Path("/proc/self/setgroups")
    return not groups.is_file() or groups.read_text(encoding="ascii").strip() == "allow"


def _is_taken(number: int) -> bool:
    try:
        pwd.getpwuid(number)
    except KeyError:
        return False
    return True


def user_for_qemu(is_kvm: bool) -> User | None:
    """None: QEMU is who calls the lab. Root lends it a user, unless root of this container cannot, or root alone may use
    KVM."""
    if os.geteuid() != 0:
        return None
    number = next((one for one in random.SystemRandom().sample(_PASSING_USERS, 100) if not _is_taken(one)), None)
    if number is None or not _can_become(number):
        return None
    if not is_kvm:
        return User(number)
    device = _KVM.stat()
    if device.st_mode & (stat.S_IROTH | stat.S_IWOTH) == stat.S_IROTH | stat.S_IWOTH:
        return User(number)
    if device.st_gid != 0 and device.st_mode & (stat.S_IRGRP | stat.S_IWGRP) == stat.S_IRGRP | stat.S_IWGRP:
        return User(number, (device.st_gid,))
    return None


def owner_for_qemu(folder: Path) -> User | None:
    """Who QEMU is to be, so that it reads and writes the folder as its owner would. None: who calls the lab."""
    state = folder.stat()
    if os.geteuid() != 0 or state.st_uid == 0:
        return None
    return User(state.st_uid, (), state.st_gid)


def give_up_capabilities() -> None:
    """For root's child between fork and exec: what it starts is root by its number only."""
    if os.geteuid() == 0:
        for capability in range(64):
            _LIBC.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


def is_within_reach(path: Path) -> bool:
    """Whether a lent user can go to the folder of this path, which alone is lent to it. A temporary folder of root's own
    may be closed to everybody else."""
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in path.absolute().parent.parents)


class Descriptors:
    """What one boot of QEMU is handed, by name. Closed here at the end of the block; QEMU has them then."""

    def __init__(self, user: User | None) -> None:
        self._user = user
        self._open = ExitStack()
        self.numbers: dict[str, int] = {}

    def __enter__(self) -> Descriptors:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._open.close()

    def read(self, name: str, path: Path) -> None:
        """A file that QEMU opens once more, by its number: so it must be allowed to, wherever the file is."""
        file = self._open.enter_context(open(path, "rb"))
        if self._user is not None and not os.fstat(file.fileno()).st_mode & stat.S_IROTH:
            copy = self._open.enter_context(os.fdopen(os.memfd_create(name), "w+b"))
            shutil.copyfileobj(file, copy)
            copy.flush()
            os.fchown(copy.fileno(), self._user.number, self._user.number)
            file = copy
        self.numbers[name] = file.fileno()

    def write(self, name: str, path: Path) -> None:
        """A new file."""
        self.numbers[name] = self._open.enter_context(open(path, "xb")).fileno()

    def lend(self, name: str, path: Path, is_written: bool) -> None:
        """A file that QEMU uses as it is open here, so that it need not be allowed to open it."""
        self.numbers[name] = self._open.enter_context(open(path, "r+b" if is_written else "rb")).fileno()

    def connect(self, name: str) -> socket.socket:
        """The other end of a connection that has no path."""
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.numbers[name] = self._open.enter_context(there).fileno()
        return here

    def listen(self, names: Iterable[str], folder: Path) -> None:
        """Sockets in the folder that a client may connect to from now on."""
        for name in names:
            one = self._open.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            path = folder / name
            path.unlink(missing_ok=True)
            try:
                one.bind(str(path))
                one.listen(1)
            except OSError as problem:
                raise LabError(f"{path}: {problem}") from problem
            self.numbers[name] = one.fileno()


def lend(path: Path, user: User | None) -> None:
    """A socket of another program, once it is there: that this user may connect to it."""
    if user is None:
        return
    folder = path.parent
    try:
        if path.lstat().st_uid == user.number or not stat.S_ISSOCK(path.lstat().st_mode):
            return
        # To go through the folder, not to look into it.
        os.chown(folder, -1, user.number)
        os.chmod(folder, 0o710)
        os.chown(path, user.number, -1, follow_symlinks=False)
    except FileNotFoundError:
        return
