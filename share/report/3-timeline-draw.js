/* SPDX-License-Identifier: Apache-2.0 */
/* The drawing of the timeline. All functions take the timeline `t` and the place of its field. */

const FIELD = {left: 54, top: 14, bottom: 22, right: 2};
const MESSAGES_MAX = 20000, SPANS_MAX = 30000;

/* The field between the axes, in CSS pixels. */
function fieldOf(width, height) {
  return {x: FIELD.left, y: FIELD.top, w: Math.max(width - FIELD.left - FIELD.right, 1), h: height - FIELD.top - FIELD.bottom};
}

/* Draws inside the field only, whatever the zoom. */
function inField(pen, field, draw) {
  pen.save();
  pen.beginPath(); pen.rect(field.x, field.y, field.w, field.h); pen.clip();
  draw();
  pen.restore();
}

const pack = ([r, g, b]) => (0xff000000 | b << 16 | g << 8 | r) >>> 0;

/* The bins in steps of 1, 2, 4, ..., so that a step is no narrower than a pixel of the view: from `first` to
 * before `after` each. */
function binSteps(t, w) {
  const perPixel = (t.view.to - t.view.from) / t.bin / w;
  let step = 1;
  while (step < perPixel) step *= 2;
  const n = Math.ceil(t.bins / step), first = new Int32Array(n), after = new Int32Array(n);
  for (let x = 0; x < n; x++) {
    first[x] = x * step;
    after[x] = Math.min((x + 1) * step, t.bins);
  }
  return {step, first, after};
}

/* The shares of each activity in the columns of a row, as sums of the bins that a column has, into
 * `all`. The last value of a column is the idle rest; hidden activities are part of it. */
function columnShares(shares, {first, after}, kinds, all) {
  const n = KINDS.length;
  for (let x = 0, at = 0; x < first.length; x++, at += n + 1) {
    const from = first[x], until = after[x], scale = 1 / (255 * (until - from));
    let rest = 1;
    for (const k of kinds) {
      let sum = 0;
      for (let i = from * n + k; i < until * n; i += n) sum += shares[i];
      sum *= scale;
      all[at + k] = sum;
      rest -= sum;
    }
    all[at + n] = rest > 0 ? rest : 0;
  }
  return all;
}

/* One line of pixels, each with the colour of the activity that most time goes to. */
function dominantLine(shares, w, colors, line) {
  const n = colors.length;
  for (let x = 0; x < w; x++) {
    let best = n - 1;
    for (let k = n - 1; k >= 0; k--) if (shares[x * n + k] > shares[x * n + best]) best = k;
    line[x] = colors[best];
  }
}

/* One line of a row in which activities are stacked from the bottom, at `height` of 0 to 1. */
function stackedLine(shares, w, colors, line, height) {
  const n = colors.length;
  for (let x = 0; x < w; x++) {
    let k = 0, sum = shares[x * n];
    while (k < n - 1 && sum <= height) sum += shares[x * n + ++k];
    line[x] = colors[k];
  }
}

/* The activities of all bins as pixels: a line for each row with the dominant one, or, stacked, the rows in
 * view in `h` lines. */
function sharesImage(t, bins, kinds, colors, stacked, h) {
  const w = bins.first.length, canvas = element("canvas", {width: w, height: h}), pen = canvas.getContext("2d");
  const image = pen.createImageData(w, h), pixels = new Uint32Array(image.data.buffer), line = new Uint32Array(w);
  const shares = new Float32Array(w * colors.length), {top, bottom} = stacked ? t.view : {top: 0, bottom: h * t.per};
  const perRow = h / (bottom - top) * t.per;
  let last = -1;
  for (let y = 0; y < h; y++) {
    const at = (top + (y + 0.5) / h * (bottom - top)) / t.per, row = Math.floor(at);
    if (row !== last) {
      last = row;
      columnShares(t.rowOf(row * t.per).shares, bins, kinds, shares);
      if (!stacked) dominantLine(shares, w, colors, line);
    }
    if (stacked) {
      /* A gap of one pixel tells rows apart. */
      const up = (1 - (at - row)) * perRow / (perRow - 1);
      if (up > 1) line.fill(0); else stackedLine(shares, w, colors, line, up);
    }
    pixels.set(line, y * w);
  }
  pen.putImageData(image, 0, 0);
  return canvas;
}

/* Rows of bins: stacked where a row is tall enough to read, else the dominant activity. Colours are
 * never mixed. The pixels of all bins are kept, so that moving in time is only copying: a frame must not
 * take longer than 16 ms, however many ranks there are. */
