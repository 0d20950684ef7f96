/* SPDX-License-Identifier: Apache-2.0 */
/* The network: its picture with the load of its links, latencies, load over time. */

/* Links by "from to", from the list of all or of the busiest. */
function linkLoads() {
  const loads = new Map(), network = get("result.network");
  for (const link of (network && (network.links || network.hot_links)) || []) {
    loads.set(`${link.vertex} ${link.to}`, link);
  }
  return loads;
}

/* As the user's graph file names it, if there is one. */
function vertexName(vertex) {
  const {nodes, names} = extra.picture || {nodes: Infinity};
  return names ? names[vertex] : vertex < nodes ? `node ${vertex}` : `switch ${vertex - nodes}`;
}

function pictureFigure() {
  const picture = extra.picture, loads = linkLoads();
  const marks = picture.marks.split(";").map((text) => {
    const [x, y, r, kind, vertex] = text.split(" ").map(Number);
    return {x, y, r, kind, vertex};
  });
  const lines = picture.lines === "" ? [] : picture.lines.split(";").map((text) => {
    const [a, b, cx, cy] = text.split(" ").map(Number);
    const there = loads.get(`${marks[a].vertex} ${marks[b].vertex}`), back = loads.get(`${marks[b].vertex} ${marks[a].vertex}`);
    return {a, b, cx, cy, there, back, busy: Math.max(there ? there.busy_percent : 0, back ? back.busy_percent : 0) / 100};
  });
  const known = lines.some((line) => line.there || line.back), most = Math.max(...lines.map((l) => l.busy), 1e-9);
  /* Of the capacity of a link, or of a tenth, hundredth and so on of it if no link is busier; or relative to the busiest. */
  const whole = [0.0001, 0.001, 0.01, 0.1].find((each) => most <= each) || 1, scale = {full: whole};
  const [left, top, right, bottom] = picture.box.split(" ").map(Number);
  const at = {scale: 1, x: 0, y: 0};
  const own = drawing(440, `Picture of the network ${get("scenario.topology")}`, (pen, width, height) => {
    at.scale = Math.min(width / (right - left), height / (bottom - top), 2.5);
    at.x = (width - (left + right) * at.scale) / 2;
    at.y = (height - (top + bottom) * at.scale) / 2;
    const X = (x) => at.x + x * at.scale, Y = (y) => at.y + y * at.scale;
    for (const line of [...lines].sort((a, b) => a.busy - b.busy)) {
      const share = Math.min(line.busy / scale.full, 1);
      pen.strokeStyle = known ? heat(share) : color("--line");
      pen.lineWidth = known ? 1 + 3 * share : 1.2;
      pen.beginPath();
      pen.moveTo(X(marks[line.a].x), Y(marks[line.a].y));
      pen.quadraticCurveTo(X(line.cx), Y(line.cy), X(marks[line.b].x), Y(marks[line.b].y));
      pen.stroke();
    }
    const chosen = new Set([...selected].map((rank) => nodes[rank]));
    for (const mark of marks) {
      const r = Math.max(mark.r * at.scale * 0.7, 1);
      pen.fillStyle = color(chosen.has(mark.vertex) ? "--accent" : mark.kind === 2 ? "--latency" : "--soft");
      pen.globalAlpha = mark.kind === 0 ? 0.12 : 1;
      pen.beginPath();
      if (mark.kind === 2 || mark.kind === 3) pen.rect(X(mark.x) - r, Y(mark.y) - r, 2 * r, 2 * r);
      else pen.arc(X(mark.x), Y(mark.y), r, 0, 7);
      pen.fill();
      pen.globalAlpha = 1;
    }
  }, {id: "picture"});
  const linkAt = (x, y) => {
    let best = null, near = 8;
    for (const line of lines) {
      for (let t = 0.05; t < 1; t += 0.05) {
        const a = marks[line.a], b = marks[line.b], u = 1 - t;
        const px = at.x + at.scale * (u * u * a.x + 2 * u * t * line.cx + t * t * b.x);
        const py = at.y + at.scale * (u * u * a.y + 2 * u * t * line.cy + t * t * b.y);
        const far = Math.hypot(px - x, py - y);
        if (far < near) { near = far; best = line; }
      }
    }
    return best;
  };
  /* The ranks on the nodes of a link, if it ends at nodes. */
  const nodes = recording && recording.nodes ? numbersOf(recording.nodes) : [];
  own.canvas.addEventListener("click", (event) => {
    const box = own.canvas.getBoundingClientRect(), link = linkAt(event.clientX - box.left, event.clientY - box.top);
    const ends = link ? [marks[link.a].vertex, marks[link.b].vertex] : [];
    select(nodes.flatMap((node, rank) => ends.includes(node) ? [rank] : []));
  });
  onHover(own.canvas, (x, y) => {
    const best = linkAt(x, y);
    if (!best) return "";
    const words = (from, to, link) => link ? `\n${vertexName(from)} → ${vertexName(to)}: ${link.busy_percent.toFixed(1)} % busy, ${size(link.bytes)}` + (link.peak_wait_ps == null ? "" : `, longest wait ${time(link.peak_wait_ps)}`) : "";
    const a = marks[best.a].vertex, b = marks[best.b].vertex;
    return (words(a, b, best.there) + words(b, a, best.back)).trim() || `${vertexName(a)} – ${vertexName(b)}`;
  });
  const fullText = element("span", {id: "links-full"}, percent(scale.full));
  const choose = (event) => {
    scale.full = event.target.value === "relative" ? most : whole;
    fullText.textContent = percent(scale.full);
    own.again();
  };
  own.canvas.dataset.known = known ? "yes" : "no";
  return element("div", {}, known ? element("div", {class: "tools"},
    element("label", {}, "Scale ", element("select", {id: "links-scale", onchange: choose},
      element("option", {value: "absolute"}, `utilisation, 0 to ${100 * whole} %`), element("option", {value: "relative"}, "relative to the busiest link"))),
    element("span", {class: "scale"}, "0", element("i"), fullText)) : null,
  figure(own, `${get("scenario.topology")}${pictureWords(marks, known, most)}`, ["from", "to", "busy", "bytes"], () => [...loads.values()]
    .sort((a, b) => b.busy_percent - a.busy_percent).map((link) => [vertexName(link.vertex), vertexName(link.to), percent(link.busy_percent / 100), size(link.bytes)])));
}

