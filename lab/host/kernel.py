# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's kernel, Debian's or one that the user built: what to boot, where its modules are, and modules for it."""

from __future__ import annotations

import hashlib
import lzma
import os
import re
import shutil
import struct
import subprocess
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import stacks
import suite_tree
from elf import is_elf
from tools import HINT, LabError, last_lines, need_program, run, say, write_whole

_LARGEST_KERNEL = 1 << 30
_MODULE_SUFFIX = re.compile(r"\.ko(\.xz|\.zst|\.gz)?$")


@dataclass(frozen=True)
class Kernel:
    release: str
    boot_file: Path  # an ELF file with a PVH entry, which boots faster, or a bzImage
    build_tree: Path  # what modules are built against
    config: dict[str, str]
    builtin: frozenset[str]  # names of modules that are part of the kernel
    modules: dict[str, Path]
    folder: Path  # what the lab makes for this kernel
    make_options: list[str] = field(default_factory=list)
    tree: Path | None = None  # modules are built with this as the root of the file system (suite_tree)

    @property
    def symbols(self) -> dict[str, Path]:
        """Files with debug information, of a kernel that the user built; by module (stacks)."""
        if not (self.build_tree / "vmlinux").is_file():
            return {}
        return {**self.modules, stacks.KERNEL: self.build_tree / "vmlinux"}

    @property
    def is_sanitized(self) -> bool:
        """Whether it looks for memory errors, which makes it slow and large."""
        return self.config.get("CONFIG_KASAN") == "y"

    @property
    def workshop(self) -> Path:
        """Where modules are built."""
        return self.folder if self.tree is None else self.tree / "lab"

    def make(self) -> list[str]:
        return [need_program("make")] if self.tree is None else [*suite_tree.entering(self.tree), "make"]

    def as_make_sees(self, path: Path) -> str:
        return str(path) if self.tree is None else f"/{path.relative_to(self.tree)}"


def module_name(path: str) -> str:
    """As lsmod has it."""
    return _MODULE_SUFFIX.sub("", path.rsplit("/", 1)[-1]).replace("-", "_")


def read_config(text: str) -> dict[str, str]:
    """CONFIG_X to its value; what "is not set" is left out."""
    return dict(re.findall(r"^(CONFIG_\w+)=(.+)$", text, re.MULTILINE))


def missing_config(config: dict[str, str], fragment: str) -> tuple[list[str], list[str]]:
    """The lines of a fragment that a configuration does not meet: those it must, and those behind the line
    "# Optional". A module may as well be built in."""
    must, optional = [], []
    missing = must
    for line in fragment.splitlines():
        if line.startswith("# Optional"):
            missing = optional
        match = re.match(r"(CONFIG_\w+)=(\S+)$", line)
        if match is None:
            continue
        has = config.get(match.group(1))
        if has != match.group(2) and not (match.group(2) == "m" and has == "y"):
            missing.append(line)
    return must, optional


def _filtered(program: str, data: bytes) -> bytes:
    done = subprocess.run([need_program(program), "-dc"], input=data, capture_output=True, timeout=120, check=False)
    # These complain of what follows the compressed data, behind a good result.
    if not is_elf(done.stdout):
        raise LabError(f"{program} cannot decompress the kernel: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def bzimage_payload(image: bytes) -> bytes:
    """The kernel as ELF that a bzImage unpacks when it boots (Documentation/arch/x86/boot.rst)."""
    if len(image) < 0x250 or image[0x202:0x206] != b"HdrS":
        raise LabError("this is not a bzImage: it has no setup header")
    version, sectors = struct.unpack_from("<H", image, 0x206)[0], image[0x1f1] or 4
    if version < 0x208:
        raise LabError(f"the bzImage is of boot protocol {version >> 8}.{version & 255:02}, which is too old")
    offset, length = struct.unpack_from("<II", image, 0x248)
    begin = (sectors + 1) * 512 + offset
    # A size is appended to what the compressor wrote, which decompressors of their own must not see.
    data = image[begin:begin + length]
    if len(data) != length or length < 16:
        raise LabError("the bzImage is cut off")
    try:
        kernel = _decompressed(data)
    except (lzma.LZMAError, zlib.error) as problem:
        raise LabError(f"the kernel in the bzImage cannot be decompressed: {problem}") from problem
    if not is_elf(kernel):
        raise LabError("what is in the bzImage is not an ELF file")
    return kernel


def _decompressed(data: bytes) -> bytes:
    if data.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(data, _LARGEST_KERNEL)
    if data.startswith(b"\x5d\0\0"):
        return lzma.LZMADecompressor(lzma.FORMAT_ALONE).decompress(data, _LARGEST_KERNEL)
    if data.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, _LARGEST_KERNEL)
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        return _filtered("zstd", data[:-4])
    if data.startswith(b"\x02\x21\x4c\x18"):
        return _filtered("lz4", data[:-4])
    if is_elf(data):
        return data
    raise LabError("the kernel in the bzImage is compressed with neither xz, lzma, gzip, zstd nor lz4")


