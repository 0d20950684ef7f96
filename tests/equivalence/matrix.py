# SPDX-License-Identifier: Apache-2.0
"""Every scenario gives one result, whatever the scheduler and however many threads and
processes: the sections `scenario`, `result`, `recording`, `critical_path`, `what_if` and
`warnings` are equal to the last byte."""
import concurrent.futures
import itertools
import json
import os
import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "cli"))
from weft_cli import MPIEXEC, check, finish, parse, run  # noqa: E402

SECTIONS = ["scenario", "result", "recording", "critical_path", "what_if", "warnings"]
# Everything that a message can cost its node.
COSTS = [text for setting in [
    "o_send=70ns", "o_recv=90ns", "copy_send=3GB/s", "copy_recv=2GB/s", "copy_unexpected=7GB/s",
    "injection_delay=110ns", "ejection_delay=60ns", "gap=150ns", "registration=210ns",
    "registration_rate=5GB/s"] for text in ("-p", f"node.{setting}")]
SLEEP = pathlib.Path(__file__).resolve().parent / "sleep.weft"
COLLECTIVES = pathlib.Path(__file__).resolve().parent / "collectives.weft"
FILES = pathlib.Path(__file__).resolve().parent / "files.weft"
STORAGE = [word for text in (
    "model=striped", "servers=3", "disks=2", "write_bandwidth=1GB/s", "read_bandwidth=2GB/s", "write_latency=30us",
    "read_latency=70us", "rate=20000", "cache=256KiB", "cache_bandwidth=5GB/s", "stripe=64KiB", "meta_servers=2",
    "meta_latency=20us", "meta_rate=50000", "node_bandwidth=3GB/s", "bandwidth=6GB/s") for word in ("-p", f"storage.{text}")]
