# SPDX-License-Identifier: Apache-2.0
"""weft cluster: policies against a scheduler that counts second by second and against schedules by
hand, formats, placements, figures, documents, pages, and every mistake."""
import csv
import json
import pathlib
import random

from weft_cli import check, check_run, finish, parse, run


def write(name, text):
    pathlib.Path(name).write_text(text, encoding="utf-8")
    return name


def swf(name, jobs, header=""):
    """A file of jobs (submit, run, requested, nodes)."""
    lines = [f"{i + 1} {s} -1 {r} {n} -1 -1 {n} {q} -1 1 1 1 1 1 1 -1 -1"
             for i, (s, r, q, n) in enumerate(jobs)]
    return write(name, header + "\n".join(lines) + "\n")


def starts(name, nodes, policies, *more):
    """The start of each job under each policy."""
    done = check_run(["cluster", name, "-n", str(nodes), "--policy", ",".join(policies), "--csv", "jobs.csv",
                      "-f", *more], 0)
    found = {policy: [] for policy in policies}
    check(done.stdout != "", "no text", done)
    with open("jobs.csv", encoding="utf-8") as table:
        for row in csv.DictReader(table):
            found[row["policy"]].append(float(row["start_s"]))
    return found


# ---- an oracle that shares nothing with the program: it counts second by second ----

class Oracle:
    """A machine as a list of free nodes, one entry a second."""

    def __init__(self, jobs, nodes):
        self.jobs, self.nodes = jobs, nodes
        self.start = [None] * len(jobs)

    def ends(self, i):
        _, run_time, asked, _ = self.jobs[i]
        return self.start[i] + min(run_time, asked)

    def running(self, now):
        return [i for i, s in enumerate(self.start) if s is not None and s <= now < self.ends(i)]

    def waiting(self, now):
        return [i for i, s in enumerate(self.start) if s is None and self.jobs[i][0] <= now]

    def free(self, now):
        return self.nodes - sum(self.jobs[i][3] for i in self.running(now))

    def expected_free(self, now, when, planned=()):
        """Free nodes at a later time, as the scheduler knows at `now`."""
        busy = sum(self.jobs[i][3] for i in self.running(now) if self.start[i] + self.jobs[i][2] > when)
        return self.nodes - busy - sum(self.jobs[i][3] for i, s in planned if s <= when < s + self.jobs[i][2])

    def earliest(self, now, i, planned=()):
        """The first second from which the job fits for as long as it asks."""
        when = now
        while any(self.expected_free(now, t, planned) < self.jobs[i][3]
                  for t in range(when, when + self.jobs[i][2])):
            when += 1
        return when

    def fcfs(self, now):
        for i in self.waiting(now):
            if self.jobs[i][3] > self.free(now):
                break
            self.start[i] = now

    def easy(self, now):
        """A job may overtake if the first one that waits could start no later for it."""
        self.fcfs(now)
        head, *others = self.waiting(now) or [None]
        for i in others:
            if self.jobs[i][3] > self.free(now):
                continue
            before = self.earliest(now, head)
            self.start[i] = now
            if self.jobs[i][1] > 0 and self.earliest(now, head) > before:
                self.start[i] = None

    def conservative(self, now):
        """Reservations move forward one by one until none can; `plan` keeps them."""
        before = None
        while before != self.plan:
            before = dict(self.plan)
            for i in self.waiting(now):
                others = [(k, s) for k, s in self.plan.items() if k != i]
                self.plan[i] = self.earliest(now, i, others)
        for i, when in list(self.plan.items()):
            if when == now:
                self.start[i] = now
                del self.plan[i]

    def schedule(self, policy):
        self.plan = {}
        now = 0
        while None in self.start:
            getattr(self, policy)(now)
            now += 1
        return [float(s) for s in self.start]