def decompressed_module(path: Path) -> bytes:
    data = path.read_bytes()
    if path.suffix == ".xz":
        return lzma.decompress(data)
    if path.suffix == ".gz":
        return zlib.decompress(data, zlib.MAX_WBITS | 16)
    return _filtered("zstd", data) if path.suffix == ".zst" else data


def _boot_file(bzimage: Path, config: dict[str, str], folder: Path) -> Path:
    """The uncompressed kernel, if it can be entered without the bzImage's own code; cached by the image's content.
    One with KASAN cannot: KASAN's shadow memory is not mapped yet at the PVH entry."""
    if config.get("CONFIG_PVH") != "y" or config.get("CONFIG_KASAN") == "y":
        return bzimage
    data = bzimage.read_bytes()
    path, stamp = folder / "vmlinux", folder / "vmlinux.of"
    digest = hashlib.sha256(data).hexdigest()
    if not (path.is_file() and stamp.is_file() and stamp.read_text(encoding="ascii") == digest):
        write_whole(path, bzimage_payload(data))
        write_whole(stamp, digest)
    return path


def _module_files(tree: Path) -> dict[str, Path]:
    return {module_name(str(path)): path for path in sorted(tree.rglob("*.ko*")) if _MODULE_SUFFIX.search(path.name)}


def _builtin_names(path: Path) -> frozenset[str]:
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return frozenset(module_name(line) for line in text.split())


def _matching_compiler(variables: Path) -> list[str]:
    """Debian's headers ask for gcc-12 by that name; a gcc of that version by another name does as well."""
    match = re.search(r"gcc-(\d+)", variables.read_text(encoding="utf-8")) if variables.is_file() else None
    if match is None or shutil.which(match.group(0)):
        return []
    if shutil.which("gcc") and run(["gcc", "-dumpversion"], "asking gcc for its version").split(".")[0].strip() \
            == match.group(1):
        return ["CC=gcc"]
    raise LabError(f"the kernel's modules need {match.group(0)}, which is not installed{HINT}")


def debian_kernel(root: Path, build: Path) -> Kernel:
    """The kernel among the unpacked packages."""
    images = sorted(root.glob("boot/vmlinuz-*")) + sorted(root.glob("usr/lib/modules/*/vmlinuz"))
    if len(images) != 1:
        raise LabError(f"{len(images)} kernels in {root}: remove {root.parent}, then it is fetched anew")
    release = images[0].name.removeprefix("vmlinuz-") if images[0].name != "vmlinuz" else images[0].parent.name
    config_file = next(iter(root.glob(f"boot/config-{release}")), None) or root / f"usr/lib/modules/{release}/config"
    modules = next((p for p in (root / f"lib/modules/{release}", root / f"usr/lib/modules/{release}")
                    if (p / "kernel").is_dir()), None)
    tree = root / f"usr/src/linux-headers-{release}"
    if modules is None or not config_file.is_file() or not tree.is_dir():
        raise LabError(f"the kernel {release} in {root} is not whole: remove {root.parent}")
    config = read_config(config_file.read_text(encoding="utf-8"))
    folder = build / release
    folder.mkdir(parents=True, exist_ok=True)
    is_tree = suite_tree.is_tree(root)
    return Kernel(release, _boot_file(images[0], config, folder), tree, config,
                  _builtin_names(modules / "modules.builtin"), _module_files(modules / "kernel"), folder,
                  [] if is_tree else _matching_compiler(tree / ".kernelvariables"), root if is_tree else None)


