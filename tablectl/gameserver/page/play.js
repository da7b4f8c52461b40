// The player's page. It shows what the server says and asks the server for everything: it knows no rule,
// counts no money but for the slip, and holds nothing to be placed that is not shown as "not placed yet".

import { WORDS } from "/page/words.js";

const table = location.pathname.split("/")[2];
const base = `/v1/tables/${table}`;
const $ = (id) => document.getElementById(id);

let language = localStorage.getItem("language") || (navigator.language.startsWith("de") ? "de" : "en");
let token = location.hash.slice(1) || sessionStorage.getItem("token") || "";
let model = null; // the server's last word
let closesAt = 0; // by performance.now()
let longest = 1; // seconds, the longest this round's window was seen
let connected = true;
let busy = false;
let selected = "player";
let chip = 0;
const slip = new Map(); // area → stake, not placed yet
let polling = null;
let version = ""; // of the server's last word
let sitting = 0; // who plays here now: one more with each token; what another one's requests bring is dropped
let unsure = false; // an order had no answer, and the server has not spoken since
let looked = Date.now();

const word = (name, ...values) => (WORDS[language][name] ?? name).replace(/\{(\d)\}/g, (_, i) => values[i]);

function money(amount, places = model.places, currency = model.currency) {
  const digits = String(Math.abs(amount)).padStart(places + 1, "0");
  const whole = digits.slice(0, digits.length - places).replace(/\B(?=(\d{3})+$)/g, language === "de" ? "." : ",");
  const part = places ? (language === "de" ? "," : ".") + digits.slice(-places) : "";
  return `${amount < 0 ? "−" : ""}${whole}${part} ${currency}`;
}

function make(tag, text, ...classes) {
  const element = document.createElement(tag);
  element.textContent = text ?? "";
  if (classes.length) element.classList.add(...classes);
  return element;
}

// --- talking to the server ----------------------------------------------------------------------------

async function ask(path, body, wait = 13000) { // the server answers within 10 s
  const options = { headers: { Authorization: `Bearer ${token}` }, signal: AbortSignal.timeout(wait) };
  if (body) Object.assign(options, { method: "POST", body: JSON.stringify(body) });
  if (!body && polling) options.signal = AbortSignal.any([options.signal, polling.signal]);
  const response = await fetch(path, options);
  const answer = await response.json();
  return { status: response.status, answer };
}

async function poll() {
  for (const mine = sitting; mine === sitting;) {
    polling = new AbortController();
    try {
      const { status, answer } = await ask(`${base}/play?after=${encodeURIComponent(version)}`);
      if (mine !== sitting) return;
      if (status === 401) return enter(word("unknown"));
      if (status !== 200) throw new Error(answer.error);
      version = answer.version;
      connected = true;
      take(answer);
    } catch {
      if (mine !== sitting) return;
      if (!polling.signal.aborted) { // not just woken: wait before the next try
        away();
        await new Promise((then) => setTimeout(then, 1000));
      }
    }
  }
}

// What is shown is of before: all of it is asked for at once.
function away() {
  connected = false;
  version = "";
  polling?.abort();
  draw();
}

function take(answer) {
  const before = model;
  model = answer;
  closesAt = performance.now() + answer.seconds * 1000;
  longest = before && before.round === answer.round ? Math.max(longest, answer.seconds) : Math.max(1, answer.seconds);
  if (before && answer.open && before.round !== answer.round) tell([]); // what was said was of another round
  if (!answer.open || (before && before.round !== answer.round)) dropSlip();
  if (unsure) tell([make("li", word("known"), "good")]);
  unsure = false;
  $("enter").hidden = true;
  $("play").hidden = false;
  draw();
}

function dropSlip() {
  if (!slip.size || busy) return;
  const what = [...slip].map(([area, stake]) => `${word(area)} ${staked(area, stake)}`).join(", ");
  slip.clear();
  tell([make("li", word("unplaced", what), "bad")]);
}

// The same id at every try: the server does it once, however often it hears it. ``what``: in words, for a
// player who cannot be told whether it was done.
async function order(path, body, what) {
  const mine = sitting;
  const id = [...crypto.getRandomValues(new Uint8Array(12))].map((b) => b.toString(16).padStart(2, "0")).join("");
  busy = true;
  draw();
  try {
    const asked = { id, round: model.round, ...body };
    for (let tries = 0; tries < 3 && mine === sitting; tries++) {
      try {
        const { status, answer } = await ask(path, asked, 4000);
        if (mine !== sitting) return null;
        if (status === 401) return enter(word("unknown"));
        if (status === 200) return answer;
        if (status < 500 || status === 503) {
          tell([make("li", word("failed", what, answer.error), "bad")]);
          return null;
        }
      } catch {
        if (mine === sitting) away();
      }
      await new Promise((then) => setTimeout(then, 300));
    }
    if (mine !== sitting) return null;
    slip.clear(); // it may lie there, or come to lie there
    tell([make("li", word("lost", what), "bad")]);
    unsure = true;
    away();
    return null;
  } finally {
    if (mine === sitting) {
      busy = false;
      draw();
    }
  }
}