LONG = ["-p", "mpi.eager_max=4KiB"]
SCENARIOS = [
    ["bench", "phold", "--lps", "300", "--end", "3us"],
    ["bench", "queues", "-p", "queues.stations=100", "-p", "queues.end=20us"],
    ["bench", "ties", "-p", "ties.end=3us"],
    ["bench", "ties", "-p", "ties.end=1us", "-p", "ties.instant=true"],
    ["replay", "gen:stencil3d", "-n", "60", "--net", "loggp", "-p", "gen.allreduce=true"],
    ["replay", "gen:stencil3d", "-n", "30", "--net", "loggp", "-p", "net.shared=0.4",
     "-p", "net.sizes=64:20ns,4096:2us,65536:9us"],
    ["replay", "gen:stencil3d", "-n", "24", "--net", "loggp", "-p", "net.held=1:2us,65536:9us"],
    ["replay", "gen:stencil3d", "-n", "64", "--net", "latency", "--topo", "torus:4x4x4"],
    ["replay", "gen:stencil3d", "-n", "27", "--net", "alphabeta", "-p", "gen.iterations=2"],
    ["replay", "gen:ring", "-n", "40", "--net", "latency", "--topo", "mesh:8x5"],
    ["replay", "gen:random", "-n", "64", "--net", "latency", "--topo", "torus:4x4x4"],
    ["replay", "gen:random", "-n", "50", "--net", "loggp", "--ranks-per-node", "4",
     "-p", "gen.messages=20"],
    ["traffic", "uniform", "--topo", "torus:4x4", "--load", "0.6", "--cycles", "700",
     "-p", "net.routing=adaptive-3vc"],
    ["replay", "gen:stencil3d", "-n", "64", "--net", "packet", "--topo", "torus:4x4x4",
     "-p", "gen.bytes=10kB", "-p", "gen.iterations=1", "--record"],
    ["replay", "gen:random", "-n", "48", "--net", "packet", "--topo", "fattree:4,2,2",
     "--ranks-per-node", "3", "-p", "gen.bytes=3kB", "-p", "gen.messages=4"],
]
# Every generator and what networks can do, small, under fewer schedules: what they share is above.
PROGRAMS = [
    # Runs that end at a given time: packets with credits, tasks, routers.
    ["replay", "gen:stencil3d", "-n", "27", "--net", "packet", "--topo", "torus:3x3x3", "--until",
     "2060us", "-p", "gen.bytes=40kB", "-p", "net.buffers=credits", "-p", "gen.imbalance=0.1"],
    ["replay", "gen:leanmd", "-n", "8", "-p", "gen.cells=3x3x3", "-p", "gen.atoms=20", "--net",
     "latency", "--topo", "torus:2x2x2", "--until", "9us"],
    ["replay", "gen:random", "-n", "16", "--net", "router", "--topo", "torus:4x4",
     "-p", "gen.messages=8", "--until", "100ns", "--record"],
    ["replay", "gen:exchange", "-n", "40", "-p", "gen.bytes=20kB", "-p", "gen.peers=5",
     "--machine", "frontier"],
    ["replay", "gen:pingpong", "-n", "9", "--ranks-per-node", "3", "-p", "gen.bytes=9000",
     "-p", "gen.window=3", "-p", "gen.rounds=2", "--machine", "xc"],
    ["replay", "gen:random", "-n", "16", "--net", "router", "--topo", "torus:4x4",
     "-p", "gen.messages=8", "-p", "net.routing=adaptive-3vc"],
    ["traffic", "uniform", "--topo", "torus:4x3", "--net", "packet", "--load", "0.5", "--cycles",
     "400", "-p", "net.buffers=credits", "-p", "net.nic=rr", "-p", "net.fail=link:0-1"],
    ["traffic", "uniform", "--topo", "torus:4x3", "--load", "0.5", "--cycles", "400",
     "-p", "net.switching=wormhole", "-p", "net.routing=dateline", "-p", "net.hold_switch=yes"],
    ["traffic", "neighbor-all", "--topo", "torus:4x3", "--load", "0.8", "--cycles", "400",
     "-p", "net.switching=wormhole", "-p", "net.routing=adaptive", "-p", "net.escape=stay"],
    ["traffic", "uniform", "--topo", "fattree:k=2,n=3", "--load", "0.5", "--cycles", "400",
     "-p", "net.switching=wormhole", "-p", "net.vcs=3", "-p", "net.request=random",
     "-p", "net.speculative=yes"],
    ["traffic", "tornado-all", "--topo", "torus:4x3", "--load", "1", "--cycles", "700",
     "-p", "net.routing=oblivious-3vc", "-p", "net.arbitration=age"],
    ["traffic", "uniform", "--topo", "fattree:k=2,n=3", "--load", "0.5", "--cycles", "700",
     "-p", "net.routing=updown", "-p", "net.vcs=2", "-p", "net.request=random"],
    ["traffic", "hotspot", "--topo", "dragonfly:1", "--load", "0.4", "--cycles", "700",
     "-p", "net.routing=ugal", "-p", "net.arbitration=random"],
    ["traffic", "uniform", "--topo", "torus:4x4", "--load", "0.9", "--cycles", "700",
     "-p", "net.global_restriction=0.05", "-p", "net.transit_priority=0.5",
     "-p", "net.injection_queues=4", "-p", "net.injection=direction"],
    ["traffic", "uniform", "--topo", "torus:3x2/star:3", "--load", "0.7", "--cycles", "700",
     "-p", "net.routing=ugal", "-p", "net.request=random", "-p", "net.ugal_threshold=32B"],
    ["traffic", "uniform", "--topo", "dragonfly:2,p=1", "--load", "0.5", "--cycles", "400",
     "-p", "net.routing=ugal_g"],
    ["traffic", "uniform", "--topo", "torus:4x3", "--load", "0.4", "--cycles", "400",
     "-p", "net.routing=ecmp", "-p", "net.ecmp=packet", "-p", "net.fail=link:0-1"],
    ["traffic", "uniform", "--topo", "torus:4x3", "-p", "traffic.rounds=3", "-p", "traffic.burst=2", "-p", "traffic.reply=96B"],
    ["traffic", "uniform", "--topo", "ring:6,oneway", "--load", "0.3", "--cycles", "400",
     "-p", "net.switching=wormhole"],
    ["replay", "gen:random", "-n", "36", "--net", "packet", "--topo", "dragonfly:2,p=1",
     "-p", "net.ugal_threshold=8KiB", "-p", "net.routing=ugal_g", "-p", "gen.bytes=20kB", "-p", "net.fail=links:5@20us-90us",
     "-p", "gen.messages=4"],
    ["traffic", "uniform", "--topo", "torus:4x3", "--net", "packet", "--load", "0.5", "--cycles",
     "4000", "-p", "net.fail=link:0-1@1us-2us,router:5@2us", "-p", "net.fail_action=lose"],
    ["traffic", "uniform", "--topo", "torus:4x3", "--net", "packet", "--load", "0.6", "--cycles",
     "3000", "-p", "net.fail=link:0-1@1us-2us,links:3@1500ns", "-p", "net.buffers=credits",
     "-p", "net.vc_bytes=512B", "-p", "net.resend_delay=1us", "-p", "net.routing=adaptive",
     "-p", "net.adapt=message"],
    ["traffic", "uniform", "--topo", "torus:4x3", "--load", "0.4", "--cycles", "1500", "-p",
     "net.fail=link:0-1@300ns-900ns,links:2@500ns-1us,router:5@1200ns", "-p",
     "net.resend_delay=100ns", "-p", "net.routing=valiant"],
    ["replay", "gen:random", "-n", "16", "--net", "router", "--topo", "fattree:k=2,n=4",
     "-p", "gen.messages=8", "-p", "net.fail=links:4@1us-5us,routers:2@3us-20us"],
    ["replay", "gen:leanmd", "-n", "6", "--net", "router", "--topo", "torus:3x2",
     "-p", "gen.cells=3x3x3", "-p", "gen.steps=1", "-p", "replay.policy=causal",
     "-p", "net.phit=256B", "-p", "net.packet=4KiB"],
    ["replay", "gen:random", "-n", "12", "--net", "router", "--topo", "fattree:k=2,n=3",
     "-p", "gen.messages=4", "-p", "replay.policy=asap", "--ranks-per-node", "2"],
    ["replay", "gen:random", "-n", "12", "--net", "alphabeta", *COSTS, "-p", "gen.messages=6"],
    ["replay", "gen:cg", "-n", "4", "-p", "gen.iterations=1", *COSTS, *LONG, "--record",
     "--what-if"],
    ["replay", "gen:stencil3d", "-n", "27", "--net", "latency", "--topo", "torus:3x3x3", *COSTS,
     *LONG, "-p", "mpi.rendezvous=read", "-p", "gen.iterations=1", "--record"],
    ["replay", "gen:random", "-n", "24", "--net", "packet", "--topo", "torus:3x2x2",
     "--ranks-per-node", "2", *COSTS, *LONG, "-p", "mpi.progress=calls", "-p", "gen.messages=3",
     "--record-calls"],
    ["replay", "gen:coll", "-n", "9", "-p", "gen.kind=allreduce", "--net", "router", "--topo",
     "torus:3x3", *COSTS, "-p", "mpi.rendezvous=read", "-p", "mpi.eager_max=100"],
    ["replay", "gen:leanmd", "-n", "8", "-p", "gen.cells=3x3x3", "-p", "gen.atoms=20", "--net",
     "packet", "--topo", "torus:2x2", "--ranks-per-node", "2", *COSTS, "-p", "gen.steps=1"],
    ["replay", "gen:stencil2d", "-n", "12", "-p", "gen.points=all", "-p", "gen.periodic=false"],
    ["replay", "gen:stencil4d", "-n", "16", "-p", "mpi.eager_max=4KiB", "--record"],
    ["replay", "gen:sweep3d", "-n", "6"],
    ["replay", "gen:fft", "-n", "12", "-p", "mpi.rules=openmpi"],
    ["replay", "gen:cg", "-n", "8", "-p", "gen.iterations=2", "--record-calls", "--record-limit", "300"],
    ["replay", "gen:bt", "-n", "9", "-p", "gen.iterations=2"],
    ["replay", "gen:is", "-n", "8", "-p", "gen.iterations=2"],
    ["replay", "gen:training", "-n", "8", "-p", "mpi.eager_max=64KiB", "--record", "--what-if"],
    ["replay", "gen:masterworker", "-n", "7"],
    ["replay", "gen:coll", "-n", "9", "-p", "gen.kind=alltoallv", "-p", "mpi.progress=calls",
     "--record-calls"],
    # Collectives of GPUs: rings with channels and trees between nodes, formulas within them.
    ["replay", "gen:coll", "-n", "16", "-p", "gen.kind=allreduce", "-p", "gen.bytes=2MB", "--machine",
     "h100-rail", "-p", "net.packet=64KiB", "-p", "gen.iterations=2", "-p", "mpi.eager_max=32KiB", "--record"],
    ["replay", "gen:coll", "-n", "12", "--ranks-per-node", "4", "-p", "gen.kind=allreduce", "-p", "gen.bytes=1MB",
     *COSTS, "-p", "mpi.rules=nccl", "-p", "mpi.allreduce=channel_ring", "-p", "mpi.reduce_bandwidth=10GB/s",
     "-p", "gen.nonblocking=true", "--record-calls", "--efficiency"],
    ["replay", "gen:coll", "-n", "8", "--ranks-per-node", "2", "-p", "gen.kind=reduce_scatter_block",
     "-p", "gen.iterations=3", "-p", "mpi.rules=nccl_formula", "--what-if"],
    ["replay", "gen:llm", "-n", "16", "--machine", "h100-rail", "--net", "loggp", "-p", "gen.model=mixtral-8x7b",
     "-p", "gen.layers=2", "-p", "gen.tensor=2", "-p", "gen.pipeline=2", "-p", "gen.expert=2", "-p", "gen.batch=16",
     "-p", "mpi.eager_max=64KiB", "-p", "gen.schedule=zero_bubble", "--record"],
    # Collectives of a communicator one after another: as messages, by formulas, and beside computing.
    ["replay", "gen:text", "-n", "12", "--ranks-per-node", "2", "-p", f"gen.file={COLLECTIVES}", "-p", "mpi.coll_order=serial",
     "--net", "packet", "--topo", "torus:3x2", "-p", "mpi.progress=waits", *LONG, *COSTS, "--record"],
    ["replay", "gen:text", "-n", "12", "--ranks-per-node", "4", "-p", f"gen.file={COLLECTIVES}", "-p", "mpi.rules=nccl",
     "--record", "--what-if"],
    ["replay", "gen:llm", "-n", "16", "--machine", "h100-rail", "--net", "loggp", "-p", "gen.model=llama3-8b",
     "-p", "gen.layers=3", "-p", "gen.batch=16", "-p", "gen.framework=torchtitan", "-p", "cpu.dispatch=20us"],
    ["replay", "gen:leanmd", "-n", "20", "-p", "gen.cells=4x4x4", "-p", "gen.steps=2"],
    ["replay", "gen:leanmd", "-n", "20", "-p", "gen.cells=5x4x3", "-p", "gen.steps=2", "-p", "gen.periodic=no"],
    ["replay", "gen:leanmd", "-n", "8", "-p", "gen.cells=3x3x3", "-p", "gen.atoms=20", "--net",
     "packet", "--topo", "torus:2x2x2", "-p", "net.stats=summary"],
    ["replay", "gen:leanmd", "-n", "20", "-p", "gen.cells=4x4x4", "-p", "gen.steps=2",
     "-p", "replay.granularity=single"],
    ["replay", "gen:stencil3d", "-n", "32", "--net", "packet", "--topo", "torus:2x2",
     "--ranks-per-node", "8", "-p", "gen.iterations=1", "-p", "node.sockets=2", "-p", "node.domains=4",
     "-p", "node.local_latency=100ns,200ns,400ns", "-p", "node.local_bandwidth=20GB/s,10GB/s,5GB/s",
     "-p", "node.memory_bandwidth=8GB/s", "-p", "mpi.eager_max=4KiB", "--record", "--what-if"],
    ["replay", "gen:stencil3d", "-n", "32", "--ranks-per-node", "8", "-p", "node.domains=2",
     "-p", "node.memory_bound=0.5", "-p", "node.core_bandwidth=30GB/s",
     "-p", "node.memory_bandwidth=60GB/s", "-p", "node.noise=exponential",
     "-p", "node.noise_period=100us", "--record", "--what-if", "--efficiency"],
    ["replay", "gen:leanmd", "-n", "8", "-p", "gen.cells=3x3x3", "--ranks-per-node", "4",
     "-p", "gen.steps=1",
     "-p", "node.memory_bandwidth=5GB/s", "-p", "node.noise=uniform", "--record",
     "-p", "node.cores=2", "-p", "node.switch_cost=1us"],
    ["replay", "gen:cg", "-n", "8", "--ranks-per-node", "4", "-p", "gen.iterations=1", "--record",
     "-p", "node.cores=2", "-p", "node.time_slice=50us", "-p", "node.switch_cost=200ns",
     "-p", "node.noise=fixed", "-p", "node.noise_period=100us", "-p", "node.o_send=1us",
     "-p", "node.o_recv=1us", "-p", "mpi.eager_max=4KiB", "--net", "packet", "--topo", "torus:2"],
    ["replay", "gen:text", "-n", "8", "--ranks-per-node", "4", "-p", f"gen.file={SLEEP}",
     "-p", "node.cores=2", "-p", "node.time_slice=7us", "-p", "node.noise=uniform",
     "-p", "node.noise_period=100us", "--net", "packet", "--topo", "torus:2", "--record"],
    ["replay", "gen:leanmd", "-n", "6", "--net", "loggp", "-p", "gen.cells=3x3x3",
     "-p", "net.preset=loggopsim", "-p", "net.O=20ps", "-p", "net.S=2KiB", "--record"],
    ["replay", "gen:random", "-n", "36", "--net", "packet", "--topo", "dragonfly:2,p=1",
     "-p", "net.ugal_threshold=8KiB", "-p", "net.routing=ugal_g", "-p", "net.buffers=credits", "-p", "gen.bytes=20kB",
     "-p", "gen.messages=4"],
    ["replay", "gen:pattern", "-n", "6", "--net", "packet", "--topo", "fattree:2x3,up=1x1", "-p", "gen.kind=allpairs",
     "-p", "gen.bytes=9kB", "-p", "gen.rounds=2", "-p", "gen.lag=3us", "-p", "net.burst=3kB", *LONG, *COSTS],
    ["replay", "gen:pattern", "-n", "6", "--net", "packet", "--topo", "star:6", "-p", "gen.kind=butterfly",
     "-p", "gen.second=4", "-p", "gen.bytes=9kB", "-p", "gen.rounds=3", "-p", "gen.lag=3us", "-p", "mpi.progress=waits",
     "-p", "node.poll=7us", "-p", "node.host_cores=2", "--runs", "3", "-p", "uncertainty.model=5%", *LONG, *COSTS],
    # Files: on servers with a network of their own, on nodes of the topology, on devices of nodes.
    ["replay", "gen:ior", "-n", "12", "--ranks-per-node", "3", "-p", "gen.collective=true", "-p", "gen.block=512KiB",
     "-p", "gen.transfer=128KiB", *STORAGE, "-p", "storage.stripes=3", "-p", "storage.request=64KiB", "--record"],
    ["replay", "gen:text", "-n", "10", "--ranks-per-node", "2", "-p", f"gen.file={FILES}", "--net", "packet", "--topo",
     "torus:4x4", *STORAGE, "-p", "storage.attach=network", "-p", "storage.stripes=2"],
    ["replay", "gen:text", "-n", "9", "--net", "loggp", "-p", f"gen.file={FILES}", "-p", "mpi.progress=calls", *STORAGE,
     "-p", "storage.latency=0"],
    ["replay", "gen:checkpoint", "-n", "8", "--ranks-per-node", "4", "-p", "node.cores=2", "-p", "gen.steps=6", "-p",
     "gen.every=2", "-p", "gen.step=1ms", "-p", "storage.model=local", "-p", "storage.local_write_bandwidth=2GB/s",
     "-p", "storage.local_cache=32MiB", "-p", "storage.local_cache_bandwidth=9GB/s"],
    ["replay", "gen:cg", "-n", "8", "-p", "gen.iterations=1", "-p", "mpi.progress=waits", "-p", "node.poll=2us",
     "-p", "mpi.eager_max=64", "--record"],
    ["replay", "gen:leanmd", "-n", "6", "-p", "gen.cells=3x3x3", "-p", "gen.steps=1", "-p", "node.poll=5us",
     "-p", "node.host_cores=4"],
    ["replay", "gen:cg", "-n", "8", "-p", "gen.iterations=1", "-p", "node.host_cores=3", "--what-if", "--record"],
    ["replay", "gen:random", "-n", "16", "--net", "packet", "--topo", "fattree:4,2,2",
     "-p", "net.routing=ecmp", "-p", "net.ecmp=message", "-p", "net.nic=rr"],
    # Control messages leave before data, on one route and on many.
    ["replay", "gen:random", "-n", "16", "--net", "packet", "--topo", "fattree:4,2,2", "-p", "gen.bytes=20kB",
     "-p", "mpi.eager_max=4KiB", "-p", "net.control_queue=on"],
    ["replay", "gen:random", "-n", "6", "--net", "packet", "--topo", "dragonfly:1", "-p", "gen.bytes=20kB",
     "-p", "mpi.eager_max=4KiB", "-p", "net.routing=ugal_l", "-p", "net.control_queue=on"],
    # Trains of messages that choose their routes, at routers and at nodes that are routers.
    ["replay", "gen:random", "-n", "36", "--net", "packet", "--topo", "dragonfly:2,p=1", "-p", "gen.bytes=20kB",
     "-p", "gen.messages=4", "-p", "net.routing=par", "-p", "net.adapt=message"],
    ["replay", "gen:random", "-n", "12", "--net", "packet", "--topo", "torus:4x3", "-p", "gen.bytes=20kB",
     "-p", "gen.messages=4", "-p", "net.routing=valiant", "-p", "net.adapt=message"],
    ["replay", "gen:random", "-n", "64", "--net", "latency", "--topo", "torus:4x4x4",
     "-p", "net.links=x:latency=300ns,y:bandwidth=1GB/s,delay=7ns", "-p", "gen.messages=8",
     "-p", "net.corner_latency=75ns", "-p", "net.message_latency=1us", "--record", "--what-if"],
    ["traffic", "uniform", "--topo", "dragonfly:1", "--load", "0.4", "--cycles", "500", "-p",
     "net.links=global:latency=30ns,bandwidth=1.33GB/s,buffer=128B,local:bandwidth=2GB/s,delay=2ns",
     "-p", "net.routing=ugal", "-p", "net.stats=classes"],
    ["traffic", "uniform", "--topo", "torus:4x3", "--load", "0.3", "--cycles", "400", "-p",
     "net.links=x:latency=7ns,bandwidth=2GB/s,y:buffer=64B", "-p", "net.switching=wormhole",
     "-p", "net.hold_switch=yes"],
    ["replay", "gen:random", "-n", "24", "--net", "packet", "--topo", "dragonfly:2,p=1",
     "-p", "gen.messages=8", "-p", "gen.bytes=9kB", "-p", "net.buffers=credits", "-p",
     "net.links=global:latency=300ns,bandwidth=2GB/s,buffer=4KiB,local:latency=5ns,delay=1ns"],
    # Several network interfaces a node: next to each other, in pods, in planes.
    ["replay", "gen:stencil3d", "-n", "24", "--ranks-per-node", "4", "--net", "packet", "--topo",
     "dragonfly:2,p=1", "-p", "node.nics=2", "-p", "gen.iterations=1", "--record",
     "-p", "node.nic_policy=round_robin", "-p", "mpi.eager_max=4KiB"],
    ["replay", "gen:random", "-n", "16", "--ranks-per-node", "4", "--net", "packet", "--topo",
     "fattree:4x4", "-p", "node.nics=4", "-p", "node.nic_group=4", "-p", "gen.bytes=9kB",
     "-p", "gen.messages=4",
     "-p", "net.routing=adaptive", "-p", "net.adapt=message", "-p", "net.stats=links"],
    ["replay", "gen:random", "-n", "10", "--ranks-per-node", "2", "--net", "router", "--topo",
     "torus:4x3", "-p", "node.nics=2", "-p", "node.nic_group=6", "-p", "gen.messages=6",
     "-p", "node.nic_policy=stripe", "-p", "node.stripe_min=1B", "-p", "mpi.eager_max=2B"],
    ["replay", "gen:stencil3d", "-n", "24", "--ranks-per-node", "6", "-p", "node.nics=3",
     "-p", "mpi.eager_max=4KiB", "-p", "node.nic_policy=stripe", "-p", "node.stripe_min=8KiB",
     "--record", "--what-if"],
    ["replay", "gen:leanmd", "-n", "12", "--ranks-per-node", "3", "-p", "gen.cells=3x3x3",
     "-p", "gen.steps=1",
     "-p", "node.nics=2", "--net", "packet", "--topo", "torus:4x2"],
    ["replay", "gen:pattern", "-n", "9", "-p", "gen.kind=incast", "-p", "gen.bytes=30kB", "--net", "packet",
     "--topo", "star:9", "-p", "net.transport=dcqcn", "-p", "net.full_queue=drop", "-p", "net.queue=8KiB",
     "-p", "net.ecn_min=4KiB", "-p", "net.ecn_max=16KiB", "-p", "net.timeout=20us"],
    ["replay", "gen:random", "-n", "24", "--ranks-per-node", "2", "-p", "gen.messages=3", "-p", "gen.bytes=20kB",
     "--net", "packet", "--topo", "fattree:4,2,2", "-p", "net.transport=dcqcn", "-p", "net.pause_at=4KiB",
     "-p", "net.resume_at=2KiB", "-p", "net.ecn_min=2KiB", "-p", "net.routing=ecmp", "-p", "net.stats=summary"],
    ["replay", "gen:random", "-n", "16", "-p", "gen.messages=3", "-p", "gen.bytes=20kB", "--net", "packet", "--topo",
     "fattree:4,2,2", "-p", "net.transport=pull", "-p", "net.routing=ecmp", "-p", "net.ecmp=packet", "-p",
     "net.paths=4", "-p", "net.avoid_paths=on", "-p", "net.classes=small:max=4KiB,priority=1,odd:last=3,share=2,rest:share=1"],
    ["traffic", "uniform", "--topo", "torus:4x3", "--net", "packet", "--load", "0.7", "--cycles", "400", "-p",
     "net.transport=pressure", "-p", "net.pressure_at=64", "-p", "net.pause_at=128", "-p", "net.resume_at=64"],
    ["replay", "gen:exchange", "-n", "12", "-p", "gen.bytes=20kB", "-p", "gen.peers=4", "--net", "packet", "--topo",
     "dragonfly:1", "--ranks-per-node", "2", "-p", "net.transport=swift", "-p", "net.queue=4KiB", "-p",
     "net.swift_target=500ns", "-p", "net.timeout=20us", "-p", "net.flowlet_gap=1us", "-p", "net.routing=ecmp",
     "-p", "net.delivery=any_order", "-p", "mpi.eager_max=4KiB"],
    ["replay", "gen:random", "-n", "24", "--ranks-per-node", "2", "-p", "gen.messages=3", "-p", "gen.bytes=20kB",
     "--net", "packet", "--topo", "fattree:4,2,2", "-p", "net.transport=hpcc", "-p", "net.routing=ecmp", "-p",
     "net.pause_at=4KiB", "-p", "net.resume_at=2KiB"],
    ["replay", "gen:pattern", "-n", "9", "-p", "gen.kind=incast", "-p", "gen.bytes=30kB", "--net", "packet",
     "--topo", "star:9", "-p", "net.transport=nscc", "-p", "net.queue=8KiB", "-p", "net.ecn_min=2KiB", "-p",
     "net.ecn_max=6KiB"],
    ["replay", "gen:random", "-n", "12", "-p", "gen.messages=4", "-p", "gen.bytes=20kB", "--net", "packet", "--topo",
     "torus:4x3", "-p", "net.transport=swift", "-p", "net.queue=8KiB", "-p", "net.timeout=5us", "-p",
     "net.fail=link:1-2@3us-40us,link:5-9@5us,router:7@8us-60us"],
    ["replay", "gen:random", "-n", "16", "-p", "gen.messages=4", "-p", "gen.bytes=20kB", "--net", "packet", "--topo",
     "fattree:2x2x4,up=1x2x2", "-p", "net.transport=pull", "-p", "net.routing=ecmp", "-p", "net.ecmp=packet", "-p",
     "net.timeout=5us", "-p", "net.fail=router:24@3us-40us,router:16@10us-20us"],
    ["replay", "gen:random", "-n", "24", "--ranks-per-node", "2", "-p", "gen.messages=3", "-p", "gen.bytes=20kB",
     "--net", "packet", "--topo", "fattree:4,2,2", "-p", "net.transport=fixed", "-p", "net.full_queue=credits", "-p",
     "net.queue=4KiB", "-p", "net.routing=ecmp"],
    ["replay", "gen:stencil3d", "-n", "27", "--net", "latency", "--topo", "torus:4x4x4",
     "--placement", "random", "--job", "gen:ring,ranks=8,start=100us,repeat=2", "--alone"],
]
# More processes than one only where MPI is. With "all" the scheduler logs all events, and may undo
# them, instead of those that are not safe.
SCHEDULES = [
    ("conservative trial", 3, 1),
    *itertools.product(["conservative", "optimistic", "perturb"], [1, 2, 4], [1]),
    ("conservative", 1, 2), ("conservative", 2, 3), ("optimistic", 2, 2), ("optimistic", 1, 3),
    ("perturb", 1, 2), ("perturb", 2, 3),
    *itertools.product(["optimistic all", "perturb all"], [1, 2], [1]), ("optimistic all", 2, 2),
    ("check-undo", 1, 1),
]
# These use one process, whichever scenario it is: for one scenario in so many.
ONE_PROCESS = [("sequential", 2, 2), ("check-undo", 2, 2)]
ONE_PROCESS_ONE_IN = 5

