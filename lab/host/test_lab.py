# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the lab's host side that need no guest: python3 -m unittest discover -s lab/host -p 'test_*.py'"""

from __future__ import annotations

import base64
import gzip
import io
import json
import lzma
import os
import select
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))

import building
import commands
import confined
import cpio
import image
import kernel
import machine
import matrix
import options
import output_path
import parts
import place
import snapshot
from attach import ANEW, Attachment, GuestFolder
from console import Console, faults_in, has_panicked, is_locked_up
from elf import interpreter, needed_libraries
from private_folder import PrivateFolder
from supervisor import run_beside
from tools import LabError, UsageError, write_whole


def read_newc(data: bytes) -> dict[str, tuple[int, bytes]]:
    """Another reading of the format: path to mode and content."""
    found = {}
    at = 0
    while True:
        assert data[at:at + 6] == b"070701", f"no magic at {at}"
        fields = [int(data[at + 6 + 8 * i:at + 14 + 8 * i], 16) for i in range(13)]
        name = data[at + 110:at + 110 + fields[11] - 1].decode()
        begin = (at + 110 + fields[11] + 3) & ~3
        if name == "TRAILER!!!":
            return found
        found[name] = (fields[1], data[begin:begin + fields[6]])
        at = (begin + fields[6] + 3) & ~3


class Cpio(unittest.TestCase):
    def test_archives_are_read_back_and_folders_come_before_what_is_in_them(self) -> None:
        data = cpio.archive([cpio.file("bin/tool", b"12345", 0o755), cpio.link("bin/other", "tool"),
                             cpio.character_device("dev/console", 5, 1), cpio.file("init", b"", 0o755)])
        found = read_newc(data)
        self.assertEqual(list(found), ["bin", "bin/other", "bin/tool", "dev", "dev/console", "init"])
        self.assertEqual(found["bin/tool"], (stat.S_IFREG | 0o755, b"12345"))
        self.assertEqual(found["bin/other"], (stat.S_IFLNK | 0o777, b"tool"))
        self.assertTrue(stat.S_ISCHR(found["dev/console"][0]))

    def test_the_order_of_the_entries_does_not_matter(self) -> None:
        entries = [cpio.file("a/b", b"x"), cpio.file("a/c", b"y"), cpio.folder("z")]
        self.assertEqual(cpio.archive(entries), cpio.archive(entries[::-1]))

    def test_two_files_at_one_path_and_absolute_paths_are_refused(self) -> None:
        with self.assertRaises(ValueError):
            cpio.archive([cpio.file("a", b"x"), cpio.file("a", b"y")])
        with self.assertRaises(ValueError):
            cpio.archive([cpio.file("/a", b"x")])


ELF = b"\x7fELF\x02\x01" + bytes(range(250)) * 20


def bzimage(payload: bytes, sectors: int = 3) -> bytes:
    head = bytearray((sectors + 1) * 512)
    head[0x1f1] = sectors
    head[0x202:0x206] = b"HdrS"
    struct.pack_into("<H", head, 0x206, 0x20f)
    struct.pack_into("<II", head, 0x248, 16, len(payload))
    return bytes(head) + bytes(16) + payload + b"behind"


class BzImage(unittest.TestCase):
    size = struct.pack("<I", len(ELF))

    def test_xz_lzma_and_gzip_are_unpacked(self) -> None:
        for packed in (lzma.compress(ELF, check=lzma.CHECK_CRC32) + self.size,
                       lzma.compress(ELF, lzma.FORMAT_ALONE) + self.size, gzip.compress(ELF)):
            self.assertEqual(kernel.bzimage_payload(bzimage(packed)), ELF)

    def test_zstd_and_lz4_are_unpacked_by_their_programs(self) -> None:
        for program in (["zstd", "-19", "-c"], ["lz4", "-l", "-c"]):
            with self.subTest(program=program[0]):
                packed = subprocess.run(program, input=ELF, capture_output=True, check=True).stdout
                self.assertEqual(kernel.bzimage_payload(bzimage(packed + self.size)), ELF)

    def test_what_is_no_kernel_is_refused_with_words(self) -> None:
        whole = bzimage(lzma.compress(ELF) + self.size)
        wrong = {"no setup header": b"MZ" * 600, "cut off": whole[:-200], "not an ELF file": bzimage(gzip.compress(b"text" * 50)),
                 "neither": bzimage(b"what is this?" * 4), "cannot be decompressed": whole[:0x810 + 60] + bytes(len(whole))}
        for words, data in wrong.items():
            with self.subTest(words=words), self.assertRaisesRegex(LabError, words):
                kernel.bzimage_payload(data)


