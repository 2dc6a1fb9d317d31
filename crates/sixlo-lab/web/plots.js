// Lines over the time of the run: how much arrives, and how full the nodes are.

import { clock, colour, make, plain, prepared } from "./format.js";

/** Values of a line. */
const BINS = 80;
const LEFT = 44;
const RIGHT = 6;
const TOP = 7;
const BOTTOM = 18;

/** What is drawn: each value from the totals at two moments, which only grow. */
const PLOTS = (nodes, live) => [
  {
    title: "Delivered", unit: "% of what ended", paint: "good", most: 1, show: (v) => (100 * v).toFixed(1), tick: (v) => `${Math.round(100 * v)}`,
    value: (a, b) => (b.delivered + b.lost > a.delivered + a.lost
      ? (b.delivered - a.delivered) / (b.delivered + b.lost - a.delivered - a.lost) : null),
  },
  {
    title: "Goodput", unit: "kb/s, all receivers", paint: "udp", show: plain, tick: plain,
    value: (a, b) => ((b.bytes - a.bytes) * 8) / 1000 / ((b.at - a.at) / 1e6),
  },
  ...(live ? [{
    title: "Border router", unit: "kb/s, in and out", paint: "tcp", show: plain, tick: plain,
    value: (a, b) => ((b.outside - a.outside) * 8) / 1000 / ((b.at - a.at) / 1e6),
  }] : []),
  {
    title: "Queues", unit: "packets, all nodes", paint: "rfrag", show: plain, tick: plain,
    value: (a, b) => (b.queued_s - a.queued_s) / ((b.at - a.at) / 1e6),
  },
  {
    title: "Packet buffer", unit: "bytes, mean of nodes", paint: "first", show: plain, tick: plain,
    value: (a, b) => (b.buffer_s - a.buffer_s) / ((b.at - a.at) / 1e6) / nodes,
  },
];

export class Plots {
  /** `seek` is called with a time that was clicked; without it clicks do nothing. */
  constructor(parent, mesh, seek) {
    this.points = [];
    this.end = mesh.recorded?.duration ?? 0;
    this.plots = PLOTS(mesh.nodes.length, mesh.mode === "live").map((plot) => {
      const value = make("span");
      const canvas = make("canvas", { role: "img", "aria-label": `${plot.title}, ${plot.unit}, over the time of the run` });
      parent.append(make("figure", {}, make("figcaption", {}, plot.title, make("small", {}, plot.unit), value), canvas));
      const full = { ...plot, value, of: plot.value, canvas, bins: [], pointer: null };
      canvas.addEventListener("pointermove", (event) => { full.pointer = event.offsetX; });
      canvas.addEventListener("pointerleave", () => { full.pointer = null; });
      if (seek) canvas.addEventListener("click", (event) => {
        const share = (event.offsetX - LEFT) / (canvas.clientWidth - LEFT - RIGHT);
        seek(Math.min(Math.max(share, 0), 1) * this.end);
      });
      return full;
    });
    this.names = mesh.totals;
    if (mesh.recorded) for (const row of mesh.recorded.history) this.points.push(this.named(row));
    this.bin();
  }

  named(row) {
    return Object.fromEntries(this.names.map((name, i) => [name, row[i]]));
  }

  /** Takes the totals of a mesh that runs. Where they get many, every second one goes. */
  add(totals) {
    const last = this.points.at(-1);
    if (last && totals.at - last.at < 250_000) return;
    this.points.push({ ...totals });
    if (this.points.length > 1600) this.points = this.points.filter((_, i) => i % 2 === 0);
    this.end = totals.at;
    this.bin();
  }

  bin() {
    const { points } = this;
    const step = Math.max(1, Math.ceil((points.length - 1) / BINS));
    for (const plot of this.plots) {
      plot.bins = [];
      for (let i = 0; i + 1 < points.length; i += step) {
        const [a, b] = [points[i], points[Math.min(i + step, points.length - 1)]];
        if (b.at > a.at) plot.bins.push({ from: a.at, until: b.at, value: plot.of(a, b) });
      }
    }
  }

