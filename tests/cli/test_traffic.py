# SPDX-License-Identifier: Apache-2.0
"""weft traffic: curves, schedules, deadlock and mistakes."""
import csv
import json
import os
import pathlib
import re
import signal
import subprocess
from xml.etree import ElementTree

from weft_cli import WEFT, arbitrations, check, check_run, finish, parse, run

UNIFORM = ["traffic", "uniform", "--topo", "torus:4x4"]
# Words, exit code, what stderr must say.
CASES = [
    (["traffic"], 2, "a pattern is missing"),
    (["traffic", "uniform"], 2, "traffic needs a topology"),
    (["traffic", "unifrom", "--topo", "torus:4x4"], 3, "did you mean 'uniform'"),
    ([*UNIFORM, "--load", "1.5"], 3, "a load of 1.5 is not between 0 and 1"),
    ([*UNIFORM, "--load", "0.1:0.9"], 2, "first:last:step"),
    ([*UNIFORM, "--load", "0.5:0.1:0.1"], 3, "has no loads"),
    ([*UNIFORM, "--load", "much"], 2, "expected a load"),
    ([*UNIFORM, "-p", "traffic.load=1.5"], 3, "traffic.load: a load of 1.5 is more than 1 phit"),
    ([*UNIFORM, "-p", "net.vcs=17"], 3, "net.vcs: 17 is too large; expected 1 to 16"),
    ([*UNIFORM, "-p", "net.routing=par"], 3, "'par' needs a dragonfly, not a torus"),
    ([*UNIFORM, "-p", "net.routing=table"], 3, "'table' needs a file: net.routing_file=<path>"),
    ([*UNIFORM, "-p", "net.fail=link:0-9"], 3,
     "net.fail: damage 'link:0-9': there is no cable between these vertices"),
    ([*UNIFORM, "-p", "net.fail=link:0-1", "-p", "net.routing=dor"], 3,
     "dor routing works on grids, not on a damaged network; minimal works everywhere"),
    ([*UNIFORM, "-p", "net.queue=0"], 3, "net.queue: a queue must have room for a packet"),
    (["traffic", "reversal", "--topo", "torus:3x3"], 3, "needs a power of two nodes, not 9"),
    (["traffic", "butterfly", "--topo", "torus:6"], 3, "needs a power of two nodes, not 6"),
    ([*UNIFORM, "-n", "4"], 2, "unknown option '-n'"),
    ([*UNIFORM, "-p", "mpi.eager_max=4KiB"], 2, "does not apply to source 'traffic:uniform'"),
    ([*UNIFORM, "--load", "0.1,0.2", "-o", "curve.eps"], 2,
     "curve 'curve.eps': the name must end in .txt, .json, .csv, .html, .svg, .png or .pdf"),
    ([*UNIFORM, "--vary", "net.routing=minimal,valiant"], 2, "--vary needs the loads of a curve"),
    ([*UNIFORM, "--load", "0.1", "--vary", "net.routing"], 2, "expected a setting and its values"),
    ([*UNIFORM, "--load", "0.1", "--vary", "net.routing=minimal,"], 2, "a value is missing"),
    ([*UNIFORM, "--load", "0.1", "--vary", "net.ruoting=minimal"], 2, "did you mean 'net.routing'"),
    ([*UNIFORM, "--load", "0.1", "--vary", "net.routing=valient"], 2, "did you mean 'valiant'"),
    ([*UNIFORM, "--load", "0.1,0.2", "--plot", "curve.csv"], 2, "must end in .svg, .png or .pdf"),
    ([*UNIFORM, "--load", "0.1,0.2", "-o", "nowhere/curve.png"], 3, "cannot write"),
    ([*UNIFORM, "--load", "0.1,0.2", "--dry-run"], 2, "--dry-run does not work with a sweep"),
    (["traffic", "shuffle", "--topo", "torus:3x3"], 3, "needs a power of two nodes, not 9"),
    (["traffic", "transpose", "--topo", "torus:3x5"], 3, "needs a square of nodes, not 15"),
    ([*UNIFORM, "-p", "net.queue=1"], 3, "room for 2 packets"),
    ([*UNIFORM, "-p", "net.packet=30B"], 3, "30 bytes are not 1 to 65536 phits"),
    ([*UNIFORM, "-p", "net.routing=adaptive-3vc", "-p", "net.vcs=2"], 3,
     "2 virtual channels do not work with adaptive-3vc routing, which needs 3"),
    ([*UNIFORM, "-p", "net.routing=updown"], 3, "'updown' needs a tree"),
    (["traffic", "matrix", "--topo", "torus:4x4"], 3, "needs a file"),
    (["traffic", "matrix", "--topo", "torus:4x4", "-p", "traffic.matrix=nowhere"], 3,
     "cannot read 'nowhere'"),
    ([*UNIFORM, "-p", "traffic.reply=64B"], 3, "add rounds, as in -p traffic.rounds=10"),
    ([*UNIFORM, "-p", "traffic.rounds=2", "--load", "0.1,0.2"], 2,
     "--load and traffic.rounds exclude each other"),
    ([*UNIFORM, "--csv", "curve.csv"], 2, "--csv needs the loads of a curve"),
    ([*UNIFORM, "-p", "net.switching=wormhole", "-p", "net.arbitration=age"], 3,
     "net.arbitration: has no effect with wormhole switching"),
    ([*UNIFORM, "-p", "net.switching=wormhole", "-p", "net.transit_priority=1"], 3,
     "net.transit_priority: has no effect with wormhole switching"),
    ([*UNIFORM, "-p", "net.speculative=yes"], 3, "use net.switching=wormhole"),
    (["traffic", "hotspot", "--topo", "torus:4x4", "-p", "traffic.hot_node=16"], 3,
     "there is no node 16"),
]


