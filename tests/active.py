# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of active runs share: a run and its results, a case, a mutant, an adapter that breaks."""
import json

from program import Folder, conform

CASE = "IPOIB-4391-6-INV-001"  # checks RFC4391-6-02, which the mutant breaks, and RFC4391-6-03
MUTANT = ("--dut", "mutant:reserved-not-zero")


class Active(Folder):
    def results(self, *arguments, code=0):
        """The results of a run, after its exit code was what it should be."""
        path = self.folder / "results.json"
        run = conform("run", *arguments, "--json", path)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return json.loads(path.read_text())

    def verdicts(self, *arguments, code=0):
        return {r["id"]: r["verdict"] for r in self.results(*arguments, code=code)["results"]}

    def refuse(self, words, *arguments):
        run = conform("run", *arguments)
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        self.assertIn(words, run.stderr)


# Does what its first argument says at the first request for the interface (or at the probe), as long as the file of the
# second argument is there; the file is gone after the first time.
BREAKING_ADAPTER = '''
import json, os, signal, sys
way, once = sys.argv[1:3]
breaks = os.path.exists(once)
def say(answer): print(json.dumps(answer), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["do"] == "hello":
        say({"id": asked["id"], "ok": True, "protocol": 1, "name": "breaking", "can": []})
    elif breaks and (asked["do"] == "interface" or way == "lie"):
        os.remove(once)
        breaks = False
        if way == "die": sys.exit(7)
        if way == "hang": signal.pause()
        if way == "flood": sys.stdout.write("x" * (1 << 20) + "\\n"); sys.stdout.flush()
        if way == "lie": say({"id": asked["id"], "ok": True})
        if way == "babble": print("hello!", flush=True)
    else:
        say({"id": asked["id"], "error": "unsupported"})
'''
