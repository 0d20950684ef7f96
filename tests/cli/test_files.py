# SPDX-License-Identifier: Apache-2.0
"""Operations on files: times to the picosecond against formulas (docs/models/storage.md), results, the
generators, the trace format, and every mistake."""
import json
import math
import pathlib
import re

from weft_cli import check, check_run, finish, parse, run

US, MS, SECOND = 10**6, 10**9, 10**12
MIB = 1 << 20


def settings(**values):
    return [word for name, value in values.items() for word in ("-p", f"{name.replace('__', '.')}={value}")]


def storage(**values):
    return settings(**{f"storage__{name}": value for name, value in {"model": "striped", **values}.items()})


def replay(program, n, *args):
    pathlib.Path("files.weft").write_text(program, encoding="utf-8")
    return parse(check_run(["replay", "gen:text", "-n", str(n), "-p", "gen.file=files.weft", *args, "--json"], 0))


def time_of(program, n, *args):
    return replay(program, n, *args)["result"]["predicted_time_ps"]


def expect(what, found, wanted):
    check(found == wanted, f"{what}: {found} ps, and {wanted} ps by the formula ({found - wanted:+})")


def transfer(size, rate):
    return math.ceil(size * SECOND / rate)


def check_one_writer():
    """2 latency + size / bandwidth of the network + latency of the disk + size / bandwidth of the disk."""
    usual = {"latency": "3us", "write_bandwidth": "2GB/s", "write_latency": "100us", "read_bandwidth": "4GB/s",
             "read_latency": "70us"}
    for size in (1, 4096, 10**6, 10**9):
        formula = 2 * 3 * US + 100 * US + transfer(size, 2 * 10**9)
        expect(f"write {size}", time_of(f"file_write 0 {size}", 1, *storage(**usual)), formula)
        expect(f"read {size}", time_of(f"file_read 0 {size}", 1, *storage(**usual)),
               2 * 3 * US + 70 * US + transfer(size, 4 * 10**9))
        expect(f"write {size}, links", time_of(f"file_write 0 {size}", 1, *storage(
            **usual, node_bandwidth="1GB/s", server_bandwidth="3GB/s")), formula + transfer(size, 10**9))
        expect(f"read {size}, links", time_of(f"file_read 0 {size}", 1, *storage(
            **usual, node_bandwidth="1GB/s", server_bandwidth="3GB/s")),
            2 * 3 * US + 70 * US + transfer(size, 4 * 10**9) + transfer(size, 10**9))
    # A disk is busy for 1 / rate at least; opening and closing go to another server.
    expect("rate", time_of("repeat 10 { file_write 0 8 }", 1, *storage(latency="0", rate=1000)), 10 * MS)
    expect("names", time_of("file_open 0 file_close 0", 1, *storage(latency="2us", meta_latency="50us",
                                                                    meta_rate=1000)), 2 * (4 * US + MS + 50 * US))
    check(time_of("file_write 0 0 file_read 0 0", 1, *storage(**usual)) == 0, "no bytes take no time")


def check_many():
    """n writers on s servers: all disks work all the time; n operations on names one after the other."""
    for ranks, servers, disks in ((8, 1, 1), (8, 4, 1), (24, 3, 4), (64, 8, 2)):
        size = 4 * MIB
        formula = 10 * US + ranks // (servers * disks) * transfer(size, 10**9)
        for per_node in ("1", "4"):
            expect(f"{ranks} writers on {servers} servers", time_of(
                f"file_write rank {size}", ranks, "--ranks-per-node", per_node,
                *storage(servers=servers, disks=disks, write_bandwidth="1GB/s")), formula)
    expect("all stripes", time_of(f"file_write 0 {8 * MIB}", 1, *storage(
        servers=4, disks=2, stripes=0, write_bandwidth="1GB/s")), 10 * US + transfer(MIB, 10**9))
    expect("the bandwidth of all servers", time_of(f"file_write rank {MIB}", 8, *storage(
        servers=4, bandwidth="4GB/s")), 10 * US + 2 * transfer(MIB, 10**9))
    expect("ranks of a node share its link", time_of(f"file_read rank {MIB}", 4, "--ranks-per-node", "4", *storage(
        servers=4, node_bandwidth="1GB/s")), 10 * US + 4 * transfer(MIB, 10**9))
    expect("names", time_of("file_open 0", 30, *storage(meta_rate=1000)), 10 * US + 30 * MS)
    expect("names of several servers", time_of("file_open rank", 30, *storage(meta_rate=1000, meta_servers=3)),
           10 * US + 10 * MS)
    # Requests of at most 1 MiB, one after the other: the network fills while the disk writes.
    expect("requests", time_of(f"file_write 0 {8 * MIB}", 1, *storage(
        request="1MiB", node_bandwidth="2GB/s", write_bandwidth="1GB/s")),
        10 * US + transfer(MIB, 2 * 10**9) + 8 * transfer(MIB, 10**9))


