/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of the ranks. Zoomed out it shows the shares of bins, zoomed in individual spans. */

/* The one timeline of the page; null before it is made and without a recording. */
let ranksTimeline = null;

function iterationMarks() {
  return (get("result.iterations") || []).filter((each) => each.at === "begin").map((each) =>
    ({at: number(each.time_ps.mean), name: `iteration ${each.number}`}));
}

function newTimeline() {
  const rows = timelineRows(), ranks = recordedRanks(), spans = readSpans(ranks), exact = spans.size > 0;
  const end = number(recording.end_ps) || 1;
  let messages = null, calls = null, regions = null;
  const t = {
    rows, ranks, spans, exact, end, bin: number(recording.bin_ps), bins: recording.bins,
    /* With individual spans a track is a rank, else a row of ranks. */
    per: exact ? recording.ranks_per_row : 1, tracks: exact ? recording.ranks : rows.length,
    shortest: Math.max(end / 1e7, 1000), path: readPath(), markers: iterationMarks(), box: null,
    rowOf: (track) => rows[Math.min(Math.floor(track / t.per), rows.length - 1)],
    calls: () => calls || (calls = readCalls(recording.calls, ranks)),
    regions: () => regions || (regions = readCalls(recording.regions, ranks)),
    messages: () => {
      if (!messages) {
        const list = readMessages(ranks);
        messages = {list, longest: list.reduce((most, m) => Math.max(most, m.arrival - m.departure), 0)};
      }
      return messages;
    },
  };
  t.view = {from: 0, to: end, top: 0, bottom: t.tracks, arrows: false, marks: true, path: true, what: "activities"};
  return t;
}

/* ---- movements ---- */

/* Keeps the view inside of the run and draws it. */
function setView(t, change) {
  const {view} = t;
  Object.assign(view, change);
  const length = Math.min(Math.max(view.to - view.from, t.shortest), t.end);
  view.from = Math.min(Math.max(view.from, 0), t.end - length);
  view.to = view.from + length;
  const tall = Math.min(Math.max(view.bottom - view.top, 1), t.tracks);
  view.top = Math.min(Math.max(view.top, 0), t.tracks - tall);
  view.bottom = view.top + tall;
  t.own.again();
  viewChanged();
}
function zoomTime(t, factor, at = 0.5) {
  const {view} = t, middle = view.from + at * (view.to - view.from);
  setView(t, {from: middle - (middle - view.from) * factor, to: middle + (view.to - middle) * factor});
}
function zoomRanks(t, factor, at = 0.5) {
  const {view} = t, middle = view.top + at * (view.bottom - view.top);
  setView(t, {top: middle - (middle - view.top) * factor, bottom: middle + (view.bottom - middle) * factor});
}
function moveView(t, byTime, byRanks) {
  const {view} = t, a = byTime * (view.to - view.from), b = byRanks * (view.bottom - view.top);
  setView(t, {from: view.from + a, to: view.to + a, top: view.top + b, bottom: view.bottom + b});
}
const showAll = (t) => setView(t, {from: 0, to: t.end, top: 0, bottom: t.tracks});

/* The first consecutive recorded ranks, and their time. */
function showChosen(t) {
  let n = 1;
  while (t.ranks[n] === t.ranks[0] + n) n++;
  setView(t, {from: number(recording.chosen.from_ps || 0), to: Math.min(number(recording.chosen.until_ps || t.end), t.end),
    top: t.ranks[0], bottom: t.ranks[0] + n});
}

/* ---- mouse and keys ---- */

/* The place under the mouse as shares of the field. */
function placeIn(t, event) {
  const box = t.own.canvas.getBoundingClientRect(), field = fieldOf(box.width, t.own.height);
  const x = event.clientX - box.left, y = event.clientY - box.top;
  return {x, y, field, at: (x - field.x) / field.w, row: (y - field.y) / field.h};
}

function zoomToBox(t) {
  const {view} = t, field = fieldOf(t.own.canvas.clientWidth, t.own.height), box = t.box;
  const time = (x) => view.from + Math.min(Math.max((x - field.x) / field.w, 0), 1) * (view.to - view.from);
  const track = (y) => view.top + Math.min(Math.max((y - field.y) / field.h, 0), 1) * (view.bottom - view.top);
  t.box = null;
  if (box.w < 4 && box.h < 4) {
    t.own.again();
    return;
  }
  /* A flat box is a stretch of time, a narrow one is ranks. */
  setView(t, {...(box.w >= 4 ? {from: time(box.x), to: time(box.x + box.w)} : {}),
    ...(box.h >= 12 ? {top: Math.floor(track(box.y)), bottom: Math.ceil(track(box.y + box.h))} : {})});
}

