/* SPDX-License-Identifier: Apache-2.0 */
/* Formatting of numbers, elements, colours: shared by all parts of the report. */
let doc = JSON.parse(document.getElementById("document").textContent);
let extra = JSON.parse(document.getElementById("extra").textContent);
let recording = doc.recording || null;

/* The activities of a rank, in the order of the document and of the bars from the bottom up.
 * RANK_TIMES and PATH_TIMES are the words of src/base/result/times.def. */
const KINDS = [
  {key: "compute_ps", letter: "c", name: RANK_TIMES.compute_ps, color: "--compute"},
  {key: "overhead_ps", letter: "o", name: RANK_TIMES.overhead_ps, color: "--overhead"},
  {key: "send_wait_ps", letter: "s", name: RANK_TIMES.send_wait_ps, color: "--send"},
  {key: "receive_wait_ps", letter: "r", name: RANK_TIMES.receive_wait_ps, color: "--receive"},
  {key: "collective_wait_ps", letter: "k", name: RANK_TIMES.collective_wait_ps, color: "--collective"},
];
/* Ranks that use files, or share cores. */
const FILE_WAIT = {key: "file_wait_ps", letter: "f", name: RANK_TIMES.file_wait_ps, color: "--take"};
const CORE_WAIT = {key: "core_wait_ps", letter: "w", name: RANK_TIMES.core_wait_ps, color: "--core"};
function chooseKinds() {
  const has = (kind) => recording ? (recording.kinds || "").includes(kind.letter) :
    (doc.runs || []).some((run) => (run.document.recording?.kinds || "").includes(kind.letter)) || get(`result.ranks.${kind.key}`);
  KINDS.splice(5, 2, ...[FILE_WAIT, CORE_WAIT].filter(has));
}
chooseKinds();
const IDLE = {name: "idle or finished", color: "--idle"};

function get(path, from = doc) {
  return path.split(".").reduce((at, name) => at == null ? undefined : at[name], from);
}

/* Integers above 2^53 are texts in the document. */
const number = (value) => Number(value);

/* As many digits as the report on a terminal has. */
function inUnits(value, steps, significant) {
  let unit = steps[0];
  for (const step of steps) if (Math.abs(value) >= step[0]) unit = step;
  const scaled = value / unit[0];
  const before = Math.max(Math.floor(Math.log10(Math.abs(scaled) || 1)) + 1, 1);
  return scaled.toFixed(Math.max(significant - before, 0)).replace(/(\.[0-9]*?)0+$/, "$1").replace(/\.$/, "") + " " + unit[1];
}
const TIMES = [[1, "ps"], [1e3, "ns"], [1e6, "µs"], [1e9, "ms"], [1e12, "s"]];
const SIZES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"].map((name, i) => [1024 ** i, name]);
const time = (ps) => inUnits(number(ps), TIMES, 4);
const size = (bytes) => inUnits(number(bytes), SIZES, 3);
/* The largest number of 64 bits stands for no limit. */
const plain = (value) => String(value) === "18446744073709551615" ? "unlimited" : String(value);
const count = (n) => number(n).toLocaleString("en");
const percent = (share) => (100 * share).toFixed(share > 0 && share < 0.1 ? 2 : 1) + " %";
const ranksOf = (first, n) => n === 1 ? `rank ${first}` : `ranks ${first} to ${first + n - 1}`;

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

const isNumber = (text) => /^[−+-]?[0-9.,]+( ?[%a-zA-Zµ/]+)?$/.test(text);

/* A cell is a text or an element. Long texts may break anywhere, numbers never. */
function cellOf(cell) {
  if (cell instanceof Node) return element("td", {}, cell);
  const text = String(cell);
  return element("td", isNumber(text) ? {class: "n"} : text.length > 40 ? {class: "long"} : {}, text);
}

/* A table that scrolls sideways if it is wider than the screen. */
function table(head, rows, attributes = {}) {
  return element("div", {class: "wide"}, element("table", attributes,
    element("thead", {}, element("tr", {}, ...head.map((t, i) =>
      element("th", {scope: "col", class: rows.length && isNumber(String(rows[0][i])) ? "n" : null}, t)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cellOf))))));
}

function card(value, what) {
  return element("div", {class: "card"}, element("b", {}, value), element("span", {}, what));
}

const chip = (name) => element("i", {class: "chip", style: `background: var(${name})`});

