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
    part("serialisation", "serialisation", "maximum compute time / time on an ideal network"), "×",
    part("transfer", "transfer", "time on an ideal network / predicted time")),
  element("p", {class: "soft"}, `On an ideal network the program would take ${time(e.ideal_time_ps)}. ` +
    "Load balance: losses to uneven work. Serialisation: losses to dependencies between ranks. Transfer: losses to the network." +
    (e.parallel_p05_percent == null ? "" : " Intervals contain 90 % of the repeated runs; where none is shown, it is narrower than 0.1 %.")));
}

function accountBars(accounts, weighted) {
  const end = number(recording.end_ps) || 1;
  const total = accounts.reduce((sum, a) => sum + (weighted ? a.ranks : 1), 0);
  const own = drawing(190, (pen, width, height) => {
    let x = 0;
    const colors = KINDS.map((kind) => color(kind.color)), idle = color("--idle");
    for (const account of accounts) {
      const wide = width * (weighted ? account.ranks : 1) / total;
      let y = height;
      KINDS.forEach((kind, i) => {
        const tall = height * number(account[kind.key]) / end;
        pen.fillStyle = colors[i];
        pen.fillRect(x, y - tall, Math.max(wide - (wide > 4 ? 1 : 0), 0.6), tall);
        y -= tall;
      });
      pen.fillStyle = idle;
      pen.fillRect(x, 0, Math.max(wide - (wide > 4 ? 1 : 0), 0.6), y);
      x += wide;
    }
  });
  onHover(own.canvas, (at, _, width) => {
    let x = 0;
    for (const a of accounts) {
      x += width * (weighted ? a.ranks : 1) / total;
      if (at < x) {
        return (weighted ? `${count(a.ranks)} ranks like rank ${a.first_rank}` : ranksOf(a.first_rank, a.ranks)) +
          (a.ranks > 1 ? " (mean)" : "") + KINDS.map((kind) =>
          `\n${kind.name}: ${time(a[kind.key])}, ${percent(number(a[kind.key]) / end)}`).join("");
      }
    }
    return "";
  });
  return own;
}

/* Shares of all ranks together in each bin. */
function useOverTime() {
  const sums = Array.from({length: recording.bins}, () => new Float64Array(KINDS.length));
  for (const row of timelineRows()) {
    for (let bin = 0; bin < recording.bins; bin++) {
      for (let kind = 0; kind < KINDS.length; kind++) {
        sums[bin][kind] += row.shares[bin * KINDS.length + kind] / 255 * row.ranks / recording.ranks;
      }
    }
  }
  return sums;
}

function useFigure() {
  const use = useOverTime(), end = number(recording.end_ps) || 1, bin = number(recording.bin_ps);
  const BOTTOM = 22;
  const own = drawing(190, (pen, width, height) => {
    const tall = height - BOTTOM, below = new Float64Array(use.length);
    pen.fillStyle = color("--idle");
    pen.fillRect(0, 0, width, tall);
    KINDS.forEach((kind, k) => {
      pen.fillStyle = color(kind.color);
      use.forEach((shares, i) => {
        const x = Math.round(i * bin / end * width);
        const wide = Math.round(Math.min(end, (i + 1) * bin) / end * width) - x;
        /* The last bin is longer than the run. */
        const share = shares[k] * bin / Math.max(Math.min(bin, end - i * bin), 1);
        pen.fillRect(x, tall * (1 - below[i] - share), wide, tall * share);
        below[i] += share;
      });
    });
    timeAxis(pen, 0, width, tall, 0, end);
  });
  onHover(own.canvas, (x, _, width) => {
    const at = Math.floor(x / width * end / bin);
    return use[at] ? `at ${time(at * bin)}` + KINDS.map((kind, k) =>
      `\n${kind.name}: ${percent(use[at][k])}`).join("") : "";
  });
  return own.canvas;
}

function loadHistogram() {
  const loads = recording.similar.map((a) => ({value: number(a.compute_ps), n: a.ranks}));
  const least = Math.min(...loads.map((l) => l.value)), most = Math.max(...loads.map((l) => l.value));
  const N = most > least ? 24 : 1, wide = (most - least) / N || 1;
  const bars = Array.from({length: N}, (_, i) => ({from: least + i * wide, to: least + (i + 1) * wide, n: 0}));
  for (const load of loads) bars[Math.min(Math.floor((load.value - least) / wide), N - 1)].n += load.n;
  return histogram(bars, time, "compute time of a rank; height: number of ranks");
}

function timeSection(section) {
  const ranks = get("result.ranks");
  if (recording) {
    const many = recording.ranks_per_row > 1;
    const byNumber = recording.rows, bySize = [...(many ? recording.similar : recording.rows)]
      .sort((a, b) => number(b.compute_ps) - number(a.compute_ps) || a.first_rank - b.first_rank);
    let own = accountBars(bySize, many);
    const figure = element("figure", {}, own.canvas);
    const choose = (event) => {
      drawings.splice(drawings.indexOf(own), 1);
      const sorted = event.target.value === "sorted";
      own = accountBars(sorted ? bySize : byNumber, sorted && many);
      figure.replaceChild(own.canvas, figure.firstChild);
      own.again();
    };
    section.append(legend([...KINDS, IDLE]),
      element("div", {class: "tools"}, "Ranks", element("select", {onchange: choose, id: "bars-order"},
        element("option", {value: "sorted"}, many ? "by compute time, similar ranks together" : "by compute time"),
        element("option", {value: "number"}, "by number"))), figure);
    figure.append(element("figcaption", {}, many ? `${count(recording.ranks)} ranks; the width of a bar is its number of ranks.` : "One bar for each rank."));
    section.append(element("div", {class: "panels"},
      element("figure", {}, useFigure(), element("figcaption", {}, "Activity of all ranks over time.")),
      element("figure", {}, loadHistogram(), element("figcaption", {}, "Distribution of the compute time."))));
  }
  if (ranks) {
    const rows = [...KINDS.map((kind) => [kind.name, ranks[kind.key]]), ["idle after the end", ranks.idle_ps]]
      .filter(([, spread]) => spread)
      .map(([name, spread]) => [name, time(spread.min), time(spread.mean), time(spread.max)]);
    section.append(table(["time of a rank", "min", "mean", "max"], rows));
  }
}
