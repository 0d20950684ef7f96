# SPDX-License-Identifier: Apache-2.0
"""What the answers say: where the ranks are, on which machine, and how to repeat a run."""
import pathlib
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
    check("unknown" not in done.stdout and "repeat the run with --efficiency" in done.stdout, "no answer", done)
    done = run("compare", "a.json", "b.json")
    check("machine: gige, was frontier" in done.stdout, "compare", done)


def check_pipe():
    """A reader that has enough is no error."""
    with subprocess.Popen([WEFT, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        check(process.stderr.read() == b"", "weft --help | head: not silent")


def main():
    check_placement()
    check_pipe()
    check_explain()
    pathlib.Path("a.json").unlink()
    finish()


main()
