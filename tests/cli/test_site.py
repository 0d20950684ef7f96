# SPDX-License-Identifier: Apache-2.0
"""The documentation for a browser: every link leads to something, the library's functions and the commands have
their pages, a dead link is refused, and the search finds."""
import html.parser
import pathlib
import re
import shutil
import sys
import urllib.parse

import browser
from weft_cli import SOURCE, WEFT, check, finish

sys.path.insert(0, str(SOURCE / "tools/docs"))
import make_site  # noqa: E402 pylint: disable=wrong-import-position,import-error

OUT = pathlib.Path("site").resolve()


class Links(html.parser.HTMLParser):
    """Addresses and anchors of a page, read as a browser would."""

    def __init__(self):
        super().__init__()
        self.links, self.anchors = [], set()

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src"):
                self.links.append(value)
            elif name == "id":
                self.anchors.add(value)


def read(path):
    page = Links()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def check_links():
    pages = {path: read(path) for path in OUT.rglob("*.html")}
    for path, page in pages.items():
        for link in page.links:
            address, _, anchor = urllib.parse.unquote(link).partition("#")
            if re.match(r"\w+:", address):
                continue
            target = (path.parent / address).resolve() if address else path
            if not check(target.exists(), f"{path}: no {link}"):
                continue
            check(not anchor or target not in pages or anchor in pages[target].anchors,
                  f"{path}: no anchor {link}")


def check_dead(site):
    """Links that lead nowhere are errors, and nothing is written."""
    for link in ("nowhere.md", "docs/reference/topo.md#nowhere", "../outside.md"):
        page = make_site.Page("README.md", f"# A\n\n[b]({link})\n")
        make_site.render(page)
        try:
            site.linked(page)
            check(False, f"{link} was taken")
        except make_site.DeadLink as problem:
            check("README.md" in str(problem), f"{problem}")


def check_api():
    """Whatever the headers declare is on the page."""
    for name in ("weft.h", "trace.h", "mark.h"):
        text = (SOURCE / "include/weft" / name).read_text(encoding="utf-8")
        page = (OUT / f"api/{name}.html").read_text(encoding="utf-8")
        headings = set(re.findall(r"<code[^>]*>([^<]*)</code>",
                                  "".join(re.findall(r"<h3.*?</h3>", page))))
        declared = re.findall(r"\b(weft_\w+)\(", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))
        check(declared, f"{name} declares nothing")
        for function in declared:
            check(function in headings, f"{name}: {function} has no entry")


def check_browser():
    page = browser.Browser()
    page.call("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1,
              mobile=False)
    for name in ("index.html", "reference/weft.html"):
        page.call("Page.navigate", url=f"file://{OUT}/{name}")
        page.wait(f"document.readyState === 'complete' && location.pathname.endsWith('{name}')")
        wide = page.value("document.documentElement.scrollWidth")
        check(wide <= 400, f"{name} is {wide} wide")
    page.value("document.querySelector('.search input').focus()")
    check(page.wait("window.weftIndex"), "there is no index")
    for words, title in (("slurm", "weft on a cluster with Slurm"), ("eager limit", "Calibrate a machine")):
        page.value("(() => { const box = document.querySelector('.search input'); "
                   f"box.value = '{words}'; box.dispatchEvent(new Event('input')); }})()")
        found = page.value("document.querySelector('.found').innerText")
        check(title in found, f"found for {words}: {found}")
    first = page.value("document.querySelector('.found a').href").partition("#")[0]
    # What people ask leads to the page that answers.
    answer = "Which command answers my question"
    for asked, title in (("price", "Machine files: price"), ("half the uplinks", answer), ("what limits", answer),
                         ("which machine should we buy", answer)):
        page.value("(() => { const box = document.querySelector('.search input'); "
                   f"box.value = '{asked}'; box.dispatchEvent(new Event('input')); }})()")
        answers = page.value("document.querySelector('.found').innerText")
        check(title in answers[:400], f"{asked}: {answers[:400]}")
    check(pathlib.Path(urllib.parse.unquote(first.removeprefix("file://"))).exists(), first)
    check(page.problems == [], f"{page.problems}")
    page.close()


def main():
    if shutil.which("lowdown") is None:
        print("skipped: no lowdown")
        return
    site = make_site.Site(WEFT)
    pages = make_site.write(site, OUT)
    check(pages > 100, f"{pages} pages")
    check_links()
    check_dead(site)
    check_api()
    check((OUT / "man/weft-replay.1.html").exists(), "no page of weft replay")
    if browser.find():
        check_browser()
    finish()


main()
