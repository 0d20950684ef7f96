# SPDX-License-Identifier: Apache-2.0
"""Transports behave as the literature says: what is lost, marked and paused, who gets what."""
import csv
import pathlib
import tempfile

from weft_cli import check, check_run, finish, parse, run

# HPCC divides the packets of a round trip among flows: short links carry too few.
HPCC = ["net.transport=hpcc", "net.link_latency=2us"]
PACKET = ["--net", "packet", "-p", "net.packet=4KiB", "-p", "net.bandwidth=100Gbit/s"]


def replay(source, topo, *settings):
    """The transport of the result, and the predicted time in microseconds."""
    args = ["replay", *source.split(), *PACKET, "--topo", topo, "--json", "-q"]
    for setting in settings:
        args += ["-p", setting]
    done = run(*args)
    if not check(done.returncode == 0, f"{source} on {topo} with {settings}", done):
        return {}, 0
    result = parse(done)["result"]
    found = result["network"]["transport"]
    times = [found["flow_time_ps"][name] for name in ("min", "p50", "p99", "max")]
    check(times == sorted(times), f"{source} on {topo} with {settings}: {times}")
    return found, result["ranks"]["finish_ps"]["max"] / 1e6


def shares(found):
    return {(flow["source"], flow["destination"]): flow["share"] for flow in found["slowest_flows"]}


def incast(bytes_each, *settings):
    return replay(f"gen:pattern -n 9 -p gen.kind=incast -p gen.bytes={bytes_each}", "star:9", *settings)


def test_incast():
    """Eight nodes send 1 MB each to one: 640 us at 100 Gbit/s, if nothing is wasted."""
    found, time = incast("1MB", "net.transport=fixed")
    check(found["dropped"] == 0 and found["fairness"] > 0.999, f"equal windows share equally: {found}")
    check(640 < time < 645, f"and waste nothing: {time}")
    found, _ = incast("1MB", "net.transport=fixed", "net.queue=16KiB")
    check(found["dropped"] > 0 and found["sent_again"] >= found["dropped"] and found["max_queue_bytes"] == 16384,
          f"a queue of 16 KiB is never longer and loses packets: {found}")
    found, time = incast("1MB", "net.transport=fixed", "net.full_queue=pause")
    check(found["dropped"] == 0 and found["sent_again"] == 0 and found["pauses"] > 0, f"PFC loses nothing: {found}")
    check(found["max_input_bytes"] < 64 * 1024 + 3 * 4096 and 640 < time < 645, f"and needs little space: {found}")
    found, time = incast("1MB", "net.transport=fixed", "net.full_queue=credits", "net.queue=64KiB")
    check(found["dropped"] == 0 and found["sent_again"] == 0 and found["pauses"] > 0 and
          found["max_input_bytes"] <= 64 * 1024 and 640 < time < 645, f"credits need no more space than they say: {found}")
    check(3000 < incast("1MB", "net.transport=fixed", "net.queue=16KiB")[1] < 3200, "the second timeout of a flow is twice the first")
    found, _ = incast("1MB", "net.transport=dcqcn")
    check(found["dropped"] == 0 and found["marked"] > 0, f"DCQCN over PFC: {found}")
    found, time = incast("1MB", "net.transport=swift")
    check(found["fairness"] > 0.99 and found["max_queue_bytes"] < 512 * 1024 and time < 655, f"Swift: {found} {time}")
    found, time = incast("1MB", "net.transport=pull")
    check(found["fairness"] > 0.999 and found["trimmed"] == found["sent_again"] > 0 and time < 655 and
          found["max_queue_bytes"] == 8 * 4096, f"receivers that pull: {found} {time}")
    found, time = incast("1MB", "net.transport=pressure")
    check(found["fairness"] > 0.9 and found["pauses"] == 0 and found["max_queue_bytes"] < (64 + 8 * 4) * 1024 and time < 660,
          f"back-pressure on flows: {found} {time}")
    found, time = incast("1MB", *HPCC)
    check(found["dropped"] == 0 and found["sent_again"] == 0 and found["fairness"] > 0.95 and 640 / 0.95 < time < 720,
          f"HPCC leaves a twentieth free: {found} {time}")
    found, time = incast("1MB", "net.transport=nscc", "net.ecn_min=30kB", "net.ecn_max=120kB")
    check(found["fairness"] > 0.95 and found["trimmed"] == found["sent_again"] and found["marked"] > 0 and time < 670,
          f"senders of Ultra Ethernet: {found} {time}")


