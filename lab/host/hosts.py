# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest with hosts h1 and on, for programs of others: what `exec` and `shell` ask for, checked, and made a guest of.

    wanted = hosts.wanted(options)             # UsageError before anything is fetched
    guest = hosts.guest(options, wanted)       # packages, images, kernel: what is not there yet
    job = hosts.job(wanted, folder, words)     # what h1 runs, as a disk
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import configuration
import image
import kernel_modules
import package_set
import packages
from building import adapter_parameters, boot_limit_for, build_programs, kernel_for, memory_for, modules_for
from machine import Disk, Guest, with_kvm_if_it_works
from place import SOURCE
from squashfs import HostTools
from tools import UsageError, locked, say

MOST_ADAPTERS = 32
_MOST_NODES = 3  # the ports of virtio-serial are few
_LONGEST_SOCKET_PATH = 107
_PORT_GUID, _GUID_STEP = 0x0002C9B200000001, 0x100  # vib_main.c
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_MEMORY, _MEMORY_OF_ADAPTER = 320, 44  # MiB


@dataclass(frozen=True)
class Wanted:
    hosts: int
    ports: int
    packages: tuple[str, ...]
    folder: Path | None
    script: bytes | None
    partitions: str  # of OpenSM, none for the usual ones
    manager: str
    nodes: tuple[Path, ...] = ()  # sockets, each a raw port for a node of the user's


def _partition(spec: str, hosts: int, ports: int) -> str:
    """A line of OpenSM's for 0x8001:h1,h2=limited."""
    match = re.fullmatch(r"(0x[0-9a-fA-F]{1,4}):((?:ALL|h\d+)(?:=full|=limited)?(?:,(?:ALL|h\d+)(?:=full|=limited)?)*)", spec)
    key = int(match[1], 16) & 0x7FFF if match else 0
    if match is None or key == 0:
        raise UsageError(f"--partition {spec}: a P_Key and its members are wanted, such as 0x8001:h1,h2=limited or 0x2:ALL")
    members = []
    for member in match[2].split(","):
        name, _, kind = member.partition("=")
        if name == "ALL":
            members.append(f"ALL={kind or 'full'}")
            continue
        number = int(name[1:])
        if not 1 <= number <= hosts:
            raise UsageError(f"--partition {spec}: there is no host {name}")
        members += [f"0x{_PORT_GUID + unit * _GUID_STEP:016x}={kind or 'full'}"
                    for unit in range((number - 1) * ports, number * ports)]
    # The subnet manager's own port answers in every partition.
    return f"P{key:04x}=0x{key:04x}, ipoib : SELF=full, {', '.join(members)};\n"


def _partitions(specs: Sequence[str], hosts: int, ports: int) -> str:
    if not specs:
        return ""
    lines = [_partition(spec, hosts, ports) for spec in specs]
    if not any(line.startswith("P7fff=") for line in lines):
        lines.insert(0, "Default=0x7fff, ipoib : ALL=full;\n")
    return "".join(lines)


def _check_sockets(paths: Sequence[Path]) -> None:
    if len(paths) > _MOST_NODES:
        raise UsageError(f"{len(paths)} nodes: there are raw ports for {_MOST_NODES}")
    for path in paths:
        if path.exists() or path.is_symlink() or paths.count(path) > 1:
            raise UsageError(f"{path} is there already: a raw port needs a path of its own")
        if not os.access(path.absolute().parent, os.W_OK | os.X_OK):
            raise UsageError(f"{path} cannot be made: {path.absolute().parent} is no folder that you may write to")
        if len(os.fsencode(path)) > _LONGEST_SOCKET_PATH:
            raise UsageError(f"{path} is longer than {_LONGEST_SOCKET_PATH} octets, the most that a socket's path may have")


