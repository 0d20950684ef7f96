# SPDX-License-Identifier: Apache-2.0
"""weft import-codes: configurations of CODES and TraceR become machine files that run; what has
no counterpart is listed; mistakes are named with their place."""
import math
import pathlib
import re
import tempfile

from weft_cli import check, check_run, finish, parse, run

TORUS = """\
LPGROUPS
{
   MODELNET_GRP
   {
      repetitions="24"; # nodes
      server="2";
      modelnet_torus="1";
   }
}
PARAMS
{
   packet_size="512";
   chunk_size="256";
   message_size="560";
   modelnet_order=( "torus" );
   modelnet_scheduler="round-robin";
   router_delay="30";
   soft_delay="1000";
   n_dims="3";
   dim_length="4,3,2";
   link_bandwidth="2.0";
   cn_bandwidth="4";
   buffer_size="16384";
   routing="adaptive";
   flux_capacitor="1.21";
}
"""
COSTS = """\
   nic_delay="400"; nic_seq_delay="75"; rdma_delay="1000"; copy_per_byte="0.01";
   eager_limit="64000"; node_eager_limit="64000"; intra_bandwidth="30"; node_copy_queues="2";
   num_injection_queues="2";
"""
DRAGONFLY = """\
LPGROUPS { MODELNET_GRP { repetitions="36"; nw-lp="2"; modelnet_dragonfly="2";
    modelnet_dragonfly_router="1"; } }
PARAMS
{
   modelnet_order=( "dragonfly", "dragonfly_router" );
   num_routers="4";
   chunk_size="512";
   local_bandwidth="5.25"; global_bandwidth="4.7"; cn_bandwidth="5.25";
   local_vc_size="16384"; global_vc_size="32768"; cn_vc_size="16384";
   routing="prog-adaptive";
}
"""
DALLY = """\
LPGROUPS { MODELNET_GRP { repetitions="10"; nw-lp="3"; modelnet_dragonfly_dally="3";
    modelnet_dragonfly_dally_router="1"; } }
PARAMS {
   modelnet_order=("dragonfly_dally","dragonfly_dally_router");
   packet_size="4096"; chunk_size="4096"; num_routers="2"; num_groups="5";
   num_cns_per_router="3"; num_global_channels="2";
   local_bandwidth="2.0"; global_bandwidth="2.0"; cn_bandwidth="2.0";
   local_delay="10"; global_delay="10"; router_delay="90";
   intra-group-connections="intra"
   inter-group-connections="inter";
   routing="minimal"; }
"""
FATTREE = """\
LPGROUPS { MODELNET_GRP { repetitions="8"; server="4"; modelnet_fattree="2";
    fattree_switch="3"; } }
PARAMS { ft_type="0"; modelnet_order=( "fattree" ); num_levels="3"; switch_count="8";
   switch_radix="4"; router_delay="90"; link_bandwidth="11.9"; cn_bandwidth="11.9";
   packet_size="4096"; vc_size="65536"; cn_vc_size="65536"; routing="adaptive"; }
"""
TAPERED = FATTREE.replace('switch_radix="4"', 'switch_radix="6"; tapering="2"').replace(
    'switch_count="8"', 'switch_count="6"').replace('repetitions="8"', 'repetitions="6"').replace(
    'server="4"; modelnet_fattree="2"', 'server="4"; modelnet_fattree="4"')
