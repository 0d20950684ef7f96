# SPDX-License-Identifier: Apache-2.0
"""Outputs of benchmarks: read as they are printed, beside simulations of the same; what weft prints
in their form is read back with no error."""
import pathlib
import tempfile

from weft_cli import check, finish, parse
from weft_cli import check_run as check_run_words

NCCL = """# nThread 1 nGpus 8 minBytes 8 maxBytes 134217728 step: 2(factor)
# Using devices
#  Rank  0 Group  0 Pid  10 on  one device  0 [0x14] NVIDIA A100-SXM4-80GB
#  Rank  1 Group  0 Pid  10 on  one device  1 [0x19] NVIDIA A100-SXM4-80GB
#  Rank  2 Group  0 Pid  20 on  two device  0 [0x53] NVIDIA A100-SXM4-80GB
#  Rank  3 Group  0 Pid  20 on  two device  1 [0x58] NVIDIA A100-SXM4-80GB
#
#                                                     out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
0:         8             2     float     sum      -1    34.84    0.00    0.00      0    36.18    0.00    0.00      0
one:12:13 [0] NCCL INFO a line of the library
     1048576        262144     float     sum      -1    67.31   15.58   23.37      0    65.27   16.07   24.10      0
   134217728      33554432     float     sum      -1  1295.41  103.61  155.41      0  1284.21  104.51  156.8      0
# Out of bounds values : 0 OK
"""
OSU = """# OSU MPI Latency Test v7.3
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
1                       1.50
1048576                95.90

# OSU MPI-CUDA Bi-Directional Bandwidth Test v5.6.2
# Size      Bandwidth (MB/s)
1048576             20000.00

# OSU MPI Allreduce Latency Test v5.8
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
8                       4.50              4.40              4.60        1000
"""
IMB = """#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         1.20         0.00
         1024         1000         2.40       426.00

# Benchmarking Alltoall
# #processes = 4
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         4096         1000         9.00        11.00        10.00
"""
NETPIPE = """  0:       1 bytes   5000 times -->      4.75 Mbps in       1.60 usec
  1:       24  B     24999 times -->     583.0 Mbps  in  329.00 nsecs
"""


def check_run(words, code, **more):
    return check_run_words([str(word) for word in words], code, **more)


def curves(path, *words):
    return parse(check_run(["compare", "--measured", str(path), "--machine", "infiniband-hdr", "--net", "loggp", *words, "--json"], 0))


def check_forms(folder):
    """Every form gives the rows that are in it, in its unit."""
    texts = {"nccl": NCCL, "osu": OSU, "imb": IMB, "netpipe": NETPIPE}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    found = curves(folder / "nccl")["curves"]
    check([row["measured"] for row in found[0]["rows"]] == [34.84e-6, 67.31e-6, 1295.41e-6], f"{found}")
    check((found[0]["ranks"], found[0]["benchmark"]) == (4, "allreduce"), f"{found}")
    found = curves(folder / "osu", "-n", "4")["curves"]
    check([(c["benchmark"], c["unit"], c["rows"][-1]["measured"]) for c in found] ==
          [("osu_latency", "s", 95.9e-6), ("osu_bibw", "B/s", 2e10), ("allreduce", "s", 4.5e-6)], f"{found}")
    check_run(["compare", "--measured", folder / "osu", "--machine", "infiniband-hdr"], 2, stderr="line 11.* give --ranks")
    found = curves(folder / "imb")["curves"]
    check([(c["ranks"], len(c["rows"]), round(1e9 * c["rows"][-1]["measured"])) for c in found] == [(2, 1, 2400), (4, 1, 10000)], f"{found}")
    found = curves(folder / "netpipe")["curves"]
    check([row["measured"] for row in found[0]["rows"]] == [1.6e-6, 329e-9], f"{found}")
    errors = curves(folder / "nccl")["errors"]
    check(errors["rows"] == 3 and errors["within_10_percent"] <= errors["within_25_percent"], f"{errors}")


