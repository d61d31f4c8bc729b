#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""No line of any output is a command for the runner of a job, wherever its words come from."""
import json
import re
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree

from generator import GENERATOR
from program import CAPTURES, PROGRAM, SOURCE, Folder

COMMANDS = ("::error title=x::y", " \t::add-mask::x", "\u00a0::debug::x", "##[error]x",
            "##vso[task.complete result=Failed;]x", "##teamcity[buildStop comment='x']")
# Behind blanks at the beginning of a line, and anywhere in it.
OBEYED = re.compile(r"(?m)(?:^|\r)\s*::|##[a-z]*\[", re.ASCII | re.IGNORECASE)
FORMATS = ("json", "ctrf", "tap", "markdown", "junit", "html")


def hostile(value, command):
    """The same JSON with the command in each text that says something: alone, and as a line of it."""
    if isinstance(value, dict):
        return {key: one if key in ("format", "verdict", "type", "na", "strength", "level", "status", "started", "outcome")
                else hostile(one, command) for key, one in value.items()}
    if isinstance(value, list):
        return [hostile(one, command) for one in value]
    return f"{command}\n{command} {value}" if isinstance(value, str) and " " in value else value


class JobLog(Folder):
    def said(self, *arguments, program=PROGRAM):
        run = subprocess.run([program, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, cwd=self.folder, timeout=120, check=False)
        text = run.stdout.decode()
        self.assertGreaterEqual(run.returncode, 0, text[-500:])
        found = OBEYED.search(text.replace("\u00a0", " "))
        self.assertIsNone(found, found and (arguments, text[max(0, found.start() - 100):found.end() + 100]))
        return text

    def test_the_names_of_captures(self):
        for name in COMMANDS:
            shutil.copy(CAPTURES / "broken.pcap", self.folder / name)
            self.said("check", name)
            self.said("check", name, CAPTURES / "usual.pcap", "--quiet")
            self.said("links", name)
            json.loads(self.said("links", name, "--json"))
            self.said("decode", name + "#1")
            (self.folder / name).write_bytes(b"nonsense")
            self.said("check", name)
            self.said("links", name)
            (self.folder / name).unlink()
            for command in ("check", "links", "decode", "merge", "baseline", "explain", "list", "run", "no", "devices"):
                self.said(command, name)
            self.said("diff", name, name)
            self.said("check", CAPTURES / "usual.pcap", "--json", f"none/{name}")
            self.said(name)
            self.said(f"--{name}")
            self.said(name, program=GENERATOR)
            self.said("unicast", "--out", f"none/{name}", program=GENERATOR)

    def test_every_report_of_results_that_say_it(self):
        path = self.folder / "results.json"
        for command in COMMANDS:
            shutil.copy(CAPTURES / "broken.pcap", self.folder / command)
            self.said("check", command, "--json", path)
            results = json.loads(path.read_text())
            path.write_text(json.dumps(hostile(results, command)))
            self.said("merge", f"{command}={path}", f"other={path}")
            self.said("baseline", path)
            self.said("diff", path, path)
            for form in FORMATS:
                text = self.said("merge", f"n1={path}", f"n2={path}", "--quiet", f"--{form}", "/dev/stdout")
                if form in ("json", "ctrf"):
                    self.assertIn(command.strip(), json.dumps(json.JSONDecoder().raw_decode(text)[0], ensure_ascii=False))
                if form == "junit":
                    root = ElementTree.fromstring(text[:text.index("</testsuites>") + len("</testsuites>")])
                    self.assertIn(command.strip(), "".join(map(str, [*root.itertext(), *(
                        value for one in root.iter() for value in one.attrib.values())])))

    def test_keys_and_values_of_toml(self):
        for command in COMMANDS:
            quoted = json.dumps(command)
            for text in (f"{quoted} = 1", f"[[expected]]\n{quoted} = 1", f"[[expected]]\nid = {quoted}\nverdict = {quoted}",
                         f"[{quoted}.{quoted}]", f"x = [{command}", f"{command}"):
                (self.folder / command).write_text(text + "\n")
                self.said("check", CAPTURES / "usual.pcap", "--expect", command)
                self.said("run", "--profile", command, "--dry-run")

    def test_what_an_adapter_says(self):
        for command in COMMANDS:
            case = "IPOIB-4391-6-INV-001"
            text = f"{command}\n{command}".replace("'", "")
            for way in (">&2; exit 3", "; cat >/dev/null", ">&2; kill -9 $$"):
                self.said("run", "--listen", "port", "--dut", f"exec:printf '%s\\n' '{text}' {way}", "--timeout-scale",
                          "0.1", case)

    def test_what_the_lab_and_the_fleet_say(self):
        for folder, module in (("lab/host", "tools"), ("fleet", "watch")):
            def say(text, folder=folder, module=module):
                return self.said("-c", f"import sys; sys.path.insert(0, sys.argv[1]); import {module}; "
                                 f"{module}.say(sys.argv[2])", SOURCE / folder, text, program=sys.executable)

            for command in COMMANDS:
                for text in (f"a\n{command}", f"a {command}\r{command}"):
                    say(text)
            plain = "a ::1 # ## [x]\n # b: :"
            self.assertIn(plain, say(plain))
        for program in ("lab", "fleet"):
            for command in COMMANDS:
                self.said(SOURCE / "scripts" / program, f"a\n{command}", program=sys.executable)


if __name__ == "__main__":
    unittest.main()
