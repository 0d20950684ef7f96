# SPDX-License-Identifier: Apache-2.0
"""A C header as a page of Markdown: the comment at the top is the introduction, comments in dashes
(/* ---- studies: ... ---- */) are sections, and every group of declarations between blank lines is
an entry with the comment before it as its text."""
import re

# Headers of include/weft that have a page, and what they are for.
HEADERS = [
    ("weft.h", "the library: scenarios, runs, results, studies, traces"),
    ("trace.h", "traces, op by op"),
    ("task.h", "message-driven programs"),
    ("mark.h", "regions and iterations of a program"),
    ("mpi.h", "MPI for programs that weft runs"),
    ("mpi_constants.h", "MPI: constants"),
    ("mpi_objects.h", "MPI: predefined objects"),
    ("mpi_errors.h", "MPI: errors"),
    ("mpi_tools.h", "MPI: the tool interface"),
]
COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)
SECTION = re.compile(r"^/\* -{2,} (.*?) -{2,} \*/$")
# What an entry declares. The first that matches names it.
NAMES = [
    re.compile(r"^#define (\w+)", re.MULTILINE),
    re.compile(r"^(?:typedef )?((?:struct|enum|union) \w+)(?: \{|;)", re.MULTILINE),
    re.compile(r"^typedef .*?\(?\*?(\w+)\)?(?:\([^;]*)?;", re.MULTILINE),
    re.compile(r"(\w+)\((?!\()"),
    re.compile(r"^enum \{\s+(\w+)", re.MULTILINE),
]
# Of a function that is defined in a header: its signature says enough.
BODY = re.compile(r"\n\{\n.*?\n\}$", re.MULTILINE | re.DOTALL)
NOT_SHOWN = re.compile(r"^#(ifndef|endif|ifdef|pragma|include|if |else)|^extern \"C\"|^}$|"
                       r"^#define WEFT_\w+_H$|SPDX-License")


def comment_text(comment):
    """The words of a comment, with what is indented in it as code."""
    body = COMMENT.fullmatch(comment.strip())[1]
    lines = [re.sub(r"^ ?\* ?", "", line.strip()) if line.strip().startswith("*") else line.strip()
             for line in body.strip().splitlines()]
    out = []
    for line in lines:
        code = line.startswith("    ")
        if code and (not out or not out[-1].startswith("    ")) and (not out or out[-1]):
            out.append("")
        # Names stay as they are; Markdown would take underlines and stars as emphasis.
        out.append(line if code else as_words(line))
    return "\n".join(out)


def as_words(line):
    line = re.sub(r"(?<![`\w/])(\w+_\w+(?:\(\))?|-\w\b)(?![`\w.])", r"`\1`", line)
    return re.sub(r"\bdocs/((?:\w|-|/)+\.md)", r"[\1](../\1)", line).replace("<", "&lt;").replace("*", "\\*")


def blocks(text):
    """The parts of a header between blank lines, comments with blank lines in one piece."""
    part = []
    inside = False
    depth = 0
    for line in [*text.splitlines(), ""]:
        if not line.strip() and not inside and depth == 0:
            if part:
                yield part
            part = []
            continue
        part.append(line)
        inside = (inside or "/*" in line) and "*/" not in line.rsplit("/*", 1)[-1]
        if not inside and not line.startswith('extern "C"'):
            depth = max(0, depth + line.count("{") - line.count("}"))


def split(part):
    """The comment that begins a part, and the declarations."""
    text = "\n".join(line for line in part if not NOT_SHOWN.search(line))
    found = re.match(r"\s*/\*.*?\*/[ \t]*(\n|$)", text, re.DOTALL)
    if not found:
        return None, text.strip()
    return found[0], text[found.end():].strip()


def names_of(code):
    plain = COMMENT.sub("", code)
    for pattern in NAMES:
        found = list(dict.fromkeys(pattern.findall(plain)))
        if found:
            return found
    return []


def heading(code):
    names = names_of(code)
    more = f" and {len(names) - 3} more" if len(names) > 4 else ""
    shown = names[:3] if more else names
    return ", ".join(f"`{name}`" for name in shown) + more


def entry(part):
    """Markdown of one part of a header."""
    section = SECTION.match(part[0].strip())
    if section:
        title = section[1][0].upper() + section[1][1:]
        rest = entry(part[1:]) if part[1:] else ""
        return f"## {title}\n\n{rest}"
    comment, code = split(part)
    out = f"### {heading(code)}\n\n" if code and names_of(code) else ""
    if comment:
        out += comment_text(comment) + "\n\n"
    if code:
        out += f"```c\n{code}\n```\n\n"
    return out


def header_page(path, summary):
    """The page of a header, as Markdown."""
    text = BODY.sub(";", path.read_text(encoding="utf-8"))
    body = "".join(entry(part) for part in blocks(text) if "".join(part).strip())
    prefix = "" if path.stem.startswith("mpi") else "weft/"
    words = summary[0].upper() + summary[1:]
    return f"# {path.name}\n\n{words}.\n\n`#include <{prefix}{path.name}>`\n\n{body}"
