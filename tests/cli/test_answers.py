# SPDX-License-Identifier: Apache-2.0
"""What the answers say: where the ranks are, on which machine, and how to repeat a run."""
import json
import pathlib
import re
import subprocess

from weft_cli import WEFT, check, check_run, finish, parse, run

FRONTIER = ["replay", "gen:ring", "-n", "4", "--machine", "frontier"]
STAYS = "no message leaves its node"


def check_placement():
    """The first lines name the machine, the nodes used, and the ranks on a node."""
    done = check_run(FRONTIER, 0, stdout=r"Machine +frontier\n(.*\n)?Nodes +1 node used, up to 4 ranks on each")
    check(STAYS in done.stdout and "--ranks-per-node" in done.stdout, "no warning", done)
    spread = check_run([*FRONTIER, "--ranks-per-node", "1"], 0, stdout=r"Nodes +4 nodes used, up to 1 rank on each")
    check(STAYS not in spread.stdout, "a warning though messages cross the network", spread)
    for more in ["--ranks-per-node", "1"], ["-n", "1"]:
        done = run(*FRONTIER, *more)
        check(STAYS not in done.stdout, f"{more}: warned", done)
    document = parse(run(*FRONTIER, "--ranks-per-node", "3", "-p", "gen.bytes=3kB", "--threads", "2", "--json"))
    result, scenario = document["result"], document["scenario"]
    check((result["nodes_used"], result["ranks_on_node_max"]) == (2, 3), f"{result['nodes_used']}, {result['ranks_on_node_max']}")
    check(scenario["machine"] == "frontier", "no machine")
    check(scenario["settings"] == {"source": "gen:ring", "ranks": "4", "ranks_per_node": "3", "gen.bytes": "3kB"},
          f"settings: {scenario['settings']}")
    random = parse(run(*FRONTIER, "--placement", "random", "--ranks-per-node", "2", "--json"))["result"]
    check((random["nodes_used"], random["ranks_on_node_max"]) == (2, 2), f"random: {random['nodes_used']}")


def check_explain():
    """The machine's name is in explanations and in what compares two runs."""
    for name, machine in ("a", "frontier"), ("b", "gige"):
        done = run("replay", "gen:ring", "-n", "4", "--machine", machine, "--ranks-per-node", "1", "-o", f"{name}.json")
        check(done.returncode == 0, name, done)
    done = check_run(["explain", "a.json"], 0, stdout="on frontier, 4 nodes used")
    check("unknown" not in done.stdout and "a network that costs nothing" in done.stdout and
          "weft replay gen:ring --machine frontier -n 4 --ranks-per-node 1 --what-if" in done.stdout, "no answer", done)
    check_run(["explain", "a.json", "--efficiency"], 0, stdout="a network that costs nothing 4[.]3")
    # On one node the network saves nothing; what messages cost the node is named as that.
    check_run(["replay", "gen:ring", "-n", "4", "--machine", "frontier", "-q", "-o", "node.json"], 0)
    done = check_run(["explain", "node.json"], 0, stdout="messages that cost their own node nothing .*3.082 us .100.0 %.")
    check("network that costs nothing" not in done.stdout, "one node has no network to save", done)
    done = run("compare", "a.json", "b.json")
    check("machine: gige, was frontier" in done.stdout, "compare", done)


def check_limits():
    """What limits a run comes from a run on an ideal network, which explain makes itself; commands repeat runs."""
    cases = (("imbalance", ["gen:stencil3d", "-n", "64", "-p", "gen.imbalance=0.4"], "Load imbalance limits it most"),
             ("compute", ["gen:stencil3d", "-n", "64"], "Computing limits it"),
             ("network", ["gen:fft", "-n", "16", "-p", "net.bandwidth=10MB/s"], "The network limits it most"),
             ("bubbles", ["gen:llm", "-n", "8", "-p", "gen.pipeline=8", "-p", "gen.layers=8", "-p", "gen.hidden=512", "-p", "gen.heads=8",
                          "-p", "gen.batch=8", "--net", "loggp", "--machine", "h100-rail"], "Bubbles limit it most"))
    for name, args, words in cases:
        done = run("replay", *args, "-o", f"{name}.json")
        check(done.returncode == 0, name, done)
        done = check_run(["explain", f"{name}.json"], 0, stdout=words)
        saved = [float(one) for one in re.findall(r" [0-9.]+ \w+ \(([0-9.]+) %\)", re.search("What would save .*", done.stdout)[0])]
        check(saved and saved == sorted(saved, reverse=True) and max(saved) <= 100, f"{saved}", done)
        command = done.stdout.split(": weft ")[1].splitlines()[0].replace("-o run.html", "-o again.json -f").replace("-o again.json", "-o again.json -f")
        again = subprocess.run(f"{WEFT} {command}", shell=True, capture_output=True, text=True, check=False)
        check(again.returncode == 0, command, again)
        one, other = (json.loads(pathlib.Path(file).read_text(encoding="utf-8")) for file in (f"{name}.json", "again.json"))
        check(one["result"]["digest"] == other["result"]["digest"], f"{command}: another result")
    changed = json.loads(pathlib.Path("compute.json").read_text(encoding="utf-8"))
    changed["result"]["digest"] = "0" * 16
    pathlib.Path("changed.json").write_text(json.dumps(changed), encoding="utf-8")
    check_run(["explain", "changed.json", "--efficiency"], 3, "another result today")
    check_run(["explain", "changed.json"], 0, stdout="Its largest part is computing")
    changed["scenario"]["settings"]["source"] = "run:/bin/true"
    pathlib.Path("changed.json").write_text(json.dumps(changed), encoding="utf-8")
    check_run(["explain", "changed.json", "--efficiency"], 3, "a file may not start a program")
    check_run(["explain", "changed.json"], 0, stdout="Its largest part")


