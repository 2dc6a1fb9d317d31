// What is known of one node: its tables, its counters, and what it did last.

import { clock, integer, make } from "./format.js";
import { nodeName } from "./map.js";

/** What a node holds, and what it has counted: the column of the mesh, what it is called, and its unit. */
const HOLDS = [
  ["buffer", "Packet buffer", "bytes"],
  ["queued", "Waiting for the radio", "packets"],
  ["reassemblies", "Being put together", "datagrams"],
  ["forwards", "Forwarded by fragment", "datagrams"],
  ["transfers", "Sent with recovery", "datagrams"],
];
const COUNTED = [
  ["sent", "Sent here", "datagrams"],
  ["arrived", "of these arrived", ""],
  ["lost", "of these lost", ""],
  ["delivered", "Delivered here", "datagrams"],
  ["bytes", "Delivered here", "bytes"],
  ["frames", "Frames sent", ""],
  ["acks", "ACKs sent", ""],
  ["received", "Frames received", ""],
  ["missed", "Frames missed", ""],
  ["given_up", "Frames given up", ""],
  ["dropped", "Dropped by the stack", ""],
];

export class Panel {
  constructor(root, mesh, model, source, choose) {
    Object.assign(this, { root, mesh, model, source, choose });
    this.byNumber = new Map(mesh.nodes.map((node) => [node.number, node]));
    this.number = null;
    this.asked = -1;
    this.shownAt = -1;
    this.empty();
  }

  empty() {
    this.number = null;
    const list = make("datalist", { id: "nodes" }, ...this.mesh.nodes.map((node) => make("option", { value: node.number }, nodeName(node))));
    const input = make("input", { type: "text", id: "find", list: "nodes", inputmode: "numeric", placeholder: "number or name" });
    input.addEventListener("change", () => {
      const wanted = input.value.trim().toLowerCase();
      const found = this.mesh.nodes.find((node) => String(node.number) === wanted || node.name.toLowerCase() === wanted);
      if (found) this.choose(found.number);
    });
    this.root.replaceChildren(
      make("h2", {}, "Nodes"),
      make("p", { class: "hint" }, "Choose one on the map to see its tables and counters."),
      make("label", { class: "find" }, "Find", input), list,
      this.overview(),
    );
  }

  /** The nodes that lost most, for a start. */
  overview() {
    this.rows = make("tbody");
    return make("div", {}, make("h3", {}, "Most frames missed"),
      make("table", {}, make("thead", {}, make("tr", {},
        make("th", {}, "Node"), ...["hops", "missed", "given up", "dropped"].map((name) => make("td", {}, name)))), this.rows));
  }

  show(number) {
    this.number = number;
    this.asked = this.shownAt = -1;
    if (number === null) {
      this.empty();
      return;
    }
    const node = this.byNumber.get(number);
    const close = make("button", { type: "button", "aria-label": "Close", title: "Close (Escape)", on: { click: () => this.choose(null) } }, "×");
    this.state = make("span", { class: "off" });
    this.holds = cells(HOLDS);
    this.counted = cells(COUNTED);
    this.commands = make("div", { class: "commands" });
    this.detail = make("div");
    const way = node.parent === null ? "the sink" : `${node.hops} hop${node.hops === 1 ? "" : "s"}, parent `;
    this.root.replaceChildren(
      make("h2", {}, nodeName(node), make("small", {}, way, node.parent === null ? null : this.link(node.parent), " ", this.state), close),
      this.commands,
      make("h3", {}, "Holds"), table(HOLDS, this.holds),
      make("h3", {}, "Counters"), table(COUNTED, this.counted),
      this.detail,
    );
    this.showCommands = this.source.commands?.(number, this.commands, this.neighborsOf(number)) ?? (() => {});
  }

  /** The parent and the children of a node, then the others that it hears. */
  neighborsOf(number) {
    const isRoute = (other) => this.byNumber.get(other).parent === number || this.byNumber.get(number).parent === other;
    const all = this.mesh.links.filter((link) => link.includes(number)).map(([a, b]) => (a === number ? b : a));
    return all.sort((a, b) => isRoute(b) - isRoute(a) || a - b);
  }

