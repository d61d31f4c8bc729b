# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import stacks

_SOURCE = """\
static inline __attribute__((always_inline)) void store(int *at)
{
  *(volatile int *)at = 1;
}

__attribute__((noinline)) void writer(int *at)
{
  store(at);
}

__attribute__((noinline, section(".other"))) void caller(int *at)
{
  writer(at);
  writer(at + 1);
}
"""


@unittest.skipIf(shutil.which("gcc") is None or shutil.which("addr2line") is None, "gcc or binutils are not installed")
class Stacks(unittest.TestCase):
    def setUp(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="lab-stacks-"))
        self.addCleanup(shutil.rmtree, folder)
        self.workshop = folder / "some-0123abcd"
        self.workshop.mkdir()
        (self.workshop / "some.c").write_text(_SOURCE)
        self.module = self.workshop / "some.ko"
        subprocess.run(["gcc", "-g", "-O2", "-c", "-o", self.module, "some.c"], cwd=self.workshop, check=True)

    def size(self, function: str) -> str:
        said = subprocess.run(["readelf", "-sW", self.module], capture_output=True, text=True, check=True).stdout
        size = re.search(rf" (\d+) FUNC .* {function}$", said, re.MULTILINE)
        assert size
        return f"{int(size[1]):#x}"

    def test_a_stack_has_the_lines_of_the_users_source(self) -> None:
        first_call = self.first_call()
        text = (f"RIP: 0010:writer+0x0/{self.size('writer')} [some]\n"
                f" ? caller+{first_call:#x}/{self.size('caller')} [some 1234abcd]\n do_idle+0x1/0x20\n")
        found = stacks.decoded(text, {"some": str(self.module)}).splitlines()
        self.assertRegex(found[0], r"\[some\] \((store some\.c:3 in )?some\.c:[78]\)$")
        self.assertTrue(found[1].endswith("(some.c:13)"), found[1])
        self.assertEqual(found[2], " do_idle+0x1/0x20")
        self.assertEqual(found[-1], "no files and lines of the kernel: there is no debug information here")

    def first_call(self) -> int:
        """What a call of the second function returns to."""
        said = subprocess.run(["objdump", "-d", "-j", ".other", self.module], capture_output=True, text=True,
                              check=True).stdout
        lines = [line for line in said.splitlines() if re.match(r"\s+[0-9a-f]+:", line)]
        at = next(number for number, line in enumerate(lines) if "call" in line)
        return int(lines[at + 1].split(":")[0], 16)

    def test_what_cannot_be_told_stays_as_it_is(self) -> None:
        for text in ("no stack\n", "writer+0x0/0x7fff [some]", "writer+0x7f/0x10 [some]", "nobody+0x1/0x2 [other]"):
            with self.subTest(text):
                self.assertEqual(stacks.decoded(text, {"some": str(self.module)}), text)
        self.assertEqual(stacks.decoded("writer+0x0/0x10 [some]", {"some": "/nowhere/some.ko"}), "writer+0x0/0x10 [some]")
        self.assertEqual(stacks.decoded_in(Path("/nowhere"), "writer+0x0/0x10 [some]"), "writer+0x0/0x10 [some]")


if __name__ == "__main__":
    unittest.main()