def check_policies():
    policies = ["fcfs", "easy", "conservative"]
    for seed in range(40):
        rng = random.Random(seed)
        nodes = rng.choice([2, 5, 16])
        jobs, now = [], 0
        for _ in range(rng.randrange(2, 22)):
            now += rng.choice([0, 0, 1, 2, 5])
            took = rng.randrange(1, 12)
            # Requests are exact, too long or too short, when the job is cut.
            jobs.append((now, took, max(1, rng.choice([took, took, took * 2, took + 5, took - 2])),
                         rng.randrange(1, nodes + 1)))
        jobs = [(s - jobs[0][0], *rest) for s, *rest in jobs]
        found = starts(swf("random.swf", jobs), nodes, policies)
        for policy in policies:
            expected = Oracle(jobs, nodes).schedule(policy)
            check(found[policy] == expected, f"seed {seed}, {policy} on {nodes} nodes: {jobs}: "
                  f"{found[policy]}, expected {expected}")


# ---- schedules by hand ----

def check_by_hand():
    # Four nodes. b needs all of them and waits for a. c ends before a does; d does not.
    jobs = write("hand.yaml", """\
jobs:
  - {name: a, nodes: 3, run: 100s}
  - {name: b, nodes: 4, run: 50s, submit: 1s}
  - {name: c, nodes: 1, run: 90s, submit: 2s}
  - {name: d, nodes: 1, run: 200s, submit: 3s, priority: 5}
""")
    found = starts(jobs, 4, ["fcfs", "easy", "conservative", "priority", "shortest"])
    check(found == {"fcfs": [0, 100, 150, 150], "easy": [0, 100, 2, 150], "conservative": [0, 100, 2, 150],
                    "priority": [0, 292, 2, 92], "shortest": [0, 100, 2, 150]}, f"by hand: {found}")
    # Where easy and conservative differ: d delays c, the second of the queue, but not b, the first.
    second = swf("second.swf", [(0, 10, 10, 3), (1, 10, 10, 3), (2, 20, 20, 4), (3, 18, 18, 1)])
    found = starts(second, 4, ["easy", "conservative"])
    check(found == {"easy": [0, 10, 21, 3], "conservative": [0, 10, 20, 40]}, f"second: {found}")
    # A priority decides among those that wait, and nothing is interrupted.
    ranks = write("ranks.yaml", """\
jobs:
  - {nodes: 2, run: 10s}
  - {nodes: 2, run: 10s, submit: 1s, priority: -1}
  - {nodes: 2, run: 10s, submit: 2s}
  - {nodes: 2, run: 10s, submit: 3s, priority: 7}
""")
    check(starts(ranks, 2, ["priority"])["priority"] == [0, 30, 20, 10], "priorities")
    short = swf("short.swf", [(0, 10, 10, 2), (1, 9, 9, 2), (2, 5, 5, 2), (3, 5, 5, 2)])
    check(starts(short, 2, ["shortest"])["shortest"] == [0, 20, 10, 15], "the shortest first")


def check_figures():
    # Half of two nodes for 100 s; the second job waits for 90 s and takes 10 s: slowdown 10.
    done = check_run(["cluster", swf("two.swf", [(0, 90, 90, 1), (0, 10, 10, 2)]), "-n", "2", "--json"], 0)
    result = parse(done)["result"]["policies"][0]
    for name, value in {"utilisation_percent": 55.0, "makespan_seconds": 100.0, "wait_mean_seconds": 45.0,
                        "wait_max_seconds": 90.0, "bounded_slowdown_mean": 5.5}.items():
        check(result[name] == value, f"{name} is {result[name]}, expected {value}", done)
    # The bound of the slowdown: one second after nine of waiting counts as 10 / 10.
    done = check_run(["cluster", swf("bound.swf", [(0, 9, 9, 2), (0, 1, 1, 2)]), "-n", "2", "--json"], 0)
    check(parse(done)["result"]["policies"][0]["bounded_slowdown_mean"] == 1.0, "bounded slowdown", done)


# ---- formats ----

