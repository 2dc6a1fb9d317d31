// A recorded run: pieces are fetched as time needs them, and a few are kept.

import { AIRTIME_MAX } from "./model.js";

const KEPT = 6;

export class Replay {
  constructor(mesh, model) {
    this.model = model;
    this.starts = mesh.recorded.chunks;
    this.duration = mesh.recorded.duration;
    this.history = mesh.recorded.history;
    this.pieces = new Map();
    /** Where in the run the model stands: the piece, the batches of it that have begun, and those that have ended. */
    this.at = null;
    this.begun = 0;
    this.ended = 0;
    this.error = null;
  }

  /** The piece that holds a time. */
  pieceAt(time) {
    let [low, high] = [0, this.starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.starts[middle] <= time) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** A piece if it is there; if not, it is on its way. */
  piece(number) {
    if (number >= this.starts.length) return null;
    const known = this.pieces.get(number);
    if (known) {
      // The one used last is the last to go.
      this.pieces.delete(number);
      this.pieces.set(number, known);
      return known.batches ?? null;
    }
    const entry = {};
    this.pieces.set(number, entry);
    fetch(`/chunk?n=${number}`)
      .then((answer) => (answer.ok ? answer.text() : Promise.reject(new Error(`the server answers ${answer.status}`))))
      .then((text) => {
        entry.batches = text.trimEnd().split("\n").map((line) => JSON.parse(line));
        this.error = null;
      })
      .catch((error) => {
        this.pieces.delete(number);
        this.error = error;
      });
    if (this.pieces.size > KEPT) this.pieces.delete(this.pieces.keys().next().value);
    return null;
  }

  /** Leaps to a time. */
  seek(time) {
    this.model.time = Math.min(Math.max(time, 0), this.duration);
    this.model.forget();
    this.at = null;
  }

  /** Lets so much time pass, or as much as the machine can until a deadline. False while it waits for a piece. */
  advance(by, deadline) {
    const model = this.model;
    if (this.at === null && !this.enter(this.pieceAt(model.time))) return false;
    let until = Math.min(model.time + by, this.duration);
    for (;;) {
      const batches = this.piece(this.at);
      if (batches === null) return false;
      if (!this.apply(batches, until, deadline)) return true;
      if (this.at + 1 >= this.starts.length) break;
      // The frames of the next piece may have begun.
      if (until < this.starts[this.at + 1] - AIRTIME_MAX) break;
      const next = this.piece(this.at + 1);
      if (next === null) {
        model.time = Math.min(until, this.starts[this.at + 1] - AIRTIME_MAX);
        return false;
      }
      if (!this.enter(this.at + 1)) return false;
    }
    model.time = until;
    // Soon the next one is needed.
    this.piece(this.at + 1);
    return true;
  }

  enter(number) {
    const batches = this.piece(number);
    if (batches === null) return false;
    this.at = number;
    this.begun = this.ended = 0;
    return true;
  }

  /** Applies batches up to a time; false if the deadline came first, and then the time shown is that of the last batch. */
  apply(batches, until, deadline) {
    for (;;) {
      const [ahead, due] = [batches[this.begun], batches[this.ended]];
      if (ahead && (this.begun === 0 || batches[this.begun - 1].t <= until + AIRTIME_MAX)) {
        this.model.begin(ahead);
        this.begun++;
      } else if (due && due.t <= until) {
        this.model.end(due);
        this.ended++;
        if (performance.now() > deadline) {
          this.model.time = Math.max(this.model.time, due.t);
          return false;
        }
      } else return true;
    }
  }

  node(number) {
    return fetch(`/node?n=${number}&at=${Math.floor(this.model.time)}`).then((answer) => (answer.ok ? answer.json() : null));
  }
}
