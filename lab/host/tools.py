# SPDX-License-Identifier: GPL-2.0-or-later
"""What every part of the lab's host side needs: errors with words for a person, commands, files written whole."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from output_path import output_folder

HINT = "; what the lab needs, scripts/setup lab or the package ipoib-conformance-lab installs"


class LabError(Exception):
    """Something that the user can do something about; its text is all that is printed."""


class UsageError(LabError):
    """What was asked for makes no sense: exit code 2."""


# What the runner of a job obeys in its log: base/job_log.hpp does the same.
_BETWEEN = r"[\x80-\U0010ffff]*"
_OBEYED = re.compile(rf"(?:^|(?<=\r))([\s\x80-\U0010ffff]*):(?={_BETWEEN}:)|#(?={_BETWEEN}#[a-z\x80-\U0010ffff]*\[)",
                     re.ASCII | re.IGNORECASE | re.MULTILINE)


def without_commands(text: str) -> str:
    """The text with what begins a command of a CI runner written visibly, by number."""
    return _OBEYED.sub(lambda found: "\\x23" if found[0] == "#" else f"{found[1]}\\x3a", text)


def say(text: str) -> None:
    """Progress goes to standard error: standard output belongs to the command that runs."""
    print(without_commands(f"lab: {text}"), file=sys.stderr, flush=True)


def need_program(name: str) -> str:
    """The path of a program of this machine."""
    path = shutil.which(name)
    if path is None:
        raise LabError(f"{name} is not installed{HINT}")
    return path


def run(command: Sequence[str | Path], what: str, *, cwd: Path | None = None, timeout: float = 600,
        env: dict[str, str] | None = None) -> str:
    """Runs a command to its end and returns its standard output; `what` names it in the error."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, cwd=cwd, env={**os.environ, "LC_ALL": "C", **(env or {})}, timeout=timeout,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
    except FileNotFoundError as problem:
        raise LabError(f"{what}: {words[0]} is not installed{HINT}") from problem
    except subprocess.TimeoutExpired as problem:
        raise LabError(f"{what}: no end after {timeout:.0f} s: {' '.join(words)}") from problem
    if done.returncode != 0:
        raise LabError(f"{what} failed: {' '.join(words)}\n{last_lines(done.stdout + done.stderr, 25)}")
    return done.stdout


def last_lines(text: str, count: int) -> str:
    return "\n".join(text.rstrip().splitlines()[-count:])


def write_whole(path: Path, content: bytes | str) -> None:
    """Nobody sees half a file, not even after a power cut of this process."""
    data = content.encode() if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with output_folder(path.parent) as folder:
            _replace(folder, path.name, data)
    except OSError as problem:
        raise LabError(f"{path} cannot be written: {problem.strerror}") from problem


def _replace(folder: int, name: str, data: bytes) -> None:
    temporary = f".{name}.{secrets.token_hex(8)}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            os.fchmod(file.fileno(), 0o644)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(temporary, dir_fd=folder)
        raise


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One builder at a time: a second run of the lab waits here for the first one's packages and modules."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
