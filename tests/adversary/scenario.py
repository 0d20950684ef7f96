# SPDX-License-Identifier: Apache-2.0
"""Random scenarios, out of the reference page that weft prints of itself.

Every parameter of the page is drawn now and then, so that a new one takes part from the day it is
there. `LIMITS` keeps scenarios small: thousands of them should run in a minute.
"""
import re

SIZES = ["0", "1", "7B", "64B", "500B", "1KiB", "3000B", "4KiB", "9kB"]
TIMES = ["0", "1ps", "13ns", "100ns", "250ns", "1us", "7us", "100us"]
RATES = ["100MB/s", "333MB/s", "1GB/s", "10GB/s", "25GB/s"]

# Parameters whose values would make a run long, or that have a language of their own. None: never.
LIMITS = {
    "gen.iterations": ["0", "1", "2"], "gen.rounds": ["0", "1", "2", "3"],
    "gen.messages": ["1", "2", "5"], "gen.steps": ["0", "1"], "gen.layers": ["1", "2", "5"],
    "gen.model": ["1", "5kB", "40kB"], "gen.bucket": ["4kB", "9kB"], "gen.tasks": ["0", "3", "12"],
    "gen.keys": ["0", "100", "4096"], "gen.buckets": ["1", "16"], "gen.window": ["1", "2", "4"],
    "gen.cells": ["3x3x3"], "gen.kaway": ["1"], "gen.atoms": ["0", "3", "12"],
    "gen.atom_bytes": ["0", "8B"], "gen.neighbors": ["0", "1", "3"], "gen.root": ["0", "1"],
    "gen.k_blocks": ["1", "2"], "gen.angle_blocks": ["1", "2"], "gen.peers": ["0", "1", "2"],
    "gen.size": None, "gen.file": None, "gen.set": None, "gen.pairs": ["0", "1"],
    "gen.compute": ["0", "1us", "30us", "100us"], "gen.optimizer": ["0", "9us"],
    "gen.pair_time": ["0", "10ns"], "gen.atom_time": ["0", "50ns"],
    "net.packet": ["200B", "512B", "2KiB"], "net.header": ["0", "8B", "40B"],
    "net.links": None, "net.routing_file": None, "net.preset": None, "net.sizes":
        ["64:20ns,4096:2us", "1:1ns"], "net.held": ["1:2us,4096:9us"],
    "net.fail": ["link:0-1", "links:1", "links:10%", "link:0-1@1us-5us", "links:2@2us",
                 "links:1@500ns-900ns,links:1@3us"],
    "net.resend_delay": ["1us", "10us"], "net.vc_bytes": ["2KiB", "4KiB", "16KiB"],
    "net.n_vcs": ["0", "2", "8"], "net.vcs": ["0", "1", "3", "6"], "net.queue": ["1", "2", "4"],
    "net.phit": ["16B", "64B"], "net.flit": None, "net.info_step": ["0", "512B", "2KiB"],
    "net.adapt": ["packet", "message"],
    "net.global_delay": ["4", "64"], "net.watchdog": ["500", "10000"],
    "net.global_restriction": ["0", "0.2", "0.7"], "net.injection_length": ["1", "8"],
    "net.link_latency": ["0", "20ns", "50ns", "1us"], "net.S": None, "net.O": None,
    "net.cycle": None, "net.swift_step": ["0.5", "1"], "net.swift_most": ["0.3", "0.9"],
    "net.dcqcn_gain": ["0.01", "0.5"], "gen.first": ["0"], "gen.second": ["1", "2"],
    "node.cores": ["1", "2", "3"], "node.time_slice": ["0", "20us", "50us"],
    "node.noise_period": ["20us", "100us"], "node.noise_duration": ["0", "2us", "25us"],
    "node.nic_group": ["1", "2"], "node.nic_domains": None, "node.nics": ["1", "2", "3"],
    "node.stripe_min": ["0", "1B", "2KiB"], "node.sockets": ["1", "2"],
    "node.domains": ["1", "2", "4"], "node.switch_cost": ["0", "200ns", "2us"],
    "node.memory_bandwidth": ["unlimited", "1GB/s", "8GB/s"],
    "mpi.eager_max": ["0", "100B", "2KiB", "64KiB"], "mpi.unexpected_limit": ["9kB", "1MiB"],
    "mpi.hw_latency": TIMES, "cpu.scale": ["0.5", "1.7"], "cpu.name": ["a", "b c"],
    "traffic.cycles": ["64", "200", "400"], "traffic.cycles_max": None, "traffic.cycle": None,
    "traffic.phit": None, "traffic.sizes": None, "traffic.sources": None, "traffic.matrix": None,
    "traffic.size": ["0", "64B", "500B", "2KiB"], "traffic.long_size": ["100B", "3kB"],
    "traffic.load": ["0", "0.05", "0.3", "0.8", "1"], "traffic.burst": ["1", "3"],
    "traffic.rounds": ["0", "1", "3"], "traffic.reply": ["0", "64B"],
    "traffic.hot_node": ["0", "1"], "traffic.hot_nodes": ["0", "1", "2"],
    "traffic.precision": ["0.05", "0.5"],
    "phold.lps": ["1", "7", "60"], "phold.start_events": ["0", "1", "4"],
    "phold.end": ["1us", "3us"], "phold.mean": ["500ns", "1us"],
    "queues.stations": ["1", "5", "40"], "queues.customers": ["0", "1", "4"],
    "queues.end": ["3us", "9us"], "queues.service": ["300ns", "1us"],
    "ties.lps": ["1", "5", "40"], "ties.start_events": ["1", "3"], "ties.echoes": ["0", "3"],
    "ties.end": ["1us", "3us"], "ties.tick": ["100ns", "300ns"],
}
# Parameters that a run of so few iterations cannot do without.
ALWAYS = {
    "fft": {"gen.n": ["4", "16"]}, "cg": {"gen.n": ["1", "900"], "gen.iterations": ["0", "1"]},
    "bt": {"gen.n": ["6", "20"]}, "is": {}, "coll": {"gen.bytes": SIZES}, "training": {},
    "leanmd": {},
    "llm": {"gen.model": ["custom"], "gen.layers": ["4", "8"], "gen.hidden": ["8", "32"],
            "gen.heads": ["1", "2", "4"], "gen.kv_heads": ["0", "1"], "gen.head_width": ["0", "8"],
            "gen.ffn": ["16", "40"], "gen.vocabulary": ["16", "100"], "gen.sequence": ["4", "16"],
            "gen.experts": ["1", "1", "4"], "gen.top_k": ["1"], "gen.batch": ["0", "4", "8"],
            "gen.micro": ["1", "2"], "gen.tensor": ["1", "1", "2"], "gen.pipeline": ["1", "2"],
            "gen.context": ["1", "1", "2"], "gen.expert": ["1", "1", "2"], "gen.steps": ["1"],
            "gen.chunks": ["1"], "gen.attention_cost": ["1.4"], "gen.expert_cost": ["1.5"],
            "gen.tflops": ["1", "400"], "gen.bucket": ["0", "100B", "9kB"]},
}
TRANSPORTS = ["fixed", "dcqcn", "swift", "pull", "pressure"]
# What transports add to the packet model, in sizes that a few packets reach.
TRANSPORT = {
    "net.full_queue": ["auto", "drop", "trim", "pause"], "net.queue": ["0", "2KiB", "9kB", "64KiB"],
    "net.ecn_min": ["0", "1KiB", "4KiB"], "net.ecn_max": ["4KiB", "9kB"],
    "net.ecn_probability": ["0", "0.2", "1"], "net.pause_at": ["4KiB", "9kB"],
    "net.resume_at": ["1KiB", "2KiB"], "net.window": ["0", "512B", "4KiB", "64KiB"],
    "net.retransmit": ["auto", "go_back_n", "selective"], "net.timeout": ["10us", "50us", "200us"],
    "net.ack": ["1B", "64B"], "net.flowlet_gap": ["0", "1us"], "net.paths": ["0", "1", "3"],
    "net.dcqcn_interval": ["1us", "50us"], "net.dcqcn_timer": ["1us", "55us"],
    "net.dcqcn_bytes": ["1KiB", "10MB"], "net.swift_target": ["0", "500ns", "5us"],
    "net.swift_range": ["0", "20us"], "net.pressure_at": ["1KiB", "32KiB"],
    "net.classes": ["small:max=1KiB,priority=1,bulk:share=1", "own:first=1,last=2,rest:share=3"],
}
# Files of synthetic traffic: how often, and what is in them.
FILES = {"traffic.matrix": (0, ["0 1 2", "1 0 1", "2 3 5", "3 1 4"]),
         "traffic.sizes": (0.1, ["64 3", "500 1", "2048 1"]),
         "traffic.sources": (0.1, ["0 0", "1 50", "2 100"])}
