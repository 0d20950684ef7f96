#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the documentation as pages for a browser, which need no server and no network.

usage: make_site.py WEFT OUT

Pages come from README.md, the other .md files at the top, docs/, the man pages (tools/make_man.py) and
the headers of include/weft (api.py). Lowdown turns Markdown into HTML. Files that pages link to are copied.
Every link within the site is checked, with its anchor: a dead one is an error, and nothing is written.
"""
import dataclasses
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))
import api  # noqa: E402
import make_man  # noqa: E402

# Sections of the menu: title, and the pages in it in this order; a pattern stands for the rest, by title.
MENU = [
    ("Begin", ["README.md", "docs/tutorial/first-prediction.md", "docs/tutorial/*.md"]),
    ("Guides", ["docs/howto/*.md"]),
    ("Models", ["docs/models/*.md", "docs/papers.md"]),
    ("Reference", ["docs/reference/weft.md", "docs/reference/*.md"]),
    ("Library", ["docs/api/weft.h.md", "docs/api/mark.h.md", "docs/api/*.md"]),
    ("Manual pages", ["docs/man/*.md"]),
    ("Development", ["CONTRIBUTING.md", "docs/dev/*.md", "docs/dev/decisions/*.md", "CHANGELOG.md",
                     "SECURITY.md"]),
]
HOME = "README.md"
ATTRIBUTE = re.compile(r'(<(?:a|img)\b[^>]*?\b(?:href|src)=")([^"]*)(")')
HEADING = re.compile(r"<h([1-6]) id=\"[^\"]*\">(.*?)</h\1>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")
MAN_NAME = re.compile(r"\b(weft[\w+-]*)\(([15])\)(?![^<]*</a>)")
OUTSIDE = re.compile(r"^(?:\w+:|//)")


class DeadLink(Exception):
    """A page links to something that is not there."""


@dataclasses.dataclass
class Page:
    """One page: where it comes from, what it says, where it goes."""
    source: str
    text: str
    title: str = ""
    body: str = ""
    anchors: set = dataclasses.field(default_factory=set)
    headings: list = dataclasses.field(default_factory=list)  # (level, anchor, text)

    @property
    def address(self):
        if self.source == HOME:
            return "index.html"
        return re.sub(r"\.md$", ".html", self.source.removeprefix("docs/"))


def words_of(markup):
    return " ".join(html.unescape(TAG.sub("", markup)).split())


def anchor_of(text, taken):
    """The anchor that other viewers of Markdown give a heading."""
    slug = re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-") or "section"
    anchor, n = slug, 0
    while anchor in taken:
        n += 1
        anchor = f"{slug}-{n}"
    return anchor


def to_html(text):
    return subprocess.run(["lowdown", "-thtml", "--out-no-smarty", "--parse-no-super",
                           "--parse-no-intraemph", "--parse-no-math"], input=text, check=True,
                          capture_output=True, text=True).stdout


def with_anchors(page, markup):
    def heading(match):
        text = words_of(match[2])
        anchor = anchor_of(text, page.anchors)
        page.anchors.add(anchor)
        page.headings.append((int(match[1]), anchor, text))
        link = (f'<a class="anchor" href="#{anchor}" aria-label="link to {html.escape(text)}">#</a>'
                if match[1] != "1" else "")
        return f'<h{match[1]} id="{anchor}">{match[2]}{link}</h{match[1]}>'
    return HEADING.sub(heading, markup)


def render(page):
    """Fills in body, title and anchors; links are still those of the source."""
    markup = with_anchors(page, to_html(page.text))
    # Lowdown leaves the backslash of a bar in the code of a table.
    markup = re.sub(r"<table>.*?</table>",
                    lambda m: '<div class="wide">' + m[0].replace("\\|", "|") + "</div>", markup,
                    flags=re.DOTALL)
    markup = re.sub(r"<code>([^<\s]{1,28})</code>", r'<code class="short">\1</code>', markup)
    page.title = page.headings[0][2] if page.headings else page.source
    if page.source == HOME:
        page.title = "Overview"
    page.body = markup


def manual_text(name, section, text):
    """A man page for the site: its name as the title, headings one level down and without capitals."""
    lines, fenced = [], False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        found = None if fenced else re.match(r"(#+) (.*)", line)
        words = found[2].capitalize() if found and found[2].isupper() and len(found[2]) > 3 else found and found[2]
        lines.append(f"#{found[1]} {words}" if found else line)
    return f"# {name}({section})\n\n" + "\n".join(lines) + "\n"


def has_live_pages(weft):
    """Whether this build of weft can write the page to try it (docs/howto/look-at-a-run.md)."""
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([weft, "try", "-o", f"{folder}/try.html"], check=False,
                              stderr=subprocess.DEVNULL).returncode == 0


def sources(weft):
    """(path, text) of all pages, those that are made included."""
    for path in [*SOURCE.glob("*.md"), *(SOURCE / "docs").glob("**/*.md")]:
        yield path.relative_to(SOURCE).as_posix(), path.read_text(encoding="utf-8")
    for name, section, text in make_man.pages(weft, SOURCE / "docs/reference"):
        yield f"docs/man/{name}.{section}.md", manual_text(name, section, text)
    for name, summary in api.HEADERS:
        yield f"docs/api/{name}.md", api.header_page(SOURCE / "include/weft" / name, summary)


class Site:
    """All pages, and the files that they link to."""

    def __init__(self, weft):
        self.pages = {}
        self.files = {}  # path in the source tree: address in the site
        for path, text in sources(weft):
            self.pages[path] = Page(path, text)
        for page in self.pages.values():
            render(page)
        self.weft = weft
        self.has_try = has_live_pages(weft)

    def target(self, page, link):
        """The address that a link of a page leads to, relative to the page."""
        path, hash_, anchor = link.partition("#")
        wanted = (os.path.normpath(os.path.join(os.path.dirname(page.source), path))
                  if path else page.source)
        if wanted.startswith("include/weft/") and f"docs/api/{wanted[13:]}.md" in self.pages:
            wanted = f"docs/api/{wanted[13:]}.md"
        if wanted in self.pages:
            there = self.pages[wanted]
            if anchor and anchor not in there.anchors:
                raise DeadLink(f"{page.source}: no '{anchor}' in {wanted}")
            address = there.address
        elif (SOURCE / wanted).exists() and not wanted.startswith(".."):
            address = self.file_address(wanted)
        else:
            raise DeadLink(f"{page.source}: there is no {link}")
        if not path:
            return "#" + anchor
        return os.path.relpath(address, os.path.dirname(page.address) or ".") + hash_ + anchor

    def file_address(self, path):
        """Of a file or folder of the source tree, which is copied."""
        if path.startswith("docs/try"):
            return "try/index.html"
        if (SOURCE / path).is_dir():
            for inner in sorted(p for p in (SOURCE / path).iterdir() if p.is_file()):
                self.files[f"{path}/{inner.name}"] = f"files/{path}/{inner.name}"
            self.files[path] = f"files/{path}/index.html"
        elif path.startswith("docs/"):
            self.files[path] = path.removeprefix("docs/")
        else:
            self.files[path] = f"files/{path}" + ("" if pathlib.Path(path).suffix else ".txt")
        return self.files[path]

    def linked(self, page):
        """The body with links to pages of the site instead of files."""
        def attribute(match):
            link = html.unescape(match[2])
            if OUTSIDE.match(link):
                return match[0]
            return match[1] + html.escape(self.target(page, link)) + match[3]

        def manual(match):
            wanted = f"docs/man/{match[1]}.{match[2]}.md"
            if wanted not in self.pages or wanted == page.source:
                return match[0]
            return f'<a href="{match[1]}.{match[2]}.html">{match[0]}</a>'
        body = ATTRIBUTE.sub(attribute, page.body)
        return MAN_NAME.sub(manual, body) if page.source.startswith("docs/man/") else body

    def menu(self):
        """(title, pages) of the sections, each page in the first that names it."""
        seen, sections = set(), []
        for title, patterns in MENU:
            pages = []
            for pattern in patterns:
                found = [p for p in self.pages.values() if p.source not in seen and
                         pathlib.PurePath(p.source).match(pattern) and
                         p.source.count("/") == pattern.count("/")]
                by = "source" if "decisions" in pattern else "title"
                pages += sorted(found, key=lambda p: getattr(p, by).lower())  # noqa: B023
                seen |= {p.source for p in found}
            sections.append((title, pages))
        missing = set(self.pages) - seen
        if missing:
            raise DeadLink(f"no section of the menu has {', '.join(sorted(missing))}")
        return sections


def menu_html(site, sections, page, root):
    out = []
    for title, pages in sections:
        here = page in pages
        rows = "".join(
            f'<li><a href="{root}{p.address}"{" aria-current=page" if p is page else ""}>'
            f"{html.escape(p.title)}</a></li>" for p in pages)
        if title == "Begin" and site.has_try:
            rows += f'<li><a href="{root}try/index.html">Try it in this browser</a></li>'
        out.append(f'<details{" open" if here or title == "Begin" else ""}><summary>{title}</summary>'
                   f"<ul>{rows}</ul></details>")
    return "".join(out)


def contents_html(page):
    rows = [(anchor, text) for level, anchor, text in page.headings if level == 2]
    if len(rows) < 4:
        return ""
    items = "".join(f'<li><a href="#{anchor}">{html.escape(text)}</a></li>' for anchor, text in rows)
    return f'<nav class="contents" aria-label="On this page">On this page<ul>{items}</ul></nav>'


def turn_html(order, page, root):
    at = order.index(page)
    out = ""
    if at > 0:
        out += f'<a href="{root}{order[at - 1].address}" rel="prev">&larr; {html.escape(order[at - 1].title)}</a>'
    if at + 1 < len(order):
        out += (f'<a class="next" href="{root}{order[at + 1].address}" rel="next">'
                f"{html.escape(order[at + 1].title)} &rarr;</a>")
    return f'<nav class="turn" aria-label="Pages before and after">{out}</nav>'


def page_html(site, sections, order, page):
    root = "../" * page.address.count("/")
    title = "weft" if page.source == HOME else f"{page.title} - weft"
    body = re.sub(r"(</h1>)", lambda m: m[0] + contents_html(page), site.linked(page), count=1)
    return f"""<!DOCTYPE html>
