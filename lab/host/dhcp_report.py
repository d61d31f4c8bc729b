# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/dhcp.md: which of Debian's DHCP programs keep RFC 4390 on InfiniBand, what was predicted of them, and the frames."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dhcp
from report import filled, table

# What a run judges: one guest has a client and a server.
PAIRS = (("networkd", "dnsmasq"), ("dhclient", "dhcpd"), ("dhcpcd", "kea"), ("udhcpc", "udhcpd"), ("", "kea-udp"),
         ("", "networkd"))
_MOST_FRAMES = 400
_CLIENT = ("IPOIB-4390-2.1-VAL-001", "IPOIB-4390-2.2-VAL-001")
_SERVER = ("IPOIB-4390-2.2-VAL-002",)
_OF_CLIENT = {"RFC4390-2-01": "asks for a broadcast reply", "RFC4390-2.1-01": "htype 32", "RFC4390-2.1-02": "hlen 0",
              "RFC4390-2.1-03": "chaddr zero", "RFC4390-2.1-04": "client identifier", "RFC4390-2.1-05": "of IAID and DUID",
              "RFC4390-2.2-01": "BROADCAST and ciaddr 0", "RFC4390-2.2-02": "renews without BROADCAST"}
_SILENT = {"client": "sends nothing", "server": "does not answer"}
_OF_SERVER = {"RFC4390-2.2-03": "replies by broadcast where it is asked to, else to ciaddr"}


@dataclass(frozen=True)
class Prediction:
    """Written down before anything was measured, from the programs' sources."""

    verdicts: str
    reason: str
    seen: str = ""  # what the program said when it was measured, or why it is otherwise than predicted


PREDICTIONS = {
    ("client", "networkd"): Prediction(
        "all kept, but for RFC4390-2.2-02",
        "`client_message_init()` of sd-dhcp-client.c leaves hlen and chaddr 0 where the interface is not Ethernet, and sets the "
        "BROADCAST flag of every message there, also of one with ciaddr"),
    ("client", "dhclient"): Prediction(
        "sends nothing", "`get_hw_addr()` of common/lpf.c knows no hardware type 32 and ends the program",
        'it says: Unsupported device type 32 for "ib0"'),
    ("client", "dhcpcd"): Prediction(
        "sends nothing", "its packet socket is for Ethernet: `bpf_open()`",
        "it says: bpf_open: Invalid argument"),
    ("client", "udhcpc"): Prediction(
        "sends nothing", "`udhcp_send_raw_packet()` sends to a link-layer address of six octets, which the kernel refuses",
        "it says: sendto: Invalid argument"),
    ("server", "dnsmasq"): Prediction(
        "kept", "rfc2131.c and dhcp.c answer a client with the BROADCAST flag to 255.255.255.255, one with ciaddr to that, and "
        "take an identifier for a hardware address"),
    ("server", "dhcpd"): Prediction(
        "does not start", "the same `get_hw_addr()` as dhclient's",
        'it says: Unsupported device type 32 for "ib0"'),
    ("server", "kea"): Prediction(
        "does not answer", "raw sockets, its usual ones, take Ethernet's header off what comes (pkt_filter_lpf.cc)",
        "it logs no packet"),
    ("server", "kea-udp"): Prediction(
        "kept", "with `dhcp-socket-type: udp` the kernel's UDP sends",
        "it logs no packet: by its manual such sockets take no broadcasts and are for relayed "
        "traffic"),
    ("server", "udhcpd"): Prediction(
        "does not answer", "`send_packet_to_client()` sends its OFFER as udhcpc sends",
        "it does not come so far. It says: MAC length != 6, ignoring packet"),
    ("server", "networkd"): Prediction(
        "does not answer", "`dhcp_server_handle_message()` of sd-dhcp-server.c takes messages of Ethernet's hardware type only"),
}

_INTRODUCTION = """\
# DHCP over InfiniBand: who keeps RFC 4390

Made by `scripts/lab dhcp`; not edited by hand. Debian's programs, unmodified, as the DHCP client or server of a Linux host
on the lab's InfiniBand. The tester is the other side, and does as RFC 4390 has it, so that a client is judged whose servers
would not be, and the other way round:

    scripts/lab run --dhcp-client networkd --dhcp-server dnsmasq rfc4390

judges one of each; `--evidence DIR` keeps the frames. What the programs say is on the guest's console, each line behind
`LAB-DHCP` (`--keep` tells where that is).
"""
_ENDING = """\
## How it enters the report on Linux

`scripts/lab report` has a run "DHCP OpenSM" with systemd-networkd and dnsmasq, from which the RFC4390 rows of
[linux-ipoib](linux-ipoib.md) are.

NetworkManager is not among the programs: it wants D-Bus, and udev to tell it of interfaces, and neither runs in the lab's
guest."""


