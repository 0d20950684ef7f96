# SPDX-License-Identifier: Apache-2.0
"""Every kind of mistake: its exit code, one line on stderr that says what was expected, and,
with --json, one document on stdout that says the same."""
import os
import pathlib
import subprocess

from weft_cli import WEFT, check, check_run, finish, parse, run

REPLAY = ["replay", "gen:stencil3d", "-n", "8"]
# Words after the command, exit code, what stderr must say.
CASES = [
    # commands
    (["rpelay"], 2, "unknown command 'rpelay'; did you mean 'replay'"),
    (["--vresion"], 2, "unknown option '--vresion'; did you mean '--version'"),
    (["xyzzy"], 2, "unknown command 'xyzzy'; 'weft help'"),
    (["help", "net.logp"], 2, "no help on 'net.logp'; did you mean 'net.loggp'"),
    (["help", "xyzzy"], 2, "no help on 'xyzzy'"),
    (["bench"], 2, "no model"),
    (["bench", "fold"], 2, "unknown model 'fold'; did you mean 'phold'"),
    (["bench", "phold", "queues"], 2, "also 'queues'"),
    (["replay"], 2, "no source"),
    (["replay", "gen:stencil3d", "gen:ring"], 2, "also 'gen:ring'"),
    # sources
    (["replay", "stencil3d", "-n", "8"], 2, "expected gen:"),
    (["replay", "gen:stencil4d", "-n", "8"], 2, "unknown generator.*did you mean 'stencil3d'"),
    # ranks
    (["replay", "gen:stencil3d"], 2, "how many ranks"),
    (["replay", "gen:stencil3d", "-n", "0"], 2, "--ranks: '0' is out of range; expected 1 to"),
    (["replay", "gen:stencil3d", "-n", "-1"], 2, "--ranks: '-1' is not a count"),
    (["replay", "gen:stencil3d", "-n", "many"], 2, "--ranks: 'many' is not a count"),
    (["replay", "gen:stencil3d", "-n", "5000000000"], 2, "--ranks: .* out of range"),
    (["replay", "gen:stencil3d", "-n", "4000000000"], 5, "would need about .* of memory"),
    ([*REPLAY, "--ranks-per-node", "0"], 2, "--ranks-per-node: '0' is out of range"),
    # networks and topologies
    ([*REPLAY, "--net", "logpg"], 2, "unknown network model 'logpg'; did you mean 'loggp'"),
    ([*REPLAY, "--net", "latency"], 2, "'latency' needs a topology"),
    ([*REPLAY, "--topo", "tours:2x2x2"], 3, "unknown topology 'tours' .*did you mean 'torus'"),
    ([*REPLAY, "--topo", "torus:2x"], 3, "expected a number .* at character 3"),
    ([*REPLAY, "--topo", "torus:0"], 3, "a size of 0"),
    ([*REPLAY, "--topo", "torus:99999x99999"], 3, "torus: size: too large, more than [0-9]+"),
    ([*REPLAY, "--topo", "torus:2x2"], 3, "8 ranks, 1 on a node, need 8 nodes.*has only 4"),
    # one line, whatever bytes are quoted
    ([*REPLAY, "-p", "gen.bytes=a\nb\x1b[31m"], 2, r"^weft: [^\n\x1b]*'a\?b\?\[31m'[^\n\x1b]*\n$"),
    # more than fits
    ([*REPLAY, "--net", "alphabeta", "-p", "gen.bytes=8EB", "-p", "gen.iterations=1"], 5,
     "simulated time passes"),
    ([*REPLAY, "-p", "gen.compute=9223372036854775807ps", "-p", "gen.iterations=1"], 5,
     "simulated time passes"),
    ([*REPLAY, "--net", "alphabeta", "-p", "gen.bytes=9EB", "-p", "net.bandwidth=2PB/s"], 5,
     "bytes or more are sent"),
    # parameters
    ([*REPLAY, "-p", "net.l=1us"], 2, "unknown parameter 'net.l'; did you mean 'net.L'"),
    ([*REPLAY, "-p", "nte.L=1us"], 2, "unknown parameter 'nte.L'.*did you mean 'net'"),
    ([*REPLAY, "-p", "xyzzy=1"], 2, "unknown parameter 'xyzzy'"),
    ([*REPLAY, "-p", "threads=2"], 2, "'threads'; did you mean 'engine.threads'"),
    ([*REPLAY, "-p", "rank=2"], 2, "'rank'; did you mean 'ranks'"),
    (["bench", "phold", "-p", "ranks=2"], 2, "ranks means nothing to source 'bench:phold'"),
    ([*REPLAY, "-p", "net.L"], 2, "net.L.*name=value"),
    ([*REPLAY, "-p", "net.L=1"], 2, "net.L: '1' is not a time; expected .* us"),
    ([*REPLAY, "-p", "net.L=1parsec"], 2, "net.L: '1parsec' is not a time"),
    ([*REPLAY, "-p", "net.L=-1us"], 2, "net.L: '-1us' is not a time"),
    ([*REPLAY, "-p", "net.L=2h"], 2, "net.L: '2h' is out of range; expected 0 to 1h"),
    ([*REPLAY, "-p", "net.bandwidth=10GB"], 2, "net.bandwidth: '10GB' is not a rate"),
    ([*REPLAY, "-p", "gen.bytes=64KiBs"], 2, "gen.bytes: '64KiBs' is not a size"),
    ([*REPLAY, "-p", "gen.allreduce=perhaps"], 2, "gen.allreduce: .*neither true nor false"),
    ([*REPLAY, "-p", "phold.lps=5"], 2, "phold.lps means nothing to source 'gen:stencil3d'"),
    ([*REPLAY, "-p", "gen.bytes=1EiB"], 5, "106 days"),
    (["bench", "phold", "-p", "gen.bytes=5"], 2, "gen.bytes means nothing"),
    (["bench", "phold", "--lps", "0"], 2, "--lps: '0' is out of range"),
    (["bench", "phold", "--remote", "1.5"], 2, "--remote: '1.5' is out of range; expected 0 to 1"),
    (["bench", "phold", "--remote", "nan"], 2, "--remote: 'nan' is not a number"),
    (["bench", "phold", "--end", "5"], 2, "--end: '5' is not a time"),
    (["bench", "phold", "--lookahead", "2us"], 2, "phold.lookahead is larger than phold.mean"),
    (["bench", "phold", "--lps", "1073741824"], 5, "would need about .* of memory"),
    # the engine
    ([*REPLAY, "--sched", "optimstic"], 2, "--sched: 'optimstic' .*did you mean 'optimistic'"),
    ([*REPLAY, "--threads", "0"], 2, "--threads: '0' is out of range"),
    ([*REPLAY, "--threads", "100000"], 2, "--threads: .* out of range"),
    ([*REPLAY, "-p", "engine.batch=0"], 2, "engine.batch: '0' is out of range"),
    ([*REPLAY, "--seed", "-1"], 2, "--seed: '-1' is not a count"),
    # options
    ([*REPLAY, "--thread", "2"], 2, "unknown option '--thread'; did you mean '--threads'"),
    ([*REPLAY, "-x"], 2, "unknown option '-x'"),
    ([*REPLAY, "--threads"], 2, "option '--threads' needs an argument"),
    ([*REPLAY, "--progress", "often"], 2, "--progress: 'often' is not one of auto"),
    # outputs
    ([*REPLAY, "-o", "result.jsn"], 2, "must end in .txt, .json or .csv"),
    ([*REPLAY, "-o", "nowhere/result.json"], 3, "cannot write 'nowhere/result.json'"),
    ([*REPLAY, "-o", "there.json"], 3, "'there.json' exists; -f overwrites it"),
    ([*REPLAY, "-o", "directory.json"], 3, "cannot write 'directory.json'"),
]


