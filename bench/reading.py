# SPDX-License-Identifier: GPL-2.0-or-later
"""What it costs to read and judge captures, beside a bare loop and tshark."""
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess

from measuring import TOP, Bench, Failed, cost, least, removed


def judging(bench: Bench):
    """check and links beside a loop that only counts, and tshark."""
    capture = bench.capture(bench.packets)
    programs = {"bare libpcap loop": [bench.program("pcap-count"), capture],
                "check": [bench.conform, "check", "--threads", "1", capture],
                "links": [bench.conform, "links", "--threads", "1", capture]}
    if shutil.which("tshark"):
        programs["tshark -q -z io,phs"] = ["tshark", "-r", capture, "-q", "-z", "io,phs"]
    with removed(capture):
        costs = least(programs, bench.repeat)
    base = costs["check"].user
    for name, one in costs.items():
        if name != "check":
            bench.tell(name, one.user / base, "x check", f"check: {name} to check",
                       is_rate="libpcap" in name or "tshark" in name, memory=one.mebibytes)
    bench.tell("check", 1, "", memory=costs["check"].mebibytes)


def threads(bench: Bench):
    """Elapsed time with one thread and with two."""
    capture = bench.capture(bench.packets)
    elapsed = {}
    with removed(capture):
        for _ in range(3 * bench.repeat):
            for count in (1, 2):
                once = cost([bench.conform, "check", "--threads", count, capture]).elapsed
                elapsed[count] = min(elapsed.get(count, once), once)
    bench.tell("check, two threads", elapsed[1] / elapsed[2], "x the packets a second of one",
               "check: packets a second, two threads to one", is_rate=True)


def plugin(bench: Bench):
    """What the Wireshark plugin adds to tshark, which does not load it for root."""
    library = bench.build / "dissector" / "rfc4391.so"
    if not shutil.which("tshark") or not library.exists():
        print("Wireshark plugin: not built, or no tshark")
        return
    # As scripts/wireshark does it, whose own time is no part of this.
    script = importlib.machinery.SourceFileLoader("wireshark", str(TOP / "scripts" / "wireshark"))
    wireshark = importlib.util.module_from_spec(importlib.util.spec_from_loader("wireshark", script))
    script.exec_module(wireshark)
    bench.folder.chmod(0o755)
    plugins = wireshark.together(bench.folder, library)
    as_user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []
    capture = bench.capture(bench.packets)
    read = ["tshark", "-r", capture, "-q", "-z", "io,phs"]
    with removed(capture):
        costs = least({"alone": [*as_user, "env", "HOME=/nonexistent", *read],
                       "with": [*as_user, "env", "HOME=/nonexistent", f"WIRESHARK_PLUGIN_DIR={plugins}", *read]}, bench.repeat)
    bench.tell("tshark with the plugin", costs["with"].user / costs["alone"].user, "x tshark without",
               "plugin: tshark with it to without")
    bench.tell("... memory", costs["with"].mebibytes / costs["alone"].mebibytes, "x tshark without")


def memory(bench: Bench):
    """Many packets through standard input."""
    with subprocess.Popen([bench.program("make-bench-capture"), str(bench.long), "-"], stdout=subprocess.PIPE) as source:
        mebibytes = cost([bench.conform, "check", "-"], stdin=source.stdout).mebibytes
    print(f"{bench.long} packets through standard input: {mebibytes:.1f} MiB at most")


def live(bench: Bench):
    """From a pipe as a link delivers them: the greatest rate at which nothing waits for longer than a capture's buffer holds."""
    bearable = 20  # milliseconds: 2 MiB, as tcpdump has them, at 600,000 packets a second of this mix
    capture = bench.capture(bench.packets)
    of_a_packet = capture.stat().st_size / bench.packets
    with removed(capture):
        for words in (["check", "-"], ["watch", "-"]):
            fastest = None
            for rate in range(250_000, 3_000_001, 250_000):
                late = min(_lateness(bench, capture, rate * of_a_packet, words) for _ in range(bench.repeat))
                if late > bearable:
                    break
                fastest = rate, late
            told = f"{fastest[0]:,} packets a second, late by {fastest[1]:.1f} ms at most" if fastest else "none of the rates"
            print(f"{' '.join(words)} from a pipe: {told}", flush=True)


def _lateness(bench, capture, octets_a_second, words):
    with subprocess.Popen([bench.program("paced-copy"), capture, str(octets_a_second)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as source:
        cost([bench.conform, *words, "--quiet"], stdin=source.stdout)
        source.stdout.close()
        told = source.stderr.read()
    found = re.fullmatch(r"late by ([0-9.]+) ms at most\n", told)
    if not found:
        raise Failed(f"paced-copy: {told}")
    return float(found[1])


def crowds(bench: Bench):
    """What a packet costs on links with more and more ports and groups, all of whose state is kept."""
    base = None
    for count in (10, 100, 1000, 10000):
        capture = bench.capture(bench.packets, count, name="crowd.pcap")
        with removed(capture):
            one = least({"": [bench.conform, "check", "--threads", "1", capture]}, bench.repeat)[""]
        base = base or one.user
        bench.tell(f"check, {count} ports and groups", one.user / base, "x that of 10 ports", f"check: {count} ports and groups",
                   memory=one.mebibytes)
