# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of what is taken from an archive of packages: with apt, dpkg-deb and small archives of their own, without a network."""

from __future__ import annotations

import contextlib
import hashlib
import io
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import packages
from packages import Apt
from tools import LabError, UsageError

ABI = "6.1.0-56"
IPOIB = "drivers/infiniband/ulp/ipoib"


class Records(unittest.TestCase):
    text = ("Package: opensm\nVersion: 1:3.3\nArchitecture: amd64\nPre-Depends: libc6\nDepends: libosm9 (>= 3), debconf "
            "| cdebconf, linux-headers-6.1.0-56-common (= 6.1.192-2)\nSHA256: ab\nDescription: x\n more\n\n"
            "Package: half\nVersion: 1\n")

    def test_records_and_their_dependencies(self) -> None:
        record, = packages.parse_records(self.text)
        self.assertEqual(record.file_name, "opensm_1%3a3.3_amd64.deb")
        self.assertEqual(packages.dependencies(record.depends),
                         [{"libc6": ""}, {"libosm9": ""}, {"debconf": "", "cdebconf": ""},
                          {"linux-headers-6.1.0-56-common": "6.1.192-2"}])


@unittest.skipUnless(all(map(shutil.which, ("apt-get", "apt-cache", "dpkg-deb"))), "apt is missing")
class Archive(unittest.TestCase):
    """A folder that apt takes for an archive."""

    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.archive = self.folder / "archive"
        self.archive.mkdir()

    def publish(self, name: str, version: str, depends: str = "", content: dict[str, bytes] | None = None) -> None:
        tree = self.folder / "tree"
        (tree / "DEBIAN").mkdir(parents=True)
        control = (f"Package: {name}\nVersion: {version}\nArchitecture: amd64\nMaintainer: nobody <nobody@localhost>\n"
                   f"Description: x\n" + (f"Depends: {depends}\n" if depends else ""))
        (tree / "DEBIAN/control").write_text(control, encoding="ascii")
        for path, data in (content or {}).items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_bytes(data)
        deb = self.archive / f"{name}_{version}_amd64.deb"
        subprocess.run(["dpkg-deb", "-Znone", "--build", "--root-owner-group", tree, deb], check=True, timeout=60,
                       stdout=subprocess.DEVNULL)
        shutil.rmtree(tree)
        with open(self.archive / "Packages", "a", encoding="ascii") as file:
            file.write(f"{control}Filename: ./{deb.name}\nSize: {deb.stat().st_size}\n"
                       f"SHA256: {hashlib.sha256(deb.read_bytes()).hexdigest()}\n\n")

    def publish_kernel(self, version: str, abi: str = ABI, headers: str = "", kbuild: str = "") -> None:
        """As Debian does; an empty version is that of the image."""
        headers = headers or version
        self.publish("linux-image-amd64", version, f"linux-image-{abi}-amd64 (= {version})")
        self.publish(f"linux-image-{abi}-amd64", version, "kmod, linux-base (>= 4.3~)")
        self.publish(f"linux-headers-{abi}-amd64", headers,
                     f"linux-headers-{abi}-common (= {headers}), linux-kbuild-6.1 (>= {headers}), linux-compiler-gcc-12-x86")
        self.publish(f"linux-headers-{abi}-common", headers)
        self.publish("linux-kbuild-6.1", kbuild or headers)

    def publish_source(self, version: str) -> None:
        name = "linux-source-6.1"
        tree = self.folder / name / IPOIB
        tree.mkdir(parents=True)
        (tree / "ipoib_main.c").write_text(version, encoding="ascii")
        packed = subprocess.run(["tar", "-cJ", "-C", self.folder, name], check=True, stdout=subprocess.PIPE, timeout=60)
        shutil.rmtree(self.folder / name)
        self.publish(name, version, content={f"usr/src/{name}.tar.xz": packed.stdout})

    def withdraw(self, name: str, version: str) -> None:
        records = (self.archive / "Packages").read_text(encoding="ascii").split("\n\n")
        kept = [one for one in records if not one.startswith(f"Package: {name}\nVersion: {version}\n")]
        self.assertEqual(len(kept), len(records) - 1)
        (self.archive / "Packages").write_text("\n\n".join(kept), encoding="ascii")
        (self.archive / f"{name}_{version}_amd64.deb").unlink()

    def apt(self) -> Apt:
        """As a new process has it: with the lists that were fetched before."""
        return Apt(self.folder / "apt", f"deb [trusted=yes] file:{self.archive} ./\n")

    def plan(self) -> tuple[dict[str, str], str]:
        """The versions of the usual kernel's packages, and what was said."""
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            wanted = packages.plan_and_fetch(self.apt(), packages.newest_kernel, self.folder / "debs", False)
        return {one.name: one.version for one in wanted}, said.getvalue()

    def source(self, kernel: str, abi: str = ABI) -> tuple[str, str]:
        """The version whose source of ib_ipoib is unpacked for a kernel, and what was said."""
        destination = self.folder / "source"
        shutil.rmtree(destination, ignore_errors=True)
        (self.folder / "packages/root").mkdir(parents=True, exist_ok=True)
        (self.folder / "packages/stamp").write_text(f"x\n/\nlinux-image-{abi}-amd64 {kernel} 00\n", encoding="ascii")
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            packages.unpack_source(self.apt(), self.folder / "packages/root", self.folder / "source-debs", destination,
                                   {IPOIB: "."}, packages.newest_kernel)
        self.assertFalse((self.folder / "source-debs").exists())
        return (destination / "ipoib_main.c").read_text(encoding="ascii"), said.getvalue()


