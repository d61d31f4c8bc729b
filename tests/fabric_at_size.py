# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture of a large fabric with faults of several kinds at once: an ordinary day as ipoib-gen makes it, and what goes wrong
behind it."""
import struct

import hostile
from generator import generate

PARTITIONS, HOSTS, GROUPS = 30, 1000, 100
SA, FIRST_LID, FIRST_GUID, FIRST_QPN, QPNS = 1, 2, 0x0002_c903_0020_0001, 0x48, 0x2000
RATE_10, RATE_40, EXACTLY = 3, 7, 2
Q_KEY, INVALID, NO_RECORDS = 0x0b1b, 0x0200, 0x0300
PORT_GID, JOIN_STATE, Q_KEY_BIT, P_KEY_BIT, RATE_SELECTOR, RATE = 1 << 1, 1 << 16, 1 << 2, 1 << 7, 1 << 8, 1 << 9


def p_key(partition):
    return 0xffff - partition


def link(partition):
    return f"fe80::/{p_key(partition):#06x}"


def ipv4(host, partition):
    return f"10.{1 + partition}.{(host + 1) >> 8}.{(host + 1) & 0xff}"


def guid(host):
    return FIRST_GUID + host


def lid(host):
    return FIRST_LID + host


def gid(host):
    return hostile.gid(0xfe80 << 48, guid(host))


def mgid(group, partition, is_wide=False):
    """Of an IPv4 group, as a number, or of the broadcast group. A wide one has all 32 bits."""
    low = 0xffff_ffff if group is None else group if is_wide else group & 0x0fff_ffff
    return hostile.gid(0xff12_401b_0000_0000 | p_key(partition) << 16, low)


def octets(address):
    return bytes(map(int, address.split(".")))


class Fabric:
    """Frames that come after a day, a millisecond apart."""

    def __init__(self, folder, partitions=PARTITIONS, hosts=HOSTS, groups=GROUPS, count=120_000):
        self.path = folder / "day.pcap"
        made = generate("day", "--partitions", partitions, "--hosts", hosts, "--groups", groups, "--count", count, "--out",
                        self.path, "--link-type", "infiniband", "--quiet")
        assert made.returncode == 0, made.stderr
        self.frames, self.transaction = [], 0x7000_0000

    def write(self, path):
        """The day, and the frames."""
        day = self.path.read_bytes()
        order = "<" if day[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
        last = at = 24
        psns = {}
        while at < len(day):
            last, at = at, at + 16 + struct.unpack_from(order + "I", day, at + 8)[0]
            sender, psn, _ = counted(day[last + 16:at])
            psns[sender] = psn
        second = struct.unpack_from(order + "I", day, last)[0] + 1
        in_second = 10**6 if day[:4] in (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4") else 10**9
        # What asks and what answers go on from there: that nothing is missing shows by that.
        for number, frame in enumerate(self.frames):
            sender, _, place = counted(frame)
            if sender[1] == 1:
                psns[sender] = (psns.get(sender, 0) + 1) & 0xffffff
                self.frames[number] = frame[:place] + psns[sender].to_bytes(3, "big") + frame[place + 3:]
        records = [struct.pack(order + "IIII", second + number // 1000, number % 1000 * (in_second // 1000), len(frame),
                               len(frame)) + frame for number, frame in enumerate(self.frames)]
        path.write_bytes(day + b"".join(records))
        return path

    def sends(self, host, partition, group, is_wide=False):
        """A datagram to a group of IPv4, as a number."""
        payload = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20, 0, 0, 1, 59, 0, octets(ipv4(host, partition)),
                              struct.pack(">I", group))
        self.frames.append(hostile.packet(
            slid=lid(host), dlid=0xc000 + partition, sgid=gid(host), dgid=mgid(group, partition, is_wide), p_key=p_key(partition),
            payload=payload, qpn=FIRST_QPN + partition * QPNS + host, psn=len(self.frames)))

    def asks(self, host, partition, group, status, rate=RATE_10, join_state=1, is_wide=False):
        """A join at a rate, and what the SA says."""
        self.transaction += 1
        mask = 1 | PORT_GID | Q_KEY_BIT | P_KEY_BIT | RATE_SELECTOR | RATE | JOIN_STATE

        def record(code):
            return mgid(group, partition, is_wide) + gid(host) + struct.pack(
                ">IHBBHBBIBBH", Q_KEY, 0xc000 + partition, 0x84, 0, p_key(partition), EXACTLY << 6 | code, 0x80, 0,
                0x20 | join_state, 0, 0)
        self.frames += [
            hostile.sa_mad(slid=lid(host), dlid=SA, method=2, attribute=0x38, transaction=self.transaction, mask=mask,
                           record=record(rate)),
            answered(hostile.sa_mad(slid=SA, dlid=lid(host), method=0x81, attribute=0x38, transaction=self.transaction,
                                    mask=mask, record=record(RATE_10)), status)]


def counted(frame):
    """LID and queue pair of who sent a frame of unreliable datagrams, its PSN, and where that is."""
    bth = 48 if frame[1] & 3 == 3 else 8
    deth = bth + 12
    sender = int.from_bytes(frame[6:8], "big"), int.from_bytes(frame[deth + 5:deth + 8], "big")
    return sender, int.from_bytes(frame[bth + 9:bth + 12], "big"), bth + 9


def answered(frame, status):
    """LRH, BTH, DETH, and 4 octets into the MAD its status."""
    at = 8 + 12 + 8 + 4
    return frame[:at] + struct.pack(">H", status) + frame[at + 2:]


def two_faults(folder):
    """A port that asks for a dozen groups of one link at a rate that they have not, and uses them all the same; 300 hosts of
    another link that mean a group that nobody has, since their MGID has all bits of the IP group."""
    fabric = Fabric(folder)
    for group in range(0xefc0_0001, 0xefc0_000d):
        fabric.asks(8, 5, group, 0)
    for _ in range(2):
        for group in range(0xefc0_0001, 0xefc0_000d):
            fabric.asks(7, 5, group, INVALID, rate=RATE_40)
            fabric.sends(7, 5, group)
    for host in range(100, 400):
        fabric.asks(host, 12, 0xefc0_0001, NO_RECORDS, join_state=4, is_wide=True)
        fabric.sends(host, 12, 0xefc0_0001, is_wide=True)
    return fabric.write(folder / "two-faults.pcap")