ROUTINGS = {
    "packet": ["minimal", "adaptive", "ecmp", "updown", "valiant", "ugal_l", "ugal_g", "par",
               "usual"],
    "router": ["auto", "minimal", "adaptive", "valiant", "ugal", "updown", "ecmp", "dateline",
               "adaptive-3vc", "oblivious-3vc", "ugal_g", "usual"],
}
TOPOLOGIES = {
    "star:4": 4, "star:9": 9, "ring:5": 5, "ring:6,oneway": 6, "mesh:3x3": 9, "mesh:2x2x2": 8,
    "torus:4": 4, "torus:4x4": 16, "torus:3x2x2": 12, "torus:2x2,wrap=1,0": 4,
    "ttorus:4x2,jump=1/0": 8, "tree:8,degree=2": 8, "tree:7,degree=2,nodes=all": 7,
    "fattree:4x2": 8, "fattree:k=2,n=3": 8, "fattree:4x4,up=1x2": 16, "dragonfly:1": 6,
    "dragonfly:2,p=1": 36, "cascade:1,columns=2,rows=1,p=1": 6, "dragonfly+:2,p=1": 10,
    "hyperx:3x2,p=2": 12, "slimfly:3,p=1": 18, "full:6": 6, "torus:3x2/star:3": 18, "star:3/full:3": 9,
}
GENERATORS = ["stencil2d", "stencil3d", "stencil4d", "sweep3d", "fft", "cg", "bt", "is",
              "training", "masterworker", "coll", "ring", "random", "pingpong", "exchange",
              "pattern", "gpcnet", "llm", "leanmd"]
