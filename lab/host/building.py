# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest is made of, fetched and built as far as it is not there yet."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import dhcp
import image
import kernel
import kernels
import packages
from machine import Guest, with_kvm_if_it_works
from place import SOURCE
from tools import LabError, locked, run, say

MEMORY = 256  # MiB
_MEMORY_OF_SANITIZER, _SLOWNESS_OF_SANITIZER = 768, 5
# What sees memory that is written behind its end or once it is freed, in kernels without KASAN.
_CHECKED_MEMORY, _MEMORY_OF_CHECKS = "slub_debug=FZPU", 128
_PROGRAMS = ("ipoib-conform", "ipoib-gen", "ipoib-dut-linux", "ipoib-lab-control", "ipoib-lab-port")


def build_programs(folder: Path) -> None:
    """With the folder that CMake's release preset has, if that is meant and something is missing there."""
    if all(image.find_program(folder, name) for name in _PROGRAMS):
        return
    if folder.resolve() != (SOURCE / "build/release").resolve():
        missing = [name for name in _PROGRAMS if not image.find_program(folder, name)]
        raise LabError(f"{folder} has no {', '.join(missing)}")
    say("building the programs in build/release")
    if not (folder / "CMakeCache.txt").is_file():
        run(["cmake", "--preset", "release", "-DIPOIB_TESTS=OFF", "-Wno-dev"], "configuring", cwd=SOURCE)
    run(["cmake", "--build", "--preset", "release", "--target", *_PROGRAMS], "building", cwd=SOURCE, timeout=7200)


def kernel_for(options: argparse.Namespace, build: Path) -> kernel.Kernel:
    if isinstance(options.kernel, Path):
        return kernel.user_kernel(options.kernel, SOURCE / "lab/kernel/config.fragment", build)
    folder = build / "packages"
    root = kernels.prepare(folder, options.kernel) if options.kernel else packages.prepare(folder)
    return kernel.debian_kernel(root, build)


def memory_for(one: kernel.Kernel, asked: int | None, usual: int) -> int:
    """MiB: what was asked for, or what such a kernel needs beside the usual."""
    return asked or usual + (_MEMORY_OF_SANITIZER if one.is_sanitized else 0)


def boot_limit_for(one: kernel.Kernel, limit: float) -> float:
    return limit * (_SLOWNESS_OF_SANITIZER if one.is_sanitized else 1)


def pristine_source(options: argparse.Namespace, one: kernel.Kernel, build: Path) -> Path:
    """`core` and `ulp/ipoib` of the kernel's drivers/infiniband, unchanged."""
    if isinstance(options.kernel, Path):
        return one.build_tree / "drivers/infiniband"
    source = build / "mutants" / f"source-{one.release}"
    if not source.is_dir():
        kernels.unpack_source(build / "packages", source, options.kernel, kernels.SOURCES["modules-source"])
    return source


def told_modules(options: argparse.Namespace, one: kernel.Kernel, build: Path) -> dict[str, Path]:
    """ib_core, ib_cm and ib_ipoib that tell which of their blocks ran, and what they tell it."""
    instrument = kernel.build_instrument(one, SOURCE / "lab/coverage")
    modules = kernel.build_modules(one, pristine_source(options, one, build), instrument)
    if options.modules is not None:
        modules |= kernel.build_modules(one, options.modules, instrument)
    if options.ipoib is not None:
        modules["ib_ipoib"] = kernel.build_ipoib(one, options.ipoib, instrument)
    return {**modules, "vibcov": instrument.module}


def modules_for(options: argparse.Namespace, one: kernel.Kernel) -> dict[str, Path]:
    """The modules that are built here, by name."""
    modules = {"vib": kernel.build_module(one, SOURCE / "lab/kernel", "vib")}
    if getattr(options, "tells_blocks", False):
        return modules | told_modules(options, one, options.build.resolve())
    if options.modules is not None:
        modules |= kernel.build_modules(one, options.modules)
    if options.ipoib is not None:
        modules["ib_ipoib"] = kernel.build_ipoib(one, options.ipoib)
    return modules


def adapter_parameters(options: argparse.Namespace) -> dict[str, str]:
    """How vib's adapters are to be, for the guest."""
    words = [*(["enhanced=1"] if options.enhanced or options.block_loopback else []),
             *(["block_loopback=1"] if options.block_loopback else []),
             *([f"guid={options.guid:#x}"] if getattr(options, "guid", None) is not None else [])]
    return {"vib": "+".join(words)} if words else {}


def guest_for(options: argparse.Namespace, parameters: dict[str, str]) -> Guest:
    """Fetches and builds whatever is not there yet."""
    parameters = {**parameters, **adapter_parameters(options)}
    build_programs(options.programs)
    build = options.build.resolve()
    has_dhcp = dhcp.is_wanted(options)
    with locked(build):
        root = packages.prepare(build / "packages")
        one = kernel_for(options, build)
        modules = modules_for(options, one)
        parts = image.Parts(root, one, modules, options.programs, SOURCE / "lab/guest", has_dhcp=has_dhcp)
        checks_memory = "fuzz" in parameters and not one.is_sanitized
        memory = memory_for(one, options.memory, MEMORY + (_MEMORY_OF_CHECKS if checks_memory else 0))
        guest = Guest(one.boot_file, image.prepare(parts, build, memory), parameters, memory,
                      boot_limit_for(one, options.boot_limit), symbols={**one.symbols, **modules},
                      words=(_CHECKED_MEMORY,) if checks_memory else ())
        if has_dhcp:
            of_hosts = replace(parts, is_for_hosts=True, has_dhcp=False, entries=[])
            guest = dhcp.add_programs(guest, options, build, one,
                                      lambda: replace(guest, image=image.prepare(of_hosts, build, memory)))
    if options.kvm:
        guest, found = with_kvm_if_it_works(guest)
        say(found)
    return guest
