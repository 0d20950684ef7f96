# SPDX-License-Identifier: Apache-2.0
"""Machine files: every mistake is named with its place, the command line overrides, and all
machines of the library load and run."""
import json
import os
import pathlib
import re

from weft_cli import SOURCE, check, check_run, finish, parse, run

REPLAY = ["replay", "gen:stencil3d", "-n", "8"]
GOOD = """\
name: good
summary: a torus
topology: torus:2x2x2
network:
  model: latency
  link_latency: 1us
  bandwidth: 1GB/s
cpu:
  cores: 4
  scale: 2.0
ranks_per_node: 1
"""
NESTED = """\
topology:
  kind: torus
  size: [2, 2]
  link_latency: 2us
  inside:
    kind: mesh
    size: 3
    link_latency: 1us
network: {model: latency, bandwidth: 1GB/s}
"""
LINKS = "topology: torus:2x2x2\nnetwork:\n  model: latency\n"
CLASSES = """\
network:
  model: packet
  links:
    x: {latency: 1us, bandwidth: 1GB/s}
    y: {latency: 30ns}
topology: {kind: torus, size: [4, 2], links: {x: {bandwidth: 2GB/s}}}
"""
# The file, the place of the mistake, what is said about it.
MISTAKES = [
    # the text
    ("topology: [1, 2\n", r"\d+:\d+", "not valid YAML"),
    ("", "1:1", "nothing in it"),
    ("- a\n- b\n", "1:1", "expected a mapping, but this is a list"),
    ("just words\n", "1:1", "expected a mapping, but this is a single value"),
    ("name: a\nname: b\n", "2:1", "'name' is given twice"),
    ("network:\n  model: latency\n  model: loggp\n", "3:3", "'model' is given twice"),
    ("name: &a b\nsummary: *a\n", "1:7", "anchors"),
    ("name: !!str b\n", "1:7", "tags"),
    ("name: a\n---\nname: b\n", "2:1", "second document"),
    ("? [a]\n: b\n", "1:3", "a key must be a single value"),
    ("name: a\x01b\n", r"\d+:\d+", "not valid YAML"),
    # keys and types
    ("nmae: a\n", "1:1", "unknown key 'nmae'; did you mean 'name'"),
    ("xyzzy: a\n", "1:1", "unknown key 'xyzzy'; expected one of include, name, summary"),
    ("name: a\ntopologies: torus:2\n", "2:1", "unknown key 'topologies'; did you mean"),
    ("name: [a]\n", "1:7", "name: expected a single value, but this is a list"),
    ("network: [latency]\n", "1:10", "network: expected a mapping, but this is a list"),
    ("cpu: fast\n", "1:6", "cpu: expected a mapping, but this is a single value"),
    ("cpu:\n  clock: 2\n", "2:3", "unknown key 'clock'; did you mean 'clock_ghz'"),
    ("cpu:\n  cores: [1, 2]\n", "2:10", "cpu.cores: '1,2' is not a count"),
    ("cpu:\n  scale: 0\n", "2:10", "cpu.scale: '0' is out of range; expected 0.000001 to"),
    ("cpu:\n  scale: fast\n", "2:10", "cpu.scale: 'fast' is not a number"),
    ("ranks_per_node: 0\n", "1:17", "ranks_per_node: '0' is out of range; expected 1 to"),
    ("ranks_per_node:\n", r"1:\d+", "ranks_per_node: '' is not a count"),
    # networks
    ("network: latencies\n", "1:10", "unknown network model 'latencies'; did you mean"),
    ("network:\n  model: logpg\n", "2:10", "unknown network model 'logpg'; did you mean 'loggp'"),
    ("network:\n  model: latency\n  L: 1us\n", "3:6",
     "the network model 'latency' has no parameter 'L'; the model 'loggp' has"),
    ("network:\n  model: latency\n  link_latncy: 1us\n", "3:16",
     "no parameter 'link_latncy'; did you mean 'link_latency'"),
    ("network:\n  L: 1\n", "2:6", "network.L: '1' is not a time"),
    ("network:\n  model: latency\n  bandwidth: 10GB\n", "3:14", "'10GB' is not a rate"),
    ("network:\n  model: latency\n  link_latency: {a: b}\n", "3:17", "expected a list"),
    ("network:\n  model: latency\n", "2:10", "'latency' needs a topology"),
    ("network: {model: latency, link_latency: [1us, 2us]}\ntopology: torus:8\n", "1:41",
     "2 values for a network of 1 level"),
    ("network:\n  links: {x: {latency: 1us}}\n", "2:24",
     "the network model 'loggp' has no parameter 'links.x.latency'; the model"),
    (LINKS + "  links: [x]\n", "4:10", "links: expected a mapping, but this is a list"),
    (LINKS + "  links: {x: 1us}\n", "4:14", "x: expected a mapping, but this is a single value"),
    (LINKS + "  links: {x: {latency: [1us]}}\n", "4:24", "latency: expected a single value"),
    (LINKS + "  links: {x: {latency: 1}}\n", "4:24", "net.links.x.latency: '1' is not a time"),
    (LINKS + "  links: {x: {ltency: 1us}}\n", "4:23", "links have no property 'ltency'; expected"),
    (LINKS + "  links: {up: {latency: 1us}}\n", "4:25", "no links of class 'up'; it has x, y and z"),
    (LINKS + "  links: {x: {latency: '1us,y:latency=2us'}}\n", "4:24", "a value has no ','"),
    (LINKS + "  links: x:buffer=1KiB\n", "4:10", "net.links.x.buffer: the network model 'latency'"),
    ("network: latency\ntopology: {kind: torus, size: 8, links: {y: {delay: 1us}}}\n", "2:53",
     "no links of class 'y'; it has x"),
    # uncertainties
    ("uncertainty: 3%\n", "1:14", "uncertainty: expected a mapping"),
    ("uncertainty:\n  net.l: 3%\n", "2:3", "unknown setting 'net.l'; did you mean 'net.L'"),
    ("uncertainty:\n  network.L: 3%\n", "2:3", "expected a name that begins with net., node."),
    ("uncertainty:\n  node.cores: 3%\n", "2:3", "'node.cores' is not a time, rate, size or real"),
    ("uncertainty:\n  net.L: 3\n", "2:10", "'3' is not a percentage; .* such as 3%"),
    ("uncertainty:\n  net.L: much%\n", "2:10", "'much%' is not a number and a '%'"),
    ("uncertainty:\n  net.L: -1%\n", "2:10", "'-1%' is out of range; expected 0% to 100%"),
    ("uncertainty:\n  net.L: 101%\n", "2:10", "'101%' is out of range"),
    ("uncertainty:\n  net.L: [3%]\n", "2:10", "expected a single value"),
    ("uncertainty:\n  net.link_latency: 3%\n", "2:21",
     "the network model 'loggp' has no parameter 'link_latency'"),
    # topologies
    ("topology: tours:2x2x2\n", "1:11", "unknown topology 'tours'.*did you mean 'torus'"),
    ("topology: torus:0\n", "1:11", "size of 0"),
    ("topology: torus:99999x99999\n", "1:11", "too large"),
    ("topology: torus:2x2\n", "1:11", "8 ranks, 1 on a node, need 8 nodes.*has only 4"),
    ("topology:\n  kind: tours\n  size: 8\n", "2:9", "unknown topology 'tours'; did you mean"),
    ("topology:\n  size: 8\n", "2:3", "needs its kind"),
    ("topology:\n  kind: torus\n", "2:3", "torus needs its size"),
    ("topology:\n  kind: ring\n  size: 8\n  oneway: maybe\n", "4:11", "oneway: 'maybe' is neither"),
    ("topology:\n  kind: torus\n  size: 8\n  wrap: [1, 0]\n", "4:9", "2 values for 1 dim"),
    ("topology:\n  kind: torus\n  size: 0\n  wrap: [1]\n", "3:9", "size of 0"),
    ("topology:\n  kind: torus\n  size: [2, 0]\n", "3:9", "size of 0"),
    ("topology:\n  kind: torus\n  size: 2x\n", "3:9", "expected a number"),
    ("topology:\n  kind: torus\n  size: [70000, 70000]\n", "3:9", "too large"),
    ("topology:\n  kind: torus\n  size: [[2], 2]\n", "3:10", "expected a single value"),
    ("topology:\n  kind: torus\n  sise: 8\n", "3:3", "unknown key 'sise'; did you mean 'size'"),
    ("topology:\n  kind: torus\n  size: '8,wrap=0'\n", "3:9", "a ',' and then a '='"),
    ("topology:\n  kind: torus\n  size: 8/torus:2\n", "3:9", "more than one level"),
    ("topology: []\n", "1:11", "at least one level"),
    ("topology:\n  kind: torus\n  size: 2\n  inside: {kind: mash, size: 4}\n", "4:18",
     "unknown topology 'mash'; did you mean 'mesh'"),
    ("network: latency\ntopology:\n  kind: torus\n  size: 8\n  link_latency: 1\n", "5:17",
     "link_latency: '1' is not a time"),
    ("topology:\n  kind: torus\n  size: 2\n  link_latency: 1us\n  inside: mesh:4\n", "4:17",
     "not for level 2"),
    (NESTED, "2:3", "need 8 nodes, but the hierarchy .* has 12; --placement linear"),
    # measurements, sources, other descriptions
    ("year: soon\n", "1:7", "year: 'soon' is not a year; expected 1940 to 2100"),
    ("year: 1\n", "1:7", "year: '1' is not a year"),
    ("placement: linaer\n", "1:12", "did you mean 'linear'"),
    ("sources: [a]\n", "1:10", "sources: expected a mapping"),
    ("sources: {1: [a]}\n", "1:14", "expected a single value"),
    ("published: {what: latency}\n", "1:12", "published: expected a list"),
    ("published: [latency]\n", "1:13", "expected a mapping"),
    ("published:\n  - {what: latency}\n", "2:5", "parameter 'published.value' is required"),
    ("published:\n  - {what: latency, value: 1us}\n", "2:5", "'published.source' is required"),
    ("published:\n  - {what: speed, value: 1us, source: x}\n", "2:12",
     "published.what: 'speed' is not one of latency|bandwidth"),
    ("published:\n  - {what: latency, value: 1GB/s, source: x}\n", "2:28",
     "published.value: '1GB/s' is not a time"),
    ("published:\n  - {what: alltoall, value: 1us, source: x}\n", "2:29",
     "published.value: '1us' is not a rate"),
    ("published:\n  - {what: message_rate, value: many, source: x}\n", "2:33",
     "published.value: 'many' is not a number"),
    ("published:\n  - {what: message_rate, value: -1, source: x}\n", "2:33", "'-1' is not above 0"),
    ("published:\n  - {what: latency, vlaue: 1us, source: x}\n", "2:21",
     "unknown key 'vlaue'; did you mean 'value'"),
    ("published:\n  - {what: latency, value: 1us, source: x, between: [a]}\n", "2:53",
     "between: expected a single value"),
    # includes
    ("include: bqp\n", "1:10", "unknown machine 'bqp'; did you mean 'bgp'"),
    ("name: a\ninclude: nowhere.yaml\n", "2:10", "cannot read 'nowhere.yaml'"),
    ("include: [bgp, nowhere/a.yml]\n", "1:16", "cannot read 'nowhere/a.yml'"),
    ("include: {a: b}\n", "1:10", "expected a list"),
    ("include: bad.yaml\n", "1:10", "include cycle: bad.yaml -> bad.yaml"),
    ("include: ./bad.yaml\n", "1:10", "include cycle: bad.yaml -> bad.yaml"),
]


