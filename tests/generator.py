# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-gen, as the tests call it."""
import os
import subprocess
from pathlib import Path

GENERATOR = str(Path(os.environ["IPOIB_GEN"]).resolve())


def generate(*arguments, **options):
    options.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([GENERATOR, *map(str, arguments)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          timeout=60, check=False, **options)


def names(option):
    return [line.split()[0] for line in generate(option).stdout.decode().splitlines() if not line.startswith(" ")]
