#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`verify`: recorded evidence is judged again, comes out as it was, and no edit that does not fit goes unnoticed."""
import gzip
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import tarfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bundles import packed
from program import Folder, SOURCE, conform

CASES = ("IPOIB-4391-6-INV-001", "IPOIB-4391-9.1.2-VAL-002", "IPOIB-4391-5-INV-002")
# What breaks little, much, a later bring-up, or the first, so that most cases are played and have no result of their own.
MUTANTS = ("reserved-not-zero", "multicast-without-grh", "rejoins-broadcast-only", "broadcast-gid-601b")
SCENARIOS = ("default", "controlled", "hardened", "scope5", "mtu4k", "link4k", "modified-guid")


def mutants():
    """Of stacks, adapters and administrators, and what is permitted: each with the scenario in which it shows, if that is another
    than the usual one."""
    return re.findall(r"^\| `([a-z0-9.-]+)`(?: \(([a-z0-9-]+)\))? \|", (SOURCE / "docs/kill-matrix.md").read_text(), re.MULTILINE)


def words_for(name, scenario=""):
    """Of a run against this mutant."""
    where = ("--scenario", scenario) if scenario else ()
    if conform("run", "--dut", f"mutant:{name}", "--dry-run").returncode != 2:
        return ("--dut", f"mutant:{name}", *where)
    return ("--dut", "sa", "--fabric", f"simulated:sa-mutant={name}", *where)


class Evidence(Folder):
    def recorded(self, *arguments, name="evidence"):
        folder = self.folder / name
        run = conform("run", *arguments, "--evidence", folder, "--json", self.folder / f"{name}.json", timeout=120)
        self.assertIn(run.returncode, (0, 1, 4, 5), run.stderr)
        return folder

    def assertFits(self, folder):
        run = conform("verify", folder, timeout=120)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("each verdict comes out as it is recorded", run.stdout)
        return run.stdout

    def assertAllComeOut(self, runs):
        """Each a bundle, which is judged again."""
        def judge(numbered):
            number, words = numbered
            bundle = self.folder / f"{number}.tar"
            run = conform("run", *words, "--bundle", bundle, timeout=600)
            if run.returncode not in (0, 1, 4, 5):
                return f"{words}: run ends with {run.returncode}: {run.stderr}"
            again = conform("verify", bundle, timeout=600)
            bundle.unlink()
            return "" if again.returncode == 0 else f"{words}: {again.stdout}{again.stderr}"

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            self.assertEqual([wrong for wrong in pool.map(judge, enumerate(runs)) if wrong], [])

    def assertRefused(self, folder, what=""):
        run = conform("verify", folder)
        self.assertIn(run.returncode, (1, 2), f"{what}: {run.stdout}")
        return run.stdout + run.stderr


class Whole(Evidence):
    def test_the_whole_suite_comes_out_as_it_was(self):
        for arguments in ([], ["--scenario", "controlled"], ["--dut", "sa"], ["--dut", "none"], ["--order", "seed=7"],
                          ["rfc4391/6", "--repeat", "2"]):
            with self.subTest(arguments=arguments):
                folder = self.recorded(*arguments)
                told = self.assertFits(folder)
                results = json.loads((self.folder / "evidence.json").read_text())["results"]
                passed = sum(result["verdict"] == "PASS" for result in results)
                self.assertIn(f"{passed} PASS" if passed else "NA", told)
                shutil.rmtree(folder)

    def test_what_is_wrong_comes_out_as_wrong(self):
        every = mutants()
        self.assertLessEqual({(name, "") for name in MUTANTS}, set(every))
        self.assertAllComeOut([words_for(*one) for one in (*((name, "") for name in MUTANTS), *every[20::90])])

    def test_the_tester_looks_where_it_looked_between_two_inputs_of_a_moment(self):
        folder = self.recorded("--dut", "mutant:permitted-answers-twice", "IPOIB-4391-9.1.1-VAL-007")
        self.assertFits(folder)
        journal = (folder / "IPOIB-4391-9.1.1-VAL-007.journal.jsonl").read_text().splitlines()
        lines = [json.loads(line) for line in journal[1:]]
        apart = [number for number, line in enumerate(lines) if line.get("apart")]
        self.assertGreater(len(apart), 10)
        inputs = ("seen", "took", "report", "timer", "port")
        for number in apart:
            self.assertIn(lines[number]["in"], inputs)
            before = next(line for line in reversed(lines[:number]) if line["in"] in inputs)
            self.assertEqual(before["at"], lines[number]["at"])
        # A node that sends two frames at once has not waited for a look.
        together = [line for one, line in zip(lines, lines[1:])
                    if one["in"] == line["in"] == "seen" and one["at"] == line["at"] and "apart" not in line]
        self.assertGreater(len(together), 10)


