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
  const [left, top, right, bottom] = picture.box.split(" ").map(Number);
  const at = {scale: 1, x: 0, y: 0};
  const own = drawing(440, (pen, width, height) => {
    at.scale = Math.min(width / (right - left), height / (bottom - top), 2.5);
    at.x = (width - (left + right) * at.scale) / 2;
    at.y = (height - (top + bottom) * at.scale) / 2;
    const X = (x) => at.x + x * at.scale, Y = (y) => at.y + y * at.scale;
    for (const line of [...lines].sort((a, b) => a.busy - b.busy)) {
      pen.strokeStyle = known ? heat(line.busy / most) : color("--line");
      pen.lineWidth = known ? 1 + 2.5 * line.busy / most : 1.2;
      pen.beginPath();
      pen.moveTo(X(marks[line.a].x), Y(marks[line.a].y));
      pen.quadraticCurveTo(X(line.cx), Y(line.cy), X(marks[line.b].x), Y(marks[line.b].y));
      pen.stroke();
    }
    for (const mark of marks) {
      const r = Math.max(mark.r * at.scale * 0.7, 1);
      pen.fillStyle = color(mark.kind === 2 ? "--collective" : "--soft");
      pen.globalAlpha = mark.kind === 0 ? 0.12 : 1;
      pen.beginPath();
      if (mark.kind === 2 || mark.kind === 3) pen.rect(X(mark.x) - r, Y(mark.y) - r, 2 * r, 2 * r);
      else pen.arc(X(mark.x), Y(mark.y), r, 0, 7);
      pen.fill();
      pen.globalAlpha = 1;
    }
  }, {id: "picture"});
  const name = (vertex) => vertex < picture.nodes ? `node ${vertex}` : `switch ${vertex - picture.nodes}`;
  onHover(own.canvas, (x, y) => {
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
    if (!best) return "";
    const words = (from, to, link) => link ? `\n${name(from)} → ${name(to)}: ${link.busy_percent.toFixed(1)} % busy, ${size(link.bytes)}, longest wait ${time(link.peak_wait_ps)}` : "";
    const a = marks[best.a].vertex, b = marks[best.b].vertex;
    return (words(a, b, best.there) + words(b, a, best.back)).trim() || `${name(a)} – ${name(b)}`;
  });
  return element("figure", {}, own.canvas, element("figcaption", {}, get("scenario.topology") + (known
    ? `; colour and width: how busy a link is, up to ${percent(most)} of the time`
    : "; the load of links is known with --net packet")));
}

function linkHistogram() {
  const links = get("result.network.links");
  if (!links || links.length === 0) return null;
  const most = Math.max(...links.map((l) => l.busy_percent), 0.001), N = 25;
  const bars = Array.from({length: N}, (_, i) => ({from: most * i / N, to: most * (i + 1) / N, n: 0}));
  for (const link of links) bars[Math.min(Math.floor(link.busy_percent / most * N), N - 1)].n++;
  return element("figure", {}, histogram(bars, (v) => v.toFixed(1) + " %", "busy; height: links"),
    element("figcaption", {}, `Use of the ${count(links.length)} links that carried anything.`));
}

function latencyHistogram() {
  const spread = get("result.network.latency_ps");
  if (!spread || !Array.isArray(spread.histogram) || spread.histogram.length === 0) return null;
  const bars = spread.histogram.map((b) => {
    const from = number(b.least_ps);
    return {from, to: from * 17 / 16, n: number(b.messages)};
  });
  return element("figure", {}, histogram(bars, time, "latency; height: messages"),
    element("figcaption", {}, `Latency of messages: half within ${time(spread.p50)}, 99 % within ${time(spread.p99)}, the longest ${time(spread.max)}.`));
}

function hopsHistogram() {
  const hops = get("result.network.packets_by_hops");
  if (!hops) return null;
  const last = hops.reduce((most, n, i) => number(n) > 0 ? i : most, 0);
  const bars = hops.slice(0, last + 1).map((n, i) => ({from: i, to: i, n: number(n)}));
  return element("figure", {}, histogram(bars, (v) => `${v} hops`, "height: packets"), element("figcaption", {}, "Packets by the hops they made."));
}

function arrivalsFigure() {
  const bytes = numbersOf(recording.received_bytes), bin = number(recording.bin_ps), end = number(recording.end_ps) || 1;
  const most = Math.max(...bytes, 1), BOTTOM = 22;
  const own = drawing(150, (pen, width, height) => {
    pen.fillStyle = color("--accent");
    bytes.forEach((n, i) => {
      const tall = (height - BOTTOM) * n / most;
      const x = Math.floor(i * bin / end * width);
      pen.fillRect(x, height - BOTTOM - tall, Math.max(Math.floor((i + 1) * bin / end * width) - x, 1), tall);
    });
    timeAxis(pen, 0, width, height - BOTTOM, 0, end);
  });
  onHover(own.canvas, (x, _, width) => {
    const i = Math.floor(x / width * end / bin);
    return bytes[i] === undefined ? "" : `at ${time(i * bin)}: ${size(bytes[i] / bin * 1e12)}/s`;
  });
  return element("figure", {}, own.canvas, element("figcaption", {}, `Load over time: messages that arrive, at most ${size(most / bin * 1e12)}/s in a bin of ${time(bin)}.`));
}

function networkSection(section) {
  const latency = get("result.message_latency_ps"), network = get("result.network");
  section.append(element("p", {}, `Model: ${get("scenario.network") || "none"}` + (get("scenario.topology") ? ` on ${get("scenario.topology")}` : "") + "." +
    (latency ? ` A message takes ${time(latency.min)} to ${time(latency.max)}, ${time(latency.mean)} in the mean.` : "")));
  if (extra.picture) section.append(pictureFigure());
  const panels = [recording ? arrivalsFigure() : null, latencyHistogram(), linkHistogram(), hopsHistogram()].filter(Boolean);
  if (panels.length) section.append(element("div", {class: "panels"}, ...panels));
  if (network && network.hot_links) {
    section.append(element("h3", {}, "The busiest links"), table(["from vertex", "port", "to vertex", "busy", "bytes", "packets", "wait of all packets", "longest wait"],
      network.hot_links.map((l) => [String(l.vertex), String(l.port), String(l.to), l.busy_percent.toFixed(1) + " %", size(l.bytes), count(l.packets), time(l.wait_ps), time(l.peak_wait_ps)])));
  }
}