def test_mistakes():
    for words, code, stderr in CASES:
        check_run([*words, "-q"], code, stderr)


def test_files():
    path = pathlib.Path("pairs.txt")
    path.write_text("# all to node 3\n0 3 1\n1 3 2\n\n", encoding="ascii")
    done = check_run(["traffic", "matrix", "--topo", "torus:4", "-p", "traffic.matrix=pairs.txt",
                      "--json", "-q"], 0)
    check(parse(done)["result"]["arrived"] > 0, "the matrix sends something", done)
    path.write_text("0 9 1\n", encoding="ascii")
    check_run(["traffic", "matrix", "--topo", "torus:4", "-p", "traffic.matrix=pairs.txt", "-q"],
              3, r"pairs.txt:1: expected nodes from 0 to 3")
    path.write_text("# nothing\n", encoding="ascii")
    check_run(["traffic", "matrix", "--topo", "torus:4", "-p", "traffic.matrix=pairs.txt", "-q"],
              3, "pairs.txt: there are no lines")
    for name, text, code, stderr in (("sources", "0 0\n", 0, ""),
                                     ("sources", "2 300\n", 3, "300 % of a load of 0.5 are more"),
                                     ("sizes", "64 0\n", 3, "no line has a weight")):
        path.write_text(text, encoding="ascii")
        check_run([*UNIFORM, "--load", "0.5", "--cycles", "1000", "-p",
                   f"traffic.{name}=pairs.txt", "-q"], code, stderr)


def test_sweep():
    words = [*UNIFORM, "--load", "0.1:0.5:0.2", "--cycles", "4000"]
    one = check_run([*words, "--jobs", "1", "--csv", "one.csv", "--plot", "one.svg"], 0,
                    stdout="converged")
    two = check_run([*words, "--jobs", "3", "--csv", "two.csv", "--json"], 0)
    rows = pathlib.Path("one.csv").read_text(encoding="ascii")
    check(rows == pathlib.Path("two.csv").read_text(encoding="ascii"),
          "a curve does not depend on how many loads go side by side", one)
    loads = [row["load"] for row in csv.DictReader(rows.splitlines())]
    check(loads == ["0.1", "0.3", "0.5"], f"loads are {loads}", one)
    check(ElementTree.parse("one.svg").getroot().tag.endswith("svg"), "an SVG", one)
    check(len(parse(two)["points"]) == 3, "three points in the document", two)
    single = parse(run(*UNIFORM, "--load", "0.3", "--cycles", "4000", "--json", "-q"))
    check(single["result"]["digest"] == list(csv.DictReader(rows.splitlines()))[1]["digest"],
          "a point of a sweep is the run of that load", one)


