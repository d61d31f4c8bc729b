#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The Wireshark plugin in a real tshark: agrees with ipoib-conform, hides nothing, survives anything.

Usage: wireshark_test.py [--update] [unittest's own arguments]
--update writes tests/golden/wireshark anew instead of comparing.
"""
import collections
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from program import sa_answer
from waiting import until

TOP = Path(os.environ["IPOIB_SOURCE_DIR"]).resolve()
PROGRAM = Path(os.environ["IPOIB_CONFORM"]).resolve()
PLUGIN = Path(os.environ["IPOIB_PLUGIN"]).resolve()
PRELOAD = os.environ.get("IPOIB_PRELOAD", "")
FUZZ_RUNS = int(os.environ.get("IPOIB_WIRESHARK_FUZZ", "200"))
GOLDEN = TOP / "tests" / "golden" / "wireshark"
CAPTURES = sorted(file for file in (TOP / "captures").iterdir() if file.suffix in (".pcap", ".pcapng"))
UPDATE = "--update" in sys.argv
GET_TABLE_RESP, MC_MEMBER_RECORD = 0x92, 0x38

# What a failed assertion in Wireshark, or in a sanitizer, says.
DISASTERS = ("Dissector bug", "AddressSanitizer", "runtime error:", "Assertion", "STATUS: CRASH", "failed assertion")


def plugins():
    shown = subprocess.run(["tshark", "-G", "folders"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                           check=True).stdout
    return Path(re.search(r"^Global Plugins:\s*(\S.*)$", shown, re.MULTILINE)[1])


def as_user(folder):
    """Wireshark ignores the plugin when root runs it."""
    if os.geteuid() != 0:
        return []
    for one in [folder, *folder.rglob("*")]:
        if not one.is_symlink():
            one.chmod(0o755 if one.is_dir() else 0o644)
    os.chown(folder / "home", 65534, 65534)
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


class Wireshark(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="ipoib-wireshark-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        own = plugins()
        version = cls.folder / "plugins" / own.name
        for kind in own.iterdir():
            (version / kind.name).mkdir(parents=True)
            for one in kind.iterdir():
                if one.name != "rfc4391.so":
                    (version / kind.name / one.name).symlink_to(one)
        shutil.copy(PLUGIN, version / "epan" / "rfc4391.so")
        (cls.folder / "home").mkdir()
        for capture in CAPTURES:
            shutil.copy(capture, cls.folder)
        cls.prefix = as_user(cls.folder)

    def tshark(self, *arguments, with_plugin=True, **more):
        environment = {**os.environ, "HOME": str(self.folder / "home"), "WIRESHARK_ABORT_ON_DISSECTOR_BUG": "1",
                       "TZ": "UTC", **more}
        environment["WIRESHARK_PLUGIN_DIR"] = str(self.folder / "plugins" if with_plugin else plugins().parent)
        command = [*self.prefix, "env"]
        if PRELOAD and with_plugin:
            command += [f"LD_PRELOAD={PRELOAD}", "ASAN_OPTIONS=detect_leaks=0"]
        # Wireshark's own dissector of RPC over RDMA takes the first packet of a long message over a connection for one of
        # its own, and then runs into an assertion.
        others = [] if "-G" in arguments else ["--disable-protocol", "rpcordma"]
        run = subprocess.run([*command, "tshark", *others, *map(str, arguments)], env=environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False)
        run.stdout = run.stdout.decode(errors="replace")
        run.stderr = run.stderr.decode(errors="replace")
        # The list of all fields has the names of disasters, too.
        said = run.stderr + ("" if "-G" in arguments else run.stdout)
        for words in DISASTERS:
            self.assertNotIn(words, said, arguments)
        return run

    def pdml(self, capture, *arguments, with_plugin=True):
        run = self.tshark("-2", "-r", capture, "-T", "pdml", *arguments, with_plugin=with_plugin)
        self.assertEqual(run.returncode, 0, run.stderr)
        return ElementTree.fromstring(run.stdout)

    def fields(self, capture, *names, options=()):
        run = self.tshark("-2", "-r", capture, "-T", "fields", "-E", "separator=|", *options,
                          *(part for name in names for part in ("-e", name)))
        self.assertEqual(run.returncode, 0, run.stderr)
        return [line.split("|") for line in run.stdout.splitlines()]

    def matching(self, capture, display_filter, *options):
        run = self.tshark("-2", "-r", capture, *options, "-Y", display_filter, "-T", "fields", "-e", "frame.number")
        self.assertEqual(run.returncode, 0, f"{display_filter}: {run.stderr}")
        return [int(number) for number in run.stdout.split()]

    def shared(self, capture):
        """A capture made elsewhere, where tshark's user can read it."""
        copy = self.folder / f"{capture.parent.name}-{capture.name}"
        shutil.copy(capture, copy)
        copy.chmod(0o644)
        return copy


def judged(capture, *options):
    """What ipoib-conform check finds: for each frame the requirements, each as often as it is broken there."""
    with tempfile.TemporaryDirectory(prefix="ipoib-judged-") as folder:
        results = Path(folder) / "results.json"
        subprocess.run([PROGRAM, "check", capture, "--quiet", "--json", results, *options], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=False)
        found = collections.defaultdict(collections.Counter)
        for result in json.loads(results.read_text())["results"]:
            for detail in result["details"]:
                found[detail["frame"]].update(result["checks"])
        return dict(found)


def link_type(capture):
    return struct.unpack("<I", capture.read_bytes()[20:24])[0] if capture.suffix == ".pcap" else None


def records(capture):
    """Of a little-endian pcap with microseconds: time in microseconds and octets of each."""
    octets, at = capture.read_bytes(), 24
    assert octets[:4] == bytes.fromhex("d4c3b2a1"), capture
    while at < len(octets):
        seconds, fraction, size, _ = struct.unpack("<IIII", octets[at:at + 16])
        yield seconds * 10**6 + fraction, octets[at + 16:at + 16 + size]
        at += 16 + size


def with_loss_counters(capture):
    """Each ERF record says that a packet was lost before it."""
    parts = [capture.read_bytes()[:24]]
    for time_us, erf in records(capture):
        told = erf[:12] + struct.pack(">H", 1) + erf[14:]
        parts.append(struct.pack("<IIII", *divmod(time_us, 10**6), len(told), len(told)) + told)
    return b"".join(parts)


def with_drop_counts(capture):
    """The same in the blocks of a pcapng."""
    parts = [struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28),
             struct.pack("<IIHHII", 1, 20, 197, 0, 0, 20)]
    for time_us, erf in records(capture):
        padded = erf + bytes(-len(erf) % 4)
        options = struct.pack("<HHQHH", 4, 8, 1, 0, 0)
        size = 32 + len(padded) + len(options)
        parts.append(struct.pack("<IIIIIII", 6, size, 0, time_us >> 32, time_us & 0xFFFFFFFF, len(erf), len(erf)) +
                     padded + options + struct.pack("<I", size))
    return b"".join(parts)


