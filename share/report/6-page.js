/* SPDX-License-Identifier: Apache-2.0 */
/* The page; its sections depend on the document. */

/* What the models leave out; the manual has a page on it. */
const LEFT_OUT = {
  none: ["Messages cost nothing at all: this is a bound, not a prediction."],
  alphabeta: ["Messages do not disturb each other, neither at a node nor in the network.", "The topology has no effect."],
  loggp: ["Messages share the interfaces of their nodes, but nothing in the network.", "The topology has no effect."],
  latency: ["Only the number of hops depends on the topology; links carry any number of messages at once."],
  packet: ["Errors and retransmissions on links.", "Flits: packets move as a whole, switches forward them as the parameters say."],
  router: ["Errors and retransmissions on links."],
};
const LEFT_OUT_ALWAYS = ["Caches and memory of the nodes, unless the compute times include them.", "Noise of the operating system, unless it was recorded."];

/* The command that gives this result. */
function quote(text) {
  return /^[A-Za-z0-9_.,:=/+@%-]+$/.test(text) ? text : `'${String(text).replaceAll("'", "'\\''")}'`;
}
/* Options of the command line for settings; others are given as -p key=value. */
const OPTIONS = {ranks: "-n", network: "--net", topology: "--topo", seed: "--seed", ranks_per_node: "--ranks-per-node",
  placement: "--placement", region: "--region", iterations: "--iterations", runs: "--runs"};
function shortCommand(s) {
  const source = s.settings.source, program = source.startsWith("run:") ? source.slice(4) : null;
  const words = program ? ["weft", "run"] : ["weft", s.command, quote(source.replace(/^traffic:/, ""))];
  if (s.machine) words.push("--machine", quote(s.machine));
  for (const [key, value] of Object.entries(s.settings)) {
    if (key === "source" || key === "run.args") continue;
    if (key === "efficiency") words.push(...(/^(yes|true|on|1)$/.test(value) ? ["--efficiency"] : []));
    else words.push(...(OPTIONS[key] ? [OPTIONS[key], quote(value)] : ["-p", quote(`${key}=${value}`)]));
  }
  if (program) words.push("--", quote(program), ...(s.settings["run.args"] ? [s.settings["run.args"]] : []));
  return words.join(" ");
}
function command() {
  const s = doc.scenario || {}, words = ["weft", s.command || "replay"];
  if ((s.command === "replay" || s.command === "traffic") && s.settings && s.settings.source) return shortCommand(s);
  const isReplay = words[1] === "replay";
  words.push(quote(String(s.source ?? "").replace(/^bench:/, "")));
  if (s.ranks) words.push("-n", String(s.ranks));
  if (s.network && isReplay) words.push("--net", s.network);
  if (s.topology) words.push("--topo", quote(s.topology));
  if (isReplay && s.ranks_per_node > 1) words.push("--ranks-per-node", String(s.ranks_per_node));
  if (isReplay && s.placement && s.placement !== "linear") words.push("--placement", quote(s.placement));
  for (const [name, option] of [["region", "--region"], ["iterations", "--iterations"]]) {
    if (isReplay && s[name]) words.push(option, quote(s[name]));
  }
  if (isReplay && s.efficiency) words.push("--efficiency");
  if (isReplay && s.runs > 0) words.push("--runs", String(s.runs));
  for (const [name, value] of Object.entries(s.uncertainty || {})) words.push("-p", `uncertainty.${name}=${value}%`);
  if (s.seed != null) words.push("--seed", String(s.seed));
  for (const [scope, values] of Object.entries(s.parameters || {})) {
    for (const [name, value] of Object.entries(values)) {
      if (value !== null && typeof value !== "object" && value !== "") words.push("-p", quote(`${scope}.${name}=${value}`));
    }
  }
  return words.join(" ");
}

const JOULES = [[1e-6, "µJ"], [1e-3, "mJ"], [1, "J"], [1e3, "kJ"], [1e6, "MJ"], [1e9, "GJ"]];