class Every(Evidence):
    """Minutes: only among the long tests."""

    def test_every_mutant_comes_out_as_it_was(self):
        every = mutants()
        said = re.search(r"^(\d+) of (\d+) are as they should be", (SOURCE / "docs/kill-matrix.md").read_text(), re.MULTILINE)
        self.assertEqual(len(every), int(said[2]))
        self.assertAllComeOut([words_for(*one) for one in every])

    def test_every_mutant_beside_the_reference_comes_out_as_it_was(self):
        stacks = [words for words in (words_for(*one) for one in mutants()) if words[1] != "sa"]
        self.assertGreater(len(stacks), 350)
        # Whose port is its, nobody knows of this one: nothing was judged, and nothing can be judged again.
        unknown = "mutant:gid-foreign"
        self.assertAllComeOut([("--against", *words[1:]) for words in stacks if words[1] != unknown])
        bundle = self.folder / "unknown.tar"
        self.assertEqual(conform("run", "--against", unknown, "--bundle", bundle).returncode, 3)
        self.assertIn("cannot be played again", self.assertRefused(bundle))

    def test_the_reference_and_an_administrator_come_out_on_every_link(self):
        self.assertAllComeOut([("--scenario", scenario, "--dut", dut) for scenario in SCENARIOS for dut in ("reference", "sa")])


class Node(Evidence):
    """In another process, and so in real time: where two things raced, another recording."""
    BUILD = Path(os.environ["IPOIB_BUILD"])

    def assertComesOut(self, command, *cases):
        for attempt in range(3):
            bundle, port = self.folder / f"{attempt}.tar", self.folder / f"port{attempt}"
            run = conform("run", "--dut", "exec:" + command.replace("{port}", str(port)), "--listen", port, *cases,
                          "--bundle", bundle, timeout=120)
            self.assertIn(run.returncode, (0, 1), run.stdout + run.stderr)
            again = conform("verify", bundle, timeout=120)
            if again.returncode == 0:
                return again.stdout
        return self.fail(again.stdout)

    def test_a_node_in_another_process_comes_out_as_it_was(self):
        self.assertComesOut(f"{SOURCE}/samples/python-adapter/adapter.py --node {self.BUILD}/samples/ipoib-node --port {{port}}",
                            "IPOIB-4391-4-*", "IPOIB-4391-6-VAL-*", "IPOIB-4391-9.2-VAL-*")

    def test_so_does_connected_mode_whose_acknowledgements_come_by_a_timer(self):
        told = self.assertComesOut(f"{self.BUILD}/conformance/explore/ipoib-plugged-stack {{port}}", "IPOIB-4755-3.*",
                                   "IPOIB-4755-5-*", "IPOIB-4755-7-*", "!RULE-*")
        self.assertRegex(told, r"(1\d|2\d) cases were played again on \d+ frames: \d+ PASS\n")