SQUARES = {"cg": [1, 2, 4, 8], "bt": [1, 4, 9], "llm": [1, 2, 4, 8, 16]}


# Routings of grids, dragonflies and trees alone.
ONLY = {"dateline": "torus mesh ring", "adaptive-3vc": "torus mesh", "oblivious-3vc": "torus mesh",
        "par": "dragonfly", "updown": "star tree fattree"}


def fits(routing, topology):
    kind = topology.split(":")[0]
    return routing not in ONLY or ("/" not in topology and kind in ONLY[routing].split())


# Pieces of programs in the workload language; some deadlock or leave messages over now and then,
# which has one outcome too.
PIECES = [
    "irecv (rank - {k}) % size {b}\nisend (rank + {k}) % size {b}\nwaitall",
    "sendrecv (rank + 1) % size from (rank - 1) % size {b}",
    "if rank == 0 {{ loop j 1..size {{ recv any 9kB tag any }} }} else {{ send 0 {b} tag rank }}",
    "if rank == {r} % size {{ loop j 1..size {{ irecv any 9kB }} waitall }}"
    " else {{ issend {r} % size {b} }}",
    "if rank % 2 == 0 {{ if rank + 1 < size {{ ssend rank + 1 {b} }} }} else {{ recv rank - 1 9kB }}",
    "compute {t} * (1 + rank % 3)", "compute {t}", "barrier", "allreduce {b}", "bcast {b} root {r} % size",
    "iallreduce {b}\ncompute {t}\nwaitall", "ibarrier\nwaitall", "alltoall {b}", "reduce {b}",
    "allgather {b}", "scan {b}", "send (rank + 1) % size {b}", "recv (rank + 1) % size 9kB",
    "isend (rank + {k}) % size {b} tag {k}\nrecv any 9kB tag any\nwaitall",
]