class Versions(Archive):
    def test_of_image_headers_and_source_of_different_versions_the_exact_ones_are_taken(self) -> None:
        self.publish_kernel("6.1.192-2", kbuild="6.1.192-3")
        self.publish(f"linux-headers-{ABI}-amd64", "6.1.192-3", f"linux-headers-{ABI}-common (= 6.1.192-3)")
        self.publish(f"linux-headers-{ABI}-common", "6.1.192-3")
        for version in ("6.1.190-1", "6.1.192-2", "6.1.192-3"):
            self.publish_source(version)
        versions, said = self.plan()
        self.assertEqual(versions, {f"linux-image-{ABI}-amd64": "6.1.192-2", f"linux-headers-{ABI}-amd64": "6.1.192-2",
                                    f"linux-headers-{ABI}-common": "6.1.192-2", "linux-kbuild-6.1": "6.1.192-3"})
        self.assertNotIn("nearest", said)
        self.assertEqual(self.source("6.1.192-2"), ("6.1.192-2", "lab: downloading 1 packages\n"))

    def test_where_the_exact_version_is_gone_the_nearest_of_the_same_upstream_version_is_taken_and_said(self) -> None:
        for version in ("6.1.190-1", "6.1.192-1~bpo12+5", "6.1.192-3", "6.1.192-7", "6.1.200-1"):
            self.publish_source(version)
        for kernel, version in (("6.1.192-2", "6.1.192-1~bpo12+5"), ("6.1.192-5", "6.1.192-3"),
                                ("6.1.192-3+b1", "6.1.192-3"), ("6.1.192-1~bpo12+1", "6.1.192-1~bpo12+5")):
            with self.subTest(kernel):
                found, said = self.source(kernel)
                self.assertEqual(found, version)
                self.assertIn(f"lab: Debian lists no linux-source-6.1 {kernel}; {version} is the nearest of the same upstream "
                              "version\n", said)

    def test_headers_without_the_images_version_are_the_nearest_and_said(self) -> None:
        self.publish_kernel("6.1.192-2", headers="6.1.192-3")
        versions, said = self.plan()
        self.assertEqual(versions[f"linux-headers-{ABI}-amd64"], "6.1.192-3")
        self.assertEqual(versions[f"linux-headers-{ABI}-common"], "6.1.192-3")
        self.assertIn(f"lab: Debian lists no linux-headers-{ABI}-amd64 6.1.192-2; 6.1.192-3 is the nearest", said)

    def test_a_kernel_without_headers_gives_way_to_the_one_before(self) -> None:
        self.publish_kernel("6.1.176-1", "6.1.0-50")
        self.publish_kernel("6.1.192-2", headers="6.1.195-1")
        versions, said = self.plan()
        self.assertEqual(versions["linux-image-6.1.0-50-amd64"], "6.1.176-1")
        self.assertNotIn(f"linux-image-{ABI}-amd64", versions)
        self.assertIn(f"lab: Debian lists no linux-headers-{ABI}-amd64 of 6.1.192, but 6.1.195-1; the kernel before it "
                      "is taken: linux-image-6.1.0-50-amd64\n", said)

    def test_lists_that_are_old_are_brought_up_to_date_before_anything_else_is_taken(self) -> None:
        self.publish_source("6.1.176-1")
        self.source("6.1.176-1")
        self.publish_source("6.1.192-3")
        self.publish_source("6.1.192-2")
        version, said = self.source("6.1.192-2")
        self.assertEqual(version, "6.1.192-2")
        self.assertIn("asking Debian for its current packages", said)
        # What the lists still have may be gone, too.
        self.withdraw("linux-source-6.1", "6.1.192-2")
        self.assertEqual(self.source("6.1.192-2")[0], "6.1.192-3")