EXPRESS = """\
LPGROUPS { MODELNET_GRP { repetitions="12"; server="1"; modelnet_express_mesh="1";
    modelnet_express_mesh_router="1"; } }
PARAMS { modelnet_order=( "express_mesh", "express_mesh_router" ); router_delay="30";
   n_dims="2"; dim_length="4,3"; gap="1"; num_cn="1"; link_bandwidth="11.9";
   cn_bandwidth="24"; chunk_size="8192"; vc_size="65536"; routing="static"; }
"""
SLIMFLY = """\
LPGROUPS { MODELNET_GRP { repetitions="50"; nw-lp="3"; modelnet_slimfly="3";
    modelnet_slimfly_router="1"; } }
PARAMS { modelnet_order=( "slimfly", "slimfly_router"); chunk_size="256"; num_routers="5";
   num_terminals="3"; generator_set_X=("1","4"); generator_set_X_prime=("2","3");
   local_bandwidth="9.0"; global_bandwidth="9.0"; cn_bandwidth="9.0"; router_delay="0";
   link_delay="0"; routing="nonminimal"; }
"""
# The configuration, settings of the machine, words in the notes.
GOOD = [
    (TORUS, {"topology": "torus:4x3x2", "net.packet": "256B", "net.bandwidth": "2.0GiB/s",
             "net.injection": "4GiB/s", "net.router_delay": "30ns", "net.routing": "adaptive",
             "net.nic": "rr", "net.vc_bytes": "16384B", "ranks_per_node": "2",
             "node.o_send": "1us", "node.injection_delay": "410ns", "node.gap": "10ns",
             "node.local_bandwidth": "4GB/s", "node.domains": "1", "mpi.eager_max": "8192B"},
     [r"m\.conf:14:4: message_size: left out", r":25:4: flux_capacitor: unknown",
      "as in TraceR: nic_delay 400 ns, nic_seq_delay 10 ns, rdma_delay 1000 ns, eager_limit 8192, "
      "node_copy_queues 1", "intra_bandwidth is not given; .* 4GB/s"]),
    (TORUS.replace("   message_size", COSTS + "   message_size"), {
        "node.o_send": "1us", "node.o_recv": "1us", "node.injection_delay": "475ns",
        "node.ejection_delay": "400ns", "node.gap": "75ns", "node.registration": "500ns",
        "node.copy_send": "100GB/s",
        "node.copy_recv": "100GB/s", "node.copies": "eager", "node.local_latency": "801ns",
        "node.local_bandwidth": "30GB/s", "node.memory_bandwidth": "30GB/s", "node.domains": "2",
        "mpi.eager_max": "64000B", "mpi.control_bytes": "16B"},
     ["node_eager_limit: shorter messages", "copy_per_byte: TraceR copies nothing",
      "num_injection_queues: left out"]),
    (DRAGONFLY, {"topology": "dragonfly:2,a=4,p=2,g=9,global=absolute",
                 "net.bandwidth": "5.25GiB/s", "net.links.global.bandwidth": "4.7GiB/s",
                 "net.links.terminal.bandwidth": "5.25GiB/s", "net.vc_bytes": "16384B",
                 "net.links.global.buffer": "32768B", "net.links.terminal.buffer": "16384B",
                 "net.routing": "par", "net.router_delay": "50ns", "ranks_per_node": "1"},
     ["links have no latency"]),
    (DALLY, {"topology": "dragonfly:2,a=2,p=3,g=5,global=absolute", "net.link_latency": "10ns",
             "net.links.terminal.latency": "1907349ps", "net.packet": "4096B"},
     ["intra-group-connections: left out", "cn_delay is not given; .* the time of a chunk"]),
    (DALLY.replace("local_delay", 'cn_delay="5"; local_delay').replace('global_delay="10"',
                                                                        'global_delay="100"'),
     {"net.links.terminal.latency": "5ns", "net.links.global.latency": "100ns"}, ["node_copy"]),
    (FATTREE, {"topology": "fattree:2x2x4,up=1,2,2", "net.bandwidth": "11.9GB/s",
               "net.links.terminal.bandwidth": "11.9GB/s", "net.links.terminal.buffer": "65536B",
               "net.routing": "updown", "ranks_per_node": "2"}, ["links have no latency"]),
    (FATTREE.replace('routing=', 'num_rails="2"; num_injection_queues="2"; rail_select="adaptive"; '
                     'rail_select_limit="8192"; routing='), {
         "topology": "fattree:2x2x4,up=2,2,2", "ranks_per_node": "2",
         "net.injection": "unlimited"},
     ["rail_select: left out: the routing", "rail_select_limit: left out"]),
    (TAPERED, {"topology": "fattree:4x3x2,up=1,2,3"}, ["more top-level switches"]),
    (EXPRESS, {"topology": "hyperx:4x3,p=1", "net.bandwidth": "11.9GiB/s",
               "net.links.terminal.bandwidth": "24GiB/s"}, ["intra_bandwidth is not given"]),
    (SLIMFLY, {"topology": "slimfly:5,p=3", "net.routing": "valiant",
               "net.link_latency": "1ns"}, ["generator_set_X: left out"]),
]
# The configuration, the place of the mistake, what is said about it.
BAD = [
    ("", "", "expected modelnet_order"),
    ("LPGROUPS", "1:9: ", r"expected '\{'"),
    ("PARAMS {", "1:9: ", "closing brace"),
    ("PARAMS { a }", "1:12: ", r"expected '=' or '\{'"),
    ("PARAMS { a=1; }", "1:12: ", "double quotes"),
    ('PARAMS { a="1\n"; }', "1:14: ", "double quote at the end"),
    ('PARAMS { a=("1" "2"); }', "1:17: ", "comma or a closing parenthesis"),
    ('PARAMS { a="1";\n a="2"; }', "2:2: ", "'a' is given twice, first in line 1"),
    ('PARAMS { modelnet_order=("tourus"); }', "1:10: ", "expected one of torus, dragonfly"),
    ("PARAMS " + "{ a " * 9, "", "sections inside each other"),
    (TORUS.replace('"4,3,2"', '"4,3"'), "20:4: ", "as many lengths as n_dims"),
    (TORUS.replace('"4,3,2"', '"4,3,x"'), "20:4: ", "lengths of dimensions"),
    (TORUS.replace('"4,3,2"', '"4,3,3"'), "5:7: ", "the 36 nodes that PARAMS say"),
    (TORUS.replace('"2.0"', '"fast"'), "21:4: ", "a number above 0"),
    (TORUS.replace('"30"', '"30ns"'), "17:4: ", "nanoseconds"),
    (TORUS.replace('"256"', '"0"'), "13:4: ", "a whole number from 1"),
    (TORUS.replace('"adaptive"', '"hot-potato"'), "24:4: ", "expected static, adaptive"),
    (TORUS.replace("   dim_length", "   dim_lengths"), "", "expected dim_length"),
    (TORUS.replace('"1000"', '"-1"'), "18:4: ", "nanoseconds"),
    (TORUS.replace('"1000"', '"4e12"'), "18:4: ", "nanoseconds"),
    (TORUS.replace('"1000"', '"4000000000000"'), "", "not valid: .*o_send"),
    (TORUS.replace("   message", '   copy_per_byte="-1"; message'), "14:4: ", "nanoseconds for each"),
    (TORUS.replace("   message", '   copy_per_byte="1e300"; message'), "14:4: ", "nanoseconds for"),
    (TORUS.replace("   message", '   copy_per_byte="x"; message'), "14:4: ", "nanoseconds for each"),
    (TORUS.replace("   message", '   intra_bandwidth="0"; message'), "14:4: ", "a number above 0"),
    (TORUS.replace("   message", '   eager_limit="1.5"; message'), "14:4: ", "a whole number"),
    (TORUS.replace("   message", '   node_copy_queues="0"; message'), "",
     "node_copy_queues is '0', expected a whole number from 1"),
    (EXPRESS.replace('gap="1"', 'gap="2"'), "4:34: ", "a HyperX; other meshes"),
    (FATTREE.replace('num_levels="3"', 'num_levels="4"'), "3:53: ", "expected 2 or 3"),
    (FATTREE.replace('switch_count="8"', 'switch_count="32,8,2"'), "3:69: ", "a whole number"),
    (FATTREE.replace('ft_type="0"', 'ft_type="2"'), "3:10: ", "0 or 1: fat trees whose nodes have"),
    (DALLY.replace("routing=", 'num_rails="2"; routing='), "11:4: ", "only fat trees have several"),
    (DALLY.replace("routing=", 'num_planes="2"; routing='), "11:4: ", "only fat trees have several"),
    (DALLY.replace('channels="2"', 'channels="1"'), "", "at most 3 groups"),
]


