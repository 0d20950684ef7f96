# SPDX-License-Identifier: Apache-2.0
"""Chakra execution traces: their forms, streams, process groups and collectives, what is refused
and with which words.

Real traces are read too: those of tests/data, or `chakra` in the directory that WEFT_TRACES
names, with a file counts.csv."""
import collections
import csv
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))
import foreign_chakra as chakra  # noqa: E402
from weft_cli import check, check_run, finish, parse, real_traces  # noqa: E402

COMP, COLL, SEND, RECV = chakra.COMP, chakra.COLL, chakra.SEND, chakra.RECV


def result(trace, *words, net=("--net", "loggp")):
    done = parse(check_run(["replay", trace, *net, *words, "--json"], 0))["result"]
    left = done["unreceived_messages"]
    check(left == 0, f"{trace}: {left} messages that nobody receives")
    return done


def time_of(trace, *words, net=("--net", "loggp")):
    return result(trace, *words, net=net)["predicted_time_ps"]


def gpu(number, kind, **more):
    return chakra.node(number, kind, is_cpu_op=False, **more)


def test_forms():
    """The same nodes in every form take the same time."""
    ranks = [[one for one in chakra.step(r, 3) if one["id"] < 16] for r in range(3)]
    whole = time_of(chakra.write("proto", ranks))
    for name, ending, encode in (
            ("unpacked", ".et", lambda nodes: chakra.protobuf(nodes, metadata=b"", packed=False)),
            ("feeder", ".json", chakra.feeder_json), ("jsonizer", ".json", chakra.jsonizer)):
        chakra.write(name, ranks, ending=ending, encode=encode)
        check(time_of(name) == whole, f"{name} takes another time")
        check(time_of(f"{name}/t.0{ending}") == whole, f"{name}, named by the file of rank 0")
    # Schema 0.0.1 has neither streams nor control dependencies.
    plain = [[dict(one, ctrl=[], attrs={key: value for key, value in one["attrs"].items()
                                        if key not in ("stream", "is_cpu_op")})
              for one in nodes] for nodes in ranks]
    chakra.write("old", plain, encode=chakra.old_protobuf)
    check(time_of("old") == time_of(chakra.write("new", plain)), "schema 0.0.1")
    info = parse(check_run(["info", "proto", "--json"], 0))
    check(info["records"]["COMM_SEND_NODE"]["bytes"] == 3 * 4096, f"{info['records']}")


def test_streams():
    """Streams of a GPU, its communication and the CPU run beside each other; one stream runs one
    node after the other."""
    def takes(*nodes):
        return time_of(chakra.write("s", [list(nodes)]), net=("--net", "none")) // 10**6
    check(takes(gpu(0, COMP, micros=10), gpu(1, COMP, micros=20)) == 30, "one stream")
    check(takes(gpu(0, COMP, micros=10), gpu(1, COMP, micros=20, stream=2)) == 20, "two streams")
    check(takes(gpu(0, COMP, micros=10), chakra.node(1, COMP, micros=15, is_cpu_op=1)) == 15, "CPU")
    check(takes(gpu(0, COMP, micros=10, data=[1]), gpu(1, COLL, micros=5)) == 15, "one after it")
    amounts = gpu(0, COMP, num_ops=4000, tensor_size=100)
    chakra.write("s", [[amounts]])
    rates = ("-p", "trace.peak_flops=1e9", "-p", "trace.memory_rate=10MB/s")
    check(time_of("s", *rates[:2]) == 4 * 10**6, "peak")
    check(time_of("s", *rates) == 10**7, "memory")
    check_run(["info", "s"], 0, stdout="1 nodes have no duration")


def test_collectives():
    """Every kind and size runs to its end, with every rule; groups by file and by record."""
    for kind in range(len(chakra.KINDS)):
        size = 1 << 18 if kind % 2 == 0 else 1000
        for n, rules in ((5, "nccl"), (8, "openmpi"), (6, "mpich")):
            nodes = [gpu(0, COLL, comm_type=kind, comm_size=size),
                     gpu(1, COLL, comm_type=kind, comm_size=size)]
            result(chakra.write(f"c{n}", [nodes] * n), "-p", f"trace.coll_rules={rules}")
    # 4 ranks, by halving and doubling: 2 MiB, 1 MiB, 1 MiB, 2 MiB.
    chakra.write("four", [[gpu(0, COLL, comm_type=0, comm_size=4 << 20)]] * 4)
    net = ("--net", "alphabeta", "-p", "net.alpha=1us", "-p", "net.bandwidth=1GB/s")
    four = time_of("four", "-p", "trace.coll_rules=openmpi", net=net)
    check(abs(four - 4 * 10**6 - 6 * (1 << 20) * 1000) < 10, f"4 ranks: {four}")
    slow = time_of("four", "-p", "trace.coll_rules=openmpi", "-p", "trace.reduce_rate=1GB/s", net=net)
    check(abs(slow - four - 3 * (1 << 20) * 1000) < 10, f"the reduction of 3 MiB: {slow - four}")
    nodes = [gpu(0, COLL, comm_type=2, comm_size=1000, pg_name="7")]
    chakra.write("groups", [nodes] * 4)
    check_run(["replay", "groups", "--net", "loggp"], 3, stderr="rank 0, node 0.*group is not defined")
    pathlib.Path("groups/t.json").write_text('{"7": [0, 1], "8": [2, 3]}')
    check_run(["replay", "groups", "--net", "loggp"], 3, stderr="rank 2, .*not in its process group")
    pathlib.Path("g.json").write_text('{"7": [0, 1, 2, 3]}')
    by_file = time_of("groups", "-p", "trace.groups=g.json")
    values = '["[{\\"pg_name\\": \\"7\\", \\"ranks\\": [3, 2, 1, 0]}]"]'
    init = chakra.node(9, chakra.METADATA, name="## process_group:init ##", values=values)
    check(time_of(chakra.write("recorded", [[init, *nodes]] * 4)) == by_file, "groups in the trace")


