# SPDX-License-Identifier: Apache-2.0
"""Training steps: times by hand where devices only compute, known schedules, figures of results,
step times that were measured on real machines, and mistakes."""
import json
import pathlib
import re
import subprocess
import sys

from weft_cli import SOURCE, check, check_run, finish, parse

# Four layers of equal work on devices of 1 operation per picosecond, with nothing else to do.
PLAIN = ["replay", "gen:llm", "--net", "none", "-p", "gen.layers=8", "-p", "gen.hidden=1024", "-p", "gen.heads=8",
         "-p", "gen.ffn=4096", "-p", "gen.gated=true", "-p", "gen.vocabulary=1", "-p", "gen.sequence=512", "-p", "gen.attention_cost=1",
         "-p", "cpu.tflops16=1", "--json", "-q"]
# A network that is nothing but bandwidth and latency.
LOGGP = ["--net", "loggp", "-p", "net.L=3us", "-p", "net.bandwidth=48GB/s", "-p", "net.o=0ns", "-p", "net.g=0ns"]
# Megatron-Bridge, docs/performance-summary.md, 25.11: tokens/s and GPU on H100.
KNOWN = [
    (8, 14451, ["model=llama3-8b", "batch=128", "precision=fp8", "zero=3"]),
    (64, 1602, ["model=llama3-70b", "batch=128", "tensor=4", "pipeline=8", "schedule=interleaved", "chunks=5",
                "precision=fp8"]),
    (64, 5630, ["model=gpt-oss-120b", "batch=512", "micro=4", "pipeline=4", "expert=8", "recompute=full"]),
]
MISTAKES = [
    (["tensor=3"], "multiples of tensor"),
    (["pipeline=8"], "fewer layers than stages"),
    (["expert=2"], "experts must be a multiple of expert"),
    (["chunks=2"], "chunks needs schedule=interleaved"),
    (["experts=4", "top_k=5"], "top_k must not be larger"),
    (["framework=pytorch"], "megatron-core"),
    (["attention=fused"], "unfused"),
    (["batch=3"], "batch must be a multiple of replicas"),
    (["pipeline=2", "schedule=interleaved", "chunks=2", "batch=6"], "multiple of the stages"),
]


def params(settings):
    return [text for setting in settings for text in ("-p", f"gen.{setting}")]


def training(args):
    return parse(check_run(args, 0))["result"]["training"]


def work(tokens, layers=8, hidden=1024, ffn=4096, sequence=512):
    """Operations of a forward pass."""
    return layers * tokens * (2 * (4 * hidden * hidden + 3 * hidden * ffn) + 2 * sequence * hidden)


