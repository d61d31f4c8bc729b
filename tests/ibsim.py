# SPDX-License-Identifier: GPL-2.0-or-later
"""A subnet simulated by ibsim, with a real OpenSM, for the tests that ask its subnet administrator. Needs no root and no
network: the programs meet at abstract sockets with a name of this run's own."""
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from program import die_with_parent
from waiting import until

TOOLS = {"ibsim": "ibsim-utils", "opensm": "opensm", "saquery": "infiniband-diags", "sminfo": "infiniband-diags"}
SKIPPED = 77  # to CTest
OPENSM = ["opensm", "-Q", "-F", "opensm.conf", "-P", "partitions.conf", "-f", "opensm.log"]


def simulator():
    """The library that stands for /dev/infiniband, as Debian installs it."""
    return next(iter(sorted(Path("/usr/lib").glob("*/umad2sim/libumad2sim.so"))), None)


def search_path():
    return os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def missing_packages():
    packages = {package for tool, package in TOOLS.items() if not shutil.which(tool, path=search_path())}
    if not simulator():
        packages.add("libumad2sim0")
    return sorted(packages)


def net_of(hosts, speed):
    """One switch, and the hosts at its ports. ibsim gives GUIDs of its own, by kind and order: a CA of one port takes
    two, from 0x100000 on."""
    switch = [f'Switch {len(hosts) + 1} "edge"']
    switch += [f'[{port}] "{host}"[1] # "{host}" lid {port + 1} {speed}' for port, host in enumerate(hosts, 1)]
    nodes = [f'Hca 1 "{host}" # "{description}"\n[1] "edge"[{port}] # lid {port + 1} lmc 0 "edge" lid 1 {speed}\n'
             for port, (host, description) in enumerate(hosts.items(), 1)]
    return "\n".join(switch) + "\n\n" + "\n".join(nodes)


def at_host(environment, host):
    """For a program that takes this host's port for its own."""
    return dict(environment, LD_PRELOAD=str(simulator()), SIM_HOST=host)


class Subnet:
    """ibsim with these hosts (name: node description), and OpenSM at the port of the first. The second asks."""

    def __init__(self, folder, hosts, partitions, speed):
        self.folder = Path(folder)
        self.hosts = list(hosts)
        self.processes = []
        self.environment = dict(os.environ, IBSIM_SOCKNAME=f"ipoib-test-{os.getpid()}-{time.monotonic_ns()}",
                                OSM_CACHE_DIR=str(folder), OSM_TMP_DIR=str(folder), PATH=search_path())
        for name, text in (("net", net_of(hosts, speed)), ("partitions.conf", partitions),
                           ("opensm.conf", "force_log_flush TRUE\n")):
            (self.folder / name).write_text(text)

    def start(self, groups):
        """Returns when the SA tells of so many groups, and the SM has swept the subnet to the end: what it was still to be
        told of a port, such as its P_Keys, it would lack."""
        self.spawn("ibsim", ["ibsim", "-s", "-n", "net"], self.environment)
        self.wait(lambda: "simulator ready" in self.log("ibsim"))
        self.start_sm()
        self.wait(lambda: self.sm_lid() is not None)
        self.wait(lambda: self.saquery("-g").count("MGID") == groups)
        self.wait(lambda: "SUBNET UP" in (self.folder / "opensm.log").read_text(errors="replace"))

    def start_sm(self):
        self.spawn("opensm", OPENSM, self.at(self.hosts[0]))

    def stop(self):
        # OpenSM leaves in peace only while the simulator is there.
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def at(self, host):
        return at_host(self.environment, host)

    def control(self):
        """A command for `--fabric-control`, which has OpenSM in its charge from then on."""
        words = [sys.executable, Path(__file__).with_name("ibsim_control.py"), self.folder, self.hosts[0],
                 self.processes[-1].pid]
        return shlex.join(map(str, words))

    def spawn(self, name, command, environment):
        with open(self.folder / (name + ".out"), "wb") as output:
            self.processes.append(subprocess.Popen(command, cwd=self.folder, env=environment, stdout=output,
                                                   stderr=output, stdin=subprocess.DEVNULL,
                                                   preexec_fn=die_with_parent))

    def log(self, name):
        return (self.folder / (name + ".out")).read_text(errors="replace")

    def wait(self, condition, seconds=60):
        def logs():
            return self.log("ibsim") + (self.log("opensm") if len(self.processes) > 1 else "")

        def is_so():
            if dead := [process.args[0] for process in self.processes if process.poll() is not None]:
                raise RuntimeError(f"the subnet does not come up; dead: {dead}\n{logs()}")
            return condition()

        until(is_so, lambda: f"subnet as it should be\n{logs()}", seconds)

    def run(self, host, *command, check=True, **options):
        options.setdefault("timeout", 60)
        run = subprocess.run(command, cwd=self.folder, env=self.at(host), stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=die_with_parent,
                             **options)
        if check and run.returncode != 0:
            raise RuntimeError(f"{command}: {run.returncode}\n{run.stdout}{run.stderr}")
        return run.stdout

    def sm_lid(self):
        found = re.search(r"sm lid (\d+) .* SMINFO_MASTER", self.run(self.hosts[1], "sminfo", check=False))
        return int(found.group(1)) if found else None

    def saquery(self, *arguments):
        return self.run(self.hosts[1], "saquery", *arguments, check=False)
