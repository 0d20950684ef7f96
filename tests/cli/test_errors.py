# SPDX-License-Identifier: Apache-2.0
"""Every kind of mistake: its exit code, one line on stderr that says what was expected, and,
with --json, one document on stdout that says the same."""
import os
import pathlib
import subprocess

from weft_cli import WEFT, check, check_run, finish, parse, run

REPLAY = ["replay", "gen:stencil3d", "-n", "8"]
CLASSES = [*REPLAY, "--net", "packet", "--topo", "torus:2x2x2"]
RING = ["replay", "gen:ring", "-n", "16", "--net", "packet", "--topo", "torus:4x4", "-p",
        "gen.bytes=64KiB"]
NAMED = ["replay", "gen:ring", "-n", "3", "--net", "packet", "--topo", "graph:names.edges"]
TASKS = ["replay", "gen:leanmd", "-n", "8", "--net", "loggp", "-p", "net.preset=loggopsim"]
# Words after the command, exit code, what stderr must say.
CASES = [
    # commands
    (["rpelay"], 2, "unknown command 'rpelay'; did you mean 'replay'"),
    (["--vresion"], 2, "unknown option '--vresion'; did you mean '--version'"),
    (["xyzzy"], 2, "unknown command 'xyzzy'; 'weft help'"),
    (["help", "net.logp"], 2, "no help on 'net.logp'; did you mean 'net.loggp'"),
    (["help", "xyzzy"], 2, "no help on 'xyzzy'"),
    (["bench"], 2, "bench: a model is missing"),
    (["bench", "fold"], 2, "unknown model 'fold'; did you mean 'phold'"),
    (["bench", "phold", "queues"], 2, "unexpected argument 'queues'"),
    (["report"], 2, "report: a result document is missing"),
    (["explain", "a", "b"], 2, "explain: unexpected argument 'b'"),
    (["compare", "a"], 2, "compare: a result document is missing"),
    (["replay"], 2, "replay: a source is missing"),
    (["emulate"], 2, "emulate: a program is missing"),
    (["emulate", "-n", "4", "./x"], 2, "emulate: no output"),
    (["emulate", "-n", "4", "-o", "x.foo", "./x"], 2, "must end in .weft"),
    (["replay", "gen:stencil3d", "gen:ring"], 2, "unexpected argument 'gen:ring'"),
    # copies of ranks
    ([*REPLAY, "-p", "replay.copies=one"], 2, "replay.copies: one needs a program whose replicas do the same: gen:llm"),
    (["replay", "gen:llm", "-n", "8", "-p", "replay.copies=one"], 2, "treat all ranks alike: mpi.rules=nccl"),
    # failures
    ([*NAMED, "-p", "net.fail=link:north-middel"], 3,
     "damage 'link:north-middel': the graph file has no vertex 'middel'; did you mean 'middle'"),
    ([*NAMED, "-p", "net.fail=router:nord"], 3, "no vertex 'nord'; did you mean 'north'"),
    ([*RING, "-p", "net.fail=link:0-1@2"], 3,
     "net.fail: 'link:0-1@2': expected a time, or two times of which the second is later"),
    ([*RING, "-p", "net.fail=link:0-1@1us,links:100%@2us"], 3, "repair it before it fails again"),
    ([*RING, "-p", "net.burst=2kB", "-p", "net.timing=store_and_forward"], 2,
     "net.burst cannot be used with net.timing=store_and_forward"),
    ([*RING, "-p", "net.transport=dcqcn", "-p", "net.buffers=credits"], 2,
     "net.transport cannot be used with net.buffers=credits"),
    ([*RING, "-p", "net.transport=fixed", "-p", "net.queue=100"], 2,
     "net.queue: a packet of 512 bytes does not fit"),
    ([*RING, "-p", "net.transport=fixed", "-p", "net.ecn_min=1MiB"], 2,
     "net.ecn_min is larger than net.ecn_max"),
    ([*RING, "-p", "net.transport=fixed", "-p", "net.resume_at=1MiB"], 2,
     "net.resume_at is larger than net.pause_at"),
    ([*RING, "-p", "net.transport=fixed", "-p", "net.full_queue=trim", "-p", "net.retransmit=go_back_n"], 2,
     "net.full_queue=trim cannot be used with net.retransmit=go_back_n"),
    ([*RING, "-p", "net.transport=dcqcn", "-p", "net.retransmit=go_back_n", "-p", "net.routing=adaptive"], 2,
     "net.retransmit=go_back_n cannot be used with net.full_queue=pause where packets of a flow may overtake"),
    (["replay", "gen:pattern", "-n", "2", "-p", "gen.second=2"], 2, "expected two different ranks below 2"),
    # sources
    (["replay", "stencil3d", "-n", "8"], 2, "expected gen:"),
    (["replay", "gen:stencil33d", "-n", "8"], 2, "unknown generator.*did you mean 'stencil3d'"),
    ([*REPLAY, "-p", "gen.size=2x4"], 2, "size: '2x4' is no grid; write AxBxC"),
    ([*REPLAY, "-p", "gen.size=2x2x3"], 2, "has 12 ranks, but there are 8"),
    (["replay", "gen:coll", "-n", "8", "-p", "gen.kind=bcast", "-p", "gen.root=8"], 2,
     "there is no rank 8; the last one is 7"),
    (["replay", "gen:training", "-n", "8", "-p", "gen.bucket=1"], 5, "65536 are the limit"),
    (["replay", "gen:text", "-n", "8"], 2, "gen.file"),
    (["replay", "gen:text", "-n", "8", "-p", "gen.file=nowhere"], 3, "cannot read 'nowhere'"),
    (["replay", "nowhere/trace.weft"], 3, "cannot read 'nowhere/trace.weft'"),
    (["replay", "there.json"], 3, "'there.json' is no trace of a known format"),
    (["replay", "result.json"], 3, "'result.json' is a result of weft, not a trace; 'weft explain' and 'weft report'"),
    (["replay", "compact.json"], 3, "'compact.json' is a result of weft, not a trace"),
    (["replay", "versions.json"], 3, "'versions.json' has no nodes of a Chakra trace"),
    (["replay", "page.html"], 3, "'page.html' is a page, not a trace; open it in a browser"),
    (["compare", "page.html", "result.json"], 3, "'page.html' is a page, not a result of weft; open it in a browser"),
    (["compare", "study.yaml", "result.json"], 3, "'study.yaml' is a study, not a result of weft; 'weft sweep' runs it"),
    (["sweep", "result.json"], 3, "'result.json' is a result of weft, not a study; 'weft explain' and"),
    ([*REPLAY, "--machine", "study.yaml"], 3, "'study.yaml' is a study, not a machine file; 'weft sweep' runs it"),
    (["info", "study.yaml"], 3, "'study.yaml' is a study, not a trace; 'weft sweep' runs it"),
    (["replay", "machine.yaml"], 3, "'machine.yaml' is a machine file, not a trace; --machine takes it"),
    (["replay", "packed.weft"], 3, "'packed.weft' is a file compressed by bzip2, not a trace; unpack it first"),
    (["replay", "program"], 3, "'program' is a program or library, not a trace; 'weft run"),
    (["replay", "two.weft", "-n", "3"], 3, "'two.weft' is a trace of 2 ranks"),
    (["replay", "two.weft", "-p", "gen.bytes=1"], 2, "gen.bytes does not apply to source 'two.weft'"),
    (["replay", "two.weft", "--topo", "torus:1"], 3, "2 ranks, 1 on a node, need 2 .* has only 1"),
    # parts of a program
    ([*REPLAY, "--region", "solve"], 3, "the program has no region 'solve'"),
    ([*REPLAY, "--iterations", "2:1"], 2, "--iterations: '2:1' are no iterations; expected first"),
    ([*REPLAY, "--iterations", "3:4", "-p", "gen.markers=yes"], 3,
     "no iteration 4: rank 0 has 3 iterations"),
    ([*REPLAY, "--repeat-iteration", "3"], 2, "--repeat-iteration: --iterations <number> is missing"),
    ([*REPLAY, "--repeat", "0"], 2, "--repeat: '0' is out of range"),
    ([*REPLAY, "--start", "5"], 2, "--start: '5' is not a time"),
    (["replay", "gen:leanmd", "-n", "4", "--iterations", "2"], 2, "has tasks instead of operations"),
    (["replay", "gen:leanmd", "-n", "1", "-p", "gen.steps=4", "--repeat", "4000000"], 5, "would have 2\\^32 tasks"),
    (["replay", "gen:leanmd", "-n", "4", "-p", "replay.policy=asap"], 2, "asap does not apply to"),
    # nodes
    ([*REPLAY, "-p", "node.sockets=2", "-p", "node.domains=3"], 2,
     "node.domains: 3 memory domains cannot be divided evenly among 2 sockets; set node.domains to"),
    ([*REPLAY, "-p", "node.domains=4", "-p", "node.cores=6"], 2,
     "node.cores: 6 cores cannot be divided evenly among 4 memory domains; set node.cores to"),
    ([*REPLAY, "-p", "node.noise=fixed", "-p", "node.noise_duration=10ms"], 2,
     "node.noise_duration: interruptions of 10ms do not fit into a period of 10ms; set"),
    ([*REPLAY, "-p", "node.noise_period=1ns"], 2, "'1ns' is out of range; expected 1us to 1h"),
    ([*REPLAY, "-p", "node.memory_bound=0.5"], 2, "node.memory_bound: .* is unlimited; set both to"),
    ([*REPLAY, "-p", "cpu.memory.solve=0.5"], 2, "cpu.memory.solve: .* is unlimited; set both to"),
    (["replay", "gen:leanmd", "-n", "4", "--ranks-per-node", "4", "-p", "node.cores=2",
      "-p", "node.time_slice=1ms"], 2, "node.time_slice: tasks of a task graph are not interrupted"),
    ([*REPLAY, "-p", "node.local_latency=1ns,2ns"], 2,
     "node.local_latency: 2 values; expected one, or three"),
    # network interfaces
    ([*REPLAY, "-p", "node.nics=2", "--topo", "ring:9"], 3,
     "8 ranks, 1 on a node, need 8 nodes with 2 network interfaces each, but the 9 nodes of ring:9 "
     "are interfaces of only 4; take a larger topology or fewer interfaces"),
    ([*REPLAY, "-p", "node.nics=2", "-p", "node.nic_group=4", "--topo", "ring:18"], 3,
     "node.nic_group: groups of 4 nodes with 2 interfaces each do not divide the 18 nodes of the ring"),
    ([*REPLAY, "-p", "node.nics=2", "-p", "node.nic_domains=0,1"], 3,
     "node.nic_domains: '0,1': expected 2 numbers below 1"),
    ([*REPLAY, "-p", "node.nics=65"], 2, "node.nics"),
    ([*REPLAY, "-p", "node.nics=2", "-p", "node.nic_policy=stripe"], 2,
     "node.nic_policy: stripe applies to messages sent by rendezvous, but mpi.eager_max is unlimited"),
    (["traffic", "uniform", "--topo", "ring:8", "-p", "node.nics=2"], 2,
     "node.nics does not apply to source 'traffic:uniform'"),
    # jobs
    ([*REPLAY, "--job", "gen:rign,ranks=2"], 2, "unknown generator 'rign'; did you mean 'ring'"),
    ([*REPLAY, "--job", "gen:ring"], 2, "the number of ranks is missing: job.1.ranks"),
    ([*REPLAY, "--job", "gen:ring,rank=2"], 2, "'job.1.rank': .*did you mean 'ranks'"),
    ([*REPLAY, "--job", "gen:ring,ranks=2,gen.byte=1"], 2, "'job.1.gen.byte'; .*'job.1.gen.bytes'"),
    ([*REPLAY, "--job", "gen:ring,ranks=two"], 2, "job.1.ranks: 'two' is not a count"),
    ([*REPLAY, "--job", "two.weft,gen.bytes=1"], 2, "job.1.gen.bytes does not apply to .*two.weft"),
    ([*REPLAY, "--job", ""], 2, "job.1.source is missing"),
    ([*REPLAY, "--job", "gen:leanmd,ranks=2"], 3, "cannot run together"),
    ([*REPLAY, "--job", "gen:ring,ranks=2", "--topo", "ring:9"], 3,
     "job 1: 2 ranks, .* has only 1 that are free"),
    ([*REPLAY, "-p", "job.2.source=gen:ring"], 2, "job.1.source is missing"),
    ([*REPLAY, "-p", "job.0.ranks=2"], 2, "job.0.ranks'; expected job.<number>.<name> .* 1 to 65535"),
    ([*REPLAY, "-p", "job.65536.ranks=2"], 2, "expected job.<number>.<name> .* 1 to 65535"),
    ([*REPLAY, "-p", "job.65535.ranks=2"], 2, "job.1.source is missing"),
    ([*REPLAY, "-p", "job.1.topology=ring:8"], 2, "a job has no 'topology'"),
    (["bench", "phold", "-p", "job.1.source=gen:ring"], 2, "does not apply to source 'bench:phold'"),
    # placement
    ([*REPLAY, "--placement", "linaer"], 2, "--placement: .*did you mean 'linear'"),
    ([*REPLAY, "--placement", "block:2x"], 2, "--placement: 'block:2x' is not a block"),
    ([*REPLAY, "--placement", "file:"], 2, r"--placement: 'file:' is not a .* file:<path> or tracer:<path>\n$"),
    ([*REPLAY, "--placement", "nodes:1,"], 2, "--placement: 'nodes:1,' is not a list of nodes"),
    ([*REPLAY, "--placement", "nodes:3-1"], 2, "--placement: 'nodes:3-1' is not a list"),
    ([*REPLAY, "--placement", "nodes:0-9"], 3, "nodes:0-9: there is no node 9; the last one is 7"),
    ([*REPLAY, "--placement", "nodes:0,2"], 3, "nodes:0,2: 2 nodes for 8 ranks, of which 1 are on"),
    ([*REPLAY, "--placement", "block:2x2"], 3, "blocks needs a topology that is a grid"),
    ([*REPLAY, "--placement", "block:2x2", "--topo", "torus:8"], 3, "which has 1"),
    ([*REPLAY, "--placement", "file:nowhere"], 3, "cannot read 'nowhere'"),
    ([*REPLAY, "--placement", "file:there.json"], 3, "there.json:1: 'precious' is not the number"),
    ([*REPLAY, "--job", "gen:ring,ranks=2,placement=rnd"], 2, "job.1.placement: 'rnd' is not a plac"),
    # ranks
    ([*REPLAY, "-p", "cpu.region.solve=1"], 2, "cpu.region.solve: the program has no regions"),
    ([*REPLAY, "-p", "cpu.counter.flops=1ns"], 2, "cpu.counter.flops: the program has no counters"),
    ([*REPLAY, "-p", "mpi.allreduce=hardwar"], 2, "no algorithm.*did you mean 'hardware'"),
    (["replay", "gen:stencil3d"], 2, "the number of ranks is missing"),
    (["replay", "gen:stencil3d", "-n", "0"], 2, "--ranks: '0' is out of range; expected 1 to"),
    (["replay", "gen:stencil3d", "-n", "-1"], 2, "--ranks: '-1' is not a count"),
    (["replay", "gen:stencil3d", "-n", "many"], 2, "--ranks: 'many' is not a count"),
    (["replay", "gen:stencil3d", "-n", "5000000000"], 2, "--ranks: .* out of range"),
    (["replay", "gen:stencil3d", "-n", "4000000000"], 5, "would need about .* of memory"),
    ([*REPLAY, "--ranks-per-node", "0"], 2, "--ranks-per-node: '0' is out of range"),
    # networks and topologies
    ([*REPLAY, "--net", "loggp", "-p", "net.O=1ns"], 2, "net.O: .* set node.copy_send"),
    ([*REPLAY, "--net", "loggp", "-p", "net.S=0"], 2, "net.S: .* set mpi.eager_max"),
    ([*REPLAY, "--net", "loggp", "-p", "net.preset=loggopsim"], 2,
     "loggopsim has rules for task graphs only, and this is a program of MPI calls; .*weft convert"),
    (["traffic", "uniform", "--topo", "torus:4x4", "--net", "loggp", "-p", "net.preset=loggopsim"],
     2, "and this is synthetic traffic"),
    ([*TASKS, "-p", "net.held=1:1us"], 2, "loggopsim has no net.sizes, net.shared and net.held"),
    ([*TASKS, "--ranks-per-node", "2"], 2, "a CPU and an interface of its own; place one rank"),
    ([*TASKS, "-p", "node.gap=3ns"], 2, "node.gap: .* no such cost; leave it out"),
    ([*REPLAY, "--net", "logpg"], 2, "unknown network model 'logpg'; did you mean 'loggp'"),
    ([*REPLAY, "--net", "latency"], 2, "'latency' needs a topology"),
    ([*REPLAY, "--topo", "tours:2x2x2"], 3, "unknown topology 'tours' .*did you mean 'torus'"),
    ([*REPLAY, "--topo", "torus:2x"], 3, "expected a number .* at character 3"),
    ([*REPLAY, "--topo", "torus:0"], 3, "a size of 0"),
    ([*REPLAY, "--topo", "torus:99999x99999"], 3, "torus: size: too large, more than [0-9]+"),
    ([*REPLAY, "--topo", "torus:2x2"], 3, "8 ranks, 1 on a node, need 8 nodes.*has only 4"),
    ([*REPLAY, "--topo", "torus:8", "--job", "gen:ring,ranks=1"], 3, "job 1: 1 rank, 1 on a node, "
     "needs 1 node, but torus:8 has only 0 that are free"),
    ([*REPLAY, "--topo", "ttorus:4x2"], 3, "without jump this is a torus: use torus:4x2, or give"),
    (["replay", "gen:llm", "-n", "8", "--machine", "xc"], 2,
     "gen:llm: the machine xc does not say how fast its devices compute: set cpu.tflops16, .*or gen.tflops"),
    # link classes
    ([*REPLAY, "-p", "net.links.x.latency=1us"], 2,
     "unknown parameter 'net.links.x.latency': the network model 'loggp' has none of that name; "
     "models that have it: latency, packet, router"),
    ([*CLASSES, "-p", "net.links=x"], 2, "net.links: 'x': expected <class>:<property>=<value>"),
    ([*CLASSES, "-p", "net.links.x=1us"], 2, "net.links.x: 'x' is not complete; expected <class>"),
    ([*CLASSES, "-p", "net.links=x:latency=1us,latency=2us"], 2, "latency of x is given twice"),
    ([*CLASSES, "-p", "net.links.x.latency=1"], 2, "net.links.x.latency: '1' is not a time"),
    ([*CLASSES, "-p", "net.links.x.lag=1us"], 3, "links have no property 'lag'; expected latency"),
    ([*CLASSES, "-p", "net.links=global:latency=1us"], 3, "no links of class 'global'; it has x"),
    ([*CLASSES, "-p", "net.links.x.buffer=1KiB"], 3, "buffers are unbounded; set net.buffers=cre"),
    ([*REPLAY, "--topo", "torus:8", "--net", "router", "-p", "net.links.x.bandwidth=3GB/s"], 3,
     "net.links.x.bandwidth: a bandwidth of 3GB/s is not a whole fraction"),
    ([*REPLAY, "--topo", "torus:8", "--net", "router", "-p", "net.links.x.buffer=64B"], 3,
     "net.links.x.buffer: a buffer of 64 bytes has room for 1 packets of 64 bytes; expected 2"),
    ([*REPLAY, "--topo", "star:8", "--net", "latency", "-p", "net.corner_latency=1ns"], 3,
     "a star has no dimensions and so no corners"),
    # one line, whatever bytes are quoted
    ([*REPLAY, "-p", "gen.bytes=a\nb\x1b[31m"], 2, r"^weft: [^\n\x1b]*'a\?b\?\[31m'[^\n\x1b]*\n$"),
    # more than fits
    ([*REPLAY, "--net", "alphabeta", "-p", "gen.bytes=8EB", "-p", "gen.iterations=1"], 5,
     "simulated time passes"),
    ([*REPLAY, "-p", "gen.compute=9223372036854775807ps", "-p", "gen.iterations=1"], 5,
     "simulated time passes"),
    ([*REPLAY, "--net", "alphabeta", "-p", "gen.bytes=9EB", "-p", "net.bandwidth=2PB/s"], 5,
     "bytes or more are sent"),
    # parameters
    ([*REPLAY, "-p", "net.l=1us"], 2, "unknown parameter 'net.l'; did you mean 'net.L'"),
    ([*REPLAY, "-p", "nte.L=1us"], 2, "unknown parameter 'nte.L'.*did you mean 'net'"),
    ([*REPLAY, "-p", "xyzzy=1"], 2, "unknown parameter 'xyzzy'"),
    ([*REPLAY, "-p", "uncertainty.L=1%"], 2, "expected a name that begins with net., node."),
    ([*REPLAY, "-p", "uncertainty.net.LL=1%"], 2, "unknown setting 'net.LL'; did you mean 'net.L'"),
    ([*REPLAY, "-p", "uncertainty.net.L=1"], 2, "uncertainty.net.L: '1' is not a percentage"),
    ([*REPLAY, "-p", "uncertainty.net.L=1e9%"], 2, "'1e9%' is out of range; expected 0% to 100%"),
    ([*REPLAY, "-p", "uncertainty.gen.bytes=1%"], 2, "only settings of the machine"),
    ([*REPLAY, "-p", "uncertainty.mpi.eager_max=1%"], 2, "eager_max is 0 or unlimited, which"),
    ([*REPLAY, "-p", "uncertainty.net.cycle=1%"], 2, "'loggp' has no parameter 'cycle'"),
    ([*REPLAY, "--net", "packet", "--topo", "torus:2x2x2", "-p",
      "uncertainty.net.links.x.latency=1%"], 2, "net.links.x.latency is not set; set it"),
    (["bench", "phold", "-p", "uncertainty.net.L=1%"], 2, "does not apply to source 'bench:phold'"),
    ([*REPLAY, "-p", "threads=2"], 2, "'threads'; did you mean 'engine.threads'"),
    ([*REPLAY, "-p", "rank=2"], 2, "'rank'; did you mean 'ranks'"),
    (["bench", "phold", "-p", "ranks=2"], 2, "ranks does not apply to source 'bench:phold'"),
    ([*REPLAY, "-p", "net.L"], 2, "net.L.*name=value"),
    ([*REPLAY, "-p", "net.L=1"], 2, "net.L: '1' is not a time; expected .* us"),
    ([*REPLAY, "-p", "net.L=1parsec"], 2, "net.L: '1parsec' is not a time"),
    ([*REPLAY, "-p", "net.L=-1us"], 2, "net.L: '-1us' is not a time"),
    ([*REPLAY, "-p", "net.L=2h"], 2, "net.L: '2h' is out of range; expected 0 to 1h"),
    ([*REPLAY, "-p", "net.bandwidth=10GB"], 2, "net.bandwidth: '10GB' is not a rate"),
    ([*REPLAY, "-p", "gen.bytes=64KiBs"], 2, "gen.bytes: '64KiBs' is not a size"),
    ([*REPLAY, "-p", "gen.allreduce=perhaps"], 2, "gen.allreduce: .*neither true nor false"),
    ([*REPLAY, "-p", "phold.lps=5"], 2, "phold.lps does not apply to source 'gen:stencil3d'"),
    ([*REPLAY, "-p", "gen.bytes=1EiB"], 5, "106 days"),
    (["bench", "phold", "-p", "gen.bytes=5"], 2, "gen.bytes does not apply"),
    (["bench", "phold", "--lps", "0"], 2, "--lps: '0' is out of range"),
    (["bench", "phold", "--remote", "1.5"], 2, "--remote: '1.5' is out of range; expected 0 to 1"),
    (["bench", "phold", "--remote", "nan"], 2, "--remote: 'nan' is not a number"),
    (["bench", "phold", "--end", "5"], 2, "--end: '5' is not a time"),
    (["bench", "phold", "--lookahead", "2us"], 2, "phold.lookahead is larger than phold.mean"),
    (["bench", "phold", "--lps", "1073741824"], 5, "would need about .* of memory"),
    # the engine
    ([*REPLAY, "--sched", "optimstic"], 2, "--sched: 'optimstic' .*did you mean 'optimistic'"),
    ([*REPLAY, "--threads", "0"], 2, "--threads: '0' is out of range"),
    ([*REPLAY, "--threads", "100000"], 2, "--threads: .* out of range"),
    ([*REPLAY, "-p", "engine.batch=0"], 2, "engine.batch: '0' is out of range"),
    ([*REPLAY, "-p", "engine.exec=gpu"], 2, "gpu executes synthetic traffic only"),
    ([*REPLAY, "-p", "engine.exec=lockstep"], 2, "programs need events"),
    (["traffic", "uniform", "--topo", "torus:4x4", "--exec", "fpga"], 2, "--exec: 'fpga' is not one of"),
    ([*REPLAY, "--seed", "-1"], 2, "--seed: '-1' is not a count"),
    # options
    ([*REPLAY, "--thread", "2"], 2, "unknown option '--thread'; did you mean '--threads'"),
    ([*REPLAY, "-x"], 2, "unknown option '-x'"),
    ([*REPLAY, "--threads"], 2, "option '--threads' needs an argument"),
    ([*REPLAY, "--progress", "often"], 2, "--progress: 'often' is not one of auto"),
    # programs
    (["capture", "mpirun", "-n", "2", "./app"], 2, "unknown option '-n'; the program comes after '--': weft capture"),
    (["sweep", "study.yaml", "--output", "plot.svg"], 2, "output 'plot.svg': expected a directory.*--plot draws"),
    # outputs
    ([*REPLAY, "-o", "result.jsn"], 2, r"must end in .txt, .json, .timeline.csv, .calls.csv, .csv, .html, .pftrace, .prv, .otf2 or .clog2"),
    ([*REPLAY, "-o", "nowhere/result.json"], 3, "cannot write 'nowhere/result.json'"),
    ([*REPLAY, "-o", "there.json"], 3, "'there.json' exists; -f overwrites it"),
    ([*REPLAY, "-o", "directory.json"], 3, "cannot write 'directory.json'"),
]

