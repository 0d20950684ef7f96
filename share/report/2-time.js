/* SPDX-License-Identifier: Apache-2.0 */
/* Where time goes: stacked bars, use over time, histogram of load, efficiency. */

function efficiencySection(section) {
  const e = get("result.efficiency");
  if (!e) {
    section.append(element("p", {class: "soft"},
      "Not measured: run with --efficiency, which also simulates an ideal network."));
    return;
  }
  const part = (key, name, words) => {
    const value = e[`${key}_percent`], low = e[`${key}_p05_percent`], high = e[`${key}_p95_percent`];
    return element("div", {class: "card", title: words},
      element("b", {}, value.toFixed(1) + " %"), element("span", {}, name),
      low == null || low.toFixed(1) === high.toFixed(1) ? null : element("div", {class: "soft"}, `${low.toFixed(1)} to ${high.toFixed(1)} %`),
      element("div", {class: "meter"}, element("div", {style: `width: ${Math.min(value, 100)}%`})));
  };
  section.append(element("div", {class: "tree"},
    part("parallel", "parallel efficiency", "mean compute time / predicted time"), "=",
    part("load_balance", "load balance", "mean / maximum compute time"), "×",
    part("serialisation", "serialisation", "maximum compute time / time if messages cost nothing"), "×",
    part("transfer", "transfer", "time if messages cost nothing / predicted time")),
  element("p", {class: "soft"}, (e.free_network_ps == null ? "" : `If the network cost nothing, the program would take ${time(e.free_network_ps)}. `) +
    `If messages cost nothing, neither the network nor their nodes, it would take ${time(e.ideal_time_ps)}. ` +
    "Load balance: losses to uneven work. Serialisation: losses to dependencies between ranks. Transfer: losses to messages." +
    (e.parallel_p05_percent == null ? "" : " Intervals contain 90 % of the repeated runs; where none is shown, it is narrower than 0.1 %.")));
}

/* A value with its meaning. */
const valueCard = (value, name, words, share) => element("div", {class: "card", title: words}, element("b", {}, value), element("span", {}, name),
  share == null ? null : element("div", {class: "meter"}, element("div", {style: `width: ${Math.min(share, 100)}%`})));

const inThousands = (value) => value >= 1e6 ? (value / 1e6).toFixed(2) + " M" : value >= 1e4 ? (value / 1e3).toFixed(1) + " k" : value.toFixed(0);

/* The memory of the device that needs most. */
function memoryCard(m) {
  if (m == null)
    return null;
  const parts = ["weights", "gradients", "optimizer", "activations", "cache"].filter((key) => m[`${key}_bytes`] > 0);
  return valueCard(size(m.total_bytes), m.device_bytes == null ? "memory" : `memory of ${size(m.device_bytes)}`,
    parts.map((key) => `${key} ${size(m[`${key}_bytes`])}`).join(", "), m.device_bytes == null ? null : 100 * m.total_bytes / m.device_bytes);
}

/* What a training step achieves, and what its devices do. */
function trainingSection(section) {
  const t = get("result.training"), share = (key) => t[`${key}_percent`];
  section.append(element("div", {class: "tree"},
    valueCard(time(t.step_ps), "a step", "mean time of a training step"),
    valueCard(inThousands(t.tokens_per_second), "tokens/s", "of all devices"),
    valueCard(inThousands(t.tokens_per_second_and_device), "tokens/s and device", "of each device"),
    t.mfu_percent == null ? null : valueCard(share("mfu").toFixed(1) + " %", "MFU", "operations of the model / peak of the devices", share("mfu")),
    valueCard(share("compute").toFixed(1) + " %", "computing", "mean of all devices", share("compute")),
    valueCard(share("bubble").toFixed(1) + " %", "bubbles", "waiting for other stages of the pipeline and for the last device", share("bubble")),
    valueCard(share("exposed_communication").toFixed(1) + " %", "exposed communication", "communication that no computation hides", share("exposed_communication")),
    memoryCard(t.memory)));
}

/* What nccl-tests prints. */
function collectiveSection(section) {
  const c = get("result.collective"), rate = (value) => (value / 1e9).toFixed(2) + " GB/s";
  section.append(element("div", {class: "tree"},
    valueCard(time(c.time_ps), `${c.collective} of ${size(c.bytes)}`, "mean time of a call"),
    valueCard(rate(c.algorithm_bytes_per_second), "algorithm bandwidth", "bytes / time"),
    valueCard(rate(c.bus_bytes_per_second), "bus bandwidth", "what each link of a ring would need for the same time")));
}