FEWER = [
    ("conservative trial", 2, 1),
    ("conservative", 1, 1), ("optimistic", 1, 1), ("perturb", 1, 1), ("conservative", 4, 1),
    ("optimistic", 4, 1), ("perturb", 2, 1), ("check-undo", 1, 1), ("optimistic all", 2, 1),
    ("perturb all", 1, 1),
]
# One launch for each program, in turn. Three processes on two cores wait for each other longer than they run: few of these.
LAUNCHED = [
    ("conservative", 1, 2), ("optimistic", 2, 2), ("perturb", 1, 2), ("conservative", 2, 2),
    ("optimistic", 1, 3),
]
# What is run by several processes. To launch them takes longer than most of these runs: for each number of
# processes one launch of equivalence_many runs all commands, but those of the first scenario, which weft itself runs.
MANY = pathlib.Path(os.environ["WEFT_BUILD_DIR"]) / "equivalence_many"
together = {}


# Events of which none is safe; a run that begins on one thread and moves to several.
MORE = {"": [], "all": ["-p", "engine.safe=no"], "trial": ["-p", "engine.trial=100"]}


def command_of(scenario, schedule):
    sched, _, logged = schedule[0].partition(" ")
    return [*scenario, "--sched", sched, "--threads", str(schedule[1]), "-p", "engine.fit=no", "--json", "-q",
            *MORE[logged]]


