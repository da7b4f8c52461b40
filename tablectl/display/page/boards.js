// The score boards: bead plate, big road and the three derived roads, each six rows, the newest columns.

import { label, picture, shape } from "./svg.js";

const ROWS = 6;
const CELL = 20;
const COLUMNS = { bead: 14, big: 36, derived: 20 };
const DERIVED = ["big-eye-boy", "small-road", "cockroach-pig"];

function grid(columns) {
  const lines = [];
  for (let x = 0; x <= columns; x += 1) lines.push(`M${x * CELL} 0v${ROWS * CELL}`);
  for (let y = 0; y <= ROWS; y += 1) lines.push(`M0 ${y * CELL}h${columns * CELL}`);
  return [
    shape("rect", { width: columns * CELL, height: ROWS * CELL, class: "plate" }),
    shape("path", { d: lines.join(""), class: "grid" }),
  ];
}

// A board is as wide as it is: what no longer fits moves out on the left, and one column stays free.
function board(name, columns, entries, title, draw) {
  const last = entries.reduce((most, entry) => Math.max(most, entry[0]), -1);
  const first = Math.max(0, last + 2 - columns);
  const marks = entries
    .filter((entry) => entry[0] >= first)
    .map((entry, i, shown) => {
      const place = `translate(${(entry[0] - first + 0.5) * CELL} ${(entry[1] + 0.5) * CELL})`;
      const newest = i === shown.length - 1 ? " newest" : "";
      return shape("g", { transform: place, class: `mark${newest}` }, ...draw(entry));
    });
  const told = picture(columns * CELL, ROWS * CELL, `${title}: ${entries.length}`, ...grid(columns), ...marks);
  const figure = document.getElementById(name);
  figure.querySelector("svg")?.remove();
  figure.append(told);
  figure.querySelector("figcaption").textContent = title;
}

function pairs(playerPair, bankerPair) {
  const dots = [];
  if (bankerPair) dots.push(shape("circle", { cx: -6, cy: -6, r: 3.5, class: "dot banker" }));
  if (playerPair) dots.push(shape("circle", { cx: 6, cy: 6, r: 3.5, class: "dot player" }));
  return dots;
}

function bead(words) {
  return ([, , outcome, playerPair, bankerPair]) => [
    shape("circle", { r: 9, class: `full ${outcome}` }),
    label(words.letters[outcome], { y: 4.6, class: "letter" }),
    ...pairs(playerPair, bankerPair),
  ];
}

function big([, , side, ties, playerPair, bankerPair]) {
  const drawn = [];
  if (side) drawn.push(shape("circle", { r: 7.6, class: `ring ${side}` }));
  if (ties) drawn.push(shape("path", { d: "M-7.5 7.5 7.5 -7.5", class: "slash tie" }));
  if (ties > 1) drawn.push(label(String(ties), { y: 3.6, class: "ties" }));
  return [...drawn, ...pairs(playerPair, bankerPair)];
}

function small(road, colour) {
  if (road === "big-eye-boy") return [shape("circle", { r: 7.2, class: `ring ${colour}` })];
  if (road === "small-road") return [shape("circle", { r: 9, class: `full ${colour}` })];
  return [shape("path", { d: "M-7.4 7.4 7.4 -7.4", class: `slash ${colour}` })];
}

function drawPredictions(predictions, words) {
  const place = document.getElementById("predictions");
  place.replaceChildren();
  place.hidden = predictions === null;
  for (const side of predictions === null ? [] : ["banker", "player"]) {
    const told = document.createElement("div");
    told.className = `prediction ${side}`;
    told.dataset.colours = DERIVED.map((road) => String(predictions[side][road])).join(" ");
    const text = document.createElement("span");
    text.textContent = words.next[side];
    told.append(text);
    for (const road of DERIVED) {
      const colour = predictions[side][road];
      const said = `${words[road]}: ${words.colours[colour]}`;
      const drawn = colour ? small(road, colour) : [label("–", { y: 5, class: "none" })];
      told.append(picture(CELL, CELL, said, shape("g", { transform: "translate(10 10)" }, ...drawn)));
    }
    place.append(told);
  }
}

function drawStatistics(statistics, words) {
  const place = document.getElementById("statistics");
  place.replaceChildren();
  for (const [name, text] of Object.entries(words.statistics)) {
    const row = document.createElement("div");
    row.dataset.name = name;
    const term = document.createElement("dt");
    const value = document.createElement("dd");
    term.textContent = text;
    value.textContent = statistics[name];
    row.append(term, value);
    place.append(row);
  }
}

// `boards`: null while they are not known.
export function drawBoards(boards, words) {
  const place = document.getElementById("boards");
  const note = document.getElementById("no-boards");
  place.classList.toggle("none", boards === null);
  note.hidden = boards !== null && !boards.unseen;
  note.textContent = boards === null ? words.noBoards : words.unseen(boards.unseen);
  if (boards === null) return;
  board("bead", COLUMNS.bead, boards.bead, words.bead, bead(words));
  board("big", COLUMNS.big, boards.big, words.big, big);
  for (const road of DERIVED) {
    board(road, COLUMNS.derived, boards.derived[road], words[road], ([, , colour]) => small(road, colour));
  }
  drawPredictions(boards.predictions, words);
  drawStatistics(boards.statistics, words);
}