def write(name, text):
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def check_mistake(text, place, words):
    write("bad.yaml", text)
    line = rf"^weft: bad\.yaml:{place}: [^\n]*{words}[^\n]*\n$"
    check_run([*REPLAY, "--machine", "bad.yaml"], 3, line, stdout="^$")


def check_includes():
    write("good.yaml", GOOD)
    write("sub/part.yaml", "include: ../good.yaml\nnetwork: {link_latency: 3us}\n")
    write("whole.yaml", "include: [sub/part.yaml]\ntopology: torus:4x2\n")
    settings = parse(run("machine", "show", "whole.yaml", "--json"))
    check(settings.get("name") == "whole", "the name of an included file is used", None)
    expected = {"net.link_latency": "3us", "net.bandwidth": "1GB/s", "topology": "torus:4x2",
                "network": "latency", "ranks_per_node": "1"}
    for key, value in expected.items():
        check(settings.get("settings", {}).get(key) == value, f"whole.yaml: {key}: {settings}")

    write("a.yaml", "include: b.yaml\n")
    write("b.yaml", "include: a.yaml\n")
    check_run([*REPLAY, "--machine", "a.yaml"], 3,
              r"^weft: b\.yaml:1:10: include cycle: a\.yaml -> b\.yaml -> a\.yaml\n$")
    write("deep.yaml", "include: sub/broken.yaml\n")
    write("sub/broken.yaml", "name: x\ncpu:\n  sclae: 1\n")
    check_run([*REPLAY, "--machine", "deep.yaml"], 3, r"^weft: sub/broken\.yaml:3:3: ")