def imports(directory):
    for text, settings, notes in GOOD:
        conf, yaml = directory / "m.conf", directory / "m.yaml"
        conf.write_text(text)
        done = run("import-codes", str(conf), "-o", str(yaml), "-f")
        if not check(done.returncode == 0, "a good configuration is imported", done):
            continue
        for note in notes:
            check(re.search(note, done.stderr), f"the notes have {note}", done)
        machine = parse(check_run(["machine", "show", str(yaml), "--json"], 0))
        for key, value in settings.items():
            found = machine.get("settings", {}).get(key)
            check(found == value, f"{key} is {found}, expected {value}")
        check_run(["replay", "gen:stencil3d", "-n", "8", "--machine", str(yaml), "--placement",
                   "linear", "-q"], 0)
        printed = run("import-codes", str(conf))
        check(printed.stdout == yaml.read_text(), "printed and written alike", printed)
        direct = parse(run("machine", "show", str(conf), "--json"))
        check(direct.get("settings") == machine.get("settings"), "read directly, the same")
        check_run(["machine", "show", str(conf)], 0, f"weft: note: .*{notes[0]}")


FREE = [word for name in ("o_send=0", "o_recv=0", "injection_delay=0", "ejection_delay=0",
                          "copy_send=unlimited", "copy_recv=unlimited", "registration=0")
        for word in ("-p", "node." + name)]


