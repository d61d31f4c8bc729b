# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's initramfs: programs with the libraries that they need, kernel modules in the order that they load in, and
lab/guest's scripts. The same parts give the same file, whose name is the digest of its content."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import cpio
from elf import interpreter, is_elf, module_info, needed_libraries
from kernel import Kernel, decompressed_module
from tools import LabError, run, say, write_whole

_KEPT = 16  # images of other runs, which may still be in use

_PROGRAMS = ("opensm", "ibv_devinfo", "ibv_devices", "ibv_ud_pingpong", "ibv_rc_pingpong", "saquery", "smpquery",
             "ibstat", "ibnetdiscover", "ibaddr", "perfquery", "ibping", "iblinkinfo", "sminfo", "ibroute",
             "ibtracert", "dump_fts", "mckey", "ucmatose", "udaddy", "ip", "rdma", "bridge", "ss", "ping", "smcrouted",
             "smcroutectl")
_PROGRAMS_BESIDE_HOSTS = ("opensm", "ip", "rdma")
_LAB_PROGRAMS_BESIDE_HOSTS = ("ipoib-lab-port", "ipoib-dut-linux")
_LAB_PROGRAMS = ("ipoib-lab-port", "ipoib-dut-linux", "ipoib-lab-control", "ipoib-conform", "ipoib-gen")
_HIDDEN_APPLETS = {"busybox", "ash", "hush"}  # the scripts are bash's
# In the order wanted; what one depends on comes before it. rdma_ucm and those behind it are of use, but not needed.
_MODULES = ("virtio_pci", "virtio_console", "ib_core", "ib_umad", "ib_uverbs", "ib_cm", "rdmavt", "vib", "ib_ipoib")
_MODULES_OF_ROOT = ("virtio_pci", "virtio_console", "virtio_blk", "squashfs", "overlay")  # what hosts need before
_MODULES_OF_FOLDER = ("9p", "9pnet_virtio")
_MODULES_IF_THERE = ("configfs", "ipv6", "af_packet", "dummy", "rdma_ucm")
_LIBRARY_FOLDERS = ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu", "usr/lib64", "lib64", "usr/lib", "lib")
_PROGRAM_FOLDERS = ("usr/sbin", "usr/bin", "sbin", "bin")


@dataclass
class Parts:
    """Where everything comes from."""

    root: Path  # Debian's packages
    kernel: Kernel
    modules: dict[str, Path]  # those that the lab has built, by name
    programs: Path  # build folder of the guest's own programs
    guest: Path  # lab/guest
    is_for_hosts: bool = False  # their own programs are on disks
    has_dhcp: bool = False  # DHCP programs are on disks
    entries: list[cpio.Entry] = field(default_factory=list)


def find_program(folder: Path, name: str) -> Path | None:
    """In a build folder, CMake has its programs either on top or in the folders of their sources. Beside the bin of an
    installation are those that only the guest runs."""
    folders = (folder, folder / "lab/guest", folder / "lab", folder.parent / "libexec/ipoib-conformance")
    return next((one / name for one in folders if (one / name).is_file()), None)


def without_debug_information(data: bytes, name: str) -> bytes:
    """Kernels and programs of developers have it; the guest has no memory for it."""
    if not is_elf(data) or b".debug_info\0" not in data:
        return data
    with tempfile.TemporaryDirectory(prefix="ipoib-lab-") as folder:
        path = Path(folder) / "stripped"
        path.write_bytes(data)
        run(["strip", "--strip-debug", path], f"taking the debug information out of {name}")
        return path.read_bytes()


def module_order(wanted: Iterable[str], depends: dict[str, list[str]]) -> list[str]:
    """Each module once, behind those that it depends on; names that `depends` does not know are left out."""
    order: list[str] = []
    open_names: set[str] = set()

    def visit(name: str) -> None:
        if name in order or name not in depends:
            return
        if name in open_names:
            raise LabError(f"the kernel's modules depend on each other in a circle, at {name}")
        open_names.add(name)
        for other in depends[name]:
            visit(other)
        order.append(name)

    for name in wanted:
        visit(name)
    return order