def test_curve_files():
    """The name of the file says what it is; the same curve gives the same bytes."""
    words = [*UNIFORM, "--load", "0.1:0.5:0.2", "--cycles", "2000", "-o"]
    for name in ("curve.png", "again.png", "curve.svg", "curve.csv", "curve.json", "curve.txt"):
        check_run([*words, name], 0, stdout="^$")
    check_run([*words, "curve.png"], 3, "'curve.png' exists; -f overwrites it")
    check_run([*words, "curve.html"], 0, stdout="^$")
    page = pathlib.Path("curve.html").read_text(encoding="utf-8")
    check(page.count("<tr>") == 4 and "<svg" in page and "://" not in page.replace(
        "http://www.w3.org/2000/svg", ""), "curve.html")
    picture = pathlib.Path("curve.png").read_bytes()
    check(picture.startswith(b"\x89PNG\r\n\x1a\n") and picture.endswith(b"IEND\xaeB`\x82"),
          "curve.png is no PNG")
    check(picture == pathlib.Path("again.png").read_bytes(), "two drawings differ")
    marks = [e for e in ElementTree.parse("curve.svg").iter() if e.tag.endswith("circle")]
    check(len(marks) == 6, f"3 loads in 2 panels have {len(marks)} marks")
    check(pathlib.Path("curve.csv").read_text(encoding="ascii").count("\n") == 4, "curve.csv")
    check_run([*UNIFORM, "--load", "0.1", "--cycles", "1000", "-o", "point.csv", "-q"], 0)
    check(pathlib.Path("point.csv").read_text(encoding="ascii").count("\n") == 2,
          "one load is a curve of one row")
    points = json.loads(pathlib.Path("curve.json").read_text(encoding="utf-8"))["points"]
    check([p["load"] for p in points] == [0.1, 0.3, 0.5], f"curve.json has {points}")
    check("converged" in pathlib.Path("curve.txt").read_text(encoding="ascii"), "curve.txt")
    check_run([*UNIFORM, "--load", "0.3", "--cycles", "2000", "-o", "one-load.png"], 0)
    check(pathlib.Path("one-load.png").read_bytes().startswith(b"\x89PNG"), "a curve of one load")


def test_interrupted():
    """What is done is not lost."""
    words = [WEFT, *UNIFORM, "--load", "0.05:0.9:0.01", "--cycles", "200000", "--jobs", "1",
             "--progress", "always", "--csv", "some.csv"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        for line in process.stderr:
            if re.match(r"2 of 86 loads  [\d:]+ left", line):
                break
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=100)
    check(process.returncode == 130 and "of 86 loads are done" in err, f"interrupted: {err}")
    rows = list(csv.DictReader(pathlib.Path("some.csv").read_text(encoding="ascii").splitlines()))
    check(2 <= len(rows) < 86 and rows[1]["load"] == "0.06" and out.count("converged") >= 2,
          f"{len(rows)} loads are done: {out}")


def test_network_statistics():
    """All that the models count of their links, also under synthetic traffic."""
    for net in "packet", "router":
        words = [*UNIFORM, "--load", "0.2", "--cycles", "2000", "--net", net, "--json", "-q"]
        plain, counted = parse(run(*words)), parse(run(*words, "-p", "net.stats=links"))
        network = counted["result"]["network"]
        check(plain["result"]["digest"] == counted["result"]["digest"], f"{net}: to count changes it")
        check(sum(link["packets"] for link in network["links"]) == network["packet_hops"] and
              all(sum(map(int, link["load_bytes"].split())) == link["bytes"]
                  for link in network["links"]), f"{net}: links do not add up")
        arrived = sum(row["messages"] for row in network["latency_ps"]["histogram"])
        check(arrived >= counted["result"]["arrived"], f"{net}: {arrived} messages")


