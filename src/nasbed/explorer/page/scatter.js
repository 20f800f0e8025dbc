// The picture of all points: binned pixels below, axes and marks above, a brush and a pointer on top.

import { binned, drawAxes, drawMarginals, margins } from "./axes.js";
import { element, fill, svg } from "./dom.js";
import { Raster } from "./raster.js";
import { axisScale, positions } from "./scales.js";

const REACH = 28;
const CLICK = 4;
const MOST_PIXELS = 4e6;
const LARGEST = 2.2;
const RADII = [0.5, 1.1, 1.35, 2.2, 3.3, 4.2];

/** A scatter in `root`. It calls `onPick(row)`, `onHover(row or null)`, `onBrush({x0, x1, y0, y1} or null, isDone)`, and
 * `onChosen(rows)` when other rows are in the filter and the brush. */
export class Scatter {
  #view = null;
  #filter = null;
  #chosen = null;
  #brush = null;
  #pointer = null;
  #frame = 0;
  #dirty = new Set();

  constructor(root, { onPick, onHover, onBrush, onChosen }) {
    Object.assign(this, { root, onPick, onHover, onBrush, onChosen });
    this.context = element("canvas", { class: "layer", "aria-hidden": "true" });
    this.focus = element("canvas", { class: "layer", "aria-hidden": "true" });
    this.axes = svg("g");
    this.marginals = svg("g");
    this.marks = svg("g");
    this.brush = svg("rect", { class: "brush", hidden: true });
    this.frame = svg("g", {}, this.axes, this.marginals);
    this.window = svg("rect", { x: -10, y: -10 });
    const clip = svg("clipPath", { id: "picture" }, this.window);
    this.overlay = svg("g", {}, clip, svg("g", { "clip-path": "url(#picture)" }, this.marks), this.brush);
    fill(
      root,
      svg("svg", { class: "layer back", "aria-hidden": "true" }, this.frame),
      this.context,
      this.focus,
      svg("svg", { class: "layer front", "aria-hidden": "true" }, this.overlay),
    );
    root.addEventListener("pointerdown", (event) => this.#down(event));
    root.addEventListener("pointermove", (event) => this.#move(event));
    root.addEventListener("pointerup", (event) => this.#up(event));
    root.addEventListener("pointercancel", () => (this.#pointer = null));
    root.addEventListener("pointerleave", () => this.#pointer || this.onHover(null));
    new ResizeObserver(() => this.#view && this.#later("all")).observe(root);
  }

  /** Show points: `x`, `y` are `{column, values, labels, title, domain, isLog}`, `colours` of rowColours. */
  show(view) {
    this.#view = view;
    this.root.removeAttribute("aria-busy");
    this.#later("all");
  }

  /** Forget the points, as others are on their way: nothing of them can be chosen. */
  clear() {
    this.#view = this.places = this.#pointer = null;
    this.root.setAttribute("aria-busy", "true");
  }

  /** Which rows pass the filters: a 0 or 1 a row. */
  setFilter(filter) {
    this.#filter = filter;
    this.#later("chosen");
  }

  /** Show a rectangle of values as the brush, or none. */
  setBrush(rectangle) {
    this.#brush = rectangle;
    this.#later("chosen");
  }

  /** A function that draws marks with the help of `place(xValue, yValue)` and `at(row)`; called at each change. */
  setMarks(draw) {
    this.drawMarks = draw;
    this.#later("marks");
  }

  /** The pixel of a pair of values. */
  place(x, y) {
    return [this.x.scale(x), this.y.scale(y)];
  }

  /** The pixel of a row. */
  at(row) {
    return [this.places.x[row], this.places.y[row]];
  }

  #later(what) {
    this.#dirty.add(what);
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      const dirty = this.#dirty;
      this.#dirty = new Set();
      if (!this.#view) return;
      if (dirty.has("all")) this.#layOut();
      if (dirty.has("all") || dirty.has("chosen")) this.#paintChosen();
      this.#paintMarks();
    });
  }

  #layOut() {
    const { width, height } = this.root.getBoundingClientRect();
    const margin = margins(width);
    this.margin = margin;
    this.width = Math.max(40, Math.floor(width - margin.left - margin.right));
    this.height = Math.max(40, Math.floor(height - margin.top - margin.bottom));
    for (const group of [this.frame, this.overlay])
      group.setAttribute("transform", `translate(${margin.left},${margin.top})`);
    this.window.setAttribute("width", this.width + 20);
    this.window.setAttribute("height", this.height + 20);
    const { x, y } = this.#view;
    this.x = { ...x, scale: axisScale(x.domain, x.isLog, this.width, false) };
    this.y = { ...y, scale: axisScale(y.domain, y.isLog, this.height, true) };
    this.places = { x: positions(this.x.scale, x.column, x.values), y: positions(this.y.scale, y.column, y.values) };
    this.bins = { x: binned(this.places.x, this.width), y: binned(this.places.y, this.height) };
    drawAxes(this.axes, this.x, this.y, this.width, this.height);
    this.#sizeCanvases();
    this.#paintContext();
  }

  #sizeCanvases() {
    const ratio = Math.min(devicePixelRatio || 1, Math.sqrt(MOST_PIXELS / (this.width * this.height)));
    const wide = Math.round(this.width * ratio);
    const tall = Math.round(this.height * ratio);
    const count = this.#view.x.values.length;
    const radius = Math.min(pointRadius(count, wide * tall), LARGEST * ratio);
    const opacity = Math.max(0.12, Math.min(0.8, 60 / Math.sqrt(count)));
    this.raster = new Raster(wide, tall, radius, opacity);
    this.scaled =
      ratio === 1
        ? this.places
        : { x: this.places.x.map((place) => place * ratio), y: this.places.y.map((place) => place * ratio) };
    for (const canvas of [this.context, this.focus]) {
      Object.assign(canvas, { width: wide, height: tall });
      canvas.style.setProperty("left", `${this.margin.left}px`);
      canvas.style.setProperty("top", `${this.margin.top}px`);
      canvas.style.setProperty("width", `${this.width}px`);
      canvas.style.setProperty("height", `${this.height}px`);
    }
  }

  #paintContext() {
    const count = this.places.x.length;
    const rows = Uint32Array.from({ length: count }, (_, row) => row);
    const image = this.raster.draw(this.scaled.x, this.scaled.y, rows, new Uint8Array(count), this.#view.faint);
    this.context.getContext("2d").putImageData(image, 0, 0);
  }

  #paintChosen() {
    this.#chosen = this.#choose();
    const { indices, palette } = this.#view.colours;
    const image = this.raster.draw(this.scaled.x, this.scaled.y, this.#chosen, indices, palette);
    this.focus.getContext("2d").putImageData(image, 0, 0);
    drawMarginals(this.marginals, this.bins, this.#chosen, this.width, this.margin);
    this.onChosen(this.#chosen);
    if (!performance.getEntriesByName("first picture").length) performance.mark("first picture");
  }

  /** The rows that are on the picture, in the filter and in the brush. */
  #choose() {
    const { x, y } = this.places;
    const { left, right, top, bottom } = this.#brush
      ? this.#pixels(this.#brush)
      : { left: 0, right: this.width, top: 0, bottom: this.height };
    const filter = this.#filter;
    const rows = new Uint32Array(x.length);
    let count = 0;
    for (let row = 0; row < x.length; row++) {
      if (x[row] >= left && x[row] <= right && y[row] >= top && y[row] <= bottom && filter[row] === 1)
        rows[count++] = row;
    }
    return rows.subarray(0, count);
  }

  #paintMarks() {
    const rectangle = this.#brush && this.#pixels(this.#brush);
    this.brush.toggleAttribute("hidden", !rectangle);
    if (rectangle) {
      const { left, right, top, bottom } = rectangle;
      for (const [name, value] of Object.entries({ x: left, y: top, width: right - left, height: bottom - top }))
        this.brush.setAttribute(name, value);
    }
    fill(this.marks, ...(this.drawMarks?.(this) ?? []));
  }

  #pixels({ x0, x1, y0, y1 }) {
    const [left, bottom] = this.place(x0, y0);
    const [right, top] = this.place(x1, y1);
    const inside = (value, most) => Math.min(most, Math.max(0, value));
    return {
      left: inside(left, this.width),
      right: inside(right, this.width),
      top: inside(top, this.height),
      bottom: inside(bottom, this.height),
    };
  }

  // --- the pointer ---------------------------------------------------------------------------------------------------

  #local(event) {
    const box = this.root.getBoundingClientRect();
    return [event.clientX - box.left - this.margin.left, event.clientY - box.top - this.margin.top];
  }

  #down(event) {
    if (event.button !== 0 || !this.places) return;
    this.#pointer = { from: this.#local(event), brushes: false };
    this.onHover(null);
    this.root.setPointerCapture(event.pointerId);
  }

