// The mesh at the time that is shown: batches go in as time passes, and the views ask what there is.

/** Frames that are kept to be drawn. */
const FRAMES_MAX = 4000;
/** No frame is longer on the air, in microseconds: what ends later than that has not begun. */
export const AIRTIME_MAX = 5000;

export class Model {
  constructor(mesh) {
    this.mesh = mesh;
    this.time = 0;
    /** By number; each an object with the columns of the mesh as keys. */
    this.nodes = new Map(mesh.nodes.map((node) => [node.number, { node: node.number, on: 1 }]));
    this.totals = Object.fromEntries(mesh.totals.map((name) => [name, 0]));
    this.forget();
  }

  /** What was under way is of no interest any more, as after a leap in time. */
  forget() {
    this.frames = [];
    this.marks = [];
    this.seen = new Map();
  }

  /** Frames and marks of a batch that begins at the time shown. */
  begin(batch) {
    const { kinds, fates } = this.mesh;
    for (const [from, air, sender, to, kind, len, fate, datagram] of batch.frames ?? []) {
      const frame = { from, until: from + air, sender, to, kind: kinds[kind], len, fate: fate === 0 ? null : fates[fate], datagram };
      this.frames.push(frame);
      this.seen.set(frame.kind, (this.seen.get(frame.kind) ?? 0) + 1);
    }
    for (const [at, node, what, datagram] of batch.marks ?? []) this.marks.push({ at, node, what, datagram });
    if (this.frames.length > 2 * FRAMES_MAX) this.frames.splice(0, this.frames.length - FRAMES_MAX);
    if (this.marks.length > 2 * FRAMES_MAX) this.marks.splice(0, this.marks.length - FRAMES_MAX);
  }

  /** What the nodes are like at the end of a batch. */
  end(batch) {
    for (const row of batch.nodes ?? []) {
      const node = this.nodes.get(row[0]);
      if (node) this.mesh.columns.forEach((name, i) => { node[name] = row[i]; });
    }
    this.mesh.totals.forEach((name, i) => { this.totals[name] = batch.totals[i]; });
  }

  /** The frames that show at the time shown, the latest last: they began at most `trail` ago, and are so many at most. */
  framesInSight(trail, most) {
    const found = [];
    const { frames, time } = this;
    for (let i = frames.length - 1; i >= 0 && found.length < most; i--) {
      const frame = frames[i];
      if (frame.until < time - trail - AIRTIME_MAX) break;
      if (frame.from <= time && frame.from + Math.max(trail, frame.until - frame.from) > time) found.push(frame);
    }
    return found.reverse();
  }

  marksInSight(trail, most) {
    const found = [];
    for (let i = this.marks.length - 1; i >= 0 && found.length < most; i--) {
      const mark = this.marks[i];
      if (mark.at < this.time - trail) break;
      if (mark.at <= this.time) found.push(mark);
    }
    return found;
  }
}
