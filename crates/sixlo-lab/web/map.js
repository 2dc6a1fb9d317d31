// The map: nodes and links where they are, and what goes between them.

import { colour, prepared } from "./format.js";
import { KINDS, drawShape } from "./kinds.js";

/** A frame is to be seen for at least so long, in milliseconds of the one who looks. */
const SEEN_MS = 420;
/** So is what happens at a node. */
const MARK_MS = 700;
const FRAMES_MAX = 420;
const MARGIN = 46;

const mix = (a, b, share) => `color-mix(in oklab, ${a} ${Math.round(100 * (1 - share))}%, ${b})`;

export class MapView {
  constructor(canvas, mesh, model, choose) {
    Object.assign(this, { canvas, mesh, model, choose });
    this.hidden = new Set();
    this.selected = null;
    this.hovered = null;
    this.byNumber = new Map(mesh.nodes.map((node) => [node.number, node]));
    this.deepest = Math.max(1, ...mesh.nodes.map((node) => node.hops));
    this.links = mesh.links.map(([a, b]) => {
      const tree = this.byNumber.get(a)?.parent === b || this.byNumber.get(b)?.parent === a;
      return { a, b, tree };
    });
    this.neighbors = new Map(mesh.nodes.map((node) => [node.number, []]));
    for (const { a, b } of this.links) {
      this.neighbors.get(a)?.push(b);
      this.neighbors.get(b)?.push(a);
    }
    this.place();
    this.view = { x: 0, y: 0, zoom: 1 };
    this.listen();
  }

  /** Nodes apart that stand one above the other, as the storeys of a house do. */
  place() {
    const { nodes } = this.mesh;
    const xs = nodes.map((node) => node.x);
    const ys = nodes.map((node) => node.y);
    this.extent = { west: Math.min(...xs), east: Math.max(...xs), south: Math.min(...ys), north: Math.max(...ys) };
    const size = Math.max(this.extent.east - this.extent.west, this.extent.north - this.extent.south, 1);
    const gap = size / Math.max(Math.sqrt(nodes.length) * 2.6, 6);
    this.places = new Map(nodes.map((node) => [node.number, [node.x, node.y]]));
    const all = [...this.places.values()];
    for (let turn = 0; turn < 40; turn++) {
      const cells = new Map();
      const cell = (v) => Math.floor(v / gap);
      all.forEach((place, i) => {
        const key = `${cell(place[0])} ${cell(place[1])}`;
        cells.set(key, [...(cells.get(key) ?? []), i]);
      });
      let moved = false;
      all.forEach((a, i) => {
        for (let cx = -1; cx <= 1; cx++) for (let cy = -1; cy <= 1; cy++) {
          for (const j of cells.get(`${cell(a[0]) + cx} ${cell(a[1]) + cy}`) ?? []) {
            if (j <= i) continue;
            const b = all[j];
            let [dx, dy] = [b[0] - a[0], b[1] - a[1]];
            let distance = Math.hypot(dx, dy);
            if (distance >= gap) continue;
            if (distance < gap / 100) [dx, dy, distance] = [1, 0, 1];
            const way = (gap - Math.min(distance, gap)) / 2 / distance + 0.002;
            a[0] -= dx * way; a[1] -= dy * way;
            b[0] += dx * way; b[1] += dy * way;
            moved = true;
          }
        }
      });
      if (!moved) break;
    }
    this.gap = gap;
    for (const [x, y] of all) {
      this.extent.west = Math.min(this.extent.west, x);
      this.extent.east = Math.max(this.extent.east, x);
      this.extent.south = Math.min(this.extent.south, y);
      this.extent.north = Math.max(this.extent.north, y);
    }
  }

  /** Pixels of a place on the canvas, by the size and the part that is shown. */
  project(width, height) {
    const { west, east, south, north } = this.extent;
    const wide = Math.max(east - west, 0.5);
    const deep = Math.max(north - south, 0.5);
    // Below lies the legend.
    const room = { width: Math.max(width - 2 * MARGIN, 40), height: Math.max(height - 2 * MARGIN - 34, 40) };
    const fit = Math.min(room.width / wide, room.height / deep);
    const scale = fit * this.view.zoom;
    const middle = [(west + east) / 2 + this.view.x, (south + north) / 2 + this.view.y];
    this.scale = scale;
    this.radius = Math.min(Math.max((this.gap * scale) / 2.9, 2.2), 15 + 3 * Math.log2(Math.max(this.view.zoom, 1)));
    return (x, y) => [width / 2 + (x - middle[0]) * scale, (height - 34) / 2 - (y - middle[1]) * scale];
  }