/* What the colours of the links mean, or why they have none. */
function pictureWords(marks, known, most) {
  const network = get("result.network") || {}, stats = get("scenario.parameters.net.stats"), distances = (recording && recording.latency_by_hops) || [];
  if (known) return `; colour and width: utilisation of a link, at most ${percent(most)}` + (network.links ? "" : "; only the busiest links are known (-p net.stats=links records all)");
  if (stats === undefined) return "; --net packet and --net router measure the utilisation of links";
  if (marks.some((mark) => mark.vertex < 0)) return "; a schematic picture, because the network is too large to draw every link: a dot stands for a part of it; the table of the busiest links has their utilisation";
  if (distances.length && distances.every((one) => number(one.hops) === 0)) return "; no message used a link";
  return network.links_used > 0 ? "; the links were left out, because there are too many" : "; the utilisation of links was not recorded (-p net.stats=links)";
}

function linkHistogram() {
  const links = get("result.network.links");
  if (!links || links.length === 0) return null;
  const most = Math.max(...links.map((l) => l.busy_percent), 0.001), N = 25;
  const bars = Array.from({length: N}, (_, i) => ({from: most * i / N, to: most * (i + 1) / N, n: 0}));
  for (const link of links) bars[Math.min(Math.floor(link.busy_percent / most * N), N - 1)].n++;
  const {own, head, rows} = histogram(bars, (v) => percent(v / 100), "links", "utilisation");
  return figure(own, `Utilisation of the ${count(links.length)} links that carried packets.`, head, rows);
}

function latencyHistogram() {
  const spread = get("result.network.latency_ps");
  if (!spread || !Array.isArray(spread.histogram) || !spread.histogram.some((b) => number(b.messages) > 0)) return null;
  const bars = evenClasses(spread.histogram.map((b) => ({...classOf(number(b.least_ps)), n: number(b.messages)})));
  const {own, head, rows} = histogram(bars, time, "messages", "latency");
  return figure(own, `Latency of messages: median ${time(spread.p50)} (p50), p99 ${time(spread.p99)}, max ${time((get("result.message_latency_ps") || spread).max)}.`, head, rows);
}

