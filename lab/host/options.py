# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of scripts/lab: its own options, and which ones belong to `ipoib-conform run`."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn

import dhcp
import kernels
import matrix
import place
from place import COMMAND
from tools import UsageError, run, without_commands

# exec's: what is not the command's own code.
KERNEL_COMPLAINED, CHECK_FAILED, TIMED_OUT, LAB_FAILED = 70, 71, 124, 125
ROLES = ("host", "connected", "router")


@dataclass(frozen=True)
class RunOptions:
    """What `run` does with the options that were left over."""

    arguments: list[str]  # for ipoib-conform run, in their order
    fabric: str  # "lab", or "simulated..."
    scenario: str


def _add_guest_options(parser: argparse.ArgumentParser, memory: str = "256, with KASAN more") -> None:
    group = parser.add_argument_group("the guest")
    group.add_argument("--kernel", metavar="NAME|TREE", type=kernel_of,
                       help="boot another kernel of Debian's, such as 6.12, which is fetched (kernels names them); or "
                            "the one that was built in this tree, with its modules (lab/kernel/config.fragment: what "
                            "it needs)")
    group.add_argument("--ipoib", metavar="DIR", type=Path,
                       help="build ib_ipoib from this copy of drivers/infiniband/ulp/ipoib and load it")
    group.add_argument("--modules", metavar="DIR", type=Path,
                       help="build ib_core, ib_cm and ib_ipoib from this copy of drivers/infiniband, as far as it has "
                            "core and ulp/ipoib, and load them")
    group.add_argument("--enhanced", action="store_true",
                       help="adapters whose own driver carries IPoIB's datagrams (rdma_netdev), as that of ConnectX-4 and "
                            "newer does")
    group.add_argument("--block-loopback", action="store_true",
                       help="such adapters, where interfaces on one port do not hear each other's multicast")
    group.add_argument("--memory", metavar="MIB", type=_memory, help=f"the guest's memory ({memory})")
    group.add_argument("--kvm", action="store_true",
                       help="use KVM if a trial shows within 10 s that a guest boots under it (else, and usually: "
                            "software emulation)")
    group.add_argument("--boot-limit", metavar="SECONDS", type=_seconds, default=60.0,
                       help="a guest that is not ready by then is an error (60, for a kernel with KASAN five times that)")
    group.add_argument("--keep", action="store_true", help="keep the folder with the sockets and the consoles")


def _add_hosts_options(parser: _Parser, has_command: bool = True) -> None:
    parser.usage_code = LAB_FAILED
    group = parser.add_argument_group("the hosts")
    group.add_argument("--hosts", metavar="N", type=_hosts, default=2, help="so many, h1 and on (2)")
    group.add_argument("--ports", type=int, choices=(1, 2), default=1,
                       help="adapters of each host: with 2, ib1 is there, too, and is down (1)")
    group.add_argument("--package", metavar="NAME", action="append", default=[],
                       help="a package of Debian's that the hosts have, with all that it depends on; may be repeated")
    group.add_argument("--folder", metavar="DIR", type=Path,
                       help="a folder that the hosts read and write, as /folder, which is where the command begins")
    if has_command:
        group.add_argument("--script", metavar="FILE", type=Path,
                           help="a script that runs instead of COMMAND, whose words are its arguments then")
    group.add_argument("--sm", choices=("opensm", "none"), default="opensm",
                       help="the subnet manager; none: the command starts one, or no link comes up")
    group.add_argument("--partition", metavar="SPEC", action="append", default=[],
                       help="a partition and its members, such as 0x8001:h1,h2=limited or 0x2:ALL; may be repeated")
    group.add_argument("--capture", metavar="FILE", type=Path, help="record the fabric, from its first frame on")
    if has_command:
        group.add_argument("--node", metavar="SOCKET", action="append", type=Path, default=[],
                           help="a raw port of the fabric, for a node of your own beside the guest: a socket that is there "
                                "once the hosts are; may be repeated")


