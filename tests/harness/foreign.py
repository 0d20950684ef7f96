# SPDX-License-Identifier: Apache-2.0
"""Writes small traces in foreign formats, for tests and as seeds for the fuzz targets.

Run as a program it writes the seeds: foreign.py tests/fuzz/corpus
"""
import pathlib
import struct
import sys

DUMPI_MAGIC = bytes([0xFF, 0xAA, 0xDD]) + b"DUMPI"
FUNCTIONS = 291
# Bytes of the datatypes 0 to 29: those of C, then two of a program.
SIZES = [0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 0, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20,
         4, 100]
INT, DOUBLE, VECTOR = 9, 14, 29
WORLD, SELF = 2, 3
ANY = -1


class Status:
    """What a call found: a message of so many bytes."""

    def __init__(self, source, tag, size=0, cancelled=0):
        self.bytes = struct.pack(">iiBBi", size, source, cancelled, 0, tag)


class Dumpi:
    """A rank's file. Times are nanoseconds: each call takes 1000 and follows 500 later."""

    def __init__(self, version=(13, 0, 0), cpu=True, wall=True):
        self.version, self.cpu, self.wall = version, cpu, wall
        self.body = struct.pack(">II", 0, 0)
        self.now = 1_000_000

    def call(self, function, layout="", *values, statuses=None, gap=500, takes=1000, thread=0):
        """Adds a record. `layout` has a letter of struct for each value, or I, H for arrays
        of i32 and i16, c for texts, C for a list of texts, s for where the statuses are."""
        mask = 0x43 | (4 if self.cpu else 0) | (8 if self.wall else 0)
        begin, end = self.now + gap, self.now + gap + takes
        self.now = end
        data = struct.pack(">HBh", function, mask, thread)
        for _ in range(self.cpu + self.wall):
            for time in (begin, end):
                data += struct.pack(">HI", time // 10**9 % 65536, time % 10**9)
        rest = list(values)
        for letter in layout:
            if letter == "s":
                data += struct.pack(">i", len(statuses or []))
                data += b"".join(status.bytes for status in statuses or [])
                continue
            value = rest.pop(0)
            if letter in "IH":
                item = "i" if letter == "I" else "h"
                data += struct.pack(">i", len(value)) + struct.pack(f">{len(value)}{item}", *value)
            elif letter == "c":
                data += struct.pack(">i", len(value)) + value
            elif letter == "C":
                data += struct.pack(">i", len(value))
                data += b"".join(struct.pack(">i", len(text)) + text for text in value)
            else:
                data += struct.pack(">" + letter, value)
        assert not rest
        self.body += data
        return self

    def finish(self, sizes=None, ignored=0):
        """The whole file."""
        sizes = SIZES if sizes is None else sizes
        data = DUMPI_MAGIC + self.body + struct.pack(">H", 293)
        places = {"body": 8, "header": len(data)}
        data += bytes(self.version) + struct.pack(">Q", 1_700_000_000)
        data += struct.pack(">H", 4) + b"host" + struct.pack(">H", 4) + b"user" + bytes(8)
        places["footer"] = len(data)
        counts = [0] * (FUNCTIONS - 1) + [ignored]
        data += struct.pack(">Q", 0xF007FEE7) + struct.pack(f">{FUNCTIONS}I", *counts) * 2
        data += struct.pack(">I", 0)
        places["perf"] = len(data)
        data += struct.pack(">I", 0)
        places["sizes"] = len(data)
        data += struct.pack(">I", len(sizes)) + struct.pack(f">{len(sizes)}i", *sizes)
        places["addr"] = len(data)
        data += struct.pack(">I", 0)
        return data + DUMPI_MAGIC + struct.pack(
            ">7Q", places["sizes"], places["addr"], places["perf"], places["header"],
            places["body"], places["footer"], 0)


def write_dumpi(directory, ranks, meta=True, prefix="t"):
    """The files of a trace: `ranks` are whole files."""
    directory = pathlib.Path(directory)
    directory.mkdir(exist_ok=True)
    for rank, data in enumerate(ranks):
        (directory / f"{prefix}-{rank:04}.bin").write_bytes(data)
    if meta:
        (directory / f"{prefix}.meta").write_text(
            f"hostname=host\nnumprocs={len(ranks)}\nusername=user\nstartime=1\n"
            "fileprefix=elsewhere\nversion=13\nsubversion=0\nsubsubversion=0\n")
    return directory


def dumpi_exchange(rank):
    """Two ranks that exchange messages in many ways, and then call collectives."""
    other = 1 - rank
    trace = Dumpi()
    trace.call(124, "C", [b"program", b"x"])
    trace.call(82, "hi", WORLD, rank).call(81, "hi", WORLD, 2)
    # An open irecv, two isends with one name, a waitall.
    trace.call(12, "ihiihi", 10, INT, ANY, ANY, WORLD, 2)
    trace.call(8, "ihiihi", 10, INT, other, 7, WORLD, 9)
    trace.call(8, "ihiihi", 1, DOUBLE, other, 8, WORLD, 9)
    trace.call(1, "ihiihs", 1, DOUBLE, other, 8, WORLD, statuses=[Status(other, 8, 8)])
    trace.call(18, "iIs", 3, [2, 9, 9],
               statuses=[Status(other, 7, 40), Status(-5, -5), Status(-5, -5)])
    # Waitany, testsome and a test that finds nothing.
    trace.call(12, "ihiihi", 1, INT, other, 1, WORLD, 2)
    trace.call(14, "iis", 2, 0)
    trace.call(0, "ihiih", 1, INT, other, 1, WORLD)
    trace.call(16, "iIis", 2, [1, 2], 1, statuses=[Status(other, 1, 4)])
    trace.call(12, "ihiihi", 1, VECTOR, other, 2, WORLD, 3)
    trace.call(4 if rank == 0 else 5, "ihiih", 1, VECTOR, other, 2, WORLD)
    trace.call(21, "iIiIs", 1, [3], 1, [0], statuses=[Status(other, 2, 100)])
    # Persistent ones.
    trace.call(30, "ihiihi", 4, INT, other, 3, WORLD, 4)
    trace.call(26, "ihiihi", 4, INT, other, 3, WORLD, 5)
    for _ in range(2):
        trace.call(32, "iI", 2, [4, 5])
        trace.call(18, "iIs", 2, [4, 5], statuses=[])
    trace.call(15, "i", 4).call(15, "i", 5)
    # A receive that is cancelled, a probe, sendrecv, nobody.
    trace.call(12, "ihiihi", 1, INT, other, 99, WORLD, 6)
    trace.call(24, "i", 6).call(13, "is", 6, statuses=[Status(-1, -1, 0, 1)])
    trace.call(33, "ihiiihiihs", 2, INT, other, 4, 2, INT, other, ANY, WORLD,
               statuses=[Status(other, 4, 8)])
    trace.call(0, "ihiih", 1, INT, -1, 5, WORLD)
    trace.call(8, "ihiihi", 3, INT, other, 6, WORLD, 2)
    trace.call(23, "iihs", ANY, 6, WORLD, statuses=[Status(other, 6, 12)])
    trace.call(22, "iihis", other, 77, WORLD, 0)
    trace.call(1, "ihiihs", 3, INT, other, 6, WORLD, statuses=[])
    trace.call(13, "is", 2)
    # Collectives.
    trace.call(52, "h", WORLD)
    trace.call(53, "ihih", 3, INT, 0, WORLD)
    trace.call(54, "iihih" + ("ih" if rank == 0 else ""), rank, 2, INT, 0, WORLD,
               *([2, INT] if rank == 0 else []))
    trace.call(55, "iiihih" + ("II" if rank == 0 else "") + "h", rank, 2, 1 + rank, INT, 0, WORLD,
               *([[1, 2], [0, 1]] if rank == 0 else []), INT)
    trace.call(61, "iIIhIIhh", 2, [1 + 2 * rank, 2 + 2 * rank], [0, 0], INT,
               [1 + rank, 3 + rank], [0, 0], INT, WORLD)
    trace.call(65, "ihBh", 5, DOUBLE, 3, WORLD)
    trace.call(66, "iIhBh", 2, [3, 4], INT, 3, WORLD)
    trace.call(155, "iIIHIIHh", 2, [1, 1], [0, 0], [INT, INT], [1, 1], [0, 0], [INT, INT], WORLD)
    # A window, and a call that is nothing but a call.
    trace.call(145, "iihhh", 64, 1, 0, WORLD, 2)
    trace.call(143, "ihiiihh", 2, INT, other, 0, 2, INT, 2).call(146, "Bh", 0, 2)
    trace.call(149, "BiBh", 1, other, 0, 2).call(143, "ihiiihh", 1, INT, other, 0, 1, INT, 2)
    trace.call(153, "ih", other, 2)
    trace.call(147, "h", 2)
    trace.call(114, "ci", b"host", 4)
    return trace.call(125)


def dumpi_communicators(rank):
    """Four ranks: dup, split with keys that turn the order round, a group, a grid and its rows,
    an intercommunicator, its merge. Each communicator is used."""
    trace = Dumpi()
    trace.call(171, "CBB", [b"p"], 0, 0)
    trace.call(84, "hh", WORLD, 4).call(52, "h", 4)
    # Even and odd ranks, the last one first: local numbers are the same for both.
    trace.call(86, "hiih", WORLD, rank % 2, -rank, 5)
    trace.call(65, "ihBh", 1, INT, 3, 5)
    # Ranks 1 to 3 as a group; rank 0 gets none.
    trace.call(72, "hh", WORLD, 3).call(77, "hiIh", 3, 1, [0], 4)
    trace.call(85, "hhh", WORLD, 4, 6 if rank > 0 else 1)
    if rank > 0:
        trace.call(53, "ihih", 1, DOUBLE, 0, 6)
    # 2 x 2, and its rows.
    trace.call(99, "hiIIih", WORLD, 2, [2, 2], [0, 0], 0, 7)
    trace.call(111, "ihIh", 2, 7, [0, 1], 8)
    trace.call(65, "ihBh", 2, INT, 3, 8)
    # Nobody's color.
    trace.call(86, "hiih", WORLD, -32766 if rank == 3 else 0, 0, 1 if rank == 3 else 9)
    if rank != 3:
        trace.call(52, "h", 9)
    # Rows talk to each other: row 0 to row 1, each by its ranks of the other.
    trace.call(91, "hihiih", 8, 0, WORLD, 2 if rank < 2 else 0, 5, 10)
    if rank < 2:
        trace.call(0, "ihiih", 1, INT, 1 - rank, 3, 10)
    else:
        trace.call(1, "ihiihs", 1, INT, 3 - rank, 3, 10, statuses=[Status(3 - rank, 3, 4)])
    trace.call(52, "h", 10)
    trace.call(92, "hih", 10, 0 if rank < 2 else 1, 11)
    trace.call(62, "ihBih", 1, INT, 3, 3, 11)
    trace.call(65, "ihBh", 1, INT, 3, SELF)
    trace.call(87, "h", 5)
    # A communicator whose making nobody recorded.
    trace.call(52, "h", 20)
    return trace.call(125)


# ---- CLOG2 ----

CLOG2_STATES = ["MPI_Send", "MPI_Recv", "MPI_Irecv", "MPI_Wait", "MPI_Barrier", "MPI_Bcast",
                "MPI_Isend", "MPI_Waitall", "MPI_Sendrecv", "solve", "MPE_Irecv_waited"]
SEND, RECV = -101, -102


class Clog2:
    """A log. Each record is a microsecond after the one before."""

    def __init__(self, ranks, version=b"CLOG-02.44", big=True, block=512, finished=True):
        self.order, self.block, self.ticks = ">" if big else "<", block, 0
        values = [("is_big_endian=", "TRUE " if big else "FALSE"),
                  ("is_finalzed=", "TRUE " if finished else "FALSE"), ("block_size=", block),
                  ("num_buffered_blocks=", 128), ("max_comm_world_size=", ranks),
                  ("max_thread_count=", 1)]
        head = version + b"\0" + b"".join(f"{k}\0{v}\0".encode() for k, v in values)
        self.blocks, self.now = [], b""
        self.head = head.ljust(1024, b"\0")
        for rank in range(ranks):
            self.member(0, 0, rank, rank)
            self.member(1, 1 + rank, 0, rank)

    def record(self, kind, body, comm=0, rank=0):
        data = struct.pack(self.order + "diiii", self.ticks * 1e-6, comm, rank, 0, kind) + body
        self.ticks += 1
        if len(self.now) + len(data) > self.block - 24:
            end = struct.pack(self.order + "diiii", 0, 0, 0, 0, 1)
            self.blocks.append((self.now + end).ljust(self.block, b"\0"))
            self.now = b""
        self.now += data
        return self

    def member(self, kind, comm, rank, world):
        body = struct.pack(self.order + "iiii", kind, comm, rank, world) + bytes(32)
        return self.record(9, body, 0, world)

    def event(self, rank, name, comm=0, end=False):
        number = 2 * CLOG2_STATES.index(name) + end
        return self.record(5, struct.pack(self.order + "ii", number, 0), comm, rank)

    def message(self, rank, kind, peer, tag, size, comm=0, other=None):
        of = comm if other is None else other
        body = struct.pack(self.order + "iiiiii", kind, of, peer, tag, size, 0)
        return self.record(7, body, comm, rank)

    def call(self, rank, name, *messages, comm=0, other=None):
        """The communicator of the peers, if it is not that of the rank, is that of the other
        group of two."""
        self.event(rank, name, comm)
        for message in messages:
            self.message(rank, *message, comm=comm, other=other)
        return self.event(rank, name, comm, True)

    def finish(self):
        for number, name in enumerate(CLOG2_STATES):
            body = struct.pack(self.order + "iiii", number, 2 * number, 2 * number + 1, 0)
            self.record(2, body + bytes(24) + name.encode().ljust(32, b"\0") + bytes(40))
        end = struct.pack(self.order + "diiii", 1e300, 0, 0, 0, 0)
        last = (self.now + end).ljust(self.block, b"\0")
        return self.head + b"".join(self.blocks) + last


def clog2_exchange(**options):
    """Two ranks: irecv, send and wait; isends and waitall; sendrecv; a collective; a region."""
    log = Clog2(2, **options)
    for rank in (0, 1):
        log.event(rank, "solve")
        log.call(rank, "MPI_Irecv")
        log.call(rank, "MPI_Send", (SEND, 1 - rank, 5, 100 + rank))
    for rank in (0, 1):
        log.call(rank, "MPI_Wait", (RECV, 1 - rank, 5, 101 - rank))
        log.event(rank, "solve", end=True)
        log.call(rank, "MPI_Bcast")
        log.call(rank, "MPI_Isend", (SEND, 1 - rank, 6, 8))
    for rank in (0, 1):
        log.call(rank, "MPI_Recv", (RECV, 1 - rank, 6, 8))
        log.call(rank, "MPI_Waitall")
        log.call(rank, "MPI_Sendrecv", (SEND, 1 - rank, 7, 24), (RECV, 1 - rank, 7, 24))
        log.call(rank, "MPI_Barrier")
    return log.finish()


def clog2_between():
    """Four ranks in two groups, 10 and 11, and a communicator between them, as MPE logs it: of
    the other group a rank knows nothing but the number."""
    log = Clog2(4)
    for world in range(4):
        mine, other, rank = 10 + world // 2, 11 - world // 2, world % 2
        log.member(100, mine, rank, world)
        log.member(1000, 12 + world // 2, rank, world)
        log.member(101, mine, rank, world)
        log.member(102, other, -1, world)
    for world in (0, 1):
        log.call(world, "MPI_Send", (SEND, 1 - world, 5, 100 + world), comm=10, other=11)
    for world in (2, 3):
        rank = world % 2
        log.call(rank, "MPI_Recv", (RECV, 1 - rank, 5, 101 - rank), comm=11, other=10)
        log.call(rank, "MPI_Barrier", comm=11)
    return log.finish()


TI_ALL = """0 init
1 init
0 compute 1e6
0 send 1 4 1e3
1 recv 0 4 1e3
0 isend 1 5 10 0
1 irecv 0 5 10 0
1 test 0 1 5
1 wait 0 1 5
0 waitall
0 sendRecv 3 1 4 1 1 1
1 sendRecv 4 0 3 0 1 1
"""
TI_COLLECTIVES = """{r} sleep 1e-3
{r} location file.c 17
{r} comm_size 2
{r} barrier
{r} bcast 100
{r} bcast 100 1 0
{r} reduce 10 5e3 0 1
{r} allreduce 10 5e3
{r} scan 3 0
{r} exscan 3 0
{r} gather 5 5 1 0 0
{r} scatter 5 5 1
{r} allgather 5 5
{r} alltoall 5 5 1 1
{r} gatherv 5 5 5 1
{r} allgatherv 5 5 5 1 1 0 5
{r} scatterv 5 5 5 0
{r} reducescatter 3 4 1e2
{r} alltoallv 10 5 5 10 5 5
{r} finalize
"""


def ti_all():
    return TI_ALL + "".join(TI_COLLECTIVES.format(r=rank) for rank in (0, 1))


def allprof(rank, n):
    """Invented calls of a rank in liballprof's form: a ring, waits, collectives, a test."""
    left, right, comm = (rank - 1) % n, (rank + 1) % n, f"1140850688,{rank},{n}"
    lines = ["# a comment", "# Init clockdiff: 0.0", "MPI_Init:-:7:8:200"]
    for i in range(2):
        now = 1000 * (i + 1)
        lines += [f"MPI_Irecv:{now}.50:0x7f00:100:1275070475,8:{left}:5:{comm}:4096:{now + 1}",
                  f"MPI_Isend:{now + 2}:0x7f00:100:1275070475,8:{right}:5:{comm}:4104:{now + 3}",
                  f"MPI_Test:{now + 4}:4096:0x10:0x20:{now + 5}",
                  f"MPI_Waitall:{now + 10}:2:4096:0x30:{now + 20}",
                  f"MPI_Sendrecv:{now + 30}:1:3:2,4:{right}:1:9:3:2,4:{left}:1:{comm}:8:{now + 40}",
                  f"MPI_Allreduce:{now + 50}:1:2:10:2,8:0:{comm}:{now + 60}",
                  f"MPI_Bcast:{now + 70}:1:7:2,1:1:{comm}:{now + 80}",
                  f"MPI_Barrier:{now + 90}:77,0,1:{now + 91}"]
    return "\n".join([*lines, "MPI_Finalize:9000:-", ""]).encode()


# Invented: two tasks, a message by MPI_Send and MPI_Recv, one by MPI_Isend, MPI_Irecv and waits, a
# reduction with its sizes but no communicator, a collective without sizes.
PARAVER = """#Paraver (01/02/2003 at 04:05):100000_ns:1(2):1:2(1:1,1:1),1
c:1:1:2:1:2
1:1:1:1:1:0:1000:1
1:2:1:2:1:0:2000:1
2:1:1:1:1:1000:50000001:1
3:1:1:1:1:1000:1100:2:1:2:1:2000:2500:4096:7
2:1:1:1:1:1500:50000001:0
2:2:1:2:1:2000:50000001:2
2:2:1:2:1:2500:50000001:0
2:1:1:1:1:3000:50000001:4
2:1:1:1:1:3100:50000001:0
2:2:1:2:1:3500:50000001:3
3:2:1:2:1:3500:3500:1:1:1:1:3000:5000:100:8
2:2:1:2:1:3600:50000001:0
2:2:1:2:1:4000:50000001:5
2:2:1:2:1:4100:50000001:0
2:1:1:1:1:4500:50000001:5
2:1:1:1:1:5000:50000001:0
2:1:1:1:1:6000:50000002:10:50100001:64:50100002:64
2:2:1:2:1:6000:50000002:10:50100001:64:50100002:64
2:1:1:1:1:7000:50000002:0
2:2:1:2:1:7000:50000002:0
2:1:1:1:1:8000:50000002:12
2:2:1:2:1:8000:50000002:12
2:1:1:1:1:9000:50000002:0
2:2:1:2:1:9000:50000002:0
1:1:1:1:1:9000:10000:1
"""


class Extrae:
    """Invented calls of four tasks, written as Extrae's merger writes them (paraver_generator.c and
    mpi_prv_semantics.c of version 4): each collective has its sizes, its communicator, and on the
    root alone a flag. A reduction has its bytes as sent, or on the root as received; a broadcast
    the other way round. The flag of gathers and scatters compares the root's rank in the
    communicator with the rank in the world, as Extrae does."""
    NAMES = {"MPI_Init": (3, 31), "MPI_Finalize": (3, 32), "MPI_Comm_split": (3, 23), "MPI_Bcast": (2, 7), "MPI_Barrier": (2, 8),
             "MPI_Reduce": (2, 9), "MPI_Allreduce": (2, 10), "MPI_Alltoall": (2, 11), "MPI_Alltoallv": (2, 12), "MPI_Gather": (2, 13),
             "MPI_Scatter": (2, 15), "MPI_Allgather": (2, 17), "MPI_Allgatherv": (2, 18), "MPI_Iallreduce": (2, 155)}
    COMMS = {1: [0, 1, 2, 3], 2: [0], 3: [1], 4: [2], 5: [3], 6: [2, 0], 7: [1, 3]}  # 6: by descending keys

    def __init__(self):
        self.lines, self.now = [], [0] * 4

    def call(self, task, name, facts="", takes=1000, gap=500):
        kind, value = self.NAMES[name]
        begin = self.now[task] + gap
        self.now[task] = begin + takes
        head = f"2:{task + 1}:1:{task + 1}:1:"
        self.lines += [(begin, f"{head}{begin}:{50000000 + kind}:{value}{facts}"),
                       (begin + takes, f"{head}{begin + takes}:{50000000 + kind}:0:42000050:1234")]

    def coll(self, name, comm, sent, received, root=None):
        """A collective of a communicator. `sent` and `received` are what a member of this place has."""
        for place, task in enumerate(self.COMMS.get(comm, range(4))):
            flagged = (task if name in ("MPI_Gather", "MPI_Scatter") else place) == root
            facts = f":50100001:{sent(place)}:50100002:{received(place)}:50100004:{comm}"
            self.call(task, name, facts + (":50100003:1" if flagged else ""))

    def each(self, name, facts="", **options):
        for task in range(4):
            self.call(task, name, facts, **options)

    def text(self):
        head = f"#Paraver (18/11/2026 at 20:00):{max(self.now)}_ns:2(2,2):1:4(1:1,1:1,1:2,1:2),{len(self.COMMS)}\n"
        for number, tasks in self.COMMS.items():
            head += f"c:1:{number}:{len(tasks)}:" + ":".join(str(task + 1) for task in tasks) + "\n"
        head += "i:1:8:6:0:7:0\n"
        return head + "".join(f"{line}\n" for _, line in sorted(self.lines, key=lambda item: item[0]))


def extrae():
    trace = Extrae()
    trace.each("MPI_Init", ":40000065:17:40000066:16:40000067:0", gap=0, takes=7000)
    trace.coll("MPI_Bcast", 1, lambda i: 800 if i == 2 else 0, lambda i: 0 if i == 2 else 800, 2)
    trace.each("MPI_Comm_split")
    for root in (1, 0):
        for comm in (6, 7):
            trace.coll("MPI_Reduce", comm, lambda i: 0 if i == root else 64, lambda i: 64 if i == root else 0, root)
    trace.coll("MPI_Gather", 6, lambda i: 40, lambda i: 80 if i == 1 else 0, 1)
    trace.coll("MPI_Scatter", 7, lambda i: 48 if i == 0 else 0, lambda i: 24, 0)
    trace.coll("MPI_Alltoall", 1, lambda i: 10, lambda i: 40)
    trace.coll("MPI_Allgatherv", 7, lambda i: 20 + 20 * i, lambda i: 60)
    trace.coll("MPI_Alltoallv", 1, lambda i: 100, lambda i: 100)
    trace.coll("MPI_Allgather", 6, lambda i: 0, lambda i: 30)
    for comm in (2, 3, 4, 5, 7):
        trace.coll("MPI_Barrier", comm, lambda i: 0, lambda i: 0)
    trace.coll("MPI_Allreduce", 1, lambda i: 8, lambda i: 8)
    trace.each("MPI_Finalize")
    return trace


def write_allprof(directory, n):
    directory = pathlib.Path(directory)
    directory.mkdir(exist_ok=True)
    for rank in range(n):
        (directory / f"pmpi-trace-rank-{rank}.txt").write_bytes(allprof(rank, n))
    return str(directory)


def seeds():
    """Names and bytes of the seeds."""
    yield "paraver/extrae", PARAVER.encode()
    yield "paraver/collectives", extrae().text().encode()
    yield "paraver/truncated", PARAVER.encode()[:500]
    yield "allprof/ring", allprof(0, 2)
    yield "allprof/truncated", allprof(1, 2)[:300]
    yield "dumpi/exchange", dumpi_exchange(0).finish()
    yield "dumpi/exchange1", dumpi_exchange(1).finish()
    yield "dumpi/communicators", dumpi_communicators(1).finish()
    yield "dumpi/old", Dumpi((0, 6, 1)).call(125).finish()
    yield "dumpi/truncated", dumpi_exchange(0).finish()[:700]
    yield "clog2/exchange", clog2_exchange()
    yield "clog2/little", clog2_exchange(big=False)
    yield "clog2/between", clog2_between()
    yield "clog2/truncated", clog2_exchange()[:1800]
    yield "ti/all", ti_all().encode()
    yield "ti/messages", TI_ALL.encode()
    yield "ti/truncated", ti_all().encode()[:333]


def main():
    for name, data in seeds():
        path = pathlib.Path(sys.argv[1]) / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)


if __name__ == "__main__":
    main()
