# SPDX-License-Identifier: Apache-2.0
"""On a terminal: the progress line, its end, and Ctrl-C."""
import json
import os
import pty
import re
import select
import signal
import subprocess
import time

from weft_cli import WEFT, check, finish

# Would take minutes; every test ends it early.
LONG = ["bench", "phold", "--lps", "20000", "--end", "10ms"]
LINE = rb"\d+ %  [\d.]+ [munp]s simulated  [\d.]+ [kM]? ?events/s(  [\d:]+ left)?"


class Session:
    """weft with stderr on a terminal of its own and stdout on a pipe."""

    def __init__(self, args, **environment):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [WEFT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave,
            env={**os.environ, "TERM": "xterm", **environment})
        os.close(slave)
        self.seen = b""

    def _read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            try:
                self.seen += os.read(self.master, 4096)
            except OSError:  # the other end is closed
                return False
        return True

    def wait_for(self, pattern, seconds=30):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not re.search(pattern, self.seen):
            if not self._read(0.2):
                break
        return re.search(pattern, self.seen) is not None

    def watch(self, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._read(0.1)

    def end(self, *signals):
        """Sends the signals, waits, and gives the exit code and stdout."""
        for number in signals:
            self.process.send_signal(number)
        out, _ = self.process.communicate(timeout=50)
        while self._read(0):
            pass
        os.close(self.master)
        return self.process.returncode, out


def check_progress():
    session = Session(LONG + ["--json"])
    check(session.wait_for(LINE), f"no progress line: {session.seen!r}")
    session.watch(1)
    check(b"\n" not in session.seen, f"the line is not redrawn in place: {session.seen!r}")
    code, out = session.end(signal.SIGINT)
    check(code == 130, f"interrupted: exit code {code}")
    check(json.loads(out)["result"]["status"] == "interrupted", "the result is not marked")
    last = session.seen.rsplit(b"\r\x1b[K", 1)[-1]
    check(re.fullmatch(rb"weft: interrupted at [^\r\n]*\r\n", last),
          f"the line was not erased: {session.seen[-200:]!r}")


def check_term_signal_and_text():
    session = Session(LONG)
    check(session.wait_for(LINE), "no progress line")
    code, out = session.end(signal.SIGTERM)
    check(code == 143, f"terminated: exit code {code}")
    check(b"interrupted at simulated time" in out, f"the report is not marked: {out!r}")


def check_silence(args, **environment):
    session = Session(LONG + args, **environment)
    session.watch(2.5)
    check(session.seen == b"", f"{args} {environment}: not silent: {session.seen!r}")
    session.end(signal.SIGINT)


def check_pass():
    """Writing a trace shows how far it is, how fast, and the time left."""
    session = Session(["gen", "stencil3d", "-n", "20000", "-p", "gen.iterations=200", "-o", "x.csv"])
    check(session.wait_for(rb"\d+ %  writing x\.csv  [\d.]+ [kM] ops  [\d.]+ [kM] ops/s  [\d:]+ left"),
          f"no progress line: {session.seen!r}")
    session.end(signal.SIGINT)


def check_short_run():
    session = Session(["bench", "phold", "--lps", "10"])
    code, _ = session.end()
    check(code == 0 and session.seen == b"", f"a short run draws: {session.seen!r}")


def check_not_a_terminal():
    for args, expected in [([], rb""), (["--progress=always"], LINE + rb"\n")]:
        process = subprocess.Popen([WEFT, *LONG, *args], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        time.sleep(2.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=50)
        told = err[:err.index(b"weft: interrupted")]
        check(re.match(expected, told.lstrip()) if expected else told == b"",
              f"{args}, not a terminal: {err!r}")


def check_second_interrupt():
    """A model that is being set up does not look at the flag; the second Ctrl-C does not ask."""
    session = Session(["bench", "phold", "--lps", "4000000", "--end", "1ms"])
    time.sleep(0.3)
    began = time.monotonic()
    session.process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    code, _ = session.end(signal.SIGINT)
    check(code == 130, f"interrupted twice: exit code {code}")
    check(time.monotonic() - began < 10, "a second interrupt does not end the program at once")


def check_color():
    """Bold only on a terminal, and not where NO_COLOR is set."""
    for environment, expected in [({}, True), ({"NO_COLOR": "1"}, False)]:
        master, slave = pty.openpty()
        inherited = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        subprocess.run([WEFT, "replay", "gen:stencil3d", "-n", "8"], stdout=slave, check=True,
                       env={**inherited, **environment}, timeout=50)
        os.close(slave)
        seen = os.read(master, 65536)
        os.close(master)
        check((b"\x1b[" in seen) == expected, f"{environment}: {seen!r}")


def check_written_files():
    """A person is told what was written, unless with -q."""
    for quiet in ([], ["-q"]):
        session = Session(["replay", "gen:ring", "-n", "2", "-f", "-o", "ring.html", *quiet])
        code, _ = session.end()
        check(code == 0, f"exit code {code}: {session.seen!r}")
        told = re.search(rb"wrote ring.html \([\d.]+ [KM]iB\)", session.seen) is not None
        check(told == (not quiet), f"{quiet}: {session.seen!r}")


def main():
    check_color()
    check_progress()
    check_term_signal_and_text()
    check_silence(["-q"])
    check_silence(["--progress=never"])
    check_silence([], TERM="dumb")
    check_pass()
    check_short_run()
    check_written_files()
    check_not_a_terminal()
    check_second_interrupt()
    finish()


main()
