# SPDX-License-Identifier: Apache-2.0
"""Writes small traces of task graphs in foreign formats, for tests and as seeds for the fuzz
targets.

Run as a program it writes the seeds: foreign_graphs.py tests/fuzz/corpus
"""
import pathlib
import struct
import sys

import foreign_chakra

# magic; version, sizes of char, short, int, long, int128; order; sizes and format of floats
MACHINE = bytes([0x10, 0xEA, 0xBD, 0xF9, 1, 1, 2, 4, 8, 16, 1, 4, 8, 1, 1, 8])
BIG_MACHINE = MACHINE[:10] + bytes([0, 4, 8, 0, 1, 8])


class Log:
    """A log of BigSim: `messages` are (number, node, seconds behind the start, bytes)."""

    def __init__(self, name="user_code", takes=1e-6, by=None, messages=(), before=(), flags=0):
        self.name, self.takes, self.by, self.flags = name, takes, by or (-1, -1), flags
        self.messages, self.before = messages, before

    def pack(self, number, order, version=6):
        data = struct.pack(order + "4i", 0, number, *self.by)
        data += struct.pack(order + "HI", 0, 0) if version >= 6 else b""
        data += struct.pack(order + "h", 0) if version >= 4 else b""
        start = number * 1e-3
        data += struct.pack(order + "5d", start, start, start, self.takes, start + self.takes)
        data += struct.pack("b20s", self.flags, self.name.encode()[:19])
        data += struct.pack(order + "4i", 1, 2, 3, 4)[:0 if version < 2 else 12 if version == 2
                                                      else 16]
        data += struct.pack(order + "i", len(self.messages))
        for message, node, after, size in self.messages:
            data += struct.pack(order + "iiddhi", message, node, start + after, 0, -1, size)
            data += struct.pack(order + "i", 1) if version > 0 else b""
        # An event with an index and one with a text, which mean nothing.
        data += struct.pack(order + "ibdi", 2, 1, 0.5, 7) + struct.pack(order + "bdi3s", 2, 0.5, 3,
                                                                       b"hi\0")
        data += struct.pack(order + f"i{len(self.before)}i", len(self.before), *self.before)
        return data + struct.pack(order + "i", 0)