def test_longer():
    document = parse(run(*UNIFORM, "--load", "0.3", "--cycles", "500", "-p",
                         "traffic.cycles_max=64000", "-p", "traffic.precision=0.02", "--json",
                         "-q"))
    check(document["result"]["cycles"] > 500, "a run that has not converged goes on")
    check(document["result"]["converged"], "until it has")


def test_escape_channels():
    """Adaptive wormhole routing beyond saturation: packets that stay in escape channels keep the
    accepted load (BookSim2 accepts 0.50 with one adaptive channel), those that leave them lose it."""
    for stay, least, most in ("stay", 0.46, 0.55), ("leave", 0.2, 0.42):
        done = run("traffic", "uniform", "--topo", "torus:8x8", "--load", "0.9", "--cycles", "4000",
                   "-p", "net.switching=wormhole", "-p", "net.routing=adaptive", "-p", "net.vcs=3",
                   "-p", "net.pipeline=1", "-p", f"net.escape={stay}", "--json")
        accepted = parse(done)["result"]["accepted_load"]
        check(least < accepted < most, f"escape={stay}: {accepted} is accepted", done)


def test_deadlock():
    words = [*UNIFORM, "--load", "1", "-p", "net.flow=plain", "-p", "net.queue=1", "--json", "-q"]
    done = check_run([*words, "--cycles", "1000000000"], 4,
                     "in a deadlock, detected in cycle [0-9]+: router .* -> the first again")
    result = parse(done)["result"]
    check(result["status"] == "deadlock", "the result says so", done)
    check(result["deadlock_known_cycle"] < 100000, "the watchdog ends the run early", done)
    done = run(*UNIFORM, "--load", "1", "-p", "net.flow=plain", "-p", "net.queue=1", "-q")
    check("deadlock\n" in done.stdout, "the status is a word, nothing follows", done)
    late = check_run([*words, "-p", "net.watchdog=0"], 4, "detected in cycle 32000: router")
    check(parse(late)["result"]["status"] == "deadlock", "or it is found at the end", late)
    check_run(["replay", "gen:random", "-n", "64", "--net", "router", "--topo", "torus:8x8", "-p",
               "net.flow=plain", "-p", "net.queue=1", "-p", "gen.bytes=4KiB", "-q"], 4,
              "the network is in a deadlock, detected at .*: router .* -> the first again")
    for routing in ("oblivious-1vc", "oblivious-3vc", "adaptive-3vc", "dateline"):
        check_run([*UNIFORM, "--load", "1", "-p", f"net.routing={routing}", "-q",
                   "--cycles", "5000"], 0, stdout="saturated")


def accepted(*words):
    result = parse(run(*UNIFORM, "--load", "0.9", "--cycles", "6000", "--json", "-q", *words))
    return result["result"]["accepted_load"], result["result"]["network"]


def test_congestion_control():
    free, network = accepted()
    held, held_network = accepted("-p", "net.global_restriction=0.05")
    check(held < 0.9 * free, f"a global restriction keeps packets out: {held} of {free}")
    check(held_network["mean_injection_wait_cycles"] > network["mean_injection_wait_cycles"],
          "they wait before the network")
    high, _ = accepted("-p", "net.global_restriction=1")
    check(abs(high - free) < 1e-9, "one that is never reached changes nothing")
    local, local_network = accepted("-p", "net.restriction=4")
    check(local_network["mean_injection_wait_cycles"] > network["mean_injection_wait_cycles"],
          f"a local restriction lets packets wait, too: {local} of {free}")
    _, transit = accepted("-p", "net.transit_priority=1")
    check(transit["mean_injection_wait_cycles"] > network["mean_injection_wait_cycles"],
          "so does a priority of those in transit")
    check_run([*UNIFORM, "-p", "net.global_restriction=0.1", "-p", "net.global_delay=4", "-p",
               "net.link_delay=5"], 3, "net.global_delay: 4 cycles are too few")
    worms = [*UNIFORM, "-p", "net.global_restriction=0.1", "-p", "net.switching=wormhole", "-p"]
    check_run([*worms, "net.global_delay=5"], 3, "too few to tell all nodes; expected at least 6$")
    check_run([*worms, "net.global_delay=6", "-q"], 0, stdout="offered, 0.1")