const accountName = (a, weighted) => (weighted ? `${count(a.ranks)} ranks like rank ${a.first_rank}` : ranksOf(a.first_rank, a.ranks)) +
  (a.ranks > 1 ? " (mean)" : "");

/* The axis of shares, at the left. */
function shareAxis(pen, left, right, top, bottom) {
  pen.textAlign = "right";
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const y = bottom - (bottom - top) * share;
    pen.fillStyle = color("--soft");
    pen.fillText(`${100 * share} %`, left - 6, y + 4);
    pen.fillRect(left - 4, y - 0.5, 4, 1);
  }
}

function accountBars(accounts, weighted) {
  const end = number(recording.end_ps) || 1, LEFT = 52, TOP = 8, BOTTOM = 8;
  const total = accounts.reduce((sum, a) => sum + (weighted ? a.ranks : 1), 0);
  const own = drawing(200, "Activities of the ranks as stacked bars", (pen, all, height) => {
    let x = LEFT;
    const colors = KINDS.map((kind) => color(kind.color)), idle = color("--idle"), width = all - LEFT, tall = height - TOP - BOTTOM;
    shareAxis(pen, LEFT, all, TOP, height - BOTTOM);
    for (const account of accounts) {
      const wide = width * (weighted ? account.ranks : 1) / total, shown = Math.max(wide - (wide > 4 ? 1 : 0), 0.6);
      let y = height - BOTTOM;
      pen.fillStyle = idle;
      pen.fillRect(x, TOP, shown, tall);
      KINDS.forEach((kind, i) => {
        if (kind.hidden) return;
        const part = tall * number(account[kind.key]) / end;
        pen.fillStyle = colors[i];
        pen.fillRect(x, y - part, shown, part);
        y -= part;
      });
      x += wide;
    }
  }, {id: "rank-bars"});
  const accountAt = (at, width) => {
    let x = LEFT;
    return at < LEFT ? null : accounts.find((a) => at < (x += (width - LEFT) * (weighted ? a.ranks : 1) / total));
  };
  onHover(own.canvas, (at, _, width) => {
    const a = accountAt(at, width);
    return !a ? "" : accountName(a, weighted) + KINDS.map((kind) =>
      `\n${kind.name}: ${time(a[kind.key])}, ${percent(number(a[kind.key]) / end)}`).join("");
  });
  const rows = () => accounts.map((a) => [accountName(a, weighted), ...KINDS.map((kind) => time(a[kind.key]))]);
  return {own, rows};
}

/* Shares of all ranks together in each bin. */
function useOverTime() {
  const sums = Array.from({length: recording.bins}, () => new Float64Array(KINDS.length));
  const end = number(recording.end_ps) || 1, bin = number(recording.bin_ps);
  for (const row of timelineRows()) {
    for (let at = 0; at < recording.bins; at++) {
      /* The last bin is longer than the run. */
      const part = bin / Math.max(Math.min(bin, end - at * bin), 1) / 255 * row.ranks / recording.ranks;
      for (let kind = 0; kind < KINDS.length; kind++) sums[at][kind] += row.shares[at * KINDS.length + kind] * part;
    }
  }
  return sums;
}

function useFigure() {
  const use = useOverTime(), end = number(recording.end_ps) || 1, bin = number(recording.bin_ps);
  const BOTTOM = 22, LEFT = 52, TOP = 8;
  const own = drawing(200, "Activity of all ranks over time", (pen, all, height) => {
    const width = all - LEFT, tall = height - TOP - BOTTOM, below = new Float64Array(use.length);
    pen.fillStyle = color("--idle");
    pen.fillRect(LEFT, TOP, width, tall);
    KINDS.forEach((kind, k) => {
      if (kind.hidden) return;
      pen.fillStyle = color(kind.color);
      use.forEach((shares, i) => {
        const x = Math.round(i * bin / end * width), wide = Math.round(Math.min(end, (i + 1) * bin) / end * width) - x;
        pen.fillRect(LEFT + x, TOP + tall * (1 - below[i] - shares[k]), wide, tall * shares[k]);
        below[i] += shares[k];
      });
    });
    shareAxis(pen, LEFT, all, TOP, TOP + tall);
    timeAxis(pen, LEFT, width, TOP + tall, 0, end);
  });
  onHover(own.canvas, (x, _, width) => {
    const at = Math.floor((x - LEFT) / (width - LEFT) * end / bin);
    return use[at] ? `at ${time(at * bin)}` + KINDS.map((kind, k) =>
      `\n${kind.name}: ${percent(use[at][k])}`).join("") : "";
  });
  /* A hundred rows are enough to read. */
  const step = Math.ceil(use.length / 100);
  return figure(own, "Activity of all ranks over time.", ["from", ...KINDS.map((kind) => kind.name)], () =>
    use.filter((_, i) => i % step === 0).map((shares, i) => [time(i * step * bin), ...[...shares].map(percent)]));
}