VICTIM = """if rank == 0 { irecv 2 1MB irecv 3 1MB irecv 5 1MB irecv 6 1MB irecv 7 1MB }
if rank == 1 { irecv 4 250kB }
if rank == 4 { isend 1 250kB }
if rank == 2 || rank == 3 || rank > 4 { isend 0 1MB }
waitall
"""


def test_victim(folder):
    """Five flows to node 0, three of them over the link that the flow from 4 to 1 shares. Each of
    the five can have a fifth, which leaves the victim two fifths of the link."""
    path = folder / "victim.weft"
    path.write_text(VICTIM, encoding="utf-8")

    def victim(*settings):
        found, _ = replay(f"gen:text -n 8 -p gen.file={path}", "fattree:4x2,up=1x1", *settings)
        return shares(found)[4, 1]

    blocked = victim("net.transport=fixed", "net.full_queue=pause")
    check(blocked < 0.2, f"with PFC the victim is blocked by the others: {blocked}")
    free = victim("net.transport=fixed", "net.full_queue=pause", "net.classes=own:first=4,last=4,rest:share=1")
    check(0.45 < free < 0.55, f"unless it has a class of its own, with half of the link: {free}")
    for transport in ["swift", "pull", "pressure"]:
        share = victim(f"net.transport={transport}")
        check(share > 0.35, f"{transport} leaves the victim its share: {share}")
    share = victim(*HPCC)
    check(share > 1.3 * blocked, f"hpcc: the victim gets more than with PFC alone: {share} {blocked}")


def test_classes(folder):
    """Two nodes send to a third, with shares of three to one, and with priority."""
    path = folder / "two.weft"
    path.write_text("if rank == 2 { irecv 0 2MB irecv 1 2MB } else { isend 2 2MB }\nwaitall\n", encoding="utf-8")

    def times(classes):
        found, _ = replay(f"gen:text -n 3 -p gen.file={path}", "star:3", "net.transport=fixed", "net.full_queue=pause",
                          f"net.classes={classes}")
        return [shares(found)[node, 2] for node in (0, 1)]

    first, second = times("a:last=0,share=3,b:share=1")
    check(0.74 < first < 0.76 and 0.49 < second < 0.51, f"three quarters, then all: {first} {second}")
    first, second = times("a:last=0,b:priority=1")
    check(0.49 < first < 0.51 and second > 0.98, f"one after the other: {first} {second}")


SHORT_ONE = """if rank == 0 { loop i 1..8 { isend i 1MB } sleep 100us isend 8 2kB }
if rank > 0 { irecv 0 rank < 8 ? 1MB : 2kB }
waitall
"""


def test_interface(folder):
    """The interface of a node sends a packet of each flow in turn, and those of a class with priority first."""
    found, _ = replay("gen:pattern -n 9 -p gen.kind=outcast -p gen.bytes=1MB", "star:9", "net.transport=fixed")
    check(found["fairness"] > 0.999, f"eight flows of a node share its interface: {found}")
    path = folder / "short.weft"
    path.write_text(SHORT_ONE, encoding="utf-8")
    # A packet takes 0.33 us: up to seven go first, or the one that is being sent.
    for classes, least, most in (("all:share=1", 2, 3), ("short:max=2kB,priority=1,bulk:share=1", 0, 0.7),
                                 ("short:max=1kB,priority=1,bulk:share=1", 2, 3)):
        found, _ = replay(f"gen:text -n 9 -p gen.file={path}", "star:9", "net.transport=fixed", f"net.classes={classes}")
        time = next(flow["time_ps"] / 1e6 for flow in found["slowest_flows"] if flow["destination"] == 8)
        check(least < time < most, f"2 kB beside seven flows take {time} us with {classes}")