# Everything that can be chosen: whatever it is, all messages of a closed loop arrive.
CHOICES = [
    *[["net.arbitration=" + name, "net.routing=oblivious-3vc"]
      for name in arbitrations()],
    *[["net.request=" + name, "net.routing=adaptive-3vc"]
      for name in ("first", "shortest", "random", "smart")],
    *[["net.injection=" + name, "net.injection_queues=4", "net.injection_length=2"]
      for name in ("shortest", "direction", "longest-path")],
    *[["net.routing=" + name] for name in ("dateline", "dateline-free", "minimal", "valiant",
                                           "ugal", "dor", "auto")],
    *[["net.routing=adaptive", f"net.vcs={n}"] for n in range(2, 9)],
    ["net.consume_one=yes"], ["net.pipeline=3", "net.link_delay=2", "net.credit_delay=4"],
    ["net.turnaround=2"], ["net.transit_priority=0.7"], ["net.restriction=3"],
    ["net.global_restriction=0.02"], ["net.queue=16", "net.flow=bubble"],
    ["net.phit=8B", "net.packet=32B"],
]


def test_choices():
    for choice in CHOICES:
        words = [word for setting in choice for word in ("-p", setting)]
        done = check_run([*UNIFORM, "-p", "traffic.rounds=4", "-p", "traffic.burst=6", "-p",
                          "traffic.size=100B", *words, "--json", "-q"], 0)
        check(parse(done)["result"]["arrived"] == 16 * 4 * 6, f"all arrive with {choice}", done)
    for choice in (["net.buffers=credits", "net.fail=link:0-1"], ["net.nic=rr"],
                   ["net.routing=ugal_g", "net.buffers=credits", "net.vc_bytes=1KiB"]):
        words = [word for setting in choice for word in ("-p", setting)]
        done = check_run([*UNIFORM, "--net", "packet", "-p", "traffic.rounds=4", "-p",
                          "traffic.burst=6", *words, "--json", "-q"], 0)
        check(parse(done)["result"]["arrived"] == 16 * 4 * 6, f"all arrive with {choice}", done)
    for topo in ("dragonfly:2", "hyperx:3x3"):
        for routing in ("minimal", "valiant", "ugal", "adaptive"):
            done = check_run(["traffic", "tornado", "--topo", topo, "--load", "0.9", "--cycles",
                              "3000", "-p", f"net.routing={routing}", "--json", "-q"], 0)
            check(parse(done)["result"]["accepted_load"] > 0.05, f"{routing} on {topo}", done)


# Whatever the messages and when they come up, the load is what was asked for.
def test_arrivals():
    pathlib.Path("sizes.txt").write_text("32 3\n256 1\n", encoding="ascii")
    pathlib.Path("sources.txt").write_text("0 0\n1 300\n", encoding="ascii")
    for words, share in [([], 1), (["traffic.arrivals=poisson"], 1), (["traffic.burst=5"], 1),
                         (["traffic.sizes=sizes.txt"], 1),
                         (["traffic.long_size=512B", "traffic.long_share=0.25"], 1),
                         (["traffic.sources=sources.txt"], 17 / 16)]:
        words = [word for setting in words for word in ("-p", setting)]
        done = check_run([*UNIFORM, "--load", "0.2", "--cycles", "40000", *words, "--json", "-q"],
                         0)
        load = parse(done)["result"]["offered_load"]
        check(abs(load - 0.2 * share) < 0.02, f"a load of {load} with {words}", done)
    widths = [parse(run(*UNIFORM, "--load", "0.3", "-p", f"traffic.confidence={level}", "--json",
                        "-q"))["result"]["latency_cycles"]["half_width"] for level in (90, 95, 99)]
    check(0 < widths[0] < widths[1] < widths[2], f"intervals grow with their level: {widths}")