class Agreement(Wireshark):
    def shown(self, capture, *options):
        found = {}
        for frame, requirements in self.fields(capture, "frame.number", "rfc4391.requirement", options=options):
            if requirements:
                found[int(frame)] = collections.Counter(requirements.split(","))
        return found

    def test_every_sample_is_judged_as_by_check(self):
        broken = 0
        for capture in CAPTURES:
            with self.subTest(capture=capture.name):
                expected = judged(capture)
                self.assertEqual(self.shown(self.folder / capture.name), expected)
                broken += len(expected)
        self.assertGreater(broken, 40)

    def test_expert_infos_name_the_same_rules(self):
        shown = self.fields(self.folder / "broken.pcap", "frame.number", "_ws.expert.message", "rfc4391.rule")
        for frame, messages, rules in shown:
            for rule in filter(None, rules.split(",")):
                requirement = re.sub(r"^RULE-(\S+?-[0-9.]+-[0-9]+|UDMC-[0-9]+).*$", r"\1", rule)
                self.assertIn(requirement.split("-")[0], messages, f"frame {frame}")
        self.assertIn("RFC4391-6-02: ", " ".join(messages for _, messages, _ in shown))

    def test_evidence_of_wrong_stacks_is_judged_as_by_check(self):
        broken = 0
        for mutant in ("flags-not-zero", "mgid-limited-pkey", "maps-32-bits"):
            with tempfile.TemporaryDirectory(prefix="ipoib-evidence-") as name:
                evidence = Path(name)
                run = subprocess.run([PROGRAM, "run", "--dut", f"mutant:{mutant}", "--evidence", evidence, "--quiet"],
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                     timeout=300, check=False)
                captures = sorted(evidence.rglob("*.pcapng"))
                self.assertGreater(len(captures), 3, run.stderr)
                for capture in captures[:12]:
                    with self.subTest(mutant=mutant, capture=capture.name):
                        expected = judged(capture)
                        self.assertEqual(self.shown(self.shared(capture)), expected)
                        broken += len(expected)
        self.assertGreater(broken, 3)

    def test_losses_that_packets_tell_of_count_as_for_check(self):
        undecided = 0
        for capture in CAPTURES:
            if link_type(capture) != 197:
                continue
            whole = judged(capture)
            for name, octets in (("counter.pcap", with_loss_counters(capture)),
                                 ("counts.pcapng", with_drop_counts(capture))):
                with self.subTest(capture=capture.name, told_by=name):
                    lossy = self.folder / f"{capture.stem}-{name}"
                    lossy.write_bytes(octets)
                    lossy.chmod(0o644)
                    expected = judged(lossy)
                    self.assertEqual(self.shown(lossy), expected)
                    undecided += sum(map(len, whole.values())) - sum(map(len, expected.values()))
        self.assertGreater(undecided, 3)

    def test_captures_that_end_with_the_broken_packet(self):
        broken = 0
        for name in ("broken.pcap", "no-grh.pcap", "dlid-not-mlid.pcap", "mapping-32-bit.pcap"):
            for last in sorted(judged(self.folder / name))[:4]:
                with self.subTest(capture=name, last=last):
                    cut = self.folder / f"{last}-{name}"
                    subprocess.run(["editcap", "-r", self.folder / name, cut, f"1-{last}"], check=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    cut.chmod(0o644)
                    expected = judged(cut)
                    self.assertEqual(self.shown(cut), expected)
                    broken += last in expected
        self.assertGreater(broken, 3)

    def test_a_read_filter_that_refuses_frames_leaves_the_others_their_own(self):
        capture = self.folder / "broken.pcap"
        shown = self.fields(capture, "rfc4391.requirement", "rfc4391.encap.reserved",
                            options=("-R", "!(rfc4391.encap.reserved != 0)"))
        self.assertEqual(len(shown), 26)
        self.assertEqual(shown[16], ["RFC4391-9.1.2-03,RFC4391-5-03,RFC4391-13-02", "0x0000"])

    def test_each_section_of_a_pcapng_is_a_subnet_of_its_own(self):
        for names in (("broken.pcap", "wrong-q-key.pcap"), ("evidence.pcapng", "broken.pcap")):
            parts = []
            for name in names:
                part = self.folder / name
                if part.suffix == ".pcap":
                    part = self.folder / f"part-{name}ng"
                    subprocess.run(["editcap", "-F", "pcapng", self.folder / name, part], check=True)
                parts.append(part.read_bytes())
            both = self.folder / "sections.pcapng"
            both.write_bytes(b"".join(parts))
            both.chmod(0o644)
            self.assertEqual(self.shown(both), judged(both))
            self.assertGreater(len(judged(both)), 10)

    def test_what_is_assumed_is_judged_by(self):
        assume = "qkey=0x80000b1c,mtu=2048"
        capture = self.folder / "wrong-q-key.pcap"
        with_it = self.shown(capture, "-o", f"rfc4391.assume:pkey=0x8123,{assume}")
        self.assertEqual(with_it, judged(TOP / "captures" / "wrong-q-key.pcap", "--assume", f"pkey=0x8123,{assume}"))
        wrong = self.fields(capture, "_ws.expert.message", options=("-o", "rfc4391.assume:pkey=nonsense"))
        self.assertIn("Assumptions are not used", wrong[0][0])

    def test_a_suspicion_is_a_note_unless_it_is_settled(self):
        gap = self.folder / "gap.pcap"
        subprocess.run(["editcap", "-F", "pcap", self.folder / "wrong-q-key.pcap", gap, "2"], check=True)
        gap.chmod(0o644)
        self.assertEqual(self.matching(gap, "rfc4391.suspicion"), [48, 49, 50, 51])
        self.assertEqual(self.matching(gap, "rfc4391.requirement"), [])
        (told,) = self.fields(gap, "_ws.expert.severity", "rfc4391.suspicion.text", options=("-Y", "frame.number == 51"))
        self.assertEqual(set(told[0].split(",")), {str(0x400000)})
        self.assertIn("innocent if the port, or its peer, was on the link before the capture", told[1])
        self.assertIn("settled by assuming whole=0002c90300100001,from-start=0002c90300100001, or by", told[1])
        assume = "whole,from-start"
        with_it = self.shown(gap, "-o", f"rfc4391.assume:{assume}")
        self.assertEqual(with_it, judged(gap, "--assume", assume))
        self.assertEqual(list(with_it), [51])


class Filters(Wireshark):
    def test_fields_of_the_wire_tables_can_be_filtered(self):
        for capture, display_filter, expected in (
                ("broken.pcap", "rfc4391.encap.reserved != 0", [17]),
                ("broken.pcap", 'rfc4391.requirement == "RFC4391-6-02"', [17]),
                ("broken.pcap", 'rfc4391.requirement.level == "STATED" && rfc4391.rule == "RULE-RFC4391-6-07"', [26]),
                ("broken.pcap", 'rfc4391.requirement.level == "MUST" && rfc4391.rule == "RULE-RFC4391-6-02"', [17]),
                ("broken.pcap", "rfc4391.rule.rfc4391-6-07", [26]),
                ("broken.pcap", "rfc4391.mgid.scope == 5", [21]),
                ("usual.pcap", "rfc4391.link_address.qpn == 0x42", [4, 10]),
                ("usual.pcap", 'rfc4391.mgid.ip_group == "239.255.1.2" && rfc4391.encap.type == 0x800', [12]),
                ("usual.pcap", 'rfc4391.mgid.ip_group == "the broadcast group"', [1, 2, 3, 14]),
                ("usual.pcap", "rfc4391.icrc == 1", list(range(1, 17))),
                ("tcpdump.pcap", "rfc4391.link_address.qpn == 0x41", [1, 2, 7]),
                ("solaris.pcap", "rfc4391.encap.type == 0x806", [1, 2]),
        ):
            with self.subTest(capture=capture, filter=display_filter):
                self.assertEqual(self.matching(self.folder / capture, display_filter), expected)

    def test_headers_that_are_known_are_shown(self):
        """A field each, but for headers that Wireshark itself shows."""
        fields = collections.Counter(line.split("\t")[2].rpartition(".")[0]
                                     for line in self.tshark("-G", "fields").stdout.splitlines()
                                     if line.startswith("F\t") and "\trfc4391." in line)
        keys = [key for file in sorted((TOP / "protocol/wire").glob("*.hpp"))
                for key in re.findall(r'string_view key = "([^"]+)"', file.read_text())]
        self.assertGreater(len(keys), 50)
        for key in keys:
            with self.subTest(header=key):
                words = subprocess.run([PROGRAM, "explain", key], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       text=True, timeout=60, check=True).stdout
                if "by its own dissectors" in words:
                    self.assertEqual(fields[f"rfc4391.{key}"], 0)
                else:
                    self.assertGreaterEqual(fields[f"rfc4391.{key}"], len(re.findall(r" octet \d", words)))

    def test_attributes_are_shown_with_what_is_within_them(self):
        frames = [sa_answer(0x33, "0002 0001 03 000000 ffff 8123"), sa_answer(0x11, "0002 0000 01 01 02"),
                  sa_answer(0x14, "0002 0000 c000 0000 1000")]
        capture = self.folder / "attributes.pcap"
        erf = [struct.pack(">QBBHHH", 0, 21, 4, 16 + len(frame), 0, len(frame)) + frame for frame in frames]
        capture.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 197) + b"".join(
            struct.pack("<IIII", i, 0, len(one), len(one)) + one for i, one in enumerate(erf)))
        capture.chmod(0o644)
        for display_filter, frame in (("rfc4391.p_key_table_record.block_num == 1", 1),
                                      ("rfc4391.p_key_table_record.p_key_table[0:4] == ff:ff:81:23", 1),
                                      ("rfc4391.node_info.node_type == 2", 2),
                                      ("rfc4391.switch_info.multicast_fdb_cap == 4096", 3)):
            with self.subTest(filter=display_filter):
                self.assertEqual(self.matching(capture, display_filter), [frame])

    def test_strictness_and_connected_mode_can_be_set(self):
        capture = self.folder / "usual.pcap"
        self.assertEqual(self.matching(capture, "rfc4391.requirement", "-o", "rfc4391.strictness:must"), [])
        self.assertNotEqual(self.matching(capture, "rfc4391.requirement", "-o", "rfc4391.strictness:should"), [])
        self.assertEqual(self.matching(capture, "rfc4391.note"), [])
        self.assertNotEqual(self.matching(capture, "rfc4391.note", "-o", "rfc4391.strictness:notes"), [])

    def test_addresses_are_split_where_the_user_wants(self):
        def parents(*options):
            return [outer.get("name") for outer in self.pdml(self.folder / "usual.pcap", *options).iter()
                    for inner in outer if inner.get("name") == "rfc4391.link_address.qpn"]
        self.assertIn("arp.src.hw", parents())
        self.assertIn("icmpv6.opt.linkaddr", parents())
        apart = parents("-o", "rfc4391.split_addresses:false")
        self.assertEqual(len(apart), len(parents()))
        self.assertNotIn("arp.src.hw", apart)

    def test_the_profile_is_understood(self):
        profile = TOP / "dissector" / "profile" / "RFC4391"
        colours = [line.split("@")[2] for line in (profile / "colorfilters").read_text().splitlines()
                   if line.startswith("@")]
        buttons = [line.split('","')[2].replace(r"\x22", '"')
                   for line in (profile / "dfilter_buttons").read_text().splitlines()]
        columns = re.findall(r'"%Cus:([^:"]+):', (profile / "preferences").read_text())
        self.assertGreater(min(len(colours), len(buttons), len(columns)), 2)
        for display_filter in colours + buttons + columns:
            self.matching(self.folder / "usual.pcap", display_filter)
        copy = self.folder / "home" / ".config" / "wireshark" / "profiles" / "RFC4391"
        shutil.copytree(profile, copy)
        for one in [self.folder / "home", *(self.folder / "home").rglob("*")]:
            one.chmod(0o755 if one.is_dir() else 0o644)
        shown = self.tshark("-C", "RFC4391", "-r", self.folder / "broken.pcap")
        self.assertIn("RFC4391-6-02", shown.stdout)
        self.assertIn("fe80::/0x8123", shown.stdout)
        self.assertEqual(shown.stderr, "")


