#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
"""An adapter for the DUT control protocol: between ipoib-conform and a stack. Python 3.9, standard library only.

ipoib-conform writes requests to standard input, one JSON object a line, and reads one line of JSON for each. Standard
error goes into the evidence. Each request is a method of class Stack with the same name; what has no method is
"unsupported". This one steers samples/c-node; for a stack of your own replace the methods' bodies and drop class Node.

    adapter.py --node ./ipoib_node --port /tmp/fabric.sock
"""
import argparse
import collections
import ipaddress
import json
import math
import queue
import signal
import subprocess
import sys
import threading


class Failed(Exception):
    """The stack was asked and could not."""


class Unsupported(Exception):
    """The stack, or this adapter, cannot be asked for this."""


class Node:
    """The sample node as a child process: one line in, one line out, and its log."""

    look_again = 0.1  # seconds

    def __init__(self, command, patience):
        self.command = command
        self.patience = patience
        self.log = collections.deque(maxlen=500)
        self.faults = []
        self.start()

    def start(self):
        self.is_ending = False
        self.answers = queue.Queue()
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, errors="replace", bufsize=1)
        of_node = (self.process, self.answers)
        threading.Thread(target=self._read_answers, args=of_node, daemon=True).start()
        self.log_reader = threading.Thread(target=self._read_log, args=of_node, daemon=True)
        self.log_reader.start()

    def _read_answers(self, process, answers):
        for line in process.stdout:
            answers.put(line.rstrip("\n"))
        answers.put(None)

    def _read_log(self, process, _):
        for line in process.stderr:
            line = line.rstrip("\n")
            self.log.append(line)
            print(line, file=sys.stderr, flush=True)
            if "Sanitizer" in line or "runtime error:" in line:
                self.faults.append(line)

    def ask(self, *words):
        """The words after "ok" of the node's answer."""
        try:
            self.process.stdin.write(" ".join(str(word) for word in words) + "\n")
            answer = self._next_answer()
        except (OSError, ValueError):
            answer = None
        except queue.Empty:
            # What it answers later would be taken for the answer to something else. The signal is ours: no crash.
            self.is_ending = True
            self.process.kill()
            self.faults.append(f"the node did not answer for {self.patience:g} s, and was ended (--patience)")
            raise Failed("the node does not answer") from None
        if answer is None:
            self.look_for_end(patience=1)
            raise Failed("the node is gone")
        if answer == "unsupported":
            raise Unsupported("the node does not know this")
        status, _, rest = answer.partition(" ")
        if status != "ok":
            raise Failed(rest or answer)
        return rest.split()

    def _next_answer(self):
        """Time in which the node is stopped does not count: whoever stopped it, a debugger perhaps, lets it go on."""
        left, was_stopped = self.patience, False
        while True:
            try:
                return self.answers.get(timeout=min(self.look_again, left))
            except queue.Empty:
                is_stopped = self._is_stopped()
                if is_stopped != was_stopped:
                    words = "the node is stopped: waiting" if is_stopped else "the node goes on"
                    print(words, file=sys.stderr, flush=True)
                was_stopped = is_stopped
                left = self.patience if is_stopped else left - self.look_again
                if left <= 0:
                    raise

    def _is_stopped(self):
        """Linux tells: state T (by a signal) or t (by a debugger) in /proc/PID/stat, behind the name in brackets."""
        try:
            with open(f"/proc/{self.process.pid}/stat", encoding="ascii", errors="replace") as stat:
                return stat.read().rpartition(")")[2].split()[0] in ("T", "t")
        except (OSError, IndexError):
            return False

    def is_reporting(self):
        """Whether a sanitizer has begun to say what is wrong, and not yet where it was: the node ends behind that."""
        return any("ERROR: " in line for line in self.faults) and not any("SUMMARY: " in line for line in self.faults)

    def look_for_end(self, patience=0):
        """A node that ended by itself, or by a signal that is not ours, is a fault, once. It has said all it had to say."""
        try:
            code = self.process.wait(patience)
        except subprocess.TimeoutExpired:
            return
        self.log_reader.join(1)
        if not self.is_ending:
            self.is_ending = True
            self.faults.append(f"the node ended: {ending_of(code)}")

    def end(self):
        """Its input ends: it leaves what it joined. Then, if need be, with force."""
        self.is_ending = True
        try:
            self.process.stdin.close()
        except OSError:
            pass
        for stop in (lambda: None, self.process.terminate, self.process.kill):
            stop()
            try:
                self.process.wait(2)
                return
            except subprocess.TimeoutExpired:
                continue


def ending_of(code):
    if code >= 0:
        return f"exit status {code}"
    try:
        return f"killed by signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"killed by signal {-code}"