def workload(rng):
    """A random program in the workload language."""
    def block(depth):
        lines = []
        for _ in range(rng.choice([1, 2, 3])):
            if depth < 2 and rng.random() < 0.3:
                head = rng.choice(["loop i{d} 0..{n} {{", "repeat {n} {{", "region r{n} {{",
                                   "iteration {{", "if rank % {n} == 0 || 1 {{"])
                lines += [head.format(d=depth, n=rng.choice([1, 2, 3])), *block(depth + 1), "}"]
            else:
                # The faulty ones are rare: most programs should come to their end.
                piece = rng.choice(PIECES[:16] * 4 + PIECES)
                lines.append(piece.format(k=rng.choice([1, 2]), b=rng.choice(SIZES),
                                          t=rng.choice(TIMES), r=rng.choice([0, 1, 5])))
        return lines
    return "\n".join(block(0)) + "\n"


class Page:
    """The tables of parameters of a reference page, by heading."""

    def __init__(self, text):
        self.tables, self.patterns = {}, []
        heading = ""
        for line in text.splitlines():
            if line.startswith("#"):
                heading = line.lstrip("# ")
                if heading.startswith("pattern."):
                    self.patterns.append(heading.removeprefix("pattern."))
            row = re.match(r"\| `([^`]+)` \| `([^`]*)` \| ([^|]*) \| ([^|]*) \|", line)
            if row:
                self.tables.setdefault(heading, []).append(
                    (row[1], row[2].replace("\\|", "|"), row[4].strip()))

    def value(self, rng, key, form, allowed):
        """A random value, or None if this parameter is not drawn."""
        if key in LIMITS:
            return rng.choice(LIMITS[key]) if LIMITS[key] else None
        form = rng.choice(form.removesuffix(",...").split("|"))
        if form == "<count>":
            least = re.match(r"(\d+)(?: to| *$)|at least (\d+)", allowed)
            least = int(next((g for g in least.groups() if g), 0)) if least else 0
            return str(least + rng.choice([0, 1, 1, 2, 3]))
        if form == "<number>":
            return rng.choice(["0", "1", f"{rng.random():.3f}"])
        lists = {"<size>": SIZES, "<time>": TIMES, "<rate>": RATES}
        if form in lists:
            return rng.choice(lists[form])
        return None if "<" in form else form

    def draw(self, rng, heading, share):
        """Some parameters of a table with random values."""
        drawn = {}
        for key, form, allowed in self.tables.get(heading, []):
            if rng.random() < share:
                value = self.value(rng, key, form, allowed)
                if value is not None:
                    drawn[key] = value
        return drawn


def algorithms(text):
    """The algorithms of each collective, out of `weft coll list`."""
    found, kind = {}, None
    for line in text.splitlines():
        name = re.fullmatch(r"([a-z_]+)|  ([a-z_]+)( .*)?", line)
        if name and name[1]:
            kind = found.setdefault(name[1], ["ideal", "hardware"])
        elif name and kind is not None:
            kind.append(name[2])
    return found


def repair(settings):
    """Settings that only make sense together: most errors teach nothing."""
    if "net.fail_action" in settings and "@" not in settings.get("net.fail", ""):
        del settings["net.fail_action"]
    if "node.memory_bound" in settings:
        settings["node.core_bandwidth"] = "5GB/s"
        settings["node.memory_bandwidth"] = "8GB/s"
    domains = int(settings.get("node.domains", 1))
    if domains < int(settings.get("node.sockets", 1)):
        settings["node.domains"] = settings["node.sockets"]
        domains = int(settings["node.domains"])
    if "node.cores" in settings and settings["node.cores"] != "unlimited":
        settings["node.cores"] = str(domains * int(settings["node.cores"]))
    if settings.get("node.nic_policy") in ("round_robin", "stripe"):
        settings.setdefault("mpi.eager_max", "100B")
    if settings.get("node.noise_duration") == "25us":
        settings["node.noise_period"] = "100us"
    return settings


