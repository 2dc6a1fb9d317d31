// A mesh that runs: batches come by themselves, and commands go to it.

import { AIRTIME_MAX } from "./model.js";
import { make } from "./format.js";

/** So far behind the latest batch the page shows, in milliseconds of the one who looks: the next one is then there already. */
const BEHIND_MS = 120;
/** Batches that wait to be shown. */
const WAITING_MAX = 400;

export class Live {
  constructor(mesh, model) {
    this.mesh = mesh;
    this.model = model;
    this.duration = null;
    this.queue = [];
    this.begun = 0;
    this.latest = 0;
    this.missed = 0;
    this.error = null;
    this.clock = { paused: false, speed: 1 };
    /** The errors that links were given: by sender and receiver. */
    this.errors = new Map();
    this.refused = "";
    /** Hears that there is something new, and whether a change of the clock was asked for just now. */
    this.heard = () => {};
    this.quiet = 0;
    this.waiting = null;
    const events = new EventSource("/events");
    events.onmessage = (event) => this.take(JSON.parse(event.data));
    events.onopen = () => { this.error = null; };
    events.onerror = () => { this.error = new Error(events.readyState === EventSource.CLOSED ? "the mesh takes no more visitors" : "trying again"); };
  }

  take(batch) {
    if (batch.t === undefined) return;
    this.missed += batch.skipped ?? 0;
    if (batch.clock) this.clock = { paused: batch.clock.paused, speed: batch.clock.speed ?? Infinity };
    for (const [from, to, share] of batch.errors ?? []) this.errors.set(`${from} ${to}`, share);
    if (batch.whole) {
      // What waits is older, and some is missing.
      this.flush();
      this.model.end(batch);
      if (batch.t < this.latest || this.latest === 0) this.model.time = batch.t;
    } else this.queue.push(batch);
    this.latest = batch.t;
    this.totals = Object.fromEntries(this.mesh.totals.map((name, i) => [name, batch.totals[i]]));
    if (this.queue.length > WAITING_MAX) this.flush();
    this.heard(performance.now() < this.quiet);
  }

  /** Shows all that waits, at once. */
  flush() {
    this.queue.forEach((batch, i) => {
      if (i >= this.begun) this.model.begin(batch);
      this.model.end(batch);
    });
    this.queue = [];
    this.begun = 0;
  }

  advance(by) {
    const { model, clock } = this;
    const speed = Math.min(clock.speed, 1000);
    const wanted = BEHIND_MS * 1000 * speed;
    const lag = this.latest - model.time;
    if (clock.paused) model.time = this.latest;
    else if (lag > 8 * wanted || clock.speed === Infinity) model.time = Math.max(model.time, this.latest - wanted);
    // A little faster or slower, so that it stays so far behind.
    else model.time = Math.min(model.time + by * Math.min(Math.max(lag / wanted, 0.5), 1.5), Math.max(this.latest, model.time));
    for (;;) {
      const [ahead, due] = [this.queue[this.begun], this.queue[0]];
      const before = this.begun > 0 ? this.queue[this.begun - 1].t : 0;
      if (ahead && before <= model.time + AIRTIME_MAX) {
        model.begin(ahead);
        this.begun++;
      } else if (due && due.t <= model.time) {
        model.end(due);
        this.queue.shift();
        this.begun--;
      } else return true;
    }
  }

  node(number) {
    return fetch(`/node?n=${number}`).then((answer) => (answer.ok ? answer.json() : null));
  }

  /** Tells the mesh of a change of the clock; of many changes in a row, as of a slider, the last. */
  steer(what, controls) {
    this.quiet = performance.now() + 600;
    if (what === "playing") {
      this.ask({ pause: !controls.playing });
      return;
    }
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.ask({ speed: controls.speed === Infinity ? "max" : String(controls.speed) }), 120);
  }

  /** What is to be said about the mesh as a whole. */
  state() {
    const missed = this.missed > 0 ? `, ${this.missed} frames not shown` : "";
    return `${this.clock.paused ? "paused" : "live"}${missed}`;
  }

  /** Asks the mesh for something. */
  async ask(command) {
    const answer = await fetch("/command", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(command) })
      .catch((error) => ({ ok: false, text: () => error.message }));
    this.refused = answer.ok ? "" : (await answer.text()).trim();
  }

  /** What can be done to a node: switched off and on, and the errors of its links. */
  commands(number, root, neighbors) {
    const button = make("button", { type: "button", id: "switch" });
    const state = () => this.model.nodes.get(number).on;
    const show = () => { button.textContent = state() ? "Switch off" : "Switch on"; };
    button.addEventListener("click", () => this.ask({ switch: { node: number, on: !state() } }));
    const rows = neighbors.map((other) => this.slider(number, other));
    root.replaceChildren(button, make("details", {}, make("summary", {}, "Errors of its links"),
      make("p", { class: "hint" }, "So many of the frames are lost, both ways, beside what the medium does."),
      make("table", {}, make("tbody", {}, ...rows))));
    show();
    return show;
  }

  slider(number, other) {
    const share = this.errors.get(`${number} ${other}`) ?? 0;
    const text = make("output", {}, `${Math.round(100 * share)} %`);
    const input = make("input", { type: "range", min: 0, max: 100, step: 5, value: 100 * share, "aria-label": `Errors between ${number} and ${other} in percent` });
    input.addEventListener("input", () => { text.textContent = `${input.value} %`; });
    input.addEventListener("change", () => {
      for (const [from, to] of [[number, other], [other, number]]) this.ask({ link: { from, to, errors: input.value / 100 } });
    });
    return make("tr", {}, make("th", {}, `Node ${other}`), make("td", {}, input), make("td", {}, text));
  }
}