<html lang="en" data-root="{root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title>
<link rel="stylesheet" href="{root}site.css">
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<div class="frame">
<div class="side">
<a class="name" href="{root}index.html">weft</a>
<div class="search" role="search" hidden>
<input type="search" placeholder="Search ( / )" aria-label="Search the documentation" autocomplete="off">
<div role="status" class="words"></div>
<ul class="found"></ul>
</div>
<details class="all" open><summary>All pages</summary>
<nav aria-label="Pages">{menu_html(site, sections, page, root)}</nav>
</details>
</div>
<main id="content">
{body}
{turn_html(order, page, root)}
</main>
</div>
<script src="{root}site.js"></script>
</body>
</html>
"""


def index_rows(page):
    """[address, page, heading, words] of the sections of a page."""
    parts = re.split(r'<h([1-6]) id="([^"]*)">.*?</h\1>', page.body, flags=re.DOTALL)
    heads = {anchor: text for _, anchor, text in page.headings}
    rows = []
    if words_of(parts[0]):
        rows.append([page.address, page.title, "", words_of(parts[0])])
    for i in range(1, len(parts), 3):
        level, anchor, text = parts[i:i + 3]
        address = page.address if level == "1" else f"{page.address}#{anchor}"
        rows.append([address, page.title, "" if level == "1" else heads[anchor], words_of(text)])
    return rows


def folder_html(path, names):
    rows = "".join(f'<li><a href="{html.escape(name)}">{html.escape(name)}</a></li>' for name in names)
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{path}</title>'
            f'<link rel="stylesheet" href="{"../" * (path.count("/") + 2)}site.css"></head>'
            f"<body><main><h1>{path}</h1><ul>{rows}</ul></main></body></html>\n")


def write_files(site, out):
    for path, address in sorted(site.files.items()):
        target = out / address
        target.parent.mkdir(parents=True, exist_ok=True)
        if (SOURCE / path).is_dir():
            names = sorted(p.name for p in (SOURCE / path).iterdir() if p.is_file())
            target.write_text(folder_html(path, names), encoding="utf-8")
        else:
            shutil.copyfile(SOURCE / path, target)


def write(site, out):
    sections = site.menu()
    order = [page for _, pages in sections for page in pages]
    made = {page.address: page_html(site, sections, order, page) for page in order}
    rows = [row for page in order for row in index_rows(page)]
    if out.exists():
        shutil.rmtree(out)
    for address, text in made.items():
        (out / address).parent.mkdir(parents=True, exist_ok=True)
        (out / address).write_text(text, encoding="utf-8")
    (out / "index.js").write_text("window.weftIndex = " +
                                  json.dumps(rows, ensure_ascii=False, separators=(",", ":")) + ";\n",
                                  encoding="utf-8")
    for name in ("site.css", "site.js"):
        shutil.copyfile(HERE / name, out / name)
    write_files(site, out)
    if site.has_try:
        (out / "try").mkdir()
        subprocess.run([site.weft, "try", "-o", out / "try/index.html"], check=True)
    return len(order)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if shutil.which("lowdown") is None:
        sys.exit("make_site.py: lowdown is missing; tools/deps installs it")
    out = pathlib.Path(sys.argv[2])
    try:
        n = write(Site(sys.argv[1]), out)
    except DeadLink as problem:
        sys.exit(f"make_site.py: {problem}")
    print(f"{out}/index.html: {n} pages")


if __name__ == "__main__":
    main()