def scenario(*args):
    return parse(check_run([*REPLAY, "--json", *args], 0)).get("scenario", {})


def check_precedence():
    told = scenario("--machine", "good.yaml")
    check(told["network"] == "latency" and told["topology"] == "torus:2x2x2", f"{told}")
    net = told["parameters"]["net"]
    check(net["link_latency"] == "1us" and net["bandwidth"] == "1GB/s", f"{told}")
    check(told["parameters"]["cpu"]["scale"] == 2, f"{told}")

    for args in (["-p", "net.link_latency=2us", "--machine", "good.yaml"],
                 ["--machine", "good.yaml", "-p", "net.link_latency=2us"]):
        told = scenario(*args)
        check(told["parameters"]["net"]["link_latency"] == "2us", f"{args}: {told}")
    told = scenario("--machine", "good.yaml", "--topo", "torus:8", "--ranks-per-node", "2")
    check(told["topology"] == "torus:8" and told["ranks_per_node"] == 2, f"{told}")
    # Only what the other model knows is kept; -v tells of the rest.
    told = scenario("--machine", "good.yaml", "--net", "loggp")
    check("link_latency" not in told["parameters"]["net"], f"{told}")
    check(told["parameters"]["net"]["L"] == scenario()["parameters"]["net"]["L"], f"{told}")
    check_run([*REPLAY, "--machine", "good.yaml", "--net", "loggp", "-v"], 0,
              r"^weft: note: good\.yaml:6:17: network\.link_latency does not apply [^\n]*\n$")
    # What the user says himself is his own mistake.
    check_run([*REPLAY, "--machine", "good.yaml", "-p", "net.L=1us"], 2, "unknown parameter")
    check_run([*REPLAY, "--machine", "good.yaml", "--topo", "torus:x"], 3, "^weft: torus: size")

    # Values of levels go with the topology they were given with.
    write("nested.yaml", NESTED)
    twelve = ["-n", "12", "--machine", "nested.yaml"]
    told = scenario(*twelve)
    check(told["parameters"]["net"]["link_latency"] == "2us,1us", f"{told}")
    check(told["topology"] == "torus:2x2/mesh:3", f"{told}")
    told = scenario(*twelve, "--topo", "torus:12")
    net = told["parameters"]["net"]
    check(net["link_latency"] == "100ns" and net["bandwidth"] == "1GB/s", f"{told}")
    told = scenario(*twelve, "--topo", "torus:3/mesh:4")
    check(told["parameters"]["net"]["link_latency"] == "2us,1us", f"{told}")
    check_run([*REPLAY, "--machine", "nested.yaml", "--placement", "linear"], 0)


