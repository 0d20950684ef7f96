/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that simulate: the reader changes the machine or the program, and the page shows the run that
 * results. The scenario is a list of settings, the base, and changes on top of it. */

/* Sliders of the machine: those whose parameters the scenario has, in this order. */
const SLIDERS = [
  {key: "net.bandwidth", name: "bandwidth"}, {key: "net.L", name: "latency"}, {key: "net.alpha", name: "start-up time of a message"},
  {key: "net.link_latency", name: "latency of a link"}, {key: "net.router_delay", name: "delay of a router"},
  {key: "net.message_latency", name: "latency of a message"}, {key: "net.o", name: "overhead of a message"}, {key: "net.g", name: "gap between messages"},
  {key: "net.cycle", name: "cycle of a link"}, {key: "net.phit", name: "bytes per cycle"}, {key: "net.packet", name: "size of a packet"},
  {key: "node.o_send", name: "overhead to send"}, {key: "node.o_recv", name: "overhead to receive"},
  {key: "mpi.eager_max", name: "eager limit"}, {key: "cpu.scale", name: "compute speed", inverse: true},
];
/* A recorded run that takes longer than this is shown when the reader pauses, not while he moves. */
const RECORD_MS = 60, RENDER_MS = 12, PAUSE_MS = 250, STALE_MS = 1500, DRAG_LIMIT = 20000;
const CURVE_STEPS = 32, PATH_MAX = 2 ** 29;
/* From then on a run has a busy sign, and then it ends. */
const BUSY_MS = 400, LIMIT_MS = 60000;

const panel = {
  base: [], changes: new Map(), catalog: null, front: null, back: null, focus: null, original: null, repeatable: null,
  sliders: new Map(), starts: new Map(), collective: "allreduce", began: 0, number: 0, efficient: false, pathBytes: 2 ** 20, curve: null, curveNumber: 0, wanted: false, running: 0, started: 0, recordMs: 0, renderMs: 0, timer: 0, frames: [],
};

const findEntry = (kind, name) => (panel.catalog ? panel.catalog.entries : []).find((entry) => entry.kind === kind && entry.name === name);
function paramOf(key) {
  const [scope, name] = key.split("."), source = String(get("scenario.source") || "");
  const entry = scope === "net" ? findEntry("net", get("scenario.network")) : scope === "gen" ? findEntry("gen", source.slice(4)) : findEntry(scope, "");
  return entry && entry.params.find((param) => param.name === name);
}

/* ---- settings ---- */

/* The value of a setting in force, as the shown document has it. */
function valueNow(key) {
  const own = key.includes(".") ? get(`scenario.parameters.${key}`) : get(`scenario.${key}`);
  return panel.changes.get(key) ?? (own == null ? "" : String(own));
}

/* All settings. Parameters of another network model or program than that of the base are left out. */
function settingsNow(more = {}) {
  const changes = new Map([...panel.changes, ...Object.entries(more)]);
  const gone = (key) => changes.has(key) || (changes.has("network") && key.startsWith("net.")) ||
    (changes.has("source") && /^(gen|trace)\./.test(key)) || (changes.has("source") && key === "ranks" && !String(changes.get("source")).startsWith("gen:"));
  const list = panel.base.filter((setting) => setting.place || !gone(setting.key));
  for (const [key, value] of changes) if (value !== "" || key === "topology") list.push({key, value});
  return list;
}

/* Changes settings; an empty value takes a change back. */
function change(values) {
  for (const [key, value] of Object.entries(values)) {
    if (key === "network") for (const each of [...panel.changes.keys()]) if (each.startsWith("net.")) panel.changes.delete(each);
    if (key === "source") for (const each of [...panel.changes.keys()]) if (/^(gen|trace)\./.test(each)) panel.changes.delete(each);
    panel.changes.delete(key);
    if (value !== null) panel.changes.set(key, value);
  }
  panel.wanted = true;
  pump();
}

/* ---- runs ---- */

