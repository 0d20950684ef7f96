/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a study: its points as small multiples and as a table that sorts. */

/* The number at the beginning of a setting, with its unit: "64KiB", "1.5us", "200Gbit/s". */
const SETTING_UNITS = {ps: 1e-12, ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, k: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3, Ti: 1024 ** 4};
function settingValue(text) {
  const match = String(text).match(/^([0-9.]+) ?([A-Za-z]*)(\/s)?$/);
  if (!match) return NaN;
  const unit = match[2].replace(/(B|bit|b)$/, "");
  const scale = match[2] in SETTING_UNITS ? SETTING_UNITS[match[2]] : unit === "" ? 1 : SETTING_UNITS[unit];
  return scale === undefined ? NaN : Number(match[1]) * scale;
}

/* Settings that vary, with their values in the order of the study. */
function studyKeys() {
  const keys = [...new Set(doc.points.flatMap((point) => Object.keys(point.settings)))];
  return keys.map((key) => ({key, values: [...new Set(doc.points.map((point) => point.settings[key]))]}))
    .map((each) => ({...each, numeric: each.values.every((v) => v === "not set" || !Number.isNaN(settingValue(v)))}));
}

/* "predicted time" for predicted_time_ps. */
const measureName = (measure) => measure.replace(/_(ps|percent)(?=\.|$)/, "").replace(/[_.]/g, " ");

const isTime = (measure) => /_ps(\.|$)/.test(measure);
function measureWords(measure, value) {
  if (value == null) return "";
  if (typeof value === "boolean" || Number.isNaN(Number(value))) return String(value);
  return isTime(measure) ? time(value) : measure === "bytes" ? size(value) : Number.isInteger(Number(value)) ? count(value) : String(+Number(value).toPrecision(4));
}

/* Points that differ in their seeds alone become one: the mean, and the range as its interval. */
function foldSeeds(points) {
  const groups = new Map();
  for (const point of points) {
    const {seed, ...settings} = point.settings, name = JSON.stringify(settings);
    groups.set(name, [...(groups.get(name) || []), {...point, settings}]);
  }
  return [...groups.values()].map((group) => {
    if (group.length === 1) return group[0];
    const result = {}, ranges = {};
    for (const measure of new Set(group.flatMap((point) => Object.keys(point.result)))) {
      const values = group.map((point) => Number(point.result[measure])).filter((v) => !Number.isNaN(v));
      if (values.length === 0) continue;
      result[measure] = values.reduce((a, b) => a + b, 0) / values.length;
      ranges[measure] = [Math.min(...values), Math.max(...values)];
    }
    return {...group[0], result, ranges};
  });
}

/* The interval of a measure: of the seeds, or of repeated runs; null if there is none. */
function rangeOf(point, measure) {
  const {predicted_time_p05_ps: low, predicted_time_p95_ps: high} = point.result;
  return point.ranges?.[measure] || (measure === "predicted_time_ps" && low != null && high != null ? [Number(low), Number(high)] : null);
}

