/* SPDX-License-Identifier: Apache-2.0 */
/* The communication matrix. */

function matrixSection(section) {
  const matrix = recording.matrix, per = matrix.ranks_per_row, n = matrix.bytes.length;
  const values = {bytes: matrix.bytes.map(numbersOf), messages: matrix.messages.map(numbersOf)};
  const nodes = recording.nodes && per === 1 ? numbersOf(recording.nodes) : null;
  const show = {what: "bytes", order: "rank"}, LEFT = 58, TOP = 18, SCALE = 90; // room for the colour scale beside it
  const byRank = Array.from({length: n}, (_, i) => i);
  const orders = {rank: byRank, node: nodes ? [...byRank].sort((a, b) => nodes[a] - nodes[b] || a - b) : byRank};
  const of = (k) => ranksOf(k * per, Math.min(per, recording.ranks - k * per)) + (nodes ? ` (node ${nodes[k]})` : "");
  const cellSize = (tall) => Math.max(1, Math.floor((tall - TOP - 6) / n * 4) / 4);

  const own = drawing(460, "Matrix of the traffic between ranks", (pen, width, height) => {
    const order = orders[show.order], rows = values[show.what], cell = cellSize(Math.min(height, width - LEFT - SCALE + TOP));
    const most = Math.max(...rows.map((row) => Math.max(...row)), 1);
    pen.fillStyle = color("--idle");
    pen.fillRect(LEFT, TOP, n * cell, n * cell);
    const scale = Array.from({length: 65}, (_, i) => heat(i / 64));
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        const value = rows[order[i]][order[j]];
        if (value > 0) {
          pen.fillStyle = scale[Math.round(64 * Math.log1p(value) / Math.log1p(most))];
          pen.fillRect(LEFT + j * cell, TOP + i * cell, cell, cell);
        }
      }
    }
    pen.strokeStyle = color("--accent");
    for (const rank of selected) {
      const at = order.indexOf(Math.floor(rank / per)) * cell;
      pen.strokeRect(LEFT - 0.5, TOP + at - 0.5, n * cell + 1, cell + 1);
      pen.strokeRect(LEFT + at - 0.5, TOP - 0.5, cell + 1, n * cell + 1);
    }
    pen.fillStyle = color("--soft");
    pen.textAlign = "right";
    for (let i = 0; i < n; i += Math.ceil(16 / cell)) pen.fillText(String(order[i] * per), LEFT - 5, TOP + i * cell + Math.min(cell, 12) / 2 + 5);
    pen.textAlign = "left"; pen.fillText("to rank →   (from rank ↓)", LEFT, TOP - 6);
    const x = LEFT + n * cell + 20;
    scale.forEach((fill, i) => { pen.fillStyle = fill; pen.fillRect(x, TOP + (64 - i) * 3, 14, 3.5); });
    pen.fillStyle = color("--soft");
    pen.fillText(show.what === "bytes" ? size(most) : count(most), x + 20, TOP + 10);
    pen.fillText("0", x + 20, TOP + 195);
  }, {id: "matrix"});
  /* The pair under the mouse, or null. */
  const pairAt = (x, y, width) => {
    const cell = cellSize(Math.min(own.height, width - LEFT - SCALE + TOP)), order = orders[show.order];
    const i = Math.floor((y - TOP) / cell), j = Math.floor((x - LEFT) / cell);
    return i < 0 || j < 0 || i >= n || j >= n ? null : [order[i], order[j]];
  };
  own.canvas.addEventListener("click", (event) => {
    const box = own.canvas.getBoundingClientRect(), pair = pairAt(event.clientX - box.left, event.clientY - box.top, box.width);
    select(pair ? pair.map((k) => k * per) : []);
  });
  onHover(own.canvas, (x, y, width) => {
    const pair = pairAt(x, y, width);
    if (!pair) return "";
    const [from, to] = pair;
    return `${of(from)} to ${of(to)}:\n${size(values.bytes[from][to])} in ${count(values.messages[from][to])} messages`;
  });
  const choose = (name) => (event) => { show[name] = event.target.value; own.again(); };
  section.append(element("div", {class: "tools"},
    element("select", {onchange: choose("what"), id: "matrix-what", "aria-label": "Show"}, element("option", {value: "bytes"}, "bytes"), element("option", {value: "messages"}, "messages")),
    nodes ? element("select", {onchange: choose("order"), id: "matrix-order", "aria-label": "Order"}, element("option", {value: "rank"}, "ordered by rank"), element("option", {value: "node"}, "ordered by node")) : null,
    element("span", {class: "soft"}, "logarithmic colours; messages of collectives are included" + (per > 1 ? `; a cell is ${per} × ${per} ranks` : ""))),
  figure(own, null, ["from", "to", "bytes", "messages"], () => byRank.flatMap((i) => byRank.map((j) => [i, j]))
    .filter(([i, j]) => values.messages[i][j] > 0).sort(([i, j], [k, l]) => values.bytes[k][l] - values.bytes[i][j])
    .map(([i, j]) => [of(i), of(j), size(values.bytes[i][j]), count(values.messages[i][j])])));
}
