# SPDX-License-Identifier: GPL-2.0-or-later
"""One guest in QEMU: started, watched, ended. Software emulation, unless a probe has shown that KVM boots it."""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import BinaryIO

import stacks
from confined import (SANDBOX, Descriptors, give_up_capabilities, is_within_reach, lend, owner_for_qemu,
                      user_for_qemu)
from console import Console, has_panicked, is_locked_up
from private_folder import PrivateFolder
from snapshot import Monitor
from tools import LabError, last_lines, need_program, run, say, write_whole

QEMU = "qemu-system-x86_64"
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)
_LAST_LINES = 30
_ENDS_WITHIN = 5.0  # s, from SIGTERM to SIGKILL
PORTS = ("agent", "control", "raw0", "raw1", "tap", "capture")


class State(Enum):
    BOOTING = "booting"
    READY = "ready"
    DEAD = "dead"


@dataclass(frozen=True)
class Disk:
    """A file that the guest has as a disk with this serial number."""

    name: str
    path: Path
    is_written: bool = False


@dataclass(frozen=True)
class Guest:
    """What a guest is made of."""

    boot_file: Path
    image: Path
    parameters: dict[str, str] = field(default_factory=dict)  # lab.* of the kernel's command line
    memory: int = 256  # MiB
    boot_limit: float = 60.0  # s, on a machine that has nothing else to do
    beside: int = 1  # guests that run at a time, this one with them
    uplink: Path | None = None  # raw0 connects to this socket, instead of listening
    has_shell_port: bool = False
    accelerator: str = "tcg"
    ports: tuple[str, ...] = PORTS  # of virtio-serial, each a socket in the machine's folder
    disks: tuple[Disk, ...] = ()
    shared: Path | None = None  # a folder that the guest reads and writes
    symbols: Mapping[str, Path] = field(default_factory=dict)  # files with debug information, by module (stacks)
    words: tuple[str, ...] = ()  # of the kernel's own, on its command line
    keeps_state: bool = False  # its state is kept when it is ready, and later starts begin there


def dies_with(parent: int, number: signal.Signals, more: Callable[[], None] | None = None) -> Callable[[], None]:
    """For the child between fork and exec: the kernel sends it this signal when its parent ends, however it does."""

    def prepare() -> None:
        if more is not None:
            more()
        _LIBC.prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return prepare


