# SPDX-License-Identifier: Apache-2.0
"""A program recorded under a real MPI and replayed without its computing, and the same program run
as virtual ranks without computing, are predicted to take the same time on the same network. With the
argument `all` more ranks under Open MPI too."""
import json
import os
import shutil
import subprocess
import sys

import vrank

# Few steps: what is compared is every call, not how often it is made.
PROGRAMS = {"hello.c": (), "ring.c": (), "random.c": ("5",), "stencil.c": ("8", "4"),
            "stencil.f90": ("4",), "cg.c": ("8",), "fft.c": (), "sort.c": ("100",),
            "jacobi3d.c": ("8", "2"), "ep.c": ("10",), "mg.c": ("16", "1")}
# More ranks than processors wait for each other long: few programs with 16, none under Open MPI,
# which runs a part of them.
MANY = ("random.c", "stencil.c", "sort.c", "mg.c")
FEW = (*MANY, "stencil.f90", "fft.c")
RANKS = {"mpich": (4, 16), "openmpi": (4,)}
ALL_RANKS = {"mpich": (4, 16), "openmpi": (4, 16)}
NETWORKS = {"loggp": (), "latency": ("--topo", "torus:4x4"), "packet": ("--topo", "torus:4x4")}
COMPILERS = {".c": "mpicc", ".f90": "mpif90"}
# Ranks that wait leave the processor to others: there are more of them than processors.
ENVIRONMENT = dict(os.environ, MPIR_CVAR_POLLS_BEFORE_YIELD="1", OMPI_MCA_mpi_yield_when_idle="1",
                   OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   UCX_LOG_LEVEL="error")


def run(*command, **more):
    done = subprocess.run([str(c) for c in command], text=True, capture_output=True, check=False,
                          timeout=120, stdin=subprocess.DEVNULL, env={**ENVIRONMENT, **more})
    if done.returncode != 0:
        vrank.complain(" ".join(map(str, command)), done.stdout, done.stderr)
        return None
    return done.stdout


def build(source, mpi):
    """The program for one MPI; None if that is not here, or weft cannot record it."""
    compiler = shutil.which(f"{COMPILERS[source.suffix]}.{mpi}")
    if (compiler is None or shutil.which(f"mpirun.{mpi}") is None
            or not (vrank.BUILD / f"libweft-capture-{mpi}.so").exists()):
        return None
    program = f"./{source.stem}_{source.suffix[1:]}_{mpi}"
    where = []
    if mpi == "openmpi":  # the distribution's choice may be another
        said = subprocess.run(["mpicc.openmpi", "--showme:libdirs"], text=True, check=True,
                              capture_output=True)
        where = ["-L" + said.stdout.split()[0]]
    done = run(compiler, "-O1", "-w", f"-I{vrank.SOURCE / 'include'}", source, "-o", program, "-lm", *where)
    return program if done is not None else None


def predict(*command):
    """What does not depend on where the calls came from."""
    said = run(vrank.WEFT, *command[:1], "-q", "-f", "-o", "result.json", *command[1:])
    if said is None:
        return None
    with open("result.json", encoding="utf-8") as file:
        result = json.load(file)["result"]
    return {key: result[key] for key in ("predicted_time_ps", "messages", "bytes", "ranks")
            if key in result}


def record(program, mpi, ranks, args):
    trace = f"trace_{mpi}"
    shutil.rmtree(trace, ignore_errors=True)
    many = ["--oversubscribe"] if mpi == "openmpi" else []
    preload = {"LD_PRELOAD": str(vrank.YIELD)} if mpi == "mpich" and vrank.YIELD.exists() else {}
    said = run(vrank.WEFT, "capture", "-o", trace, "--", f"mpirun.{mpi}", *many, "-n", ranks,
               program, *args, **preload)
    return trace if said is not None else None


def compare(name, mine, programs, ranks):
    expected = {net: predict("run", "-n", ranks, "--compute", "none", "--net", net, *topo, "--",
                             mine, *PROGRAMS[name]) for net, topo in NETWORKS.items()}
    for mpi, program in programs.items():
        trace = record(program, mpi, ranks, PROGRAMS[name])
        for net, topo in NETWORKS.items() if trace is not None else ():
            replayed = predict("replay", trace, "--net", net, *topo, "-p", "replay.policy=causal")
            if replayed is None or replayed != expected[net]:
                vrank.complain(f"{name}, {ranks} ranks, {mpi}, {net}: replayed and run differ",
                               replayed, expected[net])


def main():
    chosen, compared = ALL_RANKS if sys.argv[1:] == ["all"] else RANKS, 0
    for name in PROGRAMS:
        source = vrank.SOURCE / "examples/mpi" / name
        mine = vrank.build(source)
        built = {mpi: build(source, mpi) for mpi in chosen
                 if mine is not None and (mpi != "openmpi" or name in FEW or chosen is ALL_RANKS)}
        for ranks in sorted(set(sum(chosen.values(), ()))):
            programs = {mpi: program for mpi, program in built.items()
                        if program is not None and ranks in chosen[mpi]
                        and (ranks == 4 or name in MANY or chosen is ALL_RANKS)}
            if programs:
                compare(name, mine, programs, ranks)
                compared += len(programs)
    if compared == 0:
        print("no MPI whose programs could be recorded")
        sys.exit(vrank.SKIPPED)
    print(f"{compared} recordings")
    vrank.finish()


main()