def _add_build_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("where things are")
    group.add_argument("--programs", metavar="DIR", type=_whole_path, default=place.PROGRAMS,
                       help=f"folder with ipoib-conform and the guest's programs ({place.PROGRAMS_WORDS})")
    group.add_argument("--build", metavar="DIR", type=Path, default=place.build_folder(),
                       help=f"where packages, modules and images are kept ({place.BUILD_WORDS})")


def _add_source_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", type=Path, help="a folder that does not exist yet")
    parser.add_argument("--kernel", metavar="NAME", type=kernel_name, help="of another kernel of Debian's, such as 6.12")
    _add_build_options(parser)


def _whole_path(text: str) -> Path:
    return Path(text).resolve()


def kernel_of(text: str) -> str | Path:
    """Debian's of a name, or one that the user built in a tree."""
    if not kernels.is_name(text) and Path(text).is_dir():
        return Path(text)
    return kernel_name(text)


def kernel_name(text: str) -> str:
    """A name that the lab knows."""
    return kernels.known(text).name


def _kernel_names(text: str) -> list[str]:
    return list(dict.fromkeys(kernel_name(one) for one in text.split(",")))


def _run_names(text: str) -> list[str]:
    names = list(dict.fromkeys(text.split(",")))
    for one in names:
        if one not in matrix.RUNS:
            raise UsageError(f"there is no run {one}; there are {', '.join(matrix.RUNS)}")
    return names


def _pair(text: str) -> tuple[str, str]:
    client, sign, server = text.partition(",")
    if not sign:
        raise argparse.ArgumentTypeError("CLIENT,SERVER is wanted, such as networkd,dnsmasq")
    return client, server


def _jobs(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 64:
        raise argparse.ArgumentTypeError("between 1 and 64 guests")
    return value


def _add_jobs_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jobs", metavar="N", type=_jobs, default=1,
                        help="split the cases over so many guests at a time, and make one report (1); a core carries "
                             "about three")


