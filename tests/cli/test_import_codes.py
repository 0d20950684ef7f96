# SPDX-License-Identifier: Apache-2.0
"""weft import-codes: configurations of CODES and TraceR become machine files that run; what has
no counterpart is listed; mistakes are named with their place."""
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
             "net.nic": "rr", "net.vc_bytes": "16384B", "ranks_per_node": "2"},
     [r"m\.conf:14:4: message_size: left out", r":18:4: soft_delay: left out",
      r":25:4: flux_capacitor: unknown"]),
    (DRAGONFLY, {"topology": "dragonfly:2,a=4,p=2,g=9,global=absolute",
                 "net.bandwidth": "4.7GiB/s", "net.routing": "par", "net.router_delay": "50ns",
                 "ranks_per_node": "1"}, ["global_bandwidth differ", "links have no latency"]),
    (DALLY, {"topology": "dragonfly:2,a=2,p=3,g=5,global=absolute", "net.link_latency": "10ns",
             "net.packet": "4096B"}, ["intra-group-connections: left out"]),
    (FATTREE, {"topology": "fattree:2x2x4,up=1,2,2", "net.bandwidth": "11.9GB/s",
               "net.routing": "updown", "ranks_per_node": "2"}, ["cn_vc_size"]),
    (TAPERED, {"topology": "fattree:4x3x2,up=1,2,3"}, ["more top-level switches"]),
    (EXPRESS, {"topology": "hyperx:4x3,p=1", "net.injection": "24GiB/s"}, ["cn_bandwidth"]),
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
    (EXPRESS.replace('gap="1"', 'gap="2"'), "4:34: ", "a HyperX; other meshes"),
    (FATTREE.replace('num_levels="3"', 'num_levels="4"'), "3:53: ", "expected 2 or 3"),
    (FATTREE.replace('switch_count="8"', 'switch_count="32,8,2"'), "3:69: ", "a whole number"),
    (FATTREE.replace('routing=', 'num_rails="2"; routing='), "5:61: ", "several rails"),
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
    refuses(pathlib.Path(name))
finish()
