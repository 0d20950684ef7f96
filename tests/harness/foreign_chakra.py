# SPDX-License-Identifier: Apache-2.0
"""Chakra execution traces for tests, as protobuf and as JSON. foreign_graphs.py writes the seeds."""
import json
import pathlib
import struct

METADATA, LOAD, STORE, COMP, SEND, RECV, COLL = range(1, 8)
KINDS = ["ALL_REDUCE", "REDUCE", "ALL_GATHER", "GATHER", "SCATTER", "BROADCAST", "ALL_TO_ALL",
         "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"]


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value % 2**64)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def attr(name, value):
    """In different members, as different writers do."""
    if isinstance(value, bool):
        return field(1, name) + field(27, int(value))
    if isinstance(value, str):
        return field(1, name) + field(29, value)
    if isinstance(value, float):
        return field(1, name) + varint(3 << 3 | 1) + struct.pack("<d", value)
    members = {"comm_size": 9, "comm_type": 9, "comm_src": 7, "comm_tag": 15, "num_ops": 13}
    number = members.get(name, 11)
    return field(1, name) + field(number, value * 2 if number == 15 else value)


def node(number, kind, name="n", micros=0, data=(), ctrl=(), values="", **attrs):
    return {"id": number, "type": kind, "name": name, "micros": micros, "data": list(data),
            "ctrl": list(ctrl), "values": values, "attrs": attrs}


def encode_node(one, packed=True):
    out = field(1, one["id"]) if one["id"] != 0 else b""
    out += field(2, one["name"]) + field(3, one["type"])
    for number, ids in ((4, one["ctrl"]), (5, one["data"])):
        if packed and ids:
            out += field(number, b"".join(varint(i) for i in ids))
        else:
            out += b"".join(field(number, i) for i in ids)
    if one["micros"]:
        out += field(7, one["micros"])
    if one["values"]:
        out += field(8, field(1, one["values"]))
    out += b"".join(field(10, attr(*item)) for item in one["attrs"].items())
    return out + field(99, "of the future")


def framed(message):
    return varint(len(message)) + message


def protobuf(nodes, metadata=None, packed=True):
    head = field(1, "0.0.4") if metadata is None else metadata
    return framed(head) + b"".join(framed(encode_node(one, packed)) for one in nodes)


def old_protobuf(nodes):
    """Schema 0.0.1: no metadata, and fields instead of attributes."""
    numbers = {"num_ops": 12, "comm_type": 13, "comm_src": 16, "comm_dst": 17, "comm_size": 18,
               "comm_tag": 19}
    kinds = {0: 1, 6: 2, 2: 3, 7: 4}
    out = b""
    for one in nodes:
        message = field(1, one["id"]) + field(2, one["name"]) + field(3, one["type"] - 1)
        message += b"".join(field(4, i) for i in one["data"])
        message += field(7, one["micros"])
        for name, value in one["attrs"].items():
            if name in numbers:
                message += field(numbers[name], kinds[value] if name == "comm_type" else value)
        out += framed(message)
    return out


def feeder_json(nodes):
    graph = [{"Id": one["id"], "Name": one["name"], "NodeType": one["type"],
              "ctrlDeps": one["ctrl"], "data_deps": one["data"], "runtime": one["micros"],
              **one["attrs"]} for one in nodes]
    return json.dumps({"workload_graph": graph}, indent=1).encode()


def jsonizer(nodes):
    names = ["INVALID", "METADATA", "MEM_LOAD", "MEM_STORE", "COMP", "COMM_SEND", "COMM_RECV",
             "COMM_COLL"]
    out = [json.dumps({"version": "0.0.4"})]
    for one in nodes:
        attrs = [{"name": name, "boolVal": value} if isinstance(value, bool) else
                 {"name": name, "stringVal": value} if isinstance(value, str) else
                 {"name": name, "int64Val": str(value)} for name, value in one["attrs"].items()]
        out.append(json.dumps({"id": str(one["id"]), "name": one["name"],
                               "type": names[one["type"]] + "_NODE",
                               "ctrlDeps": [str(i) for i in one["ctrl"]],
                               "dataDeps": [str(i) for i in one["data"]],
                               "durationMicros": str(one["micros"]),
                               "inputs": {"values": one["values"]}, "attr": attrs}))
    return "".join(out).encode()


def write(directory, ranks, prefix="t", ending=".et", encode=protobuf):
    directory = pathlib.Path(directory)
    directory.mkdir(exist_ok=True)
    for rank, nodes in enumerate(ranks):
        (directory / f"{prefix}.{rank}{ending}").write_bytes(encode(nodes))
    return str(directory)


def step(rank, n):
    """A step of training: computing on both sides of a collective, a message in a ring, work of
    the CPU. Dependencies point forward too."""
    def on_gpu(number, kind, **more):
        return node(number, kind, is_cpu_op=False, **more)
    return [on_gpu(10, COMP, micros=50, data=[3]),
            node(3, COMP, micros=7, is_cpu_op=True),
            on_gpu(11, COLL, data=[10], comm_type=0, comm_size=1 << 20),
            on_gpu(12, COMP, micros=30, data=[10], stream=7),
            on_gpu(13, SEND, data=[12], comm_dst=(rank + 1) % n, comm_size=4096, comm_tag=5),
            on_gpu(14, RECV, comm_src=(rank - 1) % n, comm_size=4096, comm_tag=5),
            on_gpu(15, COMP, micros=1, data=[14, 11], ctrl=[12]),
            on_gpu(16, COLL, data=[15], comm_type=2, comm_size=1 << 10, pg_name="1"),
            on_gpu(17, LOAD, data=[16], tensor_size=1 << 20)]


def seeds():
    nodes = step(0, 1)
    values = '["[{\\"pg_name\\": \\"1\\", \\"ranks\\": [0]}]"]'
    init = node(1, METADATA, name="## process_group:init ##", values=values)
    yield "chakra/proto", protobuf([init, *nodes])
    yield "chakra/unpacked", protobuf([init, *nodes], metadata=b"", packed=False)
    yield "chakra/truncated", protobuf([init, *nodes])[:200]
    yield "chakra/old", old_protobuf(nodes[:4])
    yield "chakra/feeder", feeder_json(nodes[:7])
    yield "chakra/jsonizer", jsonizer([init, *nodes])
