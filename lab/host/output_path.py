# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a file that is to be written will be, as base/output_path.hpp finds it: through no link that others may have made."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MOST_LINKS = 40
_TO_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC


_OUTSIDE = 65534  # who has no number in this user namespace, the host's root among them


def _is_outside(owner: int) -> bool:
    rows = [tuple(map(int, row.split())) for row in Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()]
    return owner == _OUTSIDE and not any(first <= owner < first + count for first, _, count in rows)


def _others_can_write(folder: int) -> bool:
    state, user = os.fstat(folder), os.geteuid()
    is_ours = state.st_uid in {0, user} or _is_outside(state.st_uid)
    is_own_group = state.st_gid in {0, user} and state.st_gid in {0, os.getegid()}
    return not is_ours or bool(state.st_mode & stat.S_IWOTH) or (bool(state.st_mode & stat.S_IWGRP) and not is_own_group)


def _is_in_proc(folder: int) -> bool:
    return os.readlink(f"/proc/self/fd/{folder}").startswith("/proc/")


class _Walk:
    def __init__(self) -> None:
        self.folder = os.open(".", _TO_FOLDER)
        self.is_descriptor = False

    def enter(self, name: str, flags: int) -> None:
        found = os.open(name, _TO_FOLDER | flags, dir_fd=self.folder)
        os.close(self.folder)
        self.folder = found

    def go(self, path: str) -> str:
        """The name at the end, in the folder."""
        rest, links = [path], 0
        while rest:
            text = rest.pop()
            if text.startswith("/"):
                self.enter("/", 0)
            first, _, more = text.lstrip("/").partition("/")
            if more:
                rest.append(more.lstrip("/") or ".")
            try:
                is_link = stat.S_ISLNK(os.stat(first or ".", dir_fd=self.folder, follow_symlinks=False).st_mode)
            except FileNotFoundError:
                is_link = False
            self.is_descriptor = is_link and not rest and _is_in_proc(self.folder)
            if self.is_descriptor or not (is_link or rest):
                return first or "."
            if not is_link or _is_in_proc(self.folder):
                self.enter(first or ".", 0 if is_link else os.O_NOFOLLOW)
                continue
            links += 1
            if links > _MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            if _others_can_write(self.folder):
                raise OSError(errno.ELOOP, f"{first} is a symbolic link in a folder that others can write")
            rest.append(os.readlink(first, dir_fd=self.folder))
        return "."


@contextmanager
def output_folder(path: Path) -> Iterator[int]:
    """The folder, held open."""
    walk = _Walk()
    try:
        walk.go(f"{path}/.")
        yield walk.folder
    finally:
        os.close(walk.folder)


def open_output(path: Path) -> int:
    """A descriptor of the file, made or emptied. OSError, with a reason, as open()."""
    walk = _Walk()
    try:
        name = walk.go(str(path))
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | (0 if walk.is_descriptor else os.O_NOFOLLOW)
        return os.open(name, flags, 0o666, dir_fd=walk.folder)
    finally:
        os.close(walk.folder)
