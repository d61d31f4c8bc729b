#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the documents say runs, and what the suite says of itself is up to date."""
import os
import re
import subprocess
import unittest
from pathlib import Path

from program import CAPTURES, PROGRAM, SOURCE, Folder, conform

# The longest command of all: what it writes is held against the pages, too, and it runs once.
WHOLE_SELFTEST = "ipoib-conform selftest --full --json matrix.json --markdown matrix.md --pages ."
GENERATOR = str(Path(os.environ["IPOIB_GEN"]).resolve())


# Ids of requirements, rules and cases; verdicts; counts of what is judged.
FACT = re.compile(r"\b(?:RULE-|IPOIB-)?(?:RFC\d+|UDMC|IBA|\d{4})-[\w.-]*\w|\b(?:PASS|FAIL|WARN|INCONC|ERROR|NA)\b"
                  r"|\b\d+ of \d+\b|`[a-z0-9-]+`")


def facts(page):
    """What a page says, but for the words: of a table each cell's ids, verdicts and names, or the cell itself where it is
    one word; of prose its ids, verdicts and names. Headings are words, where links lead is tested below, and frames are
    shown as an example only."""
    found = []
    for pattern, flags in ((r"^```.*?^```$", re.DOTALL), (r"^\|.*\n\|[-|]+\n", 0), (r"(?<=\])\([^)\n]*\)", 0)):
        page = re.sub(pattern, "", page, flags=re.MULTILINE | flags)
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else [line]
        for cell in cells:
            is_word = len(cells) > 1 and re.fullmatch(r"\S+", cell)
            found.append((cell,) if is_word else tuple(FACT.findall(cell)))
    return [some for some in found if some]


class Written(Folder):
    """By the suite itself: as long as the whole selftest."""

    def test_the_pages_that_the_suite_writes_about_itself_are_up_to_date(self):
        (self.folder / "docs/cases").mkdir(parents=True)
        (self.folder / "reports").mkdir()
        (self.folder / "reports/coverage.md").write_text(conform("requirements", "--markdown").stdout)
        # As docs/running.md says, but where.
        words = WHOLE_SELFTEST.replace("matrix.md", "docs/kill-matrix.md").replace("--pages .", "--pages docs/cases")
        run = conform(*words.split()[1:], cwd=self.folder, timeout=1100)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("    " + WHOLE_SELFTEST, (SOURCE / "docs/running.md").read_text())
        run = conform("explore", "--dut", "sa", "--mutants", "--markdown", "docs/sa-lapses.md", cwd=self.folder, timeout=300)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        made = {path.relative_to(self.folder) for path in self.folder.rglob("*.md")}
        kept = {path.relative_to(SOURCE) for path in (SOURCE / "docs/cases").iterdir()}
        kept |= {Path("reports/coverage.md"), Path("docs/kill-matrix.md"), Path("docs/sa-lapses.md")}
        self.assertEqual(kept, made, "run scripts/update-docs")
        for path in sorted(made):
            with self.subTest(page=path):
                kept, written = facts((SOURCE / path).read_text()), facts((self.folder / path).read_text())
                self.assertGreater(len(written), 3)
                self.assertEqual(kept, written, "run scripts/update-docs")


