# SPDX-License-Identifier: BSD-3-Clause
"""A small client for Chromium's DevTools protocol over its debugging pipe: no driver, no further library."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-default-apps", "--hide-scrollbars", "--mute-audio",
    "--allow-file-access-from-files", "--remote-debugging-pipe",
)  # fmt: skip


def find() -> str | None:
    """The browser on this machine; CARTOGRAPHER_CHROMIUM names another."""
    named = os.environ.get("CARTOGRAPHER_CHROMIUM")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


class Failed(AssertionError):  # noqa: N818 - what a test says
    """The browser answered with an error."""


class Chromium:
    """One browser with one page."""

    def __init__(self, executable: str) -> None:
        self.profile = tempfile.mkdtemp(prefix="cartographer-browser-")
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()

        def wire() -> None:
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self._process = subprocess.Popen(
            [executable, *FLAGS, f"--user-data-dir={self.profile}", "about:blank"],
            preexec_fn=wire,  # noqa: PLW1509 - the pipe must be at 3 and 4
            pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        self._number, self._buffer, self.session = 0, b"", ""
        self.events: list[dict] = []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next((t["targetId"] for t in targets if t["type"] == "page"), None) or self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def close(self) -> None:
        """End the browser that this client started."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method: str, timeout: float = 60, **parameters: object) -> dict:
        """One command, and its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + timeout
        while (answer := self._next(end)) is not None:
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise Failed(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)
        raise Failed(f"{method}: no answer within {timeout} s")

    def _next(self, end: float) -> dict | None:
        while b"\0" not in self._buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self._in], [], [], left)[0]:
                return None
            data = os.read(self._in, 1 << 16)
            if not data:
                raise Failed("the browser ended")
            self._buffer += data
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def wait_for(self, event: str, timeout: float = 60) -> dict:
        """The next event of that name."""
        end = time.monotonic() + timeout
        while True:
            for number, seen in enumerate(self.events):
                if seen.get("method") == event:
                    del self.events[number]
                    return seen["params"]
            found = self._next(end)
            if found is None:
                raise Failed(f"{event} did not come within {timeout} s")
            self.events.append(found)

    # What tests do -----------------------------------------------------------------------------

    def size(self, width: int, height: int = 900) -> None:
        """Set the window."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def dark(self, dark: bool) -> None:
        """Prefer dark or light, as the system would."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def scripts(self, on: bool) -> None:
        """Run the page's scripts or not."""
        self.call("Emulation.setScriptExecutionDisabled", value=not on)

    def open(self, address: str) -> None:
        """Go to an address and wait until it is there."""
        self.events = []
        answer = self.call("Page.navigate", url=address)
        if answer.get("errorText"):
            raise Failed(f"{address}: {answer['errorText']}")
        if "loaderId" in answer:  # not a mere jump to an anchor; the load of an earlier page may still be reported
            while (seen := self.wait_for("Page.lifecycleEvent"))["name"] != "load" or seen["loaderId"] != answer["loaderId"]:
                continue

    def run(self, expression: str) -> object:
        """The value of a JavaScript expression; promises are waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Failed(str(answer["exceptionDetails"].get("exception", answer["exceptionDetails"])))
        return answer["result"].get("value")

    def until(self, expression: str, timeout: float = 30) -> object:
        """Wait until an expression is true; what it throws before then (a page gives way to another, a part is not there yet) is only told if it never is."""
        end, last = time.monotonic() + timeout, ""
        while True:
            try:
                if value := self.run(expression):
                    return value
                last = ""
            except Failed as error:
                last = f" ({error})"
            if time.monotonic() > end:
                raise Failed(f"never true: {expression}{last}")
            time.sleep(0.02)

    def press(self, key: str, modifiers: int = 0) -> None:
        """One key, as a reader would press it."""
        codes = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "Backspace": 8}
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        common = {"key": key, "modifiers": modifiers, "windowsVirtualKeyCode": codes.get(key, ord(key.upper()) if len(key) == 1 and key.isalnum() else 0)}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **common, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, words: str) -> None:
        """Several keys."""
        for key in words:
            self.press(key)

    def picture(self, path: Path, whole: bool = True) -> None:
        """Save what is seen."""
        import base64

        answer = self.call("Page.captureScreenshot", captureBeyondViewport=whole, format="png")
        path.write_bytes(base64.b64decode(answer["data"]))

    def troubles(self) -> list[str]:
        """Errors that the page reported, and requests that left the folder, since it was opened."""
        self.run("1")
        found = []
        for event in self.events:
            name, what = event.get("method"), event.get("params", {})
            if name == "Runtime.exceptionThrown":
                found.append("exception: " + what["exceptionDetails"].get("text", "") + str(what["exceptionDetails"].get("exception", {}).get("description", "")))
            elif name == "Log.entryAdded" and what["entry"]["level"] == "error":
                found.append(f"log: {what['entry']['text']} {what['entry'].get('url', '')}")
            elif name == "Runtime.consoleAPICalled" and what["type"] in ("error", "assert"):
                found.append(f"console: {what['args']}")
            elif name == "Network.requestWillBeSent" and not what["request"]["url"].startswith(("file:", "data:", "about:")):
                found.append(f"request: {what['request']['url']}")
        return found
