// Cards, drawn large enough to be read from three metres: rank and suit, and nothing besides.

import { label, picture, shape } from "./svg.js";

const SUITS = {
  S: "M50 3C36 27 7 42 7 65c0 13 9 21 20 21 9 0 16-5 20-13-1 10-5 18-13 24h32c-8-6-12-14-13-24 4 8 11 13 20 13 11 0 20-8 20-21C93 42 64 27 50 3Z",
  H: "M50 93C20 68 5 50 5 31 5 16 16 6 29 6c9 0 17 5 21 14C54 11 62 6 71 6c13 0 24 10 24 25 0 19-15 37-45 62Z",
  D: "M50 2 88 50 50 98 12 50Z",
  C: "M50 4c-13 0-22 9-22 21 0 7 3 13 8 17-3-1-6-2-9-2C14 40 5 49 5 61s9 21 22 21c9 0 16-5 20-12-1 11-5 20-13 27h32c-8-7-12-16-13-27 4 7 11 12 20 12 13 0 22-9 22-21s-9-21-22-21c-3 0-6 1-9 2 5-4 8-10 8-17C72 13 63 4 50 4Z",
};
const INK = { S: "black", C: "black", H: "red", D: "red" };

function pip(suit, x, y, size) {
  return shape("path", {
    d: SUITS[suit],
    transform: `translate(${x} ${y}) scale(${size / 100})`,
    class: INK[suit],
  });
}

function face(card, words) {
  const rank = card[0] === "T" ? "10" : card[0];
  const suit = card[1];
  const ink = INK[suit];
  return picture(
    100,
    140,
    words.card(rank, words.suits[suit]),
    shape("rect", { x: 1, y: 1, width: 98, height: 138, rx: 9, class: "paper" }),
    label(rank, {
      x: 50, y: 62, class: `rank ${ink}`,
      ...(rank === "10" ? { textLength: 72, lengthAdjust: "spacingAndGlyphs" } : {}),
    }),
    pip(suit, 22, 76, 56),
  );
}

function back(words) {
  const lines = [];
  for (let i = -120; i < 100; i += 14) {
    lines.push(shape("path", { d: `M${i} 130 l120 -120 M${i} 10 l120 120`, class: "hatch" }));
  }
  return picture(
    100,
    140,
    words.cardDown,
    shape("rect", { x: 1, y: 1, width: 98, height: 138, rx: 9, class: "paper" }),
    shape("svg", { x: 7, y: 7, width: 86, height: 126, viewBox: "7 7 86 126" },
      shape("rect", { x: 7, y: 7, width: 86, height: 126, class: "back" }), ...lines),
  );
}

// The cards of a hand, as they lie: the third one across.  A card that is there already is left alone.
export function drawHand(place, cards, words, language) {
  const wanted = cards.map((card) => `${language} ${card}`);
  while (place.children.length > wanted.length) place.lastChild.remove();
  wanted.forEach((name, i) => {
    const there = place.children[i];
    if (there?.dataset.card === name) return;
    const made = document.createElement("div");
    made.className = i === 2 ? "card across" : "card";
    made.dataset.card = name;
    made.append(cards[i] === "?" ? back(words) : face(cards[i], words));
    if (there) there.replaceWith(made);
    else place.append(made);
  });
}
