# SPDX-License-Identifier: GPL-2.0-or-later
"""`scripts/lab exec` and `shell` as their users meet them, and every command of docs/lab-recipes.md."""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import unittest

from lab_test import LIMIT, PROGRAMS, SOURCE, LabTest, leftovers
from waiting import until

sys.path.insert(0, str(SOURCE / "lab/host"))
import exec_command


class ExecTest(LabTest):
    def exec(self, *words, command="exec", stdin="", limit=LIMIT):
        options, dashes, rest = words, (), ()
        if "--" in words:
            at = words.index("--")
            options, dashes, rest = words[:at], ("--",), words[at + 1:]
        return subprocess.run([SOURCE / "scripts/lab", command, *map(str, options), "--programs", PROGRAMS, *dashes, *rest],
                              env=self.environment, input=stdin, capture_output=True, text=True, timeout=limit, check=False)

    def assert_code(self, done, code):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)


class Exec(ExecTest):
    def test_a_failed_check_is_71_unless_the_command_has_failed(self):
        for name, code, expected in (("wrong-q-key", 0, 71), ("wrong-q-key", 5, 5), ("usual", 0, 0)):
            options = argparse.Namespace(programs=pathlib.Path(PROGRAMS), capture=SOURCE / f"captures/{name}.pcap")
            self.assertEqual(exec_command.checked(options, self.folder, code), expected)

    def test_a_command_has_its_streams_its_folder_and_its_code(self):
        folder = self.folder / "work"
        folder.mkdir()
        (folder / "said").write_text("on the host\n")
        script = folder / "script"
        script.write_text(r"""#!/bin/bash
[ "$1 $2" = "one two words" ] && read -r line && echo "heard $line" && cat said && hostname && echo complained >&2
host h2 hostname && host h2 bash -c 'echo shared >/tmp/shared; echo own >/run/own' && cat /tmp/shared && [ ! -e /run/own ]
[ "$(ibv_devices | grep -c vib)" = 1 ] && ping -q -c 1 h2 >/dev/null && echo in the guest >written && host h9 true
[ $? = 125 ] && sysctl -n kernel.osrelease
exit 7
""")
        capture = self.folder / "frames.pcap"
        done = self.exec("--folder", folder, "--script", script, "--capture", capture, "--check", "--timeout", "300", "--",
                         "one", "two words", stdin="a line\nanother\n")
        self.assert_code(done, 7)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[:5], ["heard a line", "on the host", "h1", "h2", "shared"], done.stderr)
        self.assertRegex(lines[5], r"^6\.1\.")
        self.assertIn("complained\n", done.stderr)
        self.assertNotIn("complained", done.stdout)
        self.assertEqual((folder / "written").read_text(), "in the guest\n")
        self.assertIn("nothing in", done.stderr)
        self.assertGreater(capture.stat().st_size, 1000)

    def test_a_complaint_of_the_kernel_is_70_and_says_where(self):
        done = self.exec("--", "bash", "-c", "echo c >/proc/sysrq-trigger")
        self.assert_code(done, 70)
        self.assertIn("sysrq_handle_crash", done.stderr)

    def test_no_end_is_124_and_an_old_daemon_does_not_hold_it_up(self):
        done = self.exec("--timeout", "1", "--", "sleep", "1000")
        self.assert_code(done, 124)
        done = self.exec("--hosts", "1", "--", "bash", "-c", "sleep 1000 & echo begun; exit 3")
        self.assert_code(done, 3)
        self.assertEqual(done.stdout, "begun\n")

    def test_wrong_use_is_125_and_boots_nothing(self):
        empty = self.folder / "empty"
        (self.folder / "file").write_text("")
        for words, said in (((), "what is to run"), (("--hosts", "0", "--", "true"), "between 1 and 32"),
                            (("--package", "there-is-no-such-package", "--", "true"), "no package there-is-no-such-package"),
                            (("--kernel", "9.99", "--", "true"), "9.99"),
                            (("--check", "--", "true"), "--capture"),
                            (("--node", self.folder / "file", "--", "true"), "is there already"),
                            (("--node", self.folder / "file/x", "--", "true"), "no folder that you may write to"),
                            (("--node", self.folder / ("x" * 120), "--", "true"), "longer than 107"),
                            (("--node", "a", "--node", "a", "--", "true"), "is there already"),
                            (("--capture", empty / "a/b", "--", "true"), "cannot be written"),
                            (("--build", self.folder / "file/build", "--", "true"), "Not a directory")):
            with self.subTest(words):
                done = self.exec(*words, limit=120)
                self.assert_code(done, 125)
                self.assertIn(said, done.stderr)
                self.assertNotIn("Traceback", done.stderr)
        without = {**self.environment, "PATH": str(self.bare_path())}
        done = subprocess.run([SOURCE / "scripts/lab", "exec", "--programs", PROGRAMS, "--", "true"], env=without,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
        self.assert_code(done, 125)
        self.assertIn("qemu-system-x86_64 is not installed", done.stderr)

    def test_no_network_and_nothing_kept_is_told(self):
        self.environment |= {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
        done = self.exec("--build", self.folder / "empty", "--", "true")
        self.assert_code(done, 125)
        self.assertIn("is there a network?", done.stderr)

    def bare_path(self):
        folder = self.folder / "bin"
        folder.mkdir()
        for name in ("env", "python3"):
            (folder / name).symlink_to(subprocess.run(["which", name], capture_output=True, text=True, check=True).stdout.strip())
        return folder

    def test_signals_leave_nothing_behind(self):
        for number in signal.SIGINT, signal.SIGTERM:
            with self.subTest(number):
                run = subprocess.Popen([SOURCE / "scripts/lab", "exec", "--programs", PROGRAMS, "--", "bash", "-c",
                                        "echo begun; sleep 1000"], env=self.environment, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                self.addCleanup(run.kill)
                self.assertEqual(run.stdout.readline(), "begun\n")
                run.send_signal(number)
                run.communicate(timeout=30)
                self.assertEqual(run.returncode, 128 + number)
                until(lambda: not leftovers(self.temporary), "end of what exec had begun")

    def test_a_shell_is_on_h1_and_its_code_is_told(self):
        capture = self.folder / "frames.pcap"
        done = self.exec("--partition", "0x8001:h1,h2", "--capture", capture, command="shell",
                         stdin="hostname; host h2 hostname\nsort /sys/class/infiniband/vib0/ports/1/pkeys/* | tail -2\nexit 5\n")
        self.assert_code(done, 5)
        self.assertRegex(done.stdout, r"h1\r?\nh2\r?\n")
        self.assertGreater(capture.stat().st_size, 1000)
        self.assertRegex(done.stdout, r"0x8001\r?\n.*0xffff")

    def test_a_node_of_ones_own_is_on_the_fabric(self):
        """As docs/lab-port.md has it."""
        text = (SOURCE / "docs/lab-port.md").read_text()
        compile_it, block = (re.search(pattern, text, re.MULTILINE)[0] for pattern in
                             (r"^    cc .*$", r"^    scripts/lab exec --node (.*\n)*?    wait \$lab\n"))
        script = f"{compile_it}\n{block}".replace("exec --node", f"exec --programs {PROGRAMS} --node")
        for name in "scripts", "samples":
            (self.folder / name).symlink_to(SOURCE / name)
        done = subprocess.run(["bash", "-c", script], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assert_code(done, 0)
        self.assertIn("bytes from 10.1.0.9", done.stdout)
        self.assertFalse(os.path.lexists(self.folder / "node.sock"))

    def test_the_ci_samples_test_a_program(self):
        """Their very command; it is the same in both."""
        commands = set()
        for name in "github-actions.yml", "gitlab-ci.yml":
            text = (SOURCE / "samples/exec" / name).read_text()
            found = re.search(r"ipoib-lab (exec .*?-- \S+)\n", text, re.DOTALL)
            commands.add(tuple(found[1].replace("\\\n", "\n").split()))
        (words,) = commands
        repository = self.folder / "repository"
        repository.mkdir()
        shutil.copy(SOURCE / "samples/exec/test-on-infiniband", repository)
        at = words.index("--")
        done = subprocess.run([SOURCE / "scripts/lab", *words[:at], "--programs", PROGRAMS, *words[at:]], cwd=repository,
                              env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=LIMIT, check=False)
        self.assert_code(done, 0)
        self.assertEqual(done.stdout, "h2 has answered over InfiniBand\n")
        self.assertTrue((repository / "infiniband.pcap").is_file())

    def test_other_kernels_have_hosts_that_tell_what_they_believe(self):
        """A state of each host while all is well, and one after h2 got another MTU and h1 an old neighbour entry."""
        script = self.folder / "tells"
        script.write_text("""#!/bin/bash -e
            ping -q -c 1 h3 && ping -q -c 1 h2 && host h3 uname -r && host h3 ip -br link show ib1
            tell() { for name in h1 h2 h3; do host $name ipoib-dut-linux state ib0; done >/folder/$1.jsonl; }
            tell well
            host h2 ip link set ib0 mtu 1500
            of=$(ip neigh show 10.1.0.2 dev ib0 | grep -o '80:[0-9a-f:]*')
            ip neigh replace 10.1.0.2 dev ib0 nud permanent lladdr "80:00:99:99${of:11}"
            tell ill
        """)
        done = self.exec("--kernel", "6.12", "--hosts", "3", "--ports", "2", "--folder", self.folder, "--script", script)
        self.assert_code(done, 0)
        self.assertIn("\n6.12.", done.stdout)
        self.assertRegex(done.stdout, r"ib1 +DOWN")
        for line in (self.folder / "well.jsonl").read_text().splitlines():
            state = json.loads(line)
            self.assertEqual(state["unread"], [])
            for member in "link_address", "mcg", "paths", "groups", "port", "mode", "p_key":
                self.assertTrue(state["interfaces"][0][member], member)
        for name, expected in ("well", []), ("ill", ["host-mtus-differ", "stale-neighbour"]):
            told = subprocess.run([f"{PROGRAMS}/ipoib-conform", "audit", "--host-state", self.folder / f"{name}.jsonl"],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(sorted(re.findall(r"FINDING ([\w-]+)", told.stdout)), expected, told.stdout + told.stderr)


class Recipe:
    """A command of the page: its options, and its words for h1."""

    def __init__(self, text):
        words = shlex.split(text)
        at = words.index("--")
        self.name = text.splitlines()[0]
        self.command = words[at + 1:]
        self.packages, self.others = set(), []
        options = iter(words[2:at])
        for option in options:
            if option == "--package":
                self.packages.add(next(options))
            else:
                self.others += [option, next(options)]


def recipes():
    """The page's blocks that are indented by four blanks."""
    text = (SOURCE / "docs/lab-recipes.md").read_text()
    blocks = [re.sub(r"^    ", "", block, flags=re.MULTILINE)
              for block in re.findall(r"(?:^    .*\n)+", text, re.MULTILINE)]
    return [Recipe(command) for block in blocks for command in re.split(r"^(?=scripts/lab )", block, flags=re.MULTILINE)
            if command.startswith("scripts/lab exec ")]


class Recipes(ExecTest):
    def test_every_command_on_the_page_ends_well(self):
        """Those with the same hosts run one after another in one guest, with the packages of all of them; between two,
        all that runs on the hosts is ended. Those with two ports change their links, and have a guest each."""
        groups = {}
        for number, one in enumerate(recipes()):
            groups.setdefault((*one.others, number if "--ports" in one.others else None), []).append(one)
        self.assertGreaterEqual(sum(map(len, groups.values())), 12)
        packages = sorted(set().union(*(one.packages for group in groups.values() for one in group)))
        for (*others, _), group in groups.items():
            script = self.folder / "recipes"
            script.write_text("#!/bin/bash\n" + "".join(
                f"timeout 100 {shlex.join(one.command)} >/tmp/said 2>&1\ncode=$?\necho \"recipe {number} ended with $code\"\n"
                "[ $code = 0 ] || cat /tmp/said\n"
                'for one in /proc/[0-9]*; do [ "$one" != /proc/$$ ] && [ "$one/root" -ef / ] && '
                '[ "$(<"$one/comm")" != sleep ] && kill -9 "${one#/proc/}"; done 2>/dev/null\n'
                for number, one in enumerate(group)) + "exit 0\n")
            done = self.exec(*others, *(word for name in packages for word in ("--package", name)), "--script", script)
            for number, one in enumerate(group):
                with self.subTest(one.name):
                    self.assertIn(f"recipe {number} ended with 0\n", done.stdout, done.stdout + done.stderr)
            self.assert_code(done, 0)


if __name__ == "__main__":
    os.chdir(pathlib.Path(__file__).parent)
    unittest.main(verbosity=2)
