// Play and pause, speed, and the slider of time.

import { clock, plain } from "./format.js";

/** The slider's ends as multiples of real time; beyond the right one it goes as fast as it can. */
const [SLOWEST, FASTEST] = [0.001, 1000];
const PLAY = "M5 3l11 7-11 7z";
const PAUSE = "M5 3h4v14H5zM11 3h4v14h-4z";

const ofSlider = (place) => (place >= 100 ? Infinity : SLOWEST * (FASTEST / SLOWEST) ** (place / 99));
const toSlider = (speed) => (speed === Infinity ? 100 : Math.round((99 * Math.log(speed / SLOWEST)) / Math.log(FASTEST / SLOWEST)));

/** Real time and each power of ten have a place of their own; a slider meets them only nearly. */
function rounded(speed) {
  if (speed === Infinity) return speed;
  const power = 10 ** Math.round(Math.log10(speed));
  return Math.abs(speed / power - 1) < 0.08 ? power : Number(speed.toPrecision(2));
}

function told(speed) {
  if (speed === Infinity) return "as fast as possible";
  if (speed === 1) return "real time";
  return speed > 1 ? `${plain(speed)} × real time` : `1/${plain(1 / speed)} of real time`;
}

export class Controls {
  /** `changed` hears which of `playing` and `speed` was changed; `seek` of a time that was chosen. */
  constructor({ duration, speed, changed, seek }) {
    Object.assign(this, { duration, speed, playing: true, changed, seek });
    const find = (id) => document.getElementById(id);
    this.button = find("play");
    this.slider = find("speed");
    this.text = find("speed-text");
    this.clock = find("clock");
    this.time = find("time");
    this.time.max = duration ?? 0;
    if (duration !== null) find("length").textContent = `of ${clock(duration, 1)}`;
    this.button.addEventListener("click", () => this.play(!this.playing));
    this.slider.addEventListener("input", () => this.setSpeed(rounded(ofSlider(Number(this.slider.value)))));
    if (seek) this.time.addEventListener("input", () => seek(Number(this.time.value)));
    document.addEventListener("keydown", (event) => this.key(event));
    this.show();
  }

  play(playing) {
    this.playing = playing;
    this.show();
    this.changed("playing");
  }

  setSpeed(speed) {
    this.speed = speed;
    this.show();
    this.changed("speed");
  }

  /** What another page, or the command line, has changed. */
  told(playing, speed) {
    if (this.playing === playing && this.speed === speed) return;
    Object.assign(this, { playing, speed });
    this.show();
  }

  show() {
    const name = this.playing ? "Pause" : "Play";
    this.button.setAttribute("aria-label", name);
    this.button.title = `${name} (space)`;
    this.button.innerHTML = `<svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path fill="currentColor" d="${this.playing ? PAUSE : PLAY}"/></svg>`;
    this.slider.value = toSlider(this.speed);
    this.text.textContent = told(this.speed);
    this.slider.setAttribute("aria-valuetext", told(this.speed));
  }

  /** Shows the time of the run. */
  tell(time) {
    const digits = this.speed < 0.05 ? 4 : this.speed <= 2 ? 2 : 1;
    this.clock.textContent = clock(time, digits);
    if (this.duration !== null && document.activeElement !== this.time) this.time.value = time;
    if (this.duration !== null) this.time.setAttribute("aria-valuetext", clock(time, 1));
  }

  key(event) {
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLButtonElement || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " ") this.play(!this.playing);
    else if (event.key === "<" || event.key === ",") this.setSpeed(rounded(ofSlider(Math.max(0, toSlider(this.speed) - 4))));
    else if (event.key === ">" || event.key === ".") this.setSpeed(rounded(ofSlider(Math.min(100, toSlider(this.speed) + 4))));
    else return;
    event.preventDefault();
  }
}
