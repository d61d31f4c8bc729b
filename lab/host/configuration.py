# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the maintainer scripts of a set of packages, in a guest: users, folders and alternatives are what Debian makes them,
and nothing of that needs root here. What they have changed is kept beside the set's image."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from machine import Disk, Guest, Machine
from package_set import Layer
from private_folder import PrivateFolder
from tools import LabError, last_lines, say

_ROOM = 1 << 30  # octets of a sparse file
_LIMIT = 600.0  # s
_MEMORY = 512  # MiB
_SAID = "LAB-CONFIGURE "


def job_disk(path: Path, files: Mapping[str, tuple[bytes, int]]) -> Disk:
    """What the guest is to do: a tar of files by name, each with its content and permissions."""
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
        for name, (content, permissions) in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), permissions
            tar.addfile(entry, io.BytesIO(content))
    return Disk("job", path)


def layer_disks(modules: Path, base: Layer, layer: Layer) -> list[Disk]:
    disks = [Disk("modules", modules), Disk("base", base.image)]
    return disks if layer == base else [*disks, Disk("set", layer.image)]


def configure(guest: Guest, modules: Path, base: Layer, layer: Layer) -> None:
    """Makes layer.state. A base other than the layer has its state already."""
    say("running the packages' maintainer scripts, once")
    lines: list[str] = []
    codes: list[str] = []

    def take(line: str) -> None:
        if line.startswith(_SAID):
            lines.append(line.removeprefix(_SAID))
        elif line.startswith("LAB-JOB rc="):
            codes.append(line.removeprefix("LAB-JOB rc=").strip())

    with PrivateFolder() as folder:
        result = folder.path / "result"
        with open(result, "wb") as file:
            file.truncate(_ROOM)
        disks = [*layer_disks(modules, base, layer), Disk("result", result, is_written=True),
                 job_disk(folder.path / "job", {"status": (layer.status.read_bytes(), 0o644)})]
        if layer != base:
            disks.append(Disk("state", base.state))
        machine = Machine(replace(guest, parameters={"mode": "configuration"}, ports=(), disks=tuple(disks),
                                  memory=max(guest.memory, _MEMORY)), folder.path)
        machine.on_line = take
        try:
            machine.start()
            machine.wait_ready()
            machine.wait_end(_LIMIT)
        finally:
            machine.kill()
        if not codes or codes[0] == "125":
            raise LabError(f"the packages could not be configured\n{machine.death()}")
        if codes[0] != "0":
            say(f"a maintainer script failed; the packages are used as they are\n{last_lines(chr(10).join(lines), 15)}")
        _keep(result, layer.state)


def _keep(result: Path, state: Path) -> None:
    """Of the disk, what the archive has of it."""
    with tarfile.open(result, "r:") as tar:
        for _ in tar:
            pass
        end = tar.offset
    temporary = state.with_name(".state.new")
    with open(result, "rb") as source, open(temporary, "wb") as target:
        left = end + 2 * tarfile.BLOCKSIZE
        while left > 0 and (data := source.read(min(left, 1 << 20))):
            target.write(data)
            left -= len(data)
    os.replace(temporary, state)