class _Libraries:
    """Resolves sonames in Debian's packages and then on this machine, which is where libc comes from."""

    def __init__(self, parts: Parts) -> None:
        self._entries = parts.entries
        roots = (parts.root, Path("/"))
        self._folders = [root / folder for root in roots for folder in _LIBRARY_FOLDERS]
        self._known: set[str] = set()

    def add_needed(self, data: bytes, name: str) -> None:
        loader = interpreter(data, name)
        if loader is not None and loader not in self._known:
            self._known.update((loader, loader.rsplit("/", 1)[-1]))
            self._entries.append(cpio.file(loader.lstrip("/"), Path(loader).read_bytes(), 0o755))
        for soname in needed_libraries(data, name):
            self.add(soname, name)

    def add(self, soname: str, wanted_by: str) -> None:
        if soname in self._known:
            return
        self._known.add(soname)
        path = next((f / soname for f in self._folders if (f / soname).is_file()), None)
        if path is None:
            raise LabError(f"{wanted_by} needs the library {soname}, which is nowhere")
        data = path.read_bytes()
        self._entries.append(cpio.file(f"lib/x86_64-linux-gnu/{soname}", data, 0o755))
        self.add_needed(data, soname)


def _add_programs(parts: Parts) -> None:
    libraries = _Libraries(parts)
    names: set[str] = set()

    def add(name: str, path: Path) -> None:
        data = without_debug_information(path.read_bytes(), name)
        names.add(name)
        parts.entries.append(cpio.file(f"bin/{name}", data, 0o755))
        if is_elf(data):
            libraries.add_needed(data, str(path))

    for name in _PROGRAMS_BESIDE_HOSTS if parts.is_for_hosts else _PROGRAMS:
        path = next((parts.root / f / name for f in _PROGRAM_FOLDERS if (parts.root / f / name).is_file()), None)
        if path is None:
            raise LabError(f"{name} is in none of Debian's packages in {parts.root}")
        add(name, path)
    for name in _LAB_PROGRAMS_BESIDE_HOSTS if parts.is_for_hosts else _LAB_PROGRAMS:
        path = find_program(parts.programs, name)
        if path is None:
            raise LabError(f"{name} is not in {parts.programs}: build it (cmake --build), or name another folder "
                           "with --programs")
        add(name, path)
    add("bash", Path("/bin/bash"))
    libraries.add("libgcc_s.so.1", "pthread_cancel")  # loaded by libc when a thread of OpenSM is cancelled
    _add_verbs_provider(parts, libraries)

    busybox = next(p for f in _PROGRAM_FOLDERS if (p := parts.root / f / "busybox").is_file())
    add("busybox", busybox)
    parts.entries.append(cpio.link("bin/sh", "bash"))
    for applet in run([busybox, "--list"], "asking busybox for its applets").split():
        if applet not in names | _HIDDEN_APPLETS | {"sh"}:
            parts.entries.append(cpio.link(f"bin/{applet}", "busybox"))


def _add_verbs_provider(parts: Parts, libraries: _Libraries) -> None:
    """ipathverbs serves the user ABI of rdmavt, which is the lab's adapters' own."""
    folder = "usr/lib/x86_64-linux-gnu/libibverbs"
    driver = parts.root / "etc/libibverbs.d/ipathverbs.driver"
    providers = sorted((parts.root / folder).glob("libipathverbs-rdmav*.so"))
    if not driver.is_file() or not providers:
        raise LabError("Debian's ibverbs-providers has no ipathverbs")
    parts.entries.append(cpio.file("etc/libibverbs.d/ipathverbs.driver", driver.read_bytes()))
    for provider in providers:
        data = provider.read_bytes()
        parts.entries.append(cpio.file(f"{folder}/{provider.name}", data, 0o755))
        libraries.add_needed(data, provider.name)


