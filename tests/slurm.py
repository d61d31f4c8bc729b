# SPDX-License-Identifier: GPL-2.0-or-later
"""A real Slurm on this machine, for tests: munged, slurmctld and several slurmd on loopback, with folders, keys, sockets
and ports of their own. Nothing of it outlives the test, however that ends."""
import contextlib
import ctypes
import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from program import die_with_parent
from waiting import until

TOOLS = {"slurmctld": "slurmctld", "slurmd": "slurmd", "sbatch": "slurm-client", "munged": "munge", "mungekey": "munge"}
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
_SET_CHILD_SUBREAPER = 36  # prctl
# A node is down some seconds after it has gone silent, a job killed some seconds after it was asked to end.
_CONFIGURATION = """\
ClusterName=test
SlurmctldHost={machine}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SlurmdTimeout=6
SlurmctldTimeout=10
MessageTimeout=5
KillWait=8
UnkillableStepTimeout=10
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
NodeName=n[1-{count}] NodeHostname={machine} NodeAddr=127.0.0.1 Port=[{ports[1]}-{ports[2]}] CPUs=2 RealMemory=100
PartitionName=ib Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing_packages():
    return sorted({package for tool, package in TOOLS.items() if not shutil.which(tool, path=PATH)})


def free_ports(count):
    """So many in a row that nobody has now."""
    for first in range(20000 + os.getpid() % 10000, 60000, count):
        sockets = []
        try:
            for port in range(first, first + count):
                sockets.append(socket.socket())
                sockets[-1].bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()
    raise RuntimeError("no free ports")


def _read(pid, name):
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def descendants():
    """The processes that come from this one, also by way of others that have ended."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, rest = stat.read_text().split(" ", 1)
            state, parent = rest.rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            parents[int(pid)] = int(parent)
    found, more = set(), {os.getpid()}
    while more:
        more = {pid for pid, parent in parents.items() if parent in more} - found
        found |= more
    return found


def reap():
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass


def kill_descendants():
    while left := descendants():
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        # What a child leaves behind becomes a child of this process.
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)
        reap()


def supervised(main):
    """Runs main() in a process to which everything falls whose parent ends, and which leaves none of it: a daemon's
    helpers too, and also when this program is killed."""
    pid = os.fork()
    if pid:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda number, _: os.kill(pid, signal.SIGTERM))
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

    def interrupted(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupted)
    library = ctypes.CDLL(None)
    library.prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
    library.prctl(_SET_CHILD_SUBREAPER, 1)
    try:
        main()
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        kill_descendants()
        reap()


class Slurm:
    """Nodes n1 to nCOUNT in the partition "ib"."""

    def __init__(self, count, configuration=""):
        self._temporary = tempfile.TemporaryDirectory(prefix="ipoib-slurm-", ignore_cleanup_errors=True)
        self.folder = Path(self._temporary.name)
        self.folder.chmod(0o755)  # munged's socket is for everybody, or for nobody
        first = free_ports(count + 1)
        (self.folder / "slurm.conf").write_text(configuration + _CONFIGURATION.format(
            machine=os.uname().nodename.split(".")[0], user=getpass.getuser(), folder=self.folder, count=count,
            ports=(first, first + 1, first + count)))
        (self.folder / "cgroup.conf").write_text("")
        self.environment = dict(os.environ, PATH=PATH, LC_ALL="C", SLURM_CONF=str(self.folder / "slurm.conf"))
        self.nodes = [f"n{number}" for number in range(1, count + 1)]
        self.daemons = {}

    def start(self):
        for name in ("munge", "state", *(f"spool/{node}" for node in self.nodes)):
            (self.folder / name).mkdir(parents=True)
        munge = self.folder / "munge"
        self.run("mungekey", "-c", "-k", munge / "key")
        self._spawn("munged", "--foreground", f"--socket={munge}/socket", f"--key-file={munge}/key",
                    f"--pid-file={munge}/pid", f"--seed-file={munge}/seed", f"--log-file={munge}/log")
        self.wait(lambda: (munge / "socket").exists(), "munged")
        self._spawn("slurmctld", "-D", "-i")
        for node in self.nodes:
            self._spawn("slurmd", "-D", "-N", node, name=node)
        self.wait(lambda: self.run("sinfo", "-h", "-t", "idle", "-o", "%D").strip() == str(len(self.nodes)), "the nodes")

    def _spawn(self, *words, name=None):
        name = name or words[0]
        with open(self.folder / f"{name}.out", "w", encoding="utf-8") as out:
            self.daemons[name] = subprocess.Popen([shutil.which(words[0], path=PATH), *words[1:]], stdout=out, stderr=out,
                                                  stdin=subprocess.DEVNULL, env=self.environment, cwd=self.folder,
                                                  preexec_fn=die_with_parent, start_new_session=True)

    def run(self, *words):
        """The standard output of a command of Slurm, whether it succeeds or not."""
        return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=self.environment, text=True, timeout=60, check=False).stdout

    def wait(self, condition, what, seconds=60):
        until(condition, lambda: f"{what}\n{self.logs()}", seconds)

    def logs(self):
        return "\n".join(f"{path.name}: {path.read_text(errors='replace')[-2000:]}"
                         for path in sorted(self.folder.glob("*.out")) + [self.folder / "slurmctld.log"] if path.exists())

    def jobs(self):
        """Those that are not over, each with state, folder and node."""
        return self.run("squeue", "-h", "-r", "-o", "%F_%K %Z %T %N").splitlines()

    def lose(self, node):
        """The machine is gone, with its daemon and the job that it runs, without a word."""
        def own():
            return [pid for pid in descendants()
                    if f"SLURMD_NODENAME={node}".encode() in _read(pid, "environ").split(b"\0")]

        self.wait(own, f"job on {node}")
        daemon = self.daemons.pop(node)
        daemon.kill()
        daemon.wait()

        def is_gone():
            pids = own()
            parents = {int(_read(pid, "stat").rpartition(b")")[2].split()[1]) for pid in pids if _read(pid, "stat")}
            # The step first: it would tell of the end of the others.
            for pid in [*(pid for pid in parents if _read(pid, "comm").startswith(b"slurmstepd")), *pids]:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            return not pids

        until(is_gone, f"end of the job on {node}")

    def stop(self):
        """In good order; what does not end is killed at last, by `supervised`."""
        self.run("scancel", "-u", getpass.getuser())
        for name in (*(node for node in self.nodes if node in self.daemons), "slurmctld", "munged"):
            if name in self.daemons:
                self.daemons[name].terminate()
                self.daemons.pop(name).wait(20)

    @staticmethod
    def left():
        """What is still there after a while, of all that a Slurm has ever started here."""
        with contextlib.suppress(AssertionError):
            until(lambda: not descendants(), "end of them all", 10)
        return [_read(pid, "cmdline").replace(b"\0", b" ").decode() for pid in descendants()]

    def remove(self):
        self._temporary.cleanup()
