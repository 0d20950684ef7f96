# SPDX-License-Identifier: Apache-2.0
"""A browser without a window, driven over its debugging pipe; nothing but Chromium is needed."""
import json
import os
import shutil
import subprocess
import tempfile
import time


def find():
    """The browser's program; None if there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One page in a browser of its own."""

    def __init__(self, width=1200, height=900):
        # Its helpers may still be writing there when it has ended.
        self.home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        own_in, theirs_out = os.pipe()
        theirs_in, own_out = os.pipe()

        def place():
            # Above 4 first: what is copied must not be what is overwritten.
            high_in, high_out = os.dup2(theirs_in, 100), os.dup2(theirs_out, 101)
            os.dup2(high_in, 3)
            os.dup2(high_out, 4)

        self.process = subprocess.Popen(  # pylint: disable=consider-using-with,subprocess-popen-preexec-fn
            [find(), "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             f"--window-size={width},{height}", f"--user-data-dir={self.home.name}", "about:blank"],
            preexec_fn=place, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.out = os.fdopen(own_out, "wb", buffering=0)
        self.inp = own_in
        self.buffer, self.number, self.session, self.problems = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log":
            self.call(f"{domain}.enable")

    def _read(self):
        while b"\0" not in self.buffer:
            more = os.read(self.inp, 1 << 16)
            if not more:
                raise EOFError("the browser is gone")
            self.buffer += more
        line, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(line)

    def _heard(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(str(params["exceptionDetails"].get("exception", params)))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.problems.append(str(params["args"]))

    def call(self, method, **params):
        """Asks the browser and waits for the answer."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self.out.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._heard(answer)

    def value(self, expression):
        """What an expression is in the page."""
        return self.call("Runtime.evaluate", expression=expression,
                         returnByValue=True)["result"].get("value")

    def wait(self, expression, seconds=20):
        """Waits until it is true; whether it became so."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.value(expression):
                return True
            time.sleep(0.05)
        return False

    def mouse(self, kind, x, y, **more):
        """A real event of the mouse."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def close(self):
        """Ends the browser."""
        self.process.terminate()
        self.process.wait(timeout=20)
        self.out.close()
        os.close(self.inp)
        self.home.cleanup()