function hopsHistogram() {
  const hops = get("result.network.packets_by_hops");
  if (!hops || !hops.some((n) => number(n) > 0)) return null; // no message left its node
  const last = hops.reduce((most, n, i) => number(n) > 0 ? i : most, 0);
  const bars = hops.slice(0, last + 1).map((n, i) => ({from: i - 0.5, to: i + 0.5, n: number(n), name: `${i} hops`}));
  const {own, head, rows} = histogram(bars, (v) => Number.isInteger(v) ? String(v) : "", "packets", "hops");
  return figure(own, "Packets by number of hops.", head, rows);
}

function arrivalsFigure() {
  const bytes = numbersOf(recording.received_bytes), bin = number(recording.bin_ps), end = number(recording.end_ps) || 1;
  const most = Math.max(...bytes, 1), BOTTOM = 22, LEFT = 82, TOP = 8, rate = (n) => `${size(n / bin * 1e12)}/s`;
  const own = drawing(170, "Throughput of messages that arrive at all ranks, over time", (pen, all, height) => {
    const width = all - LEFT, tall = height - TOP - BOTTOM;
    for (const share of [0, 0.5, 1]) {
      const y = TOP + tall * (1 - share);
      pen.fillStyle = color("--soft"); pen.textAlign = "right";
      pen.fillText(share === 0 ? "0" : rate(share * most), LEFT - 6, y + 4);
      pen.fillStyle = color("--line"); pen.fillRect(LEFT, y - 0.5, width, 1);
    }
    pen.fillStyle = color("--accent");
    bytes.forEach((n, i) => {
      const x = LEFT + Math.floor(i * bin / end * width), until = LEFT + Math.floor((i + 1) * bin / end * width);
      pen.fillRect(x, TOP + tall * (1 - n / most), Math.max(until - x, 1), tall * n / most);
    });
    timeAxis(pen, LEFT, width, height - BOTTOM, 0, end);
  });
  onHover(own.canvas, (x, _, width) => {
    const i = Math.floor((x - LEFT) / (width - LEFT) * end / bin);
    return bytes[i] === undefined ? "" : `at ${time(i * bin)}: ${size(bytes[i] / bin * 1e12)}/s`;
  });
  return figure(own, `Throughput of messages that arrive at all ranks together, over time; peak ${rate(most)} in a bin of ${time(bin)}. A message counts as a whole when its last byte arrives.`, ["from", "bytes", "throughput"], () =>
    bytes.map((n, i) => [time(i * bin), size(n), rate(n)]));
}

/* Latency of messages by the hops between their nodes. */
function latencyByHops() {
  const list = recording && recording.latency_by_hops;
  if (!list || list.length === 0) return null;
  const most = Math.max(...list.map((l) => number(l.max_ps)), 1), LEFT = 62, BOTTOM = 22, TOP = 8;
  const Y = (ps, height) => TOP + (height - TOP - BOTTOM) * (1 - number(ps) / most);
  const X = (i, width) => LEFT + (i + 0.5) * (width - LEFT - 8) / list.length;
  const own = drawing(190, "Latency of messages by hops", (pen, width, height) => {
    pen.strokeStyle = color("--line"); pen.fillStyle = color("--soft"); pen.textAlign = "right";
    for (const at of ticks(0, most, 4)) {
      pen.beginPath(); pen.moveTo(LEFT, Y(at, height)); pen.lineTo(width - 8, Y(at, height)); pen.stroke();
      pen.fillText(at === 0 ? "0" : time(at), LEFT - 6, Y(at, height) + 4);
    }
    const wide = Math.max(Math.min((width - LEFT) / list.length / 3, 16), 2);
    pen.textAlign = "center";
    list.forEach((l, i) => {
      const x = X(i, width);
      pen.strokeStyle = color("--soft");
      pen.beginPath(); pen.moveTo(x, Y(l.min_ps, height)); pen.lineTo(x, Y(l.max_ps, height)); pen.stroke();
      pen.fillStyle = color("--accent");
      pen.globalAlpha = 0.45;
      pen.fillRect(x - wide / 2, Y(l.p99_ps, height), wide, Math.max(Y(l.p50_ps, height) - Y(l.p99_ps, height), 1));
      pen.globalAlpha = 1;
      pen.beginPath(); pen.arc(x, Y(l.mean_ps, height), 3, 0, 7); pen.fill();
      pen.fillStyle = color("--soft");
      if (list.length < 24 || i % 4 === 0) pen.fillText(String(l.hops), x, height - 6);
    });
  }, {id: "latency-by-hops"});
  onHover(own.canvas, (x, _, width) => {
    const l = list[Math.floor((x - LEFT) / ((width - LEFT - 8) / list.length))];
    return l ? `${l.hops} hops: ${count(l.messages)} messages\n${time(l.min_ps)} to ${time(l.max_ps)}, mean ${time(l.mean_ps)}\nmedian ${time(l.p50_ps)} (p50), p99 ${time(l.p99_ps)}` : "";
  });
  return figure(own, "Latency of messages by the hops of a shortest route between their nodes. Dots: mean; bars: p50 to p99; lines: min to max.",
    ["hops", "messages", "min", "mean", "median", "p99", "max"], () => list.map((l) => [String(l.hops), count(l.messages),
      ...[l.min_ps, l.mean_ps, l.p50_ps, l.p99_ps, l.max_ps].map(time)]));
}

