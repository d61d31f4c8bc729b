# SPDX-License-Identifier: GPL-2.0-or-later
"""`exec` without a guest: what is asked for, what is refused, streams that end, jobs, sets of packages."""

from __future__ import annotations

import argparse
import io
import sys
import tarfile
import tempfile
import unittest
from contextlib import redirect_stderr
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import configuration
import console
import hosts
import kernel_modules
import machine
import manual
import options
import package_set
import packages
import streams
from kernel import Kernel
from tools import LabError, UsageError


def parsed(*words: str) -> argparse.Namespace:
    return options.parse(["exec", *words])[0]


class Wanted(unittest.TestCase):
    def test_two_hosts_unless_said_otherwise(self) -> None:
        want = hosts.wanted(parsed("--", "true"))
        self.assertEqual((want.hosts, want.ports, want.packages, want.partitions), (2, 1, (), ""))

    def test_wrong_use_is_refused(self) -> None:
        for words, said in ((("--hosts", "17", "--ports", "2"), "32 adapters"), (("--package", "No Name"), "no name"),
                            (("--folder", "/nowhere/at/all"), "no such folder"),
                            (("--kernel", "/nowhere"), "there is no kernel /nowhere"),
                            (("--script", "/nowhere/at/all"), "No such file"), (("--partition", "1:h1"), "--partition 1:h1"),
                            (("--partition", "0x8000:h1"), "P_Key"), (("--partition", "0x1:h3"), "no host h3")):
            with self.subTest(words), self.assertRaisesRegex(UsageError, said):
                hosts.wanted(parsed(*words, "--", "true"))

    def test_what_the_parser_refuses_is_no_code_of_the_commands(self) -> None:
        for words in (("--hosts", "0"), ("--hosts", "33"), ("--sm", "none of these"), ("--timeout", "-1")):
            with self.subTest(words), redirect_stderr(io.StringIO()), self.assertRaises(SystemExit) as ended:
                parsed(*words, "--", "true")
            self.assertEqual(ended.exception.code, 125)

    def test_the_manual_has_it(self) -> None:
        page = manual.page(options.parser(), "1")
        self.assertIn("\\-\\-ports 1|2", page)
        self.assertIn(".SS exec", page)

    def test_partitions_are_opensms_lines(self) -> None:
        want = hosts.wanted(parsed("--ports", "2", "--partition", "0x8001:h1,h2=limited", "--", "true"))
        self.assertEqual(want.partitions, "Default=0x7fff, ipoib : ALL=full;\n"
                         "P0001=0x0001, ipoib : SELF=full, 0x0002c9b200000001=full, 0x0002c9b200000101=full, "
                         "0x0002c9b200000201=limited, 0x0002c9b200000301=limited;\n")
        want = hosts.wanted(parsed("--partition", "0xffff:ALL=limited", "--", "true"))
        self.assertEqual(want.partitions, "P7fff=0x7fff, ipoib : SELF=full, ALL=limited;\n")


class Job(unittest.TestCase):
    def files(self, *words: str, script: bytes | None = None) -> dict[str, bytes]:
        want = hosts.Wanted(2, 1, (), None, script, "", "opensm")
        with tempfile.TemporaryDirectory() as folder:
            disk = hosts.job(want, Path(folder) / "job", words, b"end")
            self.assertEqual(disk.path.stat().st_size % 512, 0)
            with tarfile.open(disk.path) as tar:
                return {one.name: file.read() for one in tar if (file := tar.extractfile(one)) is not None}

    def test_words_stay_what_they_are(self) -> None:
        self.assertIn(b"\nexec echo 'a b' '$HOME' ''\n", self.files("echo", "a b", "$HOME", "")["run"])

    def test_a_script_gets_the_words(self) -> None:
        self.assertIn(b"\nexec bash /lab/job/script a 'b c'\n", self.files("a", "b c", script=b"echo hello\n")["run"])
        files = self.files(script=b"#!/usr/bin/python3\n")
        self.assertIn(b"\nexec /lab/job/script\n", files["run"])
        self.assertEqual(files["script"], b"#!/usr/bin/python3\n")


class Ending(unittest.TestCase):
    def test_the_end_is_found_wherever_the_stream_is_cut(self) -> None:
        text = b"0000 and 0120 012" + b"0123" + b"behind"
        for size in range(1, len(text) + 1):
            ending = streams.Ending(b"0123")
            taken = b"".join(ending.take(text[at:at + size]) for at in range(0, len(text), size))
            self.assertEqual((taken, ending.is_there), (b"0000 and 0120 012", True), size)

    def test_a_stream_without_an_end_is_whole_with_its_rest(self) -> None:
        ending = streams.Ending(b"0123")
        self.assertEqual((ending.take(b"x012"), ending.rest(), ending.is_there), (b"x", b"012", False))