def test_repetition():
    """What is sent again: packets that are lost, or with go back n all that come after them, too."""
    times = {}
    for retransmit in ("selective", "go_back_n"):
        found, times[retransmit] = replay("gen:pattern -n 3 -p gen.kind=incast -p gen.bytes=2MB", "star:3", "net.transport=fixed",
                                          "net.queue=256KiB", "net.window=1MiB", "net.timeout=100us", f"net.retransmit={retransmit}")
        more = found["sent_again"] - found["dropped"]
        check(found["dropped"] > 0 and (more == 0 if retransmit == "selective" else more > 20), f"{retransmit}: {found}")
    check(1.03 < times["go_back_n"] / times["selective"] < 1.1, f"going back takes time: {times}")


def test_rates():
    """DCQCN with two flows: rates fall before PFC has to pause so often, and rise again."""
    source = "gen:pattern -n 3 -p gen.kind=incast -p gen.bytes=20MB"
    paused, bound = replay(source, "star:3", "net.transport=fixed", "net.full_queue=pause")
    found, time = replay(source, "star:3", "net.transport=dcqcn")
    check(found["pauses"] < 0.6 * paused["pauses"] and found["fairness"] > 0.98 and time < 1.1 * bound,
          f"DCQCN: {found} {time}; without: {paused} {bound}")


ALONE = """if rank == 0 { irecv 1 4MB loop i 2..size { irecv i 250kB } }
if rank == 1 { isend 0 4MB }
if rank > 1 { isend 0 250kB }
waitall
"""


def test_recovery(folder):
    """Seven of eight flows end after a third of the time: the last one gets the whole link then. 5.75 MB take 460 us."""
    path = folder / "alone.weft"
    path.write_text(ALONE, encoding="utf-8")
    for transport, most in (("fixed", 470), ("swift", 470), ("pull", 480), ("pressure", 470), ("nscc", 470), ("hpcc", 560)):
        _, time = replay(f"gen:text -n 9 -p gen.file={path}", "star:9", *(HPCC if transport == "hpcc" else [f"net.transport={transport}"]))
        check(460 <= time < most, f"{transport}: the last of eight flows ends after {time}")


def test_long_links(folder):
    """Eight flows over links of 5 us, where the windows for the whole rate are far too large together."""
    path = folder / "alone.weft"
    path.write_text(ALONE, encoding="utf-8")
    source = f"gen:text -n 9 -p gen.file={path}"
    _, time = replay(source, "star:9", "net.link_latency=5us", "net.transport=swift", "net.swift_target=1us", "net.swift_range=5us")
    check(time < 650, f"Swift's window grows again when the others have ended: {time}")
    marks = ["net.transport=nscc", "net.ecn_min=30kB", "net.ecn_max=120kB"]
    found, time = replay(source, "star:9", "net.link_latency=5us", *marks)
    check(found["sent_again"] < 700 and time < 490, f"nscc sends less after losses: {found} {time}")
    found, _ = incast("1MB", *marks)
    check(250 < found["marked"] < 800, f"nscc's windows become smaller with marks, and grow without: {found}")
    found, _ = incast("1MB", "net.link_latency=5us", "net.transport=pressure")
    check(found["pauses"] < 30, f"notices make windows smaller, so that PFC hardly has to pause: {found}")


def test_convergence(folder):
    """A second flow comes when the first has the link: both get half of it soon."""
    path = folder / "late.weft"
    path.write_text("if rank == 2 { irecv 0 8MB irecv 1 2MB }\nif rank == 0 { isend 2 8MB }\n"
                    "if rank == 1 { sleep 100us isend 2 2MB }\nwaitall\n", encoding="utf-8")
    for transport in ["fixed", "swift", "pull", "pressure", "nscc", "hpcc"]:
        found, time = replay(f"gen:text -n 3 -p gen.file={path}", "star:3", *(HPCC if transport == "hpcc" else [f"net.transport={transport}"]))
        share = shares(found)[1, 2]
        least = 0.3 if transport == "pressure" else 0.45 # its pauses favour who came first
        check(least < share < 0.62 and time < (880 if transport == "hpcc" else 820), f"{transport}: the second flow gets {share}, all end after {time}")


