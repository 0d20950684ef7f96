# SPDX-License-Identifier: Apache-2.0
"""weftcc and its like are drop-ins for mpicc; and what programs do at their end, or call that is
not there, has words."""
import pathlib
import shutil
import subprocess

import vrank

CC = vrank.BUILD / "weftcc"
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank;
    MPI_Comm others;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d\n", rank);
    if (argc > 1 && argv[1][0] == 'm' && rank == 1) {
        MPI_Comm_spawn("./a", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &others,
                       MPI_ERRCODES_IGNORE);
    }
    if (argc > 1 && argv[1][0] == 'a' && rank == 1) {
        abort();
    }
    MPI_Finalize();
    exit(argc > 1 && argv[1][0] == '7' && rank == 1 ? 7 : 0);
}
"""
# The profiling interface: the program's own function in front of ours.
PROFILED = r"""
#include <mpi.h>
#include <stdio.h>
static int sends;
int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buf, count, type, dest, tag, comm);
}
int main(int argc, char **argv)
{
    int rank, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Send(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        printf("sends %d\n", sends);
    } else if (rank == 1) {
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
"""


def run(*command, code=0, **options):
    done = subprocess.run([str(c) for c in command], text=True, capture_output=True, check=False,
                          stdin=subprocess.DEVNULL, **options)
    if done.returncode != code:
        vrank.complain(f"{command}: exit code {done.returncode}, expected {code}", done.stdout,
                       done.stderr)
    return done


def expect(text, part, what):
    if part not in text:
        vrank.complain(f"{what}: {part!r} is not there", text)


def check_compiler():
    pathlib.Path("a.c").write_text(PROGRAM)
    run(CC, "-c", "a.c", "-o", "a.o")
    run(CC, "a.o", "-o", "a")
    expect(run(CC, "-E", "a.c").stdout, "MPI_Send", "-E")
    expect(run(CC, "-show", "-O2", "a.c").stdout, "-lweftmpi", "-show")
    expect(run(CC, "--version").stdout, "", "--version")
    pathlib.Path("p.c").write_text(PROFILED)
    run(CC, "p.c", "-o", "p")
    done = run(vrank.WEFT, "run", "-n", 2, "-o", "p.json", "--", "./p")
    expect(done.stdout, "sends 1", "profiling")


def check_ends():
    done = run(vrank.WEFT, "run", "-n", 3, "-f", "-o", "r.json", "--", "./a")
    for rank in range(3):
        expect(done.stdout, f"rank {rank}\n", "exit(0)")
    for argument, words in (("7", "rank 1 ended with code 7 after MPI_Finalize"),
                            ("more", "hold some back with --spare"),
                            ("abort", "rank 1 crashed at simulated time 0 ps: Aborted")):
        done = run(vrank.WEFT, "run", "-n", 3, "-f", "-o", "r.json", "--", "./a", argument,
                   code=4)
        expect(done.stderr, words, argument)


def check_stacks():
    """8 MiB unless there are many ranks; what is less than any rank needs is refused."""
    pathlib.Path("deep.c").write_text(
        "#include <mpi.h>\n#include <string.h>\n#include <stdio.h>\n"
        "int main(int argc, char **argv)\n{\n    char room[6 << 20];\n"
        "    MPI_Init(&argc, &argv);\n    memset(room, argc, sizeof(room));\n"
        "    printf(\"%d\\n\", room[sizeof(room) / 2]);\n    return MPI_Finalize();\n}\n")
    run(CC, "deep.c", "-o", "deep")
    expect(run(vrank.WEFT, "run", "-n", 2, "-f", "-o", "r.json", "--", "./deep").stdout, "1\n",
           "6 MiB on the stack")
    for size, code, words in (("1MiB", 4, "its stack has overflowed; give it more with --stack"),
                              ("100", 2, "run.stack: a rank needs a stack of at least 16KiB")):
        done = run(vrank.WEFT, "run", "-n", 2, "--stack", size, "-f", "-o", "r.json", "--",
                   "./deep", code=code)
        expect(done.stderr, words, f"--stack {size}")


def check_cmake():
    cmake = shutil.which("cmake")
    if cmake is None:
        return
    pathlib.Path("CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(x C)\nfind_package(MPI REQUIRED C)\n"
        "add_executable(b a.c)\ntarget_link_libraries(b MPI::MPI_C)\n")
    for name, option in (("as_compiler", f"-DCMAKE_C_COMPILER={CC}"),
                         ("as_mpi", f"-DMPI_C_COMPILER={CC}")):
        run(cmake, "-S", ".", "-B", name, option)
        run(cmake, "--build", name)
        done = run(vrank.WEFT, "run", "-n", 2, "-f", "-o", "r.json", "--", f"{name}/b")
        expect(done.stdout, "rank 1\n", name)


check_compiler()
check_ends()
check_stacks()
check_cmake()
vrank.finish()