def time_of(directory, text, to, size, *args):
    """How long a message of this size takes from rank 0 to another, the last one."""
    (directory / "send").write_text(
        f"if rank == 0 {{ send {to} {size} }} else if rank == {to} {{ recv 0 {size} }}")
    (directory / "m.conf").write_text(text)
    done = run("replay", "gen:text", "-n", str(to + 1), "-p", f"gen.file={directory / 'send'}",
               "--machine", str(directory / "m.conf"), "--json", "-q", *args)
    return parse(done).get("result", {}).get("predicted_time_ps", 0)


def costs(directory):
    """What one message of 3000 bytes costs, to the picosecond: between two ranks of a node, and
    above the time of the network between two nodes."""
    text = TORUS.replace("   message_size", COSTS + "   message_size")
    soft, nic, sequence, copy = 1000_000, 400_000, 75_000, 30_000
    local = 2 * soft + 2 * copy + 2 * nic + 1000 + 100_000
    found = time_of(directory, text, 1, 3000)
    check(found == local, f"within a node: {found}, expected {local}")
    apart = time_of(directory, text, 1, 3000, "--ranks-per-node", "1")
    network = time_of(directory, text, 1, 3000, "--ranks-per-node", "1", *FREE)
    expected = 2 * soft + 2 * copy + 2 * nic + sequence
    check(network > 0 and apart - network == expected,
          f"between nodes: {apart} - {network}, expected {expected}")
    long = [time_of(directory, text, 1, 10**5, "--ranks-per-node", "1", "-p",
                    f"node.registration={delay}") for delay in ("500ns", "0")]
    check(long[1] > 0 and long[0] - long[1] == 1000_000, f"rdma_delay of a long message: {long}")


def links(directory):
    """A chunk passes links of three classes, whole at each; two rails are twice as fast."""
    def transfer(gib_per_s):
        return math.ceil(512 * 10**12 / (gib_per_s * 2**30))
    text = DRAGONFLY.replace("prog-adaptive", "minimal").replace(
        'local_bandwidth="5.25"', 'local_bandwidth="3.5"').replace('cn_bandwidth="5.25"',
                                                                   'cn_bandwidth="7"')
    expected = 2 * 50_000 + 3 * 1000 + 2 * transfer(7) + transfer(3.5)
    found = time_of(directory, text, 2, 512, *FREE)
    check(found == expected, f"terminal, local, terminal: {found}, expected {expected}")
    text = FATTREE.replace("routing=", 'num_rails="RAILS"; routing=')
    times = [time_of(directory, text.replace("RAILS", rails), 15, 10**7, "--ranks-per-node", "1")
             for rails in ("1", "2")]
    check(0 < 1.9 * times[1] < times[0] < 2.1 * times[1], f"one rail and two: {times}")


def refuses(directory):
    for text, place, words in BAD:
        conf = directory / "b.conf"
        conf.write_text(text)
        check_run(["import-codes", str(conf)], 3, rf"b\.conf:\s?{re.escape(place)}.*{words}")
    check_run(["import-codes"], 2, "a configuration file is missing")
    check_run(["import-codes", "a", "b"], 2, "unexpected argument 'b'")
    check_run(["import-codes", str(directory / "none.conf")], 3, "cannot read")


with tempfile.TemporaryDirectory() as name:
    imports(pathlib.Path(name))
    costs(pathlib.Path(name))
    links(pathlib.Path(name))
    refuses(pathlib.Path(name))
finish()
