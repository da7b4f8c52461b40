// The way to the table: server-sent events, and the table's clock as this page knows it.
//
// Each connection begins with everything, so there is nothing to catch up with.  The table says every two
// seconds that it is there; a page that hears nothing says so, whatever the browser believes of its connection.

const ADDRESS = "/v1/display/events";
const SILENT = 6000; // ms without a word: the connection is no good, though nobody closed it
const GRACE = 1200; // ms that a new connection may take, before the page says that it has none
const LOOK = 400;
const ASLEEP = 5000; // the wall clock went on by so much between two looks: this page or its machine slept
const SAMPLES = 16;
const FIRST_WAIT = 250;
const MOST_WAIT = 3000;

// How long this machine has slept so far, in ms, and a step of the wall clock besides: its own clock stood.
const asleep = () => Date.now() - performance.timeOrigin - performance.now();

// Where the table's clock stands.  What it tells comes late by some milliseconds: the least late one counts.
class Clock {
  constructor() {
    this.late = [];
    this.asleep = 0;
  }

  heard(table) {
    this.late.push(performance.now() - table);
    if (this.late.length > SAMPLES) this.late.shift();
    this.asleep = asleep();
  }

  // Never too early: a countdown may end before its time, and must not go on after it.
  now() {
    return performance.now() - Math.min(...this.late) + Math.max(0, asleep() - this.asleep);
  }
}

export class Link {
  // `told(name, value)`: boards or table have changed.  `state(good)`: the connection is good, or lost.
  constructor(told, state) {
    this.told = told;
    this.state = state;
    this.good = false;
    this.clock = new Clock();
    this.fresh = true;
    this.wait = FIRST_WAIT;
    this.heard = this.lostSince = performance.now();
    this.heardAt = null; // by the wall clock, for people
    this.looked = Date.now();
    this.source = null;
    this.timer = null;
    this.connect();
    setInterval(() => this.look(), LOOK);
    for (const woken of ["online", "pageshow", "focus"]) addEventListener(woken, () => this.look());
    for (const woken of ["visibilitychange", "resume"]) document.addEventListener(woken, () => this.look());
  }

  // Milliseconds until an instant of the table's clock.
  left(deadline) {
    return deadline - this.clock.now();
  }

  connect() {
    clearTimeout(this.timer);
    this.timer = null;
    this.source?.close();
    const source = new EventSource(ADDRESS);
    this.source = source;
    this.heard = performance.now();
    this.fresh = true;
    source.onerror = () => this.again(source);
    for (const name of ["now", "boards", "table"]) {
      source.addEventListener(name, (event) => {
        if (source !== this.source || this.slept()) return;
        this.take(name, JSON.parse(event.data));
      });
    }
  }

  take(name, value) {
    this.heard = performance.now();
    this.heardAt = new Date();
    if (name === "now") {
      // The clock of an earlier connection is good until this one has told its own.
      if (this.fresh) this.clock = new Clock();
      this.fresh = false;
      this.clock.heard(value);
      return;
    }
    this.told(name, value);
    if (name === "table") {
      this.wait = FIRST_WAIT;
      this.lostSince = null;
      this.is(true);
    }
  }

  again(source) {
    if (source !== this.source) return;
    source.close();
    this.source = null;
    this.lostSince ??= performance.now();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.connect(), this.wait * (0.7 + 0.6 * Math.random()));
    this.wait = Math.min(this.wait * 1.6, MOST_WAIT);
  }

  // Whether this page was asleep until now.  What it shows, and what is on the way to it, is of before.
  slept() {
    const slept = Date.now() - this.looked > ASLEEP;
    this.looked = Date.now();
    if (slept) {
      this.lostSince ??= performance.now();
      this.is(false);
      this.connect();
    }
    return slept;
  }

  look() {
    if (this.slept()) return;
    if (this.source !== null && performance.now() - this.heard > SILENT) {
      this.is(false);
      this.again(this.source);
    }
    if (this.lostSince !== null && performance.now() - this.lostSince > GRACE) this.is(false);
  }

  is(good) {
    if (good === this.good) return;
    this.good = good;
    this.state(good);
  }
}