/* Starts the newest run that was asked for, one at a time. */
async function pump() {
  clearTimeout(panel.timer);
  if (!panel.front || !panel.wanted) return;
  if (panel.running) {
    if (performance.now() - panel.started < STALE_MS) {
      panel.timer = setTimeout(pump, STALE_MS);
      return;
    }
    panel.front.stop();
  }
  panel.wanted = false;
  panel.back.stop();
  const quick = panel.recordMs < RECORD_MS && panel.renderMs < RENDER_MS;
  const answer = await runNow(quick ? {record: true, limit: DRAG_LIMIT} : {});
  if (panel.wanted) pump();
  else if (answer && answer.code === 0) panel.timer = setTimeout(settle, PAUSE_MS);
}

/* Whether the network model records the load of links, and the reader has not decided about it. */
function keepsLinks() {
  const entry = findEntry("net", panel.changes.get("network") || get("scenario.network"));
  return entry != null && entry.params.some((param) => param.name === "stats") && !panel.base.some((setting) => setting.key === "net.stats");
}

/* What a report has beside the prediction, as `weft replay -o report.html` does. */
function forReport() {
  const topology = panel.changes.get("topology") || get("scenario.topology");
  return {...(panel.efficient ? {efficiency: "true"} : {}), ...(keepsLinks() ? {"net.stats": panel.pictured === topology ? "links" : "summary"} : {})};
}

/* Says what the simulator does as long as it does it, and ends it at the limit. */
function showBusy(words) {
  const began = performance.now();
  const tick = () => {
    const ms = performance.now() - began;
    panel.busy.hidden = ms < BUSY_MS;
    panel.busyWords.textContent = `${words} … ${Math.floor(ms / 1000)} s of at most ${LIMIT_MS / 1000} s`;
    if (ms > LIMIT_MS) stopRun(`Stopped after ${LIMIT_MS / 1000} s. Fewer ranks or iterations, or the network model loggp, take less; weft in a terminal has no limit.`);
  };
  clearInterval(panel.ticking);
  panel.ticking = setInterval(tick, 200);
  tick();
}

function endBusy() {
  clearInterval(panel.ticking);
  panel.busy.hidden = true;
}

function stopRun(words) {
  endBusy();
  clearTimeout(panel.timer);
  panel.front.stop();
  panel.back.stop();
  panel.curveNumber++;
  panel.running = 0;
  panel.wanted = false;
  showStatus("stopped", {code: 1, error: words});
}

/* Asks the simulator, with a busy sign. */
async function simulate(settings, options) {
  const value = (key) => (settings.findLast((each) => each.key === key) || {value: get(`scenario.${key}`) || ""}).value;
  showBusy(`Simulating ${value("source")}${value("ranks") && ` on ${value("ranks")} ranks`}${value("network") && `, network model ${value("network")}`}`);
  const answer = await panel.front.run(settings, options);
  endBusy();
  return answer;
}

async function runNow(options) {
  const number = ++panel.number, settings = settingsNow(options.settled ? forReport() : {});
  panel.running = number;
  panel.started = performance.now();
  showStatus("running");
  const answer = await simulate(settings, options);
  if (panel.running !== number) return null;
  panel.running = 0;
  if (options.record && !options.settled && answer.code === 0) panel.recordMs = answer.ms;
  showAnswer(answer, options.settled ? "all" : options.record ? "some" : "time");
  return answer;
}

/* What a run needs beyond the first try, which tells it: memory for the critical path, and the load of each
 * link if the network is small enough for a picture. True if there is something. */
function learns(answer) {
  const needed = number(get("document.critical_path.memory_bytes", answer) || 0), topology = get("document.scenario.topology", answer);
  const more = needed > panel.pathBytes && needed < PATH_MAX, pictured = get("extra.picture", answer) != null && panel.pictured !== topology && keepsLinks();
  if (more) panel.pathBytes = 2 * needed;
  if (pictured) panel.pictured = topology;
  return more || pictured;
}

/* When the reader pauses: the whole document, then the curve. */
async function settle() {
  if (panel.wanted || panel.running) return;
  const once = () => runNow({record: true, settled: true, path: panel.pathBytes});
  let answer = await once();
  if (answer && answer.code === 0 && !panel.wanted && learns(answer)) answer = await once();
  if (answer && answer.code === 0 && !panel.wanted) drawCurve();
}

/* ---- what is shown ---- */