def one_line(done):
    return (done.stderr.startswith("weft: ") and done.stderr.count("\n") == 1
            and done.stderr.endswith("\n"))


def check_case(args, code, stderr):
    done = check_run(args, code, stderr)
    check(one_line(done), f"{args}: stderr is not one line that begins with 'weft: '", done)
    check(done.stdout == "", f"{args}: stdout is not empty", done)

    done = run(*args, "--json")
    document = parse(done)
    if "help" not in args:
        check(document.get("error", {}).get("exit_code") == code,
              f"{args} --json: no document with the exit code", done)
        check(one_line(done), f"{args} --json: stderr is not one line", done)
        check(f"weft: {document.get('error', {}).get('message')}\n" == done.stderr,
              f"{args} --json: document and stderr differ", done)


def main():
    pathlib.Path("there.json").write_text("precious", encoding="utf-8")
    os.mkdir("directory.json")
    before = sorted(os.listdir())
    for args, code, stderr in CASES:
        check_case(args, code, stderr)
    check(sorted(os.listdir()) == before, f"files were left behind: {sorted(os.listdir())}")
    check(pathlib.Path("there.json").read_text(encoding="utf-8") == "precious",
          "there.json was touched")

    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([WEFT, *REPLAY], stdout=full, stderr=subprocess.PIPE,
                                  check=False, timeout=50)
            check(done.returncode == 3, f"full disk: exit code {done.returncode}")
            check(b"cannot write the result" in done.stderr, "full disk: no message")
    finish()


main()