class Edits(Evidence):
    def edited(self, original, name, edit, is_hashed=False):
        """A copy of the evidence, one file of which went through `edit`; its hash is made to fit if that is wanted."""
        folder = self.folder / "edited"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(original, folder)
        path = folder / name
        before = path.read_bytes()
        after = edit(before)
        self.assertNotEqual(before, after, name)
        if after is None:
            path.unlink()
        else:
            path.write_bytes(after)
        if is_hashed:
            record = json.loads((folder / "session.json").read_text())
            for pair in record["sha256"]:
                if (folder / pair[0]).exists():
                    pair[1] = hashlib.sha256((folder / pair[0]).read_bytes()).hexdigest()
            (folder / "session.json").write_text(json.dumps(record, indent=1))
        return folder

    def test_a_verdict_a_frame_an_order_or_a_file_that_does_not_fit_is_refused(self):
        original = self.recorded(*CASES)
        self.assertFits(original)
        case = CASES[0]
        journal, capture = f"{case}.journal.jsonl", f"{case}.pcapng"

        def swap(octets, which):
            lines = octets.split(b"\n")
            at = [i for i, line in enumerate(lines) if b'"in":"' + which + b'"' in line]
            first, second = next((a, b) for a, b in zip(at, at[1:]) if lines[a][12:] != lines[b][12:])
            lines[first], lines[second] = lines[second], lines[first]
            return b"\n".join(lines)

        def without(octets, which):
            lines = octets.split(b"\n")
            at = [i for i, line in enumerate(lines) if b'"in":"' + which + b'"' in line]
            del lines[at[len(at) // 2]]
            return b"\n".join(lines)

        def flipped(octets):
            at = octets.rindex(b"\x80\x00\x00")
            return octets[:at] + b"\x81" + octets[at + 1:]

        edits = [
            ("the verdict in the journal", journal, lambda text: text.replace(b'"verdict":"PASS"', b'"verdict":"FAIL"')),
            ("a verdict in the record", "session.json", lambda text: text.replace(b'"PASS"', b'"FAIL"', 1)),
            ("a count in the record", "session.json",
             lambda text: re.sub(rb'"observed": [1-9]\d*', b'"observed": 99999', text, count=1)),
            ("a frame of the capture", capture, flipped),
            ("the end of the capture", capture, lambda octets: octets[:-40]),
            ("the seed", "session.json", lambda text: text.replace(b'"seed": 1', b'"seed": 2')),
            ("a case fewer", "session.json", lambda text: text.replace(f'  "{case}",\n'.encode(), b"", 1)),
            ("a missing capture", capture, lambda _: None),
            ("a missing journal", journal, lambda _: None),
            ("a missing record", "session.json", lambda _: None),
            ("another case's journal", journal, lambda _: (original / f"{CASES[1]}.journal.jsonl").read_bytes()),
            ("an answer of the DUT", journal, lambda text: text.replace(b'"up":true', b'"up":false')),
            ("a cut journal", journal, lambda text: text[:len(text) // 2]),
        ]
        for which in (b"seen", b"sent", b"sa", b"dut"):
            edits.append((f"one of {which} fewer", journal, lambda text, which=which: without(text, which)))
            if which != b"seen":
                edits.append((f"the order of {which}", journal, lambda text, which=which: swap(text, which)))
        for what, name, edit in edits:
            # Also by who knows that there are hashes.
            for is_hashed in (False, True):
                if is_hashed and name == "session.json":
                    continue
                with self.subTest(what=what, is_hashed=is_hashed):
                    self.assertRefused(self.edited(original, name, edit, is_hashed), what)
        for which in (b"seen", b"took"):
            with self.subTest(what=f"order of {which}"):
                self.assertRefused(self.edited(original, journal, lambda text, which=which: swap(text, which)))
                self.assertRefused(self.edited(original, journal, lambda text, which=which: without(text, which)))

    def test_what_came_by_a_timer_is_told_from_what_came_otherwise(self):
        case = "IPOIB-4755-5-VAL-003"
        original = self.recorded(case, CASES[0])
        name = f"{case}.journal.jsonl"
        lines = (original / name).read_bytes().split(b"\n")
        at = next(number for number, line in enumerate(lines) if b'"in":"timer"' in line)
        for what, line in (("none", []), ("another", [re.sub(rb'"number":\d+', b'"number":99', lines[at])]),
                           ("twice", [lines[at], lines[at]]),
                           ("earlier", [re.sub(rb'"at":(\d+)', lambda at: b'"at":%d' % (int(at[1]) - 1), lines[at])])):
            with self.subTest(timer=what):
                self.assertNotEqual(line, [lines[at]])
                told = self.assertRefused(self.edited(
                    original, name, lambda _, line=line: b"\n".join(lines[:at] + line + lines[at + 1:]), True))
                # What was not judged again is counted as that, and has no verdict.
                self.assertIn(f"not judged again: {case}\n", told)
                self.assertIn("1 of 2 cases were played again; nothing is said of the others", told)
                self.assertNotIn("PASS", told)

    def test_when_the_tester_did_something_is_compared(self):
        original = self.recorded(CASES[0])
        name = f"{CASES[0]}.journal.jsonl"
        lines = (original / name).read_bytes().split(b"\n")
        begins = next(number for number, line in enumerate(lines) if b'"what":"begins"' in line)
        sent = [number for number, line in enumerate(lines) if number > begins and b'"in":"sent"' in line]
        self.assertGreater(len(sent), 3)
        for at in sent:
            later = re.sub(rb'"at":(\d+)', lambda found: b'"at":%d' % (int(found[1]) + 1), lines[at])
            with self.subTest(line=at + 1):
                self.assertRefused(self.edited(original, name, lambda _, at=at, later=later: b"\n".join(
                    lines[:at] + [later] + lines[at + 1:]), True))

    def test_no_octet_of_a_journal_can_be_changed(self):
        original = self.recorded(CASES[0])
        name = f"{CASES[0]}.journal.jsonl"
        chance = random.Random(30)
        for number in range(40):
            def edit(text):
                # From the case's beginning on; what was before is management of the subnet, which no case looks at.
                begins = text.index(b'"what":"begins"') if number % 2 else 0
                places = [match.start(1) for match in re.finditer(rb'"octets":"([0-9a-f]+)"', text)
                          if match.start() > begins]
                at = chance.choice(places)
                at += chance.randrange(text.index(b'"', at) - at)
                return text[:at] + (b"0" if text[at:at + 1] != b"0" else b"1") + text[at + 1:]
            with self.subTest(number=number):
                self.assertRefused(self.edited(original, name, edit, number % 2 == 1))

    def test_a_bundle_verifies_and_any_edit_of_it_does_not(self):
        bundle, wrong = self.folder / "run.tar", ("--dut", "mutant:reserved-not-zero")
        run = conform("run", *CASES, *wrong, "--bundle", bundle)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("1 FAIL", self.assertFits(bundle))
        first = bundle.read_bytes()
        with tarfile.open(bundle) as archive:
            members = {one.name: archive.extractfile(one).read() for one in archive}
        self.assertEqual(set(members), {"SHA256SUMS", "DUT.toml", "session.json", "results.json"} | {
            case + ending for case in CASES for ending in (".pcapng", ".journal.jsonl")})
        for line in members["SHA256SUMS"].decode().splitlines():
            digest, name = line.split("  ")
            self.assertEqual(digest, hashlib.sha256(members[name]).hexdigest())
        results = json.loads(members["results.json"])
        self.assertTrue(all(result["revision"] for result in results["results"]))
        kill_matrix = hashlib.sha256((SOURCE / "docs/kill-matrix.md").read_bytes()).hexdigest()[:8]
        self.assertIn(kill_matrix, [proof["revision"] for proof in results["judge"] if proof["name"] == "kill matrix"])

        def edited(files, is_summed=True):
            return packed(self.folder / "edited.tar", files, is_summed)

        # What tar makes of the same is a bundle, too, and what gzip makes of it.
        self.assertFits(edited(members))
        squeezed = self.folder / "run.tar.gz"
        squeezed.write_bytes(gzip.compress(first))
        self.assertFits(squeezed)
        for octets in (gzip.compress(first)[:-20], gzip.compress(first)[:40] + b"x" * 40, gzip.compress(b"")):
            squeezed.write_bytes(octets)
            self.assertRefused(squeezed)
        for what, name, old, new in (
                ("a verdict", "results.json", b'"FAIL"', b'"PASS"'),
                ("a message", "results.json", b"Encap.Reserved is 0x0", b"Encap.Reserved is 0x1"),
                ("a claim", "DUT.toml", b'role = "router"', b'role = "host"'),
                ("a claim in the results", "results.json", b'"IP multicast router"', b'"host"'),
                ("a verdict in the record", "session.json", b'"FAIL"', b'"PASS"'),
                ("another suite's name", "session.json", b'"suite": "0', b'"suite": "9'),
                ("the fabric", "results.json", b'"kind": "simulated"', b'"kind": "verbs"'),
                ("the seed in the results", "results.json", b'"seed": 1', b'"seed": 2')):
            with self.subTest(what=what):
                self.assertIn(old, members[name])
                self.assertRefused(edited({**members, name: members[name].replace(old, new, 1)}), what)
        # Every member that the evidence decides, and what the suite says of itself.

        def member(edit):
            changed = json.loads(members["results.json"])
            edit(changed)
            return {**members, "results.json": json.dumps(changed).encode()}
        failed = next(i for i, one in enumerate(results["results"]) if one["verdict"] == "FAIL")
        broken = next(i for i, one in enumerate(results["requirements"]) if one["verdict"] == "FAIL")
        for what, edit in (
                ("parts", lambda all: all["results"][failed].update(parts=[])),
                ("details", lambda all: all["results"][failed].update(details=[])),
                ("title", lambda all: all["results"][failed].update(title="All is well")),
                ("notes", lambda all: all["results"][failed].update(notes=["certified"])),
                ("revision", lambda all: all["results"][failed].update(revision="00000000")),
                ("a requirement less", lambda all: all["requirements"].pop(broken)),
                ("level", lambda all: all["requirements"][broken].update(level="MAY", strength="may", force="MAY")),
                ("statement", lambda all: all["requirements"][broken].update(statement="nothing")),
                ("packets", lambda all: all["captures"][0].update(packets=1)),
                ("what proves the judge", lambda all: all["judge"][0].update(found="Of 1,000,000 all were found")),
                ("no proof", lambda all: all.pop("judge")),
                ("a member", lambda all: all.update(certified=True))):
            with self.subTest(what=what):
                told = self.assertRefused(edited(member(edit)), what)
                # Only what was changed.
                self.assertLessEqual(told.count("does not fit: "), 1 + len(results["results"][failed]["details"]), told)
        # Another suite may have other texts: that is told, and no edit of the run.
        record = json.loads(members["session.json"])
        record["suite_texts"] = "0" * 64
        other = {**member(lambda all: all["results"][failed].update(revision="00000000")),
                 "session.json": json.dumps(record).encode()}
        self.assertIn("recorded by another state of the suite (0.1.0): 1 of its texts are others here",
                      self.assertFits(edited(other)))
        for name in members:
            with self.subTest(missing=name):
                self.assertRefused(edited({other: content for other, content in members.items() if other != name},
                                          name != "SHA256SUMS"))
        self.assertRefused(edited({**members, "extra": b"x"}))
        self.assertRefused(edited({**members, "DUT.toml": b"x"}, False))
        chance = random.Random(7)
        for number in range(20):
            with self.subTest(flipped=number):
                at = chance.randrange(len(first))
                (self.folder / "edited.tar").write_bytes(first[:at] + bytes([first[at] ^ 1]) + first[at + 1:])
                self.assertRefused(self.folder / "edited.tar")
        for octets in (b"", b"x", first[:700], first[:-1024], first + b"x", b"\0" * 1024):
            with self.subTest(octets=octets[:10]):
                (self.folder / "edited.tar").write_bytes(octets)
                self.assertRefused(self.folder / "edited.tar")

    def test_of_two_that_met_each_keeps_its_own(self):
        bundle = self.folder / "two.tar"
        self.assertEqual(conform("run", "--against", "mutant:arp-unanswered", "--bundle", bundle).returncode, 1)
        self.assertFits(bundle)
        with tarfile.open(bundle) as archive:
            members = {one.name: archive.extractfile(one).read() for one in archive}
        results = json.loads(members["results.json"])
        for one in results["results"]:
            one["host"] = "against" if one["host"] == "dut" else "dut"
        self.assertRefused(packed(self.folder / "edited.tar", {**members, "results.json": json.dumps(results).encode()}, True))

    def test_a_run_that_had_enough_verifies(self):
        bundle = self.folder / "run.tar"
        run = conform("run", "rfc4391/6", "--dut", "mutant:reserved-not-zero", "--max-failures", "1", "--bundle", bundle)
        self.assertIn("not begun", run.stdout)
        self.assertFits(bundle)

    def test_a_line_that_is_none_is_named_and_leaves_the_other_cases_theirs(self):
        original = self.recorded(*CASES)
        name = f"{CASES[0]}.journal.jsonl"
        told = self.assertRefused(self.edited(original, name, lambda text: text.replace(b"\n", b"\n\n", 1), True))
        self.assertIn(f"does not fit: {name} line 2: is no object of JSON", told)
        self.assertIn(f"not judged again: {CASES[0]}\n", told)
        self.assertIn(f"{len(CASES) - 1} of {len(CASES)} cases were played again", told)

    def test_an_archive_that_is_large_for_nothing_is_refused_at_once(self):
        bundle = self.folder / "run.tar"
        conform("run", CASES[0], "--bundle", bundle)
        whole = bundle.read_bytes()
        header = whole[:512]

        def named(number):
            one = bytearray(header)
            one[0:100] = f"f{number}".encode().ljust(100, b"\0")
            one[124:136] = b"00000000000\0"
            one[148:156] = b"        "
            one[148:156] = f"{sum(one):06o}\0 ".encode()
            return bytes(one)
        for what, octets, words in (
                ("foreign files", b"".join(map(named, range(20_000))) + whole, "belongs to no case"),
                ("too many", b"".join(map(named, range(100_001))) + whole, "more than 100000 files"),
                ("nothing", b"\0" * (512 << 20), "holds too much for its size")):
            with self.subTest(what=what):
                squeezed = self.folder / "large.tar.gz"
                squeezed.write_bytes(gzip.compress(octets, 6))
                self.assertIn(words, self.assertRefused(squeezed))
        missing = packed(self.folder / "missing.tar", {"results.json": b"{}"}, True)
        self.assertIn(f"{missing} is no evidence of a run: it has no session.json", self.assertRefused(missing))

    @unittest.skipUnless(shutil.which("ssh-keygen"), "ssh-keygen is missing")
    def test_a_signature_sees_an_edit_that_fits(self):
        """As docs/verifying.md says."""
        key = self.folder / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True, stdin=subprocess.DEVNULL)
        (self.folder / "allowed").write_text("lab@example.com " + (self.folder / "key.pub").read_text())
        honest, other = self.folder / "honest.tar", self.folder / "other.tar"
        conform("run", CASES[0], "--dut", "mutant:reserved-not-zero", "--bundle", honest)
        conform("run", CASES[0], "--bundle", other)
        subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", "ipoib-conform", honest], check=True,
                       capture_output=True)

        def is_signed(bundle):
            return subprocess.run(["ssh-keygen", "-Y", "verify", "-f", self.folder / "allowed", "-I", "lab@example.com", "-n",
                                   "ipoib-conform", "-s", self.folder / "honest.tar.sig"], input=bundle.read_bytes(),
                                  capture_output=True, check=False).returncode == 0

        self.assertTrue(is_signed(honest))
        # Of another stack, and all of it fits together.
        self.assertFits(other)
        self.assertFalse(is_signed(other))

    def test_a_bundle_that_cannot_be_written_is_told(self):
        run = conform("run", CASES[0], "--bundle", self.folder / "no/where.tar")
        self.assertEqual(run.returncode, 3)
        self.assertIn("--bundle", run.stderr)

    def test_what_is_no_evidence_is_told(self):
        empty = self.folder / "empty"
        empty.mkdir()
        self.assertIn("is no evidence of a run", self.assertRefused(empty))
        self.assertRefused(self.folder / "missing")
        original = self.recorded(CASES[0])
        for text in (b"", b"{}", b"[]", b'{"format": "ipoib-conform-session/2"}', b"[" * 100000):
            with self.subTest(text=text[:40]):
                self.assertRefused(self.edited(original, "session.json", lambda _, text=text: text))
                self.assertRefused(self.edited(original, f"{CASES[0]}.journal.jsonl", lambda _, text=text: text))
        told = self.assertRefused(self.edited(
            original, "session.json", lambda text: text.replace(b'"evidence": [\n  "', b'"evidence": [\n  "../')))
        self.assertIn("evidence", told)


if __name__ == "__main__":
    unittest.main()