def test_permutation():
    """Routes by a hash of the flow collide where spraying does not."""
    source = "gen:pattern -n 32 -p gen.kind=bisection -p gen.bytes=200kB --placement random"
    for transport in ["pull", "swift"]:
        times = {ecmp: replay(source, "fattree:8x4,up=1x4", f"net.transport={transport}", "net.routing=ecmp",
                              f"net.ecmp={ecmp}")[1] for ecmp in ("flow", "packet")}
        check(times["flow"] > 1.3 * times["packet"], f"{transport}: collisions cost time: {times}")
        # Two nodes share an up-link on average: 32 us for 200 kB.
        check(32 < times["packet"] < 50, f"{transport}: spraying comes near the bound: {times}")
    source = "gen:pattern -n 32 -p gen.kind=bisection -p gen.bytes=400kB --placement random"
    again = {avoids: replay(source, "fattree:8x4,up=1x8", "net.transport=pull", "net.routing=ecmp", "net.ecmp=packet", "net.paths=16",
                            f"net.avoid_paths={avoids}")[0]["sent_again"] for avoids in ("no", "yes")}
    check(again["yes"] < 0.75 * again["no"], f"paths that lost packets are left out: {again}")


PAUSES = "loop i 0..32 { if rank == 0 { send 12 40kB sleep 20us } if rank == 12 { recv 0 40kB } }\n"


def test_flowlets(folder):
    """One flow with pauses of 17 us: with a shorter gap each message takes a route of its own, as a whole."""
    path, links = folder / "pauses.weft", folder / "links.csv"
    path.write_text(PAUSES, encoding="utf-8")
    for gap, routes in (("0", 1), ("25us", 1), ("10us", 4)):
        done = run("replay", "gen:text", "-n", "16", "-p", f"gen.file={path}", *PACKET, "--topo", "fattree:4x4,up=1x4", "-p",
                   "net.transport=swift", "-p", "net.routing=ecmp", "-p", f"net.flowlet_gap={gap}", "-p", "net.stats=links",
                   "-f", "-o", str(links), "-q")
        if check(done.returncode == 0, f"flowlets with a gap of {gap}", done):
            rows = csv.DictReader(links.read_text(encoding="utf-8").splitlines())
            loads = [int(row["bytes"]) for row in rows if row["vertex"] == "16" and int(row["port"]) > 3]
            used = [load for load in loads if load > 0]
            check(len(used) == routes and sum(used) == 32 * 40000 and all(load % 40000 == 0 for load in used),
                  f"a gap of {gap} uses {routes} routes: {loads}")


def test_deadlock():
    """Four nodes at each router of a ring, all packets in one direction: PFC or missing credits stop the ring."""
    for settings in (("net.full_queue=pause", "-p", "net.pause_at=4KiB", "-p", "net.resume_at=2KiB"),
                     ("net.full_queue=credits", "-p", "net.queue=8KiB")):
        check_run(["replay", "gen:pattern", "-n", "24", "-p", "gen.kind=bisection", "-p", "gen.bytes=100kB", "--net",
                   "packet", "--topo", "ring:6/star:4", "-p", "net.transport=fixed", "-p", *settings, "-q"], 4,
                  r"the network is in a deadlock, detected at [0-9.]+ us: router 2\d port \d channel 0 -> "
                  r"(router 2\d port \d channel 0 -> ){5}the first again", stdout="24 ranks have not finished")


DELIVERY = """param bytes = 200kB
if rank > 0 { isend 0 bytes isend 0 bytes tag 1 }
if rank == 0 { loop i 1..size { irecv i bytes irecv i bytes tag 1 } }
waitall
"""


def test_delivery(folder):
    """Data of announced messages is handed over when it is complete; messages that match receives stay in order."""
    path = folder / "delivery.weft"
    path.write_text(DELIVERY, encoding="utf-8")
    times = {}
    for eager in ("16KiB", "unlimited"):
        for delivery in ("in_order", "any_order"):
            found, times[eager, delivery] = replay(f"gen:text -n 9 -p gen.file={path}", "star:9", "net.transport=swift",
                                                   "net.queue=16KiB", f"mpi.eager_max={eager}", f"net.delivery={delivery}")
            check(found["dropped"] > 0, f"nothing is lost: {found}")
    check(times["unlimited", "in_order"] == times["unlimited", "any_order"], f"eager messages overtake: {times}")
    check(times["16KiB", "any_order"] <= times["16KiB", "in_order"], f"order makes it faster: {times}")