def check_study():
    """Results of studies keep their settings and the machine."""
    pathlib.Path("study.yaml").write_text("settings: {machine: frontier, source: 'gen:ring'}\ngrid: {ranks: [2, 4]}\n", encoding="utf-8")
    done = run("sweep", "study.yaml", "-q")
    check(done.returncode == 0, "sweep", done)
    for path in pathlib.Path("study").glob("*.json"):
        scenario = json.loads(path.read_text(encoding="utf-8"))["scenario"]
        check(scenario["settings"] == {"source": "gen:ring", "ranks": str(scenario["ranks"])}, f"{scenario['settings']}")


def check_failed():
    """Links that fail for the whole run leave a line, and a class of links can fail alone."""
    args = ["replay", "gen:stencil3d", "-n", "64", "--net", "packet", "--topo", "dragonfly:4"]
    done = check_run([*args, "-p", "net.fail=links:global:50%"], 0, stdout=r"Failed +528 of 2,508 links \(links:global:50%\)\n")
    tree = ["replay", "gen:ring", "-n", "16", "--net", "router", "--topo", "fattree:4x4x4,up=1,4,4", "-p", "net.fail=routers:2", "--json"]
    failed = parse(run(*tree))["result"]["network"]["failed"]
    check(failed["routers"] == 2 and 8 < failed["links"] < 40, f"{failed}")
    check_run([*args, "-p", "net.fail=links:globl:1"], 3, "no links of the class 'globl'; did you mean 'global'?")
    check("Failed" not in run(*args).stdout, "nothing failed", done)


def check_energy():
    """A run pays for its nodes, or for the whole machine."""
    args = ["replay", "gen:ring", "-n", "8", "--net", "packet", "--topo", "torus:4x4x4", "-p", "power.idle=100", "-p", "power.link=2", "--json"]
    own, whole = (parse(run(*args, "-p", f"power.charge={charge}"))["result"]["energy"] for charge in ("used", "machine"))
    for part in "nodes_joules", "links_joules":
        check(abs(whole[part] / own[part] - 8) < 0.01, f"{part}: {whole[part]} {own[part]}")


def check_before():
    """What is known before the simulation is reported before it."""
    done = check_run(["replay", "gen:llm", "-n", "64", "-p", "gen.model=llama3-70b", "--machine", "h100-rail", "--net", "loggp",
                      "--until", "1us"], 0, "note: the model does not fit: a device needs 425 GiB")
    check(done.stderr.count("does not fit") == 1, "more than once", done)
    # Told before the first event: the run is interrupted long before its end.
    with subprocess.Popen([WEFT, "replay", "gen:random", "-n", "4096", "--net", "packet", "--topo", "dragonfly:8", "-p", "gen.bytes=16MiB"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        line = process.stderr.readline()
        process.terminate()
        process.stderr.read()
    check(re.match(r"weft: note: a long run: 16.8 M messages, 256 TiB; by a rough estimate .* hours, and .* of memory", line), line)
    done = check_run(["replay", "gen:random", "-n", "64"], 0)
    check("long run" not in done.stderr, "a short run", done)


def check_outside():
    """A run that is faster than most repeated ones is not the prediction, and the result says so."""
    pathlib.Path("even.txt").write_text("loop i 0..20 {\n compute 1ms + (i % 2) * 1ms\n barrier\n}\n", encoding="utf-8")
    done = check_run(["replay", "gen:text", "-n", "8", "-p", "gen.file=even.txt", "--runs", "21"], 0)
    first, low, high = re.search(r"Predicted time +([0-9.]+) ms\n +90 % of runs +([0-9.]+) ms \.\. ([0-9.]+) ms", done.stdout).groups()
    check(not float(low) <= float(first) <= float(high) and "outside of 90 % of the runs" in done.stdout, f"{first} {low} {high}", done)


def check_pipe():
    """A reader that has enough is no error."""
    with subprocess.Popen([WEFT, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        check(process.stderr.read() == b"", "weft --help | head: not silent")


def main():
    check_placement()
    check_pipe()
    check_explain()
    check_limits()
    check_study()
    check_failed()
    check_energy()
    check_before()
    check_outside()
    pathlib.Path("a.json").unlink()
    finish()


main()