def check_links():
    write("links.yaml", CLASSES)
    told = scenario("--machine", "links.yaml")
    check(told["parameters"]["net"]["links"] ==
          "x:latency=1us,bandwidth=2GB/s,y:latency=30ns", f"{told}")
    # One value is overridden by itself, in a file that includes the other and by -p.
    write("more.yaml", "include: links.yaml\nnetwork: {links: {x: {latency: 2us}}}\n")
    told = scenario("--machine", "more.yaml", "-p", "net.links.y.delay=5ns")
    check(told["parameters"]["net"]["links"] ==
          "x:latency=2us,bandwidth=2GB/s,y:latency=30ns,delay=5ns", f"{told}")
    # Another topology keeps the classes that it has; -v tells of the rest.
    told = scenario("--machine", "links.yaml", "--topo", "torus:8")
    check(told["parameters"]["net"]["links"] == "x:latency=1us,bandwidth=2GB/s", f"{told}")
    check_run([*REPLAY, "--machine", "links.yaml", "--topo", "torus:8", "-v"], 0,
              r"^weft: note: links\.yaml:5:18: network\.links\.y\.latency does not apply ")
    # The levels of a hierarchy have classes of their own.
    write("levels.yaml", "network: latency\ntopology: {kind: star, size: 2, inside: {kind: mesh, "
          "size: 4, links: {x: {latency: 7ns}}}}\n")
    told = scenario("--machine", "levels.yaml", "-p", "net.links.terminal.latency=9ns")
    check(told["parameters"]["net"]["links"] == "1.x:latency=7ns,terminal:latency=9ns", f"{told}")


