/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a comparison: several results side by side, timelines on one scale. */

const runNames = () => doc.runs.map((run) => run.name);
const inRun = (path) => (run) => get(path, run.document);

/* "+12.3 %" of b compared with a. */
function changeWords(a, b) {
  if (!(a > 0)) return b > 0 ? "new" : "";
  const change = b / a - 1;
  return Math.abs(change) < 5e-5 ? "=" : `${change > 0 ? "+" : "−"}${percent(Math.abs(change))}`;
}

/* A table with a column for each run, and the change of each after the first. Rows are
 * {name, values}, a value that a run does not have is undefined. */
function comparedTable(what, rows, words, id) {
  const names = runNames();
  return table([what, ...names.flatMap((name, i) => i === 0 ? [name] : [name, "change"])], rows.map(({name, values}) => [name,
    ...values.flatMap((value, i) => {
      const text = value === undefined ? "" : words(value);
      return i === 0 ? [text] : [text, value === undefined || values[0] === undefined ? "" : changeWords(number(values[0]), number(value))];
    })]), {id});
}

/* Lists of all runs as rows with one name each, those that differ most first. */
function joined(listOf, keyOf, valueOf) {
  const rows = new Map();
  doc.runs.forEach((run, i) => {
    for (const each of listOf(run) || []) {
      const key = keyOf(each);
      if (!rows.has(key)) rows.set(key, {name: key, values: new Array(doc.runs.length).fill(undefined)});
      rows.get(key).values[i] = number(rows.get(key).values[i] || 0) + number(valueOf(each));
    }
  });
  const far = ({values}) => Math.max(...values.map((value) => Math.abs((value || 0) - (values[0] || 0))));
  return {all: rows.size, differ: [...rows.values()].filter((row) => far(row) > 0).sort((a, b) => far(b) - far(a))};
}

function comparedTimes(section) {
  const times = doc.runs.map((run) => number(get("result.predicted_time_ps", run.document) ?? get("result.time_reached_ps", run.document) ?? 0));
  const most = Math.max(...doc.runs.map((run, i) => number(get("result.predicted_time_p95_ps", run.document) ?? times[i])), 1);
  section.append(element("div", {class: "bars", id: "compared-times"}, ...doc.runs.flatMap((run, i) => {
    const low = get("result.predicted_time_p05_ps", run.document), high = get("result.predicted_time_p95_ps", run.document);
    return [element("span", {class: "name"}, run.name),
      element("div", {}, element("div", {class: `bar ${i === 0 ? "base" : ""}`, style: `width: ${100 * times[i] / most}%`})),
      element("span", {class: "value"}, time(times[i]) + (i === 0 ? "" : ` (${changeWords(times[0], times[i])})`) +
        (low == null ? "" : `, 90 % of runs: ${intervalText(low, high)}`))];
  })));
}

function comparedSettings(section) {
  const all = doc.runs.map((run) => new Map(flat({...run.document.scenario, settings: {}}, "", [])));
  const names = [...new Set(all.flatMap((map) => [...map.keys()]))].filter((name) => new Set(all.map((map) => map.get(name))).size > 1);
  section.append(names.length ? table(["setting", ...runNames()], names.map((name) => [name, ...all.map((map) => map.get(name) ?? "")]), {id: "compared-settings"})
    : element("p", {class: "soft"}, "The scenarios are equal."));
}

/* ---- timelines ---- */

/* The shares of a row, with a place for each of KINDS: recordings in which no rank waited for a core
 * do without the last. */
function sharesOf(own, row) {
  const bytes = bytesOf(row.shares), n = own.kinds ? own.kinds.length : 5;
  if (n === KINDS.length) return bytes;
  const all = new Uint8Array(own.bins * KINDS.length);
  for (let i = 0; i < own.bins; i++) for (let k = 0; k < n; k++) all[i * KINDS.length + k] = bytes[i * n + k];
  return all;
}

/* A timeline of bins of one run, as the functions of the drawing take it. */
function plainTimeline(run) {
  const own = run.document.recording;
  const rows = own.rows.map((row) => ({ranks: row.ranks, first: row.first_rank, shares: sharesOf(own, row)}));
  return {rows, bins: own.bins, bin: number(own.bin_ps), end: number(own.end_ps) || 1, per: 1, tracks: rows.length, exact: false,
    rowOf: (track) => rows[Math.min(Math.max(track, 0), rows.length - 1)],
    begins: (get("result.iterations", run.document) || []).filter((each) => each.at === "begin").map((each) => number(each.time_ps.mean))};
}