// --- what the player does -----------------------------------------------------------------------------

// Whether nothing can be ordered now; a player who tried is told why.
function idle() {
  if (model && !busy && !connected) tell([make("li", word("away"), "bad")]);
  return !model || busy || !connected;
}

async function place() {
  if (idle()) return;
  if (!slip.size) return tell([make("li", word("nothing"), "bad")]);
  const bets = [...slip].map(([area, stake]) => ({ area, stake }));
  const what = bets.map(({ area, stake }) => `${word(area)} ${staked(area, stake)}`).join(", ");
  const answer = await order(`${base}/wagers`, { bets }, `${word("place")} ${what}`);
  if (!answer) return;
  if (answer.reason) slip.clear();
  tell(answer.bets.map((bet) => {
    if (bet.accepted) slip.delete(bet.area);
    return bet.accepted
      ? make("li", word(bet.raised ? "raised" : "taken", word(bet.area), staked(bet.area, bet.stake)), "good")
      : make("li", word("refused", word(bet.area), bet.reason[language]), "bad");
  }));
  draw();
}

async function back() {
  if (model && !busy && slip.delete(selected)) return draw();
  if (idle()) return;
  const what = `${word("back")} ${word(selected)}`;
  const answer = await order(`${base}/wagers/take-back`, { areas: [selected] }, what);
  if (!answer) return;
  tell(answer.bets.map((bet) => bet.accepted
    ? make("li", word("gone", word(bet.area)), "good")
    : make("li", word("refused", word(bet.area), bet.reason[language]), "bad")));
}

function again() {
  if (idle()) return;
  if (!model.open) return closed();
  if (!model.again.length) return tell([make("li", word("lastnone"), "bad")]);
  const told = [];
  const not = (area, why) => told.push(make("li", word("refused", word(area), why), "bad"));
  for (const { area, stake } of model.again) {
    if (!areas().includes(area)) not(area, word("noarea"));
    else if (lying(area)) not(area, word("lies"));
    else if (covers(area)) not(area, covers(area));
    else slip.set(area, stake);
  }
  tell(told);
  draw();
}

async function done() {
  if (idle()) return;
  slip.clear();
  const answer = await order(`${base}/wagers/done`, {}, word("done"));
  if (answer?.done) tell([make("li", word(model.wagers.length ? "nomore" : "passed"), "good")]);
}

function add(area, amount) {
  if (!model || busy) return;
  selected = area;
  if (!model.open) return closed();
  const stake = (slip.get(area) ?? 0) + amount;
  if (stake > 0 && stake < 1e15) slip.set(area, stake);
  else if (stake <= 0) slip.delete(area);
  draw();
}

function closed() {
  tell([make("li", model.reason[language], "bad")]);
  draw();
}

