# SPDX-License-Identifier: Apache-2.0
"""weft coll: the list, the messages of every algorithm, the rules, and every mistake."""
import re

from weft_cli import check, check_run, finish, parse, run

# Who must have heard of whom at the end: everybody of everybody, everybody of the root, or the
# root of everybody. Prefix sums: everybody of all below.
REACH = {
    "barrier": "all", "allreduce": "all", "allgather": "all", "allgatherv": "all",
    "alltoall": "all", "alltoallv": "all", "reduce_scatter": "all", "reduce_scatter_block": "all",
    "bcast": "from", "scatter": "from", "scatterv": "from",
    "reduce": "to", "gather": "to", "gatherv": "to", "scan": "below", "exscan": "below",
    "neighbor_allgather": "ring", "neighbor_alltoall": "ring",
}
ERRORS = [
    (["coll"], 2, "expected list, show <kind>, rules <kind> or time .<kind>."),
    (["coll", "lst"], 2, "expected list, show <kind>, rules <kind> or time .<kind>., not 'lst'"),
    (["coll", "show"], 2, "a collective is missing.*weft coll show allreduce"),
    (["coll", "rules"], 2, "a collective is missing"),
    (["coll", "show", "alreduce"], 2, "unknown collective 'alreduce'; did you mean 'allreduce'"),
    (["coll", "list", "xyzzy"], 2, "unknown collective 'xyzzy'; 'weft coll list' shows all"),
    (["coll", "show", "bcast", "reduce"], 2, "unexpected argument 'reduce'"),
    (["coll", "show", "bcast", "-a", "binomal"], 2, "did you mean 'binomial'"),
    (["coll", "show", "bcast", "-a", "xyzzy"], 2, "'weft coll list bcast' shows all"),
    (["coll", "show", "bcast", "-n", "8", "--root", "8"], 2, "only ranks 0 to 7"),
    (["coll", "show", "bcast", "-n", "5000"], 2, "at most 1024 ranks"),
    (["coll", "show", "bcast", "-n", "0"], 2, "ranks"),
    (["coll", "show", "allgather", "-n", "6", "-a", "recursive_doubling"], 2,
     "does not work for 6 ranks"),
    (["coll", "show", "bcast", "--byte", "1"], 2, "did you mean '--bytes'"),
]


def check_lines(done, what):
    for line in done.stdout.splitlines():
        check(len(line) <= 80, f"{what}: a line of {len(line)} columns: {line}")
        check(line == line.rstrip(), f"{what}: white space at the end of a line: {line!r}")


def check_list():
    done = check_run(["coll", "list"], 0)
    check_lines(done, "list")
    document = parse(run("coll", "list", "--json"))
    algorithms = [(a["collective"], a["name"]) for a in document["algorithms"]]
    check({kind for kind, _ in algorithms} == set(REACH), "list: kinds are missing or new", done)
    shown = re.findall(r"^(?:  )?(\w+)", done.stdout.rsplit("\n\n", 1)[0], re.MULTILINE)
    for kind, name in algorithms:
        check(kind in shown and name in shown, f"list: {name} of {kind} is missing", done)
    check(len(set(algorithms)) == len(algorithms), "list: a name twice")
    one = parse(run("coll", "list", "bcast", "--json"))["algorithms"]
    check([a["name"] for a in one] == [n for k, n in algorithms if k == "bcast"], "list bcast")
    return algorithms


def expected(reach, rank, ranks, root):
    everybody = set(range(ranks))
    return {
        "all": everybody,
        "from": {root},
        "to": everybody if rank == root else {rank},
        "below": set(range(rank)),
        "ring": {(rank - 1) % ranks, (rank + 1) % ranks},
    }[reach]