class Follow(Archive):
    everything = re.compile("")

    def follow(self, *names: str) -> dict[str, str]:
        apt = self.apt()
        with contextlib.redirect_stderr(io.StringIO()):
            apt.update()
            return {one.name: one.version for one in packages.follow(apt, names, self.everything, frozenset()).values()}

    def test_a_version_that_somebody_asks_for_is_taken_whoever_asks_first(self) -> None:
        for version in ("1", "2"):
            self.publish("libx", version)
        self.publish("a", "1", "libx (= 1)")
        self.publish("b", "1", "libx")
        self.publish("c", "1", "libx (= 1), libx (>= 0)")
        self.publish("d", "1", "e")
        self.publish("e", "1", "libx (= 1)")
        for names in (("a", "b"), ("b", "a"), ("c",), ("libx", "d")):
            with self.subTest(names):
                self.assertEqual(self.follow(*names)["libx"], "1")
        self.assertEqual(self.follow("b")["libx"], "2")

    def test_of_alternatives_the_first_that_there_is_is_taken(self) -> None:
        self.publish("libb", "1")
        self.publish("a", "1", "nothere | libb")
        self.assertEqual(self.follow("a"), {"a": "1", "libb": "1"})

    def test_a_set_is_what_apt_has_chosen(self) -> None:
        self.publish("libx", "1")
        self.publish("a", "1", "libx")
        apt, status = self.apt(), self.folder / "none"
        status.touch()
        with contextlib.redirect_stderr(io.StringIO()):
            apt.update()
        self.assertEqual({one.name for one in apt.install(["a"], status)}, {"a", "libx"})
        for name in ("lib.", "a-", "nothere"):
            with self.subTest(name), self.assertRaisesRegex(UsageError, f"no package {name}"):
                apt.install([name], status)


class Gone(Archive):
    def test_a_part_of_the_headers_that_is_gone_is_told(self) -> None:
        self.publish_kernel("6.1.192-2")
        for name in ("linux-kbuild-6.1", f"linux-headers-{ABI}-common"):
            self.withdraw(name, "6.1.192-2")
            with self.subTest(name), contextlib.redirect_stderr(io.StringIO()), \
                    self.assertRaisesRegex(LabError, f"lists no {name}"):
                apt = self.apt()
                apt.update()
                packages.newest_kernel(apt)

    def test_an_image_that_apt_would_not_install_is_told(self) -> None:
        self.publish_kernel("6.1.192-2")
        pin = self.folder / "preferences"
        pin.write_text(f"Package: linux-image-{ABI}-amd64\nPin: version 6.1.*\nPin-Priority: -1\n", encoding="ascii")
        apt = self.apt()
        with contextlib.redirect_stderr(io.StringIO()):
            apt.update()
        apt._options += ["-o", f"Dir::Etc::preferences={pin}"]
        with self.assertRaisesRegex(LabError, f"no package linux-image-{ABI}-amd64"):
            packages.newest_kernel(apt)

    def test_a_version_that_is_gone_has_its_cure_named_where_that_works(self) -> None:
        self.publish_kernel("6.1.192-2")
        self.publish_source("6.1.192-2")
        with self.assertRaisesRegex(LabError, "(?s)lists no linux-source-6.1 of 6.1.176.*, but 6.1.192-2.*packages fetches "
                                              f"linux-image-{ABI}-amd64 6.1.192-2, whose source there is"):
            self.source("6.1.176-1", "6.1.0-50")
        self.assertFalse((self.folder / "source").exists())

    def test_no_cure_is_named_where_there_is_none(self) -> None:
        self.publish_kernel("6.1.192-2")
        self.publish_source("6.1.187-1")
        with self.assertRaises(LabError) as caught:
            self.source("6.1.192-2")
        self.assertIn("lists no linux-source-6.1 of 6.1.192", str(caught.exception))
        self.assertNotIn("packages fetches", str(caught.exception))

    def test_an_archive_without_any_kernel_of_ours_is_told(self) -> None:
        self.publish("linux-image-amd64", "6.1.192-2", f"linux-image-{ABI}-amd64 (= 6.1.192-2)")
        with self.assertRaisesRegex(LabError, f"linux-image-{ABI}-amd64"):
            self.plan()


if __name__ == "__main__":
    unittest.main()