SACCT = """\
JobID|Submit|Elapsed|Timelimit|NNodes|State|Priority
7|2024-02-28T23:59:50|00:00:30|00:01:00|2|COMPLETED|10
7.batch|2024-02-28T23:59:50|00:00:30||1|COMPLETED|
8|2024-02-29T00:00:10|1-00:00:00|UNLIMITED|1|TIMEOUT|20
9|2024-03-01T00:00:00|00:00:00|00:05:00|4|CANCELLED by 17|5
10|2024-03-01T00:00:00|00:00:05|00:05:00|4|RUNNING|5
11|2024-03-01T00:00:00|05:00|00:05:00|4|FAILED|5
"""


def check_formats():
    found = starts(write("sacct.txt", SACCT), 4, ["fcfs"])
    check(found["fcfs"] == [0, 20, 86420], f"sacct: {found}")
    done = check_run(["cluster", "sacct.txt", "-n", "4"], 0, stdout="3 jobs, submitted within 1.00 d, on 4 nodes")
    for note in ("2 jobs that never ran left out", "1 job without a requested time"):
        check(note in done.stdout, f"no '{note}'", done)

    header = "; Version: 2\n; MaxNodes: 4\n; MaxProcs: 16\n"
    machine = swf("header.swf", [(5, 10, 20, 7), (6, 30, 20, 16)], header)
    done = check_run(["cluster", machine, "--json"], 0)
    scenario = parse(done)["scenario"]
    check((scenario["nodes"], scenario["processors_per_node"], scenario["jobs_cut"]) == (4, 4, 1), "header", done)
    done = check_run(["cluster", machine, "--per-node", "16", "--json"], 0)
    check(parse(done)["scenario"]["processors_per_node"] == 16, "--per-node", done)
    # Jobs that were cancelled before they began, and parts of jobs, are no jobs.
    write("odd.swf", "1 0 -1 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1\r\n"
          "2 1 -1 -1 -1 -1 -1 4 10 -1 5 1 1 1 1 1 -1 -1\n\n"
          "1 0 -1 5 1 -1 -1 1 10 -1 2 1 1 1 1 1 -1 -1\n")
    done = check_run(["cluster", "odd.swf", "-n", "1"], 0, stdout="1 job,.*\n.*\nnote: 1 job that never ran")

    classes = write("classes.yaml", "jobs:\n  - {name: big, count: 50, every: 1h, nodes: [8, 16], run: [1h, 2h],"
                    " request: [90min, 3h]}\n  - {count: 3, every: 10s, spacing: even, nodes: 1, run: 1ms}\n")
    one = run("cluster", classes, "-n", "16", "--csv", "one.csv", "-f")
    two = run("cluster", classes, "-n", "16", "--csv", "two.csv", "-f")
    other = run("cluster", classes, "-n", "16", "--csv", "other.csv", "-f", "--seed", "2")
    text = [pathlib.Path(f"{name}.csv").read_text(encoding="utf-8") for name in ("one", "two", "other")]
    check(one.stdout == two.stdout and text[0] == text[1], "a workload is not the same again", one)
    check(text[0] != text[2], "the seed of a workload has no effect", other)
    rows = list(csv.DictReader(text[0].splitlines()))
    for row in rows:
        if row["job"].startswith("big"):
            took = round(float(row["end_s"]) - float(row["start_s"]), 6)
            check((took, row["requested_s"]) in ((3600, "5400"), (7200, "10800")), f"request and run: {row}")
    even = [float(row["submit_s"]) for row in rows if row["job"].startswith("job")]
    check([b - a for a, b in zip(even, even[1:])] == [10, 10], f"even spacing: {even}")


# ---- failures ----

def ends(jobs, nodes, failures, *more, policy="fcfs"):
    """Start, end and lost time of each job, where these (time, node) fail and are repaired in 30 s."""
    write("times.txt", "".join(f"{at}s {node}\n" for at, node in failures))
    done = check_run(["cluster", swf("fail.swf", jobs), "-n", str(nodes), "--policy", policy, "--csv", "fail.csv", "-f",
                      "--fail", "times=times.txt,repair=30s", *more], 0)
    check("lost by failures" in done.stdout, "no failures in the text", done)
    with open("fail.csv", encoding="utf-8") as table:
        return [tuple(float(row[name]) for name in ("start_s", "end_s", "lost_s")) for row in csv.DictReader(table)]