class Elsewhere(Wireshark):
    """What analysts take out of Wireshark."""

    def test_the_list_of_expert_infos_names_our_protocol(self):
        for capture in ("broken.pcap", "usual.pcap"):
            listed = self.tshark("-2", "-r", self.folder / capture, "-q", "-z", "expert").stdout
            ours = [line.split() for line in listed.splitlines() if re.search(r"(?:RFC\d+|UDMC)-[\d.]+", line)]
            self.assertGreater(len(ours), 0, listed)
            self.assertEqual({line[2] for line in ours}, {"RFC4391"}, listed)
        everything = self.tshark("-2", "-r", self.folder / "broken.pcap", "-q", "-z", "expert").stdout
        self.assertNotRegex(everything, r"(?m)^ +\d+ +\S+ +ERF ")

    def test_json_carries_what_is_filtered_by(self):
        run = self.tshark("-2", "-r", self.folder / "broken.pcap", "-T", "json", "--no-duplicate-keys", "-Y",
                          "frame.number == 17")
        layers = json.loads(run.stdout)[0]["_source"]["layers"]
        ours = layers["rfc4391"]
        self.assertEqual(ours["rfc4391.link"], "fe80::/0x8123")
        self.assertIn("RFC4391-6-02", json.dumps(ours["rfc4391.requirement"]))
        self.assertIn('"rfc4391.encap.reserved": "0xabcd"', json.dumps(layers))
        for name in ("rfc4391.rule", "rfc4391.requirement.level", "rfc4391.sender.address", "rfc4391.icrc"):
            self.assertIn(f'"{name}"', run.stdout)

    def test_ek_carries_what_is_filtered_by(self):
        run = self.tshark("-2", "-r", self.folder / "broken.pcap", "-T", "ek", "-Y", "frame.number == 17")
        packet = json.loads(run.stdout.splitlines()[1])
        ours = packet["layers"]["rfc4391"]
        self.assertEqual(ours["rfc4391_rfc4391_link"], "fe80::/0x8123")
        self.assertIn("RFC4391-6-02", json.dumps(ours["rfc4391_rfc4391_requirement"]))
        self.assertIn("rfc4391_rfc4391_rule", json.dumps(packet))

    def test_a_join_as_a_flow_graph(self):
        capture = self.folder / "join-refused-rate.pcap"
        shown = self.tshark("-2", "-r", capture, "-q", "-z", "flow,any,network,rfc4391.mc_member_record.join_state").stdout
        rows = [line for line in shown.splitlines() if "|" in line]
        joins = self.matching(capture, "rfc4391.mc_member_record.join_state")
        self.assertGreater(len(joins), 3)
        self.assertGreaterEqual(len(rows), len(joins), shown)
        self.assertIn("FullMember join of the broadcast group, done", shown)

    def test_hosts_have_the_names_of_a_file_and_of_the_capture(self):
        guid = self.fields(self.folder / "broken.pcap", "rfc4391.sender.gid", options=("-Y", "frame.number == 17"))[0][0]
        octets = [int(part or "0", 16) for part in guid.rpartition("::")[2].split(":")]
        names = self.folder / "names"
        names.write_text(f'# ours\n0x{"".join(f"{part:04x}" for part in octets)} "node1 mlx5_0"\n')
        names.chmod(0o644)
        option = ("-o", f"rfc4391.names_file:{names}")
        self.assertIn(17, self.matching(self.folder / "broken.pcap", 'rfc4391.sender.host == "node1 mlx5_0"', *option))
        self.assertEqual(self.matching(self.folder / "broken.pcap", "rfc4391.sender.host"), [])
        self.assertTrue(self.matching(self.folder / "broken.pcap", 'rfc4391.link_address.host == "node1 mlx5_0"', *option))
        names.write_text("nonsense\n")
        said = self.fields(self.folder / "broken.pcap", "_ws.expert.message", options=option)
        self.assertIn("Names are not used: ", said[0][0])
        # A node that tells what it is called, before all the others.
        info = "0101 0101" + "00" * 16 + "".join(f"{part:04x}" for part in octets) + "00" * 12
        frame = sa_answer(0x11, "0002 0000" + info + "node2 mlx5_1".encode().hex())
        erf = struct.pack(">QBBHHH", 0, 21, 4, 16 + len(frame), 0, len(frame)) + frame
        octets = (self.folder / "broken.pcap").read_bytes()
        told = self.folder / "told.pcap"
        told.write_bytes(octets[:24] + struct.pack("<IIII", 0, 0, len(erf), len(erf)) + erf + octets[24:])
        told.chmod(0o644)
        self.assertIn(18, self.matching(told, 'rfc4391.sender.host == "node2 mlx5_1"'))


