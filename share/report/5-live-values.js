/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of a live page: how a document becomes settings again, and values that sliders move. */

/* The settings that repeat the run of a document, without parameters that have their defaults. With a
 * preset of the network, all of it are needed: the preset has others. */
function settingsOf(scenario, defaults) {
  const usual = new Map(flat(defaults || {}, "", [])), preset = get("parameters.net.preset", scenario);
  const list = [], add = (key, value) => {
    const isUsual = usual.get(key) === plain(value) && !(key.startsWith("net.") && preset && preset !== "none");
    if (value != null && value !== "" && typeof value !== "object" && !isUsual) list.push({key, value: String(value)});
  };
  const addJob = (job, prefix) => {
    for (const name of ["source", "ranks", "ranks_per_node", "placement", "repeat", "region", "iterations", "repeat_iteration", "loops", "changes"]) add(prefix + name, job[name]);
    if (number(job.start_ps) > 0) add(`${prefix}start`, `${job.start_ps}ps`);
  };
  const first = (scenario.jobs || [])[0] || scenario;
  addJob({...scenario, ...first}, "");
  if (number(scenario.until_ps) > 0) add("until", `${scenario.until_ps}ps`);
  /* A trace has its own number of ranks. */
  if (!String(first.source).startsWith("gen:")) list.splice(list.findIndex((s) => s.key === "ranks"), 1);
  for (const name of ["network", "topology", "seed"]) add(name, scenario[name]);
  for (const [scope, values] of Object.entries(scenario.parameters || {})) {
    for (const [name, value] of Object.entries(values)) add(`${scope}.${name}`, value);
  }
  (scenario.jobs || []).slice(1).forEach((job, i) => {
    addJob(job, `job.${i + 1}.`);
    const scope = String(job.source).startsWith("gen:") ? "gen" : "trace";
    for (const [name, value] of Object.entries(job.parameters || {})) add(`job.${i + 1}.${scope}.${name}`, value);
  });
  return list;
}

/* ---- quantities ---- */

const PREFIXES = {"": 1, k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40};
const round3 = (value) => Number(value.toPrecision(3));

/* How weft writes and reads each kind: `read` is NaN for words such as auto. */
const QUANTITIES = {
  time: {
    read: (text) => { const m = text.match(/^([0-9.e+-]+)(ps|ns|us|ms|s)?$/); return m && (m[2] || Number(m[1]) === 0) ? Number(m[1]) * (UNITS[m[2]] || 1) : NaN; },
    write: (ps) => { const [unit, name] = [...TIMES].reverse().find(([least]) => ps >= least) || TIMES[0]; return `${round3(ps / unit)}${name.replace("µ", "u")}`; },
  },
  rate: {
    read: (text) => { const m = text.match(/^([0-9.e+-]+)([kKMGT]i?)?(B|bit|b)\/s$/); return m ? Number(m[1]) * PREFIXES[m[2] || ""] / (m[3] === "B" ? 1 : 8) : NaN; },
    write: (rate) => { const name = ["T", "G", "M", "k"].find((each) => rate >= PREFIXES[each]) || ""; return `${round3(rate / PREFIXES[name])}${name}B/s`; },
  },
  size: {
    read: (text) => { const m = text.match(/^([0-9.]+)(?:([kKMGT]i?)?B)?$/); return m && Number(m[1]) < 2 ** 53 ? Number(m[1]) * PREFIXES[m[2] || ""] : NaN; },
    write: (bytes) => { const whole = Math.max(Math.round(bytes), 1), name = ["Gi", "Mi", "Ki"].find((each) => whole % PREFIXES[each] === 0); return name ? `${whole / PREFIXES[name]}${name}B` : `${whole}B`; },
  },
  count: {read: (text) => Number(text), write: (n) => String(Math.max(Math.round(n), 1))},
  real: {read: (text) => Number(text), write: (value) => String(round3(value))},
};

/* ---- sliders ---- */

/* Positions of a slider; the middle is the value at which it began. */
const STEPS = 192, MIDDLE = STEPS / 2;
const OCTAVES = {time: 5, rate: 5, size: 10, count: 4, real: 5};
const FROM_NOTHING = {time: [1e3, 1e9], rate: [1e6, 1e13], size: [1, 2 ** 30], count: [1, 1024], real: [0.01, 1]};

/* The text of a value at each position. A value that is 0 or a word has its place at one end; a list is
 * scaled as a whole; speeds are the inverse of what weft calls scale. */
function sliderOf(type, text, inverse = false) {
  const kind = QUANTITIES[type.replace(/s$/, "")], octaves = OCTAVES[type.replace(/s$/, "")];
  const values = text.split(",").map(kind.read);
  if (values.every((value) => value > 0)) {
    const at = (position) => 2 ** ((position - MIDDLE) / MIDDLE * octaves * (inverse ? -1 : 1));
    const even = type === "size" ? (value) => 2 ** (Math.round(2 * Math.log2(value)) / 2) : (value) => value;
    return {start: MIDDLE, at: (position) => position === MIDDLE ? text : values.map((value) => kind.write(even(value * at(position)))).join(",")};
  }
  const [least, most] = FROM_NOTHING[type.replace(/s$/, "")], last = type === "size" || type === "rate" || type === "rates";
  const start = last ? STEPS : 0, grow = (share) => kind.write(least * (most / least) ** share);
  return {start, at: (position) => position === start ? text : grow((last ? position : position - 1) / (STEPS - 1))};
}

/* ---- topologies of a size ---- */

/* n as a product of `parts` near each other. */
function factors(n, parts) {
  const list = [];
  for (let left = parts; left > 1; left--) {
    let best = Math.round(n ** (1 / left));
    while (best > 1 && n % best !== 0) best--;
    list.push(best);
    n /= best;
  }
  return [...list, n].sort((a, b) => b - a);
}

/* A topology of every kind with at least that many nodes. */
function topologiesFor(nodes) {
  const n = Math.max(nodes, 2), h = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32].find((each) => each * 2 * each * (2 * each * each + 1) >= n) || 32;
  const q = [5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29].find((each) => 2 * each * each * Math.floor(each / 2) >= n) || 29;
  const [a, b] = factors(n, 2), [x, y, z] = factors(n, 3);
  return [`torus:${x}x${y}x${z}`, `torus:${a}x${b}`, `mesh:${x}x${y}x${z}`, `fattree:${a}x${b}`, `dragonfly:${h}`, `dragonfly+:${Math.max(h, 2)}`,
    `hyperx:${a}x${b}`, `slimfly:${q},p=${Math.floor(q / 2)}`, `tree:${n}`, `ring:${n}`, `star:${n}`, ...(n <= 1024 ? [`full:${n}`] : [])];
}