/* Selects the rank under the mouse, or the first of its row; a second click ends that. */
function clickTrack(t, event) {
  const {at, row} = placeIn(t, event), track = Math.floor(t.view.top + row * (t.view.bottom - t.view.top));
  if (at < 0 || at > 1 || row < 0 || row > 1 || track >= t.tracks) return;
  const rank = t.exact ? track : t.rows[track].first;
  select(selected.has(rank) ? [] : [rank]);
}

function listenToMouse(t) {
  const {canvas} = t.own;
  let held = null;
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const {at, row} = placeIn(t, event), factor = Math.exp(Math.max(-1, Math.min(1, (event.deltaY || event.deltaX) / 300)));
    if (event.shiftKey) zoomRanks(t, factor, row); else zoomTime(t, factor, at);
  }, {passive: false});
  canvas.addEventListener("pointerdown", (event) => {
    const {x, y} = placeIn(t, event);
    held = {x, y, boxed: event.shiftKey || t.boxing, moved: 0};
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!held) return;
    const {x, y, field} = placeIn(t, event);
    if (held.boxed) {
      t.box = {x: Math.min(x, held.x), y: Math.min(y, held.y), w: Math.abs(x - held.x), h: Math.abs(y - held.y)};
      t.own.again();
      return;
    }
    moveView(t, (held.x - x) / field.w, (held.y - y) / field.h);
    Object.assign(held, {x, y, moved: held.moved + Math.abs(held.x - x) + Math.abs(held.y - y)});
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, (event) => {
      if (t.box) zoomToBox(t);
      else if (held && held.moved < 3 && !held.boxed && name === "pointerup") clickTrack(t, event);
      held = null;
    });
  }
  canvas.addEventListener("dblclick", () => showAll(t));
}

function listenToKeys(t) {
  t.own.canvas.addEventListener("keydown", (event) => {
    const keys = {ArrowLeft: () => moveView(t, -0.2, 0), ArrowRight: () => moveView(t, 0.2, 0), ArrowUp: () => moveView(t, 0, -0.2),
      ArrowDown: () => moveView(t, 0, 0.2), "+": () => zoomTime(t, 0.6), "-": () => zoomTime(t, 1 / 0.6), Home: () => showAll(t),
      PageUp: () => zoomRanks(t, 0.6), PageDown: () => zoomRanks(t, 1 / 0.6)};
    if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); keys[event.key](); }
  });
}

/* What is under the mouse, in words. */
function timelineWords(t, x, y, width) {
  const field = fieldOf(width, t.own.height), at = (x - field.x) / field.w, share = (y - field.y) / field.h, {view} = t;
  const row = Math.floor(view.top + share * (view.bottom - view.top)), now = view.from + at * (view.to - view.from);
  if (at < 0 || at > 1 || share < 0 || share > 1 || row >= t.tracks) return "";
  if (t.near) {
    const of = t.spans.get(row), i = lastBefore(of.at, now), what = of.what[i];
    const call = callAt(t.calls().get(row), now), regions = regionsAt(t.regions().get(row), now);
    return `rank ${row}, ${time(now)}\n` + (what >= 0
      ? `${KINDS[what].name}, ${time(of.at[i])} to ${time(of.at[i + 1])} (${time(of.at[i + 1] - of.at[i])})`
      : IDLE.name) +
      (call ? `\n${callWords(call)}\n${time(call.from)} to ${time(call.until)} (${time(call.until - call.from)})` +
        (stackOf(call) ? `\nfrom ${stackOf(call)}` : "") : "") +
      (regions.length ? `\nin ${regions.map((each) => recording.region_names[each.name]).join(" / ")}` : "");
  }
  const cell = Math.min(Math.floor(now / t.bin), recording.bins - 1), group = t.rowOf(row);
  return `${ranksOf(group.first, group.ranks)}, ${time(now)}` + KINDS.map((kind, k) =>
    `\n${kind.name}: ${percent(group.shares[cell * KINDS.length + k] / 255)}`).join("");
}