def _hosts(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 32:
        raise argparse.ArgumentTypeError("between 1 and 32 hosts")
    return value


def _memory(text: str) -> int:
    value = int(text)
    if not 128 <= value <= 65536:
        raise argparse.ArgumentTypeError("between 128 and 65536 MiB")
    return value


def _seconds(text: str) -> float:
    value = float(text)
    if not 0.1 <= value <= 86400:
        raise argparse.ArgumentTypeError("between 0.1 and 86400 seconds")
    return value


class _Parser(argparse.ArgumentParser):
    """What it complains of are words from outside."""

    usage_code = 2

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(self.usage_code, f"{self.prog}: error: {message}\n")

    def _print_message(self, message: str, file: IO[str] | None = None) -> None:
        super()._print_message(without_commands(message), file)


def _guid(text: str) -> int:
    try:
        value = int(text, 16)
    except ValueError:
        value = 0
    if not 0 < value < 1 << 64:
        raise argparse.ArgumentTypeError(f"{text} is no GUID in hex")
    return value


def parser() -> argparse.ArgumentParser:
    result = _Parser(
        prog=COMMAND, allow_abbrev=False,
        description="The real Linux IPoIB driver on a virtual InfiniBand, in a guest that needs neither hardware nor root.")
    result.add_argument("--version", action="version", version=f"ipoib-lab {place.version()}",
                        help="print the version")
    commands = result.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name: str, text: str, **more: str) -> _Parser:
        one = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".", allow_abbrev=False,
                                  **more)
        return one

    one = command("run", "judge Linux: all options of ipoib-conform run, and the lab's own",
                  usage=f"{COMMAND} run [LAB OPTION...] [SELECTOR...] [OPTION OF ipoib-conform run...]",
                  epilog="With --fabric simulated the guest's adapter is a node of ipoib-conform's own fabric, with its "
                         "subnet manager; otherwise OpenSM is in the guest. Exit code: that of ipoib-conform run; 3 if "
                         "no guest boots.")
    one.add_argument("--role", choices=ROLES, default="host",
                     help="a host in datagram mode (host), one in connected mode, or an IP multicast router")
    one.add_argument("--fabric", metavar="FABRIC", default="lab",
                     help="lab (OpenSM in the guest), simulated or simulated:sa-mutant=NAME (see below)")
    dhcp.add_options(one)
    one.add_argument("--scenario", metavar="NAME", default="default", help="as for ipoib-conform run")
    one.add_argument("--blocks", metavar="FILE", type=Path,
                     help="ib_core, ib_cm and ib_ipoib tell which of their code ran: written there at the end, for coverage")
    _add_jobs_option(one)
    _add_guest_options(one)
    _add_build_options(one)

    one = command("explore", "change things around Linux and see whether it is right again: ipoib-conform explore",
                  usage=f"{COMMAND} explore [LAB OPTION...] [OPTION OF ipoib-conform explore...]",
                  epilog="The guest's adapter is a node of ipoib-conform's own fabric; with --dut sa the guest's "
                         "OpenSM is asked, by two ports. Exit code: that of ipoib-conform explore; 3 if no guest boots.")
    one.add_argument("--role", choices=ROLES, default="host", help="as for run")
    one.add_argument("--scenario", metavar="NAME", default="default", help="as for ipoib-conform run")
    _add_guest_options(one)
    _add_build_options(one)

    one = command("fuzz", "do to Linux what nobody has thought of, and see whether it outlives it: ipoib-conform fuzz",
                  usage=f"{COMMAND} fuzz [LAB OPTION...] [OPTION OF ipoib-conform fuzz...]",
                  epilog="The guest's adapter is a node of ipoib-conform's own fabric. ib_core, ib_cm and ib_ipoib are built "
                         "so that they tell which of their code ran; with --replay they are as they are without the lab. "
                         "Exit code: that of ipoib-conform fuzz; 3 if no guest boots.")
    one.add_argument("--role", choices=("host", "connected"), default="host", help="as for run")
    one.add_argument("--plain", action="store_true", help="the driver as it is: nothing tells which of its code ran")
    if not place.IS_INSTALLED:
        one.add_argument("--planted", metavar="NAME",
                         help="a driver with a fault, lab/planted/NAME.patch, in the role that the patch names, and without "
                              "the crash that is known (docs/linux-connected-mode-crash.md)")
        one.add_argument("--mended", action="store_true", help="Linux's driver without that crash")
    _add_guest_options(one)
    _add_build_options(one)

    one = command("coverage", "write up which code of the driver the suite and the fuzzer run",
                  epilog="The files are what run --blocks and fuzz --coverage have written, of the same kernel and driver.")
    one.add_argument("--suite", metavar="FILE", nargs="+", type=Path, default=[], help="of run --blocks")
    one.add_argument("--fuzz", metavar="FILE", nargs="+", type=Path, default=[], help="of fuzz --coverage")
    one.add_argument("--note", metavar="TEXT", action="append", default=[], help="a line of the page: how they were made")
    one.add_argument("--output", metavar="FILE", type=Path, required=True, help="where the page goes")
    _add_guest_options(one)
    _add_build_options(one)

    one = command("compare", "judge two guests by the same cases and print what differs",
                  usage=f"{COMMAND} compare BASE NEW [LAB OPTION...] [SELECTOR...] [OPTION OF ipoib-conform run...]",
                  epilog="Exit code: that of ipoib-conform diff.")
    for name in ("base", "new"):
        one.add_argument(name, metavar=name.upper(), help="default, enhanced, kernel:NAME, kernel:TREE, ipoib:DIR or modules:DIR")
    one.add_argument("--role", choices=ROLES, default="host", help="as for run")
    one.add_argument("--fabric", metavar="FABRIC", default="lab", help="as for run")
    one.add_argument("--scenario", metavar="NAME", default="default", help="as for ipoib-conform run")
    _add_jobs_option(one)
    _add_guest_options(one)
    _add_build_options(one)

    one = command("report", "judge Linux in every role and scenario and write it up, as in docs/linux-ipoib.md",
                  usage=f"{COMMAND} report [LAB OPTION...] [SELECTOR...] [OPTION OF ipoib-conform run...]",
                  epilog="Known deviations are in lab/linux.baseline.toml. Exit code: the worst of the runs'.")
    one.add_argument("--output", metavar="FILE", type=Path, default=place.REPORT,
                     help=f"where the report goes ({place.REPORT.name})")
    one.add_argument("--resume", action="store_true",
                     help="go on where a report with the same build folder was stopped: what has ended is not run again")
    _add_jobs_option(one)
    _add_guest_options(one)
    _add_build_options(one)

    if not place.IS_INSTALLED:
        one = command("dhcp", "judge Debian's DHCP programs on InfiniBand and write up who keeps RFC 4390")
        one.add_argument("--pairs", metavar="CLIENT,SERVER", nargs="+", type=_pair, default=[],
                         help="those that share a guest; none: all there are, as in docs/dhcp.md")
        one.add_argument("--output", metavar="FILE", type=Path, default=place.SOURCE / "docs/dhcp.md",
                         help="where the report goes (docs/dhcp.md)")
        one.set_defaults(role="host", fabric="lab", scenario="default")
        _add_guest_options(one)
        _add_build_options(one)

    one = command("matrix", "judge several kernels and report which of them keeps what",
                  usage=f"{COMMAND} matrix [LAB OPTION...] [OPTION OF ipoib-conform run...] [-- SELECTOR...]",
                  epilog="Each kernel is a host of ipoib-conform merge, whose report options it takes, too. The results are "
                         "in matrix/KERNEL/RUN of the build folder. Exit code: that of merge, the worst of the kernels'; "
                         "3 where one could not be had or did not boot.")
    one.add_argument("--kernels", metavar="A,B,...", type=_kernel_names, default=list(kernels.USUAL),
                     help=f"those of them ({','.join(kernels.USUAL)})")
    one.add_argument("--runs", metavar="A,B,...", type=_run_names, default=list(matrix.USUAL),
                     help=f"what each is judged in ({','.join(matrix.USUAL)}; there are enhanced and enhanced-simulated, too)")
    one.add_argument("--output", metavar="FILE", type=Path,
                     help="where the page of differences goes (matrix/matrix.md of the build folder)")
    _add_jobs_option(one)
    _add_guest_options(one)
    _add_build_options(one)

    if not place.IS_INSTALLED:
        one = command("mutants", "judge changed drivers and write up which of them the suite finds, and by what",
                      epilog="What was judged already, by the same suite, is not judged again: a run that was stopped "
                             "goes on where it was.")
        one.add_argument("names", metavar="NAME", nargs="*", help="a patch of lab/mutants without its .patch; none: all")
        one.add_argument("--output", metavar="FILE", type=Path, default=place.SOURCE / "docs/driver-mutants.md",
                         help="where the report goes (docs/driver-mutants.md)")
        one.add_argument("--jobs", metavar="N", type=_jobs, default=4, help="so many guests at a time (4)")
        _add_guest_options(one)
        _add_build_options(one)

    one = command("test", "run the lab's own tests, each in a fresh guest")
    one.add_argument("names", metavar="NAME", nargs="+", help="a script of lab/guest/tests without its .sh, or all")
    _add_guest_options(one)
    _add_build_options(one)

    one = command("exec", "run a command on hosts that InfiniBand connects: other people's programs, in CI",
                  usage=f"{COMMAND} exec [OPTION...] -- COMMAND...",
                  epilog="COMMAND runs on h1; there, `host h2 COMMAND...` runs one on h2. ib0 of each host is up, with the "
                         "address 10.1.0.N/24 and its name in /etc/hosts. Exit code: the command's; 70 if the guest's "
                         "kernel has panicked, warned or found an error meanwhile; 71 if the check failed and the command "
                         "did not; 124 if the time is up; 125 if the lab is at fault, or was used wrongly.")
    _add_hosts_options(one)
    one.add_argument("--timeout", metavar="SECONDS", type=_seconds, help="end the command after this time")
    one.add_argument("--check", action="store_true",
                     help="judge the capture: ipoib-conform check, with Linux's known deviations excused")
    _add_guest_options(one, "as the adapters need")
    _add_build_options(one)

    one = command("shell", "a terminal on h1 of hosts that InfiniBand connects", usage=f"{COMMAND} shell [OPTION...]",
                  epilog="As exec, with bash at this terminal for the command; a script runs before it.")
    _add_hosts_options(one)
    one.set_defaults(timeout=None, check=False)
    _add_guest_options(one, "as the adapters need")
    _add_build_options(one)

    one = command("port", "a place on the fabric for a node of your own, beside hosts that wait, until Ctrl-C",
                  usage=f"{COMMAND} port SOCKET... [OPTION...]",
                  epilog="A node is a process on this machine that connects to SOCKET and speaks InfiniBand frames there, as "
                         "docs/lab-port.md has it; the guest's subnet manager brings it up. Exit code: as of exec; 130 after "
                         "Ctrl-C.")
    one.add_argument("sockets", metavar="SOCKET", nargs="+", type=Path, help="a path that nothing is at; at most three")
    _add_hosts_options(one, has_command=False)
    one.set_defaults(timeout=None, check=False, script=None)
    _add_guest_options(one, "as the adapters need")
    _add_build_options(one)

    one = command("capture", "record the fabric of a guest, from its first frame on",
                  usage=f"{COMMAND} capture FILE [OPTION...] [-- COMMAND...]",
                  epilog="COMMAND is for bash in the guest and makes the traffic; without one, net_up && pings 10.1.0.2. "
                         "Exit code: the command's.")
    one.add_argument("file", metavar="FILE", type=Path, help="pcap with ERF records, for Wireshark and ipoib-conform")
    one.add_argument("--seconds", metavar="N", type=_seconds, default=3600.0, help="end after this time")
    _add_guest_options(one)
    _add_build_options(one)

    one = command("kernels", "list Debian's kernels that --kernel knows: where they are, what is fetched, what is there now")
    _add_build_options(one)
    one = command("packages", "fetch what Debian has now: kernel, OpenSM and tools (run fetches only what is missing)")
    _add_build_options(one)
    one = command("ipoib-source", "unpack Debian's source of the guest's ib_ipoib, to be changed and given to --ipoib")
    _add_source_options(one)
    one = command("modules-source", "unpack Debian's source of ib_core, ib_cm and ib_ipoib, for --modules")
    _add_source_options(one)
    one = command("kernel-source", "unpack Debian's source of the guest's kernel, to be changed, built and given to --kernel")
    _add_source_options(one)
    one = command("build", "fetch and build everything that a guest is made of, and boot nothing")
    _add_guest_options(one)
    _add_build_options(one)
    if not place.IS_INSTALLED:
        command("setup", "install the packages that the lab needs on this machine (scripts/setup lab)")
    command("manual", f"print the manual page (roff): {COMMAND} manual | man -l -")
    command("completion", "print the bash completion")

    one = command("adapter", "one of two that meet: boot a guest with its adapter plugged into a raw port, and be its adapter",
                  usage=f"{COMMAND} adapter [LAB OPTION...] --port SOCKET",
                  epilog="For ipoib-conform matrix and run --against, whose fabric listens at SOCKET: requests of the DUT "
                         "control protocol come by standard input until its end. Exit code: 0; 3 if no guest boots.")
    one.add_argument("--port", metavar="SOCKET", type=Path, required=True, help="the raw port, which need not be there yet")
    one.add_argument("--guid", metavar="HEX", type=_guid, help="the adapter's port GUID (its usual one)")
    one.add_argument("--role", choices=("host", "connected"), default="host", help="as for run")
    _add_guest_options(one)
    _add_build_options(one)

    one = command("attach", "for run: connect standard input and output with a port of its guest")
    one.add_argument("folder", metavar="FOLDER", type=Path, help="the running guest's folder")
    one.add_argument("port", metavar="PORT", choices=("agent", "control"), help="agent or control")
    one.add_argument("--anew", action="store_true", help="with a guest that has just booted: where somebody has been connected "
                     "to this port of it, another one is booted")
    return result


