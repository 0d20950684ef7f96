/* SPDX-License-Identifier: Apache-2.0 */
/* How uncertain the prediction is: the distribution of repeated runs. */

/* A time with as many digits as tell it from a neighbour at this distance. */
function exactTime(ps, step) {
  const value = number(ps);
  const [unit, name] = [...TIMES].reverse().find(([least]) => Math.abs(value) >= least) || TIMES[0];
  const digits = step > 0 ? Math.ceil(-Math.log10(step / unit)) + 2 : 2;
  return `${(value / unit).toFixed(Math.min(Math.max(digits, 0), 9))} ${name}`;
}

/* "58.56 ms to 59.31 ms" */
function intervalText(low, high) {
  const step = Math.abs(number(high) - number(low));
  return `${exactTime(low, step)} to ${exactTime(high, step)}`;
}

/* A histogram of the times, with the quantiles and the prediction on it. */
function runsFigure(times, marks) {
  const values = times.filter((t) => t !== null).map(number);
  const least = Math.min(...values, ...marks.map((m) => m.at)), most = Math.max(...values, ...marks.map((m) => m.at));
  const N = Math.max(8, Math.min(40, Math.round(2 * Math.sqrt(values.length)))), wide = (most - least) / N || 1;
  const bars = new Array(N).fill(0), PAD = 12, TOP = 20, BOTTOM = 22;
  for (const value of values) bars[Math.min(Math.floor((value - least) / wide), N - 1)]++;
  const highest = Math.max(...bars, 1);
  const own = drawing(200, "Histogram of the predicted times of the runs", (pen, width, height) => {
    const x = (value) => PAD + (value - least) / (most - least || 1) * (width - 2 * PAD), tall = height - TOP - BOTTOM;
    const interval = marks.filter((m) => m.edge).map((m) => x(m.at));
    pen.fillStyle = color("--idle");
    pen.fillRect(interval[0], TOP, interval[1] - interval[0], tall);
    pen.fillStyle = color("--accent");
    bars.forEach((n, i) => pen.fillRect(x(least + i * wide) + 0.5, TOP + tall * (1 - n / highest), Math.max((width - 2 * PAD) / N - 1, 1), tall * n / highest));
    for (const mark of marks) {
      pen.strokeStyle = color(mark.color);
      pen.lineWidth = mark.edge ? 1 : 2;
      pen.setLineDash(mark.edge ? [4, 3] : []);
      pen.beginPath(); pen.moveTo(x(mark.at), TOP); pen.lineTo(x(mark.at), height - BOTTOM); pen.stroke();
      pen.setLineDash([]);
      if (!mark.edge) continue;
      pen.fillStyle = color("--soft");
      pen.textAlign = "center";
      pen.fillText(mark.name, Math.min(Math.max(x(mark.at), 24), width - 24), TOP - 6);
    }
    timeAxis(pen, PAD, width - 2 * PAD, height - BOTTOM, least, most);
  });
  onHover(own.canvas, (at, _, width) => {
    const i = Math.floor((at - PAD) / ((width - 2 * PAD) / N));
    return bars[i] == null ? "" : `${intervalText(least + i * wide, least + (i + 1) * wide)}: ${count(bars[i])} runs`;
  });
  const rows = () => bars.map((n, i) => [intervalText(least + i * wide, least + (i + 1) * wide), count(n)]);
  return figure(own, "Predicted times of the runs.", ["predicted time", "runs"], rows);
}