class Documentation(Folder):
    def test_what_counts_as_a_fact_of_a_page(self):
        page = "It is 3 of 4. See [IPOIB-4391-6-VAL-001](x/y.md).\n\n| a | b | c |\n|---|---|---|\n"
        page += "| `arp-silent` | says no | MUST |\n"
        self.assertEqual(facts(page), [("3 of 4", "IPOIB-4391-6-VAL-001"), ("`arp-silent`",), ("MUST",)])
        for old, new in (("says no", "is silent"), ("It is", "There are"), ("x/y.md", "z.md"), ("| a", "| c")):
            self.assertEqual(facts(page.replace(old, new)), facts(page))
        for old, new in (("3 of", "2 of"), ("6-VAL", "6-INV"), ("MUST", "stmt"), ("arp-silent", "arp-loud"), ("says", "FAIL")):
            self.assertNotEqual(facts(page.replace(old, new)), facts(page))

    def test_every_command_in_the_readme_and_docs_runs(self):
        """Lines indented by four blanks that begin with ipoib-conform, ipoib-gen or cc, in order, in a folder with the
        samples."""
        for document in [SOURCE / "README.md", *sorted((SOURCE / "docs").rglob("*.md"))]:
            folder = self.folder / str(document.relative_to(SOURCE)).replace("/", "-")
            folder.mkdir()
            for name in ("captures", "implementations", "lab", "samples"):
                (folder / name).symlink_to(SOURCE / name)
            (folder / "x.pcap").symlink_to(CAPTURES / "broken.pcap")
            (folder / "groups.txt").write_text('[{"mgid": "ff12:401b:8123::ffff:ffff", "qkey": "0x80000b1b"}]')
            for name in ("before.json", "after.json"):
                conform("check", CAPTURES / "usual.pcap", "--json", folder / name)
            for line in document.read_text().splitlines():
                if not line.startswith(("    ipoib-conform ", "    ipoib-gen ", "    cc ")) or line.strip() == WHOLE_SELFTEST:
                    continue
                with self.subTest(document=document.name, line=line):
                    words = line.split(" #", 1)[0]
                    words = words.replace("ipoib-conform", PROGRAM, 1).replace("    ipoib-gen", GENERATOR)
                    if words.endswith(" &"):
                        self.start(words.removesuffix(" &"), folder)
                        continue
                    run = subprocess.run(["bash", "-c", words], cwd=folder, stdin=subprocess.DEVNULL,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                         text=True, timeout=300)  # a whole selftest under sanitizers
                    # A host without an adapter has no port that can be used.
                    # An entry without a reason is refused.
                    allowed = (2,) if "--expect known.toml" in line else (0, 4) if line.endswith(" devices") else (0, 1)
                    if "ipoib-gen" in line and "verbs:mlx5" in line:
                        self.assertRegex(run.stderr, "mlx5_[01]|no InfiniBand")
                        allowed = (2, 3)
                    self.assertIn(run.returncode, allowed, run.stderr)
                    self.finish()

    def test_the_readme_shows_what_is_printed(self):
        """A block behind a command: its lines, in order, with "..." for others between."""
        text = (SOURCE / "README.md").read_text()
        shown = re.findall(r"^    (ipoib-conform .*)\n\n```\n((?:.*\n)*?)```$", text, re.MULTILINE)
        self.assertTrue(shown)
        for command, block in shown:
            run = conform(*command.split()[1:], cwd=SOURCE)
            rest = run.stdout.splitlines()
            follows = False
            for line in block.splitlines():
                if line == "...":
                    follows = False
                    continue
                self.assertIn(line, rest[:1] if follows else rest)
                rest = rest[rest.index(line) + 1:]
                follows = True

    def test_code_that_the_pages_show_is_there(self):
        """A block whose first line names a file: its lines, in order and but for blanks, with "..." for others between."""
        count = 0
        for document in sorted((SOURCE / "docs").glob("adding-*.md")):
            for name, block in re.findall(r"^ *```cpp\n *// (\S+\.[ch]pp)\n(.*?)^ *```$", document.read_text(),
                                          re.MULTILINE | re.DOTALL):
                count += 1
                rest = " ".join((SOURCE / name).read_text().split())
                for line in block.splitlines():
                    words = " ".join(line.split())
                    if words in ("", "..."):
                        continue
                    self.assertIn(words, rest, f"{document.name}: {name}")
                    rest = rest[rest.index(words) + len(words):]
        self.assertGreater(count, 3)

    def test_quickstart_gives_verdicts_and_reports(self):
        run = subprocess.run([SOURCE / "scripts/quickstart", "--build", Path(PROGRAM).parent, "--report", self.folder],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300,
                             check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        for name in ("capture.html", "suite.html", "suite.xml", "suite.json"):
            self.assertGreater((self.folder / name).stat().st_size, 0)
            self.assertIn(name, run.stdout)
        self.assertTrue(any((self.folder / "evidence").iterdir()))

    def test_the_pages_on_adding_name_what_is_there(self):
        """In backquotes: files, and names that the code has, with an example for NAME; of the code that a page shows, the
        members of its structs."""
        for page, example, folders, struct, least in (
                ("a-report-format", "tap", ["reports"], "Format", {"name", "help", "documents"}),
                ("a-fabric", "verbs", ["conformance/target", "fabric"], "FabricKind", {"scheme", "forms", "open"}),
                ("a-command", "diff", ["conformance", "tests"], "Command", {"name"}),
                ("a-rule", "", ["protocol", "conformance", "cmake"], "Rule", {"id", "checks", "needs", "evidence", "holds"}),
                ("a-case", "", ["conformance", "stack", "fabric"], "Case|Mutant", {"id", "checks", "steps", "breaks"})):
            text = (SOURCE / f"docs/adding-{page}.md").read_text()
            shown = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
            code = "".join(path.read_text() for folder in folders for path in sorted((SOURCE / folder).rglob("*"))
                           if path.suffix in (".cpp", ".hpp", ".py", ".txt", ".cmake"))
            for name in re.findall(r"`([^`\n ]+)`", shown.sub("", text)):
                with self.subTest(page=page, name=name):
                    name = name.replace("HAS_NAME", f"HAS_{example.upper()}").replace("NAME", example)
                    if "/" in name:
                        self.assertTrue(any((SOURCE / folder / name).exists() for folder in ["", *folders]))
                    elif not re.search(r"\.xml$|^--|^ipoib-", name):
                        word = re.findall(r"[A-Za-z_]\w*", re.split("[(<]", name)[0])[-1]
                        self.assertTrue(re.search(rf"\b{word}\b", code), "the code has no such name")
            declaration = "".join(re.findall(rf"^struct (?:{struct}) \{{\n.*?^}};", code, re.MULTILINE | re.DOTALL))
            members = set(re.findall(r"[ {]\.(\w+) =", "".join(shown.findall(text))))
            self.assertLessEqual(least, members)
            for member in members:
                self.assertIn(member, re.findall(r"\w+", declaration))

    def test_links_between_the_documents_resolve(self):
        for document in [SOURCE / "README.md", SOURCE / "reports/coverage.md", *sorted((SOURCE / "docs").rglob("*.md"))]:
            prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)
            for target in re.findall(r"\]\(([^)#]+)", prose):
                if "://" not in target:
                    self.assertTrue((document.parent / target).exists(), f"{document.name}: {target}")

    def test_every_script_that_the_readme_names_is_there(self):
        for document in [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]:
            for name in re.findall(r"^    (scripts/[\w-]+)", document.read_text(), re.MULTILINE):
                self.assertTrue(os.access(SOURCE / name, os.X_OK), f"{document.name}: {name}")

    started = None

    def start(self, words, folder):
        """What goes on while the next line runs, from when it says so."""
        self.started = subprocess.Popen(["bash", "-c", "exec " + words], cwd=folder, stdin=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.started.stderr.close)
        self.addCleanup(self.started.kill)
        self.started.stderr.readline()

    def finish(self):
        if self.started:
            _, said = self.started.communicate(timeout=60)
            self.assertEqual(self.started.returncode, 0, said)
            self.started = None


if __name__ == "__main__":
    unittest.main()