function showStatus(what, answer = null) {
  const {status, error} = panel;
  status.dataset.state = what;
  if (what === "running") {
    error.hidden = true;
    return;
  }
  error.textContent = answer && answer.code !== 0 ? `${what === "stopped" ? "" : "weft: "}${answer.error}` : "";
  error.hidden = error.textContent === "";
  if (!answer || !answer.document || answer.code !== 0) {
    if (answer) status.textContent = "Shown is the last run that worked.";
    return;
  }
  const now = number(answer.document.result.predicted_time_ps), before = panel.original, by = now / before - 1;
  status.replaceChildren(element("b", {id: "live-time"}, time(now)),
    before && panel.changes.size ? ` instead of ${time(before)} (${by > 0 ? "+" : by < 0 ? "−" : "±"}${(100 * Math.abs(by)).toFixed(1)} %)` : "",
    element("span", {class: "soft"}, ` · simulated in ${inUnits(1e12 * get("document.run.wall_seconds", answer), TIMES, 2)}`));
  status.dataset.digest = answer.document.result.digest || "";
}

/* The head of the page. While only numbers change, most of it stays: this is done for every frame. */
function showHead() {
  const head = document.getElementById("head"), shape = [get("scenario.source"), get("scenario.network"), get("scenario.topology"), get("scenario.ranks")].join(" ");
  const big = head.querySelector(".big"), digest = head.querySelector(".card:last-child b");
  if (shape === panel.headShape && big && digest) {
    big.textContent = time(get("result.predicted_time_ps"));
    digest.textContent = get("result.digest");
    return;
  }
  panel.headShape = shape;
  head.replaceChildren();
  headSection();
}

/* What follows the hand that moves a slider; the rest follows when it pauses. */
const FOLLOWING = ["over-time", "path"];

function showAnswer(answer, what) {
  if (answer.code === 0 && answer.document) {
    if (panel.original === null) panel.original = number(answer.document.result.predicted_time_ps);
    if (what === "time") {
      doc = {...doc, scenario: answer.document.scenario, result: answer.document.result};
    } else {
      const begin = performance.now();
      showDocument(answer.document, {...extra, picture: answer.extra.picture, defaults: answer.extra.defaults}, what === "some" ? FOLLOWING : null);
      if (what === "some") panel.renderMs = performance.now() - begin;
    }
    if (what !== "all") showHead();
    document.getElementById("main").classList.toggle("behind", what !== "all");
    fillPanel();
  }
  showStatus(answer.code === 0 ? "shown" : "failed", answer);
}

/* ---- the curve over the range of a slider ---- */

/* Positions from coarse to fine. */
function curvePositions() {
  const list = [0, CURVE_STEPS];
  for (let step = CURVE_STEPS / 2; step >= 1; step /= 2) for (let at = step; at < CURVE_STEPS; at += 2 * step) list.push(at);
  return list.map((at) => at * STEPS / CURVE_STEPS);
}

async function drawCurve() {
  const slider = panel.sliders.get(panel.focus), number = ++panel.curveNumber;
  if (!slider || !panel.back) return;
  panel.back.stop();
  panel.curve = {key: panel.focus, name: slider.name, points: new Map(), text: (position) => slider.words(slider.own.at(position))};
  showBusy(`Computing the curve over ${slider.name}`);
  for (const position of curvePositions()) {
    const answer = await panel.back.run(settingsNow({[panel.focus]: slider.own.at(position)}), {});
    if (number !== panel.curveNumber) return;
    if (answer.code === 0) panel.curve.points.set(position, globalThis.Number(answer.document.result.predicted_time_ps));
    panel.drawing.again();
    panel.drawing.canvas.dataset.points = panel.curve.points.size;
  }
  panel.curve.complete = true;
  endBusy();
}