class NothingIsLost(Wireshark):
    """What filters of Wireshark alone find, they find with the plugin."""

    def test_disabled_it_leaves_what_wireshark_alone_shows(self):
        for name in ("usual.pcap", "solaris.pcap", "tcpdump.pcap"):
            alone = self.tshark("-r", self.folder / name, with_plugin=False).stdout
            self.assertEqual(self.tshark("--disable-protocol", "rfc4391", "-r", self.folder / name).stdout, alone)

    @staticmethod
    def own_fields(packet):
        """Fields of InfiniBand, ARP, ICMPv6 and IP with their values."""
        found = collections.Counter()
        for field in packet.iter("field"):
            name = field.get("name", "")
            # Its text says what the payload is taken for; its length counts CRCs that were not captured.
            if name.split(".")[0] in ("infiniband", "arp", "icmpv6", "ip", "ipv6", "udp") and \
                    name not in ("infiniband.payload",):
                found[name, field.get("show")] += 1
        return found

    def test_fields_of_other_protocols_are_the_same(self):
        compared = 0
        for capture in CAPTURES:
            alone = self.pdml(self.folder / capture.name, with_plugin=False).findall("packet")
            with_it = self.pdml(self.folder / capture.name).findall("packet")
            self.assertEqual(len(alone), len(with_it))
            for number, (before, after) in enumerate(zip(alone, with_it), 1):
                lost = self.own_fields(before) - self.own_fields(after)
                with self.subTest(capture=capture.name, frame=number):
                    self.assertEqual(lost, collections.Counter())
                compared += sum(self.own_fields(before).values())
        self.assertGreater(compared, 5000)