FILES = {
    "there.json": "precious",
    "result.json": '{\n  "schema": "weft-result-1",\n  "version": "1.0.0"\n}\n',
    "compact.json": '{"schema":"weft-result-1","version":"1.0.0"}\n',
    "versions.json": '{"name": "something else", "version": "1.0.0"}\n',
    "page.html": "<!doctype html>\n",
    "study.yaml": "title: a study\nsettings:\n  source: gen:ring\n",
    "machine.yaml": "# where it comes from\nname: mine\ntopology:\n  kind: torus\n",
    "program": "\177ELF",
    "packed.weft": "BZh91AY",
    "names.edges": "north middle\nmiddle south\n",
}


def one_line(done):
    return (done.stderr.startswith("weft: ") and done.stderr.count("\n") == 1
            and done.stderr.endswith("\n"))


def check_case(args, code, stderr):
    done = check_run(args, code, stderr)
    check(one_line(done), f"{args}: stderr is not one line that begins with 'weft: '", done)
    check(done.stdout == "", f"{args}: stdout is not empty", done)

    done = run(*args, "--json")
    document = parse(done)
    if "help" not in args:
        check(document.get("error", {}).get("exit_code") == code,
              f"{args} --json: no document with the exit code", done)
        check(one_line(done), f"{args} --json: stderr is not one line", done)
        check(f"weft: {document.get('error', {}).get('message')}\n" == done.stderr,
              f"{args} --json: document and stderr differ", done)


def main():
    for name, text in FILES.items():
        pathlib.Path(name).write_text(text, encoding="utf-8")
    os.mkdir("directory.json")
    check_run(["gen", "ring", "-n", "2", "-o", "two.weft"], 0, stdout=".")
    before = sorted(os.listdir())
    for args, code, stderr in CASES:
        check_case(args, code, stderr)
    check(sorted(os.listdir()) == before, f"files were left behind: {sorted(os.listdir())}")
    check(pathlib.Path("there.json").read_text(encoding="utf-8") == "precious",
          "there.json was touched")

    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([WEFT, *REPLAY], stdout=full, stderr=subprocess.PIPE,
                                  check=False, timeout=50)
            check(done.returncode == 3, f"full disk: exit code {done.returncode}")
            check(b"cannot write the result" in done.stderr, "full disk: no message")
    finish()


main()