/* The bounds of the class of similar ranks that a compute time is in: one for each value below
 * 32, then sixteen for each power of two, as in base/histogram.h. */
function classOf(value) {
  const wide = value < 32 ? 1 : 2 ** (Math.floor(Math.log2(value)) - 4);
  const from = Math.floor(value / wide) * wide;
  return {from, to: from + wide};
}

/* Classes above a power of two are twice as wide as those below. On a linear axis their heights compare
 * only if all are as wide as the widest, which contain the others exactly. */
function evenClasses(bars) {
  if (isLogarithmic(bars)) return bars;
  const wide = Math.max(...bars.map((bar) => bar.to - bar.from)), merged = new Map();
  for (const bar of bars) {
    const from = Math.floor(bar.from / wide) * wide;
    merged.set(from, {from, to: from + wide, n: bar.n + (merged.has(from) ? merged.get(from).n : 0)});
  }
  return [...merged.values()].sort((a, b) => a.from - b.from);
}

function equalBars(values) {
  const least = Math.min(...values), most = Math.max(...values);
  const n = most > least ? Math.min(Math.max(Math.ceil(Math.sqrt(values.length)), 5), 30) : 1, wide = (most - least) / n || 1;
  const bars = Array.from({length: n}, (_, i) => ({from: least + i * wide, to: least + (i + 1) * wide, n: 0}));
  for (const value of values) bars[Math.min(Math.floor((value - least) / wide), n - 1)].n++;
  return bars;
}

/* Each rank by itself if the recording has it, else the classes of similar ranks as they are:
 * other bins would have gaps where there are none. */
function loadHistogram() {
  const single = recording.ranks_per_row === 1, spread = get("result.ranks.compute_ps");
  if (spread && number(spread.min) === number(spread.max)) {
    return number(spread.max) > 0 ? element("p", {class: "soft"}, `Every rank computes ${time(spread.max)}.`) : null;
  }
  const bars = single ? equalBars(recording.rows.map((row) => number(row.compute_ps)))
    : evenClasses(recording.similar.map((a) => ({...classOf(number(a.compute_ps)), n: a.ranks})));
  const {own, head, rows} = histogram(bars, time, "ranks", "compute time", "load-histogram");
  return figure(own, "Distribution of the compute time: number of ranks" + (single ? "." : ` in classes of ${time(bars[0].to - bars[0].from)}.`), head, rows);
}

function timeSection(section) {
  const ranks = get("result.ranks");
  if (recording) {
    const many = recording.ranks_per_row > 1;
    const byNumber = recording.rows, bySize = [...(many ? recording.similar : recording.rows)]
      .sort((a, b) => number(b.compute_ps) - number(a.compute_ps) || a.first_rank - b.first_rank);
    const place = element("div");
    let own = null;
    const choose = (order) => {
      if (own) drawings.splice(drawings.indexOf(own), 1);
      const sorted = order === "sorted", made = accountBars(sorted ? bySize : byNumber, sorted && many);
      own = made.own;
      place.replaceChildren(figure(own, many ? `${count(recording.ranks)} ranks; the width of a bar is its number of ranks.` : "One bar for each rank.",
        ["ranks", ...KINDS.map((kind) => kind.name)], made.rows));
      own.again();
    };
    choose("sorted");
    section.append(activityLegend(),
      element("div", {class: "tools"}, element("label", {}, "Ranks ", element("select", {onchange: (event) => choose(event.target.value), id: "bars-order"},
        element("option", {value: "sorted"}, many ? "by compute time, similar ranks together" : "by compute time"),
        element("option", {value: "number"}, "by number")))), place,
      element("div", {class: "panels"}, ...[useFigure(), loadHistogram()].filter(Boolean)));
  }
  if (ranks) {
    const rows = [...KINDS.map((kind) => [kind.name, ranks[kind.key]]), [RANK_TIMES.idle_ps, ranks.idle_ps]]
      .filter(([, spread]) => spread)
      .map(([name, spread]) => [name, time(spread.min), time(spread.mean), time(spread.max)]);
    section.append(table(["time of a rank", "min", "mean", "max"], rows));
  }
}
