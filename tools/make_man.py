#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the man pages: section 1 from what the program says of its commands, section 5 from the
pages of docs/reference about files and parameters. Lowdown turns Markdown into man pages.

usage: make_man.py WEFT DOCS OUT
"""
import pathlib
import re
import subprocess
import sys

# Pages of section 5: name, page of docs/reference, what it is.
FILES = [
    ("weft-machine", "machine-files.md", "machine files of weft"),
    ("weft-graph", "graph-files.md", "networks as graphs in files, for weft"),
    ("weft-jobs", "jobs.md", "programs, jobs and placement of weft"),
    ("weft-workload", "workload-language.md", "the language of gen:text of weft"),
    ("weft-kernels", "kernels.md", "kernel files of weft run"),
    ("weft-study", "studies.md", "studies of weft sweep"),
    ("weft-trace", "trace-format.md", "the trace format of weft"),
    ("weft-formats", "trace-formats.md", "traces of other tools in weft"),
    ("weft-result", "result-document.md", "the result document of weft"),
]
# Compiler wrappers: name, language, variable that names the compiler.
WRAPPERS = [
    ("weftcc", "C", "WEFT_CC"),
    ("weftc++", "C++", "WEFT_CXX"),
    ("weftf90", "Fortran", "WEFT_FC"),
]
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]*)\)")
SEE_ALSO = "\n# SEE ALSO\n\n{}\n"


def run(command, text=None):
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout


def man_names():
    return {page: f"{name}(5)" for name, page, _ in FILES}


def unlink(text):
    """Links to other pages become their names, links to the rest their words."""
    names = man_names()

    def words(match):
        page = match[2].split("#")[0].rsplit("/", 1)[-1]
        return f"{match[1]} (see {names[page]})" if page in names else match[1]
    return LINK.sub(words, text)


def cells(row):
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def as_definition(head, row):
    """The first cell is the term; the others, by their headings if several, explain it."""
    term, *rest = cells(row)
    if len(rest) > 1:
        rest = [f"{name}: {cell}" for name, cell in zip(cells(head)[1:], rest) if cell]
    return f"{term}\n: {'; '.join(rest) or 'nothing more'}\n\n"


def without_tables(text):
    """Tables are hard to read in 80 columns: each row becomes a term and its explanation."""
    out, rows, fenced = [], [], False
    for line in [*text.splitlines(), ""]:
        fenced ^= line.startswith("```")
        if line.startswith("|") and not fenced:
            rows.append(line)
            continue
        if rows:
            out += [as_definition(rows[0], row) for row in rows[2:]]
            rows = []
        out.append(line + "\n")
    return "".join(out)


def headings(text):
    """Man pages have two levels of headings."""
    out, fenced = [], False
    for line in text.splitlines(keepends=True):
        fenced ^= line.startswith("```")
        found = None if fenced else re.match(r"(#+) (.*)", line)
        if found:
            level = len(found[1])
            line = f"# {found[2]}\n" if level < 3 else f"## {found[2]}\n"
        out.append(line)
    return "".join(out)


def in_capitals(text):
    """Headings of the first level, as in all man pages."""
    out, fenced = [], False
    for line in text.splitlines(keepends=True):
        fenced ^= line.startswith("```")
        out.append(line.upper() if line.startswith("# ") and not fenced else line)
    return "".join(out)


def to_man(name, section, body):
    made = run(["lowdown", "-s", "-tman", "--out-no-smarty", "--parse-no-super",
                "-m", f"title: {name}", "-m", f"section: {section}", "-m", "source: weft",
                "-m", "volume: weft manual"], in_capitals(body))
    # A plain hyphen may be shown as a typographic one, which a shell does not know.
    return "".join(line if line.startswith(".") else re.sub(r"(?<!\\)-", r"\\-", line)
                   for line in made.splitlines(keepends=True))


def page(name, section, summary, body):
    return name, section, f"# NAME\n\n{name} - {summary}\n\n{body}"


def option_rows(lines):
    """(term, explanation) of the lines of the help's option list."""
    rows = []
    for line in lines:
        found = re.match(r" {2,6}(-\S.*?)(?: {2,}(\S.*))?$", line)
        if found:
            rows.append([found[1], found[2] or ""])
        elif line.strip() and rows:
            rows[-1][1] += " " + line.strip()
    return rows


def example_rows(lines):
    rows = []
    for line in lines:
        if line.startswith("      "):
            rows[-1][1] += " " + line.strip()
        elif line.startswith("  ") and rows and not rows[-1][1]:
            rows[-1][0] += " " + line.strip()
        elif line.strip():
            rows.append([line.strip(), ""])
    return rows


def escape(text):
    return re.sub(r"([\\`*_<>|\[\]])", r"\\\1", text)


