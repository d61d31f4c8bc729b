#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes nine-word-runs.bin: python3 tests/golden/word_runs.py TEXT... > tests/golden/nine-word-runs.bin"""
import sys
from pathlib import Path

LENGTH = 9


def words(text):
    """In lower case, without punctuation and without the page headings of an RFC."""
    lines = (line for line in text.split("\n") if "[Page " not in line and not line.startswith("RFC "))
    for word in " ".join(lines).split():
        if plain := "".join(one.lower() for one in word if one.isascii() and one.isalnum()):
            yield plain


def fingerprint(run):
    """The low 40 bits of its FNV-1a."""
    value = 0xcbf29ce484222325
    for octet in run.encode():
        value = (value ^ octet) * 0x100000001b3 & 0xffffffffffffffff
    return value & 0xffffffffff


def main():
    found = set()
    for name in sys.argv[1:]:
        text = list(words(Path(name).read_text(encoding="latin-1")))
        found |= {fingerprint("".join(word + " " for word in text[at:at + LENGTH])) for at in range(len(text) - LENGTH + 1)}
    sys.stdout.buffer.write(b"".join(value.to_bytes(5, "big") for value in sorted(found)))


if __name__ == "__main__":
    main()