def test_table():
    """On machines with the rules of NCCL a collective takes the time that it takes in gen:coll, to
    the picosecond; other rules are messages."""
    kinds = {"allreduce": (0, 1), "allgather": (2, 1), "alltoall": (6, 16), "reduce": (1, 1),
             "reduce_scatter_block": (7, 16), "bcast": (5, 1)}
    for n, net, size in ((16, "packet", 1 << 20), (32, "loggp", 1 << 16), (32, "latency", 1 << 24)):
        machine = ("--machine", "h100-rail", "--net", net)
        for name, (kind, blocks) in kinds.items():
            trace = chakra.write(f"table{n}", [[gpu(0, COLL, comm_type=kind, comm_size=size)]] * n)
            generated = result("gen:coll", "-n", str(n), "-p", f"gen.kind={name}", "-p", "gen.iterations=1",
                               "-p", f"gen.bytes={size * 16 // blocks // n if blocks > 1 else size}", net=machine)
            mine = time_of(trace, net=machine)
            # Where a message costs CPU time, the traffic of an alltoall may count one of them more.
            limit = 0.02 * mine if name == "alltoall" else 0
            check(abs(mine - generated["predicted_time_ps"]) <= limit,
                  f"{name} of {n} on {net}: {mine}, {generated['predicted_time_ps']}")
            messages = time_of(trace, "-p", "trace.coll_rules=mpich", net=machine)
            check(messages != mine, f"{name} by messages")
    twice = [gpu(0, COLL, comm_type=0, comm_size=1 << 20), gpu(1, COLL, comm_type=0, comm_size=1 << 20)]
    both = time_of(chakra.write("twice", [twice] * 16), net=("--machine", "h100-rail", "--net", "loggp"))
    done = result("gen:coll", "-n", "16", "-p", "gen.bytes=1MiB", "-p", "gen.iterations=2",
                  net=("--machine", "h100-rail", "--net", "loggp"))
    check(both == done["predicted_time_ps"], "one after another")
    again = time_of("twice", "--repeat", "3", net=("--machine", "h100-rail", "--net", "loggp"))
    check(again == 3 * both, f"three times: {again}, {both}")


def test_one_rank():
    """The trace of one rank is played by more; groups keep their form, and the assumption is said."""
    values = ('["[{\\"pg_name\\": \\"7\\", \\"ranks\\": [0, 1]}, {\\"pg_name\\": \\"8\\", \\"ranks\\": [0, 2]},'
              '{\\"pg_name\\": \\"9\\", \\"ranks\\": [0, 1, 2, 3]}, {\\"pg_name\\": \\"10\\", \\"ranks\\": [0, 1, 3]}]"]')
    init = chakra.node(9, chakra.METADATA, name="## process_group:init ##", values=values)

    def trace(name, *groups):
        nodes = [gpu(i, COLL, comm_type=0, comm_size=1 << 20, pg_name=group, data=[i - 1] if i else [])
                 for i, group in enumerate(groups)]
        return chakra.write(name, [[init, *nodes]])
    machine = ("--machine", "h100-rail", "--net", "loggp")
    pair, world = (result("gen:coll", "-n", n, "-p", "gen.bytes=1MiB", "-p", "gen.iterations=1", net=machine)
                   ["predicted_time_ps"] for n in ("2", "8"))
    check(time_of(trace("one", "7", "8", "9"), "-n", "8", net=machine) == 2 * pair + world, "groups of one rank")
    check_run(["replay", "one", "-n", "8", *machine], 0,
              stdout="all 8 ranks execute the nodes of one, which\\s+was recorded among 4 ranks")
    check_run(["replay", "one", "-n", "6", *machine], 3, stderr="node 1: its process group cannot be made for other")
    check_run(["replay", trace("uneven", "10"), "-n", "8", *machine], 3, stderr="at uneven distances")
    check_run(["replay", "one", *machine], 3, stderr="the trace has 1 ranks; -n lets more ranks execute")


