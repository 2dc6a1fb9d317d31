// Numbers and times for people.

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0, useGrouping: true });

export const integer = (value) => grouped.format(value).replaceAll(",", "\u202f");

/** A value with three significant digits at most, but all of its whole part. */
export function plain(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 100 || value === 0) return integer(Math.round(value));
  return String(Number(value.toPrecision(size >= 10 ? 3 : 2)));
}

/** Microseconds as a time of the run, with as many digits as the pace makes sense of. */
export function clock(us, digits = 3) {
  const s = Math.max(us, 0) / 1e6;
  const hours = Math.floor(s / 3600);
  const minutes = Math.floor((s % 3600) / 60);
  const seconds = (s % 60).toFixed(digits);
  if (hours > 0) return `${hours}:${String(minutes).padStart(2, "0")}:${seconds.padStart(digits ? 3 + digits : 2, "0")}`;
  if (minutes > 0) return `${minutes}:${seconds.padStart(digits ? 3 + digits : 2, "0")}`;
  return `${seconds} s`;
}

export const percent = (share) => (Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : "–");

/** Makes an element with attributes and children; `on` gives its listeners. */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** The colours of the style sheet, read again when they change. */
const cache = new Map();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => cache.clear());
export function colour(name) {
  if (!cache.has(name)) cache.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  return cache.get(name);
}

/** Sizes a canvas for the screen and gives its context in CSS pixels, with its width and height. */
export function prepared(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}
