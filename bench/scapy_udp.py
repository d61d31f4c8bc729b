#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The same UDP packets by scapy, with layers made for them. Usage: scapy_udp.py COUNT SIZE PCAP"""
import struct
import sys
import zlib

from scapy.all import IP, UDP, BitField, ByteField, Packet, Raw, ShortField, ThreeBytesField, XIntField
from scapy.utils import RawPcapWriter


class Lrh(Packet):
    fields_desc = [BitField("vl", 0, 4), BitField("version", 0, 4), BitField("sl", 0, 4), BitField("reserved", 0, 2),
                   BitField("lnh", 2, 2), ShortField("dlid", 3), ShortField("length", 0), ShortField("slid", 2)]


class Bth(Packet):
    fields_desc = [ByteField("opcode", 0x64), ByteField("flags", 0x40), ShortField("p_key", 0xffff),
                   ByteField("reserved", 0), ThreeBytesField("dest_qp", 0x49), ByteField("ack", 0),
                   ThreeBytesField("psn", 0)]


class Deth(Packet):
    fields_desc = [XIntField("q_key", 0x0b1b), ByteField("reserved", 0), ThreeBytesField("src_qp", 0x48)]


class Encap(Packet):
    fields_desc = [ShortField("type", 0x0800), ShortField("reserved", 0)]


def vcrc_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0xd008 if value & 1 else 0)
        table.append(value)
    return table


TABLE = vcrc_table()


def vcrc(octets):
    crc = 0xffff
    for octet in octets:
        crc = crc >> 8 ^ TABLE[(crc ^ octet) & 0xff]
    return crc ^ 0xffff


def frame(size, number):
    payload = b"IPoI" + struct.pack(">IQ", 1, number) + bytes(i & 0xff for i in range(16, size))
    packet = Lrh() / Bth() / Deth() / Encap() / IP(src="10.1.0.1", dst="10.1.0.2") / UDP(sport=9, dport=9) / Raw(payload)
    packet[Lrh].length = (len(packet) + 4) // 4
    octets = bytes(packet)
    masked = bytes([octets[0] | 0xf0]) + octets[1:12] + b"\xff" + octets[13:]
    octets += struct.pack("<I", zlib.crc32(masked))
    return octets + struct.pack("<H", vcrc(octets))


def main():
    count, size = int(sys.argv[1]), int(sys.argv[2])
    writer = RawPcapWriter(sys.argv[3], linktype=247)
    writer.write_header(None)
    for number in range(count):
        octets = frame(size, number)
        writer.write_packet(octets, sec=0, usec=number, caplen=len(octets), wirelen=len(octets))
    writer.close()


main()