def test_closed():
    done = check_run([*UNIFORM, "-p", "traffic.rounds=5", "-p", "traffic.burst=4", "--json",
                      "-q"], 0)
    check(parse(done)["result"]["arrived"] == 16 * 5 * 4, "all of a closed loop arrives", done)
    done = check_run([*UNIFORM, "-p", "traffic.rounds=5", "-p", "traffic.burst=4", "-p",
                      "traffic.reply=128B", "--json", "-q"], 0)
    check(parse(done)["result"]["arrived"] == 2 * 16 * 5 * 4, "with its answers", done)


def test_lock_step():
    """Whole results are equal; what only events can do is refused by name, and `auto` uses events."""
    for words in (["--load", "0.7"], ["--load", "0.5", "-p", "net.routing=adaptive-3vc", "-p", "net.stats=summary", "--threads", "2"],
                  ["--load", "0.4", "-p", "net.switching=wormhole", "-p", "net.stats=summary"],
                  ["--load", "1", "-p", "net.flow=plain", "-p", "net.queue=1", "--cycles", "30000"]):
        results = []
        for execution in ("events", "lockstep", "auto"):
            document = parse(run(*UNIFORM, *words, "--exec", execution, "--json", "-q"))
            results.append(document["result"])
        check(results[0] == results[1] == results[2], f"lock step differs with {words}")
        check(document["run"]["exec"] == ("events" if "net.flow=plain" in words else "lockstep"), f"auto used {document['run']['exec']}")
    held = [*UNIFORM, "-p", "net.switching=wormhole", "-p", "net.hold_switch=yes", "--load", "0.5"]
    check_run([*held, "--exec", "lockstep"], 2, stderr="net.hold_switch cannot be simulated in lock step; use --exec events")
    check(parse(run(*held, "--json", "-q"))["run"]["exec"] == "events", "auto with a switch that is held")
    check(parse(run(*UNIFORM, "--load", "0.5", "--sched", "optimistic", "--json", "-q"))["run"]["exec"] == "events", "auto with a scheduler")
    # Links are busy for four times the load. Grids of frequent kinds are fast in lock step from 2 % on, others from 40 %.
    for load, frequent, other in (("0.002", "events", "events"), ("0.02", "lockstep", "events"), ("0.12", "lockstep", "lockstep")):
        for routing, wanted in (("adaptive-3vc", frequent), ("minimal", other)):
            sparse = run("traffic", "uniform", "--topo", "torus:32x32", "-p", f"net.routing={routing}", "--load", load, "--cycles", "64", "--json", "-q")
            check(parse(sparse)["run"]["exec"] == wanted, f"auto at a load of {load} with {routing}", sparse)
    # Points side by side share the cores: threads that wait for each other in each cycle must not wait for a core.
    pathlib.Path("side.yaml").write_text("title: t\nsettings: {source: 'traffic:uniform', network: router, topology: 'torus:16x16', "
                                         "traffic.cycles: 64, engine.exec: lockstep, engine.threads: 8}\n"
                                         "grid: {traffic.load: [0.5, 0.6]}\n", encoding="utf-8")
    check_run(["sweep", "side.yaml", "-o", "side", "--jobs", "2", "-q"], 0)
    threads = {json.loads(path.read_text(encoding="utf-8"))["run"]["threads"] for path in pathlib.Path("side").iterdir()}
    cores = len(os.sched_getaffinity(0))
    check(threads == {max(1, min(8, cores // 2))}, f"{threads} threads of points side by side on {cores} cores")


test_mistakes()
test_lock_step()
test_files()
test_sweep()
test_interrupted()
test_network_statistics()
test_curve_files()
test_longer()
test_escape_channels()
test_deadlock()
test_congestion_control()
test_choices()
test_arrivals()
test_closed()
finish()
