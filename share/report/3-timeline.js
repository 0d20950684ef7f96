/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of the ranks. Zoomed out it shows the shares of bins, zoomed in individual spans. */

let rowsRead = null;
function timelineRows() {
  if (!rowsRead) {
    rowsRead = recording.rows.map((row) => ({ranks: row.ranks, first: row.first_rank, shares: bytesOf(row.shares)}));
  }
  return rowsRead;
}

/* The ranks whose individual spans and messages were recorded, in order. */
function recordedRanks() {
  const chosen = recording.chosen && recording.chosen.ranks;
  if (!chosen) return Array.from({length: (recording.spans || []).length}, (_, i) => i);
  return chosen.split(",").flatMap((text) => {
    const [first, last = first] = text.split(":").map(Number);
    return Array.from({length: last - first + 1}, (_, i) => first + i);
  });
}

/* The spans of each rank as arrays of begins and kinds; the last entry begins at the end. */
function readSpans(ranks) {
  return new Map((recording.spans || []).map((text, number) => {
    const at = [0], what = [];
    for (const match of text.matchAll(/([a-z-])([0-9]+)/g)) {
      what.push(KINDS.findIndex((kind) => kind.letter === match[1]));
      at.push(at[at.length - 1] + Number(match[2]));
    }
    return [ranks[number], {at, what}];
  }));
}

function readMessages(ranks) {
  const all = [];
  (recording.messages || []).forEach((text, number) => {
    const from = ranks[number];
    let now = 0;
    for (const each of text === "" ? [] : text.split(";")) {
      const [to, after, lasts, bytes] = each.split(" ").map(Number);
      now += after;
      all.push({from, to, departure: now, arrival: now + lasts, bytes});
    }
  });
  return all.sort((a, b) => a.departure - b.departure);
}

/* The critical path: time and rank after each of its steps. */
function readPath() {
  const places = [];
  let now = 0;
  for (const each of get("critical_path.steps") ? doc.critical_path.steps.split(";") : []) {
    const [what, lasts] = each.split(" "), rank = Number(what.slice(1));
    if (places.length === 0) places.push({at: 0, rank});
    now += Number(lasts);
    places.push({at: now, rank});
  }
  return places;
}

/* The index of the last value that is not greater. */
function lastBefore(list, value) {
  let low = 0, high = list.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (list[middle] <= value) low = middle; else high = middle - 1;
  }
  return low;
}