def check_computing():
    """A device takes a forward pass, and twice its products and 2.5 times its attention backwards."""
    got = training([*PLAIN, "-n", "1", *params(["batch=3"])])
    forward, attention = work(512), 8 * 512 * 2 * 512 * 1024
    expected = 3 * (3 * forward + attention // 2) + 3 * 3 * 2 * 512 * 1024
    check(abs(got["step_ps"] / expected - 1) < 1e-5, f"a step takes {got['step_ps']} ps, not {expected}")
    check(got["tokens_per_step"] == 1536 and got["bubble_percent"] == 0, f"figures of one device: {got}")
    check(85 < got["mfu_percent"] <= 100, f"MFU {got['mfu_percent']} %")


def step(*settings):
    return training([*PLAIN, "-n", "4", *params(["pipeline=4", "batch=8", *settings])])["step_ps"]


def check_schedules():
    """Bubbles of m microbatches on p stages: (p - 1) / m of the work, a v-th of that with chunks."""
    alone = training([*PLAIN, "-n", "1", *params(["batch=8"])])["step_ps"] / 4
    for name, ideal in (("gpipe", alone * 11 / 8), ("1f1b", alone * 11 / 8)):
        got = step(f"schedule={name}")
        check(abs(got / ideal - 1) < 0.003, f"{name}: {got} ps, not {ideal}")
    got, ideal = step("schedule=interleaved", "chunks=2"), alone * (1 + 3 / 16)
    check(abs(got / ideal - 1) < 0.003, f"interleaved: {got} ps, not {ideal}")
    # Forward and backward passes of one kind take as long: a third of the bubbles is left.
    got = step("schedule=zero_bubble")
    check(alone < got < alone * (1 + 3 / 16), f"zero_bubble: {got} ps")


def check_communication():
    """What is not hidden is exposed, and hiding it helps."""
    args = ["replay", "gen:llm", "-n", "16", *LOGGP, "--machine", "h100-rail", "--json", "-q",
            *params(["model=llama3-8b", "layers=4", "batch=16", "tensor=4", "pipeline=2"])]
    hidden = training(args)
    shown = training([*args, *params(["overlap=false", "overlap_tensor=false"])])
    check(shown["step_ps"] > 1.05 * hidden["step_ps"], "hiding communication does not help")
    check(shown["exposed_communication_percent"] > hidden["exposed_communication_percent"], "exposed communication")
    for some in (hidden, shown):
        total = some["compute_percent"] + some["bubble_percent"] + some["exposed_communication_percent"]
        check(99 < total < 100.1, f"shares add up to {total} %")
    for zero in ("0", "2", "3"):
        training([*args, *params([f"zero={zero}"])])
    # Messages that wait for their receivers change little, and nobody waits for ever.
    slow = training([*args, "-p", "mpi.eager_max=0", *params(["schedule=1f1b"])])
    check(slow["step_ps"] < 1.1 * hidden["step_ps"], "long messages")


def check_gathering():
    """What replicas exchange beside a pipeline does not hold up its messages: hiding it helps an interleaved pipeline, too."""
    args = ["replay", "gen:llm", "-n", "256", "--machine", "h100-rail", *LOGGP, "--json", "-q", *params(
        ["model=llama3-405b", "layers=32", "tensor=8", "pipeline=4", "schedule=interleaved", "chunks=4", "batch=64", "recompute=none"])]
    hidden, shown = (training([*args, *params([f"overlap={word}"])]) for word in ("yes", "no"))
    check(hidden["step_ps"] < 0.97 * shown["step_ps"], f"gathering weights ahead: {hidden['step_ps']} ps, else {shown['step_ps']}")
    check(hidden["bubble_percent"] < 1.5 * shown["bubble_percent"] + 2, f"bubbles: {hidden['bubble_percent']}, else {shown['bubble_percent']} %")


# Rows, columns and depth of the products of a layer, and of those of their gradients.
SHAPES = [shape for columns, depth in ((3072, 1024), (1024, 1024), (4096, 1024), (1024, 4096))
          for shape in ((512, columns, depth), (512, depth, columns), (columns, depth, 512))]


def kineto(shapes, micros):
    """A trace of PyTorch's profiler: operations with their inputs, calls within them, and kernels."""
    events = [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}}]
    for i, (rows, columns, depth) in enumerate(shapes):
        at = 1700000000000000 + 100 * i  # microseconds since 1970
        args = {"External id": i, "Input Dims": [[columns], [rows, depth], [depth, columns], []],
                "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar"]}
        events += [
            {"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 1, "tid": 2, "ts": at, "dur": 90, "args": {}},
            {"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 1, "tid": 2, "ts": at + 10, "dur": 50, "args": args},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": at + 20, "dur": 5,
             "args": {"correlation": 7000 + i}},
            {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": at + 30, "dur": micros, "args": {"correlation": 7000 + i}}]
    return json.dumps({"schemaVersion": 1, "traceEvents": events})


def check_kernels():
    """Measured kernels count instead of counted ones, of the same or a near shape; the result says which share."""
    args = [*PLAIN, "-n", "1", *params(["batch=3", "framework=megatron", "gated=false", "recompute=none"])]

    def table(text, name="kernels.csv"):
        pathlib.Path(name).write_text(text, encoding="utf-8")
        return training([*args, *params([f"kernels={name}"])])

    head = "operation,rows,columns,depth,us\n"
    times = [table(head + "".join(f"product,{r},{c},{d},{us}\n" for r, c, d in SHAPES)) for us in (1000, 2000)]
    n = 3 * 8 * len(SHAPES)  # microbatches, layers
    check(times[1]["step_ps"] - times[0]["step_ps"] == n * 10**9, f"measured kernels: {times}")
    check(80 < times[0]["kernels"]["measured_percent"] < 100, f"share of measured kernels: {times[0]}")
    traced = table(kineto(SHAPES, 1000.0), "kernels.json")
    check(traced["step_ps"] == times[0]["step_ps"], f"kernels of a trace: {traced}")
    # A shape twice as large takes twice as long; one far away says nothing.
    scaled = table(head + "product,512,3072,1024,1000\n")
    check(scaled["kernels"]["measured_percent"] > 0 and scaled["kernels"]["scaled_percent"] > 0, f"scaled: {scaled}")
    far = table(head + "product,16,16,16,1000\n")
    check(far["step_ps"] == training(args)["step_ps"] and far["kernels"]["scaled_percent"] == 0, f"far shapes: {far}")
    flash = [*args, *params(["attention=flash", "kernels=attention.csv"])]
    both = []
    for us in (1000, 3000):
        pathlib.Path("attention.csv").write_text(head + f"attention,512,8,128,{us}\nattention_backward,512,8,128,{2 * us}\n", encoding="utf-8")
        both.append(training(flash)["step_ps"])
    check(both[1] - both[0] == 3 * 8 * 3 * 2 * 10**9, f"attention: {both}")
    for text, words in (("a,b\n1,2\n", "no column 'operation'"), (head + "product,1,2,x,3\n", "a number from 1"), (head + "gemm,1,2,3,4\n", "operation is"),
                        (head + "product,1,2\n", "too few"), (head + "product,1,2,3,-4\n", "above 0"), ("", "no products"), ("{}", "no products"),
                        ('{"traceEvents": [{"cat": "kernel", ', "not a trace"), ("\x1f\x8b\x08", "gunzip")):
        pathlib.Path("bad").write_text(text, encoding="latin-1")
        check_run([*args, *params(["kernels=bad"])], 3, words)
    check_run([*args, *params(["kernels=kernels.csv", "framework=none"])], 2, "needs the kernels of a framework")


def check_sharded():
    """ZeRO 3 reduces the gradients of each of three layers and two embeddings in each microbatch, whatever the bucket is."""
    for overlap, kind in (("true", "ireduce_scatter_block"), ("false", "reduce_scatter_block")):
        check_run(["gen", "llm", "-n", "4", "-o", "sharded.weft", "-f",
                   *params(["layers=3", "batch=16", "zero=3", "bucket=1TB", f"overlap={overlap}"])], 0)
        kinds = parse(check_run(["info", "sharded.weft", "--json"], 0))["ops_by_kind"]
        check(kinds[kind]["calls"] == 4 * 4 * 5, f"ZeRO 3: {kinds}")


def check_memory():
    """Weights, gradients and states by ZeRO, activations by schedule; a warning if they do not fit."""
    h, f, t, vocabulary = 1024, 4096, 512, 1
    ends = h * vocabulary
    layer = 4 * h * h + 3 * h * f + 2 * h
    kept = t * (2 * h + 2 * h + 6 * h + 2 * h + 2 * h + 2 * h + 6 * f)
    for zero in range(4):
        got = training([*PLAIN, "-n", "4", *params(["batch=16", f"zero={zero}"])])["memory"]
        w = 8 * layer + 2 * ends
        expected = {"weights": 2 * w // 4 + 4 * layer if zero == 3 else 2 * w, "gradients": 4 * w // (4 if zero > 1 else 1),
                    "optimizer": 12 * w // (4 if zero > 0 else 1), "activations": 8 * kept + 6 * t * vocabulary, "cache": 0}
        check(all(got[f"{key}_bytes"] == value for key, value in expected.items()), f"ZeRO {zero}: {got}, not {expected}")
        check(got["total_bytes"] == sum(expected.values()) and "device_bytes" not in got, f"ZeRO {zero}: sum")
    # On the first of p stages p microbatches have begun at most, with gpipe all, recomputed ones keep 2 h.
    for settings, expected in ((["schedule=1f1b"], 4 * 2 * kept), (["schedule=gpipe"], 8 * 2 * kept + 6 * t * vocabulary),
                               (["schedule=1f1b", "recompute=full"], 4 * 2 * t * 2 * h + kept)):
        got = training([*PLAIN, "-n", "4", *params(["pipeline=4", "batch=8", *settings])])["memory"]
        check(got["activations_bytes"] == expected, f"{settings}: {got}, not {expected}")
    for memory, warns in (("1GB", True), ("100GB", False)):
        document = parse(check_run([*PLAIN, "-n", "1", "-p", f"cpu.memory={memory}", *params(["batch=3"])], 0))
        found = any("does not fit" in words for words in document.get("warnings", []))
        check(found == warns, f"{memory}: {document.get('warnings')}")


def check_frameworks():
    """Kernels of a framework: their operations, bytes and launches one after another, and what it does by default."""
    plain = [*PLAIN, "-n", "1", *params(["batch=3", "framework=megatron", "gated=false", "recompute=none"])]
    products, square = 8 * 512 * 2 * (4 * 1024**2 + 2 * 1024 * 4096), 8 * 512 * 4 * 512 * 1024
    head = 512 * 2 * 16 * 1024 * 2.78  # a column is a tile of 16, and begins at an odd place
    got, expected = training(plain)["step_ps"], 3 * 3 * (products + square + head)
    check(abs(got / expected - 1) < 1e-3, f"kernels of megatron: {got} ps, not {expected}")
    moved = training([*plain, "-p", "cpu.memory_bandwidth=10GB/s"])["step_ps"] - got
    launched = [training([*plain, "-p", "cpu.tflops16=1000000", "-p", f"cpu.dispatch={time}"])["step_ps"] for time in ("1ms", "2ms")]
    check(moved > 5e11, f"bytes: {moved}")
    kernels = (launched[1] - launched[0]) / 1e9 / (3 * 8)
    check(40 < kernels < 70, f"{kernels} kernels for a layer")
    # Four heads of a microbatch are a block of the fused softmax; two need eight kernels more.
    two = training([*PLAIN, "-n", "4", *params(["batch=3", "tensor=4", "framework=megatron", "gated=false", "recompute=none"]), "-p", "cpu.tflops16=1000000",
                    "-p", "cpu.dispatch=1ms"])["step_ps"]
    collectives = 4
    check(round((two - launched[0]) / 1e9 / 24) == 4 + 3 + collectives, f"kernels without a fused softmax: {(two - launched[0]) / 24e9}")
    # Inference counts no kernels, and experts with few tokens are read from memory.
    for phase in ("prefill", "decode"):
        both = [training([*PLAIN, "-n", "1", *params(["batch=4", "micro=4", f"phase={phase}", *more])])["step_ps"]
                for more in ([], ["framework=torchtitan"])]
        check(both[0] == both[1], f"{phase}: {both}")
    few = [training([*PLAIN, "-n", "1", "-p", f"cpu.memory_bandwidth={rate}", *params(["framework=megatron-core", "batch=1", "experts=256"])])
           for rate in ("1TB/s", "2TB/s")]
    weights = 8 * 256 * 3 * 1024 * 4096
    least = 2 * 3 * weights * (1 - 1 / 2)  # picoseconds: read three times at 1 byte per picosecond, less at 2
    check(few[0]["step_ps"] - few[1]["step_ps"] > least, f"experts: {few}")
    # What the user says counts more than the framework; others shard and overlap.
    args = ["replay", "gen:llm", "-n", "16", *LOGGP, "--machine", "h100-rail", "--json", "-q",
            *params(["model=llama3-8b", "layers=4", "batch=16", "tensor=4", "pipeline=2"])]
    own = [training([*args, *params([f"framework={name}", "recompute=none", *more])])["step_ps"] for name, more in (
        ("megatron", []), ("megatron", ["attention=flash", "dropout=false"]), ("megatron-core", []), ("megatron-core", ["overlap=false"]),
        ("megatron-deepspeed", []), ("torchtitan", []), ("torchtitan", ["schedule=zero_bubble"]), ("megatron", ["recompute=attention"]))]
    check(own[1] < own[0] and own[2] < own[3] and own[7] > own[0], f"frameworks: {own}")
    # Table 2 and figure 1 of arXiv:2205.05198: 22 billion weights do not fit into 80 GB without recomputation.
    whole = training(["replay", "gen:llm", "-n", "8", "--machine", "a100-rail", "--net", "loggp", "--json", "-q", *params(
        ["framework=megatron", "layers=48", "hidden=6144", "heads=64", "ffn=24576", "gated=false", "batch=4", "micro=4", "tensor=8", "recompute=none"])])
    check(98 < whole["memory"]["total_bytes"] / 2**30 < 112, f"22 billion weights: {whole['memory']}")


def check_defaults():
    """What nobody said: the framework of the machine, as little recomputation as fits, and the shape of GPT."""
    args = ["replay", "gen:llm", "-n", "8", "--net", "loggp", "--json", "-q", *params(["hidden=4096", "batch=16", "tensor=2"])]
    for machine, framework, recompute in (("a100-rail", "megatron", "full"), ("h100-rail", "megatron-core", "none")):
        got = training([*args, "--machine", machine])
        check((got["framework"], got["recompute"]) == (framework, recompute), f"{machine}: {got}")
        said = training([*args, "--machine", machine, *params([f"framework={framework}", f"recompute={recompute}", "ffn=16384",
                                                               "gated=false", "heads=32"])])
        check(said == got, f"{machine}: said {said}, assumed {got}")
    small = [training([*args, "--machine", "h100-rail", "-p", f"cpu.memory={memory}"]) for memory in ("80GB", "25GB", "1GB")]
    check([got["recompute"] for got in small] == ["none", "full", "full"], f"what fits: {[got['recompute'] for got in small]}")
    check(small[1]["memory"]["total_bytes"] <= 25e9 < small[0]["memory"]["total_bytes"], f"what fits: {small}")
    # torchtitan recomputes every other product: more than attention alone, less than all. A compiler merges kernels.
    llama = ["replay", "gen:llm", "-n", "8", "--machine", "h100-rail", "--net", "loggp", "--json", "-q",
             *params(["model=llama3-8b", "layers=4", "batch=16", "micro=2", "framework=torchtitan", "tensor=2"])]
    times = [training([*llama, *params([f"recompute={what}"])]) for what in ("none", "selective", "full")]
    check(times[0]["step_ps"] < times[1]["step_ps"] < times[2]["step_ps"], f"selective: {times}")
    check(times[2]["memory"]["total_bytes"] < times[1]["memory"]["total_bytes"] < times[0]["memory"]["total_bytes"], f"kept: {times}")
    eager, compiled = (training([*llama, *params([f"compile={what}", "recompute=none"])])["step_ps"] for what in ("no", "yes"))
    check(1.05 < eager / compiled < 1.4, f"compile: {eager / compiled}")
    hidden = [training([*llama, *params(["overlap_tensor=yes", f"tensor_hidden={share}"])])["step_ps"] for share in (1, 40, 100)]
    check(hidden[0] > hidden[1] > hidden[2], f"hidden: {hidden}")


def check_tool():
    """tools/validate_training on a CSV: every row and a summary, and words for one that lacks columns."""
    tool = [sys.executable, "-B", str(SOURCE / "tools/validate_training")]
    header = ("# GPUs,global batch,micro batch,hidden size,attention heads,# layers,sequence length,tensor parallelism,"
              "data parallelism,pipeline parallelism,iteration time (ms)")
    pathlib.Path("steps.csv").write_text(f"{header}\n2,16,8,1024,16,24,1024,1,1,2,372.160408\n4,8,1,1024,16,24,1024,1,4,1,170.3\n")
    run = subprocess.run([*tool, "steps.csv"], capture_output=True, text=True, check=False)
    check(run.returncode == 0 and run.stdout.count("predicted") == 2 and "2 of 2 rows" in run.stdout, f"validate_training: {run}")
    worst = max(abs(float(off)) for off in re.findall(r", ([-+][0-9.]+) %$", run.stdout, re.M))
    check(worst < 15, f"steps of Megatron-LM on one node: {run.stdout}")
    pathlib.Path("steps.csv").write_text("GPUs,time\n1,2\n")
    run = subprocess.run([*tool, "steps.csv"], capture_output=True, text=True, check=False)
    check(run.returncode == 1 and "no column begins with" in run.stderr, f"validate_training of another table: {run}")


def check_inference():
    """A forward pass; and a token that reads all weights and keys, whatever the operations."""
    got = training([*PLAIN, "-n", "1", *params(["batch=3", "phase=prefill"])])
    check(abs(got["step_ps"] / (3 * work(512) + 3 * 2 * 512 * 1024) - 1) < 1e-5, f"prefill: {got['step_ps']} ps")
    got = training([*PLAIN, "-n", "1", "-p", "cpu.tflops16=1000000", "-p", "cpu.memory_bandwidth=1TB/s",
                    *params(["batch=4", "micro=4", "phase=decode"])])
    weights, keys = 8 * (4 * 1024**2 + 3 * 1024 * 4096), 8 * 4 * 512 * 2 * 1024
    least = 2 * (weights + keys)
    check(least < got["step_ps"] < 1.02 * least, f"decode: {got['step_ps']} ps, not {least}")


def check_files():
    """A trace keeps the work of computations, and a job beside another one has its own figures."""
    shape = params(["layers=2", "batch=8", "framework=none"])
    check_run(["gen", "llm", "-n", "4", *shape, "-o", "llm.weft"], 0)
    machine = ["--machine", "h100-rail", *LOGGP, "--json", "-q"]
    times = [parse(check_run(["replay", source, *more, *machine], 0))["result"]["predicted_time_ps"]
             for source, more in (("gen:llm", ["-n", "4", *shape]), ("llm.weft", []))]
    check(times[0] == times[1], f"a trace takes {times[1]} ps, not {times[0]}")
    both = parse(check_run(["replay", "gen:llm", "-n", "4", *shape, "--job", "gen:coll,ranks=8,gen.bandwidth=true",
                            *machine], 0))["result"]["jobs"]
    check("tokens_per_second" in both[0]["training"] and "collective" in both[1], f"figures of jobs: {both}")


def fields(value, path=""):
    """The members of a document, by their path."""
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {k: v for name, inner in items for k, v in fields(inner, f"{path}.{name}").items()}
    return {path: value}


# Ranks, ranks that stand for all with copies=auto (None: all are simulated), settings.
COPIES = [
    (96, 16, ["model=llama3-8b", "tensor=8"]),
    (128, 64, ["model=llama3-8b", "tensor=4", "pipeline=4", "zero=3", "schedule=zero_bubble"]),
    (96, 32, ["model=llama3-8b", "tensor=2", "pipeline=2", "steps=2", "overlap=false"]),
    (64, 16, ["model=mixtral-8x7b", "tensor=2", "expert=4"]),
    (128, None, ["model=llama3-8b", "tensor=8", "context=2"]),  # several nodes share a sequence
    (24, None, ["model=llama3-8b", "tensor=8"]),  # three replicas are not twice as many as two
]


def check_copies():
    """Ranks that stand for others: all results are as if all ranks were simulated."""
    machine = ["--machine", "h100-rail", "--net", "loggp", "--json", "-q"]
    for ranks, simulated, settings in COPIES:
        args = ["replay", "gen:llm", "-n", str(ranks), *machine, *params([*settings, "sequence=1024"]), "-p"]
        whole, few = (parse(check_run([*args, f"replay.copies={c}"], 0)) for c in ("all", "auto"))
        check(few["scenario"].get("simulated_ranks") == simulated, f"{settings}: {few['scenario']}")
        check(whole["scenario"]["ranks"] == few["scenario"]["ranks"] == ranks, f"{settings}: ranks")
        a, b = fields(whole["result"]), fields(few["result"])
        differ = [path for path in a.keys() | b.keys() if path != ".digest" and a.get(path) != b.get(path)]
        check(not differ, f"{settings}: copies change {differ}")
        events = [doc["run"]["events_committed"] for doc in (whole, few)]
        check(simulated is None or events[1] * ranks < events[0] * simulated * 1.2, f"{settings}: {events} events")
    one = [*machine[:2], "--net", "packet", "--json", "-q", "-p", "replay.copies=one"]
    few = parse(check_run(["replay", "gen:llm", "-n", "64", *one, *params(["tensor=8", "layers=2"])], 0))
    check(few["scenario"]["simulated_ranks"] == 16, f"copies=one on packet: {few['scenario']}")


def main():
    check_copies()
    check_computing()
    check_files()
    check_memory()
    check_inference()
    check_frameworks()
    check_defaults()
    check_tool()
    check_schedules()
    check_communication()
    check_gathering()
    check_kernels()
    check_sharded()
    for ranks, measured, settings in KNOWN:
        got = training(["replay", "gen:llm", "-n", str(ranks), "--machine", "h100-rail", *LOGGP, "--json", "-q",
                        *params(settings)])["tokens_per_second_and_device"]
        check(abs(got / measured - 1) < 0.15, f"{settings}: {got} tokens/s, measured {measured}")
    for settings, words in MISTAKES:
        check_run([*PLAIN, "-n", "4", *params(["layers=4", *settings])], 2, words)
    check_run([*PLAIN, "-n", "4", *params(["sequence=100000000", "micro=100000"])], 5, "2.64 operations")
    finish()


main()
