/* SPDX-License-Identifier: Apache-2.0 */
/* Calls and regions of the ranks: tables of their sums, and the individual ones for the timeline. */

/* Calls and regions are told apart by their names; colours only help to find them again. */
const CALL_COLORS = ["--call-0", "--call-1", "--call-2", "--call-3", "--call-4", "--call-5", "--call-6", "--call-7"];
const callColor = (number) => CALL_COLORS[number % CALL_COLORS.length];

/* The calls or regions of each recorded rank, by rank: arrays of begins and ends, in order. They are
 * read when they are first shown. */
function readCalls(texts, ranks) {
  return new Map((texts || []).map((text, i) => {
    const all = [];
    let now = 0;
    for (const each of text === "" ? [] : text.split(";")) {
      const [call, stack] = each.split("@"), [name, after, lasts, peer, tag, comm, bytes] = call.split(" ");
      now += Number(after);
      all.push({name: Number(name), from: now, until: now + Number(lasts), peer, tag, comm, bytes, stack});
    }
    return [ranks[i], {all, from: all.map((call) => call.from)}];
  }));
}

/* "isend to rank 5, tag 7, 64 KiB". */
function callWords(call) {
  const name = recording.call_names[call.name], words = [name];
  if (call.peer !== undefined && call.peer !== "-") words.push(`${/recv|probe|get/.test(name) ? "from" : "with"} rank ${call.peer}`);
  if (call.tag !== undefined && call.tag !== "-") words.push(`tag ${call.tag}`);
  if (call.comm !== undefined) words.push(`communicator ${call.comm}`);
  if (Number(call.bytes) > 0) words.push(size(call.bytes));
  return words.join(", ");
}

/* The functions that make a call, from main() on; "" if they were not recorded. */
const stackOf = (call) => call.stack === undefined ? "" : (recording.stack_names || [])[call.stack] || "";

/* The call of a rank at a time; null between calls. Of calls without a duration the last one counts. */
function callAt(of, at) {
  if (!of || of.all.length === 0) return null;
  const call = of.all[lastBefore(of.from, at)];
  return call.from <= at && at < call.until ? call : null;
}

/* The regions around a time, the outer ones first. */
function regionsAt(of, at) {
  return of ? of.all.filter((region) => region.from <= at && at < region.until) : [];
}

function callsTable() {
  const list = [...recording.by_call].sort((a, b) => number(b.time_ps) - number(a.time_ps));
  const all = recording.ranks * (number(recording.end_ps) || 1);
  const names = recording.call_names || [];
  const rows = list.map((sum) => {
    const at = names.indexOf(sum.call);
    const go = at >= 0 ? element("button", {type: "button", "data-call": sum.call, title: "show the longest in the timeline", onclick: () => goTo(sum.call, true)},
      chip(callColor(at)), sum.call) : sum.call;
    return [go, count(sum.calls), time(sum.time_ps), percent(number(sum.time_ps) / all), time(number(sum.time_ps) / number(sum.calls)), time(sum.max_ps),
      number(sum.bytes) > 0 ? size(sum.bytes) : ""];
  });
  return table(["call", "calls", "total time", "share of the run", "mean", "longest", "bytes"], rows, {id: "calls-table"});
}

/* Sums of the calls of all recorded ranks by the functions that make them. */
function stacksTable() {
  const sums = new Map(), all = recording.ranks * (number(recording.end_ps) || 1);
  for (const {all: calls} of readCalls(recording.calls, recordedRanks()).values()) {
    for (const call of calls) {
      const key = `${recording.call_names[call.name]}@${call.stack ?? ""}`, sum = sums.get(key) || {name: call.name, stack: stackOf(call), n: 0, time: 0, most: 0};
      sum.n++;
      sum.time += call.until - call.from;
      sum.most = Math.max(sum.most, call.until - call.from);
      sums.set(key, sum);
    }
  }
  const list = [...sums.values()].filter((sum) => sum.stack !== "").sort((a, b) => b.time - a.time);
  return table(["call", "called from", "calls", "total time", "share of the run", "longest"], list.map((sum) => [
    recording.call_names[sum.name], sum.stack, count(sum.n), time(sum.time), percent(sum.time / all), time(sum.most)]), {id: "stacks-table"});
}

function regionsTable(regions) {
  const name = (region) => region.name ?? `region ${region.number ?? ""}`;
  return table(["region", "times", "total time", "min", "mean", "max"], regions.map((region) => [
    recording && recording.region_names ? element("button", {type: "button", title: "show the longest in the timeline", onclick: () => goTo(name(region), true)}, name(region)) : name(region),
    count(region.times), time(region.total_ps), time(region.time_ps.min), time(region.time_ps.mean), time(region.time_ps.max)]), {id: "regions-table"});
}

function callsSection(section) {
  const regions = get("result.regions") || [];
  if (recording && recording.by_call && recording.by_call.length) {
    section.append(callsTable());
    if (!recording.calls) section.append(element("p", {class: "soft"}, `The ${count(recording.n_calls)} individual calls were not kept (--record-limit).`));
  }
  if (recording && recording.calls && recording.stack_names) section.append(element("h3", {}, "Call stacks"), stacksTable());
  if (regions.length) section.append(element("h3", {}, "Regions"), regionsTable(regions));
}