def judged(scenario, schedule, done):
    """Where a run was, and the sections of its document."""
    where = f"{' '.join(scenario)}: {schedule[0]}, {schedule[1]} threads, {schedule[2]} processes"
    check(done.returncode == 0, f"{where}: exit code {done.returncode}", done)
    document = parse(done)
    return where, json.dumps([document.get(section) for section in SECTIONS], indent=1)


def outcome(scenario, schedule):
    processes = schedule[2]
    done = run(*command_of(scenario, schedule), processes=0 if processes == 1 else processes, timeout=200)
    return judged(scenario, schedule, done)


def check_same(expected, where, found):
    check(found == expected, f"{where}: another result:\n{found}\nnot\n{expected}")


def compare(scenario, schedules, launch):
    _, expected = outcome(scenario, ("sequential", 1, 1))
    # Two at a time, but for those whose processes fill the machine by themselves.
    alone = [schedule for schedule in schedules if schedule[2] == 1]
    launched = [schedule for schedule in schedules if schedule[2] > 1 and MPIEXEC]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda schedule: outcome(scenario, schedule), alone))
    outcomes += [outcome(scenario, schedule) for schedule in launched if launch]
    for where, found in outcomes:
        check_same(expected, where, found)
    for schedule in launched if not launch else []:
        together.setdefault(schedule[2], []).append((scenario, schedule, expected))