def check_cache():
    """A cache of C bytes takes writes at its bandwidth c while its disk drains it at d: until C c / (c - d) bytes."""
    cache = {"latency": "0", "write_bandwidth": "1GB/s", "cache": "10MB", "cache_bandwidth": "5GB/s"}
    expect("cached", time_of("file_write 0 10MB", 1, *storage(**cache)), transfer(10**7, 5 * 10**9))
    expect("drained", time_of("file_write 0 10MB file_sync 0", 1, *storage(**cache)), transfer(10**7, 10**9))
    for n in (5, 12, 13, 14, 40):
        expect(f"{n} MB", time_of(f"repeat {n} {{ file_write 0 1MB }}", 1, *storage(**cache)),
               max(n * transfer(10**6, 5 * 10**9), (n - 10) * transfer(10**6, 10**9)))
    # What was absorbed is written while the rank computes.
    expect("behind", time_of("file_write 0 10MB compute 20ms file_write 0 10MB", 1, *storage(**cache)),
           20 * MS + 2 * transfer(10**7, 5 * 10**9))
    # A read waits for writes that are not acknowledged, not for the cache; the disk then works longer.
    expect("read", time_of("file_write 0 5MB file_read 0 5MB file_sync 0", 1, *storage(
        **cache, read_bandwidth="1GB/s")), transfer(5 * 10**6, 10**9) * 2)


def check_local():
    local = {"model": "local", "local_write_bandwidth": "1GB/s", "local_read_bandwidth": "2GB/s",
             "local_write_latency": "20us"}
    expect("device", time_of(f"file_open 0 file_write 0 {MIB} file_read 0 {MIB} file_close 0", 1, *storage(**local)),
           transfer(MIB, 10**9) + 20 * US + transfer(MIB, 2 * 10**9))
    expect("alone", time_of(f"file_write 0 {MIB}", 4, *storage(**local)), transfer(MIB, 10**9) + 20 * US)
    expect("shared", time_of(f"file_write 0 {MIB}", 4, "--ranks-per-node", "4", *storage(**local)),
           4 * transfer(MIB, 10**9) + 20 * US)


def check_attached():
    """Servers are the last nodes: requests are messages. A request takes as long as a message does, and so does the answer."""
    net = ["--net", "latency", "--topo", "star:4", "-p", "net.link_latency=1us", "-p", "net.bandwidth=1GB/s"]
    attached = storage(attach="network", write_bandwidth="2GB/s", read_bandwidth="2GB/s")
    there = time_of("if rank == 0 { file_write 0 1MB }", 2, *net, *attached)
    message = time_of("if rank == 0 { send 1 1MB } if rank == 1 { recv 0 1MB }", 2, *net)
    empty = time_of("if rank == 0 { send 1 0 } if rank == 1 { recv 0 0 }", 2, *net)
    expect("attached", there, message + transfer(10**6, 2 * 10**9) + empty)
    both = time_of("if rank == 0 { file_read 0 1MB }", 2, *net, *attached)
    expect("attached read", both, there)
    # Files compete with messages: an incast on the server's link.
    packet = ["--net", "packet", "--topo", "star:6", "-p", "net.bandwidth=1GB/s"]
    alone = time_of("if rank == 0 { file_write 0 1MB }", 4, *packet, *storage(attach="network"))
    four = time_of("file_write rank 1MB", 4, *packet, *storage(attach="network"))
    check(3.5 < four / alone < 4.5, f"four writers share a link: {four / alone} times as long")


