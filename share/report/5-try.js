/* SPDX-License-Identifier: Apache-2.0 */
/* The page without a run of its own: the reader chooses a program, or gives a trace, and a machine. */

const trial = {source: "gen:stencil3d", ranks: "64", machine: ""};

function trialBase() {
  const machine = (extra.machines || []).find((each) => each.name === trial.machine);
  const generator = trial.source.startsWith("gen:");
  return [...(machine ? machine.settings : []), {key: "source", value: trial.source}, ...(generator ? [{key: "ranks", value: trial.ranks}] : [])];
}

/* Begins again with the chosen program and machine. */
function tryAgain(drop) {
  for (const key of [...panel.changes.keys()]) if (drop.test(key)) panel.changes.delete(key);
  if (panel.changes.has("ranks")) trial.ranks = panel.changes.get("ranks");
  panel.base = trialBase();
  panel.original = panel.focus = panel.curve = null;
  panel.starts.clear();
  panel.began++;
  panel.wanted = true;
  pump();
}

async function gunzip(bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}

/* Takes files as a trace: one file, or the directory of several. */
async function takeFiles(list) {
  const files = await Promise.all([...list].map(async (file) => {
    const bytes = new Uint8Array(await file.arrayBuffer()), packed = bytes[0] === 0x1f && bytes[1] === 0x8b;
    return {path: `trace/${file.name.replace(packed ? /\.gz$/ : /$^/, "")}`, bytes: packed ? await gunzip(bytes) : bytes};
  }));
  if (files.length === 0) return;
  live.files.push(...files);
  for (const worker of [panel.front, panel.back]) worker.addFiles(files);
  const first = files.find((file) => /\.(meta|txt)$/.test(file.path)) || files[0];
  trial.source = `/${files.length === 1 || /\.(meta|txt)$/.test(first.path) ? first.path : "trace"}`;
  document.getElementById("try-program").value = "";
  document.getElementById("try-files").textContent = files.map((file) => file.path.slice(6)).join(", ");
  tryAgain(/^(source|ranks|gen\.|trace\.)/);
}

function programChoice() {
  const programs = panel.catalog.entries.filter((entry) => entry.kind === "gen" && entry.name !== "text");
  const own = element("select", {id: "try-program", onchange: () => {
    if (own.value === "") return;
    trial.source = own.value;
    document.getElementById("try-files").textContent = "";
    tryAgain(/^(source|gen\.|trace\.)/);
  }}, element("option", {value: ""}, "the trace below"), ...programs.map((entry) => element("option", {value: `gen:${entry.name}`}, `${entry.name}: ${entry.summary}`)));
  own.value = trial.source;
  return element("label", {class: "choice"}, element("span", {}, "program"), own);
}

function machineChoice() {
  const own = element("select", {id: "try-machine", onchange: () => {
    trial.machine = own.value;
    tryAgain(/^(network|topology|placement|ranks_per_node|net\.|node\.|mpi\.|cpu\.)/);
  }}, element("option", {value: ""}, "no particular machine"), ...(extra.machines || []).map((each) => element("option", {value: each.name}, each.summary ? `${each.name}: ${each.summary}` : each.name)));
  return element("label", {class: "choice"}, element("span", {}, "machine"), own);
}

function traceDrop() {
  const own = element("input", {type: "file", multiple: "", id: "try-file", onchange: () => takeFiles(own.files)});
  const place = element("div", {class: "drop"}, element("label", {}, "Or a trace of your own program, dropped here or chosen: ", own), " ", element("b", {id: "try-files"}),
    element("p", {class: "soft"}, "DUMPI (all files at once), CLOG2, SimGrid's time-independent traces, GOAL, BigSim, and weft's own. It stays in your browser."));
  for (const name of ["dragover", "dragenter"]) place.addEventListener(name, (event) => { event.preventDefault(); place.classList.add("over"); });
  for (const name of ["dragleave", "drop"]) place.addEventListener(name, () => place.classList.remove("over"));
  place.addEventListener("drop", (event) => { event.preventDefault(); takeFiles(event.dataTransfer.files); });
  return place;
}

async function tryPage() {
  const head = document.getElementById("head"), main = document.getElementById("main");
  document.title = "weft: try it";
  head.append(element("h1", {}, "weft predicts how MPI programs run on machines you do not have"));
  await painted();
  if (!isLive()) return;
  const section = element("section", {id: "live"}, element("h2", {}, "Try it"), element("p", {class: "soft"},
    "The whole simulator is in this page. Choose a program and a machine, move a slider, and see the predicted time, the timeline and the critical path. Nothing is installed, and nothing leaves your browser."));
  const choices = element("div", {class: "controls two"});
  main.append(section);
  section.append(choices, ...panelParts());
  panel.status.textContent = "Preparing the simulator …";
  panel.programOpen = true;
  try {
    await startPanel();
    panel.efficient = true;
    choices.append(programChoice(), machineChoice());
    choices.after(traceDrop());
    panel.base = trialBase();
    showAnswer(await simulate(settingsNow({efficiency: "true"}), {record: true}), "all");
    panel.focus = "net.bandwidth";
    drawCurve();
  } catch (error) {
    panel.status.textContent = `This browser cannot run the simulator: ${error.message}`;
    panel.status.dataset.state = "failed";
  }
}
