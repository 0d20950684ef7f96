# SPDX-License-Identifier: Apache-2.0
"""Firefox without a window, driven by its Marionette protocol; nothing but Firefox is needed. The same questions as to browser.Browser."""
import base64
import json
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

import page_check


def find():
    """The program; None if there is none."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox:
    """One page in a Firefox of its own."""

    def __init__(self):
        self.home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        home = pathlib.Path(self.home.name)
        # Port 0: Firefox chooses one and writes it into its profile.
        (home / "user.js").write_text('user_pref("marionette.port", 0);\nuser_pref("datareporting.policy.dataSubmissionEnabled", false);\n'
                                      'user_pref("ui.systemUsesDarkTheme", 0);\n', encoding="ascii")
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [find(), "--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", str(home)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={"HOME": str(home), "PATH": "/usr/bin:/bin", "MOZ_HEADLESS": "1"})
        port = home / "MarionetteActivePort"
        end = time.monotonic() + 120
        while not (port.exists() and port.read_text(encoding="ascii").strip()) and time.monotonic() < end and self.process.poll() is None:
            time.sleep(0.1)
        self.socket = socket.create_connection(("127.0.0.1", int(port.read_text(encoding="ascii"))), timeout=300)
        self.buffer, self.number = b"", 0
        self._read()  # a greeting
        self.call("WebDriver:NewSession", capabilities={"alwaysMatch": {"acceptInsecureCerts": False}})

    def _read(self):
        """A message is its length, a colon and JSON."""
        while True:
            length, colon, rest = self.buffer.partition(b":")
            if colon and len(rest) >= int(length):
                self.buffer = rest[int(length):]
                return json.loads(rest[:int(length)])
            more = self.socket.recv(1 << 16)
            if not more:
                raise EOFError("Firefox is gone")
            self.buffer += more

    def call(self, name, **params):
        """Asks Firefox and waits for the answer."""
        self.number += 1
        text = json.dumps([0, self.number, name, params]).encode()
        self.socket.sendall(str(len(text)).encode() + b":" + text)
        _, _, error, result = self._read()
        if error:
            raise RuntimeError(f"{name}: {error.get('message')}")
        return result

    def value(self, expression):
        """What an expression is in the page."""
        # A content security policy refuses eval(), so the expression is part of the script.
        return self.call("WebDriver:ExecuteScript", script=f"return ({expression});", args=[], sandbox=None, newSandbox=False)["value"]

    def wait(self, expression, seconds=60):
        """Waits until it is true; whether it became so."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.value(expression):
                return True
            time.sleep(0.05)
        return False

    def open(self, name, width=1400):
        """Opens a page; false if it does not become ready."""
        self.errors()
        self.call("WebDriver:SetWindowRect", width=width, height=900)
        self.call("WebDriver:Navigate", url=pathlib.Path(name).resolve().as_uri())
        return self.wait(page_check.READY)

    def errors(self):
        """The errors of pages since the last call."""
        self.call("Marionette:SetContext", value="chrome")
        script = """const found = Services.console.getMessageArray().filter((one) => one instanceof Ci.nsIScriptError && !(one.flags & 1)
          && String(one.sourceName).startsWith("file:")).map((one) => `${one.errorMessage} (line ${one.lineNumber})`);
          Services.console.reset(); return found;"""
        found = self.call("WebDriver:ExecuteScript", script=script, args=[])["value"]
        self.call("Marionette:SetContext", value="content")
        return found

    def picture(self, path):
        """Keeps a picture of the whole page."""
        pathlib.Path(path).write_bytes(base64.b64decode(self.call("WebDriver:TakeScreenshot", full=True)["value"]))

    def close(self):
        """Ends Firefox."""
        try:
            self.call("Marionette:Quit", flags=["eForceQuit"])
        except (EOFError, OSError, RuntimeError):
            pass
        self.socket.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.home.cleanup()