/* The throughput of a link over time, as a small picture. */
function sparkline(link) {
  const bytes = numbersOf(link.load_bytes), wide = number(link.load_window_ps), end = number(recording ? recording.end_ps : bytes.length * wide) || 1;
  const most = Math.max(...bytes, 1);
  const own = drawing(26, `Throughput over time, at most ${size(most / wide * 1e12)}/s`, (pen, width, height) => {
    pen.fillStyle = color("--idle");
    pen.fillRect(0, 0, width, height);
    pen.fillStyle = color("--accent");
    bytes.forEach((n, i) => {
      const x = Math.floor(i * wide / end * width), tall = height * n / most;
      pen.fillRect(x, height - tall, Math.max(Math.floor((i + 1) * wide / end * width) - x, 1), tall);
    });
  });
  own.canvas.style.width = "180px";
  onHover(own.canvas, (x, _, width) => {
    const i = Math.floor(x / width * end / wide);
    return bytes[i] === undefined ? "" : `at ${time(i * wide)}: ${size(bytes[i] / wide * 1e12)}/s`;
  });
  return own.canvas;
}

function fillers(link) {
  if (!link.filled_by) return "";
  const all = number(link.bytes) || 1, more = number(link.filled_by_more_bytes);
  const words = link.filled_by.slice(0, 3).map((f) => `node ${f.node} ${more > 0 ? "≥ " : ""}${percent(number(f.bytes) / all)}`);
  return words.join(", ") + (link.filled_by.length > 3 || more > 0 ? ", others" : "");
}

function hotLinks(section, links) {
  const named = extra.picture && extra.picture.names ? vertexName : String, detailed = links.some((l) => l.load_bytes), waits = links.some((l) => l.wait_ps != null);
  const head = ["from vertex", "port", "to vertex", "busy", "bytes", "packets", ...(waits ? ["total wait", "longest wait"] : []),
    ...(detailed ? ["sources", "throughput over time"] : [])];
  const made = table(head, links.map((l) => [named(l.vertex), String(l.port), named(l.to), percent(l.busy_percent / 100), size(l.bytes), count(l.packets),
    ...(waits ? [time(l.wait_ps), time(l.peak_wait_ps)] : []), ...(detailed ? [fillers(l), l.load_bytes ? sparkline(l) : ""] : [])]), {id: "hot-links"});
  made.classList.add("lines");
  if (recording && recording.nodes) {
    const nodes = numbersOf(recording.nodes);
    selectable(made, links.map((l) => nodes.flatMap((node, rank) => node === l.vertex || node === l.to ? [rank] : [])));
  }
  section.append(element("h3", {}, "The busiest links" + (detailed ? " and their sources" : "")), made);
  if (detailed) {
    section.append(loadTable(links.filter((l) => l.load_bytes)), element("p", {class: "soft"}, "Sources: the nodes that sent the packets of the link, by bytes. " +
      "If many nodes share a link, the numbers are lower bounds (≥)."));
  }
}

