/* SPDX-License-Identifier: Apache-2.0 */
/* What the timeline shows, read from the recording. */

let rowsRead = null;
function timelineRows() {
  if (!rowsRead) {
    rowsRead = recording.rows.map((row) => ({ranks: row.ranks, first: row.first_rank, shares: bytesOf(row.shares)}));
  }
  return rowsRead;
}

/* The ranks whose individual spans and messages were recorded, in order. */
function recordedRanks() {
  const chosen = recording.chosen && recording.chosen.ranks;
  if (!chosen) return Array.from({length: (recording.spans || []).length}, (_, i) => i);
  return chosen.split(",").flatMap((text) => {
    const [first, last = first] = text.split(":").map(Number);
    return Array.from({length: last - first + 1}, (_, i) => first + i);
  });
}

/* The spans of each rank as arrays of begins and kinds; the last entry begins at the end. */
function readSpans(ranks) {
  return new Map((recording.spans || []).map((text, number) => {
    const at = [0], what = [];
    for (const match of text.matchAll(/([a-z-])([0-9]+)/g)) {
      what.push(KINDS.findIndex((kind) => kind.letter === match[1]));
      at.push(at[at.length - 1] + Number(match[2]));
    }
    return [ranks[number], {at, what}];
  }));
}

function readMessages(ranks) {
  const all = [];
  (recording.messages || []).forEach((text, number) => {
    const from = ranks[number];
    let now = 0;
    for (const each of text === "" ? [] : text.split(";")) {
      const [to, after, lasts, bytes] = each.split(" ").map(Number);
      now += after;
      all.push({from, to, departure: now, arrival: now + lasts, bytes});
    }
  });
  return all.sort((a, b) => a.departure - b.departure);
}

/* The critical path: time and rank after each of its steps. */
function readPath() {
  const places = [];
  let now = 0;
  for (const each of get("critical_path.steps") ? doc.critical_path.steps.split(";") : []) {
    const [what, lasts] = each.split(" "), rank = Number(what.slice(1));
    if (places.length === 0) places.push({at: 0, rank});
    now += Number(lasts);
    places.push({at: now, rank});
  }
  return places;
}

/* The index of the last value that is not greater. */
function lastBefore(list, value) {
  let low = 0, high = list.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (list[middle] <= value) low = middle; else high = middle - 1;
  }
  return low;
}