function headSection() {
  const result = doc.result || {}, s = doc.scenario || {}, head = document.getElementById("head");
  const predicted = result.predicted_time_ps ?? result.time_reached_ps ?? result.simulated_time_ps;
  const recorded = result.recorded_time_ps;
  const ok = result.status === "completed" || result.status == null;
  document.title = `weft: ${s.source || "report"}`;
  head.append(element("h1", {}, `weft ${s.command || ""} ${s.source || ""}`));
  if (predicted != null) {
    head.append(element("div", {class: "big"}, time(predicted)),
      element("div", {class: ok ? "soft" : "bad"}, ok ? "predicted time" : `${result.status}: simulated time reached`));
  }
  if (result.predicted_time_p05_ps != null) {
    head.append(element("p", {}, `In 90 % of ${count(result.uncertainty.completed)} runs: ${intervalText(result.predicted_time_p05_ps, result.predicted_time_p95_ps)}, ` +
      `median ${exactTime(result.predicted_time_p50_ps, number(result.predicted_time_p95_ps) - number(result.predicted_time_p05_ps))}.`));
  }
  if (recorded != null) {
    const share = number(predicted) / number(recorded), computing = get("result.ranks.compute_ps.max");
    head.append(element("p", {}, `Recorded time: ${time(recorded)}; the prediction is ${percent(share)} of that` +
      (computing != null && (share < 0.5 || share > 2) ? `: ranks compute for at most ${time(computing)}; the rest of the recorded time was spent in calls of MPI, whose times are predicted.` : ".")));
  }
  const cards = [[s.ranks && count(s.ranks), "ranks"], [s.machine, "machine"],
    [result.nodes_used && count(result.nodes_used), result.nodes_used === 1 ? "node used" : "nodes used"], [result.ranks_on_node_max && count(result.ranks_on_node_max), "ranks per node"],
    [s.network, "network model"], [s.topology, "topology"], [result.messages != null && count(result.messages), "messages"],
    [result.bytes != null && size(result.bytes), "sent"], [get("files.written_bytes", result) && size(result.files.written_bytes), "written to files"],
    [get("files.read_bytes", result) && size(result.files.read_bytes), "read from files"], [result.energy && inUnits(result.energy.joules, JOULES, 3), "energy"],
    [result.cost && `${+Number(result.cost.total).toPrecision(4)} ${result.cost.currency || ""}`, "cost"],
    [result.accepted_load != null && String(result.accepted_load), "accepted load"], [doc.version, "version of weft"], [result.digest, result.digest_partial ? "partial digest" : "digest"]];
  head.append(element("div", {class: "cards"}, ...cards.filter(([value]) => value).map(([value, what]) => card(value, what))),
    element("details", {}, element("summary", {}, "Command for this result"), element("pre", {}, command())));
}

function warnings() {
  const found = [], result = doc.result || {};
  if (result.status && result.status !== "completed") found.push(`The run did not complete: ${result.status}.`);
  for (const who of get("waiting.ranks", result) || []) found.push(`Rank ${who.rank} ${who.waits}.`);
  if (result.left_over) found.push(`Rank ${result.left_over.rank}: ${result.left_over.what}.`);
  if (result.unreceived_messages > 0) found.push(`${count(result.unreceived_messages)} messages were not received.`);
  if (result.failures) {
    found.push(`Parts of the network failed (${result.failures.parts.map((p) => p.part).join(", ")}): ${count(result.failures.resent_packets)} packets were sent again, ` +
      `${count(result.failures.lost_packets)} were lost.`);
  }
  const failed = get("network.failed", result);
  if (failed) found.push(`${count(failed.links)} of ${count(failed.of_links)} links have failed for the whole run (${failed.what}).`);
  if (result.saturated) found.push("The network is saturated: it accepts less than it is offered.");
  if (result.converged === false) found.push("The latency has not converged.");
  for (const one of get("check.findings") || []) found.push(`${one.words[0].toUpperCase()}${one.words.slice(1)}.`);
  for (const words of doc.warnings || []) found.push(`${words[0].toUpperCase()}${words.slice(1)}.`);
  if (!recording && doc.scenario && doc.scenario.command === "replay") found.push("The run was not recorded (--record): there is no timeline and no communication matrix.");
  if (recording && !recording.spans) found.push(`The recording has no individual spans, because there are ${count(recording.n_spans)} (--record-limit): the timeline shows shares.`);
  return found;
}

function flat(value, name, rows) {
  if (value !== null && typeof value === "object" && !Array.isArray(value)) {
    for (const [key, inner] of Object.entries(value)) flat(inner, name ? `${name}.${key}` : key, rows);
  } else {
    rows.push([name, Array.isArray(value) ? `${value.length} entries` : plain(value)]);
  }
  return rows;
}

