# SPDX-License-Identifier: GPL-2.0-or-later
"""The program under test, as the tests call it."""
import ctypes
import os
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

PROGRAM = str(Path(os.environ["IPOIB_CONFORM"]).resolve())
SOURCE = Path(os.environ["IPOIB_SOURCE_DIR"]).resolve()
CAPTURES = SOURCE / "captures"


def conform(*arguments, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("timeout", 60)
    return subprocess.run([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          **options)


def die_with_parent():
    """For a child between fork and exec: it ends with this program, on every way out, also by SIGKILL."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ipoib-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return path
