# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab as its users meet it: its own tests, Linux judged in it, kernels that are wrong, crash or do not boot."""

import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import tomllib
import unittest

from waiting import until

SOURCE = pathlib.Path(os.environ["IPOIB_SOURCE_DIR"])
PROGRAMS = os.environ["IPOIB_PROGRAMS"]
BASELINE = SOURCE / "lab/linux.baseline.toml"
LIMIT = 900  # seconds; with much else on the machine everything takes three times as long


def processes(folder, program=b""):
    """Those of a lab whose temporary folders are made in this one, of one program or of all."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if program in command.partition(b"\0")[0] and str(folder).encode() in command:
            found.append(int(process.name))
    return found


def leftovers(folder):
    """What such a lab has left."""
    return {str(one) for one in folder.iterdir()} | {f"process {one}" for one in processes(folder)}


class LabTest(unittest.TestCase):
    def setUp(self):
        if shutil.which("qemu-system-x86_64") is None:
            self.skipTest("QEMU IS NOT INSTALLED (scripts/setup lab): THE LAB IS NOT TESTED")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lab-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.environment = {**os.environ, "TMPDIR": str(self.temporary)}

    def tearDown(self):
        self.assertEqual(leftovers(self.temporary), set(), "the lab has left something behind")

    def lab(self, *arguments, limit=LIMIT):
        """One that is not done in time is ended, and tells what it has said."""
        command = [SOURCE / "scripts/lab", *map(str, arguments), "--programs", PROGRAMS]
        with subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as lab:
            try:
                told, complaints = lab.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                lab.terminate()
                told, complaints = lab.communicate(timeout=60)
                self.fail(f"{command} was not done after {limit} s, and had said\n{told}{complaints}")
        return subprocess.CompletedProcess(command, lab.returncode, told, complaints)

    def run_lab(self, *arguments, code=0):
        """The results of `scripts/lab run`."""
        file = self.folder / "results.json"
        file.unlink(missing_ok=True)
        done = self.lab("run", *arguments, "--json", file, "--quiet")
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(file.read_text())

    @staticmethod
    def verdicts(results):
        return {one["id"]: one["verdict"] for one in results["results"]}

    def changed_driver(self, name, file, old, new):
        """A copy of the guest's ib_ipoib with one line that is different."""
        folder = self.folder / name
        shutil.copytree(driver_source(), folder)
        text = (folder / file).read_text()
        self.assertEqual(text.count(old), 1)
        (folder / file).write_text(text.replace(old, new))
        return folder


