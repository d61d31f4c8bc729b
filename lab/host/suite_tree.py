# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel of another suite of Debian's, in a tree that its modules are built in.

Such a kernel's build programs, and the compiler that it was built with, need a newer libc than this machine has. So the
packages are unpacked into one tree with everything that they depend on, and make runs with that tree as its root: in a
user namespace of its own, or by chroot alone where there are none and root calls. Nothing is installed, and none of the
packages' scripts run.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from packages import Apt, Package, follow, kernel_packages, must_have
from tools import LabError, need_program, run

_PROGRAMS = ("make", "dash", "coreutils", "sed", "grep", "mawk", "findutils", "binutils")
# Packages of the tree have no scripts to run, and so no need of what only those need; sanitizers are not for modules.
_USELESS = re.compile(r"(debconf|perl|linux-base$|debianutils|lib(asan|lsan|tsan|ubsan|hwasan|itm|quadmath|systemd)\d)")
_COMPILER = re.compile(r"(gcc-\d+(-for-host)?|linux-compiler-gcc-\d+-x86)$")
_IS_OWN_ROOT = "lab-tree"  # a file of such trees, which no package has


def plan(apt: Apt, image: str) -> list[Package]:
    """A kernel, and all that a module for it is built by."""
    kernel = kernel_packages(apt, image)
    headers = kernel[image.replace("linux-image-", "linux-headers-", 1)]
    compilers = [name for name in re.findall(r"[a-z0-9][a-z0-9+.-]*", headers.depends) if _COMPILER.match(name)]
    if not compilers:
        raise LabError(f"{headers.name} names no compiler")
    kbuild = [f"{name}={one.version}" for name, one in kernel.items() if name.startswith("linux-kbuild-")]
    programs = (*_PROGRAMS, *compilers, *kbuild)
    tools = follow(apt, programs, re.compile(rf"(?!{_USELESS.pattern})"), frozenset())
    must_have({**tools, **kernel}, (*_PROGRAMS, *compilers))
    return sorted({**tools, **kernel}.values(), key=lambda p: p.name)


def lay_out(root: Path) -> None:
    """What Debian's base-files and the packages' scripts make."""
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    for name in ("dev", "proc", "tmp", "lab"):
        (root / name).mkdir()
    (root / "dev/null").touch()
    (root / "usr/bin/awk").symlink_to("mawk")
    (root / _IS_OWN_ROOT).touch()


def is_tree(root: Path) -> bool:
    return (root / _IS_OWN_ROOT).is_file()


def _namespace(root: Path) -> list[str]:
    """Into the tree with this machine's /dev/null and /proc, which objtool reads; anybody may, where user namespaces are
    allowed."""
    inside = 'mount --bind /dev/null "$0/dev/null" && mount --rbind /proc "$0/proc" && exec chroot "$0" "$@"'
    return [need_program("unshare"), "--map-root-user", "--mount", "sh", "-c", inside, str(root)]


def _plain(root: Path) -> list[str]:
    """Into the tree without any mount, for root of a container, who may only make a device."""
    null, maps = root / "dev/null", root / "proc/self/maps"
    if not stat.S_ISCHR(null.stat().st_mode):
        null.unlink()
        os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        null.chmod(0o666)
    # objtool looks for its stack's limits, to tell an overflow from other faults.
    maps.parent.mkdir(parents=True, exist_ok=True)
    maps.write_text("7ff000000000-7ffffffff000 rw-p 00000000 00:00 0 [stack]\n", encoding="ascii")
    return [need_program("chroot"), str(root)]


def entering(root: Path) -> list[str]:
    """The words in front of a command that is to run in the tree."""
    problems = []
    for way in (_namespace, _plain) if os.geteuid() == 0 else (_namespace,):
        try:
            command = way(root)
            run([*command, "sh", "-c", "echo >/dev/null && cat /proc/self/maps"], "entering it")
            return command
        except (LabError, OSError) as problem:
            problems.append(str(problem))
    raise LabError(f"modules for the kernel in {root} are built in that tree, which only root or a user namespace may "
                   f"enter. Call the lab as root, or allow user namespaces (kernel.unprivileged_userns_clone=1; on Ubuntu "
                   "kernel.apparmor_restrict_unprivileged_userns=0)\n" + "\n".join(problems))