def check_back(folder):
    """What weft prints is read back, with and without the number of ranks."""
    for kind, words in (("allreduce", []), ("reduce_scatter_block", []), ("alltoall", ["--osu"]), ("bcast", ["--osu"])):
        log = folder / f"{kind}.log"
        text = check_run(["coll", "time", kind, "--machine", "h100-rail", "-n", "16", "-b", "64KiB", "-e", "4MiB", "--factor", "8", *words], 0).stdout
        for n in (["-n", "16"], []):
            log.write_text(text if not n or words else text.replace("weft", ""), encoding="utf-8")
            again = parse(check_run(["coll", "time", "--machine", "h100-rail", "--against", log, *n, "--json"], 0))
            check(len(again["curves"][0]["rows"]) == 3 and all(abs(r["off_percent"]) < 0.5 for r in again["curves"][0]["rows"]), f"{kind}: {again}")
    check_run(["coll", "time", "--machine", "h100-rail", "--against", log, "--plot", folder / "p.svg"], 0)
    check("<svg" in (folder / "p.svg").read_text(), "no picture")
    check(check_run(["coll", "--machine", "a100-rail", "-e", "1KiB"], 0).stdout.count("\n") == 7, "one size")


def check_wrong(folder):
    """Other versions, missing columns and other files are refused with the place."""
    def refused(text, words):
        (folder / "bad").write_text(text, encoding="utf-8")
        check_run(["coll", "time", "--machine", "a100-rail", "--against", folder / "bad"], 3, stderr=words)
    refused("# bytes N type op time algbw busbw res\n1048576 262144 float sum 2.059 0.51 0.51 N/A\n", "line 1: .*needs the columns size, time")
    refused(NCCL.replace("busbw", "other"), "line 9: .*needs the columns")
    refused(NCCL.replace("    67.31   15.58", ""), "line 13: size, time and algbw do not fit together")
    for number in "9" * 25, "inf", "nan", "-1":
        refused(OSU.replace("95.90", number), "line 5: size and value must be numbers")
    refused(NCCL.replace("15.58", "many"), "line 13: time, algbw and busbw must be numbers")
    refused(NCCL[:NCCL.index("67.31") + 5], "line 13: the line has fewer columns than its header")
    refused("hello\n", "no table of nccl-tests")
    refused("", "no table of nccl-tests")
    refused("# OSU MPI Latency Test v7.3\n# Size Latency (us)\n1\n", "line 3: the line has fewer columns")
    (folder / "s").write_text("Triad:          20123.4     0.1     0.1      0.1\n", encoding="utf-8")
    check_run(["coll", "time", "--machine", "a100-rail", "--against", folder / "s"], 3, stderr="no times of messages or collectives")
    check_run(["coll", "time", "--machine", "a100-rail", "--against", folder / "none"], 3, stderr="none")
    check_run(["coll", "time", "barrier", "--machine", "a100-rail"], 2, stderr="barrier has no size")
    check_run(["coll", "time"], 2, stderr="a machine is missing")
    check_run(["coll", "time", "--machine", "a100-rail", "--plot", "x.svg"], 2, stderr="needs --against")
    check_run(["compare", "--measured", folder / "nccl", "a.json"], 2, stderr="takes no result documents")