class Golden(Wireshark):
    """The fields that the plugin adds to each sample, with their values, not the words around them. A line that an
    earlier frame of the capture has is only counted."""

    # Texts for people: that they are there counts.
    PROSE = ("rfc4391", "rfc4391.foreign", "rfc4391.headline", "rfc4391.link.source")

    @classmethod
    def lines(cls, packet, depth=0):
        for field in packet:
            name = field.get("name", "")
            is_ours = name.startswith("rfc4391") or name == "_ws.expert.severity"
            if is_ours:
                value = {"True": "1", "False": "0"}.get(field.get("show"), field.get("show", ""))
                # Versions show more or less of long octet strings.
                value = re.sub(r"^((?:[0-9a-f]{2}:?){16})[0-9a-f:]{8,}…?$", r"\1…", value)
                yield "  " * depth + (name if name in cls.PROSE or not value else f"{name}: {value}")
            yield from cls.lines(field, depth + is_ours)

    def test_samples(self):
        for capture in CAPTURES:
            text, seen = [], set()
            listed = self.fields(self.folder / capture.name, "frame.number", "rfc4391.encap.type", "rfc4391.requirement")
            for row, packet in zip(listed, self.pdml(self.folder / capture.name).findall("packet")):
                lines = list(self.lines(packet, 1))
                text += [f"{' | '.join(row)} | {len(lines)} lines", *(line for line in lines if line not in seen)]
                seen.update(lines)
            text = "\n".join(text) + "\n"
            golden = GOLDEN / f"{capture.name}.txt"
            if UPDATE:
                golden.parent.mkdir(parents=True, exist_ok=True)
                golden.write_text(text)
            with self.subTest(capture=capture.name):
                self.assertEqual(text, golden.read_text())


