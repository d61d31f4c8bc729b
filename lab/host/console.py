# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest writes to its console: lines that init prints for the host, and a kernel's last words."""

from __future__ import annotations

import re
from pathlib import Path

_LARGEST = 64 << 20
_READ_AT_ONCE = 1 << 20
_MOST_FAULTS = 20
_LONGEST_FAULT = 500
_LONGEST_TRACE = 80  # lines

_PANIC = re.compile(r"Kernel panic - not syncing|---\[ end Kernel panic")
_FAULT = re.compile(r"Kernel panic|BUG: |BUG at|WARNING: |Oops: |Oops\b.*#|general protection fault|KASAN: |UBSAN: "
                    r"|unable to handle|Unable to handle|^RIP: |^BUG \S+ \(|^(Allocated|Freed) in |\bRIP: 0010:"
                    r"|soft lockup|hard LOCKUP|Out of memory|"
                    r"INFO: (task|rcu)|possible .* detected|unregister_netdevice: waiting")
# Known of rdmavt's own code, whoever uses it: a warning of FORTIFY in qp.c.
_ALLOWED = re.compile(r"WARNING: CPU: .* at drivers/infiniband/sw/rdmavt/qp\.c:")
_LOCKUP = re.compile(r"soft lockup - CPU#\d+ stuck for (\d+)s!")
_LONGEST_LOCKUP = 60  # s; a host that does not get to its guest makes shorter ones
_STAMP = re.compile(r"^\[ *\d+\.\d+\](\[ *[CT]\d+\])? ?")


def faults_in(text: str) -> list[str]:
    """The lines that tell what went wrong in the kernel, without their time stamps, each once, in their order."""
    faults: dict[str, None] = {}
    is_in_allowed_trace = False
    for line in text.splitlines():
        line = _STAMP.sub("", line.strip("\r\n \0"))
        if _ALLOWED.search(line):
            is_in_allowed_trace = True
        elif line.startswith("---[ end trace"):
            is_in_allowed_trace = False
        elif _FAULT.search(line) and not (is_in_allowed_trace and "RIP: " in line):
            faults[line[:_LONGEST_FAULT]] = None
    return list(faults)[:_MOST_FAULTS]


def trace_of(text: str, fault: str) -> str:
    """The console from a fault's line on, to the end of its trace; without what init says."""
    lines = [_STAMP.sub("", line.strip("\r\n \0")) for line in text.splitlines() if not line.startswith("LAB-")]
    begin = next((number for number, line in enumerate(lines) if line[:_LONGEST_FAULT] == fault), len(lines))
    end = next((number for number in range(begin, len(lines)) if lines[number].startswith("---[ end ")), begin + _LONGEST_TRACE)
    return "\n".join(lines[begin:min(end, begin + _LONGEST_TRACE) + 1])


def has_panicked(text: str) -> bool:
    return _PANIC.search(text) is not None


def is_locked_up(text: str) -> bool:
    """Whether a processor of the guest has run in a circle in its kernel for so long that it will not come back."""
    return any(int(seconds) >= _LONGEST_LOCKUP for seconds in _LOCKUP.findall(text))


class Console:
    """The file that QEMU writes a console to, read as it grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = 0
        self._rest = ""

    def new_lines(self) -> list[str]:
        """Whole lines since the last call."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self._offset)
                data = file.read(_READ_AT_ONCE)
        except FileNotFoundError:
            return []
        self._offset += len(data)
        *lines, self._rest = (self._rest + data.decode("utf-8", "replace")).split("\n")
        self._rest = self._rest[-_READ_AT_ONCE:]
        return [line.rstrip("\r") for line in lines]

    def is_flooded(self) -> bool:
        return self._offset > _LARGEST

    def tail(self, octets: int = 256 << 10) -> str:
        try:
            with open(self.path, "rb") as file:
                file.seek(0, 2)
                file.seek(max(0, file.tell() - octets))
                return file.read().decode("utf-8", "replace").replace("\r", "")
        except FileNotFoundError:
            return ""
