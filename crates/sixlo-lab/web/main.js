// Puts the page together and lets time pass.

import { Controls } from "./controls.js";
import { integer, make, percent } from "./format.js";
import { KINDS, shapeImage } from "./kinds.js";
import { Live } from "./live.js";
import { MapView } from "./map.js";
import { Model } from "./model.js";
import { Panel } from "./panel.js";
import { Plots } from "./plots.js";
import { Replay } from "./replay.js";

const find = (id) => document.getElementById(id);

/** The legend shows a kind once a frame of it was on the air; a press hides it or shows it again. */
class Legend {
  constructor(root, map) {
    this.root = root;
    this.map = map;
    this.shown = new Set();
  }

  update(seen) {
    for (const kind of seen.keys()) this.shown.add(kind);
    if (this.shown.size === this.root.childElementCount) return;
    const kinds = Object.keys(KINDS).filter((kind) => this.shown.has(kind));
    this.root.replaceChildren(...kinds.map((kind) => {
      const { label, colour, shape } = KINDS[kind];
      const button = make("button", { type: "button", "aria-pressed": !this.map.hidden.has(kind), title: "Hide or show" }, shapeImage(shape, colour), label);
      button.addEventListener("click", () => {
        const hide = !this.map.hidden.has(kind);
        this.map.hidden[hide ? "add" : "delete"](kind);
        button.setAttribute("aria-pressed", String(!hide));
      });
      return button;
    }));
  }
}

/** The mesh until now, in four numbers. */
class Facts {
  constructor(root) {
    this.cells = ["delivered", "sent", "lost", "frames on the air"].map((name) => {
      const value = make("dd");
      root.append(make("div", {}, make("dt", {}, name), value));
      return value;
    });
  }

  update({ sent, delivered, lost, frames }) {
    const texts = [percent(delivered / (delivered + lost)), integer(sent), integer(lost), integer(frames)];
    this.cells.forEach((cell, i) => {
      if (cell.textContent !== texts[i]) cell.textContent = texts[i];
    });
  }
}

async function start() {
  const mesh = await fetch("/mesh").then((answer) => {
    if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
    return answer.json();
  });
  document.title = `${mesh.title} · sixlo`;
  document.body.classList.add(mesh.mode);
  find("title").textContent = mesh.title;
  find("run").textContent = `${mesh.nodes.length} nodes · ${mesh.run}`;

  const model = new Model(mesh);
  const live = mesh.mode === "live";
  const source = live ? new Live(mesh, model) : new Replay(mesh, model);
  const seek = live ? null : (time) => source.seek(time);
  const controls = new Controls({
    duration: source.duration,
    speed: 1,
    changed: (what) => {
      if (live) source.steer(what, controls);
      // At the end it begins anew.
      else if (controls.playing && model.time >= source.duration) source.seek(0);
    },
    seek,
  });
  let panel = null;
  const map = new MapView(find("map"), mesh, model, (number) => panel.show(number));
  panel = new Panel(find("panel"), mesh, model, source, (number) => map.select(number));
  const plots = new Plots(find("plots"), mesh, seek);
  if (live) source.heard = (asked) => {
    plots.add(source.totals);
    if (!asked) controls.told(!source.clock.paused, source.clock.speed);
  };
  const legend = new Legend(find("legend"), map);
  const facts = new Facts(find("facts"));
  find("zoom-in").addEventListener("click", () => map.zoomBy(1.5));
  find("zoom-out").addEventListener("click", () => map.zoomBy(1 / 1.5));
  find("zoom-fit").addEventListener("click", () => map.fit());

  let before = performance.now();
  const turn = (now) => {
    // After a while in the background time goes on from where it was.
    const passed = Math.min(now - before, 250);
    before = now;
    const by = !controls.playing || passed === 0 ? 0 : passed * 1000 * controls.speed;
    const flows = source.advance(by, performance.now() + 10);
    const wrong = source.error ? `no answer: ${source.error.message}` : source.refused;
    find("status").textContent = wrong || (flows ? source.state?.() ?? "" : "loading");
    find("status").classList.toggle("bad", Boolean(wrong));
    if (!live && controls.playing && model.time >= source.duration) controls.play(false);
    map.draw(Math.min(controls.speed, 1000));
    plots.draw(model.time);
    legend.update(model.seen);
    facts.update(model.totals);
    panel.update(now);
    controls.tell(model.time);
    requestAnimationFrame(turn);
  };
  requestAnimationFrame(turn);
  // For tests, and for the curious.
  window.sixlo = { mesh, model, source, controls, map };
}

start().catch((error) => {
  find("status").textContent = `This page cannot be shown: ${error.message}`;
  find("status").classList.add("bad");
});