def check_scale():
    def times(*args):
        return parse(run(*REPLAY, "--json", *args))["result"]["ranks"]["compute_ps"]

    plain, one = times(), times("-p", "cpu.scale=1")
    check(plain == one, f"a scale of 1 changes {plain} to {one}")
    half = times("-p", "cpu.scale=0.5")
    check(half["max"] * 2 == plain["max"] > 0, f"a scale of 0.5 changes {plain} to {half}")
    check_run([*REPLAY, "-p", "cpu.scale=1000000", "-p", "gen.compute=1000000s"], 5,
              "simulated time passes")


def check_shown(name):
    """The readable form has all figures of the file, and fits 80 columns where it can."""
    shown = check_run(["machine", "show", name], 0).stdout
    described = json.loads(check_run(["machine", "show", name, "--json"], 0).stdout)
    check(shown.startswith(f"{name}: {described['summary']}\n"), f"show {name}: its first line")
    for figure in described["figures"]:
        check(f"  {figure['figure']} " in shown, f"show {name}: no {figure['figure']}")
    for line in shown.splitlines():
        check(len(line) <= 80, f"show {name}: a line of {len(line)} columns: {line}")


MEASURED = """\
name: measured
topology: torus:4x4
network:
  model: latency
  # estimate: from nowhere,
  # really
  link_latency: 1us       # so far
                          # and no further
  bandwidth: 1GB/s        # [a] as it says
cpu: {cores: 2, scale: 2} # derived: [a]
ranks_per_node: 2         # choice: two
sources:
  a: somebody, somewhere
published:
  - {what: latency, value: 1.1us, source: "[a] p. 7"}
  - {what: latency, between: far, value: 4us, source: "[a]"}
  - {what: bandwidth, bytes: 1MB, value: 1GB/s, source: "[a]", tolerance_percent: 0.2}
  - {what: barrier, nodes: 16, value: 8us, source: "[a]"}
"""


