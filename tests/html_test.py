#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML report as people meet it: in a browser, on a phone, by keyboard, in the dark, on paper."""
import base64
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import unittest
import urllib.parse
from pathlib import Path

from browser import Browser
from program import CAPTURES, PROGRAM, SOURCE, Folder, conform, die_with_parent
from waiting import until

VISIBLE = "return [...document.querySelectorAll(arguments[0])].filter(e => e.offsetParent !== null).length"
# WCAG 2, 1.4.3: contrast of each element's text against what is behind it.
CONTRASTS = """
const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
const behind = (e) => { for (; e; e = e.parentElement) {
  const c = parse(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] > 0) return c; } return [255, 255, 255]; };
return arguments[0].flatMap((selector) => [...document.querySelectorAll(selector)].slice(0, 20).map((e) => {
  const style = getComputedStyle(e);
  const [a, b] = [light(parse(e.closest('svg') ? style.fill : style.color)), light(behind(e))].sort((x, y) => y - x);
  return [selector, (a + .05) / (b + .05)]; }));
"""
TEXTS = ["body", "small", "a", ".badge", ".outcome", ".message", ".packet .wrong th", ".packet ins", ".packet del", "mark",
         ".facts dt", "thead th", ".ladder text", ".differs"]


class Html(Folder):
    @classmethod
    def setUpClass(cls):
        cls.browser = cls.enterClassContext(Browser())

    def page(self, *arguments, code=1):
        path = self.folder / "report.html"
        run = conform(*arguments, "--html", path, "--quiet", cwd=self.folder)
        self.assertEqual(run.returncode, code, run.stderr)
        self.browser.open(path)
        if folder := os.environ.get("IPOIB_SCREENSHOTS"):
            self.browser.screenshot(f"{folder}/{self.id().rsplit('.', 1)[-1]}.png")
        return path

    def visible(self, selector):
        return self.browser.run(VISIBLE, selector)

    def linked(self, selector):
        """The file that a link names, which must be there."""
        href = self.browser.run("return document.querySelector(arguments[0]).href", selector)
        self.assertTrue(href.startswith("file:///"), href)
        path = Path(urllib.parse.unquote(href.removeprefix("file://")))
        self.assertTrue(path.exists(), path)
        return path

    def text(self, selector):
        return self.browser.run("return document.querySelector(arguments[0]).textContent", selector)

    def test_it_needs_nothing_else_and_complains_of_nothing(self):
        self.page("check", CAPTURES / "broken.pcap")
        self.assertEqual(self.browser.run("return performance.getEntriesByType('resource').length"), 0)
        self.assertEqual(self.browser.log(), [])
        self.assertEqual(self.browser.run("""
            const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
            const dead = [...document.querySelectorAll('a[href^="#"]')].map((a) => a.getAttribute('href').slice(1))
              .filter((id) => !document.getElementById(id));
            return [ids.length - new Set(ids).size, dead]"""), [0, []])

    def test_a_verdict_a_word_and_a_section_filter(self):
        path = self.page("check", CAPTURES / "broken.pcap", "--json", self.folder / "r.json")
        self.assertTrue(path.exists())
        results = json.loads((self.folder / "r.json").read_text())
        fails = sum(one["verdict"] == "FAIL" for one in results["results"])
        warnings = sum(one["verdict"] == "WARN" for one in results["results"])
        self.assertEqual(self.visible("#results tbody tr"), len(results["results"]))
        self.browser.click("#filter button[data-v=fail]")
        self.assertEqual(self.visible("#results tbody tr"), fails)
        self.assertEqual(self.visible("article"), fails)
        self.assertEqual(self.visible("#requirements tbody tr"),
                         sum(one["verdict"] == "FAIL" for one in results["requirements"]))
        self.browser.click("#filter button[data-v=warn]")
        self.assertEqual(self.visible("#results tbody tr"), fails + warnings)
        self.browser.click("#search")
        self.browser.type("reserved arp")
        self.assertGreater(self.visible("#results tbody tr"), 0)
        self.assertLess(self.visible("#results tbody tr"), fails)
        self.browser.click("#all")
        self.assertEqual(self.visible("#results tbody tr"), len(results["results"]))
        self.browser.click("#section option[value='RFC4391-6']")
        self.assertEqual(self.visible("#requirements tbody tr"),
                         sum(one["id"].startswith("RFC4391-6-") for one in results["requirements"]))
        self.assertIn(f"of {len(results['results'])} results", self.text("#shown"))

    def test_the_picture_filters(self):
        self.page("check", CAPTURES / "broken.pcap")
        self.browser.click("svg.coverage a[data-s='RFC4391-4'][data-v=fail]")
        self.assertEqual(self.visible("#requirements tbody tr"),
                         int(self.text("svg.coverage a[data-s='RFC4391-4'][data-v=fail] text")))

    def test_a_failure_is_followed_to_its_packet(self):
        self.page("run", "IPOIB-4391-6-*", "--dut", "mutant:reserved-not-zero", "--evidence", self.folder / "frames")
        self.browser.click("#results tr[data-v=fail] a")
        self.assertTrue(self.browser.run("return location.hash").startswith("#f"))
        self.assertTrue(self.browser.run("""
            const box = document.querySelector(location.hash).getBoundingClientRect();
            return box.top < innerHeight && box.bottom > 0"""))
        article = "article:target "
        self.assertEqual(self.text(article + ".wrong th"), "Reserved")
        self.assertIn("0x0", self.text(article + ".wrong ins"))
        self.assertGreater(self.visible(article + "svg.ladder .wrong"), 0)
        for party in ("tester", "DUT"):
            self.assertIn(party, self.text(article + "svg.ladder"))
        # The command and the links do what they say.
        words = self.text(article + ".command code").split()
        again = conform(*words[1:], cwd=self.folder)
        self.assertEqual(again.returncode, 1, again.stderr)
        link = self.browser.run("return document.querySelector(arguments[0]).getAttribute('href')",
                                article + "a[href$='.pcapng']")
        self.assertEqual(conform("check", self.folder / link, "--quiet").returncode, 1)
        data = self.browser.run("return document.querySelector(arguments[0]).href", article + "a[download]")
        frames = self.write("frames.pcapng", base64.b64decode(data.split(",", 1)[1]))
        self.assertEqual(conform("check", frames, "RULE-RFC4391-6-02", "--quiet").returncode, 1)

    def shows_the_article(self):
        until(lambda: self.browser.run("return !document.querySelector('article').hidden"), "article to be seen", 20)

    def test_what_a_link_points_at_is_shown_though_the_filter_hides_it(self):
        self.page("check", CAPTURES / "broken.pcap")
        self.browser.click("#filter button[data-v=pass]")
        self.assertEqual(self.visible("article"), 0)
        self.browser.run("location.hash = document.querySelector('article').id")
        self.shows_the_article()

    def test_of_a_long_list_the_first_are_shown_and_all_are_found(self):
        path = self.folder / "many.json"
        self.assertEqual(conform("check", CAPTURES / "broken.pcap", "--json", path).returncode, 1)
        run = json.loads(path.read_text())
        once, count = run["results"], 1700
        run["results"] = [{**once[i % len(once)], "id": f"{once[i % len(once)]['id']}-{i}"} for i in range(count)]
        path.write_text(json.dumps(run))
        self.page("merge", path)
        rows, more = "#results tbody tr", "#results .more button"
        self.assertEqual(self.visible(rows), 300)
        self.assertIn(f"{count} of {count} results", self.text("#shown"))
        self.assertEqual(self.text(more), "Show 1400 more")
        self.assertEqual(self.visible("#requirements .more button"), 0)
        # The filter looks at all of them.
        self.browser.click("#search")
        self.browser.type(f"{once[(count - 1) % len(once)]['id']}-{count - 1}")
        self.assertEqual(self.visible(rows), 1)
        self.assertEqual(self.visible(more), 0)
        self.browser.click("#all")
        self.assertEqual(self.visible(rows), 300)
        self.browser.click(more)
        self.assertEqual(self.visible(rows), count)
        self.assertEqual(self.visible(more), 0)
        self.browser.click("#all")
        self.assertEqual(self.visible(rows), 300)
        # A link to one of the others, and paper.
        self.browser.run("[...document.querySelectorAll(arguments[0])].at(-1).id = 'last'; location.hash = 'last'", rows)
        until(lambda: self.visible("#last"), "the last to be seen", 20)
        self.browser.click("#all")
        self.assertEqual(self.visible(rows), 300)
        self.browser.run("dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(self.visible(rows), count)
        self.browser.run("dispatchEvent(new Event('afterprint'))")
        self.assertEqual(self.visible(rows), 300)

    def test_the_keyboard_is_enough(self):
        self.page("check", CAPTURES / "broken.pcap")
        reached = set()
        for _ in range(40):
            self.browser.type("Tab")
            reached.add(self.browser.run("""const e = document.activeElement;
                return getComputedStyle(e).outlineStyle === 'none' ? 'unseen ' + e.outerHTML : e.tagName.toLowerCase()"""))
        self.assertLessEqual({"a", "button", "input", "select", "summary"}, reached)
        self.assertEqual([one for one in reached if one.startswith("unseen")], [])
        self.browser.type("/")
        self.browser.type("RFC4391-6-02")
        self.assertEqual(self.browser.run("return document.activeElement.id"), "search")
        shown = self.visible("article")
        self.browser.type("Escape")
        self.assertGreater(self.visible("article"), shown)

    def test_a_phone_needs_no_sideways_scrolling(self):
        self.browser.devtools("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=2, mobile=True)
        self.addCleanup(self.browser.devtools, "Emulation.clearDeviceMetricsOverride")
        for arguments in (("check", CAPTURES / "broken.pcap"), ("run", "IPOIB-4391-4-*", "--dut", "mutant:maps-32-bits")):
            self.page(*arguments)
            self.assertEqual(self.browser.run("return document.documentElement.scrollWidth"), 360)

    def test_text_can_be_read_by_day_and_by_night(self):
        backgrounds = set()
        self.addCleanup(self.browser.devtools, "Emulation.setEmulatedMedia", features=[])
        for scheme in ("light", "dark"):
            self.browser.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            self.page("check", CAPTURES / "broken.pcap")
            backgrounds.add(self.browser.run("return getComputedStyle(document.body).backgroundColor"))
            self.browser.run("for (const e of document.querySelectorAll('details')) e.open = true")
            measured = self.browser.run(CONTRASTS, TEXTS)
            self.assertEqual({selector for selector, _ in measured}, set(TEXTS))
            self.assertEqual([one for one in measured if one[1] < 4.5], [], scheme)
        self.assertEqual(len(backgrounds), 2)

    def test_paper_has_no_controls_and_what_was_found(self):
        self.page("run", "rfc4391/4", "--dut", "mutant:maps-32-bits")
        closed = "article details:not([open]):not(.layer)"
        self.assertGreater(self.visible(closed), 0)
        self.browser.run("""window.closed_then = -1;
            addEventListener('beforeprint', () => { window.closed_then = document.querySelectorAll(%r).length; });""" % closed)
        paper = base64.b64decode(self.browser.devtools("Page.printToPDF")["data"])
        self.assertTrue(paper.startswith(b"%PDF"))
        self.assertEqual(self.browser.run("return window.closed_then"), 0)
        self.assertGreater(self.visible(closed), 0)
        self.browser.devtools("Emulation.setEmulatedMedia", media="print")
        self.addCleanup(self.browser.devtools, "Emulation.setEmulatedMedia", media="")
        self.assertEqual(self.visible("#filter") + self.visible("nav") + self.visible("button.copy"), 0)
        self.assertEqual(self.visible(".layer:not([open])"), 0)
        self.assertGreater(self.visible("article"), 0)
        self.assertGreater(self.visible(".packet .wrong"), 0)
        self.assertEqual(self.visible(".finding .scroll") + self.visible("#results tr[data-v=pass]"), 0)

    def test_the_first_sheet_can_be_handed_to_a_buyer(self):
        """Claims, what was judged, what not and why, and what proves the judge, on one sheet of A4."""
        pages = [SOURCE / name for name in ("docs/kill-matrix.md", "reports/decisiveness.md", "docs/driver-mutants.md")]
        self.write("DUT.toml", b'[profile]\nmodes = ["datagram"]\nmtu = 2044\n')
        # 14 mm of 210 by 297 are margins; a CSS pixel is a 96th of an inch.
        sheet = {"width": round(182 / 25.4 * 96), "height": round(269 / 25.4 * 96)}
        self.addCleanup(self.browser.devtools, "Emulation.clearDeviceMetricsOverride")
        self.addCleanup(self.browser.devtools, "Emulation.setEmulatedMedia", media="")
        for arguments, code in ((["run", "--profile", "DUT.toml"], 0), (["run", "--dut", "mutant:reserved-not-zero"], 1),
                                (["check", CAPTURES / "broken.pcap"], 1)):
            with self.subTest(arguments=arguments):
                self.browser.devtools("Emulation.setEmulatedMedia", media="")
                self.page(*arguments, "--json", self.folder / "r.json", code=code)
                self.browser.devtools("Emulation.setEmulatedMedia", media="print")
                self.browser.devtools("Emulation.setDeviceMetricsOverride", **sheet, deviceScaleFactor=1, mobile=False)
                self.assertLessEqual(self.browser.run("""
                    return document.querySelector('#summary .proofs').getBoundingClientRect().bottom"""), sheet["height"])
                self.assertEqual(self.browser.run("return document.documentElement.scrollWidth"), sheet["width"])
                results = json.loads((self.folder / "r.json").read_text())
                self.assertEqual([one["revision"] for one in results["judge"]],
                                 [hashlib.sha256(page.read_bytes()).hexdigest()[:8] for page in pages])
                told = self.text("#summary .proofs")
                for proof in results["judge"]:
                    self.assertIn(proof["found"] + proof["page"] + " " + proof["revision"], told)
                    numbers = [number for number in re.findall(r"\b\d+\b", proof["found"]) if int(number) > 9]
                    self.assertGreater(len(numbers), 1, proof)
                    page = (SOURCE / proof["page"]).read_text()
                    self.assertEqual([number for number in numbers if number not in page], [])
                binding = [one for one in results["requirements"] if one["strength"] == "must"]
                kept = sum(one["verdict"] == "PASS" for one in binding)
                failed = sum(one["verdict"] == "FAIL" for one in binding)
                row = self.browser.run("""return [...document.querySelectorAll('#summary .judged .sum td')]
                    .map((e) => Number(e.textContent || 0))""")
                self.assertEqual(row[:3], [len(binding), kept, failed])
                self.assertEqual(sum(row[1:]), row[0])
                whys = self.browser.run("""return [...document.querySelectorAll('#summary .why tbody td:first-child')]
                    .reduce((sum, e) => sum + Number(e.textContent), 0)""")
                self.assertEqual(whys, row[-1])
                claims = dict(results.get("claims", {}))
                self.assertEqual(claims.get("IP MTU"), "2044" if "--profile" in arguments else claims.get("IP MTU"))
                for claim in claims.items():
                    self.assertIn("".join(claim), self.text("#summary .claims"))
                self.assertEqual("claims" in results, arguments[0] == "run")

    def test_thirty_findings_are_not_a_book(self):
        capture = self.folder / "many.pcap"
        subprocess.run([os.environ["IPOIB_GEN"], "malformed", "--count", "400", "--out", capture], check=True, timeout=60,
                       stderr=subprocess.DEVNULL)
        self.page("check", capture)
        self.assertGreaterEqual(self.visible("article"), 15)
        pages = len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(self.browser.devtools("Page.printToPDF")["data"])))
        self.assertLess(pages, self.visible("article"))

    def test_the_first_page_is_for_who_reads_no_further(self):
        before = self.folder / "before.json"
        conform("check", CAPTURES / "usual.pcap", "--json", before)
        self.page("check", CAPTURES / "broken.pcap", "--compare", before)
        self.assertTrue(self.browser.run("return document.querySelector('main').firstElementChild.id === 'summary'"))
        summary = self.text("#summary")
        for words in ("11 FAIL", "12 findings of 11 causes", "RFC4391 section 6", "11 worse"):
            self.assertIn(words, summary)
        self.assertEqual(self.browser.run("""return [...document.querySelectorAll('#summary td a')]
            .filter((e) => !document.querySelector(e.getAttribute('href'))).length"""), 0)

    def test_findings_of_one_cause_stand_together(self):
        self.page("run", "rfc4391/6", "--dut", "mutant:reserved-not-zero")
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('article')].map((e) => e.className)"),
                         ["finding fail", "finding fail same"])
        self.assertIn(self.text("article.same a[href^='#f']"), self.text("article h3"))
        self.assertEqual(self.visible("article.same .packet"), 0)

    def test_words_do_not_run_into_each_other_and_a_mutant_is_called_one(self):
        self.page("run", "rfc4391/4", "--dut", "mutant:maps-32-bits")
        self.assertNotRegex(self.text("#requirements"), r"-\d\d\d(?:profile|not-seen|tester|link|safety|inspection)")
        self.assertIn("mutant maps-32-bits", self.text("dl.facts"))
        self.assertNotIn("reference", self.text("dl.facts"))

    def test_hostile_names_are_text(self):
        name = "<img src=x onerror='window.hacked=1'>\"><script>window.hacked=1<!-- &lt; ]]>.pcap"
        shutil.copy(CAPTURES / "broken.pcap", self.folder / name)
        self.page("check", name)
        self.assertIsNone(self.browser.run("return window.hacked"))
        self.assertEqual(self.browser.run("return document.querySelectorAll('img, script').length"), 1)
        self.assertEqual(self.text("#captures tbody a"), name)
        self.assertEqual(self.linked("#captures tbody a"), self.folder / name)

    def test_a_pipe_is_judged_but_not_read_again(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        with subprocess.Popen(["cp", CAPTURES / "broken.pcap", pipe], preexec_fn=die_with_parent):
            self.page("check", pipe)
        self.assertGreater(self.visible("article"), 0)
        self.assertEqual(self.visible("svg.ladder"), 0)

    def test_links_lead_to_captures_wherever_the_report_is(self):
        (self.folder / "sub/deep").mkdir(parents=True)
        (self.folder / "out").mkdir()
        shutil.copy(CAPTURES / "broken.pcap", self.folder / "sub/in.pcap")
        for start, capture, report in (("sub", "in.pcap", "../out/r.html"), ("sub/deep", "../in.pcap", "r.html"),
                                       (".", "sub/in.pcap", self.folder / "out/r.html"),
                                       ("out", self.folder / "sub/in.pcap", "r.html")):
            with self.subTest(start=start, capture=capture, report=report):
                run = conform("check", capture, "--html", report, "--quiet", cwd=self.folder / start)
                self.assertEqual(run.returncode, 1, run.stderr)
                self.browser.open(self.folder / start / report)
                self.assertEqual(self.linked("#captures tbody a"), self.folder / "sub/in.pcap")
                self.assertEqual(self.linked("article a[href$='in.pcap']"), self.folder / "sub/in.pcap")
                self.assertNotIn(str(self.folder), self.browser.run(
                    "return document.querySelector('#captures tbody a').getAttribute('href')"))

    def test_commands_can_be_pasted_whatever_the_name(self):
        for name in ("two  blanks.pcap", "a\nb.pcap", "it's $HOME.pcap", "\udcff.pcap", "back\\slash\n'.pcap"):
            with self.subTest(name=name):
                shutil.copy(CAPTURES / "broken.pcap", os.fsencode(self.folder / name))
                self.page("check", name)
                command = self.browser.run("return document.querySelector('.command code').textContent")
                again = subprocess.run(["bash", "-c", command], cwd=self.folder, stdin=subprocess.DEVNULL, timeout=60,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
                self.assertEqual(again.returncode, 1, again.stdout)

    def test_a_rule_that_a_run_found_broken_is_repeated_too(self):
        self.page("run", "rfc4391/4", "--dut", "mutant:maps-32-bits")
        for article in self.browser.run("""return [...document.querySelectorAll('article')].map((e) =>
                [e.querySelector('h3').textContent, e.querySelector('.command code').textContent])"""):
            again = conform(*article[1].split()[1:], cwd=self.folder)
            self.assertEqual(again.returncode, 5 if article[0].startswith("INCONC") else 1, article)
            self.assertIn(article[0].split()[1], again.stdout)

    def test_an_interrupted_run_still_shows_its_findings(self):
        path = self.folder / "report.html"
        with subprocess.Popen([PROGRAM, "run", "--dut", "mutant:maps-32-bits", "rfc4391/4", "--repeat", "10000", "--html", path],
                              stdout=subprocess.DEVNULL, preexec_fn=die_with_parent,
                              env={**os.environ, "TMPDIR": str(self.folder)}) as run:
            until(lambda: len(list(self.folder.glob("ipoib-*/IPOIB-4391-4-VAL-003*.pcapng"))) >= 2, "second evidence")
            run.send_signal(signal.SIGINT)
            self.assertEqual(run.wait(timeout=120), 3)
        self.browser.open(path)
        self.assertGreater(self.visible("article[data-v=fail] svg.ladder"), 0)

    def test_a_link_is_followed_again(self):
        self.page("check", CAPTURES / "broken.pcap")
        self.browser.click("#results tr[data-v=fail] a")
        self.browser.click("#filter button[data-v=pass]")
        self.assertEqual(self.visible("article"), 0)
        self.browser.run("document.querySelector('#results tr[data-v=fail] a').click()")
        self.shows_the_article()

    def test_no_room_for_frames_changes_no_verdict(self):
        if subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("no file system can be mounted here")
        room = self.folder / "room"
        room.mkdir()
        # A file system of its own, which is gone with the program.
        small = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=20k none "$TMPDIR" && exec "$@"', "sh"]
        run = subprocess.run([*small, PROGRAM, "run", "rfc4391/4", "--dut", "mutant:maps-32-bits", "--html",
                              self.folder / "r.html", "--json", self.folder / "r.json", "--quiet"],
                             env={**os.environ, "TMPDIR": str(room)}, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, timeout=60, check=False)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("no room in the temporary folder", (self.folder / "r.json").read_text())
        self.assertNotIn(str(room), (self.folder / "r.json").read_text())
        for where in ("/nonexistent", "/proc"):
            run = conform("run", "IPOIB-4391-6-VAL-001", "--html", self.folder / "r.html", env={**os.environ, "TMPDIR": where})
            self.assertEqual(run.returncode, 2)
            self.assertIn("TMPDIR", run.stderr)

    def test_a_run_is_compared(self):
        before, baseline = self.folder / "before.json", self.folder / "known.toml"
        self.assertEqual(conform("check", CAPTURES / "usual.pcap", "--json", before).returncode, 0)
        baseline.write_text('[[expected]]\nid = "RULE-RFC4391-6-02"\nverdict = "FAIL"\nreason = "BUG-17"\n')
        self.page("check", CAPTURES / "broken.pcap", "--compare", before, "--expect", baseline)
        self.assertIn("BUG-17", self.text("#comparison"))
        self.assertIn("worse: RULE-RFC4391-4-05 PASS -> FAIL.STATED", self.text("#comparison"))
        self.assertEqual(conform("check", CAPTURES / "usual.pcap", "--compare", self.folder / "none.json").returncode, 2)
        self.assertEqual(conform("check", CAPTURES / "usual.pcap", "--compare", before, "--html", before).returncode, 2)
        alone = conform("check", CAPTURES / "usual.pcap", "--compare", before)
        self.assertEqual(alone.returncode, 2)
        self.assertIn("--html is missing", alone.stderr)

    def test_a_run_leaves_nothing_but_the_report(self):
        environment = {**os.environ, "TMPDIR": str(self.folder)}
        path = self.folder / "report.html"
        run = conform("run", "IPOIB-4391-4-*", "--dut", "mutant:maps-32-bits", "--html", path, "--json",
                      self.folder / "r.json", "--quiet", env=environment)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertEqual(sorted(one.name for one in self.folder.iterdir()), ["r.json", "report.html"])
        self.assertNotIn(str(self.folder / "ipoib-"), (self.folder / "r.json").read_text() + path.read_text())


if __name__ == "__main__":
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        print("chromium or chromedriver (package chromium-driver) is missing")
        sys.exit(77)
    unittest.main()
