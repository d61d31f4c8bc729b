# SPDX-License-Identifier: GPL-2.0-or-later
"""Read-only disk images of folders, and tables of a kernel's modules, by programs that are unpacked and not installed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import packages
from tools import LabError, run

_PACKAGES = ("squashfs-tools", "kmod")
_LIBRARIES = ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu")


class HostTools:
    """mksquashfs and depmod, of Debian's packages."""

    def __init__(self, folder: Path) -> None:
        self._root = packages.prepare_tools(folder, _PACKAGES)

    def _program(self, name: str) -> Path:
        for folder in ("usr/bin", "usr/sbin", "sbin", "bin"):
            path = self._root / folder / name
            if path.is_file():
                return path
        raise LabError(f"{name} is in none of the packages in {self._root}: remove that folder")

    def _environment(self) -> dict[str, str]:
        return {"LD_LIBRARY_PATH": ":".join(str(self._root / folder) for folder in _LIBRARIES)}

    def image(self, folder: Path, path: Path) -> None:
        """A squashfs of the folder, all of it root's. Nothing is compressed: the guest's processors are slow."""
        temporary = path.with_name(f".{path.name}.new")
        temporary.unlink(missing_ok=True)
        try:
            run([self._program("mksquashfs"), folder, temporary, "-all-root", "-noI", "-noD", "-noF", "-noX",
                 "-no-progress", "-no-xattrs", "-quiet"], f"making {path.name}", env=self._environment())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)

    def index_modules(self, folder: Path, release: str) -> None:
        """Tables for modprobe, beside the modules in lib/modules/RELEASE below the folder."""
        # depmod is kmod by another name.
        link = folder.parent / "depmod"
        shutil.rmtree(link, ignore_errors=True)
        link.unlink(missing_ok=True)
        link.symlink_to(self._program("kmod"))
        try:
            run([link, "-b", folder, release], "indexing the kernel's modules", env=self._environment())
        finally:
            link.unlink()