def check_notes():
    """Comments next to figures are their origin."""
    write("measured.yaml", MEASURED)
    described = parse(run("machine", "show", "measured.yaml", "--json"))
    figures = {f["figure"]: (f["value"], f["origin"], f["note"]) for f in described["figures"]}
    check(figures == {
        "topology": ("torus:4x4", "unknown", ""),
        "network.model": ("latency", "unknown", ""),
        "network.link_latency": ("1us", "estimate", "estimate: from nowhere, really so far and "
                                 "no further"),
        "network.bandwidth": ("1GB/s", "published", "[a] as it says"),
        "cpu.cores": ("2", "derived", "derived: [a]"),
        "cpu.scale": ("2", "derived", "derived: [a]"),
        "ranks_per_node": ("2", "choice", "choice: two"),
    }, f"{figures}")
    check(described["sources"] == {"a": "somebody, somewhere"}, f"{described['sources']}")
    shown = run("machine", "show", "measured.yaml").stdout
    check("published 1, derived 2, estimate 1, choice 1, unknown 2" in " ".join(shown.split()), shown)


def check_checked():
    """Measurements are simulated, and compared with what is published."""
    checks = parse(check_run(["machine", "check", "measured.yaml", "--json"], 0))["checks"]
    told = [(c["what"], c["off_percent"], c["within_tolerance"]) for c in checks]
    # A message of 8 bytes takes 8 ns after one hop of 1 us, or four of them.
    check(told == [("latency", -8.36, True), ("latency", 0.2, True), ("bandwidth", -0.1, True),
                   ("barrier", checks[3]["off_percent"], True)], f"{told}")
    check(checks[0]["published_ps"] == 1100000 and checks[0]["predicted_ps"] == 1008000,
          f"{checks[0]}")
    check(checks[0]["source"] == "[a] p. 7" and checks[0]["place"] == "measured.yaml:15:5",
          f"{checks[0]}")
    shown = check_run(["machine", "check", "measured.yaml"], 0).stdout
    check(re.search(r"^latency of 8 B, far +4.000 us +4.008 us +\+0.2 %  \[a\]$", shown, re.M), shown)
    check("[a]  somebody" in shown, shown)

    write("less.yaml", MEASURED.replace("torus:4x4", "torus:2"))
    failed = check_run(["machine", "check", "less.yaml", "--json"], 3, "16 nodes are needed")
    told = [(c["within_tolerance"], c.get("error", "")[:20]) for c in parse(failed)["checks"]]
    check(told[0] == (True, "") and not told[3][0] and told[3][1] != "", f"{told}")
    write("unmeasured.yaml", "topology: torus:4x4\n")
    check_run(["machine", "check", "unmeasured.yaml"], 0, stdout="no measurements")
    write("cores.yaml", GOOD + "published:\n- {what: latency, between: node, value: 1us, source: x}\n")
    check_run(["machine", "check", "cores.yaml"], 3, "cores.yaml:13:3: a node .* no two such cores")
    check_ends()


def check_ends():
    """Ranks are where the measurement says, or it fails."""
    def predict(between, nodes, cores, domains):
        write("ends.yaml", f"topology: star:{nodes}\nnetwork: {{model: packet, bandwidth: 1TB/s}}\n"
              f"node: {{sockets: 2, domains: {domains}, cores: {cores}, local_latency: [1us, 2us, 3us],"
              f" local_bandwidth: 1TB/s}}\n"
              f"published:\n- {{what: latency, between: {between}, value: 1us, source: x}}\n")
        return run("machine", "check", "ends.yaml", "--json")

    for between, microseconds in (("domain", 1), ("socket", 2), ("node", 3)):
        found = parse(predict(between, 4, 8, 4))["checks"][0]["predicted_ps"]
        check(found == microseconds * 1000000 + 8, f"{between}: {found}")
    for case in (("domain", 4, 4, 4), ("socket", 4, 4, 2), ("node", 4, 1, 4), ("near", 1, 4, 4)):
        failed = predict(*case)
        check(failed.returncode == 3 and re.search("no two such cores|two nodes are needed", failed.stderr),
              f"{case}: {failed.returncode} {failed.stderr}")


LABELS = re.compile(r"\[([0-9a-z]+(?:, [0-9a-z]+)*)\]")