  draw(time) {
    for (const plot of this.plots) this.drawPlot(plot, time);
  }

  drawPlot(plot, time) {
    const { context, width, height } = prepared(plot.canvas);
    const [wide, high] = [width - LEFT - RIGHT, height - TOP - BOTTOM];
    const end = Math.max(this.end, 1);
    const most = plot.most ?? niceAbove(Math.max(...plot.bins.map((bin) => bin.value ?? 0), 0));
    const x = (at) => LEFT + (at / end) * wide;
    const y = (value) => TOP + high * (1 - value / most);
    context.font = "11.5px system-ui, sans-serif";
    context.lineWidth = 1;
    context.textBaseline = "middle";
    for (const tick of [0, most / 2, most]) {
      context.strokeStyle = colour("line");
      context.beginPath();
      context.moveTo(LEFT, y(tick));
      context.lineTo(width - RIGHT, y(tick));
      context.stroke();
      context.fillStyle = colour("muted");
      context.textAlign = "right";
      context.fillText(plot.tick(tick), LEFT - 6, y(tick));
    }
    this.drawTimes(context, x, height, end);
    this.drawLine(context, plot, x, y, time);
    const asked = plot.pointer === null ? null : ((plot.pointer - LEFT) / wide) * end;
    const bin = plot.bins.find(({ from, until }) => from <= (asked ?? time) && (asked ?? time) <= until) ?? plot.bins.at(-1);
    const text = !bin ? "" : bin.value === null ? "–" : plot.show(bin.value);
    const at = asked === null || !bin ? "" : ` at ${clock((bin.from + bin.until) / 2, 0)}`;
    if (plot.value.textContent !== text + at) plot.value.replaceChildren(text, make("small", {}, at));
    for (const [when, name] of [[time, "ink"], [asked, "muted"]]) {
      if (when === null || when < 0 || when > end) continue;
      context.strokeStyle = colour(name);
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(x(when), TOP - 3);
      context.lineTo(x(when), TOP + high);
      context.stroke();
    }
  }

  drawTimes(context, x, height, end) {
    context.fillStyle = colour("muted");
    const step = niceAbove(end / 1e6 / 4, [1, 2, 5, 10, 15, 20, 30, 60]);
    for (let s = 0; s * 1e6 <= end * 1.0001; s += step) {
      const place = x(s * 1e6);
      context.textAlign = s === 0 ? "left" : s * 1e6 > end * 0.96 ? "right" : "center";
      const text = step >= 60 ? `${plain(s / 60)} min` : `${plain(s)} s`;
      context.fillText(s === 0 ? "0" : text, place, height - 7);
    }
  }

  drawLine(context, plot, x, y, time) {
    const paint = colour(plot.paint);
    context.lineJoin = "round";
    // What is still to come is pale.
    for (const [alpha, from, until] of [[0.35, time, Infinity], [1, -Infinity, time]]) {
      context.globalAlpha = alpha;
      context.strokeStyle = paint;
      context.lineWidth = 1.8;
      context.beginPath();
      let drawing = false;
      for (const bin of plot.bins) {
        if (bin.value === null || bin.until < from || bin.from > until) {
          drawing = false;
          continue;
        }
        const middle = (bin.from + bin.until) / 2;
        context[drawing ? "lineTo" : "moveTo"](x(middle), y(bin.value));
        if (!drawing) context.lineTo(x(middle) + 0.01, y(bin.value));
        drawing = true;
      }
      context.stroke();
    }
    context.globalAlpha = 1;
  }
}

/** The least round number that is not below a value. */
function niceAbove(value, steps = [1, 2, 4, 5, 10]) {
  if (!(value > 0)) return 1;
  const power = value > 60 && steps.length > 5 ? 60 : 10 ** Math.floor(Math.log10(value));
  const round = steps.map((step) => step * power).find((step) => step >= value * 0.9999);
  return round ?? niceAbove(value / steps.at(-1), steps) * steps.at(-1);
}