class Config(unittest.TestCase):
    fragment = "CONFIG_NET=y\nCONFIG_X=m\n# Optional: fast\nCONFIG_PVH=y\n"

    def test_a_module_may_be_built_in_but_not_the_other_way_round(self) -> None:
        self.assertEqual(kernel.missing_config({"CONFIG_NET": "y", "CONFIG_X": "y", "CONFIG_PVH": "y"}, self.fragment),
                         ([], []))
        self.assertEqual(kernel.missing_config({"CONFIG_NET": "m", "CONFIG_X": "m"}, self.fragment),
                         (["CONFIG_NET=y"], ["CONFIG_PVH=y"]))

    def test_what_is_not_set_is_missing(self) -> None:
        config = kernel.read_config("# CONFIG_X is not set\nCONFIG_NET=y\n")
        self.assertEqual(kernel.missing_config(config, self.fragment)[0], ["CONFIG_X=m"])

    def test_the_fragment_of_the_lab_has_both_parts(self) -> None:
        fragment = (place.SOURCE / "lab/kernel/config.fragment").read_text(encoding="utf-8")
        must, optional = kernel.missing_config({}, fragment)
        self.assertIn("CONFIG_INFINIBAND_RDMAVT=m", must)
        self.assertIn("CONFIG_PVH=y", optional)