def wanted(options: argparse.Namespace) -> Wanted:
    if options.hosts * options.ports > MOST_ADAPTERS:
        raise UsageError(f"{options.hosts} hosts with {options.ports} ports are more than {MOST_ADAPTERS} adapters")
    package_set.check_names(options.package)
    _check_sockets(options.node)
    if options.folder is not None and not options.folder.is_dir():
        raise UsageError(f"--folder {options.folder}: there is no such folder")
    if isinstance(options.kernel, Path) and not options.kernel.is_dir():
        raise UsageError(f"--kernel {options.kernel}: neither a series of Debian's kernels, such as 6.12, nor a kernel tree")
    script = None
    if options.script is not None:
        try:
            script = options.script.read_bytes()
        except OSError as problem:
            raise UsageError(f"--script {options.script}: {problem.strerror}") from problem
    return Wanted(options.hosts, options.ports, tuple(sorted(set(options.package))),
                  options.folder.resolve() if options.folder is not None else None, script,
                  _partitions(options.partition, options.hosts, options.ports), options.sm, tuple(options.node))


def guest(options: argparse.Namespace, want: Wanted) -> Guest:
    """Without its job."""
    build_programs(options.programs)
    build = options.build.resolve()
    with locked(build):
        root = packages.prepare(build / "packages")
        tools = HostTools(build / "packages")
        base = package_set.prepare(build, tools, package_set.BASE)
        layer = package_set.prepare(build, tools, want.packages, base) if want.packages else base
        kernel = kernel_for(options, build)
        own = modules_for(options, kernel)
        parts = image.Parts(root, kernel, own, options.programs, SOURCE / "lab/guest", is_for_hosts=True)
        adapters = want.hosts * want.ports
        memory = memory_for(kernel, options.memory, _MEMORY + _MEMORY_OF_ADAPTER * adapters)
        initial = image.prepare(parts, build, memory)
        modules = kernel_modules.prepare(kernel, tools)
        result = Guest(kernel.boot_file, initial, memory=memory,
                       boot_limit=boot_limit_for(kernel, options.boot_limit) * (1 + adapters / 16),
                       symbols={**kernel.symbols, **own})
        if options.kvm:
            result, found = with_kvm_if_it_works(result)
            say(found)
        for one in (base, layer):
            if not one.state.is_file():
                configuration.configure(result, modules, base, one)
    # The subnet manager has an adapter of its own.
    parameters = {"mode": "hosts", "hosts": str(want.hosts), "ports": str(want.ports), "hcas": str(adapters + 1),
                  "raws": str(len(want.nodes)), "sm": want.manager, **adapter_parameters(options),
                  **({"folder": "folder"} if want.folder is not None else {})}
    disks = (*configuration.layer_disks(modules, base, layer), Disk("state", layer.state))
    return replace(result, parameters=parameters, disks=disks, shared=want.folder)


def ports_of_nodes(want: Wanted) -> dict[str, Path]:
    """The guest's ports that raw ports come out by, each with the path that the user gave it."""
    return {f"raw{number}": path for number, path in enumerate(want.nodes)}


def _program(want: Wanted, words: Sequence[str]) -> str:
    """What h1 runs, for bash."""
    command = shlex.join(words)
    if want.script is None:
        return command
    interpreter = "" if want.script.startswith(b"#!") else "bash "
    return f"{interpreter}/lab/job/script {command}".rstrip()


def job(want: Wanted, path: Path, words: Sequence[str], ending: bytes, terminal: str | None = None) -> Disk:
    """The disk that tells the guest what to do: a command, or bash at a terminal of this kind."""
    lines = ["#!/bin/bash", f"export PATH={_PATH} HOME=/root LANG=C.UTF-8 USER=root LOGNAME=root SHELL=/bin/bash",
             f"export TERM={shlex.quote(terminal or 'dumb')} LAB_HOSTS={want.hosts} LAB_PORTS={want.ports}",
             f"cd {'/folder' if want.folder is not None else '/root'} || exit 125"]
    if terminal is None:
        lines.append(f"exec {_program(want, words)}")
    else:
        lines += [_program(want, ())] if want.script is not None else []
        lines.append("exec bash --rcfile /lab/job/shellrc -i")
    files = {"run": ("\n".join(lines).encode() + b"\n", 0o755), "end": (ending, 0o600),
             "partitions": (want.partitions.encode(), 0o644),
             "shellrc": (rb"""PS1='lab:\h:\w\$ '""" + b"\n", 0o644)}
    if want.script is not None:
        files["script"] = (want.script, 0o755)
    return configuration.job_disk(path, files)
