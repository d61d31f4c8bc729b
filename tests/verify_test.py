#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`verify`: recorded evidence is judged again, comes out as it was, and no edit that does not fit goes unnoticed."""
import hashlib
import json
import random
import re
import shutil
import unittest

from program import Folder, SOURCE, conform

CASES = ("IPOIB-4391-6-INV-001", "IPOIB-4391-9.1.2-VAL-002", "IPOIB-4391-5-INV-002")
# What breaks little, much, nothing at all, or the whole bring-up.
MUTANTS = ("reserved-not-zero", "multicast-without-grh", "rejoins-broadcast-only")


def mutants():
    text = "".join(path.read_text() for path in sorted((SOURCE / "conformance/mutants").glob("*.cpp")))
    return sorted(set(re.findall(r'\.name = "([a-z0-9-]+)"', text)))


class Verify(Folder):
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

    def assertRefused(self, folder, what=""):
        run = conform("verify", folder)
        self.assertIn(run.returncode, (1, 2), f"{what}: {run.stdout}")
        return run.stdout + run.stderr

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
        chosen = [name for name in mutants() if name in MUTANTS] + mutants()[::40]
        self.assertGreater(len(chosen), 5)
        for name in chosen:
            with self.subTest(mutant=name):
                if conform("run", "--dut", f"mutant:{name}", "--dry-run").returncode == 2:
                    continue  # of the administrator
                folder = self.recorded("--dut", f"mutant:{name}")
                self.assertFits(folder)
                shutil.rmtree(folder)

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
            ("a count in the record", "session.json", lambda text: re.sub(rb'"observed": [1-9]\d*', b'"observed": 99999', text, count=1)),
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
        told = self.assertRefused(self.edited(original, "session.json", lambda text: text.replace(b'"evidence": [\n  "', b'"evidence": [\n  "../')))
        self.assertIn("evidence", told)


if __name__ == "__main__":
    unittest.main()
