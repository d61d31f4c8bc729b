# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures made by an adversary: much of what a reader keeps, in little."""
import struct

MASK = (1 << 64) - 1
LINK_TYPE = 247  # InfiniBand
IPV4, ARP = 0x0800, 0x0806


def gid(prefix, interface_id):
    return struct.pack(">QQ", prefix, interface_id)


def packet(*, slid, dlid, sgid, dgid, p_key, payload, ether_type=IPV4, qpn=0x100, q_key=0x0b1b, psn=0):
    """LRH, GRH, BTH, DETH and IPoIB around the payload; CRCs that say nothing."""
    multicast = dgid[0] == 0xff
    body = struct.pack(">HH", ether_type, 0) + payload
    body += b"\0" * (-len(body) % 4)
    transport = struct.pack(">BBHII", 100, 0, p_key, 0xffffff if multicast else 0x200, psn) + struct.pack(">II", q_key, qpn)
    octets = transport + body + b"\0" * 4
    grh = struct.pack(">IHBB", 6 << 28, len(octets), 0x1b, 0) + sgid + dgid
    words = (8 + len(grh) + len(octets)) // 4
    return struct.pack(">BBHHH", 0, 3, dlid, words, slid) + grh + octets + b"\0\0"


def arp(operation, sender, sender_ip, target, target_ip):
    """Link-layer addresses of 20 octets."""
    return struct.pack(">HHBBH", 32, IPV4, 20, 4, operation) + sender + sender_ip + target + target_ip


def pcap(frames):
    out = [struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, LINK_TYPE)]
    for number, frame in enumerate(frames):
        out.append(struct.pack("<IIII", 1_760_000_000 + number // 1_000_000, number % 1_000_000, len(frame), len(frame)))
        out.append(frame)
    return b"".join(out)


def pcapng(frames, interfaces):
    """Frames are (interface, octets)."""
    def block(kind, body):
        body += b"\0" * (-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    out = [block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))]
    out += [block(1, struct.pack("<HHI", LINK_TYPE, 0, 0))] * interfaces
    for number, (interface, frame) in enumerate(frames):
        time = 1_760_000_000_000_000 + number
        out.append(block(6, struct.pack("<IIIII", interface, time >> 32, time & 0xffffffff, len(frame), len(frame)) + frame))
    return b"".join(out)


IP_PACKET = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20, 0, 0, 1, 59, 0, bytes((10, 0, 0, 1)), bytes((239, 1, 2, 3)))


def _mixed(key):
    key = (key ^ key >> 32) * 0x9e3779b97f4a7c15 & MASK
    return key ^ key >> 29


def colliding(count):
    """MGIDs of as many partitions that are one and the same to a hash without a secret: its last step undone."""
    frames = []
    for i in range(count):
        prefix = 0xff12_401b_0000_0000 | (0x8000 + i) << 16
        mgid = gid(prefix, (0x1234_5678_9abc_def0 - _mixed(prefix)) & MASK)
        frames.append(packet(slid=5, dlid=0xc001, sgid=gid(0xfe80 << 48, 0x0002_c903_0000_0005), dgid=mgid,
                             p_key=0x8000 + i, payload=IP_PACKET, psn=i))
    return pcap(frames)


def many_addresses(addresses, links):
    """One port that announces very many addresses and is on very many links."""
    port = gid(0xfe80 << 48, 0x0002_c903_0000_0005)
    me = struct.pack(">I", 0x100) + port

    def broadcast(p_key):
        return gid(0xff12_401b_0000_0000 | p_key << 16, 0xffff_ffff)

    frames = [packet(slid=5, dlid=0xc001, sgid=port, dgid=broadcast(0x8001), p_key=0x8001, ether_type=ARP, psn=i,
                     payload=arp(1, me, struct.pack(">I", 0x0a000000 + i), bytes(20), struct.pack(">I", 0x0b000000 + i)))
              for i in range(addresses)]
    frames += [packet(slid=5, dlid=0xc001, sgid=port, dgid=broadcast(0x8001 + i), p_key=0x8001 + i, payload=IP_PACKET,
                      psn=addresses + i, qpn=0x100) for i in range(links)]
    return pcap(frames)


def many_subnets(subnets, ports, groups):
    """At each interface another subnet, in each as many ports, each at some groups."""
    def frames():
        for interface in range(subnets):
            for port in range(ports):
                for group in range(groups):
                    mgid = gid(0xff12_401b_8001_0000, 0xef000000 + group)
                    yield interface, packet(slid=1 + port, dlid=0xc001 + group, sgid=gid(0xfe80 << 48, 0x2_0000 + port),
                                            dgid=mgid, p_key=0x8001, payload=IP_PACKET, psn=group)
    return pcapng(frames(), subnets)