function drawCurveOn(pen, width, height) {
  const RIGHT = 12, TOP = 12, BOTTOM = 38, {curve} = panel;
  pen.fillStyle = color("--soft");
  pen.textAlign = "center";
  if (!curve || curve.points.size < 2) {
    pen.fillText(curve ? curve.complete ? "No other value of this slider can be simulated." : "Computing the curve …" : "Move a slider: the curve over its range appears here.", width / 2, height / 2);
    return;
  }
  const points = [...curve.points].sort((a, b) => a[0] - b[0]), times = points.map(([, t]) => t);
  const low = Math.min(...times), high = Math.max(...times), pad = (high - low) * 0.08 || high * 0.05 || 1;
  const list = ticks(Math.max(low - pad, 0), high + pad, 5), step = list.length > 1 ? list[1] - list[0] : high;
  const LEFT = 12 + Math.max(...list.map((at) => pen.measureText(exactTime(at, step)).width));
  const x = (position) => LEFT + position / STEPS * (width - LEFT - RIGHT);
  const y = (t) => TOP + (high + pad - t) / (high - low + 2 * pad) * (height - TOP - BOTTOM);
  pen.textAlign = "right";
  for (const at of list) {
    pen.strokeStyle = color("--line");
    pen.beginPath(); pen.moveTo(LEFT, y(at)); pen.lineTo(width - RIGHT, y(at)); pen.stroke();
    pen.fillStyle = color("--soft");
    pen.fillText(exactTime(at, step), LEFT - 6, y(at) + 4);
  }
  pen.textAlign = "center";
  for (const position of [0, STEPS / 2, STEPS]) {
    const text = curve.text(position), half = pen.measureText(text).width / 2;
    pen.fillText(text, Math.min(Math.max(x(position), LEFT + half), width - RIGHT - half), height - 22);
  }
  pen.fillText(curve.name, LEFT + (width - LEFT - RIGHT) / 2, height - 6);
  pen.strokeStyle = pen.fillStyle = color("--accent");
  pen.lineWidth = 2;
  pen.beginPath();
  points.forEach(([position, t], i) => { if (i === 0) pen.moveTo(x(position), y(t)); else pen.lineTo(x(position), y(t)); });
  pen.stroke();
  pen.lineWidth = 1;
  for (const [position, t] of points) { pen.beginPath(); pen.arc(x(position), y(t), 2, 0, 7); pen.fill(); }
  const slider = panel.sliders.get(curve.key), now = get("result.predicted_time_ps");
  if (slider && now != null) {
    const at = x(globalThis.Number(slider.range.value));
    pen.strokeStyle = color("--ink");
    pen.beginPath(); pen.moveTo(at, TOP); pen.lineTo(at, height - BOTTOM); pen.stroke();
    pen.fillStyle = color("--ink");
    pen.beginPath(); pen.arc(at, Math.min(Math.max(y(globalThis.Number(now)), TOP), height - BOTTOM), 4.5, 0, 7); pen.fill();
  }
}

function curveFigure() {
  panel.drawing = drawing(210, "Predicted time over the range of the slider that was moved last", drawCurveOn, {id: "live-curve"});
  panel.drawing.keep = true;
  return figure(panel.drawing, null, ["value", "predicted time"], () =>
    !panel.curve ? [["as it is", time(get("result.predicted_time_ps") || 0)]] : [...panel.curve.points].sort((a, b) => a[0] - b[0]).map(([position, t]) => [panel.curve.text(position), time(t)]));
}

/* ---- controls ---- */

/* The value at which a slider began, for this program and this model. */
function startOf(key) {
  const name = [get("scenario.source"), key.startsWith("net.") ? get("scenario.network") : "", key].join(" ");
  if (!panel.starts.has(name)) panel.starts.set(name, valueNow(key));
  return panel.starts.get(name);
}

function addSlider(place, {key, name, inverse}, type, note = "") {
  const own = sliderOf(type, startOf(key), inverse), shown = element("output", {}), now = valueNow(key);
  const words = (value) => inverse ? `${round3(1 / globalThis.Number(value))} ×` : plain(value).replace(/([0-9])us/g, "$1µs").replace(/([0-9])([KMGT]iB|B|[nmpµ]?s)(?!\/)/g, "$1 $2");
  let position = own.start;
  for (let at = 0; at <= STEPS && own.at(position) !== now; at++) if (own.at(at) === now) position = at;
  const range = element("input", {type: "range", min: 0, max: STEPS, step: 1, value: position, "data-key": key, oninput: () => {
    const at = globalThis.Number(range.value), value = own.at(at);
    shown.textContent = words(value);
    panel.focus = key;
    if (panel.curve && panel.curve.key !== key) panel.curve = null;
    panel.drawing.again();
    change({[key]: at === own.start && !panel.changes.has("network") ? null : value});
  }});
  shown.textContent = words(now);
  panel.sliders.set(key, {own, range, name, words});
  place.append(element("label", {class: "slider", title: note}, element("span", {}, name), shown, range));
}