def command_page(weft, verb, summary):
    usage, _, rest = run([weft, verb, "--help"]).partition("\n\n")
    said, _, rest = rest.partition("\n\nExamples:\n")
    examples, _, options = rest.partition("\n\nOptions:\n")
    usage = " ".join(usage.removeprefix("usage: ").split())
    body = f"# SYNOPSIS\n\n{escape(usage)}\n\n# DESCRIPTION\n\n{escape(' '.join(said.split()))}.\n"
    body += "\n# OPTIONS\n\n"
    for term, words in option_rows(options.splitlines()):
        body += f"{escape(term)}\n: {escape(words.strip())}\n\n"
    body += "# EXAMPLES\n\n"
    for command, words in example_rows(examples.splitlines()):
        body += f"{escape(words.strip())}:\n\n```\n{command}\n```\n\n"
    body += SEE_ALSO.format("weft(1), weft-parameters(5)")
    return page(f"weft-{verb}", 1, summary[0].lower() + summary[1:], body)


def commands(weft):
    """(verb, summary) of all commands, as the overview lists them."""
    listed = run([weft, "help"]).split("Commands:\n")[1].split("\n\n")[0]
    rows = []
    for line in listed.splitlines():
        found = re.match(r"  (\S+) {2,}(\S.*)", line)
        if found:
            rows.append([found[1], found[2]])
        else:
            rows[-1][1] += " " + line.strip()
    return rows


def overview_page(docs, verbs):
    codes = (docs / "exit-codes.md").read_text(encoding="utf-8").partition("\n")[2]
    body = ("# SYNOPSIS\n\nweft *command* [*options*]\n\n# DESCRIPTION\n\nweft predicts how an "
            "MPI application runs on a machine you do not have: it takes the program's "
            "communication from a trace, a generator or the running program, plays it on a "
            "simulated network at the level of detail you choose, and says how long it takes "
            "and why.\n\n# COMMANDS\n\n")
    body += "".join(f"weft-{verb}(1)\n: {escape(summary)}\n\n" for verb, summary in verbs)
    body += "# FILES\n\n"
    body += "".join(f"{name}(5)\n: {what}\n\n" for name, _, what in FILES)
    body += "weft-parameters(5)\n: parameters of all models\n\n"
    body += "# EXIT STATUS\n\n" + without_tables(unlink(codes))
    return page("weft", 1, "predicts how MPI applications run on machines you do not have", body)


def parameters_page(weft):
    """The models' part of the reference: what follows the last command's help."""
    reference = run([weft, "help", "--markdown"])
    models = reference[reference.rindex("\n```\n") + 5:]
    body = headings(without_tables(models)) + SEE_ALSO.format("weft(1), weft-replay(1)")
    return page("weft-parameters", 5, "parameters of the models of weft", body)


def file_page(docs, name, source, summary):
    text = (docs / source).read_text(encoding="utf-8").partition("\n")[2]
    body = f"# DESCRIPTION\n{headings(without_tables(unlink(text)))}" + SEE_ALSO.format("weft(1)")
    return page(name, 5, summary, body)


def wrapper_page(name, language, variable):
    """Of a compiler wrapper: what it does is in src/mpi/lib/wrappers/weftcc.in."""
    body = f"""# SYNOPSIS

{name} [*options*] *files*

# DESCRIPTION

{name} compiles and links {language} programs that `weft run` and `weft emulate` run as virtual ranks, as mpicc does
for other MPI libraries. All arguments go to the compiler, which gets the headers and libraries of weft as well. A
program that is linked in this way runs with `weft run` or `weft emulate` only.

# OPTIONS

-show
: Print the command that would run, and do nothing.

-compile-info, -link-info
: Print the part that compiles, or the part that links.

-showme:compile, -showme:link
: The options of that part alone, as other wrappers print them.

# ENVIRONMENT

{variable}
: The compiler to use instead of the one that weft was built with.

# EXAMPLES

```
{name} -O2 program.{language_suffix(language)} -o program
weft run -n 64 -- ./program
```
"""
    return page(name, 1, f"compiles {language} programs for weft run",
                body + SEE_ALSO.format("weft-run(1), weft-emulate(1)"))


def language_suffix(language):
    return {"C": "c", "C++": "cpp", "Fortran": "f90"}[language]


def pages(weft, docs):
    """(name, section, Markdown) of all pages."""
    verbs = commands(weft)
    yield overview_page(docs, verbs)
    for verb, summary in verbs:
        yield command_page(weft, verb, summary)
    for row in WRAPPERS:
        yield wrapper_page(*row)
    yield parameters_page(weft)
    for row in FILES:
        yield file_page(docs, *row)


def main():
    weft, docs, out = sys.argv[1], pathlib.Path(sys.argv[2]) / "reference", pathlib.Path(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    for name, section, text in pages(weft, docs):
        (out / f"{name}.{section}").write_text(to_man(name, section, text), encoding="utf-8")


if __name__ == "__main__":
    main()