def processor_time(pid: int) -> float:
    """Seconds that a process has had so far."""
    words = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    user, system = words[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def load_factor(guests: int = 1) -> float:
    """How many times as long something takes as alone: processors are shared with these guests, or with what runs
    already, whichever is more."""
    return max(1.0, max(guests, os.getloadavg()[0]) / (os.cpu_count() or 1))


def parse_version(text: str) -> tuple[int, int]:
    match = re.search(r"version (\d+)\.(\d+)", text)
    if match is None:
        raise LabError(f"{QEMU} tells no version: {text.strip()[:200]}")
    return int(match.group(1)), int(match.group(2))


def _reconnect_option(version: tuple[int, int]) -> str:
    return "reconnect-ms=200" if version >= (9, 2) else "reconnect=1"


def qemu_command(guest: Guest, folder: Path, descriptors: Mapping[str, int], version: tuple[int, int]) -> list[str]:
    """The descriptors are those that `_open` makes. The folder is told to whoever lists the processes."""
    def quoted(path: Path) -> str:
        return str(path).replace(",", ",,")

    def listening(port: str) -> str:
        return f"socket,id={port},fd={descriptors[port]},server=on,wait=off"

    is_kvm = guest.accelerator == "kvm"
    # On a busy host QEMU is late with the timer that a kernel tries at boot, and without it that gives up; and a kernel
    # that makes its first random numbers of how late timers are has been at it for more than a minute.
    words = ["console=ttyS0", "loglevel=5", "no_timer_check", "random.trust_cpu=on", "panic=-1", "oops=panic",
             "log_buf_len=1M", "rdinit=/init", *guest.words,
             *(f"lab.{key}={value}" for key, value in sorted(guest.parameters.items()))]
    command = [QEMU, "-name", f"ipoib-lab in {quoted(folder)}", "-sandbox", SANDBOX,
               "-M", "q35", "-accel", "kvm" if is_kvm else "tcg,thread=multi", "-cpu", "max" if is_kvm else "qemu64,+rdrand",
               "-smp", "2", "-m", str(guest.memory), "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
               "-kernel", f"/proc/self/fd/{descriptors['kernel']}", "-initrd", f"/proc/self/fd/{descriptors['image']}",
               "-append", " ".join(words), "-add-fd", f"fd={descriptors['console']},set=1",
               "-chardev", "file,id=console,path=/dev/fdset/1", "-serial", "chardev:console"]
    if guest.has_shell_port:
        command += ["-chardev", listening("shell"), "-serial", "chardev:shell"]
    for number, disk in enumerate(guest.disks, 2):
        # The descriptor has just the rights that are asked for, and other guests have the same file.
        command += ["-add-fd", f"fd={descriptors[f'disk {disk.name}']},set={number}", "-drive",
                    f"if=none,id={disk.name},format=raw,readonly={'off' if disk.is_written else 'on'},auto-read-only=off,"
                    f"cache=unsafe,file.driver=file,file.filename=/dev/fdset/{number},file.locking=off,"
                    "file.auto-read-only=off",
                    "-device", f"virtio-blk-pci,drive={disk.name},serial={disk.name}"]
    if guest.shared is not None:
        command += ["-fsdev", f"local,id=folder,path={quoted(guest.shared)},security_model=none",
                    "-device", "virtio-9p-pci,fsdev=folder,mount_tag=folder"]
    command += ["-device", "virtio-serial-pci,max_ports=8"]
    for port in guest.ports:
        if port == "raw0" and guest.uplink is not None:
            chardev = f"socket,id={port},path={quoted(guest.uplink)},{_reconnect_option(version)}"
        else:
            chardev = listening(port)
        command += ["-chardev", chardev, "-device", f"virtserialport,chardev={port},name=ipoib.{port}"]
    if "monitor" in descriptors:
        command += ["-chardev", f"socket,id=monitor,fd={descriptors['monitor']}", "-mon", "chardev=monitor,mode=control"]
    if "state" in descriptors:
        command += ["-incoming", f"fd:{descriptors['state']}"]
    return command


def is_emulators(console: str) -> bool:
    """Whether a kernel died of QEMU's software CPUs: a breakpoint that another of them had set while it changed code."""
    return "Oops: int3" in console and "Kernel panic" in console


class Machine:
    """A guest that can be started again. Everything about it is in a folder, which `attach` reads too: the sockets of
    its ports, a console for each boot, and `state.json`, which says which boot this is and what became of it."""

    def __init__(self, guest: Guest, folder: Path) -> None:
        self.guest = guest
        self.folder = folder
        self.state = State.DEAD
        self.why = "it was never started"
        self.boot = 0
        self.ready_after = 0.0  # s
        self.lines: list[str] = []  # the last of the console
        self.on_line: Callable[[str], None] = lambda line: None
        self._user = user_for_qemu(guest.accelerator == "kvm") if guest.shared is None else owner_for_qemu(guest.shared)
        if guest.uplink is not None and not is_within_reach(guest.uplink):
            self._user = None
        self._version = parse_version(run([need_program(QEMU), "--version"], "asking QEMU for its version"))
        self._process: subprocess.Popen[bytes] | None = None
        self._monitor: Monitor | None = None
        self._kept: Path | None = None  # the state of a guest that was ready
        self._is_restored = self._has_been_ready = False  # the guest that was started last
        self._console = Console(folder / "console.0")
        self._begun = 0.0
        self._is_late = False
        self._used = 0.0  # s of processor time, when it was late
        atexit.register(self.kill)

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    @property
    def console(self) -> Console:
        return self._console

    def start(self) -> None:
        """Begins a boot, or goes on from the state that is kept; poll() tells what comes of it. A state from which no guest
        becomes ready is not tried again."""
        if self._is_restored and not self._has_been_ready:
            self._kept = None
        self.kill()
        self.boot += 1
        self.lines = []
        stacks.note(self.folder, self.guest.symbols)
        path = self.folder / f"console.{self.boot}"
        self._console = Console(path)
        with Descriptors(self._user) as handed, open(self.folder / "qemu.log", "ab") as log:
            self._open(handed, path)
            self._process = self._launch(handed, log)
        self._begun = time.monotonic()
        self._is_late = False
        self._is_restored, self._has_been_ready = self._kept is not None, False
        self._set(State.BOOTING, "")

    def keep_state(self) -> None:
        """Of a guest that is ready, so that the next start() begins there. Nobody may be connected to its ports yet: who is
        does not come back with it. What QEMU cannot do is told, and the next start is a boot."""
        if self._monitor is None or self._kept is not None or self.state is not State.READY:
            return
        path = self.folder / "state"
        try:
            self._monitor.save(path)
            self._kept = path
        except LabError as problem:
            room = shutil.disk_usage(self.folder).free >> 20
            say(f"no state of the guest is kept, so each further one boots: {problem} ({room} MiB are free in {self.folder})")
            path.unlink(missing_ok=True)

    def _open(self, handed: Descriptors, console: Path) -> None:
        handed.read("kernel", self.guest.boot_file)
        handed.read("image", self.guest.image)
        handed.write("console", console)
        has_uplink = self.guest.uplink is not None
        for disk in self.guest.disks:
            handed.lend(f"disk {disk.name}", disk.path, disk.is_written)
        handed.listen([port for port in self.guest.ports if port != "raw0" or not has_uplink], self.folder)
        if self.guest.has_shell_port:
            handed.listen(["shell"], self.folder)
        if self.guest.keeps_state:
            self._monitor = Monitor(handed.connect("monitor"))
        if self._kept is not None:
            if self._kept.is_file():
                handed.lend("state", self._kept, is_written=False)
            else:
                self._kept = None

    def _launch(self, handed: Descriptors, log: BinaryIO) -> subprocess.Popen[bytes]:
        command = qemu_command(self.guest, self.folder, handed.numbers, self._version)
        user = self._user.number if self._user is not None else None
        groups = self._user.groups if self._user is not None else None
        group = self._user.group if self._user is not None and self._user.group is not None else user
        give_up = give_up_capabilities if self.guest.shared is not None else None
        try:
            # A session of its own: keys on the terminal are for the program that judges, which ends in good order.
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                                    preexec_fn=dies_with(os.getpid(), signal.SIGKILL, give_up), user=user, group=group,
                                    extra_groups=groups, pass_fds=tuple(handed.numbers.values()))
        except OSError as problem:
            raise LabError(f"{QEMU} cannot be started: {problem.strerror}") from problem

    def poll(self) -> State:
        """Looks at the console and the process; never waits."""
        if self.state is State.DEAD or self._process is None:
            return self.state
        if self.guest.uplink is not None:
            lend(self.guest.uplink, self._user)
        has_ended = self._process.poll() is not None
        while lines := self._console.new_lines():
            for line in lines:
                self._take(line)
        if self.state is State.DEAD:
            return self.state
        if self.state is State.BOOTING and not has_ended and self._is_restored and self._goes_on():
            self._is_ready()
        if has_ended:
            self._die(self._ending())
        elif self._console.is_flooded():
            self._die("it floods its console")
        elif self.state is State.BOOTING and time.monotonic() - self._begun > self._limit():
            self._is_late = True
            self._used = processor_time(self._process.pid)
            stretched = f", stretched to {self._limit():.0f} s by the load" if load_factor(self.guest.beside) > 1 else ""
            self._die(f"it was not ready after {self.guest.boot_limit:g} s{stretched}")
        return self.state

    def _limit(self) -> float:
        return self.guest.boot_limit * load_factor(self.guest.beside)

    def wait_ready(self, attempts: int = 2) -> None:
        """Waits until the guest is ready. LabError, with the console's last lines, if it does not become so. A boot
        that is late is no verdict on the kernel yet: now and then QEMU's software CPUs stand still in one, and the
        next one passes, or one of them runs into a line that another is just changing. So it has more than one
        attempt; a guest that says what else is wrong has not."""
        for left in reversed(range(attempts)):
            while self.poll() is State.BOOTING:
                time.sleep(0.02)
            if self.state is State.READY:
                return
            if left == 0 or not self.may_boot_again():
                raise LabError(self.death())
            self.start()

    def may_boot_again(self) -> bool:
        """Whether the boot that has failed is no verdict on the kernel; says so, since who asks will start another."""
        if not (self._is_late or is_emulators(self._console.tail())):
            return False
        say(f"the guest is started once more: {self.why}, of which QEMU has used {self._used:.1f} s of processor time")
        return True

    def wait_end(self, limit: float) -> None:
        """Waits until the guest has powered off."""
        end = time.monotonic() + limit
        while self.poll() is not State.DEAD:
            if time.monotonic() > end:
                self._die(f"it did not end within {limit:.0f} s")
            time.sleep(0.02)

    def death(self) -> str:
        """Why it died, with the console's last lines and what QEMU had to say."""
        words = f"the guest died: {self.why}\n{self.decoded(last_lines(self._console.tail(), _LAST_LINES))}"
        log = self.folder / "qemu.log"
        said = log.read_text(encoding="utf-8", errors="replace").strip() if log.is_file() else ""
        return f"{words}\n{last_lines(said, 10)}" if said else words

    def decoded(self, text: str) -> str:
        """What its kernel has said, with file and line of the functions, as far as they are known."""
        return stacks.decoded_in(self.folder, text)

    def kill(self) -> None:
        """Ends QEMU, whatever state it is in."""
        process, self._process = self._process, None
        monitor, self._monitor = self._monitor, None
        if monitor is not None:
            monitor.close()
        if process is None:
            return
        for stop in (process.terminate, process.kill):
            if process.poll() is not None:
                break
            stop()
            try:
                process.wait(_ENDS_WITHIN)
            except subprocess.TimeoutExpired:
                continue
        if self.state is not State.DEAD:
            self._set(State.DEAD, "it was ended")

    def _take(self, line: str) -> None:
        self.lines = [*self.lines[-199:], line]
        self.on_line(line)
        if line.startswith("LAB-READY") and self.state is State.BOOTING:
            self._is_ready()
        elif line.startswith("LAB-FAILED"):
            self._die(line.removeprefix("LAB-FAILED").strip())
        elif has_panicked(line) or is_locked_up(line):
            self._die(line.strip())

    def _goes_on(self) -> bool:
        """Whether a guest goes on from the state that was kept."""
        try:
            return self._monitor is not None and self._monitor.is_running()
        except LabError:
            return False  # it ends, and poll() tells how

    def _is_ready(self) -> None:
        self.ready_after = time.monotonic() - self._begun
        self._has_been_ready = True
        self._set(State.READY, "")

    def _ending(self) -> str:
        assert self._process is not None
        code = self._process.returncode
        if code == 0:
            return "it powered off or restarted"
        return f"QEMU was killed by signal {-code}" if code < 0 else f"QEMU ended with status {code}"

    def _die(self, why: str) -> None:
        self._set(State.DEAD, why)
        # A panic writes its trace first and its reason last; QEMU ends by itself behind it.
        if self._process is not None and has_panicked(why):
            try:
                self._process.wait(2)
            except subprocess.TimeoutExpired:
                pass
        self.kill()

    def _set(self, state: State, why: str) -> None:
        self.state, self.why = state, why
        content = {"boot": self.boot, "state": state.value, "why": why, "console": self._console.path.name}
        if self.folder.is_dir():
            write_whole(self.folder / "state.json", json.dumps(content))


def with_kvm_if_it_works(guest: Guest, limit: float = 10.0) -> tuple[Guest, str]:
    """KVM may be there and not work, or hang, as in some nested machines: only a boot can tell. The guest to use, and
    what was found."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return guest, "there is no KVM for this user: software emulation"
    candidate = replace(guest, accelerator="kvm", boot_limit=limit, uplink=None, has_shell_port=False,
                        parameters={"hcas": "2", "raws": "2"})
    with PrivateFolder() as folder:
        machine = Machine(candidate, folder.path)
        try:
            machine.start()
            machine.wait_ready(attempts=1)
        except LabError:
            return guest, f"no guest boots under KVM here ({machine.why}): software emulation"
        finally:
            machine.kill()
    found = f"KVM boots the guest in {machine.ready_after:.1f} s"
    if os.geteuid() == 0 and user_for_qemu(is_kvm=True) is None and user_for_qemu(is_kvm=False) is not None:
        found += "; QEMU is root, since nobody else may use /dev/kvm"
    return replace(guest, accelerator="kvm"), found