class AcrossFrames(Wireshark):
    def test_frames_lead_to_those_that_taught_what_is_known(self):
        rows = self.fields(self.folder / "join-refused-rate.pcap", "frame.number", "rfc4391.request_in",
                           "rfc4391.answer_in", "rfc4391.headline", "rfc4391.link.learned", "rfc4391.sender.announced",
                           "rfc4391.group.joined")
        by_frame = {int(row[0]): row[1:] for row in rows}
        requests = {frame: int(row[1]) for frame, row in by_frame.items() if row[1]}
        self.assertGreater(len(requests), 5)
        for request, answer in requests.items():
            self.assertGreater(answer, request)
            self.assertEqual(by_frame[answer][0], str(request))
        self.assertIn("Join of 239.1.2.3 refused: ERR_REQ_INVALID", [row[2] for row in by_frame.values()])
        for column in (3, 4, 5):
            learned = {frame: int(row[column]) for frame, row in by_frame.items() if row[column]}
            self.assertTrue(learned)
            self.assertTrue(all(taught <= frame for frame, taught in learned.items()))

    def test_names_are_resolved_in_the_columns(self):
        hosts = self.folder / "hosts"
        hosts.write_text("10.1.0.1 alpha\n10.1.0.2 beta\n")
        hosts.chmod(0o644)
        shown = self.tshark("-r", self.folder / "usual.pcap", "-H", hosts, "-N", "n").stdout
        self.assertRegex(shown, r"alpha → beta +ICMP")
        ports = self.fields(self.folder / "usual.pcap", "frame.number", "rfc4391.sender.address",
                            "rfc4391.sender.qpn", "rfc4391.receiver.address")
        self.assertEqual(ports[4], ["5", "10.1.0.1", "0x000041", "10.1.0.2"])

    def test_tables_are_whole(self):
        with tempfile.TemporaryDirectory(prefix="ipoib-evidence-") as name:
            subprocess.run([PROGRAM, "run", "--evidence", name, "--quiet"], stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300, check=False)
            captures = [self.shared(file) for file in sorted(Path(name).rglob("*.pcapng"))]
        tables = []
        for capture in captures:
            for records in self.fields(capture, "rfc4391.mc_member_record.mgid", options=(
                    "-Y", f"rfc4391.mad.method == {GET_TABLE_RESP} && rfc4391.mad.attribute_id == {MC_MEMBER_RECORD}")):
                tables.append(len(records[0].split(",")))
        self.assertGreater(max(tables), 2)

    def test_reports_lead_to_the_join_that_they_tell_of(self):
        capture = self.folder / "join-refused-rate.pcap"
        rows = self.fields(capture, "frame.number", "rfc4391.headline", "rfc4391.cause_in", "rfc4391.report_in")
        reports = [row for row in rows if row[2]]
        self.assertGreater(len(reports), 1)
        for _, headline, cause, _ in reports:
            self.assertEqual(headline, "Group 239.1.2.3 created")
            self.assertEqual(rows[int(cause) - 1][1], "FullMember join of 239.1.2.3, done")
            self.assertEqual(rows[int(cause) - 1][3], reports[0][0])

    def test_statistics(self):
        shown = self.tshark("-q", "-z", "rfc4391,tree", "-r", self.folder / "broken.pcap").stdout
        for words in ("Packets by type", "IPv4", "Subnet administration", "Requirements not kept", "RFC4391-6-02",
                      "Groups", "the broadcast group", "Joins and leaves", "Record given, FullMember"):
            self.assertIn(words, shown)