def _add_modules(parts: Parts) -> None:
    files = {**parts.kernel.modules, **parts.modules}
    contents: dict[str, bytes] = {}
    depends: dict[str, list[str]] = {}
    has_disks = parts.is_for_hosts or parts.has_dhcp
    needed = (*_MODULES_OF_ROOT, *_MODULES) if has_disks else _MODULES
    useful = (*_MODULES_OF_FOLDER, *_MODULES_IF_THERE) if parts.is_for_hosts else _MODULES_IF_THERE
    waiting = [name for name in (*needed, *useful) if name in files]
    absent = [name for name in needed if name not in files and name not in parts.kernel.builtin]
    if absent:
        raise LabError(f"the kernel {parts.kernel.release} has no module {', '.join(absent)}; lab/kernel/config.fragment"
                       " says what it needs")
    while waiting:
        name = waiting.pop()
        if name in contents:
            continue
        contents[name] = without_debug_information(decompressed_module(files[name]), name)
        wanted = module_info(contents[name], str(files[name])).get("depends", "")
        depends[name] = [other.replace("-", "_") for other in wanted.split(",") if other]
        for other in depends[name]:
            if other not in files:
                raise LabError(f"the module {name} needs {other}, which is not there")
            waiting.append(other)
    *first, vib, ipoib = needed
    lists = {"order": (*first, *useful, vib, ipoib)}
    if has_disks:
        of_folder = _MODULES_OF_FOLDER if parts.is_for_hosts else ()
        lists |= {"order.root": (*_MODULES_OF_ROOT, *of_folder), "order.vib": (*_MODULES_OF_ROOT, vib)}
    for name in module_order(lists["order"], depends):
        parts.entries.append(cpio.file(f"lab/modules/{name}.ko", contents[name]))
    for file, wanted_names in lists.items():
        text = "".join(f"{name}\n" for name in module_order(wanted_names, depends))
        parts.entries.append(cpio.file(f"lab/modules/{file}", text.encode()))


def _add_scripts(parts: Parts) -> None:
    def add(path: str, source: Path, permissions: int = 0o644) -> None:
        parts.entries.append(cpio.file(path, source.read_bytes(), permissions))

    add("init", parts.guest / "init", 0o755)
    add("lab/sm", parts.guest / "sm", 0o755)
    add("etc/opensm/opensm.conf", parts.guest / "opensm.conf")
    if parts.is_for_hosts:
        for name, permissions in (("root", 0o644), ("hosts", 0o644), ("configure", 0o755), ("host", 0o755)):
            add(f"lab/{name}", parts.guest / name, permissions)
        return
    if parts.has_dhcp:
        add("lab/root", parts.guest / "root")
        add("lab/dhcp", parts.guest / "dhcp", 0o755)
    add("lab/linux.baseline.toml", parts.guest.parent / "linux.baseline.toml")
    for script in sorted((parts.guest / "tests").glob("*.sh")):
        add(f"lab/tests/{script.name}", script)


def largest(memory: int) -> int:
    """Octets of an image for a guest of so many MiB, which has it twice while it boots."""
    usual, share = 48 << 20, 3 / 16
    return max(usual, int((memory << 20) * share))


def prepare(parts: Parts, folder: Path, memory: int) -> Path:
    """The image's path; it is written only if there is none of the same content."""
    parts.entries = [cpio.folder(name) for name in ("dev", "proc", "sys", "run", "tmp", "root", "var", "sbin")]
    parts.entries += [cpio.character_device("dev/console", 5, 1), cpio.character_device("dev/null", 1, 3, 0o666),
                      cpio.file("etc/passwd", b"root:x:0:0:root:/root:/bin/bash\n"),
                      cpio.file("etc/group", b"root:x:0:\n"), cpio.file("etc/hosts", b"127.0.0.1 localhost guest\n")]
    _add_programs(parts)
    _add_modules(parts)
    _add_scripts(parts)
    data = cpio.archive(parts.entries)
    if len(data) > largest(memory):
        raise LabError(f"the guest's image has {len(data) >> 20} MiB, more than {largest(memory) >> 20}: the guest "
                       f"would need more memory than {memory} MiB (--memory)")
    path = folder / f"image-{hashlib.sha256(data).hexdigest()[:16]}.cpio"
    if not path.is_file() or path.stat().st_size != len(data):
        say(f"writing {path.name}, {len(data) / (1 << 20):.1f} MiB")
        write_whole(path, data)
    path.touch()
    for old in sorted(folder.glob("image-*.cpio"), key=lambda p: p.stat().st_mtime_ns)[:-_KEPT]:
        old.unlink(missing_ok=True)
    return path