def check_failures():
    one, both = [(0, 100, 200, 1)], [(0, 100, 200, 2)]
    # The job goes on at once on the other node, or waits for the repair if it needs both.
    cases = [
        (one, 2, [(50, 0)], [], [(0, 150, 50)]),
        (one, 2, [(50, 1)], [], [(0, 100, 0)]),
        (both, 2, [(50, 1)], [], [(0, 180, 50)]),
        (one, 2, [(50, 0)], ["--checkpoint", "20s"], [(0, 110, 10)]),
        (one, 2, [(50, 0)], ["--checkpoint", "20s", "--restart", "5s"], [(0, 115, 15)]),
        # A second failure 15 s after the first: 5 s of restart, 10 s of work since the checkpoint at 40 s.
        (one, 3, [(50, 0), (65, 1)], ["--checkpoint", "20s", "--restart", "5s"], [(0, 130, 30)]),
        # The node is down already, and a job that ends at that instant has ended.
        (one, 2, [(50, 0), (60, 0), (150, 1)], [], [(0, 150, 50)]),
        (one, 1, [(10, 0)], ["--retries", "0"], [(0, 10, 10)]),
        # It is before the others in the queue again.
        ([(0, 100, 100, 2), (1, 100, 100, 2)], 2, [(50, 1)], [], [(0, 180, 50), (180, 280, 0)]),
    ]
    for jobs, nodes, failures, more, expected in cases:
        for policy in ("fcfs", "easy", "conservative"):
            found = ends(jobs, nodes, failures, *more, policy=policy)
            check(found == expected, f"{policy}, failures {failures} {more}: {found}, expected {expected}")
    # Time on nodes is time of jobs and time lost; equal seeds give equal failures.
    rng = random.Random(7)
    jobs = [(i * 40, r, r * 2, rng.randrange(1, 17)) for i, r in ((i, rng.randrange(50, 3000)) for i in range(300))]
    name = swf("many.swf", jobs)
    for policy in ("fcfs", "easy", "conservative", "shortest"):
        args = ["cluster", name, "-n", "16", "--policy", policy, "--fail", "mtbf=20h,repair=20min", "--checkpoint", "5min",
                "--restart", "10s", "--placement", "random", "-f", "--csv", "many.csv"]
        check(run(*args).stdout == check_run(args, 0).stdout, f"{policy}: the same seed differs")
        with open("many.csv", encoding="utf-8") as table:
            rows = list(csv.DictReader(table))
        for row, (submit, took, _, _) in zip(rows, jobs):
            on_nodes = float(row["end_s"]) - submit - float(row["wait_s"])
            check(abs(on_nodes - took - float(row["lost_s"])) < 1e-3, f"{policy}: {row}")
        check(sum(int(row["failures"]) for row in rows) > 10, f"{policy}: too few failures")
    done = check_run(["cluster", name, "-n", "16", "--fail", "mtbf=1h,law=weibull,shape=0.7,repair=1h", "--json", "--retries", "3",
                      "-o", "many.html", "-f"], 0)
    check(parse(done)["result"]["policies"][0]["jobs_given_up"] > 0, "no job is given up", done)


# ---- the rest ----

def check_placements():
    jobs = swf("places.swf", [(i, 50, 60, 1 + i * 7 % 30) for i in range(60)])
    hops = {}
    for place in ("contiguous", "random", "group", "near"):
        done = check_run(["cluster", jobs, "--topo", "dragonfly:4", "--placement", place, "--json"], 0)
        result = parse(done)["result"]["policies"][0]
        hops[place] = result["hops_mean"]
        check(result["groups_mean"] >= 1 and result["hops_mean"] > 0, f"{place}: {result}", done)
    check(hops["random"] > max(hops["near"], hops["group"]), f"placements: {hops}")
    same = [starts(jobs, 64, ["easy"], "--topo", "torus:4x4x4", "--placement", place) for place in ("random", "near")]
    check(same[0] == same[1], "the placement changes when jobs start")


