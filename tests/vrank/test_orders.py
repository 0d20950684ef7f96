# SPDX-License-Identifier: Apache-2.0
"""weft run --check=all-orders: the orders of small programs are counted right, an order that deadlocks
is found, and its schedule repeats it."""
import json
import pathlib
import subprocess

import vrank

# Of each program of orders.c: ranks, orders, and orders that turn out to be impossible.
ORDERS = {
    "gather": (4, 6, 0), "replies": (3, 6, 0), "phases": (3, 1, 0), "unrelated": (4, 2, 0),
    "posted": (4, 6, 0), "posted_first": (3, 2, 1), "waitany": (4, 6, 0), "waitsome": (4, 6, 0),
    "poll": (2, 2, 0), "look": (3, 6, 0), "probe": (3, 4, 0), "others": (3, 4, 0),
    "input": (4, 6, 0),
}
CORRECT = ("phases", "posted_first", "input") # in all orders


def run(program, ranks, *options, args=()):
    with open("input", encoding="utf-8") as words:
        done = subprocess.run([vrank.WEFT, "run", "-f", "-n", str(ranks), "-o", "order.json", *options,
                               "--", program, *args], text=True, capture_output=True, check=False,
                              timeout=100, stdin=words)
    try:
        return done, json.loads(pathlib.Path("order.json").read_text())
    except (OSError, json.JSONDecodeError):
        return done, {}


def check_count(program, name, ranks, n, impossible):
    done, document = run(program, ranks, "--check=all-orders", args=(name,))
    orders = document.get("check", {}).get("orders", {})
    found = [orders.get(key) for key in ("runs", "impossible", "complete", "found")]
    if done.returncode != 0 or found != [n, impossible, True, False]:
        vrank.complain(f"{name}: {done.returncode}, {n} orders", orders, done.stderr)


def check_found(program, name, ranks):
    plain, document = run(program, ranks, "--check", "--compute", "none", args=(name, "bad"))
    if plain.returncode != 0:
        vrank.complain(f"{name}: the first order deadlocks", document.get("check"))
    done, document = run(program, ranks, "--check=all-orders", args=(name, "bad"))
    check = document.get("check", {"orders": {}})
    orders = check["orders"]
    if done.returncode != 4 or not orders.get("found") or len(done.stderr.splitlines()) != 1 or \
            [f["kind"] for f in check["findings"]] != ["deadlock"]:
        vrank.complain(f"{name}: no order deadlocks", check, done.stderr)
        return
    again, repeated = run(program, ranks, "--schedule", orders["schedule"], "--threads", "2",
                          args=(name, "bad"))
    if again.returncode != 4 or repeated["result"] != document["result"] or \
            repeated["check"]["orders"]["decisions"] != orders["decisions"]:
        vrank.complain(f"{name}: the schedule is another order", orders, again.stderr)
    if "waits for" not in done.stderr or orders["schedule"] not in orders["words"]:
        vrank.complain(f"{name}: words", orders, done.stderr)


def check_message(program, ranks, options, args, code, words):
    pathlib.Path("order.json").unlink(missing_ok=True)
    done, document = run(program, ranks, *options, args=args)
    said = done.stderr + " ".join(document.get("warnings", [])) + str(document.get("check"))
    if done.returncode != code or words not in said:
        vrank.complain(f"{options}: {done.returncode}, expected {words}", said)


ALL = ("--check=all-orders",)
MESSAGES = (
    (65, ALL, ("gather",), 2, "takes up to 64 ranks, and this run has 65"),
    (4, (*ALL, "--compute", "measured"), ("gather",), 2, "use --compute none or model"),
    (4, (*ALL, "-p", "run.clock=host"), ("gather",), 2, "use -p run.clock=simulated"),
    (4, (*ALL, "--schedule", "0.0=1"), ("gather",), 2, "it cannot be given one"),
    (4, ("--schedule", "0.0"), ("gather",), 2, "'0.0' is not of the form rank.number=outcome"),
    (4, ("--schedule", "0.0=9"), ("gather",), 4, "the schedule names rank 9 of a communicator of 4"),
    (4, ("--schedule", "0.0=9"), ("waitany",), 4, "the schedule names request 9, which is not active"),
    (4, ("--schedule", "0.0=1 3.7=none"), ("gather",), 0, "did not come to 1 of the 2 decisions"),
    (4, (*ALL, "--orders", "3"), ("gather", "bad"), 0, "3 run, the limit; there are more (--orders)"),
    (3, ALL, ("counts",), 4, "cannot be run in all orders"),
    (3, ALL, ("posted_first", "aborts"), 0, "2 run, which are all"),
)


def main():
    program = vrank.build(vrank.SOURCE / "tests/vrank/orders.c", debug=True)
    if program is None:
        vrank.finish()
    pathlib.Path("input").write_text("four\n", encoding="utf-8")
    for name, (ranks, n, impossible) in ORDERS.items():
        check_count(program, name, ranks, n, impossible)
        if name not in CORRECT:
            check_found(program, name, ranks)
    for message in MESSAGES:
        check_message(program, *message)
    vrank.finish()


main()
