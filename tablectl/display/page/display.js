// What the table says, put on the screen.  Every text from outside goes in as text, never as markup.

import { drawBoards } from "./boards.js";
import { drawHand } from "./cards.js";
import { Link } from "./link.js";
import { label, picture, shape } from "./svg.js";
import { language, wordsOf } from "./words.js";

const asked = new URLSearchParams(location.search).get("lang");
const still = matchMedia("(prefers-reduced-motion: reduce)");
const SOON = 5000; // ms before the end, the ring says so
const at = (id) => document.getElementById(id);

let table = null;
let boards = null;
let code = language(asked, null, navigator.languages);
let words = wordsOf(code);
let everGood = false;

// --- the countdown ---------------------------------------------------------------------------------

const number = label("", { x: 50, y: 65, class: "seconds" });
const arc = shape("circle", { cx: 50, cy: 50, r: 43, pathLength: 100, class: "arc" });
const ring = picture(100, 100, "", shape("circle", { cx: 50, cy: 50, r: 43, class: "track" }), arc, number);
at("countdown").append(ring);
let counting = null; // how to stop it; timers and frames are numbered apart

function count() {
  const left = table.deadline === null ? 0 : Math.max(0, link.left(table.deadline));
  const seconds = Math.ceil(left / 1000);
  const shown = still.matches ? seconds * 1000 : left;
  const part = Math.min(100, (100 * shown) / Math.max(1, table.window ?? left));
  number.textContent = String(seconds);
  arc.setAttribute("stroke-dasharray", `${part} 200`);
  at("countdown").classList.toggle("soon", left <= SOON);
  ring.setAttribute("aria-label", words.seconds(seconds));
  if (left <= 0) {
    counting = null;
    draw(); // the window is over by the table's own word; that it has closed is told in a moment
    return;
  }
  if (still.matches) {
    const timer = setTimeout(count, 100);
    counting = () => clearTimeout(timer);
  } else {
    const frame = requestAnimationFrame(count);
    counting = () => cancelAnimationFrame(frame);
  }
}

function stopCounting() {
  counting?.();
  counting = null;
}

// --- the band: one sentence that everybody in the room should know ------------------------------------------

function sentence() {
  if (!link.good) {
    const time = link.heardAt?.toLocaleTimeString(code, { timeStyle: "medium", hour12: false });
    return everGood ? ["lost", words.lost, words.lostMore(time)] : ["lost", words.waiting, ""];
  }
  const betting = table.phase === "betting" && link.left(table.deadline ?? 0) > 0;
  if (betting) return ["betting", words.betting, table.held ? words.held : ""];
  if (table.held) return ["held", words.held, words.heldMore];
  switch (table.phase) {
    case "betting":
    case "no more bets":
      return ["closed-bets", words.noMoreBets, ""];
    case "dealing":
      return dealing();
    case "complete":
      return ["dealing", words.complete, ""];
    case "closed":
      return ["quiet", words.closed, ""];
    case "no shoe":
      return ["quiet", words.noShoe, ""];
    case "shuffle due":
      return table.result ? result(words.shuffle) : ["quiet", words.shuffle, ""];
    case "burning":
      return table.result ? result(words.burning) : ["quiet", words.burning, ""];
    default:
      return table.result ? result("") : ["quiet", words.idle, ""];
  }
}

function dealing() {
  const lying = table.player.cards.length + table.banker.cards.length;
  if (lying >= 4 && table.next === null) return ["dealing", words.faceDown, ""];
  if (lying >= 4) return [`dealing ${table.next}`, words.draws[table.next], ""];
  return ["dealing", words.dealing, ""];
}

function result(more) {
  const { outcome, amended, round } = table.result;
  const besides = [more, words.ofRound(round), amended ? words.amended : ""].filter(Boolean).join(" · ");
  if (outcome === null) return ["void", words.void, `${words.voidMore} · ${besides}`];
  const totals = `${table.player.total} : ${table.banker.total}`;
  return [`result ${outcome}`, `${words.wins[outcome]}  ${totals}`, besides];
}

// --- the whole screen -----------------------------------------------------------------------------------

function draw() {
  const good = link.good;
  at("display").className = good ? "" : everGood ? "lost" : "waiting";
  const [kind, text, more] = sentence();
  at("band").className = kind;
  const [strong, span] = at("band").children;
  if (strong.textContent !== text) strong.textContent = text;
  if (span.textContent !== more) span.textContent = more;
  if (table === null) return;

  const [name, place] = at("name").children;
  name.textContent = document.title = words.table(table.table);
  const where = table.shoe === null ? [] : [words.shoe(table.shoe)];
  if (good && table.round !== null) where.push(words.round(table.round));
  place.textContent = where.join(" · ");
  at("test").hidden = !table.test;
  at("test").textContent = words.test;
  at("limits").textContent = limits();
  at("last-hand").hidden = !(good && table.last_hand);
  const [last, before] = at("last-hand").children;
  last.textContent = words.lastHand;
  before.textContent = words.beforeShuffle;

  const winner = good && table.result ? table.result.outcome : null;
  for (const side of ["player", "banker"]) {
    const place = at(side);
    place.querySelector("h1").textContent = words[side];
    place.classList.toggle("winner", winner === side || winner === "tie");
    place.classList.toggle("loser", winner !== null && winner !== "tie" && winner !== side);
    const { cards, total } = good ? table[side] : { cards: [], total: null };
    place.querySelector(".total").textContent = total ?? "";
    drawHand(place.querySelector(".cards"), cards, words, code);
  }

  const running = good && table.phase === "betting" && link.left(table.deadline ?? 0) > 0;
  at("countdown").hidden = !running;
  if (running && counting === null) count();
  if (!running) stopCounting();
  const drawn = table.player.cards.length + table.banker.cards.length;
  at("arrow").className = good && table.phase === "dealing" && drawn >= 4 && table.next ? table.next : "";
  badges(good && !running);
  at("boards").hidden = table.shoe === null;
}

function badges(shown) {
  const told = [];
  if (shown && table.free) told.push(["free", words.free]);
  if (shown && table.result) told.push(...table.result.extras.map((name) => [name, words.extras[name]]));
  at("badges").replaceChildren(
    ...told.map(([name, text]) => {
      const badge = document.createElement("span");
      badge.className = name.split("_")[0];
      badge.textContent = text;
      return badge;
    }),
  );
}

function limits() {
  const main = table.limits?.bets.player ?? table.limits?.bets.banker;
  return main ? words.limits(table.limits.currency, ...main) : "";
}

function speak() {
  code = language(asked, table?.language ?? null, navigator.languages);
  words = wordsOf(code);
  document.documentElement.lang = code;
}

// --- what comes from the table --------------------------------------------------------------------------------

export function told(name, value) {
  if (name === "boards") {
    boards = value;
    if (table !== null) drawBoards(boards, words); // else with the table's first word, in its language
    return;
  }
  if (table !== null && table.edition !== value.edition) {
    location.reload(); // the table has been updated: so must its page be
    return;
  }
  const first = table === null;
  stopCounting();
  table = value;
  if (first) {
    speak();
    drawBoards(boards, words);
  }
  if (link?.good) draw();
}

const link = new Link(told, (good) => {
  everGood ||= good;
  draw();
});
speak();
draw();
