/* SPDX-License-Identifier: Apache-2.0 */
/* Formatting of numbers, elements, colours: shared by all parts of the report. */
const doc = JSON.parse(document.getElementById("document").textContent);
const extra = JSON.parse(document.getElementById("extra").textContent);
const recording = doc.recording || null;

/* The activities of a rank, in the order of the document and of the bars from the bottom up. */
const KINDS = [
  {key: "compute_ps", letter: "c", name: "computing", color: "--compute"},
  {key: "overhead_ps", letter: "o", name: "CPU time on messages", color: "--overhead"},
  {key: "send_wait_ps", letter: "s", name: "waiting in sends", color: "--send"},
  {key: "receive_wait_ps", letter: "r", name: "waiting for messages", color: "--receive"},
  {key: "collective_wait_ps", letter: "k", name: "waiting in collectives", color: "--collective"},
];
/* Ranks that share cores. */
if (recording ? recording.kinds : doc.result && doc.result.ranks && doc.result.ranks.core_wait_ps) {
  KINDS.push({key: "core_wait_ps", letter: "w", name: "waiting for a core", color: "--core"});
}
const IDLE = {name: "idle or finished", color: "--idle"};

function get(path, from = doc) {
  return path.split(".").reduce((at, name) => at == null ? undefined : at[name], from);
}

/* Integers above 2^53 are texts in the document. */
const number = (value) => Number(value);

function inUnits(value, steps) {
  let unit = steps[0];
  for (const step of steps) if (Math.abs(value) >= step[0]) unit = step;
  const scaled = value / unit[0];
  const digits = Math.abs(scaled) >= 100 ? 0 : Math.abs(scaled) >= 10 ? 1 : 2;
  return scaled.toFixed(value === 0 ? 0 : digits).replace(/\.0+$/, "") + " " + unit[1];
}
const TIMES = [[1, "ps"], [1e3, "ns"], [1e6, "µs"], [1e9, "ms"], [1e12, "s"]];
const time = (ps) => inUnits(number(ps), TIMES);
const size = (bytes) => inUnits(number(bytes), [[1, "B"], [1e3, "kB"], [1e6, "MB"], [1e9, "GB"], [1e12, "TB"]]);
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

function table(head, rows, aligns = true) {
  return element("table", {}, element("thead", {}, element("tr", {}, ...head.map((t) => element("th", {}, t)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell) =>
      element("td", aligns && /^[0-9.,]+( ?[%a-zA-Zµ/]+)?$/.test(String(cell)) ? {class: "n"} : {}, String(cell)))))));
}

function card(value, what) {
  return element("div", {class: "card"}, element("b", {}, value), element("span", {}, what));
}

function legend(kinds) {
  return element("div", {class: "legend"}, ...kinds.map((kind) => element("span", {},
    element("i", {style: `background: var(${kind.color})`}), kind.name)));
}

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
function rgb(name) {
  const hex = color(name).replace("#", "");
  const full = hex.length === 3 ? [...hex].map((c) => c + c).join("") : hex;
  return [0, 2, 4].map((at) => parseInt(full.slice(at, at + 2), 16));
}

/* The colour scale from 0 (the idle colour) to 1. */
function heat(share) {
  const from = rgb("--idle"), to = rgb("--receive"), middle = rgb("--overhead");
  const [a, b, at] = share < 0.5 ? [from, middle, 2 * share] : [middle, to, 2 * share - 1];
  return `rgb(${a.map((value, i) => Math.round(value + (b[i] - value) * at)).join(",")})`;
}

/* ---- drawings: each is drawn again when its width or the colours change ---- */
const drawings = [];

function drawing(height, draw, attributes = {}) {
  const canvas = element("canvas", {style: `height: ${height}px`, ...attributes});
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
    pen.fillText(at === 0 ? "0" : `${(at / unit).toFixed(digits)} ${name}`, Math.min(Math.max(x, left + 14), left + width - 18), y + 16);
  }
}

/* Bars of a histogram: [from, to, n, words]. */
function histogram(bars, unit, label) {
  const most = Math.max(...bars.map((bar) => bar.n), 1);
  const LEFT = 8, BOTTOM = 22;
  const own = drawing(150, (pen, width, height) => {
    const each = (width - 2 * LEFT) / bars.length;
    bars.forEach((bar, i) => {
      const tall = (height - BOTTOM - 16) * bar.n / most;
      pen.fillStyle = color("--accent");
      pen.fillRect(LEFT + i * each + 0.5, height - BOTTOM - tall, Math.max(each - 1, 1), tall);
    });
    pen.fillStyle = color("--soft");
    pen.textAlign = "left"; pen.fillText(unit(bars[0].from), LEFT, height - 6);
    pen.textAlign = "right"; pen.fillText(unit(bars[bars.length - 1].to), width - LEFT, height - 6);
    pen.textAlign = "center"; pen.fillText(label, width / 2, height - 6);
  });
  onHover(own.canvas, (x, y, width) => {
    const bar = bars[Math.floor((x - LEFT) / ((width - 2 * LEFT) / bars.length))];
    return bar ? `${unit(bar.from)} to ${unit(bar.to)}: ${count(bar.n)}` : "";
  });
  return own.canvas;
}

/* ---- long lists ---- */
const bytesOf = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
const numbersOf = (text) => text === "" ? [] : text.split(" ").map(Number);