/* The rows of the table behind the timeline: what is in view. */
function timelineTable(t) {
  const list = [], {view} = t;
  for (let track = Math.floor(view.top); track < Math.min(view.bottom, t.tracks); track++) {
    if (t.near && t.view.what !== "activities") {
      const names = t.view.what === "calls" ? null : recording.region_names;
      for (const each of callsInView(t, track)) list.push([`rank ${track}`, time(each.from), time(each.until), names ? names[each.name] : callWords(each) + (stackOf(each) ? `, from ${stackOf(each)}` : "")]);
      continue;
    }
    if (t.near) {
      const {at, what} = t.spans.get(track);
      for (let i = lastBefore(at, view.from); i < what.length && at[i] < view.to; i++) {
        if (what[i] >= 0 && !KINDS[what[i]].hidden) list.push([`rank ${track}`, time(at[i]), time(at[i + 1]), KINDS[what[i]].name]);
      }
      continue;
    }
    const group = t.rowOf(track), n = KINDS.length;
    if (track !== Math.floor(view.top) && group === t.rowOf(track - 1)) continue;
    const first = Math.floor(view.from / t.bin), after = Math.min(Math.ceil(view.to / t.bin), recording.bins);
    const shares = KINDS.map((_, k) => {
      let sum = 0;
      for (let i = first; i < after; i++) sum += group.shares[i * n + k];
      return `${KINDS[k].name} ${percent(sum / 255 / Math.max(after - first, 1))}`;
    });
    list.push([ranksOf(group.first, group.ranks), time(view.from), time(view.to), shares.join(", ")]);
  }
  return list;
}

function timelineNotes(t) {
  const chosen = recording.chosen;
  return "Wheel: zoom in time; with shift: in ranks. Drag: move; with shift: zoom to a box. Double click: everything. " +
    "Keys: arrows, + and −, page up and down, home. " +
    (recording.ranks_per_row > 1 ? `Zoomed out, a row is ${recording.ranks_per_row} ranks. ` : "") +
    (chosen ? `Individual spans were recorded of ${chosen.ranks ? `the ranks ${chosen.ranks}` : "all ranks"}` +
      (chosen.until_ps != null ? `, ${time(chosen.from_ps)} to ${time(Math.min(number(chosen.until_ps), t.end))}. ` : ". ") : "") +
    (t.exact ? "" : `The ${count(recording.n_spans)} individual spans were not kept: colours show what most time goes to, in steps of ${time(t.bin)}; tall rows show shares.`);
}

function timelineTools(t) {
  const toggle = (name, id, words) => element("label", {}, element("input", {type: "checkbox", id,
    checked: t.view[name] ? "" : false, onchange: (event) => setView(t, {[name]: event.target.checked})}), " " + words);
  const button = (id, words, label, act) => element("button", {type: "button", id, "aria-label": label, title: label, onclick: act}, words);
  const boxes = element("button", {type: "button", id: "box-zoom", "aria-pressed": "false", class: "plain", onclick: () => {
    t.boxing = !t.boxing;
    boxes.setAttribute("aria-pressed", String(t.boxing));
  }}, "zoom to a box");
  const choices = ["activities", ...(t.exact && recording.calls ? ["calls"] : []), ...(t.exact && recording.regions ? ["regions"] : [])];
  const what = choices.length < 2 ? null : element("label", {}, "Show ", element("select", {id: "timeline-what", onchange: (event) => setView(t, {what: event.target.value})},
    ...choices.map((each) => element("option", {value: each}, each))));
  return element("div", {class: "tools"}, what, button("zoom-in", "+", "zoom in", () => zoomTime(t, 0.5)), button("zoom-out", "−", "zoom out", () => zoomTime(t, 2)),
    button("zoom-all", "all", "show everything", () => showAll(t)), boxes,
    t.path.length ? toggle("path", "show-path", "critical path") : null,
    t.markers.length ? toggle("marks", "show-marks", "iterations") : null,
    t.exact && recording.chosen ? button("zoom-chosen", "recorded ranks", "show the recorded ranks", () => showChosen(t)) : null,
    t.exact && recording.messages ? toggle("arrows", "show-messages", "messages") : null, searchField());
}

function timelineSection(section) {
  const t = ranksTimeline = newTimeline();
  /* Few ranks have rows that names fit into. */
  t.own = drawing(Math.min(Math.max(t.rows.length * (t.rows.length <= 31 ? 20 : 12), 120), 620) + FIELD.top + FIELD.bottom,
    "Timeline of the ranks; arrows move it, + and − zoom, home shows everything", (pen, width, height) => {
      drawTimeline(t, pen, width, height);
      Object.assign(t.own.canvas.dataset, {from: t.view.from, to: t.view.to, top: t.view.top, bottom: t.view.bottom, style: t.style});
    }, {class: "moves", tabindex: 0, id: "timeline", role: "application"});
  listenToMouse(t);
  listenToKeys(t);
  onHover(t.own.canvas, (x, y, width) => timelineWords(t, x, y, width));
  section.append(element("p", {class: "soft"}, timelineNotes(t)), activityLegend(), timelineTools(t), selectionLine(),
    figure(t.own, null, ["ranks", "from", "to", "activity"], () => timelineTable(t)));
}
