# SPDX-License-Identifier: GPL-2.0-or-later
"""What a program or a plugin lacks of what hardens it, as its ELF file tells."""
import functools
import platform
import re
import subprocess
from pathlib import Path

ENDBR64 = b"\xf3\x0f\x1e\xfa"  # where an indirect branch may land
STARTUP_MARKS = 20  # more than the C library's own start and end have


def _readelf(option, path):
    return subprocess.run(["readelf", option, "-W", path], stdout=subprocess.PIPE, text=True, check=True,
                          timeout=60).stdout


def _is_marked(path):
    return re.search(r"x86 feature:.*IBT.*SHSTK", _readelf("-n", path)) is not None


@functools.cache
def _is_start_marked():
    """A linker announces CET where every object has it. Debian 12's C library starts a program by two that have not."""
    found = [subprocess.run(["cc", f"-print-file-name={name}"], stdout=subprocess.PIPE, text=True, check=True,
                            timeout=60).stdout.strip() for name in ("Scrt1.o", "crti.o", "crtn.o")]
    return all(map(_is_marked, found))


def elf_files(folder):
    """All below the folder that are linked: programs and shared libraries."""
    found = []
    for path in sorted(Path(folder).rglob("*")):
        if path.is_file() and not path.is_symlink():
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF" and "(Relocatable" not in _readelf("-h", path):
                    found.append(path)
    return found


def weaknesses(path):
    """In words; empty where there is none. What its compiler was told is more than a linked file shows: the stack clash
    is not to be seen in it, and a small program may have nothing that FORTIFY could check."""
    missing = []
    dynamic, segments, symbols = _readelf("-d", path), _readelf("-l", path), _readelf("--dyn-syms", path)
    if "DYN (" not in _readelf("-h", path):
        missing.append("it is at a fixed address")
    if "INTERP" in segments and not re.search(r"\(FLAGS_1\).*\bPIE\b", dynamic):
        missing.append("it is not position-independent (PIE)")
    if "GNU_RELRO" not in segments:
        missing.append("no RELRO")
    if not re.search(r"\(FLAGS(_1)?\).*\bNOW\b|BIND_NOW", dynamic):
        missing.append("RELRO is partial: it does not bind at the start")
    stack = re.search(r"GNU_STACK .* ([R ][W ][E ]) 0x", segments)
    if not stack or "E" in stack[1]:
        missing.append("its stack can be executed")
    if re.search(r"LOAD .* RWE 0x", segments):
        missing.append("it has memory that can be written and executed")
    if "TEXTREL" in dynamic:
        missing.append("its code is written to when it is loaded")
    if not re.search(r" UND __stack_chk_fail\b", symbols):
        missing.append("no stack protector")
    if platform.machine() == "x86_64":
        if Path(path).read_bytes().count(ENDBR64) <= STARTUP_MARKS:
            missing.append("no marks for indirect branches (CET)")
        if _is_start_marked() and not _is_marked(path):
            missing.append("CET is not announced")
    return missing


def is_fortified(path):
    """Whether it calls a function of the C library that checks sizes."""
    return re.search(r" UND __(?!stack)\w+_chk\b", _readelf("--dyn-syms", path)) is not None