function drawShares(t, pen, field) {
  const {view} = t, colors = [...KINDS, IDLE].map((kind) => pack(rgb(kind.color)));
  const stacked = field.h / (view.bottom - view.top) * t.per >= 8, h = stacked ? Math.max(Math.round(field.h), 1) : t.rows.length;
  const bins = binSteps(t, field.w), kinds = KINDS.map((_, k) => k).filter((k) => !KINDS[k].hidden);
  const key = [bins.step, kinds, colors, h, stacked ? [view.top, view.bottom] : "all"].join(";");
  if (!t.image || t.image.key !== key) t.image = {key, canvas: sharesImage(t, bins, kinds, colors, stacked, h)};
  t.style = stacked ? "stacked" : "dominant";
  const perPs = 1 / (t.bin * bins.step), rows = stacked ? [0, h] : [view.top / t.per, (view.bottom - view.top) / t.per];
  pen.imageSmoothingEnabled = false;
  pen.drawImage(t.image.canvas, view.from * perPs, rows[0], (view.to - view.from) * perPs, rows[1], field.x, field.y, field.w, field.h);
}

function drawSpans(t, pen, field) {
  const colors = KINDS.map((kind) => color(kind.color)), {view} = t;
  const tall = field.h / (view.bottom - view.top), perPs = field.w / (view.to - view.from);
  t.style = "spans";
  pen.fillStyle = color("--idle");
  pen.fillRect(field.x, field.y, field.w, field.h);
  for (let row = Math.floor(view.top); row < Math.min(view.bottom, t.tracks); row++) {
    const {at, what} = t.spans.get(row), y = field.y + (row - view.top) * tall;
    for (let i = lastBefore(at, view.from); i < what.length && at[i] < view.to; i++) {
      if (what[i] < 0 || KINDS[what[i]].hidden) continue;
      const x = field.x + (Math.max(at[i], view.from) - view.from) * perPs;
      const until = field.x + (Math.min(at[i + 1], view.to) - view.from) * perPs;
      pen.fillStyle = colors[what[i]];
      pen.fillRect(x, y, Math.max(until - x, 0.4), tall > 3 ? tall - 1 : tall);
    }
  }
}

/* The calls or regions of a track that are in view. */
function callsInView(t, track) {
  const of = (t.view.what === "calls" ? t.calls() : t.regions()).get(track);
  if (!of || of.all.length === 0) return [];
  /* An outer region may have begun long ago. */
  const first = t.view.what === "calls" ? lastBefore(of.from, t.view.from) : 0, after = lastBefore(of.from, t.view.to) + 1;
  return of.all.slice(first, after).filter((each) => each.until >= t.view.from && each.from <= t.view.to);
}

/* Calls or regions as boxes with their names; inner regions are less tall. */
function drawCalls(t, pen, field) {
  const names = t.view.what === "calls" ? recording.call_names : recording.region_names;
  const tall = field.h / (t.view.bottom - t.view.top);
  t.style = t.view.what;
  pen.fillStyle = color("--idle");
  pen.fillRect(field.x, field.y, field.w, field.h);
  pen.textAlign = "left";
  for (let track = Math.floor(t.view.top); track < Math.min(t.view.bottom, t.tracks); track++) {
    const y = field.y + (track - t.view.top) * tall, open = [];
    const list = callsInView(t, track);
    list.forEach((each, i) => {
      while (open.length && open[open.length - 1] <= each.from) open.pop();
      const inset = t.view.what === "calls" ? 0 : Math.min(open.length * 4, tall / 2);
      open.push(each.until);
      const x = Math.max(timeX(t, field, each.from), field.x), wide = Math.min(timeX(t, field, each.until), field.x + field.w) - x;
      pen.fillStyle = color(callColor(each.name));
      pen.fillRect(x, y + inset, Math.max(wide, 0.6), (tall > 3 ? tall - 1 : tall) - inset);
      /* A name must not be under the box of an inner region. */
      const room = list[i + 1] ? Math.min(wide, timeX(t, field, list[i + 1].from) - x) : wide;
      if (room > 30 && tall - inset >= 12 && pen.measureText(names[each.name]).width < room - 4) {
        pen.fillStyle = color("--call-ink");
        pen.fillText(names[each.name], x + 3, y + inset + (tall - inset) / 2 + 4);
      }
    });
  }
}

/* Selected ranks are marked at both sides of the field. */
function drawSelected(t, pen, field) {
  const tall = field.h / (t.view.bottom - t.view.top);
  pen.fillStyle = color("--accent");
  for (const rank of selected) {
    const y = trackY(t, field, rank) - tall / 2, high = Math.max(tall, 2);
    if (y + high < field.y || y > field.y + field.h) continue;
    const from = Math.max(y, field.y), until = Math.min(y + high, field.y + field.h);
    pen.fillRect(field.x - 4, from, 4, until - from);
    inField(pen, field, () => { pen.fillRect(field.x, y - 1, field.w, 1.5); pen.fillRect(field.x, y + high - 0.5, field.w, 1.5); });
  }
}

/* The place of a rank in the field, in the middle of its track. */
function trackY(t, field, rank) {
  const track = t.exact ? rank : Math.floor(rank / recording.ranks_per_row);
  return field.y + (track + 0.5 - t.view.top) * field.h / (t.view.bottom - t.view.top);
}
const timeX = (t, field, ps) => field.x + (ps - t.view.from) / (t.view.to - t.view.from) * field.w;