/* The parameters, those that differ from their defaults marked and first if wanted. */
function parametersTable() {
  const defaults = new Map(flat(extra.defaults || {}, "", []));
  const rows = flat(get("scenario.parameters") || {}, "", []).map(([name, value]) =>
    ({name, value, usual: defaults.get(name), changed: defaults.has(name) && defaults.get(name) !== value}));
  const place = element("div"), known = defaults.size > 0, n = rows.filter((row) => row.changed).length;
  const show = (all) => {
    const shown = rows.filter((row) => all || row.changed);
    const made = table(["parameter", "value", ...(known ? ["default"] : [])], shown.map((row) =>
      [row.name, row.value, ...(known ? [row.changed ? row.usual === "" ? "(empty)" : row.usual : ""] : [])]), {id: "parameter-table"});
    made.querySelectorAll("tbody tr").forEach((tr, i) => { if (shown[i].changed) tr.classList.add("changed"); });
    place.replaceChildren(shown.length ? made : element("p", {class: "soft"}, "All parameters have their defaults."));
  };
  show(!known);
  return element("div", {}, known ? element("div", {class: "tools"}, element("label", {}, element("input", {type: "checkbox", id: "all-parameters",
    onchange: (event) => show(event.target.checked)}), ` all ${rows.length} parameters, not only the ${n} that differ from their defaults`)) : null, place);
}

function parametersSection(section) {
  section.append(parametersTable(),
    element("details", {}, element("summary", {}, "All values of the scenario, the result and the run"),
      table(["name", "value"], flat({scenario: {...doc.scenario, parameters: null}, result: doc.result, run: doc.run}, "", []))));
  const found = warnings();
  if (doc.check) {
    section.append(element("h3", {}, "Errors in the use of MPI"), doc.check.findings.length ? table(["kind", "count", "rank", "call", "source", "what"],
      doc.check.findings.map((f) => [f.kind, count(f.count), f.rank, f.call, f.source || f.function || "", f.words]), {id: "check-table"}) : element("p", {class: "soft"}, "None."));
  }
  section.append(element("h3", {}, "Warnings"), found.length ? element("ul", {}, ...found.map((w) => element("li", {}, w))) : element("p", {class: "soft"}, "None."));
  section.append(element("h3", {}, "What the model leaves out"), element("ul", {}, ...[...(LEFT_OUT[get("scenario.network")] || []), ...LEFT_OUT_ALWAYS].map((w) => element("li", {}, w))));
}

/* ---- the view in the address ---- */

let addressTimer = 0;

/* The part of the address that leads back to what is shown. */
function viewAddress() {
  const words = [];
  if (ranksTimeline) {
    const {from, to, top, bottom} = ranksTimeline.view;
    if (from > 0 || to < ranksTimeline.end) words.push(`time=${Math.round(from)},${Math.round(to)}`);
    if (top > 0 || bottom < ranksTimeline.tracks) words.push(`ranks=${+top.toFixed(3)},${+bottom.toFixed(3)}`);
    if (ranksTimeline.view.arrows) words.push("messages=1");
    if (ranksTimeline.view.what !== "activities") words.push(`show=${ranksTimeline.view.what}`);
    if (selected.size) words.push(`select=${[...selected].slice(0, 32).join(",")}`);
  }
  const hidden = KINDS.filter((kind) => kind.hidden).map((kind) => kind.letter).join("");
  if (hidden) words.push(`hide=${hidden}`);
  return words.length ? `#over-time?${words.join("&")}` : "";
}
function viewChanged() {
  clearTimeout(addressTimer);
  addressTimer = setTimeout(() => {
    const address = viewAddress();
    if (address !== "" || location.hash.includes("?")) history.replaceState(null, "", address || "#over-time");
  }, 200);
}
/* Shows what the address asks for. */
function showAddress() {
  const at = location.hash.indexOf("?");
  if (at < 0 || !ranksTimeline) return;
  const asked = new URLSearchParams(location.hash.slice(at + 1));
  const pair = (name) => (asked.get(name) || "").split(",").map(Number);
  const [from, to] = pair("time"), [top, bottom] = pair("ranks");
  for (const kind of KINDS) kind.hidden = (asked.get("hide") || "").includes(kind.letter);
  showActivities();
  setView(ranksTimeline, {...(to > from ? {from, to} : {}), ...(bottom > top ? {top, bottom} : {}), arrows: asked.has("messages") && recording.messages != null});
  const what = document.getElementById("timeline-what");
  if (what && [...what.options].some((option) => option.value === asked.get("show"))) {
    what.value = asked.get("show");
    setView(ranksTimeline, {what: what.value});
  }
  if (asked.has("select")) select(asked.get("select").split(",").map(Number).filter((rank) => rank >= 0 && rank < recording.ranks));
  const box = document.getElementById("show-messages");
  if (box) box.checked = ranksTimeline.view.arrows;
  document.getElementById("over-time").scrollIntoView();
}

/* When the browser has shown what there is. */
function painted() {
  return new Promise((go) => { requestAnimationFrame(() => setTimeout(go)); });
}

/* Fills the page section by section, and its contents. */
async function addSections(sections) {
  await painted(); // the answer first; drawings of a large run take their time
  for (const [id, title, wanted, fill] of sections) {
    if (!wanted) continue;
    const section = element("section", {id}, element("h2", {}, title));
    document.getElementById("main").append(section);
    document.getElementById("contents").append(element("a", {href: `#${id}`}, title));
    fillOr(section, fill);
  }
}