class UserKernel(unittest.TestCase):
    def test_a_tree_says_what_it_lacks(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            tree, fragment = Path(name), Path(name) / "fragment"
            fragment.write_text("CONFIG_NET=y\nCONFIG_INFINIBAND_RDMAVT=m\n")
            with self.assertRaisesRegex(LabError, "not a kernel tree that was built"):
                kernel.user_kernel(tree, fragment, tree / "build")
            write_whole(tree / ".config", "CONFIG_NET=y\n")
            write_whole(tree / "include/config/kernel.release", "6.12.1\n")
            with self.assertRaisesRegex(LabError, "CONFIG_INFINIBAND_RDMAVT=m"):
                kernel.user_kernel(tree, fragment, tree / "build")
            write_whole(tree / ".config", "CONFIG_NET=y\nCONFIG_INFINIBAND_RDMAVT=y\n")
            with self.assertRaisesRegex(LabError, "no kernel in"):
                kernel.user_kernel(tree, fragment, tree / "build")
            write_whole(tree / "arch/x86/boot/bzImage", b"image")
            write_whole(tree / "modules.builtin", "kernel/drivers/infiniband/sw/rdmavt/rdmavt.ko\n")
            write_whole(tree / "drivers/ib-core.ko", b"")
            found = kernel.user_kernel(tree, fragment, tree / "build")
            self.assertEqual(found.release, "6.12.1")
            self.assertEqual(found.builtin, {"rdmavt"})
            self.assertIn("ib_core", found.modules)
            self.assertEqual(found.boot_file, tree.resolve() / "arch/x86/boot/bzImage")
            # Else what is in the image would be unpacked, which this is none of.
            write_whole(tree / ".config", "CONFIG_NET=y\nCONFIG_INFINIBAND_RDMAVT=y\nCONFIG_PVH=y\nCONFIG_KASAN=y\n")
            self.assertEqual(kernel.user_kernel(tree, fragment, tree / "build").boot_file, found.boot_file)


class Building(unittest.TestCase):
    def test_what_an_interrupted_build_has_left_is_not_built_upon(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            top = Path(name)
            write_whole(top / "tree/Module.symvers", "")
            write_whole(top / "tree/Makefile", "modules:\n\ttest ! -e $(M)/one.o\n\ttouch $(M)/one.o $(M)/one.ko\n")
            write_whole(top / "source/Makefile", "")
            one = kernel.Kernel("6.12.1", top / "image", top / "tree", {}, frozenset(), {}, top / "made")
            made = kernel.build_module(one, top / "source", "one")
            self.assertTrue(made.is_file())
            write_whole(top / "source/one.c", "changed")
            with self.assertRaisesRegex(LabError, "cannot be built"):
                kernel.build_module(one, top / "source", "one")
            (made.parent / "begun").touch()
            self.assertTrue(kernel.build_module(one, top / "source", "one").is_file())
            self.assertFalse((made.parent / "begun").exists())


class Images(unittest.TestCase):
    def test_a_guest_with_more_memory_takes_a_larger_image(self) -> None:
        self.assertEqual([image.largest(memory) >> 20 for memory in (64, 256, 384, 1024)], [48, 48, 72, 192])


class Modules(unittest.TestCase):
    def test_modules_come_behind_what_they_depend_on(self) -> None:
        depends = {"ipoib": ["core", "cm"], "cm": ["core"], "core": [], "vib": ["rdmavt"], "rdmavt": ["core"]}
        self.assertEqual(image.module_order(["vib", "ipoib", "absent"], depends),
                         ["core", "rdmavt", "vib", "cm", "ipoib"])

    def test_a_circle_is_refused(self) -> None:
        with self.assertRaises(LabError):
            image.module_order(["a"], {"a": ["b"], "b": ["a"]})


class Elf(unittest.TestCase):
    def test_the_interpreter_of_a_program_and_what_it_needs(self) -> None:
        data = Path("/bin/sh").read_bytes()
        self.assertIn("libc.so.6", needed_libraries(data, "sh"))
        self.assertEqual(interpreter(data, "sh"), "/lib64/ld-linux-x86-64.so.2")

    def test_broken_files_are_errors_with_words(self) -> None:
        data = Path("/bin/sh").read_bytes()
        for broken in (b"", b"#!/bin/sh\n", data[:50], data[:100]):
            with self.assertRaises(LabError):
                needed_libraries(broken, "broken")


class ConsoleText(unittest.TestCase):
    panic = ("[    3.1] WARNING: CPU: 0 PID: 1 at drivers/infiniband/sw/rdmavt/qp.c:2041 rvt_post_send+0x7e6/0x8a0\n"
             "[    3.1] RIP: 0010:rvt_post_send+0x7e6/0x8a0 [rdmavt]\n[    3.1] ---[ end trace 0000000000000000 ]---\n"
             "[    9.1] BUG: kernel NULL pointer dereference, address: 0000000000000008\r\n"
             "[    9.2] RIP: 0010:ipoib_start_xmit+0x1/0x8a0 [ib_ipoib]\n"
             "[    9.3] Kernel panic - not syncing: Fatal exception\n")

    def test_faults_are_what_went_wrong_but_for_the_allowed(self) -> None:
        self.assertEqual(faults_in(self.panic),
                         ["BUG: kernel NULL pointer dereference, address: 0000000000000008",
                          "RIP: 0010:ipoib_start_xmit+0x1/0x8a0 [ib_ipoib]",
                          "Kernel panic - not syncing: Fatal exception"])
        self.assertTrue(has_panicked(self.panic))
        self.assertEqual(faults_in("all is well\n"), [])

    def test_damaged_memory_is_told_with_who_allocated_and_freed_it(self) -> None:
        lines = ["BUG kmalloc-64 (Tainted: G           OE     ): Poison overwritten",
                 "Allocated in cm_alloc_id_priv+0x1/0x2 [ib_cm] age=7 cpu=0 pid=9",
                 "Freed in cm_destroy_id+0x1/0x2 [ib_cm] age=3 cpu=0 pid=9"]
        self.assertEqual(faults_in("".join(f"[    3.0] {line}\n" for line in [*lines, "Slab 0x1 objects=21 used=20"])), lines)

    def test_a_lockup_that_lasts_is_the_end_a_short_one_may_be_the_hosts(self) -> None:
        said = "[  218.1] watchdog: BUG: soft lockup - CPU#0 stuck for {}s! [ping:412]\n"
        self.assertFalse(is_locked_up(said.format(26)))
        self.assertTrue(is_locked_up(said.format(26) + said.format(71)))
        self.assertTrue(is_locked_up(said.format(104)))
        self.assertFalse(has_panicked(said.format(104)))

    def test_faults_are_bounded(self) -> None:
        faults = faults_in("\n".join(f"BUG: {number}" + "x" * 9999 for number in range(1000)))
        self.assertLessEqual(len(faults), 20)
        self.assertLessEqual(max(map(len, faults)), 500)

    def test_a_console_is_read_by_whole_lines(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "console.1"
            console = Console(path)
            self.assertEqual(console.new_lines(), [])
            path.write_bytes(b"one\r\ntw")
            self.assertEqual(console.new_lines(), ["one"])
            with open(path, "ab") as file:
                file.write(b"o\n")
            self.assertEqual(console.new_lines(), ["two"])


class FakeGuest:
    """A guest's folder and the socket of its agent, which answers each request by its id."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.boot = 0
        self.begin()

    def begin(self) -> None:
        self.boot += 1
        (self.folder / "agent").unlink(missing_ok=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.folder / "agent"))
        self.listener.listen()
        self.listener.settimeout(10)
        (self.folder / f"console.{self.boot}").write_text("Linux boots\n")
        self.tell("ready", "")

    def tell(self, state: str, why: str) -> None:
        write_whole(self.folder / "state.json", json.dumps(
            {"boot": self.boot, "state": state, "why": why, "console": f"console.{self.boot}"}))

    def accept(self) -> None:
        self.connection, _ = self.listener.accept()
        self.connection.settimeout(10)
        self.requests = self.connection.makefile("rb")

    def answer_one(self) -> None:
        request = json.loads(self.requests.readline())
        self.connection.sendall(json.dumps({"id": request["id"], "ok": True, "boot": self.boot}).encode() + b"\n")

    def die(self, words: str) -> None:
        with open(self.folder / f"console.{self.boot}", "a", encoding="utf-8") as console:
            console.write(words)
        self.requests.close()
        self.connection.close()
        self.listener.close()


class WatchedFolder(GuestFolder):
    """Tells when it was looked into while the guest was booting."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.was_booting = threading.Event()

    def state(self) -> dict[str, object]:
        state = super().state()
        if state.get("state") == "booting":
            self.was_booting.set()
        return state


class Harness:
    """The other side of attach: its standard streams, as ipoib-conform has them."""

    def __init__(self, folder: Path) -> None:
        source, self.input = os.pipe()
        output, sink = os.pipe()
        self.output = os.fdopen(output, "rb")
        self.evidence = io.BytesIO()
        self.folder = WatchedFolder(folder)
        one = Attachment(self.folder, "agent", source, os.fdopen(sink, "wb"), self.evidence)
        self.thread = threading.Thread(target=one.run, daemon=True)
        self.thread.start()

    def send(self, **request: object) -> None:
        os.write(self.input, json.dumps(request).encode() + b"\n")

    def answer(self) -> dict[str, object]:
        return json.loads(self.output.readline())

    def ask(self, **request: object) -> dict[str, object]:
        self.send(**request)
        return self.answer()

    def close(self) -> None:
        os.close(self.input)
        self.thread.join(10)


class Attach(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.guest = FakeGuest(Path(folder.name))
        self.harness = Harness(Path(folder.name))
        self.guest.accept()

    def test_lines_go_through_while_the_guest_lives(self) -> None:
        for identity in (1, "two", 3):
            self.harness.send(id=identity, do="interface")
            self.guest.answer_one()
            self.assertEqual(self.harness.answer(), {"id": identity, "ok": True, "boot": 1})
        self.harness.close()
        self.assertFalse(self.harness.thread.is_alive())

    def test_a_panic_fails_the_open_request_and_is_a_fault_of_health_once(self) -> None:
        self.harness.send(id=7, do="ping")
        self.guest.requests.readline()
        self.guest.die(ConsoleText.panic)
        answer = self.harness.answer()
        self.assertEqual((answer["id"], answer["error"]), (7, "failed"))
        self.assertIn("the guest died: Kernel panic - not syncing: Fatal exception", answer["message"])
        answer = self.harness.ask(id=8, do="health")
        self.assertTrue(answer["ok"])
        self.assertIn("BUG: kernel NULL pointer dereference, address: 0000000000000008", answer["faults"])
        for identity, request in ((9, "interface"), (10, "health"), (11, "bye")):
            answer = self.harness.ask(id=identity, do=request)
            self.assertEqual((answer["id"], answer["error"]), (identity, "failed"))
        self.assertIn(b"ipoib_start_xmit", self.harness.evidence.getvalue())
        self.harness.close()

    def test_a_panic_on_the_console_counts_while_the_port_is_still_open(self) -> None:
        self.harness.send(id=1, do="ping")
        self.guest.requests.readline()
        (self.guest.folder / "console.1").write_text(ConsoleText.panic)
        self.guest.tell("dead", "Kernel panic - not syncing: Fatal exception")
        self.assertEqual(self.harness.answer()["error"], "failed")
        self.harness.close()

    def test_a_guest_that_ends_without_a_word_is_no_fault_of_the_dut(self) -> None:
        self.guest.tell("dead", "QEMU was killed by signal 9")
        self.guest.die("")
        answer = self.harness.ask(id=1, do="health")
        self.assertEqual(answer["error"], "failed")
        self.assertIn("signal 9", answer["message"])
        self.harness.close()

    def test_what_is_no_request_gets_an_answer_from_a_dead_guest_too(self) -> None:
        self.guest.die(ConsoleText.panic)
        os.write(self.harness.input, b"{nonsense\n[1]\n" + b"[" * 60000 + b"\n")
        for _ in range(3):
            self.assertEqual(self.harness.answer()["error"], "failed")
        os.write(self.harness.input, b"x" * 70000 + b"\n")
        self.assertEqual(self.harness.answer()["error"], "failed")
        self.harness.close()

    def test_a_new_attachment_finds_the_new_guest(self) -> None:
        self.guest.die(ConsoleText.panic)
        self.harness.ask(id=1, do="interface")
        self.harness.close()
        self.guest.tell("booting", "")
        second = Harness(self.guest.folder)
        self.assertTrue(second.folder.was_booting.wait(10))
        self.guest.begin()
        self.guest.accept()
        second.send(id=2, do="hello")
        self.guest.answer_one()
        self.assertEqual(second.answer(), {"id": 2, "ok": True, "boot": 2})
        second.close()

    def test_who_wants_a_guest_of_its_own_gets_another_one_only_where_somebody_was_connected(self) -> None:
        anew, guest = self.guest.folder / ANEW, self.guest

        class Watched(GuestFolder):
            """The supervisor sees the file by the next look at its state."""

            def state(self) -> dict[str, object]:
                if anew.exists():
                    anew.unlink()
                    guest.begin()
                    os.utime(self.path / "state.json", (now + 2, now + 2))
                return super().state()

        folder, now = Watched(self.guest.folder), int((self.guest.folder / "state.json").stat().st_mtime)
        folder.ask_for_another("agent")
        self.assertEqual(guest.boot, 1)
        folder.note_end_of_connection("agent")
        os.utime(self.guest.folder / "agent.closed", (now + 1, now + 1))
        os.utime(self.guest.folder / "state.json", (now, now))
        folder.ask_for_another("agent")
        self.assertEqual(guest.boot, 2)
        folder.ask_for_another("agent")
        self.assertEqual(guest.boot, 2)
        self.harness.close()


class Folder(unittest.TestCase):
    def test_it_goes_away_with_its_owner_even_by_sigkill(self) -> None:
        here = str(Path(__file__).resolve().parent)
        owner = subprocess.Popen([sys.executable, "-c", "import signal, sys; sys.path.insert(0, sys.argv[1])\n"
                                  "from private_folder import PrivateFolder\n"
                                  "folder = PrivateFolder(); print(folder._guardian.pid, folder.path, flush=True)\n"
                                  "signal.pause()", here], stdout=subprocess.PIPE, text=True)
        assert owner.stdout is not None
        guardian, path = owner.stdout.readline().split()
        self.assertTrue(Path(path).is_dir())
        guardian_ends = os.pidfd_open(int(guardian))
        self.addCleanup(os.close, guardian_ends)
        owner.send_signal(signal.SIGKILL)
        owner.wait()
        owner.stdout.close()
        self.assertTrue(select.select([guardian_ends], [], [], 10)[0])
        self.assertFalse(Path(path).exists())

    def test_it_goes_away_at_the_end_of_its_block(self) -> None:
        with PrivateFolder() as folder:
            self.assertEqual(stat.S_IMODE(folder.path.stat().st_mode), 0o700)
        self.assertFalse(folder.path.exists())


class Output(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "file"
        self.file.write_text("untouched")
        self.shared = self.folder / "shared"
        (self.folder / "other").mkdir()
        self.shared.mkdir()
        (self.shared / "link").symlink_to("../file")
        (self.shared / "way").symlink_to(self.folder / "other")

    def test_no_link_of_others_is_followed(self) -> None:
        for mode in (0o777, 0o1777):
            self.shared.chmod(mode)
            for name in ("link", "way/new", "way//new", "./way/../file"):
                with self.subTest(name, mode=oct(mode)), self.assertRaisesRegex(OSError, "folder that others can write"):
                    output_path.open_output(Path(f"{self.shared}/{name}"))
            with self.assertRaisesRegex(LabError, "folder that others can write"):
                write_whole(self.shared / "way/new", "x")
            write_whole(self.shared / "new", "x")
        self.assertEqual(self.file.read_text(), "untouched")
        self.assertEqual(list((self.folder / "other").iterdir()), [])
        self.assertEqual({path.name for path in self.shared.iterdir()}, {"link", "way", "new"})

    def test_those_of_ones_own_and_descriptors_are(self) -> None:
        for name in ("link", "way/new"):
            os.close(output_path.open_output(self.shared / name))
        self.assertEqual(self.file.read_text(), "")
        self.assertTrue((self.folder / "other/new").is_file())
        source, sink = os.pipe()
        os.close(output_path.open_output(Path(f"/dev/fd/{sink}")))
        os.close(sink)
        os.close(source)
        (self.shared / "circle").symlink_to("circle")
        with self.assertRaises(OSError):
            output_path.open_output(self.shared / "circle")


class FakeMachine:
    """Dies at the second look, and boots again at once; then the file is there."""

    def __init__(self, started: Path) -> None:
        self.state, self.why, self.starts, self.looks = machine.State.READY, "", 0, 0
        self.ready_after = 0.5
        self.started, self.folder = started, started.parent

    def poll(self) -> machine.State:
        self.looks += 1
        if self.looks == 2:
            self.state, self.why = machine.State.DEAD, "Kernel panic"
        return self.state

    def start(self) -> None:
        self.starts += 1
        self.state = machine.State.READY
        os.close(os.open(self.started, os.O_WRONLY))


class Supervisor(unittest.TestCase):
    # Waits for SIGINT, and says so; with another word it sends its parent one first.
    WAITS = (sys.executable, "-c", "import os, pathlib, signal, sys\n"
             "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})\n"
             "if len(sys.argv) > 2: os.kill(os.getppid(), signal.SIGINT)\n"
             "pathlib.Path(sys.argv[1]).write_text('ready')\n"
             "signal.sigwait({signal.SIGINT})\n"
             "sys.exit(9)")

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.pipe = Path(folder.name) / "pipe"
        os.mkfifo(self.pipe)

    def test_a_guest_that_is_asked_for_anew_is_started_though_the_last_one_lives(self) -> None:
        one = FakeMachine(self.pipe)
        one.poll = lambda: one.state  # type: ignore[method-assign]
        (self.pipe.parent / ANEW).touch()
        self.assertEqual(run_beside(one, ["/bin/sh", "-c", 'read -r _ < "$1"; exit 5', "sh", str(self.pipe)]), 5)
        self.assertEqual(one.starts, 1)
        self.assertFalse((self.pipe.parent / ANEW).exists())

    def test_a_dead_guest_is_started_again_and_the_exit_code_is_the_commands(self) -> None:
        one = FakeMachine(self.pipe)
        self.assertEqual(run_beside(one, ["/bin/sh", "-c", 'read -r _ < "$1"; exit 5', "sh", str(self.pipe)]), 5)
        self.assertEqual(one.starts, 1)

    def test_a_signal_is_the_commands_affair(self) -> None:
        def interrupt() -> None:
            self.pipe.read_bytes()
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        one = FakeMachine(Path("/dev/null"))
        self.assertEqual(run_beside(one, [*self.WAITS, str(self.pipe)]), 9)

    def test_a_signal_that_comes_while_the_command_begins_is_the_commands_too(self) -> None:
        def begin_late(pid: int) -> int:
            self.pipe.read_bytes()
            return pidfd_open(pid)

        pidfd_open = os.pidfd_open
        with mock.patch.object(os, "pidfd_open", begin_late):
            one = FakeMachine(Path("/dev/null"))
            self.assertEqual(run_beside(one, [*self.WAITS, str(self.pipe), "and tell"]), 9)


class HeldMachine(FakeMachine):
    """Boots for a while after its death; how much the program had written in that time is in `written`. Ends the program
    when that goes on."""

    def __init__(self, started: Path, output: Path) -> None:
        super().__init__(started)
        self.output, self.written, self.left, self.has_ended = output, set(), 10, False

    def poll(self) -> machine.State:
        size = self.output.stat().st_size
        if self.state is machine.State.BOOTING:
            self.left -= 1
            if self.left < 6:
                self.written.add(size)
            if self.left == 0:
                self.state = machine.State.READY
        elif self.written and size > max(self.written) and not self.has_ended:
            self.has_ended = True
            self.started.touch()
        return super().poll()

    def start(self) -> None:
        self.starts += 1
        self.state = machine.State.BOOTING


class Held(Supervisor):
    def test_the_program_stands_still_while_a_new_guest_boots(self) -> None:
        output, end = self.pipe.with_name("output"), self.pipe.with_name("end")
        output.touch()
        one = HeldMachine(end, output)
        # Nobody writes to the pipe: it is what bash sleeps on.
        script = 'exec 4<>"$1"; while [ ! -e "$3" ]; do read -t 0.02 -r _ <&4; echo x; done >"$2"; exit 5'
        self.assertEqual(run_beside(one, ["/bin/bash", "-c", script, "bash", str(self.pipe), str(output), str(end)]), 5)
        self.assertEqual(one.starts, 1)
        self.assertEqual(len(one.written), 1, "it went on while there was no guest")


class Load(unittest.TestCase):
    def test_more_guests_than_processors_have_more_time_to_boot(self) -> None:
        processors = os.cpu_count() or 1
        self.assertGreaterEqual(machine.load_factor(1), 1.0)
        self.assertGreaterEqual(machine.load_factor(8 * processors), 8.0)


class Parts(unittest.TestCase):
    def test_words_go_to_the_parts_or_to_the_report(self) -> None:
        part, report = parts.split_words(["rfc4391/6", "--json", "a.json", "--junit=b.xml", "--evidence", "dir", "--seed",
                                          "7", "--strict", "--quiet", "!*-INV-*", "--expect", "known.toml"])
        self.assertEqual(part, ["rfc4391/6", "--evidence", "dir", "--seed", "7", "!*-INV-*"])
        self.assertEqual(report, ["--json", "a.json", "--junit=b.xml", "--seed", "7", "--strict", "--quiet", "--expect",
                                  "known.toml"])
        for alone in (["--shard", "1/2"], ["--shard=1/2"], ["--dry-run"]):
            with self.assertRaisesRegex(UsageError, "one guest"):
                parts.split_words(alone)

    def test_results_are_in_the_order_of_one_run(self) -> None:
        came = [{"id": name} for name in ("IPOIB-3", "RULE-2", "RULE-1", "SESSION", "IPOIB-1", "IPOIB-2")]
        ordered = parts.in_declared_order({"results": came, "seed": 1}, ["IPOIB-1", "IPOIB-2", "IPOIB-3"])
        self.assertEqual([one["id"] for one in ordered["results"]],
                         ["SESSION", "IPOIB-1", "IPOIB-2", "IPOIB-3", "RULE-2", "RULE-1"])

    def test_only_what_all_fabrics_have_is_told(self) -> None:
        one, two = parts.without_differences([{"fabric": {"kind": "socket", "tap": "a"}},
                                              {"fabric": {"kind": "socket", "tap": "b"}}])
        self.assertEqual((one["fabric"], two["fabric"]), ({"kind": "socket"}, {"kind": "socket"}))

    def test_every_part_runs_and_its_code_is_known(self) -> None:
        self.assertEqual(parts.run_parts(3, lambda number: number * 2), [2, 4, 6])

    def test_a_signal_is_for_all_parts(self) -> None:
        is_set, tell = os.pipe()
        self.addCleanup(os.close, is_set)
        self.addCleanup(os.close, tell)

        def wait(number: int) -> int:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            os.write(tell, b"x")
            if number == 2:
                os.read(is_set, 1)
                os.read(is_set, 1)
                os.kill(os.getppid(), signal.SIGINT)
            signal.sigwait({signal.SIGINT})
            return 40 + number

        self.assertEqual(parts.run_parts(2, wait), [41, 42])

    def test_a_signal_that_comes_while_a_part_begins_is_for_that_part_too(self) -> None:
        is_sent, tell = os.pipe()
        self.addCleanup(os.close, is_sent)
        self.addCleanup(os.close, tell)

        def wait(number: int) -> int:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            os.kill(os.getppid(), signal.SIGINT)
            os.write(tell, b"x")
            signal.sigwait({signal.SIGINT})
            return 40 + number

        def begin_late(pid: int) -> int:
            os.read(is_sent, 1)
            return pidfd_open(pid)

        pidfd_open = os.pidfd_open
        with mock.patch.object(os, "pidfd_open", begin_late):
            self.assertEqual(parts.run_parts(1, wait), [41])


class Qemu(unittest.TestCase):
    def test_ports_listen_but_the_uplink_connects(self) -> None:
        guest = machine.Guest(Path("/k"), Path("/i"), {"mode": "uplink"}, uplink=Path("/a,b/up"))
        numbers = {name: number for number, name in enumerate((*machine.PORTS, "kernel", "image", "console"), 10)}
        words = machine.qemu_command(guest, Path("/d"), numbers, (7, 2))
        self.assertIn("socket,id=raw0,path=/a,,b/up,reconnect=1", words)
        self.assertIn(f"socket,id=agent,fd={numbers['agent']},server=on,wait=off", words)
        self.assertIn("virtserialport,chardev=raw1,name=ipoib.raw1", words)
        self.assertIn("lab.mode=uplink", words[words.index("-append") + 1])
        checked = machine.replace(guest, words=("slub_debug=FZPU",))
        self.assertIn(" slub_debug=FZPU ", machine.qemu_command(checked, Path("/d"), numbers, (7, 2))[words.index("-append") + 1])
        self.assertIn("reconnect-ms=", " ".join(machine.qemu_command(guest, Path("/d"), numbers, (10, 0))))

    def test_what_lies_below_a_closed_folder_is_out_of_a_lent_users_reach(self) -> None:
        with tempfile.TemporaryDirectory() as top:
            closed = Path(top)
            closed.chmod(0o711)
            folder = closed / "open" / "lent"
            folder.mkdir(parents=True)
            folder.parent.chmod(0o755)
            # The folder itself is lent.
            folder.chmod(0o700)
            self.assertTrue(confined.is_within_reach(folder / "port"))
            for one in closed, folder.parent:
                one.chmod(0o700)
                self.assertFalse(confined.is_within_reach(folder / "port"))
                one.chmod(0o755)

    def test_versions(self) -> None:
        self.assertEqual(machine.parse_version("QEMU emulator version 7.2.22 (Debian 1:7.2)"), (7, 2))
        with self.assertRaises(LabError):
            machine.parse_version("what?")


class FakeQemu:
    """The other end of a monitor, which answers each command by what it is given."""

    def __init__(self, *answers: str) -> None:
        here, self._end = socket.socketpair()
        self.commands: list[str] = []
        self.descriptors: list[int] = []
        self._answers = list(answers)
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()
        self.monitor = snapshot.Monitor(here)

    def __enter__(self) -> FakeQemu:
        return self

    def __exit__(self, *error: object) -> None:
        self.monitor.close()
        self._thread.join()
        self._end.close()
        for one in self.descriptors:
            os.close(one)

    def _serve(self) -> None:
        while True:
            data, found, _, _ = socket.recv_fds(self._end, 64 << 10, 4)
            if not data:
                return
            self.descriptors += found
            for line in data.splitlines():
                command = json.loads(line)
                self.commands.append(command["execute"])
                if command["execute"] != "qmp_capabilities" and self._answers:
                    answer = self._answers.pop(0).replace("ID", str(command["id"]))
                    self._end.sendall(b'{"event": "STOP"}\r\n' + answer.encode() + b"\r\n")


class Snapshot(unittest.TestCase):
    def test_a_state_is_saved_into_a_file_that_qemu_is_handed(self) -> None:
        nothing = '{"return": {}, "id": ID}'
        with tempfile.TemporaryDirectory() as top, FakeQemu(
                *3 * [nothing], '{"return": {"status": "active"}, "id": ID}', '{"return": {"status": "completed"}, "id": ID}',
                nothing) as one:
            one.monitor.save(Path(top) / "state")
            self.assertEqual(one.commands, ["qmp_capabilities", "migrate-set-parameters", "getfd", "migrate", "query-migrate",
                                            "query-migrate", "cont"])
            self.assertEqual(os.fstat(one.descriptors[0]).st_ino, (Path(top) / "state").stat().st_ino)

    def test_what_qemu_refuses_or_says_in_no_words_that_are_known_is_told(self) -> None:
        for answer, words in (('{"error": {"desc": "9p is mounted"}, "id": ID}', "refuses migrate-set-parameters: 9p is mounted"),
                              ("what?", "no JSON")):
            with self.subTest(answer), tempfile.TemporaryDirectory() as top, FakeQemu(answer) as one:
                with self.assertRaisesRegex(LabError, words):
                    one.monitor.save(Path(top) / "state")

    def test_whether_a_guest_goes_on_is_not_waited_for(self) -> None:
        with FakeQemu('{"return": {"running": false}, "id": ID}', '{"return": {"running": true}, "id": ID}') as one:
            self.assertFalse(one.monitor.is_running())
            end = time.monotonic() + 10
            while not one.monitor.is_running():
                self.assertLess(time.monotonic(), end)


class KeptFile(unittest.TestCase):
    def keep(self, line: str) -> dict[str, bytes]:
        with tempfile.TemporaryDirectory() as folder:
            kept = Path(folder) / "kept"
            commands.keep_file(kept, line)
            return {file.name: file.read_bytes() for file in kept.iterdir()}

    def test_it_is_written_under_its_name(self) -> None:
        content = base64.b64encode(gzip.compress(b"{}\n")).decode()
        self.assertEqual(self.keep(f"LAB-FILE results.json {content}"), {"results.json": b"{}\n"})

    def test_names_that_lead_elsewhere_and_content_in_pieces_are_refused(self) -> None:
        content = base64.b64encode(gzip.compress(b"{}\n")).decode()
        for line in (f"LAB-FILE ../results.json {content}", f"LAB-FILE .profile {content}", "LAB-FILE results.json",
                     f"LAB-FILE results.json {content[:-8]}", f"LAB-FILE results.json {content[1:]}",
                     "LAB-FILE results.json AAAA"):
            with self.subTest(line=line), self.assertRaises(LabError):
                self.keep(line)


class Options(unittest.TestCase):
    def parse(self, *words: str) -> options.RunOptions:
        one, rest = options.parse(words)
        return options.split_run_arguments(rest, one)

    def test_what_the_lab_does_not_know_is_passed_on_in_its_order(self) -> None:
        found = self.parse("run", "rfc4391/6", "!*-INV-*", "--json", "a b.json", "--role", "router", "--repeat=3", "tag:arp")
        self.assertEqual(found.arguments, ["rfc4391/6", "!*-INV-*", "--json", "a b.json", "--repeat=3", "tag:arp"])
        self.assertEqual((found.fabric, found.scenario), ("lab", "default"))

    def test_a_command_for_the_guest_is_what_follows_two_dashes(self) -> None:
        one, rest = options.parse(["capture", "file", "--seconds", "5", "--", "ping", "-c", "1", "--", "x"])
        self.assertEqual((one.words, rest, one.seconds), (["ping", "-c", "1", "--", "x"], [], 5.0))
        with self.assertRaises(UsageError):
            options.parse(["run", "--", "x"])

    def test_adapters_are_enhanced_where_that_is_asked_for(self) -> None:
        for words, wanted in (([], {}), (["--enhanced"], {"vib": "enhanced=1"}),
                              (["--block-loopback"], {"vib": "enhanced=1+block_loopback=1"})):
            for command in (["run"], ["exec"], ["matrix"], ["test", "all"]):
                one, _ = options.parse([*command, *words, *(["--", "true"] if command == ["exec"] else [])])
                self.assertEqual(building.adapter_parameters(one), wanted)
        self.assertEqual([name for name, kind in matrix.RUNS.items() if kind.is_enhanced], ["enhanced", "enhanced-simulated"])

    def test_who_meets_others_has_a_guid_that_they_have_not(self) -> None:
        for words, wanted in (([], {}), (["--guid", "0x0002c90300dd0011"], {"vib": "guid=0x2c90300dd0011"}),
                              (["--guid=10", "--enhanced"], {"vib": "enhanced=1+guid=0x10"})):
            one, _ = options.parse(["adapter", "--port", "/run/port", *words])
            self.assertEqual(building.adapter_parameters(one), wanted)
        for words in ([], ["--port", "/p", "--guid", "x"], ["--port", "/p", "--guid", "0"], ["--port", "/p", "--guid", "1" * 17]):
            with self.assertRaises(SystemExit), mock.patch("sys.stderr", io.StringIO()):
                options.parse(["adapter", *words])

    def test_a_fabric_that_is_not_the_labs_is_refused(self) -> None:
        self.assertEqual(self.parse("run", "--fabric", "simulated:sa-mutant=x").fabric, "simulated:sa-mutant=x")
        for words in (("run", "--fabric", "verbs:mlx5_0"), ("run", "--listen", "x"), ("run", "--fabric-control=x")):
            with self.assertRaises(UsageError):
                self.parse(*words)

    def test_explore_says_itself_what_is_explored(self) -> None:
        def explore(*words: str) -> options.RunOptions:
            one, rest = options.parse(("explore", *words))
            return options.split_explore_arguments(rest, one)

        found = explore("--seeds", "3", "--scenario", "controlled", "--faults=sm")
        self.assertEqual((found.arguments, found.fabric, found.scenario),
                         (["--seeds", "3", "--faults=sm"], "simulated", "controlled"))
        for words in (("--listen", "x"), ("--dut=reference",), ("--fabric", "lab"), ("--mutants",),
                      ("--dut", "sa", "--fabric-control", "x"), ("--dut=sa", "--allow=fabric"),
                      ("--dut", "sa", "--scenario", "controlled")):
            with self.assertRaises(UsageError):
                explore(*words)
        for words in (("--dut", "sa"), ("--dut=sa",)):
            of_sa = explore(*words, "--seeds", "3")
            self.assertEqual((of_sa.arguments, of_sa.fabric), ([*words, "--seeds", "3"], "lab"))


class Boots(unittest.TestCase):
    def test_a_breakpoint_of_the_emulator_is_told_from_a_kernel_that_is_wrong(self) -> None:
        panic = "Kernel panic - not syncing: Fatal exception in interrupt"
        self.assertTrue(machine.is_emulators(f"Oops: int3: 0000 [#2] PREEMPT SMP NOPTI\n{panic}"))
        self.assertFalse(machine.is_emulators(f"BUG: kernel NULL pointer dereference\n{panic}"))
        self.assertFalse(machine.is_emulators("Oops: int3"))


if __name__ == "__main__":
    unittest.main()
