# SPDX-License-Identifier: GPL-2.0-or-later
"""A headless Chromium, driven by the WebDriver protocol (W3C) over loopback."""
import base64
import contextlib
import json
import re
import signal
import subprocess
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from program import die_with_parent

ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"]
# Loopback needs no proxy.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c"}


class Browser:
    """One window. Ends with its context, and with this program."""

    def __enter__(self):
        with contextlib.ExitStack() as cleanup:
            folder = Path(cleanup.enter_context(tempfile.TemporaryDirectory(prefix="ipoib-browser-",
                                                                            ignore_cleanup_errors=True)))
            driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                      text=True, preexec_fn=die_with_parent, start_new_session=True)
            cleanup.callback(driver.communicate, timeout=30)
            cleanup.callback(driver.send_signal, signal.SIGTERM)
            ports = (re.search(r"successfully on port (\d+)", line) for line in driver.stdout)
            port = next((found[1] for found in ports if found), None)
            if port is None:
                raise AssertionError("chromedriver has ended")
            self._url = f"http://127.0.0.1:{port}/session"
            # The browser ends with its driver, however that ends.
            program = folder / "chromium"
            program.write_text('#!/bin/sh\nexec setpriv --pdeathsig KILL -- /usr/bin/chromium "$@"\n')
            program.chmod(0o755)
            options = {"binary": str(program), "args": [*ARGUMENTS, f"--user-data-dir={folder / 'profile'}"]}
            wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            self._url += "/" + self._ask("", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
            cleanup.callback(self._ask, "", method="DELETE")
            self._cleanup = cleanup.pop_all()
        return self

    def __exit__(self, *_):
        self._cleanup.close()

    def _ask(self, path, body=None, method=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with _OPENER.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()) from None

    def open(self, path):
        self._ask("/url", {"url": Path(path).resolve().as_uri()})

    def run(self, script, *arguments):
        """Runs the body of a function; what it returns."""
        return self._ask("/execute/sync", {"script": script, "args": list(arguments)})

    def click(self, selector):
        element = self._ask("/element", {"using": "css selector", "value": selector})[_ELEMENT]
        self._ask(f"/element/{element}/click", {})

    def type(self, text):
        """Into what has the focus; names of KEYS are keys."""
        keys = [KEYS[text]] if text in KEYS else list(text)
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._ask("/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def devtools(self, command, **parameters):
        return self._ask("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def log(self):
        """What the page has complained of."""
        return [entry["message"] for entry in self._ask("/se/log", {"type": "browser"})]

    def screenshot(self, path):
        Path(path).write_bytes(base64.b64decode(self._ask("/screenshot")))