const covers = (area) => {
  const others = elsewhere(area).map((one) => word(one).replace(/ \(.*/, ""));
  return others.length ? word("covered", others.join(", ")) : "";
};
// A stake in words: on a combination it is on each of its bets.
const staked = (area, stake) => (parts(area) > 1
  ? word("each", money(stake), money(stake * parts(area))) : money(stake));
const areas = () => (model.terms ? model.terms.areas.map((one) => one.area) : []);
const lying = (area) => model.wagers.find((wager) => wager.area === area);
// The other areas on which bets of this one lie: a combination that covers it, or what a combination is made of.
const elsewhere = (area) => [...new Set(model.wagers.filter((wager) => wager.area !== area
  && model.terms?.areas.some((one) => one.area === area && one.parts.includes(wager.part))).map((wager) => wager.area))];
const unit = () => 10 ** model.places;

document.addEventListener("keydown", (event) => {
  if (!model || event.ctrlKey || event.altKey || event.metaKey || event.target.tagName === "INPUT") return;
  if (["Enter", " "].includes(event.key) && event.target.matches("button:focus-visible")) return;
  const pad = event.code.startsWith("Numpad") ? event.code.slice(6) : "";
  const key = event.key;
  const digit = /^[0-9]$/.test(pad) ? pad : /^[0-9]$/.test(key) ? key : "";
  const list = areas();
  // In the upper row Shift is what makes a + of some keyboards, and another sign of others.
  const many = pad ? event.shiftKey : ["*", "_"].includes(key);
  if (pad === "Add" || (!pad && ["+", "*"].includes(key))) add(selected, (many ? 10 : 1) * unit());
  else if (pad === "Subtract" || (!pad && ["-", "_"].includes(key))) add(selected, (many ? -10 : -1) * unit());
  else if (key === "Enter") { if (!event.repeat) place(); }
  else if (key === "Delete" || pad === "Decimal") { if (!event.repeat) back(); }
  else if (digit === "0") again();
  else if (digit && list[digit - 1]) { selected = list[digit - 1]; draw(); }
  else return;
  event.preventDefault();
});

// --- drawing ------------------------------------------------------------------------------------------

function tell(lines) {
  $("told").replaceChildren(...lines.filter(Boolean));
}

function draw() {
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll("[data-word]")) element.textContent = word(element.dataset.word);
  $("language").textContent = word("other");
  $("table").textContent = table;
  document.title = `${word("table")} ${table}`;
  if (!model) return blank();
  $("round").textContent = model.round ? `${word("number")} ${model.round}` : "";
  $("balance").textContent = money(model.balance);
  drawPhase();
  drawLayout();
  drawChips();
  $("lying").textContent = money(model.wagers.reduce((sum, wager) => sum + wager.stake, 0));
  $("slip").textContent = money([...slip].reduce((sum, [area, stake]) => sum + stake * parts(area), 0));
  for (const [id, works] of [["place", slip.size], ["back", true], ["again", model.again.length], ["done", true]])
    $(id).disabled = busy || !connected || !model.open || !works;
  drawResult();
  $("history").replaceChildren(...model.history.map(past));
}

// Nobody plays: nothing of who played before is left, shown or hidden.
function blank() {
  for (const id of ["says", "seconds", "lying", "slip", "what", "of", "outcome"]) $(id).textContent = "";
  for (const id of ["layout", "chips", "told", "hands", "ended", "history"]) $(id).replaceChildren();
  $("round").textContent = connected ? "" : word("away");
  $("balance").textContent = "–";
}

const parts = (area) => model.terms?.areas.find((one) => one.area === area)?.parts.length ?? 1;

function drawPhase() {
  const left = Math.max(0, (closesAt - performance.now()) / 1000);
  const open = connected && model.open && left > 0;
  $("phase").dataset.open = open;
  $("phase").dataset.reason = !connected ? "away" : open ? "" : model.reason?.code ?? "late";
  $("phase").classList.toggle("soon", open && left <= 5);
  const says = !connected ? word("away") : open ? word("bets") : model.reason?.[language] ?? word("late");
  if ($("says").textContent !== says) $("says").textContent = says;
  $("seconds").textContent = open ? Math.ceil(left) : "";
  $("left").value = open ? left / longest : 0;
}

function drawLayout() {
  const list = model.terms?.areas ?? [];
  $("layout").setAttribute("aria-label", word("layout"));
  if ($("layout").childElementCount !== list.length)
    $("layout").replaceChildren(...list.map((one, index) => {
      const button = make("button");
      button.type = "button";
      button.id = `area-${one.area}`;
      button.append(make("kbd", index + 1), make("b", "", "name"), make("span", "", "placed"), make("span", "", "slip"), make("span", "", "covered"), make("small"));
      button.addEventListener("click", (event) => { add(one.area, chip); if (event.detail) button.blur(); });
      return button;
    }));
  list.forEach((one, index) => {
    const [, name, placed, slipped, covered, limits] = $("layout").children[index].children;
    const wager = lying(one.area);
    name.textContent = word(one.area);
    placed.textContent = wager ? `${staked(one.area, wager.stake)}${wager.locked ? ` (${word("locked")})` : wager.stands ? ` (${word("stands")})` : ""}` : "";
    slipped.textContent = slip.has(one.area) ? `+ ${staked(one.area, slip.get(one.area))}` : "";
    covered.textContent = covers(one.area);
    const told = [];
    if (one.min > 1 || one.max !== null) told.push(`${word("least")} ${money(one.min)}`);
    if (one.max !== null) told.push(`${word("most")} ${money(one.max)}`);
    if (one.max_winnings !== null) told.push(`${word("wins")} ${money(one.max_winnings)}`);
    limits.textContent = told.join(" · ");
    $("layout").children[index].setAttribute("aria-pressed", String(one.area === selected));
  });
}