def check_origins(name):
    """Every figure of a machine has a published source, or says what else it is."""
    described = json.loads(check_run(["machine", "show", name, "--json"], 0).stdout)
    notes = [figure["note"] for figure in described["figures"]]
    for figure in described["figures"]:
        check(figure["origin"] != "unknown", f"{name}: {figure['figure']} has no origin: "
              f"'{figure['note']}' should begin with [label], derived:, estimate: or choice:")
    text = (SOURCE / f"share/machines/{name}.yaml").read_text(encoding="utf-8")
    published = re.findall(r"^ +source: (.*)$", text, re.M)
    for source in published:
        check(LABELS.match(source.strip('"')), f"{name}: the measurement '{source}' has no source")
    cited = {label for note in notes + published for labels in LABELS.findall(note)
             for label in labels.split(", ")}
    check(cited == set(described["sources"]), f"{name}: sources cited and given differ by "
          f"{cited ^ set(described['sources'])}")
    for label, source in described["sources"].items():
        check(re.search(r"(19|20)\d\d|undated", source), f"{name}: [{label}] has no year")


def check_library():
    listed = parse(run("machine", "list", "--json")).get("machines", [])
    names = [machine["name"] for machine in listed]
    files = sorted((SOURCE / "share/machines").glob("*.yaml"))
    check(names == [path.stem for path in files] and len(names) >= 16, f"the library is {names}")
    text = run("machine", "list").stdout
    for machine in listed:
        name = machine["name"]
        check(machine["summary"] and machine["nodes"] > 8, f"{machine}")
        line = rf"^{name} +{machine['nodes']} nodes  {machine['year'] or ' +'} +{machine['topology']} "
        check(re.search(line, text, re.M), f"list: no {name}")
        check_run([*REPLAY, "--machine", name, "--placement", "linear"], 0, stdout="Predicted")
        check_shown(name)
        check_origins(name)
        shown = check_run(["machine", "show", name, "--yaml"], 0).stdout
        check(shown == (SOURCE / f"share/machines/{name}.yaml").read_text(encoding="utf-8"),
              f"show {name} is not the file")
        for line in shown.splitlines():
            check(len(line) <= 96, f"{name}.yaml: a line of {len(line)} columns")
        json.loads(check_run(["machine", "show", name, "--json"], 0).stdout)


def check_interfaces():
    write("rails.yaml", "name: rails\nsummary: r\ntopology: fattree:4x8\nnode: {nics: 4, nic_group: 8}\n")
    shown = parse(check_run(["machine", "show", "rails.yaml", "--json"], 0))
    check(shown["nodes"] == 8, f"8 nodes with 4 interfaces are {shown['nodes']}")
    check_run([*REPLAY, "--machine", "rails.yaml"], 0, stdout="Predicted")
    check_run(["replay", "gen:ring", "-n", "9", "--machine", "rails.yaml"], 3,
              "9 nodes with 4 network interfaces each, but the 32 nodes of .* are interfaces of only 8")


def check_usage():
    check_run(["machine"], 2, "'list', 'show' or 'check' is missing")
    check_run(["machine", "check"], 2, "machine check: a machine is missing")
    check_run(["machine", "check", "bgp", "--yaml"], 2, "--yaml is for 'machine show'")
    check_run(["machine", "show", "bgp", "--yaml", "--json"], 2, "exclude each other")
    check_run(["machine", "xyzzy"], 2, "unknown argument 'xyzzy'; expected list, show or check")
    check_run(["machine", "lst"], 2, "unknown argument 'lst'; did you mean 'list'")
    check_run(["machine", "show"], 2, "a machine is missing")
    check_run(["machine", "list", "bgp"], 2, "unexpected argument 'bgp'")
    check_run(["machine", "show", "bgp", "bgq"], 2, "unexpected argument 'bgq'")
    check_run(["machine", "show", "bpg"], 3, "unknown machine 'bpg'; did you mean 'bgp'")
    check_run(["machine", "show", "xyzzy"], 3, "unknown machine 'xyzzy'; 'weft machine list'")
    check_run(["machine", "show", "none.yaml"], 3, "cannot read 'none.yaml': No such file")
    check_run([*REPLAY, "--machine", "bpg"], 3, "unknown machine 'bpg'; did you mean 'bgp'")
    check_run([*REPLAY, "--machine", "./"], 3, "cannot read './'")
    check_run([*REPLAY, "--machine"], 2, "option '--machine' needs an argument")
    check_run([*REPLAY, "--placement", "linaer"], 2, "--placement: .*did you mean 'linear'")
    check_run([*REPLAY, "--topo", "torus:2x2/mesh:3"], 3, "need 8 nodes.*has 12; --placement")


