# SPDX-License-Identifier: GPL-2.0-or-later
"""A folder for sockets and consoles that goes away with this process, however that ends."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType

_LONGEST_SOCKET_PATH = 107

# Waits for the end of its input, which is the end of whoever holds the other end, SIGKILL included.
_REMOVE_AT_END = 'trap "" HUP INT TERM; read -r _; rm -rf -- "$1"'


class PrivateFolder:
    """Use it with `with`. Only this user can look into it."""

    def __init__(self, keep: bool = False) -> None:
        self._keep = keep
        base = os.environ.get("TMPDIR", "/tmp")
        # The paths of Unix sockets are short.
        if len(base) + len("/ipoib-lab-12345678/uplink-and-more") > _LONGEST_SOCKET_PATH:
            base = "/tmp"
        self.path = Path(tempfile.mkdtemp(prefix="ipoib-lab-", dir=base))
        self._guardian: subprocess.Popen[bytes] | None = None
        if not keep:
            self._guardian = subprocess.Popen(["/bin/sh", "-c", _REMOVE_AT_END, "sh", str(self.path)],
                                              stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                              stderr=subprocess.DEVNULL, start_new_session=True)

    def __enter__(self) -> PrivateFolder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        if self._keep:
            return
        shutil.rmtree(self.path, ignore_errors=True)
        if self._guardian is not None and self._guardian.stdin is not None:
            self._guardian.stdin.close()
            self._guardian.wait()
            self._guardian = None