  draw(speed) {
    const { context, width, height } = prepared(this.canvas);
    const to = this.project(width, height);
    this.at = new Map([...this.places].map(([number, [x, y]]) => [number, to(x, y)]));
    this.drawLinks(context);
    this.drawFrames(context, speed);
    this.drawNodes(context);
    this.drawMarks(context, speed);
    this.drawScale(context, width);
    this.drawHover(context, width);
  }

  line(context, a, b) {
    const [from, to] = [this.at.get(a), this.at.get(b)];
    context.moveTo(...from);
    context.lineTo(...to);
  }

  drawLinks(context) {
    const crowded = this.links.length > 3 * this.mesh.nodes.length;
    if (!crowded || this.view.zoom > 1.6) {
      context.beginPath();
      for (const link of this.links) if (!link.tree) this.line(context, link.a, link.b);
      context.strokeStyle = colour("line");
      context.globalAlpha = crowded ? 0.5 : 0.8;
      context.lineWidth = 1;
      context.stroke();
      context.globalAlpha = 1;
    }
    context.beginPath();
    for (const link of this.links) if (link.tree) this.line(context, link.a, link.b);
    context.strokeStyle = colour("faint");
    context.lineWidth = Math.min(Math.max(this.radius / 5, 1), 2.4);
    context.stroke();
    if (this.selected !== null) {
      context.beginPath();
      for (const other of this.neighbors.get(this.selected) ?? []) this.line(context, this.selected, other);
      context.strokeStyle = colour("accent");
      context.globalAlpha = 0.45;
      context.lineWidth = 1.4;
      context.stroke();
      context.globalAlpha = 1;
    }
  }

  /** Frames go from sender to receiver in the time that they are on the air or, where that is too short to be seen, in a moment. */
  drawFrames(context, speed) {
    const trail = (SEEN_MS * 1000) * speed;
    const size = Math.min(Math.max(this.radius * 0.5, 2.6), 6.5);
    const { time } = this.model;
    context.lineCap = "round";
    for (const frame of this.model.framesInSight(trail, FRAMES_MAX)) {
      if (this.hidden.has(frame.kind)) continue;
      const { colour: name, shape } = KINDS[frame.kind];
      const paint = colour(name);
      const life = Math.max(frame.until - frame.from, trail, 1);
      const age = (time - frame.from) / life;
      if (age > 1) continue;
      const from = this.at.get(frame.sender);
      if (!from) continue;
      if (frame.to <= 0) {
        this.drawRing(context, from, age, paint, frame.to < 0);
        continue;
      }
      const to = this.at.get(frame.to);
      if (!to) continue;
      const ease = age < 0.72 ? age / 0.72 : 1;
      const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
      // Both directions of a link side by side.
      const distance = Math.hypot(dx, dy) || 1;
      const aside = Math.min(3, this.radius / 3);
      const [ox, oy] = [(-dy / distance) * aside, (dx / distance) * aside];
      const [x, y] = [from[0] + dx * ease + ox, from[1] + dy * ease + oy];
      const tail = Math.max(0, ease - 0.45);
      const fade = age < 0.72 ? 1 : 1 - (age - 0.72) / 0.28;
      context.globalAlpha = 0.75 * fade;
      context.strokeStyle = paint;
      context.lineWidth = frame.kind === "ack" ? 1.3 : Math.max(size * 0.55, 1.8);
      context.beginPath();
      context.moveTo(from[0] + dx * tail + ox, from[1] + dy * tail + oy);
      context.lineTo(x, y);
      context.stroke();
      context.globalAlpha = fade;
      drawShape(context, shape, x, y, frame.kind === "ack" ? size * 0.8 : size, paint);
      if (frame.fate !== null && age >= 0.72) this.drawLost(context, x, y, size);
    }
    context.globalAlpha = 1;
  }

