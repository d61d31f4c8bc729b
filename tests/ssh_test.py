#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-dut-linux on the other side of an ssh connection, as on a DUT that is a machine of its own: a real ssh client
and server (dropbear) in a network namespace, where one end of a veth pair stands for ib0."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from program import die_with_parent
from waiting import until

ADAPTER = str(Path(os.environ["IPOIB_DUT_LINUX"]).resolve())
SKIPPED = 77  # to CTest
PORT = "2222"
INSIDE = "IPOIB_SSH_TEST_INSIDE"


def missing():
    if not all(shutil.which(tool) for tool in ("ssh", "ssh-keygen", "dropbear", "dropbearkey", "ip", "pgrep", "unshare")):
        return "dropbear-bin, openssh-client, iproute2 or procps"
    if subprocess.run(["unshare", "-nm", "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        return "the right to make namespaces"
    return None


def run(*words):
    return subprocess.run(words, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout


class Ssh(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="ipoib-ssh-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        # A home of the server's own. /etc/passwd is another one in this mount namespace alone.
        (cls.folder / ".ssh").mkdir(mode=0o700)
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(cls.folder / "key"))
        run("dropbearkey", "-t", "ed25519", "-f", str(cls.folder / "host"))
        (cls.folder / ".ssh/authorized_keys").write_bytes((cls.folder / "key.pub").read_bytes())
        (cls.folder / ".ssh/authorized_keys").chmod(0o600)
        (cls.folder / "passwd").write_text(f"root:x:0:0:root:{cls.folder}:/bin/sh\n")
        run("mount", "--bind", str(cls.folder / "passwd"), "/etc/passwd")
        cls.addClassCleanup(run, "umount", "/etc/passwd")
        for words in ("link set lo up", "link add v0 type veth peer name v1", "addr add 10.8.0.1/24 dev v0",
                      "addr add 10.9.0.2/24 dev v1", "link set v1 up"):
            run("ip", *words.split())
        cls.server = subprocess.Popen(["dropbear", "-F", "-E", "-s", "-m", "-p", f"127.0.0.1:{PORT}", "-r",
                                       cls.folder / "host"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      preexec_fn=die_with_parent)
        cls.addClassCleanup(cls.server.wait)
        cls.addClassCleanup(cls.server.terminate)

    def setUp(self):
        self.before = self.state()
        self.ssh = subprocess.Popen(
            ["ssh", "-q", "-p", PORT, "-i", self.folder / "key", "-o", "StrictHostKeyChecking=no", "-o", "BatchMode=yes",
             "-o", "UserKnownHostsFile=/dev/null", "-o", "ConnectionAttempts=50", "127.0.0.1", ADAPTER, "v0"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
        self.addCleanup(self.end)
        self.asked = 0

    def end(self):
        self.ssh.kill()
        self.ssh.wait()
        self.ssh.stdin.close()
        self.ssh.stdout.close()

    def state(self):
        """What the adapter may change, but for addresses that come with a link's state."""
        interface = json.loads(run("ip", "-j", "addr", "show", "dev", "v0"))[0]
        addresses = sorted(one["local"] for one in interface["addr_info"] if one["family"] == "inet")
        return {"up": "UP" in interface["flags"], "mtu": interface["mtu"], "addresses": addresses,
                "routes": run("ip", "route", "show", "dev", "v0")}

    def ask(self, do, **members):
        self.asked += 1
        self.ssh.stdin.write(json.dumps({"id": self.asked, "do": do, **members}) + "\n")
        self.ssh.stdin.flush()
        return json.loads(self.ssh.stdout.readline())

    def change(self):
        self.assertEqual(self.ask("hqmwzkfrtxov").get("error"), "unsupported")
        self.assertEqual(self.ask("hello", interface="v0").get("protocol"), 1)
        for do, members in (("add_address", {"address": "10.7.7.7/24"}), ("set_mtu", {"mtu": 1300}), ("up", {}),
                            ("join", {"group": "239.1.2.3"})):
            answer = self.ask(do, **members)
            self.assertTrue(answer.get("ok"), answer)
        self.assertIn("10.7.7.7", self.state()["addresses"])
        self.assertNotEqual(self.state(), self.before)

    def assert_restored(self):
        until(lambda: self.state() == self.before, lambda: f"{self.before}, but {self.state()}", 20)
        looks = ["pgrep", "-f", ADAPTER + " v0"]
        until(lambda: subprocess.run(looks, stdout=subprocess.DEVNULL, check=False).returncode != 0, "end of the adapter", 20)

    def test_bye_restores(self):
        self.change()
        self.assertTrue(self.ask("bye").get("ok"))
        self.assertEqual(self.state(), self.before)
        # And a session can begin anew.
        self.change()
        self.ssh.stdin.close()
        self.assertEqual(self.ssh.wait(timeout=20), 0)
        self.assert_restored()

    def test_the_end_of_input_restores(self):
        self.change()
        self.ssh.stdin.close()
        self.assertEqual(self.ssh.wait(timeout=20), 0)
        self.assert_restored()

    def test_a_client_that_is_killed_leaves_nothing_behind(self):
        self.change()
        self.ssh.kill()
        self.assert_restored()

    def test_a_server_that_is_killed_leaves_nothing_behind(self):
        self.change()
        for session in run("pgrep", "-P", str(self.server.pid)).split():
            os.kill(int(session), signal.SIGKILL)
        self.ssh.wait(timeout=20)
        self.assert_restored()


if __name__ == "__main__":
    if why := missing():
        print(f"left out: {why} is missing")
        sys.exit(SKIPPED)
    if INSIDE not in os.environ:
        os.execvpe("unshare", ["unshare", "-nm", sys.executable, *sys.argv], {**os.environ, INSIDE: "1"})
    unittest.main()