function legend(kinds) {
  return element("div", {class: "legend"}, ...kinds.map((kind) => element("span", {}, chip(kind.color), kind.name)));
}

/* The activities, each a button that hides it in all drawings. */
const activityButtons = [];
function showActivities() {
  for (const {kind, button} of activityButtons) button.setAttribute("aria-pressed", String(!kind.hidden));
  redrawAll();
}
function activityLegend() {
  return element("div", {class: "legend", role: "group", "aria-label": "Activities; press one to hide it"}, ...KINDS.map((kind) => {
    const button = element("button", {type: "button", "aria-pressed": "true", "data-activity": kind.letter,
      onclick: () => { kind.hidden = !kind.hidden; showActivities(); viewChanged(); }}, chip(kind.color), kind.name);
    activityButtons.push({kind, button});
    return button;
  }), element("span", {}, chip(IDLE.color), IDLE.name));
}

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
function rgb(name) {
  const hex = color(name).replace("#", "");
  const full = hex.length === 3 ? [...hex].map((c) => c + c).join("") : hex;
  return [0, 2, 4].map((at) => parseInt(full.slice(at, at + 2), 16));
}

/* The colour scale from 0 to 1; its lightness changes in one direction, so that it reads without hues. */
function heat(share) {
  const from = rgb("--heat-none"), to = rgb("--heat-full"), middle = rgb("--heat-half");
  const [a, b, at] = share < 0.5 ? [from, middle, 2 * share] : [middle, to, 2 * share - 1];
  return `rgb(${a.map((value, i) => Math.round(value + (b[i] - value) * at)).join(",")})`;
}

/* ---- drawings: each is drawn again when its width or the colours change ---- */
const drawings = [];

/* Every drawing has a label for those who do not see it. */
function drawing(height, label, draw, attributes = {}) {
  const canvas = element("canvas", {style: `height: ${height}px`, role: "img", "aria-label": label, ...attributes});
  const own = {canvas, height, frame: 0, draw() {
    own.frame = 0;
    const width = canvas.clientWidth, scale = window.devicePixelRatio || 1;
    if (width === 0) return;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(own.height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(own.height * scale);
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, own.height);
    pen.font = "12px system-ui, sans-serif";
    draw(pen, width, own.height);
  }, again() {
    if (own.frame === 0) own.frame = requestAnimationFrame(own.draw);
  }};
  drawings.push(own);
  return own;
}

const TABLE_MAX = 500;

/* A drawing, its caption, and the numbers behind it, made into a table when it is opened. */
function figure(own, caption, head, rows) {
  const data = element("details", {class: "data"}, element("summary", {}, "Table"));
  data.addEventListener("toggle", () => {
    data.replaceChildren(data.firstChild);
    if (!data.open) return;
    const all = rows();
    data.append(table(head, all.slice(0, TABLE_MAX)));
    if (all.length > TABLE_MAX) data.append(element("p", {class: "soft"}, `The first ${TABLE_MAX} of ${count(all.length)} rows; -o with .json or .csv writes all.`));
  });
  return element("figure", {}, own.canvas, caption ? element("figcaption", {}, caption) : null, data);
}

function redrawAll() {
  for (const each of drawings) each.again();
}

function onHover(canvas, words) {
  const hint = document.getElementById("hint");
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const text = words(event.clientX - box.left, event.clientY - box.top, box.width);
    hint.hidden = !text;
    if (text) {
      hint.textContent = text;
      hint.style.left = Math.min(event.clientX + 14, window.innerWidth - hint.offsetWidth - 8) + "px";
      hint.style.top = Math.min(event.clientY + 14, window.innerHeight - hint.offsetHeight - 8) + "px";
    }
  });
  canvas.addEventListener("pointerleave", () => { hint.hidden = true; });
}

/* Round numbers between two values. */
function ticks(from, to, about) {
  const raw = (to - from) / about, power = 10 ** Math.floor(Math.log10(raw || 1));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) || 1;
  const list = [];
  for (let at = Math.ceil(from / step) * step; at <= to + step * 1e-6; at += step) list.push(at);
  return list;
}