def driver_source():
    """Fetched once, into the build folder."""
    folder = SOURCE / "build/lab/ib_ipoib"
    if not folder.is_dir():
        done = subprocess.run([SOURCE / "scripts/lab", "ipoib-source", folder], capture_output=True, text=True,
                              timeout=LIMIT, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
    return folder


class Guest(LabTest):
    def test_its_own_tests_pass(self):
        # Linux, below, takes suite_over_verbs.
        names = {one.stem for one in (SOURCE / "lab/guest/tests").glob("*.sh")} - {"common", "suite_over_verbs"}
        done = self.lab("test", *sorted(names))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for name in ("boot_ping4", "ping6", "multicast", "child", "flap", "connected", "verbs", "ordinary_user",
                     "sa_over_verbs", "generator_over_verbs", "unload", "faults",
                     "namespaces"):
            self.assertIn(f"PASS  {name} ", done.stdout)
        self.opensm_is_judged_over_two_ports()

    def opensm_is_judged_over_two_ports(self):
        results = json.loads((SOURCE / "build/lab/tests/sa_over_verbs/results.json").read_text())
        verdicts = {i: v for i, v in self.verdicts(results).items() if v != "NA"}
        # It routes groups to those who only send (docs/opensm.md); its usual Q_Key is not a controlled one.
        self.assertEqual({i: v for i, v in verdicts.items() if v != "PASS"},
                         {"IPOIB-4391-10-VAL-010": "FAIL", "IPOIB-4391-4.1-VAL-002": "WARN",
                          "RULE-RFC4391-4.1-02": "WARN"})
        self.assertGreater(len(verdicts), 20)
        # Packets crossed.
        self.assertEqual(verdicts["IPOIB-4391-5-VAL-004"], "PASS")

    def test_a_capture_holds_what_the_fabric_carried(self):
        file = self.folder / "lab.pcap"
        done = self.lab("capture", file)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        shown = subprocess.run(["tshark", "-r", file, "-T", "fields", "-e", "_ws.col.Protocol"], capture_output=True,
                               text=True, timeout=LIMIT, check=True).stdout.split()
        self.assertIn("InfiniBand", shown)
        checked = subprocess.run([pathlib.Path(PROGRAMS) / "ipoib-conform", "check", file, "--json",
                                  self.folder / "check.json"], capture_output=True, text=True, timeout=LIMIT,
                                 check=False)
        self.assertIn(checked.returncode, (0, 5), checked.stdout + checked.stderr)
        capture = json.loads((self.folder / "check.json").read_text())["captures"][0]
        self.assertGreater(capture["ipoib"], 4)

    def test_its_qemu_is_confined_and_ends_with_the_lab(self):
        lab = subprocess.Popen([SOURCE / "scripts/lab", "capture", self.folder / "lab.pcap", "--programs", PROGRAMS, "--",
                                "echo begun; sleep 600"], env=self.environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(lab.wait)
        self.addCleanup(lab.kill)
        self.assertIn("begun\n", iter(lab.stdout.readline, ""))
        lab.stdout.close()
        [qemu] = [process for process in pathlib.Path("/proc").glob("[0-9]*")
                  if (words := (process / "cmdline").read_bytes()).startswith(b"qemu") and str(self.temporary).encode() in words]
        threads = list((qemu / "task").iterdir())
        self.assertGreater(len(threads), 2)
        for thread in threads:
            status = dict(line.split(":\t", 1) for line in (thread / "status").read_text().splitlines())
            self.assertEqual(status["Seccomp"], "2")
            self.assertNotIn("0", status["Uid"].split() + status["Gid"].split() + status["Groups"].split())
            self.assertEqual({int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")}, {0})
        ended = os.pidfd_open(int(qemu.name))
        self.addCleanup(os.close, ended)
        lab.kill()
        self.assertEqual(select.select([ended], [], [], 60)[0], [ended])
        until(lambda: not leftovers(self.temporary), "end of what the lab had begun")


class Linux(LabTest):
    def test_a_host_under_opensm_deviates_as_is_known_and_not_otherwise(self):
        evidence = self.folder / "evidence"
        results = self.run_lab("--expect", BASELINE, "--evidence", evidence, "--jobs", "3")
        verdicts = self.verdicts(results)
        known = {entry["id"] for entry in tomllib.loads(BASELINE.read_text())["expected"]}
        # What needs an administrator that refuses or falls silent.
        known -= {f"IPOIB-4391-12-VAL-{n:03}" for n in (2, 3, 4)}
        # What is DHCP's: this host has no client.
        known = {one for one in known if "4390" not in one}
        self.assertEqual({i for i, verdict in verdicts.items() if verdict == "XFAIL"}, known)
        self.assertEqual({v for i, v in verdicts.items() if i not in known} - {"PASS", "NA"}, set())
        self.assertGreater(sum(verdict == "PASS" for verdict in verdicts.values()), 65)
        self.assertEqual(results["dut"]["driver"], "ib_ipoib")
        self.assertTrue((evidence / "IPOIB-4391-9.2-VAL-001.pcapng").is_file())
        self.over_verbs_linux_is_judged_as(verdicts)

    def over_verbs_linux_is_judged_as(self, verdicts):
        """What a queue pair lets through and shows is less: fewer verdicts, and no other ones."""
        done = self.lab("test", "suite_over_verbs")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        results = json.loads((SOURCE / "build/lab/tests/suite_over_verbs/results.json").read_text())
        self.assertEqual(results["fabric"]["kind"], "verbs")
        judged = {i: verdict for i, verdict in self.verdicts(results).items() if verdict != "NA"}
        self.assertEqual(judged, {i: verdicts[i] for i in judged})
        self.assertGreater(len(judged), 60)
        why_not = {one["na"] for one in results["results"] if one["verdict"] == "NA" and verdicts[one["id"]] != "NA"}
        # Over verbs nobody has allowed what touches the fabric.
        self.assertEqual(why_not, {"tester", "not-seen", "safety"})
        self.an_audit_finds_what_is_there()

    def an_audit_finds_what_is_there(self):
        audit = json.loads((SOURCE / "build/lab/tests/suite_over_verbs/audit.json").read_text())
        verdicts = self.verdicts(audit)
        self.assertEqual({i for i, verdict in verdicts.items() if verdict == "WARN"},
                         # Linux leaves the lifetime of new groups to OpenSM.
                         {"RULE-RFC4391-4.1-02-audit", "RULE-RFC4391-10-18-lifetime-audit"})
        self.assertEqual({i for i, verdict in verdicts.items() if verdict == "NA"},
                         {"RULE-RFC4391-10-21-audit", "RULE-RFC4392-1.2-01-audit", "RULE-RFC4391-4.1-04-audit",
                          "RULE-RFC4391-4.1-06-audit", "RULE-RFC4392-1.3-02-audit", "RULE-RFC4392-1.3-03-audit",
                          "RULE-RFC4391-10-21-mlid-audit", "RULE-UDMC-10-room-audit"})
        self.assertEqual(audit["fabric"]["ports"], "2")
        # A table of so many needs several segments.
        self.assertGreater(int(audit["fabric"]["members"]), 10)

    def test_the_simulated_administrator_refuses_linux_what_opensm_never_refuses(self):
        refused = "IPOIB-4391-5-INV-002"
        self.assertEqual(self.verdicts(self.run_lab(refused, "rfc4391/9.1.1", "--fabric", "simulated"))[refused], "PASS")
        self.assertEqual(self.verdicts(self.run_lab(refused, "IPOIB-4391-6-VAL-001"))[refused], "NA")

    def test_scenarios_and_roles_reach_the_guest(self):
        parameters = "IPOIB-4391-5-VAL-002"
        self.assertEqual(self.verdicts(self.run_lab(parameters, "--scenario", "controlled"))[parameters], "PASS")
        join = "IPOIB-4391-5-VAL-001"
        for fabric in ("lab", "simulated"):
            results = self.run_lab(join, "--scenario", "scope5", "--fabric", fabric)
            self.assertEqual(self.verdicts(results)[join], "PASS", fabric)
        mtu = "IPOIB-4391-7-INV-001"
        self.assertEqual(self.verdicts(self.run_lab(mtu, "--role", "connected"))[mtu], "PASS")
        self.assertEqual(self.verdicts(self.run_lab(mtu, "--role", "router"))[mtu], "PASS")


class Kernels(LabTest):
    selector = "rfc4391/6"

    def builds_without_warnings(self, pattern):
        logs = list((SOURCE / "build/lab").glob(pattern))
        self.assertTrue(logs)
        for log in logs:
            self.assertNotIn("warning", log.read_text().lower())

    def test_kernels_of_debian_are_judged_and_reported_as_one(self):
        report, page = self.folder / "matrix.json", self.folder / "matrix.md"
        done = self.lab("matrix", "--kernels", "6.1,6.12", "--runs", "datagram", "--json", report, "--output", page,
                        self.selector)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        hosts = {host["name"]: host for host in json.loads(report.read_text())["hosts"]}
        self.assertEqual(list(hosts), ["6.1", "6.12"])
        for name, host in hosts.items():
            self.assertTrue(host["dut"]["kernel"].startswith(name + "."), host["dut"])
            self.assertEqual(host["requirements"]["RFC4391-6-01"], "PASS")
        self.assertIn("| 6.12 ", page.read_text())
        self.builds_without_warnings("6.*/vib-*/build.log")

    def test_a_kernel_of_a_newer_suite_is_judged(self):
        built = self.lab("build", "--kernel", "7.3")
        why = [line for line in built.stderr.splitlines() if "is there a network?" in line or "any more" in line]
        if built.returncode == 3 and why:
            self.skipTest(f"NO KERNEL OF A NEWER SUITE IS TESTED: {why[-1]}")
        self.assertEqual(built.returncode, 0, built.stdout + built.stderr)
        results = self.run_lab(self.selector, "--kernel", "7.3")
        self.assertRegex(results["dut"]["kernel"], r"^7\.3\.4\+")
        self.assertEqual(set(self.verdicts(results).values()) - {"PASS", "NA"}, set())
        self.builds_without_warnings("packages/kernels/7.3/root/lab/vib-*/build.log")

    def test_a_wrong_name_is_answered_with_those_that_there_are(self):
        # Of exec and shell other codes are the command's own.
        for arguments, code in ((("run", "--kernel", "6.13"), 2), (("shell", "--kernel", "nowhere"), 125),
                                (("matrix", "--kernels", "6.1,x"), 2)):
            with self.subTest(arguments):
                done = self.lab(*arguments, limit=60)
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)
                self.assertIn("6.1, 6.12, ", done.stderr)


class Dhcp(LabTest):
    def test_who_keeps_rfc_4390_is_written_up(self):
        page = self.folder / "dhcp.md"
        done = self.lab("dhcp", "--pairs", "networkd,dnsmasq", "dhclient,dhcpd", "--output", page)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = {}
        for line in page.read_text().splitlines():
            if line.startswith("| RFC4390-"):
                cells = [cell.strip() for cell in line.strip("|").split("|")]
                rows[cells[0].split(",")[0]] = [cell.partition(" ")[0] for cell in cells[1:]]
        # networkd asks for a broadcast reply when it renews, too; the others know no InfiniBand.
        self.assertEqual({cells[0] for one, cells in rows.items() if one != "RFC4390-2.2-02"}, {"PASS"}, rows)
        self.assertEqual(rows.pop("RFC4390-2.2-02"), ["FAIL", "INCONC"])
        self.assertEqual(rows.pop("RFC4390-2.2-03"), ["PASS", "NA"])
        self.assertEqual({cells[1] for cells in rows.values()}, {"INCONC"}, rows)


class Bisect(LabTest):
    def test_git_bisect_run_finds_the_commit(self):
        """The commands of docs/lab-bisect.md, as they stand."""
        for name in "scripts", "lab", "samples":
            (self.folder / name).symlink_to(SOURCE / name)
        wrapper = self.folder / "lab-of-the-test"
        wrapper.write_text(f'#!/bin/sh\nexec "{SOURCE}/scripts/lab" "$@" --programs "{PROGRAMS}"\n')
        wrapper.chmod(0o755)
        lines = [line.strip() for line in (SOURCE / "docs/lab-bisect.md").read_text().splitlines()
                 if line.startswith("    ") and ("history" in line)]
        self.assertEqual(len(lines), 4)
        said = ""
        for line in lines:
            done = subprocess.run(line.replace("LAB=$PWD/scripts/lab", f"LAB={wrapper}"), shell=True, cwd=self.folder,
                                  env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=2 * LIMIT, check=False)
            said += done.stdout + done.stderr
            self.assertEqual(done.returncode, 0, said)
        self.assertRegex(said, r"is the first bad commit\n(.*\n)*? +A change that looks harmless\n")
        self.assertNotIn("skip", said)


class SeveralGuests(LabTest):
    def test_a_run_over_several_guests_is_reported_as_one(self):
        one = self.run_lab("rfc4391/6", "rfc4391/7")
        self.assertEqual(one["fabric"], {"kind": "lab", "clock": "real"})
        self.assertEqual(one["command"][:3], ["scripts/lab", "run", "rfc4391/6"])
        junit = self.folder / "several.xml"
        several = self.run_lab("rfc4391/6", "rfc4391/7", "--jobs", "3", "--junit", junit)
        self.assertEqual([result["id"] for result in several["results"]], [result["id"] for result in one["results"]])
        self.assertEqual(several["command"][:3], one["command"][:3])
        self.assertEqual(self.verdicts(several), self.verdicts(one))
        self.assertEqual({r["id"]: r["verdict"] for r in several["requirements"]},
                         {r["id"]: r["verdict"] for r in one["requirements"]})
        self.assertEqual([host["notes"] + host["faults"] for host in several["hosts"]], [[]])
        self.assertEqual(junit.read_text().count("<testcase "), len(one["results"]))

    def test_linux_meets_the_reference_and_itself(self):
        """By raw ports, each the other's peer: nothing of the suite speaks."""
        file = self.folder / "matrix.json"
        lists = [SOURCE / "implementations" / f"{name}.toml" for name in ("linux", "reference")]
        done = subprocess.run([f"{PROGRAMS}/ipoib-conform", "matrix", *lists, "--only", "linux-6.1,reference", "--json", file],
                              env={**self.environment, "IPOIB_LAB_OPTIONS": f"--programs {PROGRAMS}"}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=LIMIT, check=False)
        # Linux breaks what it is known to break, with whomever it meets, and nobody else breaks anything.
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        pairs = json.loads(file.read_text())["pairs"]
        self.assertEqual([pair["broken_by"] for pair in pairs], [["linux-6.1"], ["linux-6.1"], []])
        for pair in pairs:
            kept = [one["id"] for one in pair["exchanges"]
                    if {one["dut"]["verdict"], one["against"]["verdict"]} <= {"PASS", "WARN"}]
            self.assertLessEqual({"INTEROP-UNICAST-IPV4", "INTEROP-UNICAST-IPV6"}, set(kept), pair)

    def test_guests_that_do_not_boot_are_an_error(self):
        results = self.run_lab("rfc4391/6", "--jobs", "2", "--boot-limit", "0.1", code=3)
        self.assertIn("ERROR", self.verdicts(results).values())


class ChangedKernels(LabTest):
    def test_a_driver_with_one_wrong_line_breaks_just_that_requirement(self):
        wrong = self.changed_driver("wrong", "ipoib_main.c", "header->reserved = 0;", "header->reserved = 1;")
        selectors = ("rfc4391/6", "rfc4391/9.2")
        done = self.lab("compare", "default", f"ipoib:{wrong}", *selectors)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        results = [json.loads((SOURCE / f"build/lab/compare/{name}.json").read_text()) for name in ("base", "new")]
        base, new = ({one["id"]: one["verdict"] for one in one_run["requirements"]} for one_run in results)
        changed = {identifier for identifier, verdict in new.items() if verdict != base[identifier]}
        # RFC4391-6-01, the header as a whole, has it as a part.
        self.assertEqual(changed, {"RFC4391-6-01", "RFC4391-6-02"})
        self.assertEqual({new[identifier] for identifier in changed}, {"FAIL"})

    def test_a_panic_and_a_warning_are_failures_and_the_other_cases_go_on(self):
        head = "skb->protocol = ((struct ipoib_header *) skb->data)->proto;"
        check = "((struct ipoib_header *) skb->data)->reserved"
        case, others = "IPOIB-4391-6-INV-001", ("IPOIB-4391-6-INV-002", "IPOIB-4391-9.2-VAL-001")
        for name, line, words in (("panics", f'if ({check}) panic("ipoib: reserved"); {head}', "panic"),
                                  ("warns", f"WARN_ON({check}); {head}", "WARNING")):
            with self.subTest(name):
                driver = self.changed_driver(name, "ipoib_ib.c", head, line)
                results = self.run_lab(case, *others, "--ipoib", driver, "--evidence", self.folder / name, code=1)
                crashed = next(one for one in results["results"] if one["id"] == case)
                self.assertEqual((crashed["verdict"], crashed["type"]), ("FAIL", "FAIL.CRASH"))
                said = crashed["message"] + "".join(crashed["notes"])
                self.assertIn(words, said)
                # The line that was changed, in the user's own file.
                number = 1 + (driver / "ipoib_ib.c").read_text().splitlines().index("\t" + line)
                self.assertIn(f"(ipoib_ib.c:{number})", said)
                for other in others:
                    self.assertEqual(self.verdicts(results)[other], "PASS", results)

    def test_the_crash_of_connected_mode_is_mended_by_the_patch_that_is_proposed(self):
        folder = self.folder / "mended"
        shutil.copytree(driver_source(), folder)
        with open(SOURCE / "docs/linux-connected-mode-crash.patch", encoding="utf-8") as file:
            subprocess.run(["patch", "-p5", "-d", folder], stdin=file, check=True, stdout=subprocess.DEVNULL)
        crash = "IPOIB-4755-5.1-VAL-001"
        self.assertEqual(self.verdicts(self.run_lab(crash, "--ipoib", folder))[crash], "PASS")

    def test_a_guest_that_does_not_boot_is_an_error(self):
        for fabric in ("lab", "simulated"):
            results = self.run_lab("rfc4391/6", "--boot-limit", "0.2", "--fabric", fabric, code=3)
            session, = (one for one in results["results"] if one["verdict"] != "NA")
            self.assertEqual((session["id"], session["verdict"]), ("SESSION", "ERROR"), fabric)
            self.assertRegex(session["notes"][-1], r"^\d+ cases were not begun$", fabric)
            self.assertEqual({one["verdict"] for one in results["requirements"]}, {"NA"}, fabric)

    def test_a_guest_that_stands_still_while_it_boots_is_started_once_more(self):
        def stand_still():
            os.kill(until(lambda: processes(self.temporary, b"qemu"), "a guest")[0], signal.SIGSTOP)

        stopper = threading.Thread(target=stand_still)
        stopper.start()
        self.addCleanup(stopper.join)
        done = self.lab("run", "IPOIB-4391-6-INV-001", "--boot-limit", "30")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("the guest is started once more: it was not ready after 30 s", done.stderr)

    def test_wrong_usage_boots_nothing(self):
        (self.folder / "file").write_text("")
        for arguments in (("run", "--nonsense"), ("test", "nothing"), ("compare", "default", "kernel"),
                          ("run", "--listen", "x"), ("run", "--kernel", self.folder), ("run", "--dhcp-client", "dnsmasq"),
                          ("dhcp", "--pairs", "networkd,dhclient"), ("run", "--build", self.folder / "file/build")):
            with self.subTest(arguments):
                done = self.lab(*arguments, limit=60)
                self.assertIn(done.returncode, (2, 3), done.stdout + done.stderr)
                self.assertNotIn("the guest was ready", done.stderr)
                self.assertNotIn("Traceback", done.stderr)

    def test_a_disk_without_room_is_told_before_anything_is_fetched(self):
        alone = ["unshare", "--map-root-user", "--mount"]
        if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("NO DISK WITHOUT ROOM IS TRIED: no namespace can be made here")
        small = self.folder / "small"
        small.mkdir()
        for command, code in (("run", 3), ("exec", 125)):
            job = ["--", "true"] if command == "exec" else []
            words = [SOURCE / "scripts/lab", command, "--build", small, "--programs", PROGRAMS, *job]
            done = subprocess.run([*alone, "sh", "-c", 'mount -t tmpfs -o size=20m none "$0" && exec "$@"', small, *words],
                                  env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                                  check=False)
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
            self.assertRegex(done.stderr, r"lab: no room in .*: the packages need \d+ MiB, and \d+ MiB are free\n$")

    def test_what_is_missing_is_told(self):
        tools = self.folder / "bin"
        tools.mkdir()
        for name in ("env", "python3"):
            (tools / name).symlink_to(shutil.which(name))
        without = {**self.environment, "PATH": str(tools)}
        offline = {**self.environment, "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
        for environment, words, said in ((without, (), "qemu-system-x86_64 is not installed"),
                                         (offline, ("--build", self.folder / "empty"), "is there a network?")):
            with self.subTest(said):
                done = subprocess.run([SOURCE / "scripts/lab", "run", "--programs", PROGRAMS, *words], env=environment,
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
                self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
                self.assertIn(said, done.stderr)


class Mutants(LabTest):
    def test_a_changed_driver_is_built_judged_and_written_up(self):
        report = self.folder / "report.md"
        name = "rep-names-queue-pair-of-connection"
        (SOURCE / f"build/lab/mutants/state/{name}.json").unlink(missing_ok=True)
        done = self.lab("mutants", name, "--jobs", "1", "--output", report)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = report.read_text().splitlines()
        row, = (line for line in lines if line.startswith(f"| {name} |"))
        self.assertIn("IPOIB-4755-3.2-VAL-001", row)
        self.assertTrue(row.endswith("| yes |"), row)
        # What is known needs no guest.
        again = self.lab("mutants", name, "--output", report, limit=60)
        self.assertEqual((again.returncode, again.stderr), (0, f"lab: the report is {report}\n"))

    def test_changed_files_of_the_core_are_loaded(self):
        modules = self.folder / "modules"
        done = self.lab("modules-source", modules)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        file = modules / "core/sa_query.c"
        text = file.read_text()
        # Joins are asked for by another attribute, so that no interface comes up.
        self.assertEqual(text.count("cpu_to_be16(IB_SA_ATTR_MC_MEMBER_REC)"), 1)
        file.write_text(text.replace("cpu_to_be16(IB_SA_ATTR_MC_MEMBER_REC)", "cpu_to_be16(0xfff0)"))
        verdicts = self.verdicts(self.run_lab("IPOIB-4391-5-VAL-001", "--modules", modules, code=1))
        self.assertEqual(verdicts["IPOIB-4391-5-VAL-001"], "FAIL")


class Fuzz(LabTest):
    def test_a_fault_in_a_driver_is_found_and_repeated_and_is_not_in_linux(self):
        found = self.folder / "found"
        found.mkdir()
        # No race: each new guest shows it.
        planted = ("fuzz", "--planted", "any-class-version")
        done = self.lab(*planted, "--target", "sa", "--for", "5min", "--most", "1", "--shrink-tries", "6", "--out", found,
                        "--keep")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        kept, = self.temporary.iterdir()
        consoles = {int(one.suffix[1:]): one.read_text(errors="replace") for one in kept.glob("console.*")}
        shutil.rmtree(kept)
        # Further guests go on from where the first one was ready, instead of a boot.
        self.assertGreater(len(consoles), 1)
        self.assertEqual({number for number, said in consoles.items() if "LAB-READY" in said}, {1})
        self.assertIn("find_mad_agent", (found / "001-fault.txt").read_text())
        session = found / "001-fault.json"
        self.assertIn("\n  1 operations\n", done.stdout)
        again = self.lab(*planted, "--replay", session)
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
        right = self.lab("fuzz", "--replay", session)
        self.assertEqual(right.returncode, 0, right.stdout + right.stderr)

    def test_what_runs_of_the_driver_is_written_up(self):
        blocks, page = self.folder / "suite.blocks", self.folder / "page.md"
        self.run_lab("IPOIB-4391-6-VAL-001", "--blocks", blocks)
        done = self.lab("coverage", "--suite", blocks, "--output", page)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(page.read_text(), r"\| ipoib_ib.c \| \d+ \| [1-9]\d* \(\d+ %\) \| 0 \(0 %\) \|")

    def test_a_planted_fault_that_there_is_not_boots_nothing(self):
        done = self.lab("fuzz", "--planted", "none-such", limit=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("none-such", done.stderr)


class Interrupted(LabTest):
    def test_nothing_is_left_and_the_reports_are_written(self):
        for number, jobs in ((signal.SIGINT, 1), (signal.SIGTERM, 1), (signal.SIGINT, 2)):
            with self.subTest(number, jobs=jobs):
                file = self.folder / f"{number}-{jobs}.json"
                evidence = self.folder / f"{number}-{jobs}.evidence"
                run = subprocess.Popen([SOURCE / "scripts/lab", "run", "--programs", PROGRAMS, "--json", file,
                                        "--evidence", evidence, "--jobs", str(jobs)],
                                       env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True)
                for line in run.stderr:
                    if "the guest was ready" in line:
                        break
                # Within the suite: some cases are judged, others are not.
                until(lambda: len(list(evidence.glob("*.pcapng"))) > 3, "evidence of the first cases")
                run.send_signal(number)
                run.communicate(timeout=60)
                self.assertEqual(run.returncode, 3)
                verdicts = [one["verdict"] for one in json.loads(file.read_text())["results"]]
                self.assertIn("ERROR", verdicts)


class Documentation(LabTest):
    def test_every_command_in_the_docs_runs(self):
        """Lines indented by four blanks; but for those that other tests here run."""
        (self.folder / "scripts").symlink_to(SOURCE / "scripts")
        (self.folder / "lab").symlink_to(SOURCE / "lab")
        elsewhere = ("scripts/lab run", "scripts/lab test all")
        lines = [line.strip() for line in (SOURCE / "docs/lab.md").read_text().splitlines()
                 if line.startswith("    scripts/lab ") and line.strip() not in elsewhere]
        self.assertGreater(len(lines), 7)
        for line in lines:
            with self.subTest(line):
                command, dashes, words = line.partition(" -- ")
                done = subprocess.run(f"{command} --programs {PROGRAMS}{dashes}{words}", shell=True, cwd=self.folder,
                                      env=self.environment, input="ip -br link\nexit\n", capture_output=True,
                                      text=True, timeout=LIMIT, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