function timelineSection(section) {
  const rows = timelineRows(), N = KINDS.length, end = number(recording.end_ps) || 1;
  const bin = number(recording.bin_ps), LEFT = 54, TOP = 14, BOTTOM = 22, MESSAGES_MAX = 20000;
  const ranks = recordedRanks(), spans = readSpans(ranks), exact = spans.size > 0;
  /* With individual spans a track is a rank, else a row of ranks. */
  const per = exact ? recording.ranks_per_row : 1, tracks = exact ? recording.ranks : rows.length;
  const rowOf = (track) => rows[Math.min(Math.floor(track / per), rows.length - 1)];
  const longest = {value: -1};
  let messages = null;
  const view = {from: 0, to: end, top: 0, bottom: tracks, arrows: false, marks: true, path: true};
  const path = readPath();
  const shortest = Math.max(end / 1e7, 1000);

  function marks() {
    return (get("result.iterations") || []).filter((each) => each.at === "begin").map((each) =>
      ({at: number(each.time_ps.mean), name: `iteration ${each.number}`}));
  }
  const markers = marks();

  /* Mixes the colours of the activities in each pixel. */
  function drawShares(pen, width, height, scale) {
    const w = Math.max(Math.round(width * scale), 1), h = Math.max(Math.round(height * scale), 1);
    const image = pen.createImageData(w, h), pixels = new Uint32Array(image.data.buffer);
    const colors = [...KINDS, IDLE].map((kind) => rgb(kind.color));
    const span = view.to - view.from, line = new Uint32Array(w);
    let last = -1;
    for (let y = 0; y < h; y++) {
      const row = Math.floor(Math.floor(view.top + (y + 0.5) / h * (view.bottom - view.top)) / per);
      if (row !== last) {
        last = row;
        const shares = rowOf(row * per).shares;
        for (let x = 0; x < w; x++) {
          const first = Math.floor((view.from + x / w * span) / bin);
          const after = Math.max(Math.ceil((view.from + (x + 1) / w * span) / bin), first + 1);
          let r = 0, g = 0, b = 0, left = 255, n = 0;
          const sums = [0, 0, 0, 0, 0];
          for (let i = first; i < after && i < recording.bins; i++, n++) {
            for (let k = 0; k < N; k++) sums[k] += shares[i * N + k];
          }
          for (let k = 0; k < N && n > 0; k++) {
            const share = Math.min(sums[k] / n, left);
            left -= share;
            r += share * colors[k][0]; g += share * colors[k][1]; b += share * colors[k][2];
          }
          r += left * colors[N][0]; g += left * colors[N][1]; b += left * colors[N][2];
          line[x] = 0xff000000 | (b / 255) << 16 | (g / 255) << 8 | (r / 255);
        }
      }
      pixels.set(line, y * w);
    }
    pen.putImageData(image, Math.round(LEFT * scale), Math.round(TOP * scale));
  }

  function drawSpans(pen, width, height) {
    const colors = KINDS.map((kind) => color(kind.color));
    const tall = height / (view.bottom - view.top), perPs = width / (view.to - view.from);
    pen.fillStyle = color("--idle");
    pen.fillRect(LEFT, TOP, width, height);
    for (let row = Math.floor(view.top); row < Math.min(view.bottom, tracks); row++) {
      const {at, what} = spans.get(row), y = TOP + (row - view.top) * tall;
      for (let i = lastBefore(at, view.from); i < what.length && at[i] < view.to; i++) {
        if (what[i] < 0) continue;
        const x = LEFT + (Math.max(at[i], view.from) - view.from) * perPs;
        const until = LEFT + (Math.min(at[i + 1], view.to) - view.from) * perPs;
        pen.fillStyle = colors[what[i]];
        pen.fillRect(x, y, Math.max(until - x, 0.4), tall > 3 ? tall - 1 : tall);
      }
    }
  }

  /* Infinite if the document does not have all of them. */
  function nSpansInView() {
    let n = 0;
    if (recording.chosen && recording.chosen.until_ps != null &&
        (view.from < number(recording.chosen.from_ps) || view.to > number(recording.chosen.until_ps))) return Infinity;
    for (let row = Math.floor(view.top); row < Math.min(view.bottom, tracks) && n < 30000; row++) {
      const own = spans.get(row);
      n += own ? lastBefore(own.at, view.to) - lastBefore(own.at, view.from) + 1 : Infinity;
    }
    return n;
  }

  function drawMessages(pen, width, height) {
    if (!messages) {
      messages = readMessages(ranks);
      for (const m of messages) longest.value = Math.max(longest.value, m.arrival - m.departure);
    }
    const tall = height / (view.bottom - view.top), perPs = width / (view.to - view.from);
    let low = 0, high = messages.length, n = 0;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (messages[middle].departure < view.from - longest.value) low = middle + 1; else high = middle;
    }
    pen.save();
    pen.beginPath(); pen.rect(LEFT, TOP, width, height); pen.clip();
    pen.strokeStyle = color("--ink");
    pen.globalAlpha = 0.55;
    pen.lineWidth = 0.8;
    pen.beginPath();
    for (let i = low; i < messages.length && messages[i].departure < view.to && n < MESSAGES_MAX; i++) {
      const m = messages[i];
      if (m.arrival < view.from) continue;
      const x = LEFT + (m.departure - view.from) * perPs, y = TOP + (m.from + 0.5 - view.top) * tall;
      const x2 = LEFT + (m.arrival - view.from) * perPs, y2 = TOP + (m.to + 0.5 - view.top) * tall;
      pen.moveTo(x, y); pen.lineTo(x2, y2);
      const angle = Math.atan2(y2 - y, x2 - x);
      if (Math.hypot(x2 - x, y2 - y) > 12) {
        pen.lineTo(x2 - 5 * Math.cos(angle - 0.4), y2 - 5 * Math.sin(angle - 0.4));
      }
      n++;
    }
    pen.stroke();
    pen.restore();
  }

  function drawPath(pen, width, height) {
    const tall = height / (view.bottom - view.top), perPs = width / (view.to - view.from);
    pen.save();
    pen.beginPath(); pen.rect(LEFT, TOP, width, height); pen.clip();
    pen.beginPath();
    for (let i = 1; i < path.length; i++) {
      if (path[i].at < view.from || path[i - 1].at > view.to) continue;
      const [a, b] = [path[i - 1], path[i]].map((place) => ({x: LEFT + (place.at - view.from) * perPs,
        y: TOP + (Math.floor(place.rank / recording.ranks_per_row) + 0.5 - view.top) * tall}));
      pen.moveTo(a.x, a.y); pen.lineTo(b.x, b.y);
    }
    pen.lineJoin = "round";
    pen.strokeStyle = color("--paper");
    pen.lineWidth = 5;
    pen.stroke();
    pen.strokeStyle = color("--ink");
    pen.lineWidth = 2.2;
    pen.stroke();
    pen.restore();
  }

  function drawMarks(pen, width, height) {
    pen.strokeStyle = pen.fillStyle = color("--ink");
    pen.textAlign = "left";
    let free = 0;
    for (const mark of markers) {
      if (mark.at < view.from || mark.at > view.to) continue;
      const x = LEFT + (mark.at - view.from) / (view.to - view.from) * width;
      pen.globalAlpha = 0.5;
      pen.beginPath(); pen.moveTo(x, TOP - 4); pen.lineTo(x, TOP + height); pen.stroke();
      pen.globalAlpha = 1;
      if (x > free) {
        pen.fillText(mark.name, x + 3, TOP - 3);
        free = x + pen.measureText(mark.name).width + 12;
      }
    }
  }

  function drawLabels(pen, height) {
    pen.fillStyle = color("--soft");
    pen.textAlign = "right";
    const step = Math.max(1, Math.ceil((view.bottom - view.top) / (height / 14)));
    for (let row = Math.ceil(view.top / step) * step; row < view.bottom; row += step) {
      const y = TOP + (row + 0.5 - view.top) * height / (view.bottom - view.top);
      if (y > TOP && y < TOP + height) pen.fillText(String(exact ? row : rows[row].first), LEFT - 6, y + 4);
    }
  }

  const own = drawing(Math.min(Math.max(rows.length * 12, 120), 620) + TOP + BOTTOM, (pen, all, tall) => {
    const width = all - LEFT - 2, height = tall - TOP - BOTTOM, scale = window.devicePixelRatio || 1;
    const near = exact && nSpansInView() < 30000;
    own.near = near;
    if (near) drawSpans(pen, width, height); else drawShares(pen, width, height, scale);
    if (view.marks) drawMarks(pen, width, height);
    if (view.arrows) drawMessages(pen, width, height);
    if (view.path && path.length) drawPath(pen, width, height);
    drawLabels(pen, height);
    timeAxis(pen, LEFT, width, TOP + height, view.from, view.to);
    own.canvas.dataset.from = view.from;
    own.canvas.dataset.to = view.to;
  }, {class: "moves", tabindex: 0, id: "timeline", "aria-label": "Timeline of the ranks"});

  function clampView() {
    const length = Math.min(Math.max(view.to - view.from, shortest), end);
    view.from = Math.min(Math.max(view.from, 0), end - length);
    view.to = view.from + length;
    const tall = Math.min(Math.max(view.bottom - view.top, 1), tracks);
    view.top = Math.min(Math.max(view.top, 0), tracks - tall);
    view.bottom = view.top + tall;
    own.again();
  }
  function zoom(factor, at = 0.5) {
    const middle = view.from + at * (view.to - view.from);
    view.from = middle - (middle - view.from) * factor;
    view.to = middle + (view.to - middle) * factor;
    clampView();
  }
  function zoomRows(factor, at = 0.5) {
    const middle = view.top + at * (view.bottom - view.top);
    view.top = middle - (middle - view.top) * factor;
    view.bottom = middle + (view.bottom - middle) * factor;
    clampView();
  }
  function move(byTime, byRows) {
    const t = byTime * (view.to - view.from), r = byRows * (view.bottom - view.top);
    view.from += t; view.to += t; view.top += r; view.bottom += r;
    clampView();
  }
  function reset() {
    Object.assign(view, {from: 0, to: end, top: 0, bottom: tracks});
    clampView();
  }
  /* The first consecutive recorded ranks, and their time. */
  function zoomToChosen() {
    let n = 1;
    while (ranks[n] === ranks[0] + n) n++;
    Object.assign(view, {from: number(recording.chosen.from_ps || 0), to: Math.min(number(recording.chosen.until_ps || end), end), top: ranks[0], bottom: ranks[0] + n});
    clampView();
  }
  const inside = (x, y, width) => ({at: (x - LEFT) / (width - LEFT - 2), row: (y - TOP) / (own.height - TOP - BOTTOM)});

  own.canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = own.canvas.getBoundingClientRect();
    const {at, row} = inside(event.clientX - box.left, event.clientY - box.top, box.width);
    const factor = Math.exp(Math.max(-1, Math.min(1, (event.deltaY || event.deltaX) / 300)));
    if (event.shiftKey) zoomRows(factor, row); else zoom(factor, at);
  }, {passive: false});
  let held = null;
  own.canvas.addEventListener("pointerdown", (event) => {
    held = {x: event.clientX, y: event.clientY};
    own.canvas.setPointerCapture(event.pointerId);
  });
  own.canvas.addEventListener("pointermove", (event) => {
    if (!held) return;
    const box = own.canvas.getBoundingClientRect();
    move((held.x - event.clientX) / (box.width - LEFT), (held.y - event.clientY) / (box.height - TOP - BOTTOM));
    held = {x: event.clientX, y: event.clientY};
  });
  for (const name of ["pointerup", "pointercancel"]) own.canvas.addEventListener(name, () => { held = null; });
  own.canvas.addEventListener("dblclick", reset);
  own.canvas.addEventListener("keydown", (event) => {
    const keys = {ArrowLeft: () => move(-0.2, 0), ArrowRight: () => move(0.2, 0), ArrowUp: () => move(0, -0.2),
      ArrowDown: () => move(0, 0.2), "+": () => zoom(0.6), "-": () => zoom(1 / 0.6), Home: reset};
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  onHover(own.canvas, (x, y, width) => {
    const {at, row: share} = inside(x, y, width);
    const row = Math.floor(view.top + share * (view.bottom - view.top)), now = view.from + at * (view.to - view.from);
    if (at < 0 || at > 1 || share < 0 || share > 1 || row >= tracks) return "";
    if (exact && own.near) {
      const of = spans.get(row), i = lastBefore(of.at, now), what = of.what[i];
      return `rank ${row}, ${time(now)}\n` + (what >= 0
        ? `${KINDS[what].name}, ${time(of.at[i])} to ${time(of.at[i + 1])} (${time(of.at[i + 1] - of.at[i])})`
        : IDLE.name);
    }
    const cell = Math.min(Math.floor(now / bin), recording.bins - 1);
    const group = rowOf(row);
    return `${ranksOf(group.first, group.ranks)}, ${time(now)}` + KINDS.map((kind, k) =>
      `\n${kind.name}: ${percent(group.shares[cell * N + k] / 255)}`).join("");
  });

  const toggle = (name, id, words) => element("label", {}, element("input", {type: "checkbox", id,
    checked: view[name] ? "" : false, onchange: (event) => { view[name] = event.target.checked; own.again(); }}), " " + words);
  section.append(element("p", {class: "soft"}, "Wheel: zoom in time; with shift: in ranks. Drag: move. Double click: everything. " +
    (recording.ranks_per_row > 1 ? `Zoomed out, a row is ${recording.ranks_per_row} ranks. ` : "") +
    (recording.chosen ? `Individual spans were recorded of ${recording.chosen.ranks ? `the ranks ${recording.chosen.ranks}` : "all ranks"}` +
      (recording.chosen.until_ps != null ? `, ${time(recording.chosen.from_ps)} to ${time(Math.min(number(recording.chosen.until_ps), end))}. ` : ". ") : "") +
    (exact ? "" : `The ${count(recording.n_spans)} individual spans were not kept: colours show shares of ${time(bin)} each.`)),
  legend([...KINDS, IDLE]),
  element("div", {class: "tools"}, element("button", {onclick: () => zoom(0.5), id: "zoom-in"}, "+"),
    element("button", {onclick: () => zoom(2), id: "zoom-out"}, "−"), element("button", {onclick: reset, id: "zoom-all"}, "all"),
    path.length ? toggle("path", "show-path", "critical path") : null,
    markers.length ? toggle("marks", "show-marks", "iterations") : null,
    exact && recording.chosen ? element("button", {onclick: zoomToChosen, id: "zoom-chosen"}, "recorded ranks") : null,
    exact && recording.messages ? toggle("arrows", "show-messages", "messages") : null),
  element("figure", {}, own.canvas));
}