def user_kernel(tree: Path, fragment: Path, build: Path) -> Kernel:
    """A kernel that the user built in this tree, with the modules that it built there."""
    tree = tree.resolve()
    try:
        config = read_config((tree / ".config").read_text(encoding="utf-8"))
        release = (tree / "include/config/kernel.release").read_text(encoding="utf-8").strip()
    except FileNotFoundError as problem:
        raise LabError(f"{tree} is not a kernel tree that was built: there is no {problem.filename}") from problem
    must, optional = missing_config(config, fragment.read_text(encoding="utf-8"))
    if must:
        raise LabError(f"the kernel in {tree} lacks what the lab needs:\n  " + "\n  ".join(must) +
                       f"\nMerge {fragment} into its configuration (scripts/kconfig/merge_config.sh) and build it")
    if optional:
        say("the kernel lacks what would be of use: " + ", ".join(optional))
    folder = build / ("tree-" + hashlib.sha256(os.fsencode(tree)).hexdigest()[:12])
    folder.mkdir(parents=True, exist_ok=True)
    bzimage, vmlinux = tree / "arch/x86/boot/bzImage", tree / "vmlinux"
    if bzimage.is_file():
        boot_file = _boot_file(bzimage, config, folder)
    elif vmlinux.is_file() and config.get("CONFIG_PVH") == "y":
        boot_file = vmlinux
    else:
        raise LabError(f"there is no kernel in {tree}: neither arch/x86/boot/bzImage, nor vmlinux with CONFIG_PVH=y")
    return Kernel(release, boot_file, tree, config, _builtin_names(tree / "modules.builtin"), _module_files(tree),
                  folder)


def _copy_sources(source: Path, target: Path) -> str:
    """Makes `target` hold what kbuild needs of `source`, and tells its digest. Files that have not changed keep their
    times, so that make builds no more than it must."""
    names = sorted(p.name for p in source.iterdir()
                   if p.is_file() and (p.suffix in {".c", ".h"} or p.name in {"Makefile", "Kbuild"})
                   and not p.name.endswith(".mod.c"))
    if not {"Makefile", "Kbuild"} & set(names):
        raise LabError(f"{source} has no Makefile")
    target.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    for name in names:
        content = (source / name).read_bytes()
        digest.update(b"%s %d\n" % (name.encode(), len(content)) + content)
        copy = target / name
        if not copy.is_file() or copy.read_bytes() != content:
            copy.write_bytes(content)
    for old in target.iterdir():
        if old.suffix in {".c", ".h"} and not old.name.endswith(".mod.c") and old.name not in names:
            old.unlink()
    return digest.hexdigest()


def build_module(kernel: Kernel, source: Path, name: str, options: list[str] | None = None) -> Path:
    """Builds an out-of-tree module in a copy of its source folder; returns NAME.ko. Quick when nothing has changed."""
    return _build(kernel, source, [name], options or [])[name]


def _build(kernel: Kernel, source: Path, names: list[str], options: list[str], below: str = ".",
           prefix: str = "") -> dict[str, Path]:
    """NAME.ko of each, in a folder of its own for this source and prefix, or `below` that."""
    if not source.is_dir():
        raise LabError(f"{source} is not a folder")
    place = hashlib.sha256(os.fsencode(source.resolve())).hexdigest()[:8]
    workshop = kernel.workshop / f"{prefix}{names[0]}-{place}"
    folder = workshop / below
    symbols = kernel.build_tree / "Module.symvers"
    if not symbols.is_file():
        raise LabError(f"{symbols} is missing: build the kernel's modules first")
    arguments = [*kernel.make_options, *options]
    # What make was interrupted in may be there and half done, which make itself does not see.
    begun = workshop / "begun"
    if begun.exists():
        shutil.rmtree(workshop)
    digest = _copy_sources(source, folder)
    if below != ".":
        (workshop / "include/trace").mkdir(parents=True, exist_ok=True)
    digest += f" {kernel.release} {symbols.stat().st_mtime_ns} {' '.join(arguments)}"
    stamp, modules = folder / "stamp", {name: folder / f"{name}.ko" for name in names}
    is_whole = all(module.is_file() for module in modules.values())
    if is_whole and stamp.is_file() and stamp.read_text(encoding="utf-8") == digest:
        return modules
    stamp.unlink(missing_ok=True)
    files = " and ".join(f"{name}.ko" for name in names)
    say(f"building {files} for {kernel.release}")
    # Nobody needs its types (BTF), for which some trees ask for a program that is not installed.
    command = [*kernel.make(), "-C", kernel.as_make_sees(kernel.build_tree), f"M={kernel.as_make_sees(folder)}",
               f"-j{os.cpu_count() or 1}", "CONFIG_DEBUG_INFO_BTF_MODULES=", *arguments, "modules"]
    begun.touch()
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=1800, check=False,
                          stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"})
    begun.unlink()
    log = folder / "build.log"
    log.write_text(done.stdout + done.stderr, encoding="utf-8")
    if done.returncode != 0 or not all(module.is_file() for module in modules.values()):
        raise LabError(f"{files} cannot be built for {kernel.release} (all output: {log})\n"
                       + last_lines(done.stderr or done.stdout, 25))
    write_whole(stamp, digest)
    return modules


