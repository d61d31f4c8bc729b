# SPDX-License-Identifier: GPL-2.0-or-later
"""The program under test, as the tests call it."""
import ctypes
import fcntl
import os
import pty
import signal
import struct
import subprocess
import tempfile
import termios
import unittest
from pathlib import Path

PROGRAM = str(Path(os.environ["IPOIB_CONFORM"]).resolve())
IS_SANITIZED = b"__asan_init" in Path(PROGRAM).read_bytes()  # ten times slower, three times larger
SOURCE = Path(os.environ["IPOIB_SOURCE_DIR"]).resolve()
CAPTURES = SOURCE / "captures"


def conform(*arguments, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("timeout", 240 if IS_SANITIZED else 60)
    return subprocess.run([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          **options)


def drawn_at_terminal(*arguments, stream="stderr", width=0, program=PROGRAM):
    """The exit code of a command one of whose streams is a terminal, so wide if that is told, and what that was shown."""
    ours, theirs = pty.openpty()
    if width:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    try:
        with subprocess.Popen([program, *map(str, arguments)], stdin=subprocess.DEVNULL,
                              **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: theirs}) as child:
            os.close(theirs)
            drawn = b""
            try:
                while part := os.read(ours, 65536):
                    drawn += part
            except OSError:  # the terminal's other side is closed
                pass
            return child.wait(timeout=60), drawn
    finally:
        os.close(ours)


def sa_answer(attribute, record):
    """A frame without CRCs: GetResp of an attribute by number, whose record begins with octets in hex."""
    headers = "0012 0002 0048 0001  64 00 ffff 00 000001 00 000000  80010000 00 000001"
    mad = f"01 03 02 81 0000 0000 0000000000000001 {attribute:04x} 0000 00000000"
    return bytes.fromhex(headers + mad + "00" * 32 + record).ljust(284, b"\0")


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
