# SPDX-License-Identifier: GPL-2.0-or-later
"""A folder for sockets and consoles that goes away with this process, however that ends."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from tools import LabError

_LONGEST_SOCKET_PATH = 107

# Waits for the end of its input, which is the end of whoever holds the other end, SIGKILL included.
_REMOVE_AT_END = """\
trap "" HUP INT TERM
read -r _
folder=$1
shift
for link; do case $(readlink -- "$link") in "$folder"/*) rm -f -- "$link" ;; esac; done
rm -rf -- "$folder\""""


class PrivateFolder:
    """Use it with `with`. Only this user can look into it. Of the paths that `links` names, those that `link` makes go
    away with it."""

    def __init__(self, keep: bool = False, links: Sequence[Path] = ()) -> None:
        self._keep = keep
        self._links = [path.absolute() for path in links]
        base = os.environ.get("TMPDIR", "/tmp")
        # The paths of Unix sockets are short.
        if len(base) + len("/ipoib-lab-12345678/uplink-and-more") > _LONGEST_SOCKET_PATH:
            base = "/tmp"
        self.path = Path(tempfile.mkdtemp(prefix="ipoib-lab-", dir=base))
        self._guardian: subprocess.Popen[bytes] | None = None
        if not keep:
            self._guardian = subprocess.Popen(["/bin/sh", "-c", _REMOVE_AT_END, "sh", str(self.path),
                                               *map(str, self._links)],
                                              stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                              stderr=subprocess.DEVNULL, start_new_session=True)

    def __enter__(self) -> PrivateFolder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def link(self, path: Path, name: str) -> None:
        """Makes what is in here under a name be seen at a path, which nothing is at yet."""
        try:
            path.absolute().symlink_to(self.path / name)
        except OSError as problem:
            raise LabError(f"{path} cannot be made: {problem.strerror}") from problem

    def _remove_links(self) -> None:
        for path in self._links:
            if path.is_symlink() and path.readlink().parent == self.path:
                path.unlink(missing_ok=True)

    def close(self) -> None:
        self._remove_links()
        if self._keep:
            return
        shutil.rmtree(self.path, ignore_errors=True)
        if self._guardian is not None and self._guardian.stdin is not None:
            self._guardian.stdin.close()
            self._guardian.wait()
            self._guardian = None
