# SPDX-License-Identifier: Apache-2.0
"""Messages from one rank to another with one tag match receives in the order of their sends, however
the network carries them."""
import concurrent.futures
import itertools
import pathlib
import re
import tempfile

from weft_cli import SOURCE, check, finish, parse, run, sample

RANKS = 4
# Each too long for every receive of a shorter one: a message that overtakes another fails its receiver.
SIZES = (20000, 100, 3000, 40000, 1, 16384, 9000, 300, 70000, 0, 500)
MACHINE = ["-n", str(RANKS), "--ranks-per-node", "1", "-p", "mpi.eager_max=16KiB", "-p", "node.stripe_min=1KiB"]

TOPOLOGIES = {"par": "dragonfly:2", "updown": "fattree:4,3"}  # of policies that need one; many routes everywhere


def write_trace(folder):
    """All ranks send all sizes to all others at once; receives are posted and exact."""
    for rank in range(RANKS):
        peers = [peer for peer in range(RANKS) if peer != rank]
        ops = [f"{rank} init"]
        ops += [f"{rank} irecv {peer} 7 {size} 6" for size in SIZES for peer in peers]
        ops += [f"{rank} isend {peer} 7 {size} 6" for size in SIZES for peer in peers]
        ops += [f"{rank} waitall {2 * len(peers) * len(SIZES)}", f"{rank} finalize"]
        (folder / f"rank{rank}.txt").write_text("\n".join(ops) + "\n", encoding="utf-8")
    trace = folder / "order.ti"
    trace.write_text("".join(f"rank{rank}.txt\n" for rank in range(RANKS)), encoding="utf-8")
    return trace


def registered(path, macro):
    return re.findall(rf"^{macro}\((\w+)\)", (SOURCE / path).read_text(encoding="utf-8"), re.M)


def choices(topic, name):
    """The settings of a parameter with choices."""
    found = re.search(rf"-p {re.escape(name)}=([\w|]+)\s", run("help", *topic.split()).stdout)
    check(found is not None, f"help {topic}: no choices of {name}")
    values = found.group(1).split("|") if found else []
    return [f"{name}={value}" for value in {"true": ("on", "off")}.get(values[0], values)]


def on_packet(*names):
    return itertools.product(*(choices("net packet", name) for name in names))


def scenarios():
    """The network, and settings for all combinations of what may decide the order."""
    rails = [(policy, f"node.nics={nics}") for policy in choices("node", "node.nic_policy") for nics in (1, 2)
             if nics == 2 or policy.endswith("=rank")]
    policies = registered("src/model/net/route/policies.def", "WF_ROUTE_POLICY")
    check("minimal" in policies and "ecmp" in policies, f"routing policies: {policies}")
    routes = [(f"net.routing={name}",) for name in ["usual", *policies] if name not in ("ecmp", "table")]
    routes += [("net.routing=ecmp", *ecmp) for ecmp in on_packet("net.ecmp")]
    for parts in itertools.product(on_packet("net.nic", "net.control_queue"), routes, on_packet("net.buffers"), rails):
        yield "packet", sum(parts, ())
    transports = [ways for ways in on_packet("net.transport", "net.delivery") if ways[0] != "net.transport=none"]
    classes = ["net.classes=", "net.classes=small:max=4KiB,priority=1,bulk:share=1"]
    for ways, route, split in itertools.product(transports, routes, classes):
        yield "packet", ("net.nic=rr", split, *ways, *route)
    for timing, nic in on_packet("net.timing", "net.nic"):
        yield "packet", (timing, nic)
    for network in registered("src/model/net/models.def", "WF_NET_MODEL"):
        for rail in rails:
            yield network, rail


def replay(trace, network, settings):
    topo = next((topo for policy, topo in TOPOLOGIES.items() if f"net.routing={policy}" in settings), "hyperx:3x3,p=2")
    args = ["replay", str(trace), *MACHINE, "--net", network, "--topo", topo, "-q"]
    return run(*args, *itertools.chain.from_iterable(("-p", setting) for setting in settings))


def test_order():
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(2) as pool:
        trace, cases = write_trace(pathlib.Path(name)), sample(list(scenarios()), 7)
        refused = 0
        for scenario, done in zip(cases, pool.map(lambda one: replay(trace, *one), cases)):
            if done.returncode == 2:
                refused += 1
                check("cannot be used" in done.stderr or "need" in done.stderr, f"refuses {scenario}", done)
            else:
                check(done.returncode == 0, f"messages overtake with {scenario}", done)
        check(refused < len(cases) / 4, f"{refused} of {len(cases)} scenarios cannot be simulated")


def test_control_queue():
    """Exchanges of ranks that begin one after another: data of the next rank is asked for while the own
    data of a rank leaves. With one queue for both, ranks wait for each other."""
    with tempfile.TemporaryDirectory() as name:
        folder, size = pathlib.Path(name), 2200000
        for rank in range(RANKS):
            ops = [f"{rank} init", f"{rank} compute {rank * 100000}"]
            for step in range(1, RANKS):
                ops += [f"{rank} irecv {(rank - step) % RANKS} 7 {size} 6",
                        f"{rank} isend {(rank + step) % RANKS} 7 {size} 6", f"{rank} waitall 2"]
            (folder / f"rank{rank}.txt").write_text("\n".join([*ops, f"{rank} finalize"]) + "\n", encoding="utf-8")
        trace = folder / "exchange.ti"
        trace.write_text("".join(f"rank{rank}.txt\n" for rank in range(RANKS)), encoding="utf-8")
        times = {}
        for settings in (["mpi.eager_max=4MiB"], [], ["net.nic=rr"], ["net.control_queue=on"],
                         ["net.control_queue=on", "net.trains=off"], ["net.control_queue=on", "net.buffers=credits"]):
            done = run("replay", str(trace), *MACHINE, "--net", "packet", "--topo", "star:4", "--json", "-q",
                       "-p", "net.bandwidth=1.25GB/s", *itertools.chain.from_iterable(("-p", one) for one in settings))
            check(done.returncode == 0, f"control messages with {settings}", done)
            times[",".join(settings)] = parse(done)["result"]["ranks"]["finish_ps"]["max"] / 1e9
        eager = times["mpi.eager_max=4MiB"]
        check(times[""] > 1.5 * eager, f"control messages do not wait behind data: {times}")
        for name in ("net.nic=rr", "net.control_queue=on", "net.control_queue=on,net.buffers=credits"):
            check(0.9 * eager < times[name] < 1.05 * eager, f"control messages wait with {name}: {times}")
        check(times["net.control_queue=on"] == times["net.control_queue=on,net.trains=off"], f"trains change times: {times}")


test_order()
test_control_queue()
finish()
