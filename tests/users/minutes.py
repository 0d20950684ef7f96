# SPDX-License-Identifier: Apache-2.0
"""What the scripts of first minutes share: commands that must work, words that must be said, pages that must be clean."""
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(os.environ["WEFT_SOURCE_DIR"]) / "tests/cli"))
import browser  # noqa: E402 pylint: disable=wrong-import-position
import page_check  # noqa: E402 pylint: disable=wrong-import-position
from weft_cli import SOURCE, WEFT, check, finish, run  # noqa: E402,F401 pylint: disable=wrong-import-position,unused-import

BUILD = pathlib.Path(os.environ["WEFT_BUILD_DIR"])


def weft(*args, code=0):
    """A command that must end so."""
    done = run(*map(str, args))
    check(done.returncode == code, f"weft {' '.join(map(str, args))}: exit code {done.returncode}", done)
    return done


def says(args, *words, code=0):
    """A command whose output must contain these words."""
    done = weft(*args, code=code)
    for word in words:
        check(word in done.stdout + done.stderr, f"weft {' '.join(map(str, args))}: nothing about '{word}'", done)
    return done


def document(name):
    """A result."""
    return json.loads(pathlib.Path(name).read_text(encoding="utf-8"))


def page(name, *words, looks=((400, "dark", ""),), holds=()):
    """A page that must be clean in these looks, and have these words, and where these expressions hold; nothing without a browser."""
    if not browser.find():
        check("<html" in pathlib.Path(name).read_text(encoding="utf-8"), name)
        return
    pages = page_check.Pages()
    found = pages.problems(name, looks)
    check(not found, f"{name}: {found[:4]}")
    text = pages.text()
    for word in words:
        check(word in text, f"{name}: nothing about '{word}'")
    for expression in holds:
        check(pages.page.value(expression) is True, f"{name}: not {expression}")
    pages.page.close()