function timeAxis(pen, left, width, y, from, to) {
  pen.fillStyle = color("--soft");
  pen.strokeStyle = color("--line");
  pen.textAlign = "center";
  /* One unit for all, and as many digits as tell neighbours apart. */
  const list = ticks(from, to, width / 110), step = list.length > 1 ? list[1] - list[0] : to - from;
  const [unit, name] = [...TIMES].reverse().find(([least]) => to >= least) || TIMES[0];
  const digits = Math.min(Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9)), 12);
  for (const at of list) {
    const x = left + (at - from) / (to - from) * width;
    pen.beginPath(); pen.moveTo(x, y); pen.lineTo(x, y + 4); pen.stroke();
    const text = at === 0 ? "0" : `${(at / unit).toFixed(digits)} ${name}`, half = pen.measureText(text).width / 2 + 1;
    pen.fillText(text, Math.min(Math.max(x, left + 14), left + width - Math.max(half, 18)), y + 16);
  }
}

/* Where a value is on an axis: linear, or logarithmic if the bars span more than an order of magnitude. */
const isLogarithmic = (bars) => bars[0].from > 0 && bars[bars.length - 1].to / bars[0].from > 16;
function scaleOf(bars) {
  const from = bars[0].from, to = bars[bars.length - 1].to;
  if (!isLogarithmic(bars)) {
    return {at: (v) => (v - from) / (to - from || 1), ticks: (about) => ticks(from, to, about)};
  }
  const low = Math.log(from), span = Math.log(to) - low;
  return {at: (v) => (Math.log(v) - low) / span, ticks: (about) => {
    const list = [], each = Math.log(to / from) / Math.log(10) > about / 3 ? [1] : [1, 2, 5];
    for (let power = 10 ** Math.floor(Math.log10(from)); power <= to; power *= 10) list.push(...each.map((m) => m * power));
    return list.filter((v) => v >= from && v <= to);
  }};
}

function countAxis(pen, left, right, top, bottom, most) {
  pen.textAlign = "right";
  for (const at of ticks(0, most, 4).filter((v) => Number.isInteger(v))) {
    const y = bottom - (bottom - top) * at / most;
    pen.strokeStyle = color("--line"); pen.fillStyle = color("--soft");
    pen.beginPath(); pen.moveTo(left, y); pen.lineTo(right, y); pen.stroke();
    pen.fillText(at.toLocaleString("en"), left - 6, y + 4);
  }
}

/* The drawing of a histogram. A bar has {from, to, n}, and is as wide as its class; `words` names
 * values on the axis, `what` is counted. */
function histogram(bars, words, what, of, id = null) {
  const most = Math.max(...bars.map((bar) => bar.n), 1), LEFT = 66, RIGHT = 14, BOTTOM = 22, TOP = 10;
  const scale = scaleOf(bars);
  const x = (v, width) => LEFT + scale.at(v) * (width - LEFT - RIGHT);
  const name = (bar) => bar.name || `${words(bar.from)} to ${words(bar.to)}`;
  const own = drawing(170, `Histogram of the ${what} by ${of}`, (pen, width, height) => {
    countAxis(pen, LEFT, width - RIGHT, TOP, height - BOTTOM, most);
    pen.fillStyle = color("--accent");
    for (const bar of bars) {
      const left = x(bar.from, width), wide = x(bar.to, width) - left, tall = (height - BOTTOM - TOP) * bar.n / most;
      pen.fillRect(left + (wide > 3 ? 0.5 : 0), height - BOTTOM - tall, Math.max(wide - (wide > 3 ? 1 : 0), 1), tall);
    }
    pen.fillStyle = color("--soft");
    pen.textAlign = "center";
    let free = 0, last = null;
    for (const at of scale.ticks((width - LEFT) / 90)) {
      const text = words(at), half = pen.measureText(text).width / 2, middle = Math.min(x(at, width), width - half);
      if (middle - half < free || text === last) continue;
      last = text;
      pen.fillRect(x(at, width) - 0.5, height - BOTTOM, 1, 4);
      pen.fillText(text, middle, height - 6);
      free = middle + half + 8;
    }
  }, {id});
  own.bars = bars.length;
  own.canvas.dataset.bars = bars.length;
  onHover(own.canvas, (at, _, width) => {
    const bar = bars.find((each) => at >= x(each.from, width) && at < x(each.to, width));
    return bar ? `${name(bar)}: ${count(bar.n)} ${what}` : "";
  });
  return {own, head: [of, what], rows: () => bars.filter((bar) => bar.n > 0).map((bar) => [name(bar), count(bar.n)])};
}

/* ---- long lists ---- */
const bytesOf = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
const numbersOf = (text) => text === "" ? [] : text.split(" ").map(Number);
