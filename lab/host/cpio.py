# SPDX-License-Identifier: GPL-2.0-or-later
"""An initramfs in cpio's "newc" format, which is the one that the kernel reads. The same entries give the same octets."""

from __future__ import annotations

import stat
from dataclasses import dataclass

_TRAILER = "TRAILER!!!"


@dataclass(frozen=True)
class Entry:
    """A file of the archive; `content` is a link's target where the mode says link."""

    path: str
    mode: int
    content: bytes = b""
    device: tuple[int, int] = (0, 0)


def folder(path: str, permissions: int = 0o755) -> Entry:
    return Entry(path, stat.S_IFDIR | permissions)


def file(path: str, content: bytes, permissions: int = 0o644) -> Entry:
    return Entry(path, stat.S_IFREG | permissions, content)


def link(path: str, target: str) -> Entry:
    return Entry(path, stat.S_IFLNK | 0o777, target.encode())


def character_device(path: str, major: int, minor: int, permissions: int = 0o600) -> Entry:
    return Entry(path, stat.S_IFCHR | permissions, b"", (major, minor))


def _record(number: int, entry: Entry) -> bytes:
    name = entry.path.encode() + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    fields = (number, entry.mode, 0, 0, links, 0, len(entry.content), 0, 0, *entry.device, len(name), 0)
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + name
    return head + bytes(-len(head) % 4) + entry.content + bytes(-len(entry.content) % 4)


def archive(entries: list[Entry]) -> bytes:
    """All entries in the order of their paths, so that folders come before what is in them; owner root, time zero."""
    by_path: dict[str, Entry] = {}
    for entry in entries:
        if entry.path.startswith("/") or not entry.path:
            raise ValueError(f"not a path inside the archive: {entry.path!r}")
        if by_path.setdefault(entry.path, entry) != entry:
            raise ValueError(f"{entry.path} is there twice, and not the same")
    parents = {"/".join(path.split("/")[:depth]) for path in by_path for depth in range(1, path.count("/") + 1)}
    for parent in parents - by_path.keys():
        by_path[parent] = folder(parent)
    records = [_record(number, by_path[path]) for number, path in enumerate(sorted(by_path), 1)]
    records.append(_record(0, Entry(_TRAILER, 0)))
    return b"".join(records)