def _frames(conform: Path, file: Path) -> list[tuple[int, dict[str, str]]]:
    """The DHCP messages of a capture: number and fields, options too."""
    found = []
    for number in range(1, _MOST_FRAMES):
        said = subprocess.run([conform, "decode", f"{file}#{number}"], capture_output=True, text=True, errors="replace",
                              check=False)
        if said.returncode == 2 or not said.stdout:
            break
        block = re.search(r"^Dynamic Host Configuration Protocol \(offset \d+\)\n((?: +.*\n)+)", said.stdout, re.MULTILINE)
        if block:
            found.append((number, dict(re.findall(r"^ +(\S+) +(.*)$", block[1], re.MULTILINE))))
    return found


def _requirement(results: dict[str, Any], identifier: str) -> str:
    return next((one["verdict"] for one in results["requirements"] if one["id"] == identifier), "NA")


def _is_renewal(fields: dict[str, str]) -> bool:
    return fields.get("ciaddr") not in (None, "0.0.0.0")


def _evidence_of(folder: Path, case: str) -> Path:
    return folder / "evidence" / f"{case}.pcapng"


class _Judged:
    """A program in its role, and what its run has found."""

    def __init__(self, role: str, program: str, version: str, folder: Path, results: dict[str, Any], conform: Path) -> None:
        self.role, self.program, self.version = role, program, version
        self.statements = _OF_CLIENT if role == "client" else _OF_SERVER
        cases = _CLIENT if role == "client" else _SERVER
        self.verdicts = {identifier: _requirement(results, identifier) for identifier in self.statements}
        op = "1" if role == "client" else "2"
        self.messages = [(case, number, fields) for case in cases if _evidence_of(folder, case).is_file()
                         for number, fields in _frames(conform, _evidence_of(folder, case))
                         if fields.get("op", "").split()[0:1] == [op]]
        self.is_silent = not set(self.verdicts.values()) - {"NA", "INCONC"}

    def _frame_for(self, identifier: str) -> str:
        """The first frame that the statement speaks of."""
        wants_ciaddr = identifier in ("RFC4390-2.2-02",)
        for case, number, fields in self.messages:
            if self.role == "server" or _is_renewal(fields) == wants_ciaddr:
                return f" ({case.removeprefix('IPOIB-4390-')} frame {number})"
        return ""

    def cell(self, identifier: str) -> str:
        verdict = self.verdicts[identifier]
        return verdict + (self._frame_for(identifier) if verdict != "NA" else "")


def judged(pair: tuple[str, str], folder: Path, results: dict[str, Any], versions: dict[str, str],
           conform: Path) -> list[_Judged]:
    found = []
    for role, name, known in (("client", pair[0], dhcp.CLIENTS), ("server", pair[1], dhcp.SERVERS)):
        one = next((program for program in known if program.name == name), None)
        if one is not None:
            found.append(_Judged(role, name, versions.get(one.version_of, "?"), folder, results, conform))
    return found


def _kept(judged_of_role: list[_Judged]) -> list[str]:
    """A table of a role: statements down, programs across."""
    if not judged_of_role:
        return ["None was judged."]
    first = judged_of_role[0]
    rows = [["statement", *(f"{one.program} {one.version}" for one in judged_of_role)]]
    rows += [[f"{identifier}, {what}", *(one.cell(identifier) for one in judged_of_role)]
             for identifier, what in first.statements.items()]
    return table(rows)


def _predicted(every: list[_Judged]) -> list[str]:
    rows = [["program", "role", "predicted", "because", "measured"]]
    for one in every:
        prediction = PREDICTIONS[one.role, one.program]
        against = [identifier for identifier, verdict in one.verdicts.items() if verdict in ("FAIL", "WARN")]
        measured = "all kept" if not against else f"not kept: {', '.join(against)}"
        if one.is_silent:
            measured = "; ".join(filter(None, (_SILENT[one.role], prediction.seen)))
        rows.append([one.program, one.role, prediction.verdicts, prediction.reason, measured])
    return table(rows)


def _shown(every: list[_Judged]) -> list[str]:
    """The messages of each, in short."""
    names = ("htype", "hlen", "BROADCAST", "ciaddr", "yiaddr", "chaddr")
    lines = []
    for one in every:
        if not one.messages:
            continue
        lines += [f"### {one.program}, {one.role}", "", *table(
            [["case", "frame", *names]] + [[case, str(number), *(fields.get(name, "") for name in names)]
                                           for case, number, fields in one.messages[:6]]), ""]
    return lines


def markdown(every: list[_Judged]) -> str:
    clients, servers = ([one for one in every if one.role == role] for role in ("client", "server"))
    lines = [_INTRODUCTION, "## Clients", "", *_kept(clients), "", "INCONC: it sends nothing.", "",
             "## Servers", "", *_kept(servers), "", "NA: it does not answer.", "",
             "## Predicted and measured", "", *_predicted(every), "",
             "## What they send", "", *_shown(every), _ENDING]
    return "\n".join(filled(lines)).rstrip() + "\n"