def check_outputs():
    jobs = swf("out.swf", [(0, 50, 60, 3), (5, 50, 60, 2)])
    for end, words in {"txt": "utilisation", "json": '"weft-cluster-1"', "csv": "fcfs,1,3,0,60,0,50,0\n",
                       "svg": "</svg>", "html": "<h2>Nodes over time</h2>"}.items():
        check_run(["cluster", jobs, "-n", "4", "--policy", "fcfs,easy", "-f", "-o", f"out.{end}"], 0, stdout="^$")
        text = pathlib.Path(f"out.{end}").read_text(encoding="utf-8")
        check(words in text, f"out.{end} has no '{words}'")
    check(json.loads(pathlib.Path("out.json").read_text(encoding="utf-8"))["scenario"]["nodes"] == 4, "out.json")
    # Jobs of different colours: 3 of 4 rows for 50 of 100 s, then 2 of 4.
    check("M60 28h300v150h-300z" in pathlib.Path("out.svg").read_text(encoding="utf-8"), "the Gantt chart")


def line(*changes):
    words = "1 0 -1 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1".split()
    for field, value in changes:
        words[field - 1] = value
    return " ".join(words) + "\n"


ERRORS = [
    ("no.swf", None, [], 3, "no.swf"),
    ("few.swf", line() + "1 2 3\n", [], 3, "few.swf:2: 3 fields, but a job of the Standard Workload Format has 18"),
    ("many.swf", line()[:-1] + " 1\n", [], 3, "many.swf:1: more than 18 fields"),
    ("word.swf", line((4, "ten")), [], 3, "word.swf:1: field 4: 'ten' is not a number"),
    ("minus.swf", line((5, "-4")), [], 3, "minus.swf:1: field 5: -4 is negative; -1 stands for"),
    ("late.swf", "; x\n" + line((2, "-1")), [], 3, "late.swf:2: field 2: job 1 has no time of submission; --skip"),
    ("run.swf", line((4, "-1")), [], 3, "run.swf:1: field 4: job 1 has no run time; --skip leaves such jobs out"),
    ("size.swf", line((5, "-1"), (8, "0")), [], 3, "size.swf:1: fields 5 and 8: job 1 has no processors"),
    ("size.swf", line((5, "-1"), (8, "0")), ["--skip"], 3, "size.swf: no job in this file can be run"),
    ("large.swf", line() + line((5, "9")), [], 3, "large.swf:2: job 1 needs 9 nodes, but the machine has 8; --skip"),
    ("huge.swf", line((5, "1e12")), [], 3, "huge.swf:1: job 1 has more than 2.32 processors"),
    ("long.swf", line((9, "1e11")), [], 3, "long.swf:1: field 9: 1e11 s are too long"),
    ("empty.swf", "", [], 3, "empty.swf: no job in this file can be run"),
    ("zero.swf", "1 2\0 3\n", [], 3, "zero.swf is no text.*a compressed file has to be unpacked"),
    ("nameless.txt", "JobID|Submit|NNodes\n1|2|3\n", [], 3, "nameless.txt:1: JobID, Submit, Elapsed or Start and End"),
    ("short.txt", SACCT + "12|2024\n", [], 3, "short.txt:8: 2 fields, but the first line has 7 names"),
    ("time.txt", SACCT.replace("05:00|00", "5|00"), [], 3, "time.txt:7: job 11: Elapsed '5' is no time"),
    ("date.txt", SACCT.replace("2024-02-29T", "2024-13-29T"), [], 3, "date.txt:4: job 8: Submit '2024-13-29T00:00:10'"),
    ("nodes.txt", SACCT.replace("|2|COM", "|-2|COM"), [], 3, "nodes.txt:2: job 7: '' is no number of nodes"),
    ("top.yaml", "job: []\n", [], 3, "top.yaml:1: a workload has one member, the list 'jobs'"),
    ("list.yaml", "jobs:\n  - 3\n", [], 3, "list.yaml:2: a job is written {nodes: 4, run: 1h, ...}"),
    ("key.yaml", "jobs:\n  - {nods: 3, run: 1s}\n", [], 3, "key.yaml:2: unknown member 'nods' of a job; did you mean 'nodes'"),
    ("none.yaml", "jobs:\n  - {nodes: 3}\n", [], 3, "none.yaml:2: a job needs 'nodes' and 'run'"),
    ("unit.yaml", "jobs:\n  - nodes: 3\n    run: 10\n", [], 3, "unit.yaml:3: run: '10' is not a time; expected"),
    ("neg.yaml", "jobs:\n  - {nodes: -3, run: 1s}\n", [], 3, "neg.yaml:2: nodes: '-3' is not a count"),
    ("nil.yaml", "jobs:\n  - {nodes: 0, run: 1s}\n", [], 3, "nil.yaml:2: nodes: more than 0 is expected"),
    ("each.yaml", "jobs:\n  - {nodes: 1, run: 1s, count: 3}\n", [], 3, "each.yaml:2: several jobs need 'every'"),
    ("pair.yaml", "jobs:\n  - {nodes: 1, run: [1s, 2s, 3s], request: [2s, 3s]}\n", [], 3, "request has one value, or as"),
    ("space.yaml", "jobs:\n  - {nodes: 1, run: 1s, spacing: odd}\n", [], 3, "space.yaml:1?.*spacing is 'even' or 'random'"),
    ("far.yaml", "jobs:\n  - {nodes: 1, run: 1s, count: 9, every: 30000y, spacing: even}\n", [], 3, "after 73,000 years"),
    ("sum.yaml", "jobs:\n  - {nodes: 1, run: 30000y, count: 9, every: 1s}\n", [], 5, "together are more than 73,000"),
    ("tree.yaml", "jobs: [a\n", [], 3, "tree.yaml:2:"),
    ("fine.swf", line(), ["--policy", "esy"], 2, "unknown policy 'esy'; did you mean 'easy'"),
    ("fine.swf", line(), ["--policy", "easy,,fcfs"], 2, "unknown policy ''"),
    ("fine.swf", line(), ["--placement", "near"], 2, "--placement near needs a topology: --machine or --topo"),
    ("fine.swf", line(), ["--placement", "far"], 2, "unknown placement 'far'"),
    ("fine.swf", line(), ["--topo", "star:4"], 3, "--nodes: 8 nodes do not fit on star:4, which has 4"),
    ("fine.swf", line(), ["--machine", "fronteer"], 3, "fronteer"),
    ("fine.swf", line(), ["--restart", "5s"], 2, "--restart has no effect without --fail"),
    ("fine.swf", line(), ["--fail", "repair=5s"], 2, "--fail repair=5s: mtbf, the mean time between failures"),
    ("fine.swf", line(), ["--fail", "mtbf=5y,count=3"], 2, "--fail: the count is the number of nodes"),
    ("fine.swf", line(), ["--fail", "mtbf=1us"], 5, "--fail: more than ten million failures"),
    ("fine.swf", line(), ["--fail", "mtbf=1y", "--checkpoint", "2y"], 2, "--checkpoint: more than a year"),
    ("fine.swf", line(), ["--fail", "mtbf=1y", "--checkpoint", "often"], 2, "--checkpoint: 'often' is not a time"),
    ("times.txt", "5s\n", ["--fail", "times=times.txt"], 3, "times.txt:1:"),
    ("fine.swf", line(), ["--fail", "times=times.txt"], 3, "failure 1 of the list needs a node from 0 to 7 after its time"),
    ("fine.swf", line(), ["-o", "x.pdf"], 2, "must end in .txt, .json, .csv, .svg or .html"),
]


def check_errors():
    for name, text, more, code, words in ERRORS:
        if text is not None:
            write(name, text)
        check_run(["cluster", name, "-n", "8", *more], code, stderr=words)
    check_run(["cluster", "fine.swf"], 2, stderr="does not say how many nodes the machine has; give --machine")
    check_run(["cluster"], 2, stderr="cluster: a workload is missing")


check_policies()
check_by_hand()
check_figures()
check_formats()
check_failures()
check_placements()
check_outputs()
check_errors()
finish()