/* Draws one panel: the measure over the first key, a line for each value of the second. */
function studyPanel(points, axes, show, most) {
  const {x, series} = axes, LEFT = 74, RIGHT = 12, TOP = 10, BOTTOM = 24;
  const place = (point) => x.numeric && show.scale === "values" ? settingValue(point.settings[x.key]) : x.values.indexOf(point.settings[x.key]);
  const places = points.map(place), low = Math.min(...places), high = Math.max(...places);
  const value = (point) => Number(point.result[show.measure]);
  const across = (width) => (v) => LEFT + (x.numeric ? (high > low ? (v - low) / (high - low) : 0.5) : (v + 0.5) / x.values.length) * (width - LEFT - RIGHT);
  const wide = (width) => 0.8 * (width - LEFT - RIGHT) / x.values.length / (series ? series.values.length : 1); // of a bar
  const middle = (point, width) => x.numeric ? across(width)(place(point))
    : across(width)(place(point) - 0.4) + wide(width) * ((series ? series.values.indexOf(point.settings[series.key]) : 0) + 0.5);
  const least = Math.min(...doc.points.map(value).filter((v) => v > 0)), logarithmic = show.y === "logarithmic" && least < most;
  const up = (v) => logarithmic ? Math.log(Math.max(v, least) / least) / Math.log(most / least) : v / most;
  const names = series ? series.values : [""];
  const own = drawing(220, `${show.measure} over ${x.key}`, (pen, width, height) => {
    const X = across(width), Y = (v) => height - BOTTOM - up(v) * (height - TOP - BOTTOM);
    for (const at of logarithmic ? powers(least, most) : ticks(0, most, 4)) {
      pen.fillStyle = color("--line"); pen.fillRect(LEFT, Y(at) - 0.5, width - LEFT - RIGHT, 1);
      pen.fillStyle = color("--soft"); pen.textAlign = "right"; pen.fillText(at === 0 ? "0" : measureWords(show.measure, at), LEFT - 6, Y(at) + 4);
    }
    pen.textAlign = "center";
    let free = 0;
    for (const point of [...points].sort((a, b) => place(a) - place(b))) {
      const text = point.settings[x.key], at = X(place(point)), half = pen.measureText(text).width / 2;
      if (at - half < free || (!x.numeric && at <= free)) continue;
      pen.fillText(text, Math.min(at, width - half), height - 6);
      free = at + half + 8;
    }
    if (!x.numeric) {
      for (const point of points) {
        const i = series ? series.values.indexOf(point.settings[series.key]) : 0, v = value(point), range = rangeOf(point, show.measure);
        if (Number.isNaN(v)) continue;
        const at = middle(point, width);
        pen.fillStyle = color(SERIES_COLORS[i % SERIES_COLORS.length]);
        pen.fillRect(at - wide(width) / 2, Y(v), Math.max(wide(width) - 1, 1), Math.max(height - BOTTOM - Y(v), 1));
        if (range) {
          const [bottom, top] = range.map(Y);
          pen.fillStyle = color("--ink");
          pen.fillRect(at - 1, top, 2, Math.max(bottom - top, 1)); pen.fillRect(at - 5, top - 1, 10, 2); pen.fillRect(at - 5, bottom - 1, 10, 2);
        }
      }
      return;
    }
    names.forEach((name, i) => {
      const line = points.filter((point) => (!series || point.settings[series.key] === name) && !Number.isNaN(value(point))).sort((a, b) => place(a) - place(b));
      pen.strokeStyle = pen.fillStyle = color(SERIES_COLORS[i % SERIES_COLORS.length]);
      pen.setLineDash(i < SERIES_COLORS.length ? [] : [5, 3]);
      pen.lineWidth = 2;
      pen.beginPath();
      line.forEach((point, k) => (k === 0 ? pen.moveTo(X(place(point)), Y(value(point))) : pen.lineTo(X(place(point)), Y(value(point)))));
      pen.stroke();
      pen.setLineDash([]);
      for (const point of line) {
        const range = rangeOf(point, show.measure);
        if (range) {
          const [bottom, top] = range.map(Y), at = X(place(point));
          pen.fillRect(at - 1, top, 2, Math.max(bottom - top, 1));
          pen.fillRect(at - 5, top - 1, 10, 2); pen.fillRect(at - 5, bottom - 1, 10, 2);
        }
        pen.beginPath(); pen.arc(X(place(point)), Y(value(point)), 3, 0, 7); pen.fill();
      }
    });
  }, {class: "panel"});
  onHover(own.canvas, (px, py, width) => {
    const Y = (v) => own.height - BOTTOM - up(v) * (own.height - TOP - BOTTOM);
    const near = points.map((point) => ({point, far: Math.hypot(middle(point, width) - px, Y(value(point)) - py)})).filter((each) => each.far < 14).sort((a, b) => a.far - b.far)[0];
    return near ? Object.entries(near.point.settings).map(([key, v]) => `${key} = ${v}`).join("\n") + `\n${show.measure}: ${measureWords(show.measure, near.point.result[show.measure])}` : "";
  });
  return own;
}
const powers = (from, to) => Array.from({length: Math.max(Math.floor(Math.log10(to)) - Math.ceil(Math.log10(from)) + 1, 0)}, (_, i) => 10 ** (Math.ceil(Math.log10(from)) + i));
const SERIES_COLORS = ["--compute", "--receive", "--send", "--collective", "--core", "--take"];

