# SPDX-License-Identifier: GPL-2.0-or-later
"""The few things that the lab asks of 64-bit little-endian ELF files; none of them is ever executed to find out."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from tools import LabError

_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NEEDED, _DT_STRTAB = 1, 5


@dataclass(frozen=True)
class _Segment:
    kind: int
    offset: int
    address: int
    size: int


def is_elf(data: bytes) -> bool:
    return data[:6] == b"\x7fELF\x02\x01"


def _header(data: bytes, name: str) -> tuple[int, ...]:
    if not is_elf(data) or len(data) < 64:
        raise LabError(f"{name} is not a 64-bit little-endian ELF file")
    return struct.unpack_from("<HHIQQQIHHHHHH", data, 16)


def _segments(data: bytes, name: str) -> list[_Segment]:
    header = _header(data, name)
    table, entry_size, count = header[4], header[8], header[9]
    result = []
    for index in range(count):
        at = table + index * entry_size
        if at + 56 > len(data):
            raise LabError(f"{name}: its program headers are cut off")
        kind, _, offset, address, _, size = struct.unpack_from("<IIQQQQ", data, at)
        result.append(_Segment(kind, offset, address, size))
    return result


def _text_at(data: bytes, offset: int) -> str:
    end = data.find(b"\0", offset)
    return data[offset:end].decode("utf-8", "replace") if 0 <= offset < end else ""


def needed_libraries(data: bytes, name: str) -> list[str]:
    """The sonames that a program or library wants, in its own order; a static one wants none."""
    segments = _segments(data, name)
    dynamic = next((s for s in segments if s.kind == _PT_DYNAMIC), None)
    if dynamic is None:
        return []
    wanted, strings = [], 0
    for at in range(dynamic.offset, min(dynamic.offset + dynamic.size, len(data)) - 15, 16):
        tag, value = struct.unpack_from("<QQ", data, at)
        if tag == _DT_NEEDED:
            wanted.append(value)
        elif tag == _DT_STRTAB:
            strings = value
    base = next((s.offset - s.address + strings for s in segments
                 if s.kind == _PT_LOAD and s.address <= strings < s.address + s.size), None)
    if base is None:
        raise LabError(f"{name}: its dynamic string table is nowhere")
    return [_text_at(data, base + value) for value in wanted]


def interpreter(data: bytes, name: str) -> str | None:
    """The path of the program loader, "/lib64/ld-linux-x86-64.so.2"; None for a library or a static program."""
    for segment in _segments(data, name):
        if segment.kind == _PT_INTERP:
            return _text_at(data, segment.offset)
    return None


def module_info(data: bytes, name: str) -> dict[str, str]:
    """The last value of each key in a kernel module's .modinfo: depends, vermagic, name ..."""
    header = _header(data, name)
    table, entry_size, count, names_index = header[5], header[10], header[11], header[12]
    if table + count * entry_size > len(data) or names_index >= count:
        raise LabError(f"{name}: its section headers are cut off")

    def section(index: int) -> tuple[int, int, int]:
        kind_name, _, _, _, offset, size = struct.unpack_from("<IIQQQQ", data, table + index * entry_size)
        return kind_name, offset, size

    _, names, _ = section(names_index)
    for index in range(count):
        section_name, offset, size = section(index)
        if _text_at(data, names + section_name) != ".modinfo":
            continue
        entries = data[offset:offset + size].split(b"\0")
        return dict(entry.decode("utf-8", "replace").split("=", 1) for entry in entries if b"=" in entry)
    raise LabError(f"{name} is not a kernel module: it has no .modinfo")
