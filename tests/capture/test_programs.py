# SPDX-License-Identifier: Apache-2.0
"""weft capture on programs of the distribution, where they are installed: NetPIPE, HPCC
and LAMMPS."""
import shutil
import sys

from captured import MPIS, capture, check_messages, info, launch, replay, run

NETPIPES = {"mpich": "NPmpich2", "openmpi": "NPopenmpi"}

# The smallest problem that is one, on a grid of 1 x 2.
HPCC = """HPLinpack benchmark input file
nobody
HPL.out
8            device out
1            # of problems sizes (N)
64           Ns
1            # of NBs
16           NBs
0            PMAP process mapping
1            # of process grids (P x Q)
1            Ps
2            Qs
16.0         threshold
1            # of panel fact
1            PFACTs
1            # of recursive stopping criterium
4            NBMINs
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs
1            # of broadcast
1            BCASTs
1            # of lookahead depth
1            DEPTHs
2            SWAP
64           swapping threshold
0            L1 in form
0            U  in form
1            Equilibration
8            memory alignment in double
32           Number of additional problem sizes for PTRANS
0            values of N
0            number of additional blocking sizes for PTRANS
0            values of NB
"""


# A drop of a Lennard-Jones liquid.
LAMMPS = """units lj
atom_style atomic
lattice fcc 0.8
region box block 0 6 0 6 0 6
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.5 4711
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0
fix move all nve
thermo 5
thermo_style custom step temp pe ke press
run 40
"""


def check(trace):
    document, done = info(trace)
    assert done.returncode == 0, done.stderr
    assert all(rank["whole"] for rank in document["per_rank"])
    n = check_messages(trace)
    result = replay(trace)
    assert result["status"] == "completed" or result["status"] == "ok", result["status"]
    return n


def test_netpipe(mpi):
    """Its output is times; what it does is fixed by the number of repetitions."""
    command = launch(mpi, 2, NETPIPES[mpi], "-l", "1", "-u", "2048", "-n", "10")
    alone, done = run(command), capture(f"netpipe_{mpi}", command)
    assert alone.returncode == done.returncode == 0, done.stderr
    assert len(alone.stdout.splitlines()) == len(done.stdout.splitlines())
    assert check(f"netpipe_{mpi}") > 500


def test_hpcc():
    with open("hpccinf.txt", "w", encoding="utf-8") as file:
        file.write(HPCC)
    done = capture("hpcc", launch("openmpi", 2, "hpcc"))
    assert done.returncode == 0, done.stderr
    with open("hpccoutf.txt", encoding="utf-8") as file:
        text = file.read()
    assert "Success=1" in text and "PASSED" in text, text[-2000:]
    assert check("hpcc") > 100


def thermo(text):
    """What was computed, without what it took."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.split()[:2] == ["Step", "Temp"])
    return [line.split() for line in lines[first:first + 10]]


def test_lammps():
    with open("in.drop", "w", encoding="utf-8") as file:
        file.write(LAMMPS)
    command = launch("openmpi", 2, "lmp", "-in", "in.drop", "-log", "none")
    alone, done = run(command), capture("lammps", command)
    assert alone.returncode == done.returncode == 0, done.stderr
    assert thermo(alone.stdout) == thermo(done.stdout) and len(thermo(alone.stdout)) == 10
    assert check("lammps") > 100
    kinds = info("lammps")[0]
    assert kinds["reductions"].get("sum", 0) > 10, kinds["reductions"]


def main():
    tests = [lambda m=mpi: test_netpipe(m) for mpi in MPIS if shutil.which(NETPIPES[mpi])]
    if "openmpi" in MPIS and shutil.which("hpcc"):
        tests.append(test_hpcc)
    if "openmpi" in MPIS and shutil.which("lmp"):
        tests.append(test_lammps)
    for test in tests:
        test()
    return 0 if tests else 77


if __name__ == "__main__":
    sys.exit(main())
