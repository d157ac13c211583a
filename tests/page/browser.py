"""A browser without a window, spoken to over a pipe as its own tools do (the DevTools protocol); needs nothing but the browser."""

import base64
import json
import os
import shutil
import subprocess
import tempfile

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find():
    """The browser's path, from JUMAR_BROWSER or the usual names; None where there is none."""
    return os.environ.get("JUMAR_BROWSER") or next((path for path in map(shutil.which, NAMES) if path), None)


class Page:
    """One page of a browser of its own. What the page writes to its console as an error is in `errors`."""

    def __init__(self, path, url, size=(1360, 900)):
        to_browser, self.write = os.pipe()
        self.read, from_browser = os.pipe()
        # The browser wants the pipe at 3 and 4.
        shell = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            [
                "bash", "-c", shell, path, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
                "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions", "--disable-background-networking",
                f"--user-data-dir={self.folder.name}", f"--window-size={size[0]},{size[1]}", "about:blank",
            ],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={k: v for k, v in os.environ.items() if not k.startswith(("LD_", "JUMAR_"))},
        )
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.rest, self.session, self.errors = 0, b"", None, []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime"):
            self.send(f"{domain}.enable")
        self.send(
            "Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False
        )
        self.send("Page.navigate", url=url)
        self.wait_for("Page.loadEventFired")

    def message(self):
        while b"\0" not in self.rest:
            part = os.read(self.read, 1 << 20)
            if not part:
                raise AssertionError(f"the browser ended with {self.process.wait()}")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        if message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(message["params"]["exceptionDetails"])
        return message

    def wait_for(self, method):
        while self.message().get("method") != method:
            pass

    def send(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]

    def run(self, code):
        """The value of an expression in the page; a promise's when it is kept."""
        answer = self.send("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_for_frame(self):
        """Waits until the page has drawn its next frame."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")

    def mouse(self, kind, x, y, **more):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)
        self.wait_for_frame()

    def wheel(self, x, y, delta):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=delta)
        self.wait_for_frame()

    def drag(self, x, y, to):
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseMoved", to, y, button="left")
        self.mouse("mouseReleased", to, y, button="left", clickCount=1)
        self.wait_for_frame()

    def type(self, text):
        self.send("Input.insertText", text=text)
        self.wait_for_frame()

    def key(self, name):
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=name, code=name, text="\r" if name == "Enter" else "")
        self.wait_for_frame()

    def screenshot(self, path):
        answer = self.send("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(answer["data"]))

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.write)
        os.close(self.read)
        self.folder.cleanup()
