# SPDX-License-Identifier: Apache-2.0
"""Collectives of GPUs against closed formulas, against results of ASTRA-sim's analytical backends
if they are there, and their bandwidths as nccl-tests counts them."""
import csv
import pathlib

from weft_cli import SOURCE, check, check_run, finish, parse

REFERENCE = SOURCE.parent / "shared" / "reference" / "astra_results.csv"
KINDS = {"all_reduce": "allreduce", "all_gather": "allgather", "reduce_scatter": "reduce_scatter_block",
         "all_to_all": "alltoall"}
# A message takes 1 us, and 1 ns for each byte.
PLAIN = ["replay", "gen:coll", "--net", "alphabeta", "-p", "net.alpha=1us", "-p", "net.bandwidth=1GB/s",
         "-p", "gen.iterations=1", "-p", "gen.bandwidth=true", "-p", "mpi.local=false", "--json", "-q"]


def predicted(args):
    return parse(check_run(args, 0))["result"]


def check_time(what, got, expected, tolerance=1e-9):
    check(abs(got / expected - 1) <= tolerance, f"{what}: {got} ps, not {expected}")


def check_formulas():
    """n ranks, m on a node, b bytes: steps times (1 us + bytes of a step)."""
    n, b = 16, 1 << 20
    for kind, steps in (("allreduce", 2 * (n - 1)), ("allgather", n - 1), ("reduce_scatter_block", n - 1)):
        piece = b // n if kind == "allreduce" else b
        for m in (1, 4):
            got = predicted([*PLAIN, "-n", str(n), "--ranks-per-node", str(m), "-p", f"gen.kind={kind}", "-p",
                             f"gen.bytes={b}", "-p", f"mpi.{kind}=channel_ring"])
            # Channels send their parts at the same time.
            expected = steps * (10**6 + piece // (m if m > 1 else 1) * 1000)
            check_time(f"{kind} in {m} channels", got["predicted_time_ps"], expected)
            bus = (2 if kind == "allreduce" else 1) * (n - 1) / n * (b if kind == "allreduce" else n * b)
            check_time("bus bandwidth", got["collective"]["bus_bytes_per_second"], bus / expected * 1e12, 1e-6)
    got = predicted([*PLAIN, "-n", "8", "-p", "gen.bytes=8MiB", "-p", "mpi.allreduce=double_tree"])
    # 2 trees of depth 3, 32 segments of 128 KiB each: up and down in 32 + 2 * 3 - 1 rounds.
    check_time("double_tree", got["predicted_time_ps"], 37 * (10**6 + 131072 * 1000))
    got = predicted([*PLAIN, "-n", "16", "--ranks-per-node", "4", "-p", f"gen.bytes={b}", "-p",
                     "mpi.allreduce=hierarchical"])
    check_time("hierarchical", got["predicted_time_ps"],
               2 * 3 * (10**6 + b // 4 * 1000) + 2 * 3 * (10**6 + b // 16 * 1000))
    # Combining takes as long as sending: once for each of the first three steps.
    got = predicted([*PLAIN, "-n", "4", "-p", "gen.bytes=4000", "-p", "mpi.allreduce=ring", "-p",
                     "mpi.reduce_bandwidth=1GB/s"])
    check_time("combining", got["predicted_time_ps"], 6 * 2 * 10**6 + 3 * 10**6)


def check_nodes():
    """Which ranks share a node matters, not which node it is; one node has no messages."""
    args = [*PLAIN, "-p", "mpi.rules=nccl", "-p", "gen.bytes=1MiB", "--ranks-per-node", "4"]
    linear, other, mixed = (predicted([*args, "-n", "16", "--placement", placement])
                            for placement in ("linear", "nodes:2,0,3,1", "roundrobin"))
    check(linear["predicted_time_ps"] == other["predicted_time_ps"] and linear["messages"] == other["messages"],
          "other nodes, another time")
    check(mixed["predicted_time_ps"] != linear["predicted_time_ps"], "ranks that are dealt out to nodes are in channels")
    check(predicted([*args, "-n", "4"])["messages"] == 0, "one node has messages")
    check_run([*args, "-n", "4", "-p", "mpi.scan=nccl"], 2, "NCCL has no such collective")


def astra_args(row, chunks=4):
    """Chunks one after another, 10 ns at each end of a step and at the end of a chunk, and combining with
    two reads and a write at 1600 bytes/ns."""
    kind, n = KINDS[row["collective"]], int(row["npus"])
    size = int(row["bytes"]) // chunks // (n if row["collective"] in ("reduce_scatter", "all_to_all") else 1)
    topology = "star" if row["topology"] == "Switch" else "torus"
    return ["replay", "gen:coll", "-n", str(n), "-p", f"gen.kind={kind}", "-p", f"gen.bytes={size}", "-p",
            f"gen.iterations={chunks}", "-p", "gen.compute=10ns", "--ranks-per-node", "1", "--net", "latency",
            "--topo", f"{topology}:{n}", "-p", f"net.link_latency={row['latency_ns']}ns", "-p",
            f"net.bandwidth={int(float(row['GBps']) * 2**30)}B/s", "-p", "node.o_recv=10ns", "-p", f"mpi.{kind}=ring",
            "-p", "mpi.reduce_bandwidth=533333MB/s", "--json", "-q"]


def check_astra(path):
    """Rows with rings of one dimension; rings and full meshes take the same time."""
    seen = set()
    with path.open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["system"] == "Ring_4chunks"]
    check(len(rows) >= 64, f"{path.name}: {len(rows)} rows")
    for row in rows:
        key = (row["collective"], row["npus"], row["topology"] == "Switch", row["predicted_ns"])
        messages = int(row["npus"])**(3 if row["collective"] == "all_to_all" else 2)
        if key in seen or messages > 5000:
            continue
        seen.add(key)
        check_time(f"ASTRA-sim: {key}", predicted(astra_args(row))["predicted_time_ps"],
                   1000 * float(row["predicted_ns"]), 0.03)


def main():
    check_formulas()
    check_nodes()
    if REFERENCE.exists():
        check_astra(pathlib.Path(REFERENCE))
    finish()


main()