class Scenarios:
    """`folder` has traces, and gets the programs that are drawn; None: neither."""

    def __init__(self, page, coll_list, folder=None):
        self.page = Page(page)
        self.algorithms = algorithms(coll_list)
        self.folder = folder
        self.traces = sorted(folder.iterdir()) if folder else []

    def program(self, rng, most):
        name = rng.choice(GENERATORS)
        ranks = rng.choice([r for r in SQUARES.get(name, range(1, 17)) if r <= most] or [1])
        drawn = self.page.draw(rng, f"gen.{name}", 0.4)
        # The defaults are for people; these are for thousands of runs.
        for key, _form, _allowed in self.page.tables[f"gen.{name}"]:
            if key not in drawn and LIMITS.get(key):
                drawn[key] = rng.choice(LIMITS[key])
            if key == "gen.bytes" and key not in drawn:
                drawn[key] = rng.choice(SIZES)
        for key, values in ALWAYS.get(name, {}).items():
            drawn[key] = rng.choice(values)
        return name, ranks, drawn

    def network(self, rng):
        """The settings of a network, and how many nodes it has."""
        model = rng.choice(["loggp", "alphabeta", "latency", "packet", "packet", "packet",
                            "router", "router", "none"])
        settings = {"network": model, **self.page.draw(rng, f"net.{model}", 0.15)}
        if model in ("loggp", "alphabeta", "none"):
            settings.pop("net.fail", None)
            return settings, 16
        settings["topology"] = rng.choice(list(TOPOLOGIES))
        if model in ROUTINGS:
            settings["net.routing"] = rng.choice(
                [r for r in ROUTINGS[model] if fits(r, settings["topology"])])
        if model == "packet":
            self.transport(rng, settings)
        return settings, TOPOLOGIES[settings["topology"]]

    @staticmethod
    def transport(rng, settings):
        """Either none of the settings of transports, or one and some of its settings."""
        for key in ["net.transport", *TRANSPORT]:
            settings.pop(key, None)
        if rng.random() < 0.25:
            for key in ["net.buffers", "net.fail", "net.fail_action", "net.resend_delay",
                        "net.stats_window", "net.burst"]:
                settings.pop(key, None)
            settings["net.transport"] = rng.choice(TRANSPORTS)
            settings.update({key: rng.choice(values) for key, values in TRANSPORT.items()
                             if rng.random() < 0.2})
            if "net.ecn_max" in settings:
                settings["net.ecn_min"] = "1KiB"
            if "net.pause_at" in settings:
                settings["net.resume_at"] = "1KiB"

    def replay(self, rng):
        settings, nodes = self.network(rng)
        per_node = rng.choice([1, 1, 1, 2, 4])
        settings.update(self.page.draw(rng, "Nodes", rng.choice([0, 0.05, 0.3])))
        nodes //= int(settings.get("node.nics", 1))
        name, ranks, drawn = self.program(rng, max(1, nodes * per_node))
        settings.update(drawn)
        settings["source"], settings["ranks"] = f"gen:{name}", str(ranks)
        if self.folder and rng.random() < 0.3:
            name = self.from_file(rng, settings, drawn)
        if per_node > 1:
            settings["ranks_per_node"] = str(per_node)
        settings["placement"] = rng.choice(["auto", "linear", "roundrobin", "random"])
        settings.update(self.page.draw(rng, "MPI", rng.choice([0, 0.2])))
        settings.update(self.page.draw(rng, "Processors", 0.05))
        settings.update(self.page.draw(rng, "Replay", 0.1))
        for kind, names in self.algorithms.items():
            if rng.random() < 0.05:
                settings[f"mpi.{kind}"] = rng.choice(names)
        if rng.random() < 0.1 and name != "leanmd":
            other, ranks, drawn = self.program(rng, 4)
            if other != "leanmd":
                settings.update({f"job.1.{k}": v for k, v in drawn.items()})
                settings.update({"job.1.source": f"gen:{other}", "job.1.ranks": str(ranks),
                                 "job.1.start": rng.choice(TIMES)})
        return settings

    def from_file(self, rng, settings, drawn):
        """A trace or a text instead of a generator."""
        for key in drawn:
            del settings[key]
        if rng.random() < 0.3:
            settings["source"] = str(rng.choice(self.traces))
            del settings["ranks"]
            return "leanmd" if "leanmd" in settings["source"] else "trace"
        text = self.folder / "program.txt"
        text.write_text(workload(rng))
        settings["source"], settings["gen.file"] = "gen:text", str(text)
        return "text"

    def traffic(self, rng):
        settings, _nodes = self.network(rng)
        while "topology" not in settings or settings["network"] == "latency":
            settings, _nodes = self.network(rng)
        settings["source"] = "traffic:" + rng.choice(self.page.patterns)
        settings.update(self.page.draw(rng, "Traffic", 0.2))
        settings.setdefault("traffic.cycles", rng.choice(LIMITS["traffic.cycles"]))
        settings.setdefault("traffic.load", rng.choice(LIMITS["traffic.load"]))
        if "traffic.reply" in settings:
            settings["traffic.rounds"] = rng.choice(["1", "3"])
        for key, (share, lines) in FILES.items():
            always = key == "traffic.matrix" and settings["source"] == "traffic:matrix"
            if self.folder and (always or rng.random() < share):
                settings[key] = str(self.folder / key)
                (self.folder / key).write_text("".join(line + "\n" for line in lines))
        return settings

    def bench(self, rng):
        name = rng.choice(["phold", "queues", "ties"])
        settings = {"source": f"bench:{name}"}
        for key, form, allowed in self.page.tables[f"bench.{name}"]:
            value = self.page.value(rng, key, form, allowed)
            if key in LIMITS or (value is not None and rng.random() < 0.3):
                settings[key] = value
        return settings

    def scenario(self, rng):
        settings = rng.choices([self.replay, self.traffic, self.bench], [75, 20, 5])[0](rng)
        settings["seed"] = str(rng.randrange(1000))
        return repair(settings)

    def schedule(self, rng, most_threads=4):
        """Settings of the engine that change nothing."""
        scheduler = rng.choice(["conservative", "optimistic", "optimistic", "perturb", "perturb",
                                "check-undo"])
        # The delays that `perturb` injects into several threads take a hundred times as long.
        few = 0.02 if scheduler == "perturb" else 0.2
        threads = rng.choice([2, most_threads]) if rng.random() < few else 1
        settings = {"engine.sched": scheduler, "engine.threads": str(threads),
                    "engine.fit": "no"}
        for key, values in {"engine.partition": ["block", "cyclic", "spread", "spread8", "spread32", "auto"], "engine.trial": ["0", "1", "50"], "engine.batch": ["1", "7"],
                            "engine.gvt_interval": ["1", "3"], "engine.lps_per_kp": ["2", "8"],
                            "engine.leash": ["100ns", "3us"], "engine.safe": ["no"], "engine.memory": ["4KiB", "64KiB"],
                            "engine.perturb_seed": [str(rng.randrange(10 ** 6))]}.items():
            if rng.random() < 0.3:
                settings[key] = rng.choice(values)
        return settings

    def execution(self, rng, scenario):
        """Settings that change nothing: a schedule, or for traffic on routers another executor,
        which may refuse a scenario."""
        routers = scenario["source"].startswith("traffic:") and scenario["network"] == "router"
        if not routers or rng.random() < 0.3:
            return self.schedule(rng)
        settings = rng.choice([{"engine.exec": "lockstep"}, {"engine.exec": "lockstep"},
                               {"engine.exec": "gpu", "engine.device": "host"}])
        return {**settings, "engine.fit": "no", "engine.threads": rng.choice(["1", "1", "1", "2", "3"])}