/* Timelines with one view: a zoom or a move of one is that of all. Each may be shifted, so that an
 * iteration begins at the same place in all. */
function comparedTimelines(section) {
  const runs = doc.runs.filter((run) => get("recording.rows", run.document));
  if (runs.length === 0) {
    section.append(element("p", {class: "soft"}, "The results were not recorded (--record)."));
    return;
  }
  const all = runs.map(plainTimeline), end = Math.max(...all.map((t) => t.end));
  const shared = {from: 0, to: end}, shift = all.map(() => 0);
  const again = () => all.forEach((t) => t.own.again());
  const set = (from, to) => {
    const length = Math.min(Math.max(to - from, 1000), 1.1 * end);
    shared.from = Math.min(Math.max(from, -0.05 * end), 1.05 * end - length);
    shared.to = shared.from + length;
    again();
  };
  const figures = all.map((t, i) => {
    t.own = drawing(Math.min(Math.max(t.rows.length * 6, 90), 260) + FIELD.top + FIELD.bottom, `Timeline of ${runs[i].name}`, (pen, width, height) => {
      const field = fieldOf(width, height);
      t.view = {from: shared.from + shift[i], to: shared.to + shift[i], top: 0, bottom: t.tracks};
      drawShares(t, pen, field);
      drawLabels(t, pen, field);
      timeAxis(pen, field.x, field.w, field.y + field.h, t.view.from, t.view.to);
      Object.assign(t.own.canvas.dataset, {from: t.view.from, to: t.view.to});
    }, {class: "moves compared", tabindex: 0, role: "application"});
    listenToShared(t, shared, set);
    onHover(t.own.canvas, (x, y, width) => sharesWords(t, x, y, width));
    return element("div", {}, element("h3", {}, runs[i].name), figure(t.own, null, ["activity", "share of the ranks' time in view"], () => sharesInView(t)));
  });
  const n = Math.min(...all.map((t) => t.begins.length));
  const align = n === 0 ? null : element("label", {}, "Align ", element("select", {id: "align", onchange: (event) => {
    const at = Number(event.target.value);
    all.forEach((t, i) => { shift[i] = at < 0 ? 0 : t.begins[at] - all[0].begins[at]; });
    again();
  }}, element("option", {value: -1}, "at the start"), ...Array.from({length: n}, (_, i) => element("option", {value: i}, `iteration ${i}`))));
  section.append(activityLegend(), element("div", {class: "tools"}, element("button", {type: "button", onclick: () => set(0, end)}, "all"), align),
    element("p", {class: "soft"}, "All timelines have one scale. Wheel: zoom in time. Drag: move. Double click: everything."), ...figures);
}