/* When each rank ends: its interval and its median. */
function endsFigure(ranks) {
  const low = ranks.map((r) => number(r.finish_p05_ps)), high = ranks.map((r) => number(r.finish_p95_ps));
  const from = Math.min(...low), to = Math.max(...high, from + 1), LEFT = 12, BOTTOM = 22, TOP = 6;
  const own = drawing(200, "When ranks end: intervals and medians", (pen, width, height) => {
    const each = (width - 2 * LEFT) / ranks.length, tall = height - TOP - BOTTOM;
    const y = (value) => TOP + tall * (1 - (value - from) / (to - from));
    ranks.forEach((rank, i) => {
      const x = LEFT + i * each, wide = Math.max(each - (each > 4 ? 2 : 0), 0.6), middle = y(number(rank.finish_p50_ps));
      pen.fillStyle = color("--idle");
      pen.fillRect(x, y(high[i]), wide, Math.max(y(low[i]) - y(high[i]), 1));
      pen.fillStyle = color("--accent");
      pen.fillRect(x, middle - 1, wide, 2);
    });
    pen.fillStyle = color("--soft");
    pen.textAlign = "left"; pen.fillText(`rank ${ranks[0].rank}`, LEFT, height - 6);
    pen.textAlign = "center"; pen.fillText(`${exactTime(from, to - from)} (bottom) to ${exactTime(to, to - from)} (top)`, width / 2, height - 6);
    pen.textAlign = "right"; pen.fillText(`rank ${ranks[ranks.length - 1].rank}`, width - LEFT, height - 6);
  });
  onHover(own.canvas, (at, _, width) => {
    const rank = ranks[Math.floor((at - LEFT) / ((width - 2 * LEFT) / ranks.length))];
    return rank ? `rank ${rank.rank}${rank.job != null ? ` of job ${rank.job}` : ""} ends at ${intervalText(rank.finish_p05_ps, rank.finish_p95_ps)}, ` +
      `median ${exactTime(rank.finish_p50_ps, to - from)}` : "";
  });
  return figure(own, "When ranks end: 5 % to 95 %, and the median.", ["rank", "5 %", "median", "95 %"], () => ranks.map((rank) =>
    [String(rank.rank), ...[rank.finish_p05_ps, rank.finish_p50_ps, rank.finish_p95_ps].map((t) => exactTime(t, to - from))]));
}

/* What was drawn, in words. */
function drawnText(u) {
  const words = [];
  if (u.settings > 0) words.push(`${count(u.settings)} uncertain ${u.settings === 1 ? "setting" : "settings"}`);
  if (u.compute.varied_spans > 0) words.push(`${count(u.compute.varied_spans)} of ${count(u.compute.spans)} compute spans (${u.compute.varied_time_percent} % of the compute time), from those at the same place in the program`);
  if (u.noise) words.push("the noise of the nodes");
  return `Drawn: ${words.join("; ")}.` + (u.compute.kept ? ` Compute times are kept: ${u.compute.kept}.` : "");
}

function runsSection(section) {
  const result = doc.result, u = result.uncertainty;
  if (u.none) {
    section.append(element("p", {}, `None is known: ${u.none}.`));
    return;
  }
  const low = number(result.predicted_time_p05_ps), middle = number(result.predicted_time_p50_ps), high = number(result.predicted_time_p95_ps);
  const marks = [{at: low, name: "5 %", color: "--soft", edge: true}, {at: middle, name: "median", color: "--ink"},
    {at: number(result.predicted_time_ps), name: "prediction", color: "--receive"}, {at: high, name: "95 %", color: "--soft", edge: true}];
  section.append(element("p", {}, `In 90 % of ${count(u.completed)} runs the program takes ${intervalText(low, high)}. ${drawnText(u)}`),
    element("div", {class: "panels"},
      element("div", {}, legend([{name: "median", color: "--ink"}, {name: "prediction", color: "--receive"}, {name: "5 % to 95 %", color: "--idle"}]), runsFigure(u.times_ps, marks)),
      endsFigure(u.ranks)));
  const settings = Object.entries(get("scenario.uncertainty") || {});
  if (settings.length) section.append(table(["uncertain setting", "relative standard deviation"], settings.map(([name, value]) => [name, `${value} %`])));
  section.append(element("p", {class: "soft"}, "Not covered: what the model leaves out, and changes of a machine from one day to the next. Settings are drawn independently of each other, compute times independently of each other."));
}
