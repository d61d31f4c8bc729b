# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's DHCP programs as the DUT's client or server: which there are, and what the guest has for them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import configuration
import kernel_modules
import package_set
from kernel import Kernel
from machine import Disk, Guest
from squashfs import HostTools

MEMORY = 384  # MiB that its packages need beside the usual


@dataclass(frozen=True)
class Program:
    name: str  # as lab/guest/dhcp has it
    packages: tuple[str, ...]
    version_of: str  # the package that the program is in


CLIENTS = (Program("dhclient", ("isc-dhcp-client",), "isc-dhcp-client"), Program("dhcpcd", ("dhcpcd-base",), "dhcpcd-base"),
           Program("udhcpc", ("udhcpc",), "busybox"), Program("networkd", ("systemd",), "systemd"))
SERVERS = (Program("dhcpd", ("isc-dhcp-server",), "isc-dhcp-server"), Program("dnsmasq", ("dnsmasq-base",), "dnsmasq-base"),
           Program("udhcpd", ("udhcpd",), "busybox"), Program("kea", ("kea-dhcp4-server",), "kea-dhcp4-server"),
           Program("kea-udp", ("kea-dhcp4-server",), "kea-dhcp4-server"), Program("networkd", ("systemd",), "systemd"))
# So that all are in one set, which is made once.
_PACKAGES = tuple(sorted({name for one in (*CLIENTS, *SERVERS) for name in one.packages}))


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dhcp-client", choices=[one.name for one in CLIENTS],
                        help="Debian's program that is the DUT's DHCP client, for the cases of rfc4390; none: it has none")
    parser.add_argument("--dhcp-server", choices=[one.name for one in SERVERS], help="and its DHCP server")


def is_wanted(options: argparse.Namespace) -> bool:
    return bool(options.dhcp_client or options.dhcp_server)


def _layers(build: Path, tools: HostTools) -> tuple[package_set.Layer, package_set.Layer]:
    base = package_set.prepare(build, tools, package_set.BASE)
    return base, package_set.prepare(build, tools, _PACKAGES, base)


def versions(build: Path) -> dict[str, str]:
    """Of every package of the set, by name; nothing where there is no set yet."""
    stamp = package_set.Layer(package_set.folder_of(build, _PACKAGES)).stamp
    lines = stamp.read_text(encoding="utf-8").splitlines() if stamp.is_file() else []
    return {words[0]: words[1] for line in lines if len(words := line.split()) == 3}


def add_programs(guest: Guest, options: argparse.Namespace, build: Path, kernel: Kernel,
                 configuring: Callable[[], Guest]) -> Guest:
    """The guest with the programs in a root of their own. Another guest is made where their maintainer scripts are still to
    run."""
    tools = HostTools(build / "packages")
    base, layer = _layers(build, tools)
    modules = kernel_modules.prepare(kernel, tools)
    for one in (base, layer):
        if not one.state.is_file():
            configuration.configure(configuring(), modules, base, one)
    disks = (*configuration.layer_disks(modules, base, layer), Disk("state", layer.state))
    wanted = {"dhcp_client": options.dhcp_client, "dhcp_server": options.dhcp_server}
    return replace(guest, disks=disks, memory=guest.memory + MEMORY,
                   parameters={**guest.parameters, **{name: value for name, value in wanted.items() if value}})
