/* SPDX-License-Identifier: Apache-2.0 */
/* Search in the timeline, and the selection that all parts of the page share. */

/* The selected ranks, at most a few. */
const selected = new Set();
const selectionListeners = [];

function select(ranks) {
  selected.clear();
  for (const rank of ranks) selected.add(rank);
  for (const listener of selectionListeners) listener();
  redrawAll();
  viewChanged();
}

/* A line that says what is selected, and ends the selection. */
function selectionLine() {
  const line = element("div", {class: "tools", id: "selection", "aria-live": "polite"});
  const show = () => {
    const ranks = [...selected].sort((a, b) => a - b);
    line.replaceChildren(...(ranks.length === 0 ? [element("span", {class: "soft"}, "Click a rank here, a cell of the matrix, a link or a row of a table to select ranks everywhere.")] : [
      `Selected: rank ${ranks.slice(0, 8).join(", ")}${ranks.length > 8 ? ` and ${ranks.length - 8} more` : ""}`,
      element("button", {type: "button", id: "show-selected", onclick: () => showRanks(ranks)}, "show"),
      element("button", {type: "button", id: "deselect", onclick: () => select([])}, "deselect")]));
    for (const row of document.querySelectorAll("tr[data-ranks]")) {
      row.classList.toggle("selected", row.dataset.ranks.split(" ").some((rank) => selected.has(Number(rank))));
    }
  };
  selectionListeners.push(show);
  show();
  return line;
}

/* Rows of a table that select ranks: `ranksOfRow` of each row, in order. */
function selectable(made, ranksOfRow) {
  made.querySelectorAll("tbody tr").forEach((row, i) => {
    row.dataset.ranks = ranksOfRow[i].join(" ");
    row.addEventListener("click", () => select(ranksOfRow[i]));
  });
  return made;
}

const trackOf = (t, rank) => t.exact ? rank : Math.floor(rank / recording.ranks_per_row);

/* Brings ranks into view, with a few neighbours. */
function showRanks(ranks) {
  const t = ranksTimeline, tracks = ranks.map((rank) => trackOf(t, rank));
  const first = Math.min(...tracks), last = Math.max(...tracks);
  setView(t, {top: first - 4, bottom: last + 5});
  t.own.canvas.scrollIntoView({block: "center"});
}

/* Shows something of a rank, with as much time around it as it takes. */
function showSpan(t, rank, from, until) {
  const around = Math.max(until - from, t.shortest), track = trackOf(t, rank), tall = Math.min(t.view.bottom - t.view.top, 40);
  setView(t, {from: from - around, to: until + around, top: track - tall / 2, bottom: track + tall / 2});
  select([rank]);
  t.own.canvas.scrollIntoView({block: "center"});
}

/* All calls or regions of that name, as {rank, from, until}. */
function namedSpans(t, name) {
  const found = [];
  for (const [names, lists] of [[recording.call_names, t.calls()], [recording.region_names, t.regions()]]) {
    const number = (names || []).indexOf(name);
    if (number < 0) continue;
    for (const [rank, {all}] of lists) for (const each of all) if (each.name === number) found.push({rank, from: each.from, until: each.until});
  }
  return found;
}

function longestWait(t) {
  let best = null;
  for (const [rank, {at, what}] of t.spans) {
    what.forEach((kind, i) => {
      if (kind >= 2 && (!best || at[i + 1] - at[i] > best.until - best.from)) best = {rank, from: at[i], until: at[i + 1]};
    });
  }
  const worst = (get("result.top_waits") || [])[0];
  return best || (worst ? {rank: worst.rank, from: 0, until: t.end} : null);
}

const UNITS = {ps: 1, ns: 1e3, us: 1e6, "µs": 1e6, ms: 1e9, s: 1e12};

/* Goes to what the words say: a rank, a time, a call or region (the next one, or the longest), or the
 * longest wait. False if there is no such thing. */
function goTo(words, longest = false) {
  const t = ranksTimeline, text = words.trim();
  const rank = text.match(/^(?:rank )?([0-9]+)$/i), at = text.match(/^([0-9.]+) ?(ps|ns|us|µs|ms|s)$/);
  if (!t || text === "") return false;
  if (rank && Number(rank[1]) < recording.ranks) {
    select([Number(rank[1])]);
    showRanks([Number(rank[1])]);
    return true;
  }
  if (at) {
    const now = Number(at[1]) * UNITS[at[2]], half = (t.view.to - t.view.from) / 2;
    setView(t, {from: now - half, to: now + half});
    return true;
  }
  if (/^longest wait$/i.test(text)) {
    const wait = longestWait(t);
    if (wait) showSpan(t, wait.rank, wait.from, wait.until);
    return wait != null;
  }
  const found = namedSpans(t, text), middle = (t.view.from + t.view.to) / 2;
  if (found.length === 0) return false;
  const next = longest ? found.reduce((best, each) => each.until - each.from > best.until - best.from ? each : best)
    : found.filter((each) => each.from > middle).reduce((best, each) => !best || each.from < best.from ? each : best, null) || found[0];
  showSpan(t, next.rank, next.from, next.until);
  return true;
}

function searchField() {
  const names = ["longest wait", ...(recording.call_names || []), ...(recording.region_names || [])];
  const answer = element("span", {class: "bad", id: "find-answer", "aria-live": "polite"});
  const field = element("input", {type: "search", id: "find", list: "find-names", size: 22, placeholder: "rank, time, call or region"});
  return element("form", {class: "find", onsubmit: (event) => {
    event.preventDefault();
    answer.textContent = goTo(field.value) ? "" : "not found";
  }}, element("label", {}, "Go to ", field), element("datalist", {id: "find-names"}, ...names.map((name) => element("option", {value: name}))),
  " ", element("button", {type: "submit"}, "go"), " ", answer);
}