  #move(event) {
    if (!this.places) return;
    const to = this.#local(event);
    if (!this.#pointer) {
      this.onHover(this.nearest(...to));
      return;
    }
    const { from } = this.#pointer;
    this.#pointer.brushes ||= Math.hypot(to[0] - from[0], to[1] - from[1]) > CLICK;
    if (this.#pointer.brushes) this.onBrush(this.#values(from, to), false);
  }

  #up(event) {
    if (!this.#pointer) return;
    const { from, brushes } = this.#pointer;
    const to = this.#local(event);
    this.#pointer = null;
    if (brushes) this.onBrush(this.#values(from, to), true);
    else {
      const row = this.nearest(...to);
      if (row === null) this.onBrush(null, true);
      else this.onPick(row);
    }
  }

  #values(from, to) {
    const inside = (value, most) => Math.min(most, Math.max(0, value));
    const across = [from[0], to[0]]
      .map((place) => this.x.scale.invert(inside(place, this.width)))
      .sort((one, other) => one - other);
    const along = [from[1], to[1]]
      .map((place) => this.y.scale.invert(inside(place, this.height)))
      .sort((one, other) => one - other);
    return { x0: across[0], x1: across[1], y0: along[0], y1: along[1] };
  }

  /** The chosen row nearest to a pixel, null if none is near. */
  nearest(px, py) {
    const { x, y } = this.places;
    const chosen = this.#chosen;
    let best = REACH * REACH;
    let closest = null;
    for (let at = 0; at < chosen.length; at++) {
      const row = chosen[at];
      const across = x[row] - px;
      const along = y[row] - py;
      const distance = across * across + along * along;
      if (distance < best) {
        best = distance;
        closest = row;
      }
    }
    return closest;
  }
}

/** Points cover a fixed share of the picture, in a radius whose pixels look round. */
function pointRadius(count, pixels) {
  const wanted = Math.sqrt((0.3 * pixels) / (Math.PI * count));
  return RADII.findLast((radius) => radius <= 1.25 * wanted) ?? RADII[0];
}
