# SPDX-License-Identifier: Apache-2.0
"""Reports: small, whole, the same from a run and from its document, and alive in a browser."""
import json
import pathlib
import re
import shutil
import subprocess

import browser
from weft_cli import check, check_run, finish, run

RUN = ["replay", "gen:stencil3d", "-n", "64", "--net", "packet", "--topo", "torus:4x4x4",
       "-p", "gen.bytes=10kB", "-p", "gen.allreduce=true", "-p", "gen.imbalance=0.3",
       "-p", "gen.markers=true", "-q"]
MANY = ["replay", "gen:stencil3d", "-n", "5000", "-p", "gen.iterations=1", "-q"]
MOST_BYTES = 5 << 20


def write(*args):
    """Runs weft, which has to succeed and to say nothing."""
    done = run(*args)
    check(done.returncode == 0 and done.stdout == "", f"{args}", done)


def parts(path):
    """What a page holds: the document and what else there is."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    found = [json.loads(re.search(rf'id="{name}">(.*?)</script>', text, re.S)[1])
             for name in ("document", "extra")]
    check(not re.search(r'(src|href)="(?!#|data:)', text.split("<script")[0]) and
          "http://" not in text and "https://" not in text, f"{path}: needs another file")
    check(len(text.encode()) < MOST_BYTES, f"{path}: {len(text.encode())} bytes")
    return found


def check_files():
    """A report of a run, and one of its result document."""
    write(*RUN, "-o", "run.html")
    document, extra = parts("run.html")
    check(document["result"]["efficiency"] and document["recording"]["spans"] and
          document["result"]["network"]["links"], "run.html: something is missing")
    path = document["critical_path"]
    check(sum(path["shares"].values()) == path["time_ps"] == document["result"]["predicted_time_ps"]
          == sum(int(step.split()[1]) for step in path["steps"].split(";")) and path["links"],
          "run.html: the critical path")
    check([(each["change"], each["from"]) for each in document["what_if"]] ==
          [("latency", "run"), ("bandwidth", "run"), ("compute", "run")], "run.html: what if")
    check(len(extra["picture"]["marks"].split(";")) == 64, "run.html: the picture")
    pathlib.Path("run.json").write_text(json.dumps(document), encoding="utf-8")
    write("report", "run.json", "-o", "again.html")
    check(parts("again.html") == [document, extra], "again.html is another report")
    write("report", "run.json", "-o", "again.json")
    check(json.loads(pathlib.Path("again.json").read_text(encoding="utf-8")) == document,
          "reading and writing changes a document")
    # As text it says what the run itself says, but for how long the simulation took.
    said, _, _ = run(*RUN[:-1]).stdout.partition("Simulation took")
    done = run("report", "run.json")
    missing = set(said.splitlines()) - set(done.stdout.splitlines())  # the page also has efficiency and what-if
    check(done.returncode == 0 and "Predicted time" in said and not missing, f"as text: without {missing}", done)
    write(*MANY, "-o", "many.html")
    check(parts("many.html")[0]["recording"]["ranks_per_row"] == 25, "many.html")
    done = run("traffic", "uniform", "--topo", "torus:4x4", "-p", "traffic.load=0.3", "--cycles",
               "500", "-q", "--json")
    pathlib.Path("traffic.json").write_text(done.stdout, encoding="utf-8")
    write("report", "traffic.json", "-o", "traffic.html")
    write("bench", "phold", "--lps", "100", "--end", "1us", "-q", "-o", "bench.html")
    check(parts("traffic.html")[1]["picture"] and "picture" not in parts("bench.html")[1], "other documents")


def check_details():
    """Links tell their load and who fills them, in both models that have queues."""
    for net in "packet", "router":
        write(*RUN, "--net", net, "--record", "-p", "net.stats=links", "-o", f"{net}.json")
        document = json.loads(pathlib.Path(f"{net}.json").read_text(encoding="utf-8"))
        network = document["result"]["network"]
        check(network["link_bytes"] == sum(link["bytes"] for link in network["links"]), net)
        for link in network["links"]:
            load = sum(int(number) for number in link["load_bytes"].split())
            filled = sum(filler["bytes"] for filler in link["filled_by"])
            check(load == link["bytes"], f"{net}: {load} bytes over time, not {link['bytes']}")
            check(filled == link["bytes"] or link["filled_by_more_bytes"] > 0, f"{net}: {link}")
        hops = document["recording"]["latency_by_hops"]
        check(sum(row["messages"] for row in hops) == document["recording"]["n_messages"] and
              all(row["min_ps"] <= row["mean_ps"] <= row["max_ps"] for row in hops) and
              max(row["max_ps"] for row in hops) == document["result"]["message_latency_ps"]["max"],
              f"{net}: latency against hops")
        write("report", f"{net}.json", "-o", f"{net}.html")
        page = parts(f"{net}.html")[0]["result"]["network"]
        check(page["hot_links"] == network["hot_links"] and "filled_by" not in page["links"][0],
              f"{net}.html: details of links")


def spent(text):
    """Picoseconds of each kind in the spans of a rank."""
    sums = dict.fromkeys("cosrk-", 0)
    for what, lasts in re.findall("([cosrk-])([0-9]+)", text):
        sums[what] += int(lasts)
    return sums


def check_tasks():
    """A program of tasks is recorded like any other, however it is run."""
    tasks = ["replay", "gen:leanmd", "-n", "27", "--record", "-q"]
    first = None
    for more in ([], ["--sched", "optimistic", "--threads", "2", "-p", "engine.fit=no"], ["--sched", "check-undo"]):
        recording = json.loads(run(*tasks, *more, "--json").stdout)["recording"]
        first = first or recording
        check(recording == first, f"{more}: another recording")
    for text, row in zip(first["spans"], first["rows"]):
        sums = spent(text)
        check((sums["c"], sums["o"], sums["r"]) ==
              (row["compute_ps"], row["overhead_ps"], row["receive_wait_ps"]), f"{row}: {sums}")
        check(sum(sums.values()) == row["finish_ps"], f"{row}: the end")
    for name in "lean.html", "lean.pftrace", "lean.prv", "lean.timeline.csv":
        write(*tasks, "-o", name)


def check_choice():
    """Single spans of some ranks, of a run of which there are too many."""
    write(*MANY, "--record-ranks", "7:9,100", "--record-limit", "200", "-o", "few.html")
    write(*MANY, "--record-limit", "1000000", "--record", "-o", "all.json")
    few = parts("few.html")[0]["recording"]
    everything = json.loads(pathlib.Path("all.json").read_text(encoding="utf-8"))["recording"]
    check(few["spans"] == [everything["spans"][rank] for rank in (7, 8, 9, 100)] and
          few["rows"] == everything["rows"] and few["matrix"] == everything["matrix"], "few.html")
    write("report", "all.json", "--ranks", "7:9,100", "-o", "few.timeline.csv")
    write(*MANY, "--record-ranks", "7-9,100", "--record-limit", "200", "-o", "same.timeline.csv")
    text = pathlib.Path("few.timeline.csv").read_text(encoding="utf-8")
    check(text == pathlib.Path("same.timeline.csv").read_text(encoding="utf-8"), "chosen twice")
    check({line.split(",")[0] for line in text.splitlines()[1:]} == {"7", "8", "9", "100"}, "ranks")
    write("report", "all.json", "--ranks", "7", "--time", "100us:200us", "-o", "cut.timeline.csv")
    lines = pathlib.Path("cut.timeline.csv").read_text(encoding="utf-8").splitlines()[1:]
    lengths = [int(line.split(",")[3]) - int(line.split(",")[2]) for line in lines]
    check(sum(lengths) == 100_000_000 and min(lengths) > 0, f"a rank is never idle: {lines}")
    write("report", "all.json", "--limit", "1000", "-o", "rows.timeline.csv")
    check("\n25,25," in pathlib.Path("rows.timeline.csv").read_text(encoding="utf-8"), "a limit")
    check_run(["report", "all.json", "--ranks", "5000", "-o", "x.prv"], 2, "no rank 5000")
    check_run(["report", "all.json", "--ranks", "1", "-o", "x.html"], 2, "are for timelines")
    check_run([*MANY, "--record-ranks", "5000", "-o", "x.prv"], 2, "the ranks 0 to 4999")
    check_run([*MANY, "--record-time", "2ms", "-o", "x.prv"], 2, "expected two times")


def check_otf2():
    """Read by the library's own program; the same again, byte for byte."""
    done = run(*RUN, "-o", "t.otf2")
    if done.returncode == 3 and "built without the OTF2 library" in done.stderr:
        return
    check(done.returncode == 0 and done.stdout == "", "t.otf2", done)
    files = {path.name: path.read_bytes() for path in pathlib.Path("t.otf2").rglob("*")
             if path.is_file()}
    write("report", "run.json", "-f", "-o", "t.otf2")
    check(files == {path.name: path.read_bytes() for path in pathlib.Path("t.otf2").rglob("*")
                    if path.is_file()}, "t.otf2: not the same again")
    check_run([*RUN, "-o", "t.otf2"], 3, "exists; -f overwrites it")
    check_archive(parts("run.html")[0]["recording"])
    write("report", "run.json", "--ranks", "3:9", "--time", "1ms:2ms", "-o", "cut.otf2")
    check(run("info", "cut.otf2").returncode == 0, "cut.otf2: not read back")
    if not shutil.which("otf2-print"):
        return
    text = subprocess.run(["otf2-print", "t.otf2/traces.otf2"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    inside, depth = {}, {}
    for kind, rank, at in re.findall(r"^(ENTER|LEAVE|MPI_SEND|MPI_RECV) +(\d+) +(\d+)", text, re.M):
        inside.setdefault(rank, []).append(int(at))
        depth[rank] = depth.get(rank, 0) + {"ENTER": 1, "LEAVE": -1}.get(kind, 0)
        check(kind in ("ENTER", "LEAVE") or depth[rank] > 1, "t.otf2: a message outside of a call")
    check(all(times == sorted(times) for times in inside.values()), "t.otf2: order")
    check(not any(depth.values()), "t.otf2: regions that do not end")
    definitions = subprocess.run(["otf2-print", "-G", "t.otf2/traces.otf2"], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout
    check('"rank 63"' in definitions and '"node 63"' in definitions, "t.otf2: names")


PROGRAM = """group half = rank % 2, 2, size / 2
repeat 3 {
    region step {
        region exchange {
            irecv (rank + size - 1) % size 100 tag 7
            isend (rank + 1) % size 100 tag 7
            compute 1us * (1 + rank % 3)
            waitall
        }
        sendrecv (rank + 1) % size from (rank + size - 1) % size 200 tag 3
        if rank == 0 { recv any 300 tag any } else if rank == 1 { send 0 300 tag 5 }
        bcast 64 root 1 in half
    }
}
"""


def check_regions():
    """Regions contain their calls, a wildcard receives what was sent, a root is a rank of the run."""
    pathlib.Path("regions.txt").write_text(PROGRAM, encoding="utf-8")
    args = ["replay", "gen:text", "-n", "8", "-p", "gen.file=regions.txt", "-q"]
    write(*args, "--record-calls", "-o", "regions.json")
    recording = json.loads(pathlib.Path("regions.json").read_text(encoding="utf-8"))["recording"]
    names, calls = recording["region_names"], [text.split(";") for text in recording["regions"]]
    check(names == ["step", "exchange"] and all([each[0] for each in rank] == ["0", "1"] * 3 for rank in calls),
          f"{names}, {calls[0]}")
    number = recording["call_names"].index("bcast")
    roots = {rank: {call.split()[3] for call in text.split(";") if call.split()[0] == str(number)}
             for rank, text in enumerate(recording["calls"])}
    check(all(found == {str(2 + rank % 2)} for rank, found in roots.items()), f"roots: {roots}")
    write("report", "regions.json", "-o", "regions.calls.csv")
    lines = [line.split(",") for line in pathlib.Path("regions.calls.csv").read_text(encoding="utf-8").splitlines()[1:]]
    steps = [line for line in lines if line[4] == "step"]
    check(len(steps) == 24 and all(any(int(step[1]) <= int(line[1]) and int(line[2]) <= int(step[2])
                                       for step in steps if step[0] == line[0])
                                   for line in lines if line[4] in ("waitall", "sendrecv", "bcast")), "calls in regions")
    done = run("report", "regions.json", "-o", "regions.otf2")
    if done.returncode == 3:
        return
    info = json.loads(run("info", "regions.otf2", "--json").stdout)
    records = {name: row["count"] for name, row in info["records"].items()}
    kinds = {name: row["calls"] for name, row in info["ops_by_kind"].items()}
    check(records["MPI_SEND"] == records["MPI_RECV"] == 24 + 24 + 3 and records["ENTER:exchange"] == 24 and
          kinds["sendrecv"] == 24 and kinds["send"] == kinds["recv"] == 27, f"{records} {kinds}")


def check_archive(recording):
    """Our own reader finds the calls: their messages, collectives and times."""
    info = json.loads(run("info", "t.otf2", "--json").stdout)
    records = {name: row["count"] for name, row in info["records"].items()}
    calls = {row["call"]: row for row in recording["by_call"]}
    check(records["MPI_SEND"] == records["MPI_RECV"] == calls["isend"]["calls"], f"t.otf2: {records}")
    for call in "irecv", "isend", "waitall", "allreduce":
        check(records[f"ENTER:MPI_{call.capitalize()}"] == calls[call]["calls"], f"t.otf2: {call}")
    check(records["COLL_END:ALLREDUCE"] == records["MPI_COLLECTIVE_BEGIN"] == 192 and
          records["ENTER:program"] == 64, f"t.otf2: {records}")
    done = run("replay", "t.otf2", "--json", "-q")
    computing = json.loads(done.stdout)["result"]["ranks"]["compute_ps"]
    mean = sum(row["compute_ps"] for row in recording["rows"]) // 64
    check(abs(computing["mean"] - mean) < 1000, f"t.otf2: computing {computing}, not {mean}", done)


def check_page(name, messages):
    """Real events of a mouse on a page that has nothing to complain about."""
    page = browser.Browser()
    page.call("Page.navigate", url=pathlib.Path(name).resolve().as_uri())
    check(page.wait('document.documentElement.dataset.ready === "yes"'), f"{name}: not ready")
    page.value('document.getElementById("timeline").scrollIntoView({block: "center"})')
    box = page.value('(() => { const b = document.getElementById("timeline")'
                     '.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()')
    x, y = box[0] + box[2] / 2, box[1] + box[3] / 2
    view = 'Number(timeline.dataset.to) - Number(timeline.dataset.from)'
    page.mouse("mouseMoved", x, y)
    check(page.wait('!document.getElementById("hint").hidden'), f"{name}: no words for the mouse")
    whole = page.value(view)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300)
    check(page.wait(f"{view} < {whole} / 2"), f"{name}: the wheel does not zoom")
    before = page.value("Number(timeline.dataset.from)")
    page.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
    page.mouse("mouseMoved", x - 100, y, button="left", buttons=1)
    page.mouse("mouseReleased", x - 100, y, button="left")
    check(page.wait(f"Number(timeline.dataset.from) > {before}"), f"{name}: cannot be dragged")
    page.value('document.getElementById("zoom-all").click()')
    check(page.wait(f"{view} === {whole}"), f"{name}: no way back")
    if messages:
        page.value('document.getElementById("show-messages").click()')
    for choice, value in ("matrix-what", "messages"), ("bars-order", "number"):
        page.value(f'(() => {{ const s = document.getElementById("{choice}"); s.value = "{value}";'
                   ' s.dispatchEvent(new Event("change")); })()')
    page.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    check(page.problems == [], f"{name}: {page.problems}")
    page.close()


def check_path(name):
    """The critical path: its shares have words, and it is drawn on the timeline if wanted."""
    page = browser.Browser()
    page.call("Page.navigate", url=pathlib.Path(name).resolve().as_uri())
    check(page.wait('document.documentElement.dataset.ready === "yes"'), f"{name}: not ready")
    page.value('document.getElementById("path-shares").scrollIntoView({block: "center"})')
    box = page.value('(() => { const b = document.getElementById("path-shares")'
                     '.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()')
    page.mouse("mouseMoved", box[0] + 20, box[1] + box[3] / 2)
    check(page.wait('document.getElementById("hint").textContent.startsWith("computing: ")'),
          f"{name}: no words for the path")
    check(page.value('document.querySelectorAll("#path table").length') >= 4 and
          page.value('document.getElementById("what-if").clientHeight') > 60,
          f"{name}: tables and bars")
    drawn = page.value('timeline.toDataURL()')
    page.value('document.getElementById("show-path").click()')
    check(page.wait(f"timeline.toDataURL() !== {json.dumps(drawn)}"), f"{name}: no path is drawn")
    check(page.problems == [], f"{name}: {page.problems}")
    page.close()


def check_classes():
    """How busy the links of each dimension are."""
    write(*RUN, "-p", "net.stats=classes", "-f", "-o", "classes.html")
    page = pathlib.Path("classes.html").read_text(encoding="utf-8")
    found = re.search(r"Links by dimension or level(.*?)</table>", page, re.S)
    rows = re.findall(r"<td[^>]*>([xyz])</td>\s*<td[^>]*>128</td>\s*<td[^>]*>[0-9.]+ ?%", found[1] if found else "")
    check(rows == ["x", "y", "z"], f"links by dimension: {rows} {found and found[1][:400]}")


def check_errors():
    """Files that are no results."""
    for text, words in (("{", "not JSON"), ("[]", "instead of an object"), ("{}", "not a result doc")):
        pathlib.Path("bad.json").write_text(text, encoding="utf-8")
        done = run("report", "bad.json")
        check(done.returncode == 3 and words in done.stderr, f"{text}: {done.stderr}", done)
    done = run("report", "missing.json")
    check(done.returncode == 3 and "missing.json" in done.stderr, "a missing file", done)
    check(run("report").returncode == 2, "no file")


def check_compare():
    """What differs, and only that; exit code 1 if anything does."""
    write(*RUN, "-o", "base.json")
    write(*RUN, "--sched", "conservative", "--threads", "2", "-p", "engine.fit=no",
          "--record", "-o", "same.json")
    write(*RUN, "-p", "net.bandwidth=10MB/s", "-o", "slow.json")
    check_run(["compare", "base.json", "same.json", "base.json"], 0,
              stdout=r"(?s)same.json, compared with base.json:\n  equal\nbase.json.*equal\n$")
    done = check_run(["compare", "base.json", "slow.json"], 1,
                     stdout=r"  \d\.\d+ x slower: .*, of which \d+ % is waiting .*\n"
                            r"  of the time of a rank, means:\n(?:    \S.* -> .*\n)+"
                            r"  changed: net.bandwidth not set -> 10MB/s\n"
                            r"  parameters\.net\.bandwidth: 10MB/s, was 10GB/s\n")
    check(done.stdout.count("\n") < 20, "more than fits a screen", done)
    everything = check_run(["compare", "-v", "base.json", "slow.json"], 1)
    documents = [json.loads(pathlib.Path(f"{name}.json").read_text(encoding="utf-8"))
                 for name in ("base", "slow")]
    for document in documents:
        document["scenario"].pop("settings")
    expected = sum(len(differences(documents[0][part], documents[1][part]))
                   for part in ("scenario", "result"))  # what a user set is among the parameters, too
    check(everything.stdout.count(", was ") == expected + 1, f"not {expected} differences",
          everything)
    write(*RUN, "-p", "mpi.eager_max=4Ki", "-o", "eager.json")
    write(*RUN, "-p", "mpi.eager_max=unlimited", "-o", "unlimited.json")
    check_run(["compare", "base.json", "unlimited.json"], 0)
    check_run(["compare", "base.json", "eager.json"], 1, stdout=r"mpi\.eager_max: 4KiB, was unlimited\n")
    check_run(["compare", "base.json"], 2, "a result document is missing")


def differences(a, b):
    """The leaves that differ, by the straight way."""
    if isinstance(a, dict) and isinstance(b, dict):
        return [each for key in {**a, **b} for each in differences(a.get(key, ...), b.get(key, ...))]
    if isinstance(a, list) and isinstance(b, list):
        rest = [[...]] * abs(len(a) - len(b))
        return [each for pair in zip(a, b) for each in differences(*pair)] + rest
    return [] if a == b else [(a, b)]


def check_explain():
    """At most ten lines, each with a number that the document has."""
    write(*RUN, "--efficiency", "-p", "net.stats=summary", "-o", "full.json")
    done = check_run(["explain", "full.json"], 0, stdout="Load imbalance limits it most: the busiest")
    lines = done.stdout.splitlines()
    check(5 < len(lines) <= 10 and all(re.search(r"\d", line) for line in lines), "lines", done)
    document = json.loads(pathlib.Path("full.json").read_text(encoding="utf-8"))
    balance = document["result"]["efficiency"]["load_balance_percent"]
    check(f"(load balance {balance:.1f} %)" in done.stdout, "load balance", done)
    hot = document["result"]["network"]["hot_links"][0]
    check(f"from vertex {hot['vertex']} to {hot['to']}, is busy for {hot['busy_percent']:.1f} %"
          in done.stdout, "the busiest link", done)
    write(*RUN, "--record", "-o", "path.json")
    done = check_run(["explain", "path.json"], 0)
    path = json.loads(pathlib.Path("path.json").read_text(encoding="utf-8"))["critical_path"]
    share = 100 * path["shares"]["compute_ps"] / path["time_ps"]
    check(f"Its critical path is {share:.1f} % computing" in done.stdout and
          f"longest on rank {path['ranks'][0]['rank']} " in done.stdout and
          "at most" in done.stdout, "the critical path", done)
    check_run(["explain", "traffic.json"], 0, stdout="accepts 0.[0-9]+ of the 0.[0-9]+ phits")


def fields(data):
    """The fields of a protobuf message: number and value, bytes for what has a length."""
    at, found = 0, []

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            found.append((key >> 3, varint()))
        else:
            length = 8 if key & 7 == 1 else varint()
            check(key & 7 in (1, 2), f"wire type {key & 7}")
            found.append((key >> 3, data[at:at + length]))
            at += length
    check(at == len(data), "a message is cut off")
    return found


def check_perfetto(recording):
    """By a reader of our own: slices that end, flows that lead somewhere."""
    tracks, begun, slices, flows, counters = {}, {}, {}, [set(), set()], set()
    children, arguments = {}, set()
    links = parts("run.html")[0]["result"]["network"]["hot_links"]
    for number, packet in fields(pathlib.Path("t.pftrace").read_bytes()):
        packet = dict(fields(packet))
        check(number == 1, "no packet")
        if 60 in packet:
            track = dict(fields(packet[60]))
            tracks[track[1]] = dict(fields(track[4]))[5].decode() if 4 in track else None
            if 5 in track:
                children[track[1]] = track[5]
            continue
        event = dict(fields(packet[11]))
        check(event[11] in tracks, "an event of no track")
        if event[9] == 4:
            counters.add(event[11])
        if event[9] == 1:
            check(event[11] not in begun, "a slice in another")
            begun[event[11]] = packet[8]
        elif event[9] == 2:
            check(begun.pop(event[11]) <= packet[8], "a slice that ends before it begins")
            which = "call" if event[11] in children else "span"
            slices[which] = slices.get(which, 0) + 1
        if 4 in event:
            arguments.add(dict(fields(event[4]))[10].decode())
        for side, field in enumerate((47, 48)):
            if field in event:
                flows[side].add(event[field])
    check(counters == {1, *range(2, 2 + len(links))}, f"counters {counters}")
    check(not begun and slices == {"span": sum(len(re.findall("[cosrk]", s)) for s in recording["spans"]),
                                   "call": sum(len(s.split(";")) for s in recording["calls"])},
          f"{slices} slices")
    check(set(children.values()) == {number for number, name in tracks.items() if name} and
          arguments == {"bytes"}, f"calls below their ranks: {arguments}")
    check(flows[0] == flows[1] and len(flows[0]) == recording["n_messages"], "flows")
    check([name for name in tracks.values() if name] == [f"rank {i}" for i in range(64)], "tracks")


def check_paraver(recording):
    """States add up, lines are in order, communications are the messages."""
    head, *lines = pathlib.Path("t.prv").read_text(encoding="utf-8").splitlines()
    lines = [[int(word) for word in line.split(":")] for line in lines]
    check(re.fullmatch(r"#Paraver \(.*\):\d+_ns:64\((1,){63}1\):1:64\((1:\d+,){63}1:64\)", head), head)
    times = [line[5] for line in lines]
    check(times == sorted(times), "lines out of order")
    computing = sum(line[6] - line[5] for line in lines if line[0] == 1 and line[7] == 1)
    expected = sum(row["compute_ps"] for row in recording["rows"]) / 1000
    check(abs(computing - expected) <= len(lines), f"{computing} ns of computing, not {expected}")
    check(sum(line[0] == 3 for line in lines) == recording["n_messages"], "messages")
    check(all(len(line) == {1: 8, 2: 8, 3: 15}[line[0]] for line in lines), "words of lines")
    events = [line for line in lines if line[0] == 2]
    calls = sum(len(text.split(";")) for text in recording["calls"])
    check(len(events) == 2 * calls and sum(line[7] == 0 for line in events) == calls and
          {line[6] for line in events} == {50000001, 50000002}, f"{len(events)} events of {calls} calls")
    check(len({line[14] for line in lines if line[0] == 3}) > 3, "tags of messages")
    names = pathlib.Path("t.pcf").read_text(encoding="utf-8")
    check(all(f"MPI_{name.capitalize()}\n" in names for name in recording["call_names"]), names)
    write(*[word.replace("4x4x4", "4x4x2") for word in RUN], "--ranks-per-node", "2", "-o", "two.prv")
    head = pathlib.Path("two.prv").read_text(encoding="utf-8").splitlines()[0]
    check(":32(2,2," in head and "(1:1,1:1,1:2," in head, f"two tasks a node: {head}")
    check("computing" in pathlib.Path("t.pcf").read_text(encoding="utf-8") and
          "LEVEL THREAD SIZE 64" in pathlib.Path("t.row").read_text(encoding="utf-8"), "names")


def check_calls_csv(recording):
    """A line for each call, with its arguments; a table of links that says why it is empty."""
    write("report", "run.json", "-o", "t.calls.csv")
    head, *lines = pathlib.Path("t.calls.csv").read_text(encoding="utf-8").splitlines()
    check(head == "rank,from_ps,until_ps,type,name,peer,tag,communicator,bytes", head)
    check(len(lines) == sum(len(text.split(";")) for text in recording["calls"]), f"{len(lines)} calls")
    sends = [line.split(",") for line in lines if ",isend," in line]
    check(all(len(line) == 9 and int(line[5]) < 64 and line[8] == "10000" for line in sends), sends[:2])
    write("report", "base.json", "-o", "links.csv")
    text = pathlib.Path("links.csv").read_text(encoding="utf-8")
    check(text.startswith("# no links were recorded: run with -p net.stats=links"), text)


def check_timelines():
    """Files for other programs: what the recording has, and the same again."""
    recording = parts("run.html")[0]["recording"]
    for name in "t.pftrace", "t.prv", "t.timeline.csv":
        write(*RUN, "-o", name)
        first = pathlib.Path(name).read_bytes()
        write("report", "run.json", "-f", "-o", name)
        check(pathlib.Path(name).read_bytes() == first, f"{name}: not the same again")
        write(*MANY, "--record-limit", "1000", "-o", f"many.{name}")
        check(1000 < pathlib.Path(f"many.{name}").stat().st_size < MOST_BYTES, f"many.{name}")
    check_perfetto(recording)
    check_paraver(recording)
    check_calls_csv(recording)
    lines = pathlib.Path("t.timeline.csv").read_text(encoding="utf-8").splitlines()[1:]
    ends = {int(line.split(",")[0]): int(line.split(",")[3]) for line in lines}
    check([ends[rank] for rank in range(64)] == [row["finish_ps"] for row in recording["rows"]],
          "t.timeline.csv: ends of ranks")


def main():
    check_files()
    check_classes()
    check_errors()
    check_compare()
    check_explain()
    check_timelines()
    check_details()
    check_tasks()
    check_choice()
    check_otf2()
    check_regions()
    if browser.find():
        check_page("run.html", True)
        check_page("many.html", False)
        check_page("few.html", True)
        check_page("router.html", True)
        check_page("lean.html", True)
        check_path("run.html")
    finish()


main()