def check_call(kind, name, ranks):
    """What a rank knows spreads with its messages, of one round after the other."""
    root = ranks // 2
    what = f"{kind} {name} of {ranks}"
    done = run("coll", "show", kind, "-n", str(ranks), "-a", name, "--root", str(root),
               "--bytes", "840", "--json")
    if done.returncode != 0:
        check("does not work" in done.stderr, f"{what}: failed", done)
        return
    document = parse(done)
    messages = document["messages"]
    knows = [{rank} for rank in range(ranks)]
    for number in range(1, document["rounds"] + 1):
        sent = [m for m in messages if m["round"] == number]
        check(sent, f"{what}: nothing happens in round {number}")
        check(len({m["from"] for m in sent}) == len(sent), f"{what}: a rank sends twice at once")
        before = [set(known) for known in knows]
        for message in sent:
            knows[message["to"]] |= before[message["from"]]
    for rank in range(ranks):
        missing = expected(REACH[kind], rank, ranks, root) - knows[rank]
        check(not missing, f"{what}: rank {rank} has not heard of {missing}")
    check(document["bytes"] == sum(m["bytes"] for m in messages), f"{what}: bytes")
    sent = [sum(m["bytes"] for m in messages if m["from"] == r) for r in range(ranks)]
    check(document["most_sent_bytes"] == max(sent), f"{what}: most sent")
    check(kind != "barrier" or document["bytes"] == 0, f"{what}: a barrier with bytes")


def check_known():
    """Figures that can be looked up: 2 (n - 1) messages of 1/n of the data in a ring."""
    document = parse(run("coll", "show", "allreduce", "-n", "4", "-b", "64KiB", "-a", "ring",
                         "--json"))
    check(document["rounds"] == 6 and len(document["messages"]) == 24, "ring: rounds, messages")
    check({m["bytes"] for m in document["messages"]} == {16384}, "ring: bytes")
    check({(m["to"] - m["from"]) % 4 for m in document["messages"]} == {1}, "ring: neighbours")
    document = parse(run("coll", "show", "bcast", "-n", "8", "-a", "binomial", "--json"))
    check(document["rounds"] == 3 and len(document["messages"]) == 7, "binomial: 3 rounds of 8")
    document = parse(run("coll", "show", "bcast", "-n", "8", "-a", "linear", "--json"))
    check(document["rounds"] == 7, "linear: one message at a time")
    done = check_run(["coll", "show", "alltoall", "-n", "6", "-a", "bruck", "--bytes", "10"], 0,
                     stdout=r"Rounds +3\n")
    check_lines(done, "show")
    check("1 3 5" in done.stdout and "2-3" in done.stdout, "show: parts", done)
    done = check_run(["coll", "show", "alltoall", "-n", "64"], 0, stdout="--all prints")
    check(len(done.stdout.splitlines()) < 20, "show: too many messages")
    done = check_run(["coll", "show", "alltoall", "-n", "64", "--all"], 0)
    check(len(done.stdout.splitlines()) > 64 * 6, "show --all: messages are missing")


def check_rules():
    done = check_run(["coll", "rules", "bcast", "-n", "64"], 0)
    check_lines(done, "rules")
    check(re.search(r"from 12KiB +scatter_allgather", done.stdout), "rules: MPICH's bcast", done)
    for kind in REACH:
        document = parse(run("coll", "rules", kind, "-n", "24", "--json"))
        for rules in ["mpich", "openmpi"]:
            rows = [r for r in document["rules"] if r["rules"] == rules]
            check(rows and rows[0]["from_bytes"] == 0, f"rules {kind}: no start")
            for row, after in zip(rows, rows[1:]):
                check(row["from_bytes"] < after["from_bytes"] and
                      row["algorithm"] != after["algorithm"], f"rules {kind}: no change")
            for row in rows:
                check_chosen(kind, rules, row)


def check_chosen(kind, rules, row):
    if kind == "barrier" or row["from_bytes"] > 2**40:
        return
    done = run("coll", "show", kind, "-n", "24", "--rules", rules, "--json",
               "--bytes", str(row["from_bytes"]))
    check(parse(done)["algorithm"] == row["algorithm"], f"{kind}: show and rules differ", done)


def main():
    algorithms = check_list()
    for kind, name in algorithms:
        for ranks in [1, 2, 3, 5, 8]:
            check_call(kind, name, ranks)
    check_known()
    check_rules()
    for args, code, words in ERRORS:
        check_run(args, code, words)
    finish()


main()
