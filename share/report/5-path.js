/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path: its shares and places, and the savings of what-if changes. */

const SHARES = [
  {key: "compute_ps", name: PATH_TIMES.compute_ps, color: "--compute"},
  {key: "send_overhead_ps", name: PATH_TIMES.send_overhead_ps, color: "--overhead"},
  {key: "receive_overhead_ps", name: PATH_TIMES.receive_overhead_ps, color: "--take"},
  {key: "core_wait_ps", name: PATH_TIMES.core_wait_ps, color: "--core"},
  {key: "latency_ps", name: PATH_TIMES.latency_ps, color: "--latency"},
  {key: "transfer_ps", name: PATH_TIMES.transfer_ps, color: "--transfer"},
  {key: "queue_ps", name: PATH_TIMES.queue_ps, color: "--queue"},
  {key: "network_ps", name: PATH_TIMES.network_ps, color: "--latency"},
  {key: "handshake_ps", name: PATH_TIMES.handshake_ps, color: "--other"},
  {key: "collective_ps", name: PATH_TIMES.collective_ps, color: "--collective"},
  {key: "one_sided_ps", name: PATH_TIMES.one_sided_ps, color: "--send"},
  {key: "file_ps", name: PATH_TIMES.file_ps, color: "--take"},
  {key: "start_ps", name: PATH_TIMES.start_ps, color: "--idle"},
];
const CHANGES = {latency: "half the latency", bandwidth: "twice the bandwidth", compute: "processors twice as fast"};

function sharesBar(shares, total) {
  const own = drawing(34, "Shares of the critical path; the table below has them", (pen, width, height) => {
    let x = 0;
    for (const part of shares) {
      const wide = width * part.time / total;
      pen.fillStyle = color(part.color);
      pen.fillRect(x, 4, Math.max(wide - (wide > 3 ? 1 : 0), 0), height - 8);
      x += wide;
    }
  }, {id: "path-shares"});
  onHover(own.canvas, (x, y, width) => {
    let left = x / width * total;
    const part = shares.find((each) => (left -= each.time) <= 0);
    return part ? `${part.name}: ${time(part.time)}, ${percent(part.time / total)}` : "";
  });
  return figure(own, null, ["part", "time", "share"], () => shares.map((part) => [part.name, time(part.time), percent(part.time / total)]));
}

/* One bar for each change, beside that of the run itself. */
function whatIfBars(list, total) {
  const bars = [{name: "as it is", time: total, from: ""}, ...list.map((each) =>
    ({name: CHANGES[each.change] || each.change, time: number(each.time_ps), from: each.from, saved: each.saved_percent}))];
  const most = Math.max(...bars.map((bar) => bar.time), 1);
  return element("figure", {}, element("div", {class: "bars", id: "what-if"}, ...bars.flatMap((bar, i) => [
    element("span", {class: "name"}, bar.name),
    element("div", {}, element("div", {class: `bar ${i === 0 ? "base" : bar.from === "path" ? "bound" : ""}`, style: `width: ${100 * bar.time / most}%`})),
    element("span", {class: "value"}, time(bar.time) + (i === 0 ? "" : ` (${bar.saved < 0 ? "+" : "−"}${Math.abs(bar.saved).toFixed(1)} %, ${bar.from === "run" ? "simulated" : "upper bound"})`))])),
  element("figcaption", {}, "Simulated: the program ran again with the change. Upper bound (hollow): half of the share of the critical path; another path may become the longest, so that less is saved."));
}

function pathSection(section) {
  const path = doc.critical_path || {}, whatIf = doc.what_if || [];
  const total = number(path.time_ps ?? get("result.predicted_time_ps"));
  if (path.kept === false) {
    section.append(element("p", {class: "bad"}, `The critical path was not kept: this run needs --path-memory ${Math.ceil(number(path.memory_bytes) / 2 ** 20)}MiB.`));
  }
  if (path.shares) {
    const shares = SHARES.map((part) => ({...part, time: number(path.shares[part.key] || 0)})).filter((part) => part.time > 0);
    const rows = (list, ...columns) => (list || []).map((each) => [...columns.map((of) => of(each)), time(each.time_ps), percent(number(each.time_ps) / total)]);
    const panel = (title, head, list, ranks) => list.length ? element("div", {}, element("h3", {}, title),
      ranks && recording ? selectable(table([...head, "time", "share"], list), ranks) : table([...head, "time", "share"], list)) : null;
    section.append(element("p", {}, `The critical path has ${number(path.pieces) === 1 ? "1 segment" : `${count(path.pieces)} segments, one after the other`}, up to the end of rank ${path.end_rank}, which finishes last. ${number(path.hops) === 0 ? "It stays on this rank." : `It changes from rank to rank ${number(path.hops) === 1 ? "once" : `${count(path.hops)} times`}; ${count(path.ranks_working)} ranks are on it.`}` +
      (recording ? " The timeline shows it." : "")),
      sharesBar(shares, total),
      element("div", {class: "panels"},
        panel("Shares", ["part"], shares.map((part) => [element("span", {}, chip(part.color), part.name), time(part.time), percent(part.time / total)])),
        panel("By call", ["call"], rows(path.calls, (each) => each.call)),
        panel("By rank: computing and overhead", ["rank"], rows(path.ranks, (each) => count(each.rank)), (path.ranks || []).map((each) => [each.rank])),
        panel("By pair of ranks", ["from", "to", "messages", "bytes"], rows(path.pairs, (each) => count(each.from), (each) => count(each.to), (each) => count(each.messages), (each) => size(each.bytes)), (path.pairs || []).map((each) => [each.from, each.to])),
        panel("By link", ["from vertex", "to", "messages", "bytes"], rows(path.links, (each) => count(each.vertex), (each) => count(each.to), (each) => count(each.messages), (each) => size(each.bytes)))));
  }
  if (whatIf.length) section.append(element("h3", {}, "What if"), whatIfBars(whatIf, total));
}
