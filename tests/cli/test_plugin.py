# SPDX-License-Identifier: Apache-2.0
"""Plug-ins: what they add is there like weft's own, what is wrong with one is said with its name,
and `weft check-plugin` finds broken contracts and crashes."""
import json
import os
import pathlib
import subprocess
import sys

from weft_cli import SOURCE, WEFT, check, finish

EXAMPLE = (SOURCE / "examples/plugin/chordal.c").read_text(encoding="utf-8")
PARTS = (SOURCE / "examples/plugin/parts.c").read_text(encoding="utf-8")
CALLS = "calls 4\n0 compute 25\n0 send 1 4096\n1 recv 0 4096\n* allreduce 8\n"
ON_TORUS = ("replay", "trace.calls", "--net", "packet", "--topo", "torus:4x4")
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
    hanging = changed("hanging", "net->chord = ", "while (net->chord == 0) continue; net->chord = ")
    done = weft("check-plugin", "--time", "1s", hanging)
    check(done.returncode == 4 and "topology chordal: not done after 1 s (--time)" in done.stdout, "it hangs", done)


def check_scheduling():
    """A policy that starts what does not fit, or twice, or nothing, is told apart from a bug of weft."""
    alone = PARTS[:PARTS.index("WEFT_PLUGIN(")] + "WEFT_PLUGIN(WEFT_PLUGIN_SCHEDULING(smallest_ops));\n"
    fits = "wf_queue_waiting(sim, place)->nodes <= sim->free"
    for name, old, new, words in (("large", fits, fits.replace("<=", ">"), "starts a job of"),
                                  ("twice", "        wf_queue_start(sim, place);", "        wf_queue_start(sim, place); "
                                   "wf_queue_start(sim, place);", "starts a job that does not wait"),
                                  ("never", fits, "false", "leaves 60 jobs waiting for ever")):
        check(alone.count(old) == 1, f"{name}: the example has changed")
        done = weft("check-plugin", compiled(name, alone.replace(old, new)))
        check(done.returncode == 4 and "scheduling policy smallest: failed" in done.stdout and
              f"the scheduling policy 'smallest' {words}" in done.stdout + done.stderr, name, done)


def check_refusals(plugin):
    pathlib.Path("text.so").write_text("no object", encoding="utf-8")
    pathlib.Path("none.so").touch()
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
            (compiled("early", EXAMPLE + "\n__attribute__((constructor)) static void now(void) { abort(); }\n"),
             "crashes while it is loaded"),
            (compiled("exit", EXAMPLE + "\n#include <stdlib.h>\n__attribute__((constructor)) static void now(void) "
                      "{ exit(0); }\n"), "ends the process while it is loaded"),
            ("./none.so", "file too short"),
            (".", "Is a directory"),
            (compiled("half", EXAMPLE.replace('.name = "pulse"', '.name = "ring"')), "a generator called 'ring'"),
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


def time_of(plugin, *options):
    done = weft("--plugin", plugin, *ON_TORUS, "-q", "-f", "-o", "result.line", *options)
    check(done.returncode == 0, f"{options}", done)
    text = pathlib.Path("result.line").read_text(encoding="utf-8")
    check(text.startswith("trace.calls ") and text.endswith(" ps\n"), text)
    return int(text.split()[1])


