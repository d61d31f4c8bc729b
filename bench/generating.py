# SPDX-License-Identifier: GPL-2.0-or-later
"""What ipoib-gen costs: beside writing what is there already, beside scapy, and outside its fast path."""
from measuring import LEAST, TOP, Bench, Failed, cost, least, removed

# What a flow's packets that differ in their number alone do not need. Each leaves the fast path in a way of its own.
OUTSIDE = {"--set of a field": ["udp", "--set", "IPv4.TTL=5"],
           "--set of three, by chance": ["udp", "--set", "DETH.Q_Key=random", "--set", "UDP.SourcePort=random",
                                         "--set", "BTH.DestQP=1..9"],
           "--set with --keep-crc": ["udp", "--set", "DETH.Q_Key=random", "--keep-crc"],
           "--mutate": ["udp", "--mutate", "reserved-not-zero"],
           "--damage": ["udp", "--damage", "0.01"],
           "--size 16..100": ["udp", "--size", "16..100"],
           "udp-multicast, --set": ["udp-multicast", "--set", "GRH.HopLimit=random"],
           "ping4": ["ping4"], "arp": ["arp"], "nd": ["nd"], "day": ["day"], "dhcp": ["dhcp"], "connected": ["connected"],
           "malformed": ["malformed"]}
OUTSIDE_LARGE = {"--set of a field": ["udp", "--set", "IPv4.TTL=5"], "--mutate": ["udp", "--mutate", "reserved-not-zero"],
                 "ping4": ["ping4"]}


def outside(bench: Bench):
    """Packets that are not only numbered, beside those that are."""
    made = bench.folder / "made.pcap"

    def command(words, count, size):
        sized = [] if "--size" in words else ["--size", size]
        return [bench.gen, *words, *sized, "--count", count, "--quiet", "--out", made]

    for size, ways, count in ((64, OUTSIDE, bench.packets), (2016, OUTSIDE_LARGE, bench.packets // 4)):
        times = 10
        with removed(made):
            start = least({"": [bench.gen, "--version"]}, bench.repeat)[""].user
            costs = least({"": command(["udp"], times * count, size)} |
                          {name: command(words, count, size) for name, words in ways.items()}, bench.repeat)
        base = max(costs.pop("").user - start, LEAST) / times
        for name, one in costs.items():
            bench.tell(f"ipoib-gen, {size} octets, {name}", max(one.user - start, LEAST) / base,
                       "x packets that are only numbered",
                       f"generator: {size} octets, {name} to only numbered")


def generator(bench: Bench):
    made, copied = bench.folder / "made.pcap", bench.folder / "copied.pcap"
    for size, count in ((64, 3 * bench.packets), (2016, 4 * bench.packets // 10)):
        gen = [bench.gen, "udp", "--count", count, "--size", size, "--quiet", "--out", made]
        with removed(made, copied):
            cost(gen)
            costs = least({"fwrite": [bench.program("fwrite-records"), made, copied], "gen": gen}, bench.repeat)
        ratio = costs["gen"].user / costs["fwrite"].user
        bench.tell(f"ipoib-gen, {size} octets", ratio, "x fwrite of the same records",
                   f"generator: {size} octets, ipoib-gen", memory=costs["gen"].mebibytes)
        if not bench.is_short:
            scapy(bench, costs["gen"].user / count, size)


def scapy(bench: Bench, seconds, size):
    """How much more a packet costs there."""
    # The interpreter that Debian's package is for.
    command = ["/usr/bin/python3", TOP / "bench" / "scapy_udp.py"]
    few, many, path = 100, 3100, bench.folder / "scapy.pcap"
    try:
        with removed(path):
            users = [min(cost([*command, count, size, path]).user for _ in range(3)) for count in (few, many)]
    except (Failed, OSError):
        print("scapy: not installed (python3-scapy)")
        return
    bench.tell(f"scapy, {size} octets", (users[1] - users[0]) / (many - few) / seconds, "x ipoib-gen")
