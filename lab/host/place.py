# SPDX-License-Identifier: GPL-2.0-or-later
"""Where this lab is: in a source tree, as scripts/lab, or installed, as ipoib-lab."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tools import LabError

SOURCE = Path(__file__).resolve().parents[2]
# PREFIX/share/ipoib-conformance, with a file that a source tree has not.
_VERSION = SOURCE / "version"
IS_INSTALLED = _VERSION.is_file()
_PREFIX = SOURCE.parents[1]

COMMAND = "ipoib-lab" if IS_INSTALLED else "scripts/lab"
PROGRAMS = _PREFIX / "bin" if IS_INSTALLED else SOURCE / "build/release"
PROGRAMS_WORDS = "those installed with this" if IS_INSTALLED else "build/release, which is built if there is none"
BUILD_WORDS = "ipoib-lab in $XDG_CACHE_HOME, or in ~/.cache" if IS_INSTALLED else "build/lab"
REPORT = Path("linux-ipoib.md") if IS_INSTALLED else SOURCE / "docs/linux-ipoib.md"


def version() -> str:
    if IS_INSTALLED:
        return _VERSION.read_text(encoding="utf-8").strip()
    match = re.search(r"project\([\w-]+ VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8"))
    return match[1] if match else "unknown"


def build_folder() -> Path:
    """Where packages, modules and images are kept, unless --build says otherwise. An installation is never written to."""
    if not IS_INSTALLED:
        return SOURCE / "build/lab"
    for variable, rest in (("XDG_CACHE_HOME", "ipoib-lab"), ("HOME", ".cache/ipoib-lab")):
        value = os.environ.get(variable, "")
        if os.path.isabs(value):
            return Path(value) / rest
    raise LabError("neither XDG_CACHE_HOME nor HOME is a folder; --build names one for what the lab fetches and builds")
