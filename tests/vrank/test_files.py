# SPDX-License-Identifier: Apache-2.0
"""Files of programs that run take the time of the storage model: MPI-IO and POSIX, to the picosecond, under every
scheduler and in every folder; contents are those that were written; without a model they take no time."""
import json
import pathlib
import subprocess

import vrank

PROGRAM = """
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static double last;
static void mark(int rank, const char *what)
{
    double now = MPI_Wtime();
    if (rank == 0) printf("%s %.0f\\n", what, (now - last) * 1e9);
    MPI_Barrier(MPI_COMM_WORLD);
    last = MPI_Wtime();
}
int main(int argc, char **argv)
{
    enum { N = 1000000 };
    static char out[N], in[N];
    char name[64];
    int rank, size;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    memset(out, 'a' + rank, N);
    MPI_Barrier(MPI_COMM_WORLD);
    last = MPI_Wtime();
    MPI_File_open(MPI_COMM_SELF, rank == 0 ? "one" : "two", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    mark(rank, "mpi_open");
    if (rank == 0) MPI_File_write_at(file, 0, out, N, MPI_CHAR, MPI_STATUS_IGNORE);
    mark(rank, "mpi_write");
    if (rank == 0) MPI_File_read_at(file, 0, in, N, MPI_CHAR, MPI_STATUS_IGNORE);
    mark(rank, "mpi_read");
    MPI_File_close(&file);
    if (rank == 0 && memcmp(in, out, N) != 0) printf("contents differ\\n");
    mark(rank, "mpi_close");
    snprintf(name, sizeof(name), "posix%d", rank);
    int fd = rank == 0 ? open(name, O_CREAT | O_RDWR | O_TRUNC, 0644) : -1;
    mark(rank, "open");
    if (rank == 0 && write(fd, out, N) != N) abort();
    mark(rank, "write");
    if (rank == 0 && pwrite(fd, out, N / 2, N) != N / 2) abort();
    mark(rank, "pwrite");
    if (rank == 0 && (lseek(fd, 0, SEEK_SET) != 0 || read(fd, in, N) != N)) abort();
    mark(rank, "read");
    if (rank == 0) fsync(fd);
    mark(rank, "fsync");
    if (rank == 0) close(fd);
    mark(rank, "close");
    FILE *stream = rank == 0 ? fopen(name, "r+") : NULL;
    mark(rank, "fopen");
    if (rank == 0 && fwrite(out, 10, N / 10, stream) != N / 10) abort();
    mark(rank, "fwrite");
    if (rank == 0) fclose(stream);
    mark(rank, "fclose");
    MPI_Finalize();
    return 0;
}
"""
MODEL = ["model=striped", "servers=3", "latency=2us", "write_bandwidth=1GB/s", "read_bandwidth=2GB/s", "write_latency=10us",
         "read_latency=20us", "meta_latency=30us"]
STORAGE = [word for text in MODEL for word in ("-p", f"storage.{text}")]
# In nanoseconds: there and back, and the disk.
WRITE, READ, NAME = 4000 + 10000 + 1000000, 4000 + 20000 + 500000, 4000 + 30000
EXPECTED = {"mpi_open": NAME, "mpi_write": WRITE, "mpi_read": READ, "mpi_close": NAME, "open": NAME, "write": WRITE,
            "pwrite": WRITE - 500000, "read": READ, "fsync": 4000 + 10000, "close": NAME, "fopen": NAME,
            "fwrite": WRITE, "fclose": NAME}


def run(program, *args, folder="."):
    pathlib.Path(folder).mkdir(exist_ok=True)
    command = [vrank.WEFT, "run", "-n", "2", "--net", "alphabeta", "-p", "net.alpha=0", "-p", "run.compute=none", *args, "--json", "-o",
               "result.json", "-f", pathlib.Path(program).resolve()]
    done = subprocess.run(command, cwd=folder, text=True, capture_output=True, check=False, timeout=60,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        vrank.complain(f"exit code {done.returncode}", done.stderr)
        return {}, {}
    times = dict(line.split() for line in done.stdout.splitlines() if len(line.split()) == 2)
    return {name: int(value) for name, value in times.items()}, json.loads(
        (pathlib.Path(folder) / "result.json").read_text(encoding="utf-8"))


def main():
    source = pathlib.Path("writes.c")
    source.write_text(PROGRAM, encoding="utf-8")
    program = vrank.build(source)
    if program is None:
        vrank.complain("no program")
        vrank.finish()
    times, first = run(program, *STORAGE)
    for name, wanted in EXPECTED.items():
        if times.get(name) != wanted:
            vrank.complain(f"{name}: {times.get(name)} ns instead of {wanted}")
    if pathlib.Path("one").read_bytes() != b"a" * 1000000 or len(pathlib.Path("posix0").read_bytes()) != 1500000:
        vrank.complain("files have other contents")
    files = first.get("result", {}).get("files", {})
    if files.get("written_bytes") != 3500000 or files.get("read_bytes") != 2000000:
        vrank.complain("bytes", files)
    for more, folder in ((["--sched", "conservative", "--threads", "2"], "a"), (["--sched", "optimistic"], "b")):
        _, other = run(program, *STORAGE, *more, folder=folder)
        if other.get("result", {}).get("digest") != first.get("result", {}).get("digest"):
            vrank.complain(f"{more}: another result", other.get("result"), first.get("result"))
    times, result = run(program)
    if any(times.get(name, 1) != 0 for name in EXPECTED):
        vrank.complain("files take time without a storage model", times)
    if not any("storage.model" in words for words in result.get("warnings", [])):
        vrank.complain("no warning", result.get("warnings"))
    vrank.finish()


main()
