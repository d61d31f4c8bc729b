# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's modules that programs on the hosts may ask for, as a disk image with modprobe's tables."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

from image import without_debug_information
from kernel import Kernel
from squashfs import HostTools
from tools import say, write_whole

# Networking, file systems and targets over it, and what those are made of; no drivers of hardware, which no host has.
_OF_USE = re.compile(r"(net|crypto|lib|arch/x86/crypto|drivers/nvme|drivers/target|drivers/infiniband/(core|ulp|sw)|"
                     r"drivers/net/(bonding|team|ipvlan|vxlan|wireguard)|fs/(nfs|nfsd|nfs_common|lockd|fuse|netfs))/.*\.ko[^/]*|"
                     r"drivers/(net|block|scsi)/[^/]*\.ko[^/]*")
_OF_NO_USE = re.compile(r"net/(wireless|mac80211|bluetooth|can|nfc|ieee802154|mac802154|atm|ax25|hamradio)/")
_TABLES = ("modules.builtin", "modules.builtin.modinfo", "modules.order")


def _place(path: Path, kernel: Kernel) -> str | None:
    """Where a module is below the kernel's own folder, if it is one of those."""
    _, sign, place = str(path).partition(f"/lib/modules/{kernel.release}/kernel/")
    if not sign:
        place = str(path).removeprefix(f"{kernel.build_tree}/")
    return place if _OF_USE.fullmatch(place) and not _OF_NO_USE.match(place) else None


def prepare(kernel: Kernel, tools: HostTools) -> Path:
    """The image; made once for a kernel."""
    chosen = {path: place for path in kernel.modules.values() if (place := _place(path, kernel))}
    digest = hashlib.sha256()
    for path, place in sorted(chosen.items()):
        state = path.stat()
        digest.update(f"{place} {state.st_size} {state.st_mtime_ns}\n".encode())
    path, stamp = kernel.folder / "modules.squashfs", kernel.folder / "modules.of"
    wanted = f"1 {kernel.release} {digest.hexdigest()}\n"
    if path.is_file() and stamp.is_file() and stamp.read_text(encoding="ascii") == wanted:
        return path
    say(f"making an image of {len(chosen)} modules of {kernel.release}")
    root = kernel.folder / "modules.root"
    shutil.rmtree(root, ignore_errors=True)
    target = root / "lib/modules" / kernel.release
    target.mkdir(parents=True)
    for source, place in chosen.items():
        copy = target / "kernel" / place
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(without_debug_information(source.read_bytes(), source.name))
    # A kernel that somebody built may have all of it built in.
    folders = [*(next(iter(chosen)).parents if chosen else ()), kernel.build_tree]
    for name in _TABLES:
        found = next((folder / name for folder in folders if (folder / name).is_file()), None)
        if found is not None:
            shutil.copyfile(found, target / name)
    tools.index_modules(root, kernel.release)
    # The hosts' lib is a link to usr/lib.
    (root / "usr").mkdir()
    (root / "lib").rename(root / "usr/lib")
    tools.image(root, path)
    write_whole(stamp, wanted)
    shutil.rmtree(root)
    return path