def compare_launched(processes, runs):
    """All runs by so many processes, in one launch. In one of the two MPICH uses its own shared memory, in the other UCX."""
    folder = pathlib.Path(f"{processes}-processes").absolute()
    folder.mkdir()
    commands = [command_of(scenario, schedule) for scenario, schedule, _ in runs]
    (folder / "commands").write_text("".join("\t".join(words) + "\n" for words in commands), encoding="utf-8")
    environment = {**os.environ, "MPIR_CVAR_NOLOCAL": "1"} if processes % 2 else None
    launch = subprocess.run([MPIEXEC, "-n", str(processes), str(MANY), "commands"], cwd=folder, env=environment,
                            capture_output=True, text=True, timeout=500, check=False, stdin=subprocess.DEVNULL)
    check(launch.returncode == 0, f"{processes} processes: exit code {launch.returncode}", launch)
    for number, (scenario, schedule, expected) in enumerate(runs):
        if not check((folder / f"{number}.code").exists(), f"{' '.join(commands[number])} did not end", launch):
            break
        out, err, code = ((folder / f"{number}.{ending}").read_text(encoding="utf-8") for ending in ("out", "err", "code"))
        done = subprocess.CompletedProcess(["weft", *commands[number]], int(code), out, err)
        check_same(expected, *judged(scenario, schedule, done))


def main():
    for index, scenario in enumerate(SCENARIOS):
        compare(scenario, SCHEDULES if index % ONE_PROCESS_ONE_IN else [*SCHEDULES, *ONE_PROCESS], index == 0)
    launched = itertools.cycle(LAUNCHED)
    for scenario in PROGRAMS:
        compare(scenario, [*FEWER, next(launched)], False)
    for processes, runs in sorted(together.items()):
        compare_launched(processes, runs)
    finish()


if __name__ == "__main__":
    main()