def check_parts(plugin):
    """Routing policy, collective algorithm, trace format with a parameter, and output: in a run, in help,
    in errors and in completion."""
    pathlib.Path("trace.calls").write_text(CALLS, encoding="utf-8")
    usual = time_of(plugin)
    check(time_of(plugin, "-p", "trace.unit=2us") == usual + 25_000_000, "the trace's parameter")
    check(time_of(plugin, "-p", "mpi.allreduce=star") != usual, "the algorithm changes nothing")
    done = weft("--plugin", plugin, *ON_TORUS, "-p", "net.routing=last", "--json")
    check(json.loads(done.stdout)["scenario"]["parameters"]["net"]["routing"] == "last", "the policy", done)
    spread = ("replay", "gen:random", "-n", "16", *ON_TORUS[2:])
    digests = {line for how in ("last", "minimal")
               for line in weft("--plugin", plugin, *spread, "-p", f"net.routing={how}").stdout.splitlines()
               if line.startswith("Digest")}
    check(len(digests) == 2, f"routes as with the usual policy: {digests}")
    for arguments, words in ((("help",), "trace.calls"), (("help", "trace.calls"), "trace.unit"),
                             (("coll", "list", "allreduce"), "star"), (("help", "net"), "last"),
                             (("replay", "--help"), ".line"), (("info", "trace.calls"), "calls")):
        done = weft("--plugin", plugin, *arguments)
        check(done.returncode == 0 and words in done.stdout, f"{arguments}: no {words}", done)
    pathlib.Path("jobs.yaml").write_text("jobs:\n  - {name: a, count: 50, every: 4min, nodes: [1, 8], run: [20min, 2h], request: "
                                         "[2h, 4h]}\n", encoding="utf-8")
    done = weft("--plugin", plugin, "cluster", "jobs.yaml", "-n", "8", "--policy", "fcfs,smallest")
    check(done.returncode == 0 and "smallest" in done.stdout, "the scheduling policy", done)
    pathlib.Path("bad.calls").write_text("calls 4\n9 compute 25\n", encoding="utf-8")
    for arguments, words in (((*ON_TORUS, "-p", "net.routing=lst"), "did you mean 'last'"),
                             ((*ON_TORUS, "-p", "mpi.allreduce=sta"), "did you mean 'star'"),
                             (("cluster", "jobs.yaml", "-n", "8", "--policy", "smalest"), "smallest"),
                             ((*ON_TORUS, "-o", "x.lin"), ".clog2 or .line"),
                             (("replay", "bad.calls"), "bad.calls:2: expected a call")):
        done = weft("--plugin", plugin, *arguments)
        check(done.returncode in (2, 3) and words in done.stderr, f"{arguments}: expected {words}", done)
    done = weft("check-plugin", plugin, "--sample", "trace.calls")
    check(done.returncode == 0 and done.stdout.count(": passed\n") == 5, "check-plugin", done)
    careless = compiled("careless", PARTS.replace("n < 4 || a >= ranks", "n < 4"))
    done = weft("check-plugin", careless, "--sample", "trace.calls")
    check(done.returncode == 0, "a sample without such a line", done)
    pathlib.Path("long.calls").write_text(CALLS.replace("0 send 1 4096", "0 send 19 4096"), encoding="utf-8")
    done = weft("check-plugin", careless, "--sample", "long.calls")
    check(done.returncode == 4 and "trace format calls: failed" in done.stdout, "a peer that is none", done)
    done = weft("check-plugin", plugin, "--sample", "nothing")
    check(done.returncode == 3 and "cannot read the sample 'nothing'" in done.stderr, "no sample", done)


def check_crash():
    """In a run: the plug-in is named."""
    crashing = compiled("crash", PARTS.replace("struct wf_vc_step step;\n", "struct wf_vc_step step;\n"
                                               "    *(volatile int *)8 = 1;\n"))
    done = weft("--plugin", crashing, "replay", "gen:random", "-n", "16", *ON_TORUS[2:], "-p", "net.routing=last")
    check(done.returncode == 70 and "with the plug-in ./crash.so; 'weft check-plugin'" in done.stderr, "a crash", done)
    done = weft("check-plugin", crashing)
    check(done.returncode == 4 and "routing policy last: crashed" in done.stdout, "a policy that crashes", done)
    check_crash_of_call(crashing)


def check_crash_of_call(crashing):
    """In a process that uses the library, it is an error of the call; the process goes on."""
    library = pathlib.Path(WEFT).parent / "src/libweft.so"
    if not library.exists():
        return
    text = ("import signal, weft\nweft.load_plugin(%r)\nrun = lambda routing, **more: weft.run('gen:random', 16, "
            "network='packet', topology='torus:4x4', net__routing=routing, **more)\n"
            "for more in {}, {'engine__threads': 2, 'engine__fit': 'no'}:\n  try:\n    run('last', **more)\n"
            "  except weft.Error as error:\n    print(error.code, error)\n"
            "print(run('minimal').seconds > 0, signal.getsignal(signal.SIGSEGV) == signal.SIG_DFL)\n" % crashing)
    environment = {**os.environ, "WEFT_LIBRARY": str(library), "PYTHONPATH": str(SOURCE / "python")}
    done = subprocess.run([sys.executable, "-B", "-c", text], text=True, capture_output=True, check=False, timeout=60,
                          env=environment)
    words = "3 a crash (Segmentation fault) with the plug-in ./crash.so; 'weft check-plugin' finds mistakes of plug-ins"
    check(done.returncode == 0 and done.stdout.splitlines() == [words, words, "True True"], "a crash of a call", done)


def check_completion(plugin):
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _weft; printf "%s\\n" "${COMPREPLY[@]}"'
    for words, wanted in (([plugin, "replay", "gen", ":", "pu"], "pulse"), ([plugin, "replay", "x", "--topo", "ch"], "chordal:"),
                          (["=", plugin, "re"], "replay")):
        done = subprocess.run(["bash", "-c", script, "bash", str(SOURCE / "share/completions/weft.bash"), WEFT,
                               "--plugin", *words], capture_output=True, text=True, check=False)
        check(wanted in done.stdout.split(), f"completion of {words}", done)


EXAMPLE_OBJECT = compiled("chordal", EXAMPLE)
check_parts(compiled("parts", PARTS))
check_scheduling()
check_crash()
check_completion(EXAMPLE_OBJECT)
check_use(EXAMPLE_OBJECT)
check_check(EXAMPLE_OBJECT)
check_refusals(EXAMPLE_OBJECT)
finish()