function addChoice(place, name, key, choices, options = {}) {
  const now = valueNow(key);
  const select = element("select", {"data-key": key, onchange: () => (options.act || ((value) => change({[key]: value})))(select.value)},
    ...[...new Set([...(now && !choices.includes(now) ? [now] : []), ...choices])].map((each) => element("option", {value: each}, each === "" ? "none" : each)));
  select.value = now;
  place.append(element("label", {class: "choice"}, element("span", {}, name), select));
}

/* A text with proposals, which may depend on what is shown. */
function addText(place, name, key, proposals, note = "") {
  const list = element("datalist", {id: `live-${key.replace(".", "-")}`}), text = valueNow(key);
  const field = element("input", {type: "search", value: text, list: list.id, "data-key": key, size: 20, title: note,
    onfocus: () => list.replaceChildren(...proposals().map((each) => element("option", {value: each}))),
    onchange: () => change({[key]: field.value.trim()})});
  place.append(element("label", {class: "choice"}, element("span", {}, name), field, list));
}

const TOPOLOGY_NETS = ["latency", "packet", "router"];

function chooseNetwork(network) {
  change({network, ...(TOPOLOGY_NETS.includes(network) && !valueNow("topology") ? {topology: topologiesFor(nodesNow())[0]} : {})});
}

function collectiveChoice(place) {
  const algorithms = panel.catalog.algorithms, kinds = Object.keys(algorithms);
  const own = element("select", {id: "live-collective", onchange: () => { panel.collective = own.value; fillPanel(); }},
    ...kinds.map((kind) => element("option", {value: kind}, kind)));
  own.value = panel.collective;
  place.append(element("label", {class: "choice"}, element("span", {}, "collective"), own));
  addChoice(place, "its algorithm", `mpi.${panel.collective}`, ["auto", ...algorithms[panel.collective], "ideal", "hardware"]);
}

/* The type of a slider before the catalog is there. */
const TYPES = {"mpi.eager_max": "size", "cpu.scale": "real", "net.bandwidth": "rate", "net.packet": "size", "net.phit": "size"};

function machineSliders() {
  const place = element("div", {class: "controls"});
  for (const slider of SLIDERS) {
    const param = paramOf(slider.key), unused = slider.key.startsWith("node.o_") && get("scenario.network") === "loggp";
    if (get(`scenario.parameters.${slider.key}`) == null || unused) continue;
    addSlider(place, slider, param ? param.type : TYPES[slider.key] || "time", param ? param.doc : "");
  }
  return place;
}

const nodesNow = () => Math.ceil(number(get("scenario.ranks") || 1) / number(get("scenario.ranks_per_node") || 1)) * number(get("scenario.parameters.node.nics") || 1);

function machineChoices() {
  const place = element("div", {class: "controls"}), param = paramOf("net.routing");
  addChoice(place, "network model", "network", panel.catalog.entries.filter((entry) => entry.kind === "net").map((entry) => entry.name), {act: chooseNetwork});
  if (TOPOLOGY_NETS.includes(get("scenario.network"))) {
    addText(place, "topology", "topology", () => topologiesFor(nodesNow()), "a kind and its size, such as torus:8x8x8");
    addText(place, "placement", "placement", () => ["auto", "linear", "roundrobin", "random", "block:2x2x2"]);
  }
  if (param) addChoice(place, "routing", "net.routing", param.choices || [...panel.catalog.routings.filter((each) => each !== "table"), "usual"]);
  addText(place, "ranks on a node", "ranks_per_node", () => ["1", "2", "4", "8", "16", "32", "64"]);
  addChoice(place, "rules of collectives", "mpi.rules", ["mpich", "openmpi"]);
  collectiveChoice(place);
  return place;
}

/* The controls depend on program and network model; they stay as long as these do, so that a hand that
 * moves a slider keeps it. */