def check_results():
    done = replay("file_open rank\nfile_write rank 8MiB\nfile_sync rank\nfile_close rank\nbarrier\nfile_read rank 4MiB",
                  6, "--ranks-per-node", "2", "--record", *storage(servers=2, disks=2, write_bandwidth="1GB/s"))
    files, ranks = done["result"]["files"], done["result"]["ranks"]
    check(files["operations"] == 30, files)
    check(files["written_bytes"] == 6 * 8 * MIB and files["read_bytes"] == 6 * 4 * MIB, files)
    check([one["what"] for one in files["servers"]] == ["data", "data", "names"], files)
    check(sum(one["written_bytes"] for one in files["servers"]) == 6 * 8 * MIB, files)
    check(files["servers"][2]["requests"] == 12, files)
    check(files["load"]["busiest_percent"] >= files["load"]["mean_percent"] > 0, files)
    check(ranks["file_wait_ps"]["max"] > 0, ranks)
    check(done["recording"]["kinds"] == "cosrkf", done["recording"].get("kinds"))
    check(done["critical_path"]["shares"]["file_ps"] > 0, done["critical_path"]["shares"])
    text = check_run(["replay", "gen:ior", "-n", "4", *storage()], 0).stdout
    check("Files" in text and "read at" in text and "for files" in text, text)
    # Without storage files take no time, and the result says so.
    done = run("replay", "gen:ior", "-n", "4", "--json")
    document = parse(done)
    check("file_wait_ps" not in document["result"]["ranks"], "no storage, no time")
    check(any("storage.model" in words for words in document["warnings"]), document.get("warnings"))
    check("storage" not in document["scenario"]["parameters"], "no storage, no parameters")
    done = run("replay", "gen:ring", "-n", "4", *storage(), "--json")
    check("files" not in parse(done)["result"], "no files, no section")


def check_ior():
    rates = {}
    for name, more in (("shared", {}), ("own", {"gen__per_rank": "true"}),
                       ("collective", {"gen__collective": "true", "gen__aggregators": 4})):
        done = parse(check_run(["replay", "gen:ior", "-n", "16", "--json", *settings(
            gen__block="4MiB", gen__transfer="4MiB", gen__segments=2, **more), *storage(
                servers=4, stripes=0, write_bandwidth="500MB/s", read_bandwidth="500MB/s")], 0))
        files = done["result"]["files"]
        check(files["written_bytes"] == files["read_bytes"] == 16 * 2 * 4 * MIB, f"{name}: {files}")
        check(max(files["written_bytes_per_second"], files["read_bytes_per_second"]) <= 2.0e9,
              f"{name} is faster than its disks: {files}")
        rates[name] = files["written_bytes_per_second"]
    check(rates["shared"] > 1.95e9 and rates["own"] > 1.95e9 and rates["collective"] > 1e9, rates)
    done = parse(check_run(["replay", "gen:checkpoint", "-n", "4", "--json", *settings(
        gen__steps=10, gen__every=5, gen__bytes="1MiB", gen__step="1ms", gen__restart="true"),
        *storage(write_bandwidth="1GB/s", read_bandwidth="1GB/s")], 0))
    check(done["result"]["files"]["written_bytes"] == 2 * 4 * MIB, done["result"]["files"])
    check(done["result"]["files"]["read_bytes"] == 4 * MIB, done["result"]["files"])
    regions = {one["name"]: one for one in done["result"]["regions"]}
    check(set(regions) == {"checkpoint", "restart"}, regions)


def check_trace():
    program = ["gen:ior", "-n", "3", *settings(gen__block="1MiB", gen__transfer="256KiB", gen__sync="true")]
    check_run(["gen", *program, "-o", "ior.weft"], 0)
    for more in ([], storage(servers=2, write_bandwidth="1GB/s")):
        direct = parse(check_run(["replay", *program, *more, "--json"], 0))["result"]
        read = parse(check_run(["replay", "ior.weft", *more, "--json"], 0))["result"]
        check(direct["digest"] == read["digest"] and direct["files"] == read["files"], (direct, read))
    facts = check_run(["info", "ior.weft"], 0).stdout
    check("file_write" in facts, facts)
    check_run(["convert", "ior.weft", "copy.weft"], 0)
    done = run("convert", "ior.weft", "ior.goal")
    check(done.returncode == 0 and "operations on files, left out" in done.stderr, "what GOAL leaves out", done)
    done = run("extrapolate", "ior.weft", "copy.weft", "-n", "64", "-o", "more.weft")
    check(done.returncode != 0, "programs with files are not extrapolated", done)


DXT = """# darshan log version: 3.21
# exe: ./app
# nprocs: 3
# run time: 2.5

# DXT, file_id: 1, file_name: /scratch/out
# DXT, rank: 0, hostname: n0
# DXT, write_count: 2, read_count: 0
# Module    Rank  Wt/Rd  Segment          Offset       Length    Start(s)      End(s)
 X_MPIIO       0  write        0               0      4194304      1.0000      1.2000
 X_POSIX       0  write        0               0      4194304      1.0000      1.1000
 X_POSIX       0  write        1         4194304      4194304      1.5000      1.6000  [OST: 3]

# DXT, file_id: 2, file_name: /mnt/bb/own
# DXT, rank: 1, hostname: n1
 X_POSIX       1   read        0             100         1000      0.5000      0.5001
"""


