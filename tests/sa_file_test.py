#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what a real saquery prints of a real OpenSM on a simulated subnet (ibsim), and compares it with what OpenSM was
told to set up."""
import ctypes
import ipaddress
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from ibsim import SKIPPED, Subnet, missing_packages

# Class, method and attribute of a join. IBTA Vol 1, 13.4 and 15.2.
SUBN_ADM, SET, MC_MEMBER_RECORD = 3, 2, 0x38

HOSTS = {"alpha": "alpha HCA-1", "beta": "beta (rack 7) HCA-1", "gamma": "gamma HCA-1"}
PORTS = {"alpha": "fe80::10:1", "beta": "fe80::10:3", "gamma": "fe80::10:5"}

# ibsim carries no segmented MADs: an answer is cut after three MCMemberRecords, so there are three groups and three
# members. OpenSM gives a scope only to groups with an MGID of their own. Rates and MTUs are codes.
PARTITIONS = '''\
Default=0x7fff, ipoib, rate=3, mtu=4 : ALL=full;
controlled=0x0123, ipoib, mtu=3, sl=3, Q_Key=0x80000b1b, TClass=0x20, FlowLabel=0x12345, rate=6 : ALL=full;
scoped=0x0456, rate=3, mtu=4, scope=5, Q_Key=0x1234 :
  mgid=ff15:401b::ffff:ffff
  ALL=full;
'''
DEFAULT, CONTROLLED, SCOPED = "ff12:401b:ffff::ffff:ffff", "ff12:401b:8123::ffff:ffff", "ff15:401b:8456::ffff:ffff"
GROUPS = {
    DEFAULT: {"pkey": 0xffff, "mtu": 2048, "rate_code": 3, "sl": 0},
    CONTROLLED: {"pkey": 0x8123, "mtu": 1024, "rate_code": 6, "sl": 3},
    SCOPED: {"pkey": 0x8456, "mtu": 2048, "rate_code": 3, "sl": 0},
}
REST = {
    DEFAULT: {"qkey": 0x0b1b, "tclass": 0, "flow_label": 0, "scope": 2},
    CONTROLLED: {"qkey": 0x80000b1b, "tclass": 0x20, "flow_label": 0x12345, "scope": 2},
    SCOPED: {"qkey": 0x1234, "tclass": 0, "flow_label": 0, "scope": 5},
}
# Who joins what: host, group, JoinState of each request. The SA holds the union.
JOINS = [("alpha", DEFAULT, [1]), ("beta", CONTROLLED, [4, 1]), ("gamma", SCOPED, [2])]


def join(sm_lid, mgid, port_gid, states):
    """Asks the SA to let a port join, as that port: runs in a process that umad2sim was loaded into."""
    umad = ctypes.CDLL("libibumad.so.3")
    assert umad.umad_init() >= 0
    port = umad.umad_open_port(None, 0)
    agent = umad.umad_register(port, SUBN_ADM, 2, 1, None)  # version 2, with RMPP
    assert port >= 0 and agent >= 0
    components = 1 << 0 | 1 << 1 | 1 << 16  # MGID, PortGID, JoinState
    for transaction, state in enumerate(states, 1):
        record = ipaddress.ip_address(mgid).packed + ipaddress.ip_address(port_gid).packed + bytes(16)
        record += bytes([state]) + bytes(3)
        mad = struct.pack(">BBBBHHQHHI", 1, SUBN_ADM, 2, SET, 0, 0, transaction, MC_MEMBER_RECORD, 0, 0)
        mad += bytes(12) + struct.pack(">QHHQ", 0, 0, 0, components) + record
        header = umad.umad_size()
        buffer = ctypes.create_string_buffer(bytes(header) + mad.ljust(256, b"\0"), header + 256)
        umad.umad_set_addr(buffer, sm_lid, 1, 0, 0x80010000)
        assert umad.umad_send(port, agent, buffer, 256, 1000, 3) >= 0
        length = ctypes.c_int(256)
        assert umad.umad_recv(port, buffer, ctypes.byref(length), 5000) >= 0, "no answer"
        status = struct.unpack_from(">H", buffer.raw, header + 4)[0]
        assert umad.umad_status(buffer) == 0 and status == 0, f"refused: status {status:#x}"


class RealLists(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="ipoib-sa-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.subnet = Subnet(cls.folder, HOSTS, PARTITIONS, speed="4xQDR")
        cls.addClassCleanup(cls.subnet.stop)
        cls.subnet.start(len(GROUPS))
        for host, mgid, states in JOINS:
            cls.subnet.run(host, sys.executable, __file__, "--join", str(cls.subnet.sm_lid()), mgid, PORTS[host],
                           *map(str, states))

    def read(self, *texts):
        """What is read from these texts, one after the other, by MGID."""
        path = self.folder / "list"
        path.write_text("".join(texts))
        run = subprocess.run([os.environ["IPOIB_SA_FILE_PRINT"], str(path)], stdin=subprocess.DEVNULL, timeout=60,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(run.returncode, 0, run.stderr + "".join(texts))
        groups = json.loads(run.stdout)[str(path)]
        return {group["mgid"]: group for group in groups}

    def assert_told(self, groups, *expected):
        self.assertEqual(set(groups), set(GROUPS))
        for mgid, group in groups.items():
            for values in expected:
                for name, value in values[mgid].items():
                    self.assertEqual(group.get(name), value, f"{mgid}: {name}")

    def assert_members(self, groups):
        for host, mgid, states in JOINS:
            union = 0
            for state in states:
                union |= state
            self.assertTrue(groups[mgid]["members_are_listed"])
            self.assertEqual([(member["port_gid"], member["join_state"], member["proxy"])
                              for member in groups[mgid]["members"]], [(PORTS[host], union, False)])

    def test_groups(self):
        groups = self.read(self.subnet.saquery("-g"))
        self.assert_told(groups, GROUPS)
        for group in groups.values():
            self.assertNotIn("qkey", group)
            self.assertFalse(group["members_are_listed"])
            self.assertTrue(0xc000 <= group["mlid"] < 0xffff)

    def test_members_are_shown_only_to_whom_the_sa_trusts(self):
        for group in self.read(self.subnet.saquery("-m")).values():
            self.assertFalse(group["members_are_listed"])
            self.assertEqual(group["members"], [])
        groups = self.read(self.subnet.saquery("--smkey", "1", "-m"))
        self.assert_members(groups)
        # The simulator cuts the list of nodes, too: only the first has a name.
        names = {member["node_description"] for group in groups.values() for member in group["members"]}
        self.assertIn("alpha HCA-1", names)

    def test_groups_and_members_in_one_file(self):
        for arguments in ["-m"], ["--smkey", "1", "-m"]:
            groups = self.read(self.subnet.saquery("-g"), self.subnet.saquery(*arguments))
            self.assert_told(groups, GROUPS)
        self.assert_members(groups)

    def test_whole_records(self):
        self.assert_told(self.read(self.subnet.saquery("MCMR")), GROUPS, REST)
        groups = self.read(self.subnet.saquery("--smkey", "1", "MCMR"))
        self.assert_told(groups, GROUPS, REST)
        self.assert_members(groups)
        for group in groups.values():
            self.assertIn("hop_limit", group)
            self.assertIn("pkt_life", group)

    def test_members_of_one_group_without_its_name_are_refused(self):
        path = self.folder / "nameless"
        path.write_text(self.subnet.saquery("--smkey", "1", "-m", "0xC000"))
        run = subprocess.run([os.environ["IPOIB_SA_FILE_PRINT"], str(path)], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(run.returncode, 2)
        self.assertIn("does not say of which group", run.stderr)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--join"]:
        join(int(sys.argv[2]), sys.argv[3], sys.argv[4], [int(state) for state in sys.argv[5:]])
        sys.exit(0)
    if missing_packages():
        print("SKIPPED: the lists of a real SA are not tested; missing packages: " + " ".join(missing_packages()),
              file=sys.stderr)
        sys.exit(SKIPPED)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    unittest.main(verbosity=2)