class Hostile(Wireshark):
    """Damaged packets: no crash, nothing that Wireshark calls a bug of a dissector."""

    @staticmethod
    def records(file):
        data = file.read_bytes()
        head, rest, found = data[:24], data[24:], []
        while rest:
            size = 16 + int.from_bytes(rest[8:12], "little")
            found.append(bytearray(rest[:size]))
            rest = rest[size:]
        return head, found

    def written(self, name, head, records):
        file = self.folder / name
        file.write_bytes(head + b"".join(records))
        file.chmod(0o644)
        return file

    def survives(self, capture):
        run = self.tshark("-2", "-V", "-x", "-o", "rfc4391.strictness:notes", "-r", capture, "-z", "rfc4391,tree")
        # Versions end with 2 or 14 where the file itself is damaged; a signal is negative, or 128 and more behind a shell.
        self.assertIn(run.returncode, (0, 2, 14), f"{capture}: {run.stderr[-500:]}")

    def test_truncated_at_every_octet(self):
        """Wireshark leaves by longjmp where a packet ends: nothing of ours may be lost on the way."""
        for name in ("usual.pcap", "join-refused-rate.pcap", "solaris.pcap", "tcpdump.pcap"):
            head, records = self.records(TOP / "captures" / name)
            cut = []
            for record in records[:20]:
                length = len(record) - 16
                # A capture with less than the ERF header is refused whole.
                for captured in range(16 if head[20] == 197 else 0, min(length, 320)):
                    one = record[:16 + captured]
                    one[8:12] = struct.pack("<I", captured)
                    cut.append(one)
            capture = self.written(f"cut-{name}", head, cut)
            self.survives(capture)
            if name == "usual.pcap":
                # LRH, BTH, DETH and the encapsulation header of a unicast packet without GRH are 32 octets.
                shown = self.matching(capture, "rfc4391.encap.type == 0x800 && ip && frame.cap_len < 60")
                self.assertGreater(len(shown), 50)

    def test_damaged_packets_of_every_link_type(self):
        sources = [(file.name, *self.records(file)) for file in CAPTURES if file.suffix == ".pcap"]
        raw = (TOP / "captures" / "rdmasniff.pcapng").read_bytes()

        def damage(seed):
            chance = random.Random(seed)
            if seed % 10 == 0:
                octets = bytearray(raw)
                for _ in range(200):
                    octets[chance.randrange(len(octets) // 20, len(octets))] ^= 1 << chance.randrange(8)
                file = self.folder / f"damaged-{seed}.pcapng"
                file.write_bytes(octets)
                file.chmod(0o644)
            else:
                name, head, records = sources[seed % len(sources)]
                many = []
                for record in records:
                    one = bytearray(record)
                    # ERF has a header of its own, which says what is in the packet.
                    first = 32 if head[20] == 197 else 16
                    for at in range(first, len(one)):
                        if chance.random() < 0.05:
                            one[at] = chance.randrange(256)
                    many.append(one)
                file = self.written(f"damaged-{seed}-{name}", head, many)
            self.survives(file)
            file.unlink()

        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            for outcome in [pool.submit(damage, seed) for seed in range(FUZZ_RUNS)]:
                outcome.result()

    def test_damaged_by_editcap(self):
        for seed, source in enumerate(file for file in CAPTURES if file.suffix == ".pcap"):
            capture = self.folder / "edited.pcapng"
            subprocess.run(["editcap", "-E", "0.05", "--seed", str(seed), source, capture], check=True)
            capture.chmod(0o644)
            self.survives(capture)

    def test_times_beyond_reason(self):
        packets = self.records(TOP / "captures" / "sm-restarted.pcap")[1]
        blocks = [struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28),
                  # if_tsresol 0: whole seconds
                  struct.pack("<IIHHIHHIII", 1, 32, 247, 0, 0, 9, 1, 0, 0, 32)]
        for number, record in enumerate(packets):
            octets = bytes(record[32:])
            padded = octets + bytes(-len(octets) % 4)
            seconds = (0x7FFFFFFFFFFFFFFF, 1, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF)[number % 4]
            size = 32 + len(padded)
            blocks.append(struct.pack("<IIIIIII", 6, size, 0, seconds >> 32, seconds & 0xFFFFFFFF, len(octets),
                                      len(octets)) + padded + struct.pack("<I", size))
        capture = self.folder / "times.pcapng"
        capture.write_bytes(b"".join(blocks))
        capture.chmod(0o644)
        self.survives(capture)
        self.assertNotIn("runtime error", subprocess.run([PROGRAM, "links", capture], stdout=subprocess.DEVNULL,
                                                         stderr=subprocess.PIPE, text=True, check=False).stderr)

    def test_a_flood_of_groups_is_counted_in_time(self):
        head, records = self.records(TOP / "captures" / "usual.pcap")
        one = records[11]
        flood = []
        for number in range(20_000):
            # ERF, LRH, then the last octets of the GRH's DGID.
            packet = bytearray(one)
            packet[16 + 16 + 8 + 36:16 + 16 + 8 + 40] = struct.pack(">I", number)
            flood.append(packet)
        shown = self.tshark("-q", "-z", "rfc4391,tree", "-r", self.written("flood.pcap", head, flood)).stdout
        self.assertRegex(shown, r"others +19000")


class Launcher(Wireshark):
    def launch(self, *arguments):
        return subprocess.run([TOP / "scripts" / "wireshark", "--plugin", PLUGIN, *arguments], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)

    @unittest.skipIf(PRELOAD, "the plugin needs a sanitizer's library")
    def test_prints_a_capture_without_installing(self):
        user = ["--as", "nobody"] if os.geteuid() == 0 else []
        before = set(Path(tempfile.gettempdir()).glob("ipoib-wireshark-*"))
        run = self.launch("--text", *user, self.folder / "broken.pcap", "-Y", "rfc4391.encap.reserved != 0")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("RFC4391-6-02 not kept", run.stdout)
        self.assertEqual(len(run.stdout.splitlines()), 1)
        self.assertEqual(set(Path(tempfile.gettempdir()).glob("ipoib-wireshark-*")), before)

    def test_says_what_is_wrong(self):
        if os.geteuid() == 0:
            run = self.launch("--text", self.folder / "broken.pcap")
            self.assertEqual(run.returncode, 1)
            self.assertIn("ignores plugins", run.stderr)
            self.assertIn("no user", self.launch("--text", "--as", "nosuchuser", "x.pcap").stderr)
        self.assertIn("needs a value", self.launch("--plugin").stderr)

    def test_is_installed_for_one_user(self):
        home = self.folder / "another-home"
        home.mkdir()
        build = PLUGIN.parent.parent
        run = subprocess.run(["cmake", "--install", build, "--component", "personal-plugin"],
                             env={**os.environ, "HOME": str(home)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout)
        version = plugins().name
        self.assertTrue((home / f".local/lib/wireshark/plugins/{version}/epan/rfc4391.so").exists())
        self.assertTrue((home / ".config/wireshark/profiles/RFC4391/colorfilters").exists())

    def test_is_installed_for_all_users(self):
        top = self.folder / "packaged"
        run = subprocess.run(["cmake", "--install", PLUGIN.parent.parent, "--component", "plugin"],
                             env={**os.environ, "DESTDIR": str(top)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertTrue(Path(f"{top}{plugins()}/epan/rfc4391.so").exists(), run.stdout)
        self.assertTrue((top / "usr/share/wireshark/profiles/RFC4391/colorfilters").exists())


class Documentation(Wireshark):
    PAGE = (TOP / "docs" / "wireshark.md").read_text()

    @unittest.skipIf(PRELOAD, "the plugin needs a sanitizer's library")
    def test_commands_of_the_page(self):
        user = ["--as", "nobody"] if os.geteuid() == 0 else []
        commands = re.findall(r"^    scripts/wireshark --text ([^|\n]*)", self.PAGE, re.MULTILINE)
        self.assertGreater(len(commands), 2)
        for command in commands:
            words = [self.folder / word.removeprefix("captures/") if word.startswith("captures/") else word
                     for word in command.split()]
            run = subprocess.run([TOP / "scripts/wireshark", "--plugin", PLUGIN, "--text", *user, *words],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 timeout=120, check=False)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("rfc4391.requirement" if "-G" in command else "RFC4391-6-02", run.stdout)

    @unittest.skipIf(PRELOAD, "the plugin needs a sanitizer's library")
    def test_an_ordinary_user_sees_our_profile_and_keeps_what_is_set(self):
        home = self.folder / "somebody"
        own = home / ".config/wireshark"
        (own / "profiles/Mine").mkdir(parents=True)
        (own / "profiles/Mine/preferences").write_text("gui.column.format: \"Only\", \"%Cus:rfc4391.link:0:R\"\n")
        before = sorted(own.rglob("*"))
        for one in [home, *home.rglob("*")]:
            os.chown(one, *(65534, 65534) if self.prefix else (-1, -1))
        environment = {**os.environ, "HOME": str(home), "TMPDIR": str(home)}

        def shown(*options):
            run = subprocess.run([*self.prefix, TOP / "scripts/wireshark", "--plugin", PLUGIN, "--text",
                                  self.folder / "broken.pcap", *options], env=environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            return run.stdout

        if subprocess.run([*self.prefix, "test", "-r", PLUGIN], check=False).returncode != 0:
            self.skipTest("the build is not for others to read")
        self.assertIn("fe80::/0x8123", shown())
        self.assertIn("RFC4391-6-02", shown())
        self.assertEqual(set(shown("-C", "Mine").split()), {"fe80::/0x8123"})
        self.assertEqual(sorted(own.rglob("*")), before)

    def test_filters_of_the_page_are_understood(self):
        filters = re.findall(r"`(rfc4391\.[^`]*)`", self.PAGE)
        self.assertGreater(len(filters), 8)
        for one in filters:
            self.matching(self.folder / "usual.pcap", one)

    def test_preferences_of_the_page_exist(self):
        names = re.findall(r"^\| `(\w+)` \|", self.PAGE[self.PAGE.index("## Preferences"):], re.MULTILINE)
        known = self.tshark("-G", "currentprefs").stdout
        self.assertEqual(sorted(names), sorted(set(re.findall(r"rfc4391\.(\w+):", known))))

    @unittest.skipIf(PRELOAD, "the plugin needs a sanitizer's library")
    def test_a_real_window_opens_with_the_plugin(self):
        self.assertTrue(shutil.which("wireshark") and shutil.which("Xvfb") and shutil.which("xwininfo") and
                        shutil.which("xwd"), "scripts/setup test installs wireshark, xvfb, x11-utils and x11-apps")
        user = ["--as", "nobody"] if os.geteuid() == 0 else []
        reading, writing = os.pipe()
        with subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x900x24", "-nolisten", "tcp",
                               "-noreset"], pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as screen:
            os.close(writing)
            try:
                with open(reading, encoding="ascii") as number:
                    display = ":" + number.readline().strip()
                environment = {**os.environ, "DISPLAY": display}
                command = [TOP / "scripts/wireshark", "--plugin", PLUGIN, *user, self.folder / "broken.pcap", "-g", "18"]
                if not user:
                    environment["HOME"] = str(self.folder / "home")
                with (tempfile.TemporaryFile() as said,
                      subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=said,
                                       stderr=said) as window):
                    try:
                        self.wait_for_window(environment, window, said)
                    finally:
                        window.terminate()
            finally:
                screen.terminate()

    def wait_for_window(self, environment, window, said):
        def shows_it():
            tree = subprocess.run(["xwininfo", "-root", "-tree"], env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True, check=False).stdout
            if '"broken.pcap"' in tree and self.list_is_coloured(environment):
                return True
            if window.poll() is not None:
                said.seek(0)
                self.fail(f"Wireshark has ended: {said.read()[-500:]}")
            return False

        until(shows_it, "window that shows the capture with its packets judged", 120)

    @staticmethod
    def list_is_coloured(environment):
        """Whether rows have the colour that the profile gives to packets that break a binding statement, while one of them is
        selected: Wireshark then holds that packet and shows the others in the list."""
        picture = subprocess.run(["xwd", "-root", "-silent"], env=environment, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, check=False).stdout
        # Four pixels in a row, of three octets each or four.
        return max(picture.count(bytes(pixel) * 4) for pixel in ((0xC3, 0xC3, 0xFF), (0xC3, 0xC3, 0xFF, 0))) > 2000


class Source(unittest.TestCase):
    def test_nothing_with_a_destructor_lives_where_wireshark_may_leave_by_longjmp(self):
        """In files that see Wireshark, texts are made in a statement of their own and copied at once."""
        owning = re.compile(r"^\s+(?:const )?(?:auto|std::(?:string|vector|deque|optional<std::string>|function|unique_ptr"
                            r"|shared_ptr)\b[^;]*) ?\w+ ?[={(]", re.MULTILINE)
        risky = re.compile(r"\b(?:proto_|expert_|col_|tvb_|call_|dissector_try)\w*\([^;]*\bin_packet\(")
        for file in sorted((TOP / "dissector").glob("*.cpp")):
            text = file.read_text()
            if "dissector/epan.hpp" not in text and "dissector/fields.hpp" not in text:
                continue
            self.assertEqual(risky.findall(text), [], f"{file.name}: a text is made among the arguments of such a call")
            for line in owning.findall(text):
                if "std::" in line:
                    self.assertIn(file.name, ("fields.cpp", "expert.cpp"), f"{file.name}: {line.strip()}")


if __name__ == "__main__":
    unittest.main(argv=[one for one in sys.argv if one != "--update"])