class Stack:
    """The requests of the protocol. Arguments come from the request; a dict that is returned goes into the answer."""

    name, version, interface_name = "ipoib_node sample", "1", "ib0"

    def __init__(self, command, guid, patience):
        self._node = Node(command, patience)
        self._guid = guid
        self._address = None

    def hello(self, _):
        return {"protocol": 1, "name": self.name, "version": self.version, "interfaces": [self.interface_name],
                "can": requests_of(self), "facts": {"driver": "ipoib_node.c", "device": "raw port", "guid": self._guid}}

    def interface(self, _):
        pairs = [pair.partition("=")[::2] for pair in self._node.ask("interface")]
        facts = dict(pairs)
        return {"link_address": facts["link_address"], "mtu": int(facts["mtu"]), "up": facts["up"] == "1",
                "mode": "datagram", "ipv4": [value for name, value in pairs if name == "ipv4"], "ipv6": [],
                "groups": [value for name, value in pairs if name == "group"]}

    def up(self, _):
        self._node.ask("up")

    def down(self, _):
        self._node.ask("down")

    def restart(self, _):
        if self._node.process.poll() is None:
            self._node.ask("restart")
        else:
            self._node.start()
            if self._address:
                self._node.ask("add", self._address)
        self._node.ask("up")

    def add_address(self, request):
        address = str(of_ipv4(ipaddress.ip_interface(request["address"])))
        self._node.ask("add", address)
        self._address = address

    def remove_address(self, request):
        self._node.ask("remove", of_ipv4(ipaddress.ip_interface(request["address"])))
        self._address = None

    def join(self, request):
        self._node.ask("join", ipv4(request["group"]))

    def leave(self, request):
        self._node.ask("leave", ipv4(request["group"]))

    def send(self, request):
        payload = bytes.fromhex(request["payload"])
        self._must_fit(len(payload))
        self._node.ask("send", ipv4(request["to"]), int(request["port"]), int(request.get("ttl", 1)), payload.hex())

    def listen(self, request):
        address = request.get("group") or request.get("address") or "0.0.0.0"
        self._node.ask("listen", ipv4(address), int(request["port"]))

    def received(self, _):
        datagrams = []
        for text in self._node.ask("received"):
            source, to, port, ttl, payload = text.split(",")
            datagrams.append({"from": source, "to": to, "port": int(port), "ttl": int(ttl), "payload": payload})
        return {"datagrams": datagrams}

    def ping(self, request):
        size = int(request.get("size", 56))
        self._must_fit(size)
        return {"answered": self._node.ask("ping", ipv4(request["to"]), size) == ["answered"]}

    def _must_fit(self, size):
        headers, mtu = 28, self.interface(None)["mtu"]  # IPv4, and ICMP or UDP
        if mtu and size + headers > mtu:
            raise Unsupported("the node does not fragment")

    def resolve(self, request):
        self._node.ask("resolve", ipv4(request["address"]))

    def neighbours(self, _):
        entries = [text.partition(",")[::2] for text in self._node.ask("neighbours")]
        return {"neighbours": [{"address": ip, "link_address": address} for ip, address in entries]}

    def flush_neighbours(self, _):
        self._node.ask("flush")

    def timers(self, request):
        if request.get("gc"):
            raise Unsupported("the node forgets no neighbours by time")
        self._node.ask("timers", math.ceil(request.get("reachable", 0)), math.ceil(request.get("membership", 0)))

    def log(self, _):
        return {"lines": list(self._node.log)}

    def health(self, _):
        self._node.look_for_end(patience=2 if self._node.is_reporting() else 0)
        count = len(self._node.faults)
        faults, self._node.faults = self._node.faults[:count], self._node.faults[count:]
        return {"faults": faults}

    def bye(self, _):
        """Restores what was changed. Called at the end of input and at SIGTERM too, so it may be called twice."""
        self._node.end()


def of_ipv4(address):
    if address.version != 4:
        raise Unsupported("the node has IPv4 only")
    return address


def ipv4(text):
    return of_ipv4(ipaddress.ip_address(text))


def requests_of(stack):
    return [name for name, value in vars(type(stack)).items() if callable(value) and not name.startswith("_")]


def answer_to(stack, line):
    """One line of the protocol for another. Whatever goes wrong is an answer, too."""
    try:
        request = json.loads(line)
        answer = {"id": request["id"]}
        what = request["do"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return {"id": None, "error": "failed", "message": "a request is a JSON object with 'id' and 'do'"}
    try:
        if what not in requests_of(stack):
            raise Unsupported(f"there is no such request: {what}")
        if request.get("interface", stack.interface_name) != stack.interface_name:
            raise Failed("there is no such interface")
        answer.update(getattr(stack, what)(request) or {}, ok=True)
    except Unsupported as reason:
        answer.update(error="unsupported", message=str(reason))
    except Failed as reason:
        answer.update(error="failed", message=str(reason))
    except (KeyError, TypeError, ValueError) as reason:
        answer.update(error="failed", message=f"the request is wrong: {reason!r}")
    return answer


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--node", required=True, help="the program of samples/c-node")
    parser.add_argument("--port", required=True, help="path of the fabric's raw port")
    parser.add_argument("--guid", default="0002c90300dd0001", help="port GUID in hex")
    parser.add_argument("--patience", type=float, default=8,
                        help="seconds for an answer of the node; the harness waits 10")
    options = parser.parse_args()

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    stack = Stack([options.node, "--port", options.port, "--guid", options.guid], options.guid,
                  options.patience)
    try:
        for line in sys.stdin:
            print(json.dumps(answer_to(stack, line)), flush=True)
    finally:
        stack.bye(None)


if __name__ == "__main__":
    main()