/* The numbers behind the small pictures of the busiest links. */
function loadTable(links) {
  const data = element("details", {class: "data"}, element("summary", {}, "Table of the throughput over time"));
  data.addEventListener("toggle", () => {
    if (!data.open || data.children.length > 1) return;
    const windows = links.map((l) => numbersOf(l.load_bytes)), wide = number(links[0].load_window_ps);
    const n = Math.min(Math.max(...windows.map((each) => each.length)), TABLE_MAX);
    data.append(table(["from", ...links.map((l) => `${l.vertex} → ${l.to}`)],
      Array.from({length: n}, (_, i) => [time(i * wide), ...windows.map((each) => size(each[i] || 0))])));
  });
  return data;
}

/* How busy the links of each dimension or level of the topology are. */
function linkClasses(section, classes) {
  const used = classes.filter((c) => c.mean_busy_percent != null);
  if (!used.length) return;
  section.append(element("h3", {}, "Links by dimension or level"), table(["class", "links", "busy, mean", "busy, most", "bytes", "packets"], used.map((c) =>
    [c.class, count(c.links), percent(c.mean_busy_percent / 100), percent(c.max_busy_percent / 100), size(c.bytes), count(c.packets)]), {id: "link-classes"}));
}

/* What a transport lost and marked, and its slowest flows. */
function transportTable(section, transport) {
  const counted = [["dropped", "dropped"], ["trimmed", "trimmed"], ["sent_again", "sent again"], ["marked", "marked"], ["pauses", "pauses"]]
    .filter(([name]) => transport[name] > 0).map(([name, words]) => `${count(transport[name])} ${words}`);
  section.append(element("h3", {}, "Transport"), element("p", {}, `${transport.name}: longest queue ${size(transport.max_queue_bytes)}` +
    (counted.length ? `; ${counted.join(", ")}` : "") + (transport.flows ? `. ${count(transport.flows)} flows, fairness ${transport.fairness} (Jain)` : "") + "."));
  const flows = (transport.slowest_flows || []).slice(0, 20);
  if (flows.length) {
    section.append(table(["from node", "to node", "bytes", "begins at", "takes", "share of an interface"], flows.map((f) =>
      [String(f.source), String(f.destination), size(f.bytes), time(f.begin_ps), time(f.time_ps), percent(f.share)]), {id: "flows-table"}));
  }
}

/* How much jobs disturb each other. */
function jobsTable(section, jobs) {
  const names = (get("scenario.jobs") || []).map((job) => job.source);
  section.append(element("h3", {}, "Jobs beside each other and alone"), table(
    ["job", "time", "time alone", "slowdown", "bytes per second", "alone"], jobs.map((job, i) => [`${i}: ${names[i] || ""}`, time(job.time_ps),
      time(job.alone_time_ps), job.slowdown.toFixed(2), size(job.bytes_per_second), size(job.alone_bytes_per_second)]), {id: "jobs-table"}));
}

function networkSection(section) {
  const latency = get("result.message_latency_ps"), network = get("result.network");
  section.append(element("p", {}, `Model: ${get("scenario.network") || "none"}` + (get("scenario.topology") ? ` on ${get("scenario.topology")}` : "") + "." +
    (latency ? ` A message takes ${time(latency.min)} to ${time(latency.max)}, mean ${time(latency.mean)}.` : "")));
  if (extra.picture) section.append(pictureFigure());
  const panels = [recording ? arrivalsFigure() : null, latencyByHops(), latencyHistogram(), linkHistogram(), hopsHistogram()].filter(Boolean);
  if (panels.length) section.append(element("div", {class: "panels"}, ...panels));
  if (network && network.link_classes) linkClasses(section, network.link_classes);
  if (network && network.hot_links && network.hot_links.length) hotLinks(section, network.hot_links);
  if (network && network.transport) transportTable(section, network.transport);
  const jobs = get("result.jobs") || [];
  if (jobs.length && jobs.every((job) => job.slowdown)) jobsTable(section, jobs);
}