def check_darshan():
    pathlib.Path("app.dxt").write_text(DXT, encoding="utf-8")
    info = check_run(["info", "app.dxt"], 0).stdout
    check("darshan" in info and re.search(r"file_write +2 ", info) and re.search(r"file_read +1 ", info), info)
    # The time between accesses is computing, and that of accesses the model's.
    result = parse(check_run(["replay", "app.dxt", "-n", "3", *storage(latency="0", write_bandwidth="4194304B/s"),
                              "--json"], 0))["result"]
    expect("DXT", result["predicted_time_ps"], SECOND + SECOND + 4 * SECOND // 10 + SECOND)
    check(result["recorded_time_ps"] == 16 * SECOND // 10, result)
    # Names choose the device of the node.
    result = parse(check_run(["replay", "app.dxt", *storage(local_prefix="/mnt/bb"), "--json"], 0))["result"]
    check([one["read_bytes"] for one in result["files"]["servers"]] == [0, 0, 1000], result["files"])
    for old, new, words in (("      1.0000      1.1000", "", "expected: module"), ("   read ", "  fetch ", "write or read"),
                            ("0.5000", "-0.5", "a time is negative"), ("nprocs: 3", "nprocs: 0", "number of processes"),
                            (", file_name: /scratch/out", "", "no file_name"), ("     1000 ", "    -1000 ", "makes no sense"),
                            ("X_POSIX       1", "X_STDIO       1", "expected X_POSIX")):
        pathlib.Path("bad.dxt").write_text(DXT.replace(old, new), encoding="utf-8")
        done = run("info", "bad.dxt")
        check(done.returncode == 3 and words in done.stderr and "line" in done.stderr, f"{new}: {words}", done)
    pathlib.Path("bad.dxt").write_text("# darshan log version: 3.21\n", encoding="utf-8")
    done = run("info", "bad.dxt")
    check(done.returncode == 3 and "DXT_ENABLE_IO_TRACE" in done.stderr, "no accesses", done)


def check_mistakes():
    pathlib.Path("files.weft").write_text("file_write 0 8", encoding="utf-8")
    usual = ["replay", "gen:text", "-n", "4", "-p", "gen.file=files.weft"]
    for wrong, words in (
            (storage(model="tape"), "unknown storage model 'tape'"),
            (storage(servers=0), "storage.servers"),
            (storage(write_bandwidth="0"), "storage.write_bandwidth"),
            (storage(write_latency="-1us"), "storage.write_latency"),
            (storage(stripe="0"), "storage.stripe"),
            (storage(attach="network"), "give --topo"),
            ([*storage(attach="network", servers=9), "--net", "latency", "--topo", "star:8"], "take a larger topology"),
            (storage(servers=65536, disks=65536), "storage.disks"),
            (storage(bandwith="1GB/s"), "storage.bandwidth")):
        done = run(*usual, *wrong)
        check(done.returncode == 2 and words in done.stderr, f"{wrong}: {words}", done)
    for text, words in (("file_write 0 (-1)", "the number of bytes is negative"), ("file_write (-1) 8", "2^31 - 1"),
                        ("file_write 0 8 at (-3)", "the place in the file"), ("file_open", "expected")):
        pathlib.Path("files.weft").write_text(text, encoding="utf-8")
        done = run(*usual, *storage())
        check(done.returncode == 3 and words in done.stderr, f"{text}: {words}", done)
    for wrong, words in (({"transfer": "3MiB"}, "take a size that divides it"), ({"aggregators": 9}, "only 4 ranks"),
                         ({"collective": "true", "per_rank": "true"}, "leave out"),
                         ({"block": "8EiB", "transfer": "8EiB"}, "gen.block")):
        done = run("replay", "gen:ior", "-n", "4", *settings(**{f"gen__{k}": v for k, v in wrong.items()}))
        check(done.returncode == 2 and words in done.stderr, f"{wrong}: {words}", done)
    check(json.loads(check_run(["machine", "show", "bgp", "--json"], 0).stdout), "a machine without storage")


def main():
    check_one_writer()
    check_many()
    check_cache()
    check_local()
    check_attached()
    check_results()
    check_ior()
    check_trace()
    check_darshan()
    check_mistakes()
    finish()


main()