function listenToShared(t, shared, set) {
  const {canvas} = t.own;
  let held = null;
  const share = (event) => {
    const box = canvas.getBoundingClientRect(), field = fieldOf(box.width, t.own.height);
    return (event.clientX - box.left - field.x) / field.w;
  };
  const zoom = (factor, at) => {
    const middle = shared.from + at * (shared.to - shared.from);
    set(middle - (middle - shared.from) * factor, middle + (shared.to - middle) * factor);
  };
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), share(event));
  }, {passive: false});
  canvas.addEventListener("pointerdown", (event) => { held = share(event); canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    if (held === null) return;
    const by = (held - share(event)) * (shared.to - shared.from);
    set(shared.from + by, shared.to + by);
    held = share(event);
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { held = null; });
  canvas.addEventListener("dblclick", () => set(0, Infinity));
  canvas.addEventListener("keydown", (event) => {
    const by = 0.2 * (shared.to - shared.from);
    const keys = {ArrowLeft: () => set(shared.from - by, shared.to - by), ArrowRight: () => set(shared.from + by, shared.to + by),
      "+": () => zoom(0.6, 0.5), "-": () => zoom(1 / 0.6, 0.5), Home: () => set(0, Infinity)};
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
}

function sharesWords(t, x, y, width) {
  const field = fieldOf(width, t.own.height), at = (x - field.x) / field.w, share = (y - field.y) / field.h;
  const now = t.view.from + at * (t.view.to - t.view.from), group = t.rowOf(Math.floor(share * t.tracks)), cell = Math.floor(now / t.bin);
  if (at < 0 || at > 1 || share < 0 || share > 1 || cell < 0 || cell >= t.bins) return "";
  return `${ranksOf(group.first, group.ranks)}, ${time(now)}` + KINDS.map((kind, k) => `\n${kind.name}: ${percent(group.shares[cell * KINDS.length + k] / 255)}`).join("");
}

function sharesInView(t) {
  const first = Math.max(Math.floor(t.view.from / t.bin), 0), after = Math.min(Math.ceil(t.view.to / t.bin), t.bins), n = KINDS.length;
  return KINDS.map((kind, k) => {
    let sum = 0, all = 0;
    for (const row of t.rows) {
      for (let i = first; i < after; i++) sum += row.ranks * row.shares[i * n + k] / 255;
      all += row.ranks * Math.max(after - first, 1);
    }
    return [kind.name, percent(sum / all)];
  });
}

/* ---- tables ---- */

function comparedActivities(section) {
  const rows = [...KINDS, {key: "idle_ps", name: RANK_TIMES.idle_ps}].map((kind) =>
    ({name: kind.name, values: doc.runs.map((run) => get(`result.ranks.${kind.key}.mean`, run.document))})).filter(({values}) => values.some((v) => v !== undefined));
  if (rows.length) section.append(element("h3", {}, "Mean time of a rank"), comparedTable("activity", rows, time, "compared-activities"));
  const efficiency = ["parallel", "load_balance", "serialisation", "transfer"].map((key) =>
    ({name: key.replace("_", " "), values: doc.runs.map((run) => get(`result.efficiency.${key}_percent`, run.document))})).filter(({values}) => values.some((v) => v !== undefined));
  if (efficiency.length) section.append(element("h3", {}, "Efficiency"), comparedTable("factor", efficiency, (v) => `${v.toFixed(1)} %`, "compared-efficiency"));
  const path = SHARES.map((part) => ({name: part.name, values: doc.runs.map((run) => get(`critical_path.shares.${part.key}`, run.document))})).filter(({values}) => values.some((v) => v !== undefined));
  if (path.length) section.append(element("h3", {}, "Critical path"), comparedTable("part", path, time, "compared-path"));
}

const COMPARED_MAX = 40;

function comparedLists(section) {
  const add = (title, what, {all, differ}, words, id) => {
    if (all === 0) return;
    section.append(element("h3", {}, title), differ.length ? comparedTable(what, differ.slice(0, COMPARED_MAX), words, id)
      : element("p", {class: "soft", id}, `Equal for all ${count(all)}.`));
    if (differ.length > COMPARED_MAX) section.append(element("p", {class: "soft"}, `The ${COMPARED_MAX} of ${count(differ.length)} that differ most.`));
  };
  add("Calls: time of all ranks", "call", joined(inRun("recording.by_call"), (sum) => sum.call, (sum) => sum.time_ps), time, "compared-calls");
  add("Regions: time of all ranks", "region", joined(inRun("result.regions"), (region) => region.name ?? `region ${region.number}`, (region) => region.total_ps), time, "compared-regions");
  const per = new Set(doc.runs.map((run) => get("recording.ranks_per_row", run.document)));
  if (per.size === 1) {
    add("Ranks: compute time", "rank", joined(inRun("recording.rows"), (row) => ranksOf(row.first_rank, row.ranks), (row) => row.compute_ps), time, "compared-ranks");
    add("Ranks: end", "rank", joined(inRun("recording.rows"), (row) => ranksOf(row.first_rank, row.ranks), (row) => row.finish_ps), time, "compared-ends");
  }
  add("Links: utilisation", "link", joined((run) => get("result.network.links", run.document) || get("result.network.hot_links", run.document),
    (link) => `${link.vertex} → ${link.to}`, (link) => link.busy_percent), (v) => percent(v / 100), "compared-links");
  if (section.childElementCount < 2) section.append(element("p", {class: "soft"}, "The results were not recorded (--record)."));
}

async function comparePage() {
  const title = `${runNames().slice(1).join(", ")}, compared with ${runNames()[0]}`;
  document.title = `weft: ${title}`;
  document.getElementById("head").append(element("h1", {}, "weft compare"), element("p", {class: "soft"}, title));
  await addSections([
    ["times", "Predicted time", true, comparedTimes],
    ["settings", "Settings that differ", true, comparedSettings],
    ["timelines", "Timelines", true, comparedTimelines],
    ["activities", "Where time goes", true, comparedActivities],
    ["lists", "What differs most", true, comparedLists],
  ]);
}