function drawMessages(t, pen, field) {
  const {list, longest} = t.messages(), {view} = t;
  let low = 0, high = list.length, n = 0;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle].departure < view.from - longest) low = middle + 1; else high = middle;
  }
  pen.strokeStyle = color("--ink");
  pen.globalAlpha = 0.55;
  pen.lineWidth = 0.8;
  pen.beginPath();
  for (let i = low; i < list.length && list[i].departure < view.to && n < MESSAGES_MAX; i++) {
    const m = list[i];
    if (m.arrival < view.from || (selected.size && !selected.has(m.from) && !selected.has(m.to))) continue;
    const x = timeX(t, field, m.departure), y = trackY(t, field, m.from);
    const x2 = timeX(t, field, m.arrival), y2 = trackY(t, field, m.to);
    pen.moveTo(x, y); pen.lineTo(x2, y2);
    const angle = Math.atan2(y2 - y, x2 - x);
    if (Math.hypot(x2 - x, y2 - y) > 12) pen.lineTo(x2 - 5 * Math.cos(angle - 0.4), y2 - 5 * Math.sin(angle - 0.4));
    n++;
  }
  pen.stroke();
}

function drawPath(t, pen, field) {
  pen.beginPath();
  for (let i = 1; i < t.path.length; i++) {
    const a = t.path[i - 1], b = t.path[i];
    if (b.at < t.view.from || a.at > t.view.to) continue;
    pen.moveTo(timeX(t, field, a.at), trackY(t, field, a.rank));
    pen.lineTo(timeX(t, field, b.at), trackY(t, field, b.rank));
  }
  pen.lineJoin = "round";
  for (const [name, width] of [["--paper", 5], ["--ink", 2.2]]) {
    pen.strokeStyle = color(name);
    pen.lineWidth = width;
    pen.stroke();
  }
}

function drawMarks(t, pen, field) {
  pen.strokeStyle = pen.fillStyle = color("--ink");
  pen.textAlign = "left";
  let free = 0;
  for (const mark of t.markers) {
    if (mark.at < t.view.from || mark.at > t.view.to) continue;
    const x = timeX(t, field, mark.at);
    pen.globalAlpha = 0.5;
    pen.beginPath(); pen.moveTo(x, field.y - 4); pen.lineTo(x, field.y + field.h); pen.stroke();
    pen.globalAlpha = 1;
    if (x > free) {
      pen.fillText(mark.name, x + 3, field.y - 3);
      free = x + pen.measureText(mark.name).width + 12;
    }
  }
}

function drawLabels(t, pen, field) {
  pen.fillStyle = color("--soft");
  pen.textAlign = "right";
  const {view} = t, step = Math.max(1, Math.ceil((view.bottom - view.top) / (field.h / 14)));
  for (let row = Math.ceil(view.top / step) * step; row < view.bottom; row += step) {
    const y = field.y + (row + 0.5 - view.top) * field.h / (view.bottom - view.top);
    if (y > field.y && y < field.y + field.h) pen.fillText(String(t.exact ? row : t.rows[row].first), field.x - 6, y + 4);
  }
}

/* The spans in view; infinite if the document does not have all of them. */
function nSpansInView(t) {
  const {view} = t, chosen = recording.chosen;
  let n = 0;
  if (chosen && chosen.until_ps != null && (view.from < number(chosen.from_ps) || view.to > number(chosen.until_ps))) return Infinity;
  for (let row = Math.floor(view.top); row < Math.min(view.bottom, t.tracks) && n < SPANS_MAX; row++) {
    const own = t.spans.get(row);
    n += own ? lastBefore(own.at, view.to) - lastBefore(own.at, view.from) + 1 : Infinity;
  }
  return n;
}

function drawTimeline(t, pen, width, height) {
  const field = fieldOf(width, height);
  t.near = t.exact && nSpansInView(t) < SPANS_MAX;
  if (!t.near) drawShares(t, pen, field);
  else inField(pen, field, () => (t.view.what === "activities" ? drawSpans : drawCalls)(t, pen, field));
  if (t.view.marks) drawMarks(t, pen, field);
  inField(pen, field, () => {
    if (t.view.arrows) drawMessages(t, pen, field);
    if (t.view.path && t.path.length) drawPath(t, pen, field);
    pen.globalAlpha = 1;
  });
  drawSelected(t, pen, field);
  if (t.box) {
    pen.strokeStyle = color("--accent");
    pen.lineWidth = 2;
    inField(pen, field, () => pen.strokeRect(t.box.x, t.box.y, t.box.w, t.box.h));
    pen.lineWidth = 1;
  }
  drawLabels(t, pen, field);
  timeAxis(pen, field.x, field.w, field.y + field.h, t.view.from, t.view.to);
}