  drawRing(context, [x, y], age, paint, all) {
    context.globalAlpha = 0.8 * (1 - age);
    context.strokeStyle = paint;
    context.lineWidth = all ? 2 : 1.2;
    context.beginPath();
    context.arc(x, y, this.radius * (1.2 + 2.6 * age), 0, 2 * Math.PI);
    context.stroke();
    context.globalAlpha = 1;
  }

  drawLost(context, x, y, size) {
    const arm = size * 1.25;
    context.lineWidth = Math.max(size * 0.6, 2);
    context.strokeStyle = colour("bad");
    context.beginPath();
    context.moveTo(x - arm, y - arm);
    context.lineTo(x + arm, y + arm);
    context.moveTo(x + arm, y - arm);
    context.lineTo(x - arm, y + arm);
    context.stroke();
  }

  drawNodes(context) {
    const { buffer_bytes: room, nodes } = this.mesh;
    const { radius } = this;
    const [near, far, paper] = [colour("near"), colour("far"), colour("map")];
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (const node of nodes) {
      const [x, y] = this.at.get(node.number);
      const state = this.model.nodes.get(node.number);
      const sink = node.parent === null;
      const r = sink ? radius * 1.3 : radius;
      const share = this.deepest > 1 ? (node.hops - 1) / (this.deepest - 1) : 0;
      context.beginPath();
      context.arc(x, y, r, 0, 2 * Math.PI);
      context.fillStyle = !state.on ? paper : sink ? colour("sink") : mix(near, far, Math.max(share, 0));
      context.fill();
      context.lineWidth = radius > 5 ? 1.2 : 0.8;
      context.strokeStyle = state.on ? colour("map") : colour("bad");
      context.setLineDash(state.on ? [] : [3, 2]);
      context.stroke();
      context.setLineDash([]);
      if (!state.on) this.drawLost(context, x, y, r * 0.4);
      else if (radius >= 4 && state.buffer > 0) {
        // How full its packet buffer is, around it.
        context.beginPath();
        context.arc(x, y, r + 3, -Math.PI / 2, -Math.PI / 2 + 2 * Math.PI * Math.min(state.buffer / room, 1));
        context.lineWidth = 2.6;
        context.strokeStyle = state.buffer > 0.8 * room ? colour("bad") : colour("next");
        context.stroke();
      }
      if (radius >= 8.5 && state.on) {
        context.font = `600 ${Math.round(radius * 0.86)}px system-ui, sans-serif`;
        context.fillStyle = sink ? "#fff" : share < 0.55 ? colour("map") : colour("ink");
        context.fillText(node.number, x, y + 0.5);
      }
      if (node.number === this.selected || node.number === this.hovered) {
        context.beginPath();
        context.arc(x, y, r + 6.5, 0, 2 * Math.PI);
        context.lineWidth = node.number === this.selected ? 2.6 : 1.4;
        context.strokeStyle = colour("accent");
        context.stroke();
      }
    }
  }

