#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The Wireshark plugin in a real tshark, over sample captures that are damaged anew again and again.

Usage: plugin.py [--for SECONDS] [--seed N] [--findings FOLDER] PLUGIN

Wireshark ends itself at a bug of a dissector, and a sanitized plugin at one of its own; the capture is kept then, unless
Wireshark fails at it without the plugin, too. Exit code: 0, 1 if something was found, 3 where tshark is missing or does not
load the plugin.
"""
import argparse
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
NOBODY = 65534
# What a failed assertion in Wireshark, or in a sanitizer, says.
DISASTERS = ("Dissector bug", "AddressSanitizer", "runtime error:", "Assertion", "STATUS: CRASH", "failed assertion")
ERF, ERF_HEAD, RECORD_HEAD = 197, 16, 16


class Tshark:
    """tshark with the plugin, which need not be installed; as root another user, since root gets no plugins."""

    def __init__(self, plugin, folder):
        self.folder = folder
        shown = subprocess.run(["tshark", "-G", "folders"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               check=True).stdout
        own = Path(re.search(r"^Global Plugins:\s*(\S.*)$", shown, re.MULTILINE)[1])
        version = folder / "plugins" / own.name
        (version / "epan").mkdir(parents=True)
        for kind in own.iterdir():
            (version / kind.name).mkdir(exist_ok=True)
            for one in kind.iterdir():
                if one.name != plugin.name:
                    (version / kind.name / one.name).symlink_to(one)
        shutil.copy(plugin, version / "epan")
        (folder / "home").mkdir()
        self.environment = {**os.environ, "HOME": str(folder / "home"), "WIRESHARK_ABORT_ON_DISSECTOR_BUG": "1",
                            "WIRESHARK_PLUGIN_DIR": str(folder / "plugins")}
        self.without = {**self.environment, "WIRESHARK_PLUGIN_DIR": str(own.parent)}
        self.prefix, self.runtime = ["env"], []
        if os.geteuid() == 0:
            self.prefix = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "env"]
            os.chown(folder / "home", NOBODY, NOBODY)
            folder.chmod(0o755)
        if b"__asan_init" in plugin.read_bytes():
            runtime = f"libclang_rt.asan-{os.uname().machine}.so"
            found = subprocess.run(["clang", f"-print-file-name={runtime}"], stdout=subprocess.PIPE, text=True, check=True)
            self.runtime = [f"LD_PRELOAD={found.stdout.strip()}", "ASAN_OPTIONS=detect_leaks=0"]

    def run(self, *arguments, with_plugin=True):
        run = subprocess.run([*self.prefix, *(self.runtime if with_plugin else []), "tshark", *map(str, arguments)],
                             env=self.environment if with_plugin else self.without, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False)
        return run.returncode, (run.stdout + run.stderr).decode(errors="replace")


def is_disaster(status, said):
    # Versions end with 2 or 14 where the file itself is damaged; a signal is negative, or 128 and more behind a shell.
    return status not in (0, 2, 14) or any(words in said for words in DISASTERS)


def records(file):
    """Head and records of a pcap."""
    data = file.read_bytes()
    head, rest, found = data[:24], data[24:], []
    while rest:
        size = RECORD_HEAD + int.from_bytes(rest[8:12], "little")
        found.append(rest[:size])
        rest = rest[size:]
    return head, found


def damaged(record, first, others, chance):
    """A record that is cut, in which octets or bits are others, or that goes on as another one does."""
    one = bytearray(record)
    kind = chance.randrange(5)
    if kind == 0:
        del one[chance.randrange(first, len(one) + 1):]
    elif kind == 1:
        at = chance.randrange(first, len(one)) if len(one) > first else first
        one[at:] = chance.choice(others)[at:]
    rate = chance.choice((0, 0.005, 0.02, 0.1))
    for at in range(first, len(one)):
        if chance.random() < rate:
            one[at] = one[at] ^ 1 << chance.randrange(8) if kind == 2 else chance.choice((0, 1, 0xff, chance.randrange(256)))
    one[8:12] = struct.pack("<I", len(one) - RECORD_HEAD)
    one[12:16] = struct.pack("<I", max(len(one), len(record)) - RECORD_HEAD)
    return one


def written(source, file, chance):
    """Makes such a capture; how many frames it has."""
    head, found = source
    first = RECORD_HEAD + (ERF_HEAD if head[20] == ERF else 0)
    frames = [damaged(record, first, found, chance) for _ in range(1 + 300 // len(found)) for record in found]
    # Most come in their order, since the plugin learns from one for the next.
    if chance.random() < 0.2:
        chance.shuffle(frames)
    file.write_bytes(head + b"".join(frames))
    file.chmod(0o644)
    return len(frames)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--for", dest="time", type=float, default=30)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--findings", type=Path, default=Path.cwd())
    parser.add_argument("plugin", type=Path)
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else int(time.time())
    sources = [records(file) for file in sorted((TOP / "captures").glob("*.pcap"))]
    until, frames, found, of_wireshark = time.monotonic() + options.time, 0, 0, 0
    with tempfile.TemporaryDirectory(prefix="ipoib-fuzz-plugin-") as name:
        tshark = Tshark(options.plugin.resolve(), Path(name))
        if "rfc4391" not in tshark.run("-G", "protocols")[1]:
            print("plugin.py: tshark does not load the plugin", file=sys.stderr)
            return 3
        while time.monotonic() < until or not frames:
            capture = Path(name) / f"{seed}.pcap"
            frames += written(sources[seed % len(sources)], capture, random.Random(seed))
            status, said = tshark.run("-2", "-V", "-o", "rfc4391.strictness:notes", "-r", capture, "-z", "rfc4391,tree")
            if is_disaster(status, said) and is_disaster(*tshark.run("-2", "-V", "-r", capture, with_plugin=False)):
                of_wireshark += 1
            elif is_disaster(status, said):
                found += 1
                options.findings.mkdir(parents=True, exist_ok=True)
                shutil.copy(capture, options.findings)
                at = min((said.find(words) for words in DISASTERS if words in said), default=len(said))
                print(f"{options.findings / capture.name}: {status}\n{said[max(0, at - 500):at + 3000]}")
            capture.unlink()
            seed += 1
    print(f"{frames} frames, {found} findings, {of_wireshark} captures at which Wireshark fails without the plugin, too")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