def test_failures():
    """A router fails while eight flows go through it: what was in it is sent again, and a flow whose destination stays
    out of reach is given up and named."""
    source, topo = "gen:pattern -n 16 -p gen.kind=incast -p gen.bytes=1MB", "fattree:2x2x4,up=1x2x2"
    common = ["net.routing=ecmp", "net.timeout=50us"]
    for transport in ["fixed", "swift", "pull", "nscc"]:
        _, before = replay(source, topo, f"net.transport={transport}", *common)
        for fail in ["router:24@100us", "router:24@100us-300us", "router:17@100us-300us"]:
            found, time = replay(source, topo, f"net.transport={transport}", f"net.fail={fail}", *common)
            check(found.get("dropped", 0) > 0 and found["timeouts"] > 0 and found["sent_again"] > 0 and
                  0.9 * before < time < 2 * before, f"{transport}, {fail}: {found} {time} after {before}")
    args = ["replay", *source.split(), *PACKET, "--topo", topo, "-p", "net.routing=ecmp"]
    check_run([*args, "-p", "net.transport=swift", "-p", "net.fail=router:17@100us", "-q"], 4,
              stdout="", stderr="node [23] cannot reach node 0 from 100.0 us on: router:17@100us")
    check_run([*args, "-p", "net.transport=dcqcn", "-p", "net.fail=router:17@100us"], 2,
              stderr="failures in time with net.transport need .* net.full_queue=drop or trim")


def test_one_way():
    """One-way links have no input port, but what comes over them does not come from the node: a node without ranks
    passes it on, and its queue may be full."""
    found, _time = replay("gen:pattern -n 5 -p gen.kind=incast -p gen.bytes=64KiB", "ring:6,oneway", "net.transport=swift",
                          "net.timing=store_and_forward", "net.queue=4KiB")
    check(found.get("dropped", 0) > 0, f"queues of one-way links overflow: {found}")


def test_interference():
    """A ring of messages beside an incast: PFC slows it down, pulls do not."""
    args = ["replay", "gen:gpcnet", "-n", "8", "--placement", "nodes:1-3,5,6,8-10", "-p", "gen.rounds=3", "-p",
            "gen.bytes=64KiB", "--job", "gen:gpcnet,ranks=8,gen.kind=incast,gen.bytes=512KiB,gen.rounds=4,"
            "placement=nodes:0,4,7,11-15", *PACKET, "--topo", "fattree:4x4,up=1x2", "--alone"]
    slow = {}
    for transport, full in [("fixed", "pause"), ("pull", "trim")]:
        done = run(*args, "-p", f"net.transport={transport}", "-p", f"net.full_queue={full}", "--json", "-q")
        if check(done.returncode == 0, f"interference with {transport}", done):
            jobs = parse(done)["result"]["jobs"]
            slow[transport] = jobs[0]["slowdown"]
            check(abs(jobs[0]["slowdown"] - jobs[0]["time_ps"] / jobs[0]["alone_time_ps"]) < 1e-3, f"slowdown: {jobs}")
    check(slow.get("fixed", 0) > 1.5 * slow.get("pull", 9), f"the victim of an incast: {slow}")
    done = run(*args, "-p", "net.transport=pull", "-q")
    check("times its time alone" in done.stdout, "the text tells", done)
    alone = run("replay", "gen:ring", "-n", "4", "--alone")
    check(alone.returncode == 2 and "alone: needs several jobs" in alone.stderr, "one job is always alone", alone)


def main():
    test_incast()
    test_interference()
    with tempfile.TemporaryDirectory() as folder:
        test_victim(pathlib.Path(folder))
        test_classes(pathlib.Path(folder))
        test_convergence(pathlib.Path(folder))
        test_delivery(pathlib.Path(folder))
        test_flowlets(pathlib.Path(folder))
        test_interface(pathlib.Path(folder))
        test_recovery(pathlib.Path(folder))
        test_long_links(pathlib.Path(folder))
    test_permutation()
    test_repetition()
    test_rates()
    test_deadlock()
    test_failures()
    test_one_way()
    finish()


if __name__ == "__main__":
    main()
