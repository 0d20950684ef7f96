# SPDX-License-Identifier: Apache-2.0
"""How scripts end at a signal: what they have started ends first, and no file is half written.

A script calls catch_signals(). The first SIGINT, SIGTERM or SIGHUP then raises SystemExit with the
code 128 + signal in the main thread, so that context managers and `finally` tidy up; later signals
are ignored. Programs that run() has started get SIGTERM and are waited for.
"""
import atexit
import concurrent.futures
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
EXIT_BASE = 128
REPEAT_S = 0.05  # between signals to a main thread that has not noticed the first


class _State:
    """Of this process."""
    caught = 0       # number of the first signal
    held = False     # a signal must not raise yet
    pending = False  # one came while it was held
    pooled = False   # threads() is in use
    ending = False   # nothing may be started
    running = set()
    directories = set()
    lock = threading.Lock()


def _exit():
    raise SystemExit(EXIT_BASE + _State.caught)


def _on_signal(number, _frame):
    if _State.caught:
        return
    _State.caught = number
    os.write(2, f"{sys.argv[0]}: interrupted\n".encode())
    _State.pending = _State.held
    if _State.pooled:
        _end_children()
    if not _State.held:
        _exit()


def _end_children():
    """Their threads then raise SystemExit. Each child gets one signal, since a second one may mean
    to end at once: the exception of the first thread comes here again while others still end."""
    with _State.lock:
        if not _State.ending:
            _State.ending = True
            for child in list(_State.running):
                child.terminate()


def _wake_main_thread(noticed):
    """Python calls handlers in the main thread, but a wait there ends early only if the signal comes
    to that thread while it waits: not in the instant before, and not to another thread. So the
    signal is repeated until the handler was called."""
    while number := os.read(noticed, 1):
        while not _State.caught:
            signal.pthread_kill(threading.main_thread().ident, number[0])
            time.sleep(REPEAT_S)


def catch_signals():
    """`nohup` stays in force."""
    noticed, written = os.pipe()
    os.set_blocking(written, False)
    signal.set_wakeup_fd(written, warn_on_full_buffer=False)
    threading.Thread(target=_wake_main_thread, args=(noticed,), daemon=True).start()
    for number in SIGNALS:
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _on_signal)


def ignore_signals():
    """Also in programs that are started from now on: tidying up must come to its end."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


@contextlib.contextmanager
def hold():
    """A signal raises after the block instead of inside it. Only the main thread gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _State.held = True
    try:
        yield
    finally:
        _State.held = False
        if _State.pending:
            _State.pending = False
            _exit()


def run(words, timeout=None, given=None, **more):
    """Runs a program as subprocess.run() does, with the input `given`. If it takes longer than
    `timeout` seconds or a signal comes, it gets SIGTERM, and the exception is raised when it has
    ended."""
    child = None
    try:
        with hold(), _State.lock:
            if _State.ending:
                _exit()
            child = subprocess.Popen([str(word) for word in words], **more)
            _State.running.add(child)
        out, err = child.communicate(given, timeout)
        if _State.ending:
            _exit()
    except BaseException:
        if child is not None:
            child.terminate()
            child.communicate()
        raise
    finally:
        _State.running.discard(child)
    return subprocess.CompletedProcess(child.args, child.returncode, out, err)


@contextlib.contextmanager
def threads(number):
    """Threads that call run(). If the block fails or a signal comes, programs that run are ended,
    and no more are started. The signal raises after the block: the locks of threads would not
    survive an exception anywhere."""
    with hold(), concurrent.futures.ThreadPoolExecutor(number) as pool:
        _State.pooled = True
        try:
            yield pool
        except BaseException:
            _end_children()
            raise
        finally:
            _State.pooled = False


@contextlib.contextmanager
def directory(**more):
    """A temporary directory, as of tempfile.mkdtemp(). If a signal comes while it is being removed,
    the rest is removed at the end of the process."""
    with hold():
        where = tempfile.mkdtemp(**more)
        _State.directories.add(where)
    try:
        yield where
    finally:
        shutil.rmtree(where, ignore_errors=True)
        _State.directories.discard(where)


@atexit.register
def _remove_directories():
    for where in _State.directories:
        shutil.rmtree(where, ignore_errors=True)


def write_text(path, text):
    """Replaces a file by one with this text, or leaves it as it is."""
    new = pathlib.Path(f"{path}.new")
    try:
        new.write_text(text, encoding="utf-8", newline="")
        os.replace(new, path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