function multiplesSection(section) {
  const folded = foldSeeds(doc.points), wanted = doc.plot || {}, seeds = folded.length < doc.points.length;
  const keys = studyKeys().filter(({key, values}) => !(seeds && key === "seed") && !key.startsWith("price.") && (values.length > 1 || key === wanted.x)) // a price follows its machine
    .sort((a, b) => Number(b.key === (wanted.x || "file")) - Number(a.key === (wanted.x || "file")) || Number(b.numeric) - Number(a.numeric) || b.values.length - a.values.length);
  const measures = [...new Set(doc.points.flatMap((point) => Object.keys(point.result)))].filter((m) => doc.points.some((p) => !Number.isNaN(Number(p.result[m]))) && m !== "digest");
  if (keys.length === 0 || measures.length === 0) return;
  const show = {measure: measures.includes(wanted.y) ? wanted.y : measures[0], scale: "places", y: "linear"}, axes = {}, place = element("div", {class: "panels", id: "multiples"});
  const draw = () => {
    drawings.length = 0;
    const most = Math.max(...folded.map((p) => rangeOf(p, show.measure)?.[1] ?? (Number(p.result[show.measure]) || 0)), 1e-9) * 1.05;
    const groups = new Map();
    for (const point of folded) {
      const name = axes.rest.filter(({key}) => point.settings[key] !== "not set").map(({key}) => `${key} = ${point.settings[key]}`).join(", ");
      groups.set(name, [...(groups.get(name) || []), point]);
    }
    place.replaceChildren(...[...groups].map(([name, points]) => {
      const own = studyPanel(points, axes, show, most);
      return figure(own, name || `${measureName(show.measure)} over ${axes.x.key}`, [axes.x.key, ...(axes.series ? [axes.series.key] : []), show.measure], () =>
        points.map((point) => [point.settings[axes.x.key], ...(axes.series ? [point.settings[axes.series.key]] : []), measureWords(show.measure, point.result[show.measure])]));
    }));
    redrawAll();
  };
  const choice = (id, label, values, act) => element("label", {}, `${label} `, element("select", {id, onchange: (event) => { act(event.target.value); draw(); }},
    ...values.map((value) => element("option", {value, ...(value === show.measure ? {selected: ""} : {})}, id === "measure" ? measureName(value) : value))));
  /* The file of a result stands for all its settings. */
  const assign = (name) => {
    const others = name === "file" ? [] : keys.filter((each) => each.key !== name && each.key !== "file");
    Object.assign(axes, {x: keys.find((each) => each.key === name), series: others[0], rest: others.slice(1)});
  };
  assign(keys[0].key);
  section.append(...[element("div", {class: "tools"}, choice("measure", "Measure", measures, (value) => { show.measure = value; }),
    choice("x-axis", "over", keys.map((each) => each.key), assign),
    choice("x-scale", "at", ["places", "values"], (value) => { show.scale = value; }),
    choice("y-axis", "axis", ["linear", "logarithmic"], (value) => { show.y = value; })),
  seeds ? element("p", {class: "soft"}, "Points are means over the seeds, their bars go from the least to the greatest.") : null,
  axes.series ? element("div", {class: "legend", id: "series"}) : null, place].filter(Boolean));
  const names = () => document.getElementById("series")?.replaceChildren(...(axes.series ? axes.series.values.map((value, i) =>
    element("span", {}, chip(SERIES_COLORS[i % SERIES_COLORS.length]), `${axes.series.key} = ${value}`)) : []));
  section.addEventListener("change", names);
  draw();
  setTimeout(names);
}

/* A table whose heads sort it; a second click turns the order round. */
function studyTable(section) {
  const keys = studyKeys().map((each) => each.key), measures = [...new Set(doc.points.flatMap((point) => Object.keys(point.result)))];
  const columns = [...keys.map((key) => ({name: key, of: (p) => p.settings[key], words: String})), {name: "status", of: (p) => p.status, words: String},
    ...measures.map((m) => ({name: measureName(m), of: (p) => p.result[m], words: (v) => measureWords(m, v)}))];
  const order = {column: null, up: true}, place = element("div");
  const compare = (a, b) => {
    const [x, y] = [a, b].map((p) => order.column.of(p)), [u, v] = [x, y].map((each) => typeof each === "string" && Number.isNaN(Number(each)) ? settingValue(each) : Number(each));
    const by = Number.isNaN(u) || Number.isNaN(v) ? String(x ?? "").localeCompare(String(y ?? "")) : u - v;
    return order.up ? by : -by;
  };
  const show = () => {
    const points = order.column ? [...doc.points].sort(compare) : doc.points;
    const made = table(columns.map((c) => c.name), points.map((p) => columns.map((c) => { const v = c.of(p); return v == null ? "" : c.words(v); })), {id: "study-table"});
    made.classList.add("lines");
    made.querySelectorAll("th").forEach((th, i) => {
      const sorted = order.column === columns[i];
      th.setAttribute("aria-sort", sorted ? (order.up ? "ascending" : "descending") : "none");
      th.replaceChildren(element("button", {type: "button", class: "sort", onclick: () => {
        Object.assign(order, {up: order.column === columns[i] ? !order.up : true, column: columns[i]});
        show();
      }}, columns[i].name + (sorted ? (order.up ? " ↑" : " ↓") : "")));
    });
    place.replaceChildren(made);
  };
  show();
  section.append(place);
}

async function sweepPage() {
  document.title = `weft: ${doc.title || "study"}`;
  const keys = new Set(doc.points.flatMap((point) => Object.keys(point.settings)));
  for (const point of doc.points) for (const key of keys) point.settings[key] ??= "not set";
  const done = doc.points.filter((point) => point.status === "completed").length;
  document.getElementById("head").append(element("h1", {}, doc.title || "A study"),
    element("p", {class: "soft"}, `${count(doc.points.length)} points, ${count(done)} completed.` +
      (Object.keys(doc.settings).length > 0 ? ` The same in all: ${Object.entries(doc.settings).map(([key, value]) => `${key} = ${value}`).join(", ")}.` : "")));
  await addSections([["multiples-section", "Results", true, multiplesSection], ["points", "All points", true, studyTable]]);
}