def check_fit(folder):
    """A machine file from logs gives what was measured, and says what is missing."""
    rows = [(1 << i, 1.5 + (1 << i) / 10000 + (4 if i > 14 else 0)) for i in range(0, 23)]
    latency = "# OSU MPI Latency Test v7.3\n# Size  Latency (us)\n" + "".join(f"{b}  {t:.2f}\n" for b, t in rows)
    stream = "# OSU MPI Bandwidth Test v7.3\n# Size  Bandwidth (MB/s)\n1  2.50\n1024 2000.00\n4194304 11900.00\n"
    (folder / "lat").write_text(latency, encoding="utf-8")
    (folder / "bw").write_text(stream, encoding="utf-8")
    machine = folder / "m.yaml"
    fitted = parse(check_run(["calibrate", "-o", machine, "--from", folder / "lat", folder / "bw", "--json"], 0))
    values = {entry["key"]: entry["value"] for entry in fitted["parameters"]}
    check(values["net.bandwidth"] == "11.9GB/s" and values["net.o"] == "400ns" and values["mpi.eager_max"] == "16384", f"{values}")
    check("STREAM" in str(fitted["missing"]), f"{fitted['missing']}")
    again = parse(check_run(["compare", "--measured", folder / "lat", "--machine", machine, "--json"], 0))
    check(again["errors"]["within_10_percent"] >= 90, f"{again['errors']}: {again['curves'][0]['rows']}")
    check_run(["machine", "show", machine], 0, stdout="Origin of the figures: measured [5-9], published 0")
    check_run(["calibrate", "-o", folder / "l.yaml", "--from", folder / "lat"], 0, stdout="net.o, net.g +needs osu_bw")
    # Links of 300 GB/s, as weft prints them.
    log = check_run(["coll", "time", "allgather", "-n", "8", "--machine", "a100-rail", "-p", "mpi.nccl_nvlink=300GB/s"], 0).stdout
    (folder / "gpu").write_text(log, encoding="utf-8")
    values = {entry["key"]: entry["value"] for entry in parse(check_run(
        ["calibrate", "-o", folder / "g.yaml", "--from", folder / "gpu", "--json"], 0))["parameters"]}
    check(values["mpi.nccl_gpu"] == "ampere" and abs(int(values["mpi.nccl_nvlink"][:-4]) / 3e5 - 1) < 0.03, f"{values}")
    check_run(["calibrate", "-o", folder / "g.yaml", "--from", folder / "gpu"], 2, stderr="--force replaces it")
    check_run(["calibrate", "-o", folder / "x.yaml", "--from", "/etc/hostname"], 3, stderr="no table of nccl-tests")
    check(not (folder / "x.yaml").exists(), "a file without contents")


def check_runs(folder):
    """Predicted runs beside measured times."""
    check_run(["replay", "gen:ring", "-n", "4", "-q", "-o", folder / "r.json"], 0)
    (folder / "runs.csv").write_text(f"result,time\n{folder}/r.json,100us\n", encoding="utf-8")
    check_run(["compare", "--measured", folder / "runs.csv"], 0, stdout="r.json .* 0.000100 .* %\n1 runs: mean error")
    for text, words in (("a,b\n", "first line must be result,time"), (f"result,time\n{folder}/r.json,soon\n", "line 2: 'soon' is no time"),
                        ("result,time\nalone\n", "line 2: expected result,time")):
        (folder / "runs.csv").write_text(text, encoding="utf-8")
        check_run(["compare", "--measured", folder / "runs.csv"], 3, stderr=words)


def check_large(folder):
    """A row of 32 GiB, which is 16 TiB of messages, does not take longer than others; on a network whose times are a
    straight line it is what a simulation gives."""
    (folder / "big").write_text("# OSU MPI Bandwidth Test v7.3\n# Size  Bandwidth (MB/s)\n1048576  12000.00\n34359738368 12300.00\n",
                                encoding="utf-8")
    words = ["compare", "--measured", folder / "big", "--machine", "ai-cluster"]
    rows = parse(check_run([*words, "--json"], 0))["curves"][0]["rows"]
    check([row.get("continued") for row in rows] == [None, True], f"{rows}")
    check(abs(rows[1]["predicted"] / rows[0]["predicted"] - 1) < 0.02, f"{rows}")
    check_run(words, 0, stdout=r"34359738368 .*% \*\n\* not simulated: in a straight line from the times of 8388608 and 16777216 bytes")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_forms(folder)
        check_back(folder)
        check_wrong(folder)
        check_runs(folder)
        check_large(folder)
        check_fit(folder)
    finish()


main()