  drawMarks(context, speed) {
    const trail = MARK_MS * 1000 * speed;
    const shown = new Set();
    // The latest come first, and of each kind a node shows one.
    for (const { at, node, what } of this.model.marksInSight(trail, 2000)) {
      const place = this.at.get(node);
      const key = 3 * node + what;
      if (what === 0 || what > 2 || !place || shown.has(key)) continue;
      shown.add(key);
      const age = (this.model.time - at) / Math.max(trail, 1);
      context.globalAlpha = 0.9 * (1 - age);
      context.strokeStyle = colour(what === 1 ? "good" : "bad");
      context.lineWidth = 2.4;
      context.beginPath();
      context.arc(place[0], place[1], this.radius * (1.3 + 1.1 * age) + 2, 0, 2 * Math.PI);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  /** A bar as long as a round number of metres. */
  drawScale(context, width) {
    const least = 70 / this.scale;
    const power = 10 ** Math.floor(Math.log10(least));
    const metres = [1, 2, 5, 10].map((step) => step * power).find((step) => step >= least);
    const [right, y] = [width - 16, 22];
    const left = right - metres * this.scale;
    context.strokeStyle = context.fillStyle = colour("muted");
    context.lineWidth = 1.4;
    context.beginPath();
    context.moveTo(left, y - 4);
    context.lineTo(left, y + 4);
    context.moveTo(left, y);
    context.lineTo(right, y);
    context.moveTo(right, y - 4);
    context.lineTo(right, y + 4);
    context.stroke();
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText(`${Number(metres.toPrecision(1))} m`, left - 7, y);
  }

  drawHover(context, width) {
    const node = this.byNumber.get(this.hovered);
    if (!node || this.hovered === this.selected) return;
    const state = this.model.nodes.get(node.number);
    const text = `${nodeName(node)} · ${node.parent === null ? "sink" : `${node.hops} hop${node.hops === 1 ? "" : "s"}`} · `
      + (state.on ? `${state.buffer ?? 0} bytes buffered, ${state.queued ?? 0} waiting` : "off");
    context.font = "13px system-ui, sans-serif";
    const wide = context.measureText(text).width + 16;
    let [x, y] = this.at.get(node.number);
    x = Math.min(Math.max(x - wide / 2, 6), width - wide - 6);
    y = y - this.radius - 40 < 4 ? y + this.radius + 14 : y - this.radius - 40;
    context.fillStyle = colour("paper");
    context.strokeStyle = colour("faint");
    context.lineWidth = 1;
    context.beginPath();
    context.roundRect(x, y, wide, 26, 7);
    context.fill();
    context.stroke();
    context.fillStyle = colour("ink");
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillText(text, x + 8, y + 13.5);
  }

  nodeAt(x, y) {
    let [best, least] = [null, Math.max(this.radius * 1.5, 9)];
    for (const [number, [nx, ny]] of this.at ?? []) {
      const distance = Math.hypot(nx - x, ny - y);
      if (distance < least) [best, least] = [number, distance];
    }
    return best;
  }

  select(number) {
    this.selected = number;
    this.choose(number);
  }

  zoomBy(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const before = this.view.zoom;
    this.view.zoom = Math.min(Math.max(before * factor, 1), 40);
    const grown = this.view.zoom / before;
    // The place under the pointer stays there.
    const [dx, dy] = [x - this.canvas.clientWidth / 2, y - (this.canvas.clientHeight - 34) / 2];
    this.view.x += (dx / this.scale) * (1 - 1 / grown);
    this.view.y -= (dy / this.scale) * (1 - 1 / grown);
    if (this.view.zoom === 1) this.fit();
  }

  fit() {
    this.view = { x: 0, y: 0, zoom: 1 };
  }

  listen() {
    const { canvas } = this;
    let drag = null;
    const place = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", (event) => {
      drag = { at: place(event), moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const at = place(event);
      if (!drag) {
        this.hovered = this.nodeAt(...at);
        canvas.style.cursor = this.hovered === null ? "grab" : "pointer";
        return;
      }
      const [dx, dy] = [at[0] - drag.at[0], at[1] - drag.at[1]];
      if (!drag.moved && Math.hypot(dx, dy) < 4) return;
      drag = { at, moved: true };
      this.view.x -= dx / this.scale;
      this.view.y += dy / this.scale;
    });
    canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved) this.select(this.nodeAt(...place(event)));
      drag = null;
    });
    canvas.addEventListener("pointercancel", () => { drag = null; });
    canvas.addEventListener("pointerleave", () => { this.hovered = null; });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoomBy(Math.exp(-event.deltaY / 400), ...place(event));
    }, { passive: false });
    canvas.addEventListener("dblclick", () => this.fit());
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (ways[event.key]) this.step(ways[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoomBy(1.4);
    else if (event.key === "-") this.zoomBy(1 / 1.4);
    else if (event.key === "0") this.fit();
    else if (event.key === "Escape") this.select(null);
    else return;
    event.preventDefault();
  }

  /** Chooses the next node in a direction. */
  step([wx, wy]) {
    const start = this.at.get(this.selected);
    if (!start) {
      this.select(this.mesh.nodes[0].number);
      return;
    }
    let [best, least] = [null, Infinity];
    for (const [number, [x, y]] of this.at) {
      const [dx, dy] = [x - start[0], y - start[1]];
      const along = dx * wx + dy * wy;
      const across = Math.abs(dx * wy) + Math.abs(dy * wx);
      const cost = along + 2 * across;
      if (along > 0.5 && along > across / 2 && cost < least) [best, least] = [number, cost];
    }
    if (best !== null) this.select(best);
  }
}

export const nodeName = (node) =>
  node.name === String(node.number) ? `Node ${node.number}` : `Node ${node.number} (${node.name})`;
