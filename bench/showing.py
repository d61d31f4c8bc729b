# SPDX-License-Identifier: GPL-2.0-or-later
"""How long people wait: for a command to begin, and for a page to answer."""
import json
import os
import re
import shutil
import sys

from measuring import CAPTURES, TOP, Bench, cost, removed

# What a command is given that has next to nothing to do; the others tell their help.
LITTLE = {"version": [], "list": [], "requirements": [], "explain": ["RFC4391-6-02"], "manual": [], "completion": [], "help": [],
          "check": [CAPTURES / "conformant.pcap"], "links": [CAPTURES / "conformant.pcap"],
          "decode": [f"{CAPTURES / 'conformant.pcap'}#1"], "run": ["--quiet", "IPOIB-4391-6-001"], "explore": ["--seeds", "1"]}
TRIES = 7


def commands(bench: Bench):
    """Elapsed time, beside that of a program that does nothing."""
    names = re.findall(r"^  ([a-z]+) {2,}", cost([bench.conform, "--help"], keeps=True).said.split("Commands:")[1], re.M)
    programs = {name: [bench.conform, name, *LITTLE.get(name, ["--help"])] for name in names}
    programs |= {"true": ["true"], "ipoib-gen": [bench.gen, "--version"]}
    elapsed = {}
    for _ in range(TRIES if bench.is_short else TRIES * bench.repeat):
        for name, command in programs.items():
            once = cost(command, codes=range(256)).elapsed
            elapsed[name] = min(elapsed.get(name, once), once)
    base = elapsed.pop("true")
    for name, one in sorted(elapsed.items(), key=lambda item: item[1]):
        bench.tell(f"start-up of {name}", one / base, "x true", f"start-up: {name}")


# From a key or click until what is then shown has been laid out and is about to be painted, in milliseconds.
ASK = """
const [selector, value] = arguments;
const field = document.querySelector(selector), began = performance.now();
if (value !== null) {
  field.value = value;
  field.dispatchEvent(new Event('input', {bubbles: true}));
} else field.click();
document.body.getBoundingClientRect();
return performance.now() - began;
"""
NOTICED = 100  # milliseconds: less is taken for at once


def _results(bench: Bench, count):
    """Those of a whole run against a stack that is wrong, again and again under other names."""
    path = bench.folder / "run.json"
    cost([bench.conform, "run", "--quiet", "--dut", "mutant:reserved-not-zero", "--json", path], codes=(0, 1, 3, 5))
    run = json.loads(path.read_text())
    once = run["results"]
    run["results"] = [{**once[i % len(once)], "id": f"{once[i % len(once)]['id']}-{i // len(once)}"} for i in range(count)]
    path.write_text(json.dumps(run))
    return path


def pages(bench: Bench):
    """An HTML report of more and more results: making it, its size, and filtering it in a browser."""
    if not shutil.which("chromedriver"):
        print("HTML: no browser (chromium, chromium-driver)")
        return
    sys.path.insert(0, str(TOP / "tests"))
    os.environ |= {"IPOIB_CONFORM": str(bench.conform), "IPOIB_SOURCE_DIR": str(TOP)}
    from browser import Browser  # which wants to know them

    page, base = bench.folder / "report.html", None
    with removed(page, bench.folder / "run.json"), Browser() as browser:
        for count in (1000, 3000, 10000):
            made = cost([bench.conform, "merge", _results(bench, count), "--html", page, "--quiet"], codes=(0, 1, 3, 5)).user
            base = base or made / count
            bench.tell(f"HTML of {count} results", made / count / base, "x the CPU of a result in the smallest",
                       f"HTML: {count} results")
            print(f"HTML of {count} results: {page.stat().st_size / 1e6:.1f} MB")
            browser.open(page)
            for what, selector, value in (("first word", "#search", "mtu"), ("another", "#search", "mtu join"),
                                          ("none", "#search", ""), ("a verdict", "button[data-v]", None),
                                          ("all again", "#all", None)):
                took = browser.run(ASK, selector, value)
                bench.tell(f"... filtered: {what}", took / NOTICED, "of what people notice",
                           f"HTML: {count} results, filtered: {what}")