function drawChips() {
  const chips = model.terms?.chips ?? [];
  if (!chips.includes(chip)) chip = chips[0] ?? unit();
  if ($("chips").childElementCount !== chips.length)
    $("chips").replaceChildren(...chips.map((value) => {
      const button = make("button", "", "chip");
      button.type = "button";
      button.dataset.value = value;
      button.addEventListener("click", (event) => { chip = value; draw(); if (event.detail) button.blur(); });
      return button;
    }));
  for (const button of $("chips").children) {
    const value = Number(button.dataset.value);
    button.textContent = value % unit() ? money(value).split(" ")[0] : value / unit();
    button.setAttribute("aria-pressed", String(value === chip));
  }
}

const SUITS = { S: "♠", H: "♥", D: "♦", C: "♣" };
const card = (text) => text === "?" ? make("span", "\u00a0", "card", "down")
  : make("span", text[0].replace("T", "10") + (SUITS[text[1]] ?? ""), "card", "HD".includes(text[1]) ? "red" : "black");

function drawHands(hands) {
  $("hands").replaceChildren(...Object.entries(hands).map(([side, hand]) => {
    const cards = make("div", "", "cards");
    cards.append(...hand.cards.map(card));
    const block = make("div", "", "hand");
    block.append(make("b", `${word(side)} ${hand.total ?? ""}`), cards);
    return block;
  }));
}

// The hand in play as its cards fall; else how the last round ended.
function drawResult() {
  const { result, hand } = model;
  $("result").hidden = !result && !hand;
  $("what").textContent = word(hand ? "number" : "result");
  if (hand) {
    $("of").textContent = hand.round;
    $("result").dataset.outcome = "";
    $("outcome").textContent = word("dealt");
    drawHands(hand.hands);
    $("ended").replaceChildren();
    return;
  }
  if (!result) return;
  $("of").textContent = result.round + (result.state === "amended" ? ` (${word("amended")})` : "");
  $("result").dataset.outcome = result.outcome ?? "";
  $("outcome").textContent = word(result.state === "voided" ? "voided" : result.state === "parked" ? "parked" : `said_${result.outcome}`)
    + (result.free ? ` (${word("free")})` : "");
  drawHands(result.hands);
  $("ended").replaceChildren(...result.bets.map((bet) => make("li", line(bet), bet.how ?? "open")));
}

function line(bet) {
  const what = bet.area === bet.part ? word(bet.part) : `${word(bet.part)} (${bet.area})`;
  return `${what} ${money(bet.stake)}: ${how(bet)}${bet.how === "win" ? ` +${money(bet.won)}` : ""}`;
}

const how = (bet) => word(bet.how ?? "open") + (bet.capped ? ` (${word("capped")})` : "");

function past(bet) {
  const row = make("tr", "", bet.how ?? "open");
  const net = bet.how === "win" ? `+${money(bet.won)}` : bet.how === "lose" ? money(-bet.stake) : "";
  const what = bet.area === bet.part ? word(bet.part) : `${word(bet.part)} (${bet.area})`;
  const ended = how(bet) + (bet.state === "amended" ? ` (${word("amended")})` : "");
  row.append(...[bet.round, what, money(bet.stake), ended, net].map((text) => make("td", text)));
  return row;
}

// --- beginning ----------------------------------------------------------------------------------------

function enter(why) {
  sitting += 1;
  polling?.abort();
  model = null;
  token = "";
  version = "";
  slip.clear();
  selected = "player";
  busy = unsure = false;
  connected = true;
  sessionStorage.removeItem("token");
  $("play").hidden = true;
  $("enter").hidden = false;
  $("refused").textContent = why;
  $("token").focus();
  draw();
}

function begin() {
  sessionStorage.setItem("token", token);
  poll();
}

$("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  token = $("token").value.trim();
  $("token").value = "";
  if (token) begin();
});
$("language").addEventListener("click", (event) => {
  if (event.detail) $("language").blur();
  language = language === "de" ? "en" : "de";
  localStorage.setItem("language", language);
  tell([]);
  draw();
});
for (const [id, does] of Object.entries({ place, back, again, done }))
  $(id).addEventListener("click", (event) => { if (event.detail) $(id).blur(); does(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden && polling) polling.abort(); });
setInterval(() => {
  if (Date.now() - looked > 5000) { // this page or its machine slept: what it shows is of before
    away();
  }
  looked = Date.now();
  if (model) drawPhase();
}, 200);
history.replaceState(null, "", location.pathname);
draw();
if (token) begin();
else enter("");