  link(number) {
    return make("button", { type: "button", class: "link", on: { click: () => this.choose(number) } }, String(number));
  }

  /** Shows what has changed; asks for the tables when time has gone on for a while. */
  update(now) {
    if (this.number === null) {
      if (!(now - this.listed < 500)) this.list(now);
      return;
    }
    const state = this.model.nodes.get(this.number);
    this.state.textContent = state.on ? "" : "off";
    this.showCommands();
    for (const [key, cell] of [...this.holds, ...this.counted]) {
      const text = integer(state[key] ?? 0);
      if (cell.textContent !== text) cell.textContent = text;
    }
    if (this.model.time !== this.shownAt && now - this.asked > 500) {
      this.asked = now;
      this.shownAt = this.model.time;
      const number = this.number;
      this.source.node(number).then((detail) => {
        if (detail && this.number === number) this.tables(detail);
      }).catch(() => {});
    }
  }

  list(now) {
    this.listed = now;
    const worst = [...this.model.nodes.values()].filter((node) => node.missed > 0)
      .sort((a, b) => b.missed - a.missed || a.node - b.node).slice(0, 8);
    this.rows.replaceChildren(...worst.map((node) => make("tr", {},
      make("th", {}, this.link(node.node)),
      ...[this.byNumber.get(node.node).hops, node.missed, node.given_up, node.dropped].map((value) => make("td", {}, integer(value))))));
    if (worst.length === 0) this.rows.replaceChildren(make("tr", {}, make("th", { colspan: 5 }, "none so far")));
  }

  tables(detail) {
    const reasons = (title, rows) => (rows.length === 0 ? [] : [make("h3", {}, title), make("table", {}, make("tbody", {},
      ...rows.map(([name, count]) => make("tr", {}, make("th", {}, name), make("td", {}, integer(count))))))]);
    const neighbors = detail.neighbors.map((neighbor) => make("tr", {},
      make("th", {}, this.link(neighbor.node)), share(neighbor.to), share(neighbor.from)));
    const log = make("ol", { class: "log", tabindex: "0", "aria-label": "What the node did last, the latest first" },
      ...detail.log.reverse().map(([at, text, good]) => make("li", {},
        make("time", {}, clock(at, 4)), make("span", { class: ["bad", "", "good"][good + 1] }, text))));
    const scrolled = this.detail.querySelector(".log")?.scrollTop ?? 0;
    this.detail.replaceChildren(
      ...(neighbors.length === 0 ? [] : [make("h3", {}, "Neighbours: frames that arrived"), make("table", {},
        make("thead", {}, make("tr", {}, make("th", {}, "Node"), make("th", { class: "words" }, "to it"), make("th", { class: "words" }, "from it"))),
        make("tbody", {}, ...neighbors))]),
      ...(detail.routes.length === 0 ? [] : [make("h3", {}, "Routes"), make("table", {}, make("tbody", {},
        ...detail.routes.slice(0, 40).map(([to, via]) => make("tr", {},
          make("th", {}, to === "::/0" ? "default" : to), make("td", {}, "via ", this.link(via))))))]),
      ...reasons("Frames missed, by cause", detail.misses),
      ...reasons("Dropped by the stack, by reason", detail.drops),
      ...(detail.log.length === 0 ? [] : [make("h3", {}, "Last events"), log]),
    );
    log.scrollTop = scrolled;
  }
}

function cells(rows) {
  return new Map(rows.map(([key]) => [key, make("td")]));
}

function table(rows, into) {
  const row = ([key, label, unit]) => make("tr", {}, make("th", {}, unit && !label.startsWith("of ") ? `${label} (${unit})` : label), into.get(key));
  return make("table", {}, make("tbody", {}, ...rows.map(row)));
}

/** So many of so many frames, with a bar. */
function share([frames, arrived]) {
  if (frames === 0) return make("td", { class: "words" }, "–");
  const part = arrived / frames;
  const fill = make("i", { class: part < 0.75 ? "poor" : part < 0.92 ? "fair" : "" });
  fill.style.width = `${100 * part}%`;
  return make("td", { class: "words" }, make("span", { class: "bar", "aria-hidden": "true" }, fill), `${integer(arrived)} of ${integer(frames)}`);
}