/* Fills a section. If that fails, the reader keeps the others. */
function fillOr(section, fill) {
  try {
    fill(section);
  } catch (problem) {
    console.error(problem);
    section.append(element("p", {class: "bad"}, `This section cannot be drawn: ${problem.message}`));
  }
}

/* The sections of a run: name, title, whether the document has it, and how it is filled. */
function runSections() {
  const replay = get("result.ranks") != null;
  return [
    ["uncertainty", "Uncertainty", get("result.uncertainty"), runsSection],
    ["training", "Training", get("result.training"), trainingSection],
    ["collective", "Bandwidth of the collective", get("result.collective"), collectiveSection],
    ["efficiency", "Efficiency", replay, efficiencySection],
    ["time", "Where time goes", replay, timeSection],
    ["calls", "Calls and regions", (recording && (recording.by_call || []).length) || (get("result.regions") || []).length, callsSection],
    ["over-time", "Timeline", recording, timelineSection],
    ["who", "Communication", recording, matrixSection],
    ["network", "Network", get("scenario.network"), networkSection],
    ["path", "Critical path", doc.critical_path || (doc.what_if || []).length, pathSection],
    ["parameters", "Parameters, warnings, limits", true, parametersSection],
  ];
}

const isLive = () => extra.live != null && document.getElementById("simulator").textContent !== "";

async function runPage() {
  headSection();
  await addSections([["live", "Change the machine", isLive() || extra.not_live != null, isLive() ? liveSection : notLiveSection], ...runSections()]);
  showAddress();
  window.addEventListener("hashchange", showAddress);
}

/* Forgets the drawings of sections that are filled anew. */
function forget(sections) {
  const gone = (node) => sections.some((section) => section && section.contains(node));
  drawings.splice(0, drawings.length, ...drawings.filter((each) => each.keep || !gone(each.canvas)));
  activityButtons.splice(0, activityButtons.length, ...activityButtons.filter(({button}) => !gone(button)));
}

/* Fills a section of the page anew, and makes it if it is not there. */
function fillSection([id, title, wanted, fill]) {
  let section = document.getElementById(id);
  if (!section && wanted) {
    section = element("section", {id});
    document.getElementById("main").append(section);
    document.getElementById("contents").append(element("a", {href: `#${id}`}, title));
  }
  if (section) section.replaceChildren(...(wanted ? [element("h2", {}, title)] : []));
  if (wanted) fillOr(section, fill);
}

/* Shows another document in the same page, or in some of its sections. The view of the timeline stays, as
 * shares of the run. */
function showDocument(newDoc, newExtra, only = null) {
  const old = ranksTimeline && {...ranksTimeline.view, end: ranksTimeline.end, tracks: ranksTimeline.tracks};
  doc = newDoc;
  extra = newExtra;
  recording = doc.recording || null;
  chooseKinds();
  const sections = runSections().filter(([id]) => !only || only.includes(id));
  forget(sections.map(([id]) => document.getElementById(id)));
  rowsRead = ranksTimeline = null;
  selectionListeners.length = 0;
  if (recording) for (const rank of [...selected]) if (rank >= recording.ranks) selected.delete(rank);
  if (!only) {
    document.getElementById("head").replaceChildren();
    headSection();
  }
  sections.forEach(fillSection);
  if (old && ranksTimeline) {
    const t = ranksTimeline, scale = t.end / old.end, same = old.tracks === t.tracks;
    setView(t, {arrows: old.arrows && recording.messages != null, path: old.path, marks: old.marks,
      ...(old.to - old.from < old.end ? {from: old.from * scale, to: old.to * scale} : {}), ...(same ? {top: old.top, bottom: old.bottom} : {})});
  }
  if (only) drawings.forEach((each) => { if (sections.some(([id]) => document.getElementById(id).contains(each.canvas))) each.again(); });
  else showActivities();
}

function notLiveSection(section) {
  section.append(element("p", {class: "soft"}, `This page has no simulator: ${extra.not_live}.`));
}

/* The kinds of documents that have pages. */
const PAGES = {"weft-compare-1": comparePage, "weft-sweep-1": sweepPage, "weft-try-1": tryPage};

async function page() {
  const own = PAGES[doc.schema] || runPage;
  await own();
  window.addEventListener("resize", redrawAll);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  window.addEventListener("beforeprint", () => drawings.forEach((each) => each.draw()));
  drawings.forEach((each) => each.draw());
  document.documentElement.dataset.ready = "yes";
  if (isLive() && own === runPage) startLive();
}

page();
