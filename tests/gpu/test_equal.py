# SPDX-License-Identifier: Apache-2.0
"""Kernels give the same results as events: single networks over all blocks, and many in one launch. On the back end of
the host; with WEFT_GPU=1 in the environment on a GPU, with larger networks and more of them (`make test-gpu`)."""
import json
import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from weft_cli import arbitrations, check, finish, run  # noqa: E402

GPU = os.environ.get("WEFT_GPU") == "1"
DEVICE = "cuda" if GPU else "host"
ROWS = 100 if GPU else 40
SMALL = ["torus:4x4", "torus:9x9", "torus:4x3x5", "mesh:4x4", "torus:16", "torus:2x2x2", "mesh:3x5", "torus:3x3x3x2"]
LARGE = ["torus:16x16x16", "torus:32x32", "torus:9x7x11", "mesh:20x20"]
PATTERNS = ["uniform", "hotspot", "hotregion", "complement", "tornado"]
ROUTINGS = ["dor", "adaptive", "dateline", "dateline-free", "oblivious-1vc", "oblivious-3vc", "adaptive-3vc"]
SETTINGS = [*(f"net.arbitration={name}" for name in arbitrations()[1:]), "net.transit_priority=0.5", "net.consume_one=yes", "net.pipeline=2", "net.link_delay=3", "net.credit_delay=5", "net.queue=2",
            "net.injection_length=2", "traffic.burst=3", "net.turnaround=2", "net.injection_queues=2", "net.restriction=1",
            "net.packet=32B", "traffic.self=yes", "net.stats=summary", "net.watchdog=100", "net.links=x:bandwidth=2GB/s,latency=3ns",
            "net.request=shortest"]


def some_settings(lots):
    args = []
    for setting in SETTINGS:
        if lots.random() < 0.08:
            args += ["-p", setting]
    return args


def scenario(lots):
    """Arguments of a random run."""
    routing = lots.choice(ROUTINGS)
    args = ["traffic", lots.choice(PATTERNS), "--topo", lots.choice(SMALL + (LARGE if GPU else [])), "--load",
            str(lots.choice([0.02, 0.1, 0.3, 0.6, 1.0])), "--cycles", str(lots.choice([700, 2000] if GPU else [150, 400])),
            "--seed", str(lots.randrange(1000)), "-p", f"net.routing={routing}"]
    if routing in ("dor", "adaptive"):
        args += ["-p", f"net.vcs={lots.choice([2, 3])}"]
    elif routing.startswith("dateline"):
        args += ["-p", "net.vcs=2"]
    if routing.startswith("adaptive") and lots.random() < 0.3:
        args += ["-p", f"net.request={lots.choice(['shortest', 'random', 'first'])}"]
    return args + some_settings(lots)


def document(args, *more):
    done = run(*args, *more, "--json", "-q", timeout=200)
    return done, json.loads(done.stdout) if done.stdout.startswith("{") else {}


def check_single(lots):
    """One network at a time; returns how many the GPU executed."""
    on_gpu = 0
    for _ in range(ROWS):
        args = scenario(lots)
        there, wanted = document(args, "--exec", "events")
        here, got = document(args, "--exec", "gpu", "-p", f"engine.device={DEVICE}")
        if here.returncode == 2 and "cannot be simulated on a device" in here.stderr:
            continue
        check(here.returncode == there.returncode and got.get("result") == wanted.get("result"),
              f"{' '.join(args)}: the GPU differs from events", here)
        on_gpu += got.get("run", {}).get("exec") == "gpu"
    return on_gpu


def check_many():
    """A curve in one launch is that of its points alone, for a variant of the kernels and for the general ones."""
    loads = "0.05:1:0.05" if GPU else "0.2:1:0.4"
    for settings in (["net.routing=adaptive-3vc"], ["net.routing=dor", "net.vcs=2"], ["net.arbitration=age"],
                     [f"net.arbitration={arbitrations()[-1]}"]):
        args = ["traffic", "uniform", "--topo", "torus:8x8" if GPU else "torus:4x4", "--load", loads, "--cycles", "500"]
        for setting in settings:
            args += ["-p", setting]
        _, wanted = document(args, "--exec", "events")
        here, got = document(args, "--exec", "gpu", "-p", f"engine.device={DEVICE}")
        check(got != {} and got == wanted, f"{' '.join(args)}: the curve of the GPU differs", here)


def check_local():
    """The pattern 'local' knows the distances of the whole network, also where links have failed."""
    args = ["traffic", "local", "--topo", "mesh:2x2x2", "--load", "0.8", "--cycles", "400", "-p", "net.fail=links:10%",
            "-p", "net.routing=adaptive", "--seed", "270"]
    _, wanted = document(args, "--exec", "events")
    here, got = document(args, "--exec", "lockstep")
    check(got.get("result") == wanted["result"], "local traffic on a damaged network is the same in lock step", here)
    done = run(*args, "--exec", "gpu", "-p", f"engine.device={DEVICE}")
    check(done.returncode == 2 and "cannot be simulated on a device; use --exec lockstep" in done.stderr, "devices refuse it", done)


def check_refused():
    """Kernels are for grids; what they cannot do is refused by name, and cores do it."""
    args = ["traffic", "uniform", "--topo", "torus:4x4", "--cycles", "100", "--exec", "gpu", "-p", f"engine.device={DEVICE}"]
    for more, words in ((["-p", "net.switching=wormhole", "-p", "net.routing=dateline", "-p", "net.vcs=2"], "wormhole"),
                        (["--topo", "fattree:4"], "a network that is not a grid"),
                        (["--topo", "dragonfly:2"], "a routing policy"),
                        (["-p", "net.routing=minimal"], "a routing policy"),
                        (["--topo", "mesh:4x4x4", "-p", "net.routing=dor", "-p", "net.vcs=8"], "a router with more than 32 queues"),
                        (["-p", "net.global_restriction=0.1"], "net.global_restriction"),
                        (["-p", "net.stats=links"], "net.stats=links"),
                        (["-p", "traffic.drop=no"], "traffic other than single packets"),
                        (["-p", "traffic.rounds=2"], "traffic other than single packets")):
        done = run(*args, *more)
        check(done.returncode == 2 and f"{words}" in done.stderr and "on a device; use --exec lockstep" in done.stderr,
              f"{more} is refused, naming {words}", done)
    done = run("traffic", "local", *args[2:])
    check(done.returncode == 2 and "this traffic pattern" in done.stderr, "other patterns are refused", done)
    done = run(*args, "--net", "packet")
    check(done.returncode == 2 and "'router', not 'packet'" in done.stderr, "other models are refused", done)
    if not GPU:
        done = run(*args[:-2], "-p", "engine.device=cuda")
        if done.returncode == 0:  # there is one
            check("Digest" in done.stdout, "a run on the GPU has a result", done)
        else:
            check(done.returncode == 3 and "weft: no GPU was found" in done.stderr and done.stdout == "",
                  "a missing GPU is reported", done)


def main():
    seed = int(os.environ.get("WEFT_TEST_SEED", "1"))
    on_gpu = check_single(random.Random(seed))
    check(on_gpu > ROWS // 2, f"only {on_gpu} of {ROWS} runs were executed by kernels")
    print(f"{on_gpu} of {ROWS} runs by kernels on {DEVICE}")
    check_many()
    check_local()
    check_refused()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