def test_wrong():
    """What cannot be read is refused, with the place."""
    def refused(ranks, words):
        chakra.write("wrong", ranks)
        check_run(["info", "wrong"], 3, stderr=words)
    refused([[gpu(0, COMP, data=[1]), gpu(1, COMP, data=[0])]], "rank 0, node 0: nodes wait for each")
    refused([[gpu(4, COMP), gpu(4, COMP)]], "node 4: another node has the same id")
    refused([[gpu(0, COLL, comm_type=77, comm_size=1)]], "rank 0: node 0 is a collective of an unknown")
    refused([[gpu(0, 70)]], "byte .*rank 0: node 0 has a type that is not known")
    both = [gpu(0, COLL, comm_type=0, comm_size=8), gpu(1, COLL, comm_type=2, comm_size=8, data=[0])]
    refused([both, both[:1]], "makes fewer collectives")
    refused([both[:1], [gpu(0, COLL, comm_type=2, comm_size=8)]], "make another collective")
    pathlib.Path("wrong/other.0.et").write_bytes(chakra.protobuf(both))
    check_run(["info", "wrong"], 3, stderr="files of several traces, such as other.0.et and t.0.et")
    os.remove("wrong/other.0.et")
    os.remove("wrong/t.0.et")
    pathlib.Path("wrong/t.2.et").write_bytes(chakra.protobuf(both))
    check_run(["info", "wrong"], 3, stderr="files of 2 ranks, but none of rank 0")
    pathlib.Path("cut.et").write_bytes(chakra.protobuf(both)[:-20])
    check_run(["info", "cut.et"], 3, stderr="cut.et: byte .*, rank 0: .*truncated")
    pathlib.Path("host.json").write_text('{"schema": "1.1.0-chakra.0.0.4", "nodes": []}')
    check_run(["info", "host.json"], 3, stderr="a host trace of PyTorch; make an execution trace")
    for text, words in (("-5", "node 1 has a duration that is negative"), ("1e30", "node 1 has a duration that is negative or above")):
        pathlib.Path("time.json").write_text(f'{{"workload_graph": [{{"Id": 1, "NodeType": 4, "runtime": {text}}}]}}')
        check_run(["info", "time.json"], 3, stderr=words)
    for text, picoseconds in (("5", 5000000), ("5.25", 5250000), ('"7"', 7000000), ("9007199254", 9007199254000000), ("null", 0)):
        pathlib.Path("time.json").write_text(f'{{"workload_graph": [{{"Id": 1, "NodeType": 4, "runtime": {text}}}]}}')
        check(result("time.json")["predicted_time_ps"] == picoseconds, f"a duration of {text}")
    # Control dependencies in a circle are left out.
    chakra.write("circle", [[gpu(0, COMP, ctrl=[1]), gpu(1, COMP, ctrl=[0], data=[99])]])
    check_run(["info", "circle"], 0, stdout="1 dependencies are on .*\n.*1 ranks have control dep")


def test_schedulers():
    """Any number of threads gives one digest."""
    chakra.write("many", [chakra.step(r, 8)[:7] for r in range(8)])
    outcomes = {(done["digest"], done["predicted_time_ps"]) for done in (
        result("many", "--sched", name, "--threads", threads) for name, threads in (
            ("sequential", "1"), ("conservative", "2"), ("optimistic", "2"), ("check-undo", "1")))}
    check(len(outcomes) == 1, f"{outcomes}")
    chakra.write("table", [[gpu(i, COLL, comm_type=kind, comm_size=1 << 20) for i, kind in enumerate((0, 5, 6, 1))]] * 12)
    machine = ("--machine", "h100-rail", "--net", "loggp", "--ranks-per-node", "4", "-p", "mpi.nccl_nvls=no")
    outcomes = {(done["digest"], done["predicted_time_ps"]) for done in (
        result("table", "--sched", name, "--threads", threads, net=machine) for name, threads in (
            ("sequential", "1"), ("conservative", "2"), ("optimistic", "2"), ("check-undo", "1")))}
    check(len(outcomes) == 1, f"collectives by the table: {outcomes}")


def test_real():
    root = real_traces() / "chakra"
    expected = collections.defaultdict(dict)
    folders = {"custom_ring": "astra-custom-ring8", "all_reduce/8npus": "all_reduce_8npus_1MB",
               "all_to_all/8npus": "all_to_all_8npus_1MB"}
    for row in csv.DictReader((root / "counts.csv").open()):
        for part, folder in folders.items():
            if part in row["sample"]:
                expected[folder][int(row["rank"]), row["node_type"]] = int(row["count"])
    check(len(expected) == len(folders), f"{root}: traces are missing")
    for folder, rows in expected.items():
        records = parse(check_run(["info", str(root / folder), "--json"], 0))["records"]
        found = {(one["rank"], name): one["count"] for name, record in records.items()
                 for one in record["per_rank"]}
        check(found == rows, f"{folder}: {found}")
        result(str(root / folder))


def main():
    test_forms()
    test_streams()
    test_collectives()
    test_table()
    test_one_rank()
    test_wrong()
    test_schedulers()
    test_real()
    finish()


main()