class Complaints(unittest.TestCase):
    TEXT = ("[    1.0] before\n[    2.0] WARNING: CPU: 0 PID: 7 at net/x.c:1 f+0x1/0x2\n[    2.1] Call Trace:\n"
            "LAB-JOB rc=0\n[    2.2]  g+0x3/0x4\n[    2.3] ---[ end trace 0000 ]---\n[    3.0] behind\n")

    def test_a_trace_begins_with_its_fault_and_ends_with_its_end(self) -> None:
        fault, = console.faults_in(self.TEXT)
        self.assertEqual(console.trace_of(self.TEXT, fault).splitlines(),
                         ["WARNING: CPU: 0 PID: 7 at net/x.c:1 f+0x1/0x2", "Call Trace:", " g+0x3/0x4",
                          "---[ end trace 0000 ]---"])


class PackageSet(unittest.TestCase):
    def test_a_set_is_known_by_its_names_in_any_order(self) -> None:
        build = Path("/build")
        self.assertEqual(package_set.folder_of(build, ["b", "a", "a"]), package_set.folder_of(build, ["a", "b"]))
        self.assertNotEqual(package_set.folder_of(build, ["a"]), package_set.folder_of(build, ["a", "b"]))

    def test_what_does_not_fit_is_not_begun(self) -> None:
        large = packages.Package("large", "1", "amd64", "", "", 1 << 50, 1 << 50)
        with self.assertRaisesRegex(LabError, "no room in /"):
            packages.check_room([large], Path("/"))

    def test_sizes_are_read(self) -> None:
        found, = packages.parse_records("Package: a\nVersion: 1\nArchitecture: amd64\nSHA256: 0\nSize: 5\nInstalled-Size: 2\n")
        self.assertEqual((found.size, found.installed_size), (5, 2048))

    def test_of_the_disk_with_a_state_only_the_archive_is_kept(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            result, state = Path(folder) / "result", Path(folder) / "state.tar"
            configuration.job_disk(result, {"etc/passwd": (b"root", 0o644)})
            with open(result, "r+b") as file:
                file.truncate(1 << 26)
            configuration._keep(result, state)
            self.assertLess(state.stat().st_size, 4096)
            with tarfile.open(state) as tar:
                self.assertEqual(tar.getnames(), ["etc/passwd"])


class Modules(unittest.TestCase):
    def test_networking_is_of_use_and_hardware_is_not(self) -> None:
        kernel = Kernel("6.1", Path("/k"), Path("/tree"), {}, frozenset(), {}, Path("/f"))
        for path, place in (("/root/lib/modules/6.1/kernel/drivers/net/bonding/bonding.ko", "drivers/net/bonding/bonding.ko"),
                            ("/tree/net/9p/9pnet.ko", "net/9p/9pnet.ko"),
                            ("/tree/drivers/net/veth.ko.xz", "drivers/net/veth.ko.xz"),
                            ("/tree/drivers/net/ethernet/intel/e1000.ko", None), ("/tree/net/wireless/cfg80211.ko", None),
                            ("/tree/drivers/infiniband/hw/mlx4/mlx4_ib.ko", None)):
            self.assertEqual(kernel_modules._place(Path(path), kernel), place)


class Disks(unittest.TestCase):
    def test_they_are_lent_and_only_results_are_written(self) -> None:
        guest = machine.Guest(Path("/k"), Path("/i"), ports=("stdout",), shared=Path("/a,b"),
                              disks=(machine.Disk("base", Path("/b")), machine.Disk("result", Path("/r"), is_written=True)))
        numbers = {"stdout": 10, "kernel": 11, "image": 12, "console": 13, "disk base": 14, "disk result": 15}
        words = machine.qemu_command(guest, Path("/d"), numbers, (7, 2))
        drives = [word for word in words if word.startswith("if=none,")]
        self.assertEqual(["readonly=on" in one for one in drives], [True, False])
        self.assertIn("fd=15,set=3", words)
        self.assertIn("virtio-blk-pci,drive=result,serial=result", words)
        self.assertIn("local,id=folder,path=/a,,b,security_model=none", words)


if __name__ == "__main__":
    unittest.main()
