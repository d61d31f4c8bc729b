# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures made by an adversary: much of what a reader keeps, in little."""
import ctypes
import itertools
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


def pcap(frames, times=None):
    out = [struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, LINK_TYPE)]
    for number, frame in zip(times or itertools.count(), frames):
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


def zstd(data, window_log):
    """As `zstd -1 --long` compresses what comes from a pipe: with such a window. None without the library."""
    try:
        library = ctypes.CDLL("libzstd.so.1")
    except OSError:
        return None
    window, has_size = 101, 200
    library.ZSTD_createCCtx.restype = ctypes.c_void_p
    library.ZSTD_compress2.restype = ctypes.c_size_t
    context = ctypes.c_void_p(library.ZSTD_createCCtx())
    for parameter, value in ((100, 1), (window, window_log), (has_size, 0)):
        library.ZSTD_CCtx_setParameter(context, parameter, value)
    out = ctypes.create_string_buffer(len(data) // 4 + 1_000_000)
    size = library.ZSTD_compress2(context, out, ctypes.c_size_t(len(out)), data, ctypes.c_size_t(len(data)))
    library.ZSTD_freeCCtx(context)
    return out.raw[:size]


def long_capture(octets, first):
    """Frames of 8 KiB, two captures' in turns if one is `first` 0 and the other 1."""
    frame = packet(slid=5, dlid=7, sgid=port_gid(5), dgid=port_gid(7), p_key=0x8001, payload=IP_PACKET + b"\0" * 8000)
    frames = octets // len(frame) + 1
    return pcap([frame] * frames, range(first, first + 100 * frames, 100))


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


def contested(addresses, turns, pairs):
    """Pairs of ports that announce very many addresses, each pair its share, all of them in turns."""
    frames = []
    for turn in range(turns):
        for i in range(addresses):
            lid = 5 + i % pairs * 2 + turn % 2
            me = struct.pack(">I", 0x100) + port_gid(lid)
            frames.append(packet(slid=lid, dlid=0xc001, sgid=port_gid(lid), dgid=BROADCAST, p_key=0x8001, ether_type=ARP,
                                 psn=i, payload=arp(1, me, struct.pack(">I", 0x0a000000 + i), bytes(20),
                                                    struct.pack(">I", 0x0b000000))))
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


# Subnet administration and management: LIDs of the SA and of the first port.
SA, FIRST = 1, 0x100
BROADCAST = gid(0xff12_401b_8001_0000, 0xffff_ffff)


def port_gid(number):
    return gid(0xfe80 << 48, 0x0002_c903_0000_0000 + number)


def ipv4_mgid(group):
    return gid(0xff12_401b_8001_0000, group & 0x0fff_ffff)


def mad(*, slid, dlid, method, attribute, transaction, data, mgmt_class=3, class_version=2):
    """LRH, BTH, DETH and a MAD of a management class, with what follows its header."""
    head = struct.pack(">BBBBHHQHHI", 1, mgmt_class, class_version, method, 0, 0, transaction, attribute, 0, 0)
    transport = struct.pack(">BBHII", 100, 0, 0xffff, 1, 0) + struct.pack(">II", 0x80010000, 1)
    octets = transport + head + data + b"\0" * (-len(data) % 4) + b"\0" * 4
    return struct.pack(">BBHHH", 0, 2, dlid, (8 + len(octets)) // 4, slid) + octets + b"\0\0"


def sa_mad(*, record, mask=0, **other):
    """RMPP and the SA's own header before the record."""
    return mad(data=b"\0" * 12 + struct.pack(">QHHQ", 0, 7, 0, mask) + record, **other)


def member_record(mgid, port, mlid):
    return mgid + port + struct.pack(">IHBBHBBIBBH", 0x0b1b, mlid, 0x84, 0, 0x8001, 0x83, 0, 0, 0x21, 0, 0)


def granted(lid, mgid, mlid, transaction):
    return sa_mad(slid=SA, dlid=lid, method=0x81, attribute=0x38, transaction=transaction, mask=0x10083,
                  record=member_record(mgid, port_gid(lid), mlid))


INITIALIZE, ACTIVE = 2, 4


def port_info(lid, transaction, state, prefix=0xfe80 << 48):
    """What a port tells of itself."""
    head = struct.pack(">QQHHIHHBBBBBBBB", 0, prefix, lid, SA, 0, 0, 0, 1, 1, 2, 2, state, 0, 0x11, 0)
    return mad(slid=lid, dlid=SA, method=0x81, attribute=0x15, transaction=transaction, mgmt_class=1, class_version=1,
               data=b"\0" * 40 + head + b"\0" * 28)


def come_up(lid):
    """The port's life on the link begins: its link is set up, and it joins the broadcast group."""
    return [port_info(lid, lid, INITIALIZE), *join(lid, BROADCAST, 0xc000, lid)]


def join(lid, mgid, mlid, transaction):
    """Asked for, and granted."""
    return [sa_mad(slid=lid, dlid=SA, method=2, attribute=0x38, transaction=transaction, mask=0x10083,
                   record=member_record(mgid, port_gid(lid), 0)), granted(lid, mgid, mlid, transaction)]


def igmp(lid, groups, kind):
    """Reports of IGMPv3 with a record for each of the groups, in as few packets as it takes."""
    for begin in range(0, len(groups), 240):
        some = groups[begin:begin + 240]
        report = struct.pack(">BBHHH", 0x22, 0, 0, 0, len(some))
        report += b"".join(struct.pack(">BBHI", kind, 0, 0, group) for group in some)
        ip = struct.pack(">BBHHHBBH4s4s", 0x46, 0, 24 + len(report), 0, 0, 1, 2, 0, bytes((10, 0, 0, 1)), bytes((224, 0, 0, 22)))
        yield packet(slid=lid, dlid=0xc001, sgid=port_gid(lid), dgid=ipv4_mgid(0xe0000016), p_key=0x8001,
                     payload=ip + b"\x94\x04\0\0" + report)


def groups_from(count):
    return [0xef00_0000 + number for number in range(count)]


def told_other_mlids(members, answers):
    """Very many memberships, and a group of which a port is told another MLID again and again."""
    frames = join(FIRST, BROADCAST, 0xc000, 1)
    for lid in range(FIRST + 1, FIRST + 1 + members // 60_000):
        frames.append(packet(slid=lid, dlid=0xc000, sgid=port_gid(lid), dgid=BROADCAST, p_key=0x8001, payload=IP_PACKET))
        frames += igmp(lid, groups_from(60_000), 4)
    mgid = ipv4_mgid(0xef00_0000)
    frames += join(FIRST, mgid, 0xc001, 2)
    frames += [granted(FIRST, mgid, 0xc002 + number % 2, 2) for number in range(answers)]
    return pcap(frames)


def _many_ports(ports, lids):
    return [packet(slid=FIRST + number % lids, dlid=0xc000, sgid=port_gid(0x10000 + number), dgid=BROADCAST, p_key=0x8001,
                   payload=IP_PACKET) for number in range(ports)]


def acknowledged_at_one_lid(ports, reports):
    """Very many GIDs at one LID, which acknowledges that a group was created."""
    notice = struct.pack(">IHHH", 0x84000004, 66, 1, 0) + b"\0" * 6 + BROADCAST + b"\0" * 32 + port_gid(1)
    return pcap(_many_ports(ports, 1) + [
        sa_mad(slid=FIRST, dlid=SA, method=0x86, attribute=2, transaction=number, record=notice) for number in range(reports)])


def prefixes(ports, told):
    """Very many ports, whose subnet prefix is told in one of two ways, in turns."""
    return pcap(_many_ports(ports, 0x8000) + [
        port_info(9, number, ACTIVE, 0xfec0 << 48 | number % 2) for number in range(told)])


def duties(ports, groups):
    """Ports on a link, whose IP joins very many groups and leaves them again: each had to do something."""
    lids = range(FIRST, FIRST + ports)
    frames = [frame for lid in lids for frame in come_up(lid)]
    for kind in (4, 3):
        frames += [frame for lid in lids for frame in igmp(lid, groups_from(groups), kind)]
    return pcap(frames)


def senders(ports, groups, is_alone=False):
    """Ports that come up, and then send to very many groups without joining them. Alone: each to groups of its own."""
    frames, given = [], groups_from(groups * ports if is_alone else groups)
    for lid in range(FIRST, FIRST + ports):
        own = given[(lid - FIRST) * groups:][:groups] if is_alone else given
        frames += come_up(lid)
        frames += [packet(slid=lid, dlid=0xc001, sgid=port_gid(lid), dgid=ipv4_mgid(group), p_key=0x8001, payload=IP_PACKET,
                          psn=number) for number, group in enumerate(own)]
    return pcap(frames)