function fillPanel() {
  const shape = [get("scenario.source"), get("scenario.network"), panel.collective, panel.catalog != null, panel.began].join(" ");
  if (shape === panel.shape || !get("scenario")) return;
  panel.shape = shape;
  panel.sliders.clear();
  const parts = [machineSliders()];
  if (panel.catalog) {
    const program = element("div", {class: "controls"});
    parts.push(machineChoices());
    fillProgram(program);
    if (program.childElementCount) {
      parts.push(element("details", {id: "live-program", open: panel.programOpen ? "" : false, ontoggle: (event) => { panel.programOpen = event.target.open; }},
        element("summary", {}, "The program"), program));
    }
  }
  panel.place.replaceChildren(...parts);
}

/* The parameters of a generator. */
function fillProgram(place) {
  const source = String(get("scenario.source") || ""), entry = findEntry("gen", source.slice(4));
  if (!source.startsWith("gen:") || !entry) return;
  addSlider(place, {key: "ranks", name: "ranks"}, "count");
  for (const param of entry.params) {
    const key = `gen.${param.name}`;
    if (get(`scenario.parameters.${key}`) == null) continue;
    if (["time", "size", "rate", "count", "real"].includes(param.type)) addSlider(place, {key, name: param.name}, param.type, param.doc);
    else if (param.type === "bool") addChoice(place, param.name, key, ["true", "false"]);
    else if (param.type === "enum") addChoice(place, param.name, key, param.choices);
    else addText(place, param.name, key, () => [], param.doc);
  }
}

/* ---- the section ---- */

function resetAll() {
  panel.changes.clear();
  panel.focus = null;
  panel.curve = null;
  panel.began++;
  panel.wanted = true;
  panel.drawing.again();
  pump();
}

async function startPanel() {
  await loadSimulator();
  panel.front = newWorker();
  panel.back = newWorker();
  panel.catalog = await panel.front.catalog();
}

/* The page must repeat the run that it shows before it offers to change it. */
async function checkRepeat() {
  const answer = await simulate(settingsNow(), {});
  panel.repeatable = answer.code === 0 && answer.document.result.digest === get("result.digest");
  if (!panel.repeatable) {
    panel.error.hidden = false;
    panel.error.textContent = answer.code === 0 ? "This page cannot repeat the run that it shows: the scenario has settings that a report does not hold. Changes start from the run without them."
      : `This page cannot repeat the run that it shows. weft: ${answer.error}`;
  }
  panel.recordMs = 8 * answer.ms; // until a recorded run tells
  panel.status.dataset.state = "ready";
  panel.status.dataset.digest = answer.code === 0 ? answer.document.result.digest : "";
}

function panelParts() {
  panel.place = element("div", {id: "live-controls"});
  panel.status = element("p", {id: "live-status", "aria-live": "polite"});
  panel.error = element("p", {id: "live-error", class: "bad", role: "alert", hidden: ""});
  panel.busyWords = element("span", {});
  panel.busy = element("p", {id: "live-busy", role: "status", hidden: ""}, element("i", {class: "spin"}), panel.busyWords, " ",
    element("button", {type: "button", id: "live-stop", onclick: () => stopRun("Stopped.")}, "Stop"));
  return [element("div", {class: "live"}, panel.place, element("div", {}, panel.status, panel.busy, panel.error, curveFigure(),
    element("div", {class: "tools"}, element("button", {type: "button", id: "live-reset", onclick: resetAll}, "as it was"))))];
}

function liveSection(section) {
  section.append(element("p", {class: "soft"}, "The simulator is part of this page. Move a slider or choose another machine: the whole page shows the run that results. Nothing leaves your browser."), ...panelParts());
  panel.base = settingsOf(doc.scenario, extra.defaults);
  panel.original = number(get("result.predicted_time_ps"));
  panel.efficient = get("result.efficiency") != null;
  panel.status.textContent = "Preparing the simulator …";
  fillPanel();
}

/* After the page is complete: what it shows must not wait for this. */
async function startLive() {
  try {
    await startPanel();
    panel.status.textContent = "Ready.";
    fillPanel();
    await checkRepeat();
    if (panel.wanted) pump();
  } catch (error) {
    panel.status.textContent = `This browser cannot run the simulator: ${error.message}`;
    panel.status.dataset.state = "failed";
  }
}
