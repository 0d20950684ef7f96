# SPDX-License-Identifier: Apache-2.0
"""Plug-ins: what they add is there like weft's own, what is wrong with one is said with its name,
and `weft check-plugin` finds broken contracts and crashes."""
import os
import pathlib
import subprocess

from weft_cli import SOURCE, WEFT, check, finish

EXAMPLE = (SOURCE / "examples/plugin/chordal.c").read_text(encoding="utf-8")
ON_RING = ("replay", "gen:pulse", "-n", "16", "--net", "packet", "--topo", "chordal:16,chord=4")


def weft(*args, plugins=""):
    environment = {**os.environ, "WEFT_PLUGINS": plugins}
    return subprocess.run([WEFT, *args], text=True, capture_output=True, check=False, env=environment)


def compiled(name, code):
    flags = weft("--plugin-cflags").stdout.split()
    pathlib.Path(f"{name}.c").write_text(code, encoding="utf-8")
    done = subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wall", *flags, f"{name}.c", "-o", f"{name}.so"],
                          text=True, capture_output=True, check=False)
    check(done.returncode == 0, f"{name} does not compile", done)
    return f"./{name}.so"


def changed(name, old, new):
    check(old in EXAMPLE, f"the example lacks {old}")
    return compiled(name, EXAMPLE.replace(old, new))


def check_use(plugin):
    for before, plugins in ((("--plugin", plugin), ""), ((f"--plugin={plugin}",), ""), ((), plugin),
                            (("--plugin", plugin), plugin)):
        done = weft(*before, *ON_RING, plugins=plugins)
        check(done.returncode == 0 and "packet on chordal:16,chord=4" in done.stdout,
              f"not used with {before} {plugins}", done)
    digests = {line for options in ((), ("--sched", "conservative", "--threads", "2"), ("--sched", "check-undo"))
               for line in weft("--plugin", plugin, *ON_RING, *options).stdout.splitlines()
               if line.startswith("Digest")}
    check(len(digests) == 1, f"digests differ: {digests}")
    listed = weft("--plugin", plugin, "topo", "list").stdout
    check("chordal" in listed, "not in 'topo list'")
    done = weft("--plugin", plugin, "topo", "chordl:16")
    check("did you mean 'chordal'" in done.stderr, "not proposed", done)
    done = weft("--plugin", plugin, "topo", "chordal:16,chord=9")
    check(done.returncode != 0 and "no shorter than half" in done.stderr, "its error is lost", done)
    done = weft("topo", "chordal:16")
    check(done.returncode == 3, "there without a plug-in", done)


def check_check(plugin):
    done = weft("check-plugin", plugin)
    check(done.returncode == 0 and done.stdout == "topology chordal: passed\ngenerator pulse: passed\n",
          "the example fails", done)
    wrong = changed("wrong", "counts[chordal_of(topo)->distance[i]] += topo->n_nodes", "counts[0] += 1")
    done = weft("check-plugin", wrong)
    check(done.returncode == 4 and "topology chordal: failed" in done.stdout, "not found", done)
    crashing = changed("crashing", "net->chord = ", "*(volatile int *)8 = 1; net->chord = ")
    done = weft("check-plugin", crashing)
    check(done.returncode == 4 and "topology chordal: crashed" in done.stdout, "a crash", done)
    early = compiled("early", EXAMPLE + "\n__attribute__((constructor)) static void now(void) { abort(); }\n")
    done = weft("check-plugin", early)
    check(done.returncode == 3 and "crashes while it is loaded" in done.stderr, "an early crash", done)


def check_refusals(plugin):
    pathlib.Path("text.so").write_text("no object", encoding="utf-8")
    taken = changed("taken", '.name = "chordal"', '.name = "torus"')
    for path, words in (
            ("./nothing.so", "nothing.so"),
            ("./text.so", "text.so"),
            (compiled("empty", "int nothing;\n"), "is no plug-in"),
            (taken, "there is a topology called 'torus' already"),
            (changed("version", "#include <weft/plugin.h>", "#include <weft/plugin.h>\n"
                     "#undef WEFT_PLUGIN_VERSION\n#define WEFT_PLUGIN_VERSION 99"), "compile it again"),
            (changed("table", "WEFT_PLUGIN_TOPOLOGY(chordal_ops)", '{"topology", &chordal_ops, 8}'),
             "a table of another version"),
            (changed("kind", "WEFT_PLUGIN_TOPOLOGY(chordal_ops)", '{"teapot", &chordal_ops, 8}'),
             "no plug-ins of the kind 'teapot'"),
            (changed("member", "    .distance = chordal_distance,\n", ""), "lacks the member distance"),
            (changed("symbol", "find_distances(net);", "extern void wf_secret(void); wf_secret();"),
             "undefined symbol")):
        done = weft("--plugin", path, "topo", "ring:4")
        check(done.returncode == 3 and words in done.stderr, f"{path}: expected '{words}'", done)
    done = weft("--plugin")
    check(done.returncode == 2 and "the file is missing" in done.stderr, "no file", done)
    done = weft("check-plugin", "./nothing.so")
    check(done.returncode == 3, "no file", done)
    done = weft("--plugin", plugin, "check-plugin", plugin)
    check(done.returncode == 3, "loaded before", done)


EXAMPLE_OBJECT = compiled("chordal", EXAMPLE)
check_use(EXAMPLE_OBJECT)
check_check(EXAMPLE_OBJECT)
check_refusals(EXAMPLE_OBJECT)
finish()