def bigsim(pes, files=1, order="<", version=6, threads=1):
    """The bytes of bgTrace and of the files behind it; `pes` are lists of logs."""
    machine = MACHINE if order == "<" else BIG_MACHINE
    nodes = len(pes) // threads
    summary = machine + struct.pack(order + "9i", len(pes), nodes, 1, 1, 1, threads, 0, 2, files)
    summary += struct.pack(order + "2i", version, 1) if version > 0 else b""
    out = [summary]
    for number in range(files):
        mine = [pe for pe in range(len(pes)) if pe // threads % files == number]
        body, offsets = b"", []
        for pe in mine:
            offsets.append(20 + 4 * len(mine) + len(body))
            body += struct.pack(order + "i", len(pes[pe]))
            body += b"".join(log.pack(i, order, version) for i, log in enumerate(pes[pe]))
        out.append(machine + struct.pack(order + f"i{len(mine)}i", len(mine), *offsets) + body)
    return out


def bigsim_example():
    """PE 0 works, starts the simulation on all, which answer it."""
    # Numbers of messages count in a file: the answers of PEs of one file differ.
    first = [Log("setup", 5e-6), Log("GroupReduce", 1e-6, before=[0], flags=1,
                                     messages=[(1, -1, 5e-7, 64)]),
             Log("start-broadcast", 1e-6, by=(0, 1)), Log(before=[2], takes=4e-6)]
    first += [Log("msgep", by=(pe, 100 + pe)) for pe in (1, 2, 3)]
    first += [Log("AMPI_Finalize", before=[3, 4, 5, 6], takes=9e-6)]
    others = [[Log("setup"), Log("start-broadcast", by=(0, 1)),
               Log(before=[1], takes=2e-6, messages=[(100 + pe, 0, 1e-6, 1000 * pe)])]
              for pe in (1, 2, 3)]
    return [first, *others]


def write_bigsim(directory, files):
    directory = pathlib.Path(directory)
    directory.mkdir(exist_ok=True)
    for number, data in enumerate(files):
        (directory / ("bgTrace" + (str(number - 1) if number > 0 else ""))).write_bytes(data)
    return directory


GOAL = """// a schedule
num_ranks 3
rank 0 {
l1: calc 1000
l2: send 4096b to 1 tag 7   /* optional: */ cpu 0 nic 0
l2 requires l1
l3: recv 8b from 1
l4: calc 500
l4 irequires l3
recv 16b from -1 tag -1
}
rank 2 { a: calc 20000 b: send 16b to 0 tag 9 b requires a }
rank 1 {
b requires a
a: recv 4096b from 0 tag 7
b: send 8b to 0
}
"""


def goal_binary(ranks, magic=4223):
    """What txt2bin writes. A rank is a list of ops: (type, peer, size, tag, cpu, nic, ends,
    starts); the last two are the ops of whose end and start it waits for."""
    blocks = []
    for ops in ranks:
        nodes, appendix = b"", []
        for number, (kind, peer, size, tag, cpu, nic, ends, starts) in enumerate(ops):
            after = [i for i, op in enumerate(ops) if number in op[6]]
            started = [i for i, op in enumerate(ops) if number in op[7]]
            nodes += struct.pack("<IBIQIBBIIII", len(ends) + len(starts), kind, peer, size, tag, cpu,
                                 nic, len(after), len(appendix), len(started),
                                 len(appendix) + len(after))
            appendix += after + started
        roots = [i for i, op in enumerate(ops) if not op[6] and not op[7]]
        blocks.append(struct.pack(f"<II{len(roots)}I", len(ops), len(roots), *roots) + nodes +
                      struct.pack(f"<{len(appendix)}I", *appendix))
    out = struct.pack("<QIBB", magic, len(ranks), 2, 1)
    at = 6 + 16 * len(ranks)
    for block in blocks:
        out += struct.pack("<QQ", at, at + len(block))
        at += len(block)
    return out + b"".join(blocks)


SEND, RECV, CALC, ANY = 1, 2, 3, 2**32 - 1
# The schedule of test_task_formats.py with three cpus and two nics.
GOAL_STREAMS = [[(CALC, 0, 100, 0, 0, 0, [], []), (CALC, 0, 200, 0, 1, 0, [], []),
                 (SEND, 1, 65536, 1, 0, 0, [0], []), (SEND, 2, 65536, 2, 1, 1, [1], []),
                 (CALC, 0, 50, 0, 2, 0, [3], [2])],
                [(RECV, ANY, 65536, 1, 0, 0, [], []), (SEND, 2, 16, 3, 0, 0, [0], [])],
                [(RECV, 0, 65536, ANY, 0, 0, [], []), (RECV, 1, 16, 3, 1, 1, [], [])]]


def seeds():
    """Names and bytes of the seeds."""
    yield from foreign_chakra.seeds()
    yield "goal_binary/streams", goal_binary(GOAL_STREAMS)
    yield "goal_binary/truncated", goal_binary(GOAL_STREAMS)[:300]
    yield "goal_binary/used", goal_binary(GOAL_STREAMS, magic=2342)
    whole = bigsim(bigsim_example())
    yield "bigsim/example", b"".join(whole)
    yield "bigsim/big", b"".join(bigsim(bigsim_example(), order=">"))
    yield "bigsim/truncated", b"".join(whole)[:500]
    yield "goal/example", GOAL.encode()
    yield "goal/truncated", GOAL.encode()[:150]


def main():
    for name, data in seeds():
        path = pathlib.Path(sys.argv[1]) / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)


if __name__ == "__main__":
    main()