@dataclass(frozen=True)
class Instrument:
    """What tells which blocks of a module ran: the module that is told, and what makes the compiler tell it."""

    module: Path
    flags: list[str]
    options: list[str]


def build_instrument(kernel: Kernel, source: Path) -> Instrument:
    module = build_module(kernel, source, "vibcov")
    callback, symbols = (kernel.as_make_sees(module.parent / name) for name in ("callback.h", "Module.symvers"))
    return Instrument(module, ["-fsanitize-coverage=trace-pc", "-include", callback], [f"KBUILD_EXTRA_SYMBOLS={symbols}"])


def build_ipoib(kernel: Kernel, source: Path, instrument: Instrument | None = None) -> Path:
    """ib_ipoib out of a copy of drivers/infiniband/ulp/ipoib, whatever the kernel's configuration says of it."""
    if "ib_ipoib" in kernel.builtin:
        raise LabError("ib_ipoib is built into this kernel, so no other can be loaded: set CONFIG_INFINIBAND_IPOIB=m")
    symbols = {"CONFIG_INFINIBAND_IPOIB": "m", "CONFIG_INFINIBAND_IPOIB_CM": "y", "CONFIG_INFINIBAND_IPOIB_DEBUG": "y"}
    defines = [f"-D{name}{'_MODULE' if value == 'm' else ''}=1" for name, value in symbols.items()
               if name not in kernel.config]
    options = [f"{name}={value}" for name, value in symbols.items()]
    return _build_told(kernel, source, ["ib_ipoib"], options, defines, instrument)["ib_ipoib"]


def _build_told(kernel: Kernel, source: Path, names: list[str], options: list[str], flags: list[str],
                instrument: Instrument | None, below: str = ".") -> dict[str, Path]:
    """Modules that tell of their blocks, if they are to, in a folder of their own then."""
    if instrument is not None:
        flags, options = [*flags, *instrument.flags], [*options, *instrument.options]
    words = [*options, *([f"KCFLAGS={' '.join(flags)}"] if flags else [])]
    return _build(kernel, source, names, words, below, "told-" if instrument is not None else "")


def build_modules(kernel: Kernel, source: Path, instrument: Instrument | None = None) -> dict[str, Path]:
    """What there is in a copy of drivers/infiniband: ib_core and ib_cm out of core, ib_ipoib out of ulp/ipoib."""
    found: dict[str, Path] = {}
    if (source / "core").is_dir():
        names = ["ib_core", "ib_cm"]
        builtin = ", ".join(name for name in names if name in kernel.builtin)
        if builtin:
            raise LabError(f"{builtin} is built into this kernel, so no other can be loaded: set CONFIG_INFINIBAND=m")
        # The other modules of the folder are not asked for.
        options = [f"CONFIG_INFINIBAND_{name}=" for name in ("ADDR_TRANS", "USER_MAD", "USER_ACCESS")]
        # Its trace points are included by their path from a folder two below the kernel's source.
        found |= _build_told(kernel, source / "core", names, options, ["-I$(M)/../../../include/trace"], instrument,
                             "drivers/infiniband/core")
    if (source / "ulp/ipoib").is_dir():
        found["ib_ipoib"] = build_ipoib(kernel, source / "ulp/ipoib", instrument)
    if not found:
        raise LabError(f"{source} has neither core nor ulp/ipoib, as drivers/infiniband of a kernel's source has")
    return found