def parse(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """The options, and what the lab does not know; what follows "--" is `words`."""
    before = list(arguments)
    words: list[str] = []
    if "--" in before:
        at = before.index("--")
        before, words = before[:at], before[at + 1:]
    options, rest = parser().parse_known_args(before)
    if words and options.command not in ("capture", "exec", "matrix"):
        raise UsageError("-- and what follows are for capture, exec and matrix")
    options.words = words
    # Commands without them have guests, too.
    for name in ("dhcp_client", "dhcp_server"):
        setattr(options, name, getattr(options, name, None))
    return options, rest


def split_run_arguments(rest: Sequence[str], options: argparse.Namespace) -> RunOptions:
    """Checks what is for ipoib-conform run against what the lab decides by itself."""
    for taken in ("--listen", "--fabric-control"):
        if any(word == taken or word.startswith(taken + "=") for word in rest):
            raise UsageError(f"{taken} is the lab's own affair")
    fabric = options.fabric
    if fabric != "lab" and not re.match(r"simulated(:|$)", fabric):
        raise UsageError(f"--fabric {fabric}: in the lab it is lab, simulated, or simulated:sa-mutant=NAME")
    return RunOptions(list(rest), fabric, options.scenario)


def split_explore_arguments(rest: Sequence[str], options: argparse.Namespace) -> RunOptions:
    """The same for ipoib-conform explore: Linux beside the simulated fabric, or with `--dut sa` the lab's OpenSM."""
    words = list(rest)
    is_of_sa = "--dut=sa" in words or any(pair == ("--dut", "sa") for pair in zip(words, words[1:]))
    taken_words = ["--listen", "--fabric", "--mutants"] + (["--fabric-control", "--allow"] if is_of_sa else ["--dut"])
    for taken in taken_words:
        if any(word == taken or word.startswith(taken + "=") for word in words):
            raise UsageError(f"{taken} is the lab's own affair")
    if is_of_sa and options.scenario != "default":
        raise UsageError("histories are asked in the scenario \"default\"")
    return RunOptions(words, "lab" if is_of_sa else "simulated", options.scenario)


def is_among(option: str, words: Sequence[str]) -> bool:
    return any(word == option or word.startswith(option + "=") for word in words)


def value_of(option: str, words: Sequence[str]) -> str | None:
    """What follows an option, in either way of writing it."""
    for word, following in zip(words, [*words[1:], ""]):
        if word == option or word.startswith(option + "="):
            return word.partition("=")[2] or following or None
    return None


def split_fuzz_arguments(rest: Sequence[str]) -> list[str]:
    """The same for ipoib-conform fuzz."""
    for taken in ("--listen", "--dut"):
        if is_among(taken, rest):
            raise UsageError(f"{taken} is the lab's own affair")
    return list(rest)


def refuse_unknown(conform: Path, command: str, rest: Sequence[str]) -> None:
    """An option that the command of ipoib-conform does not have is refused before a guest boots for it."""
    known = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", run([conform, command, "--help"], "asking for the options")))
    for word in rest:
        if re.match(r"--?[A-Za-z]", word) and word.split("=", 1)[0] not in known:
            raise UsageError(f"unknown option {word}: neither the lab nor ipoib-conform {command} has it")