def check_energy():
    """Powers of a machine file give the energy of a run by the equation of docs/models/energy.md."""
    pathlib.Path("power.yaml").write_text(
        "name: power\nnetwork:\n  model: packet\n  stats: summary\ntopology: torus:4x4\n"
        "power:\n  idle: 100\n  busy: 7.5\n  link: 2\n  byte: 50\n", encoding="utf-8")
    args = ["replay", "gen:stencil2d", "-n", "16", "--machine", "power.yaml", "--json", "-q"]
    document = parse(check_run(args, 0))
    result, energy = document["result"], document["result"]["energy"]
    seconds = result["predicted_time_ps"] / 1e12
    expected = {"nodes_joules": 100 * 16 * seconds, "links_joules": 2 * 32 * seconds,
                "ranks_joules": 7.5 * 16 * (result["ranks"]["compute_ps"]["mean"] + result["ranks"]["overhead_ps"]["mean"]) / 1e12,
                "bytes_joules": 50e-12 * result["network"]["link_bytes"]}
    for name, joules in expected.items():
        check(abs(energy[name] - joules) < 1e-6 and joules > 0, f"{name}: {energy[name]}, not {joules}")
    check(abs(energy["joules"] - sum(expected.values())) < 1e-6 and
          document["scenario"]["parameters"]["power"]["busy"] == 7.5, f"{energy}")
    check_run([*args[:-2], "-q"], 0, stdout=r"\nEnergy +[0-9.]+ J, mean power [0-9.]+ k?W\n")
    without = parse(check_run(["replay", "gen:ring", "-n", "4", "--json", "-q"], 0))
    check("energy" not in without["result"] and "power" not in without["scenario"]["parameters"],
          "energy without figures")
    check_run([*args, "-p", "power.idle=-1"], 2, "power.idle")


def check_escapes():
    """What a terminal would take as a command is never printed, from texts or from comments."""
    summary = ("name: evil\nsummary: \"a \\u009b31m \\u202e b\"\n"
               "network: {model: loggp, preset: loggopsim}\n")
    pathlib.Path("evil.yaml").write_text(summary, encoding="utf-8")
    shown = check_run(["machine", "show", "evil.yaml"], 0, stdout="evil: a \\?\\?31m \\?\\?\\? b")
    check(not set(shown.stdout) & set("\x9b\u202e"), shown.stdout)
    pathlib.Path("evil.yaml").write_text("# \x9b31m \x1b and\ta tab\r\n" + summary, encoding="utf-8",
                                         newline="")
    shown = check_run(["machine", "show", "evil.yaml", "--yaml"], 0)
    check(not set(shown.stdout) & set("\x9b\x1b"), shown.stdout)
    check(shown.stdout.startswith("# ??31m ? and\ta tab\nname: evil\n"), shown.stdout)


def check_long_names():
    """A file name may have 255 bytes, so the name of its temporary file must not be longer."""
    name = "n" * 250 + ".json"
    check_run(["replay", "gen:ring", "-n", "4", "-o", name], 0)
    check(os.path.exists(name), "a file of 255 bytes")


def main():
    check_escapes()
    check_long_names()
    # GPUs that charge nothing for a message say so, as all machines do.
    check_run(["replay", "gen:ring", "-n", "4", "--machine", "h100-rail"], 0, stdout="messages cost GPUs and their hosts no time")
    check_energy()
    for mistake in MISTAKES:
        check_mistake(*mistake)
    check_includes()
    check_precedence()
    check_links()
    check_scale()
    check_notes()
    check_checked()
    check_library()
    check_interfaces()
    check_usage()
    finish()


main()
