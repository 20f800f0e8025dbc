// The overview: which columns are on the axes and in colour, the brush, the filters, the front, and what they choose.

import { byId, svg } from "./dom.js";
import { fullRange, filterMask, readFilters, showFilters, writeFilters } from "./filters.js";
import { showLegend } from "./legend.js";
import { announce, attempt } from "./live.js";
import { counted, exact, present, withUnit } from "./numbers.js";
import { paretoFront } from "./pareto.js";
import { domainOf, isDiscrete, oneColour, rowColours } from "./scales.js";
import { Scatter } from "./scatter.js";
import { fillSelects } from "./selects.js";
import { bestAndMean } from "./summary.js";
import { hideTip, showTip } from "./tip.js";

const FARTHEST = 1e100;
const FRESH = { x: null, y: null, c: null, xs: null, ys: null, f: null, r: null, z: null };

/** The overview of one benchmark at a time. It calls `onPick(row)`; other parts add marks with `mark(name, draw)`. */
export class Overview {
  #marks = new Map();
  #chosen = null;
  #order = null;
  #cursor = null;
  #loading = 0;
  #changed = new Set();
  #front = null;

  constructor(source, state, onPick) {
    Object.assign(this, { source, state, onPick });
    this.columns = new Map();
    this.plot = byId("plot");
    this.scatter = new Scatter(this.plot, {
      onPick: (row) => this.onPick(row),
      onHover: (row) => this.#hover(row),
      onBrush: (rectangle, isDone) => this.#brushed(rectangle, isDone),
      onChosen: (rows) => this.#summarise(rows),
    });
    this.scatter.setMarks((scatter) => [...this.#marks.values()].flatMap((draw) => draw(scatter)));
    this.mark("front", (scatter) => this.#frontMarks(scatter));
    this.mark("cursor", (scatter) => (this.#cursor === null ? [] : [ring(scatter.at(this.#cursor), "cursor", 7)]));
    this.#wire();
  }

  /** Show another benchmark: its description from the source. */
  async open(benchmark) {
    Object.assign(this, {
      benchmark,
      columns: new Map(),
      described: new Map(benchmark.columns.map((column) => [column.key, column])),
    });
    this.#order = null;
    this.#cursor = null;
    this.#chosen = null;
    this.scatter.clear();
    fillSelects(benchmark.columns);
    await this.refresh(new Set(["x", "f", "r"]));
  }

  /** The view that another benchmark starts with. */
  get freshView() {
    return FRESH;
  }

  get yKey() {
    return this.#key("y", this.benchmark.objective);
  }

  get xKey() {
    const costs = this.benchmark.columns.filter(({ kind }) => kind === "cost").map(({ key }) => key);
    const preferred = ["parameters", "multiply_adds", "train_time_s"].find((key) => costs.includes(key)) ?? costs[0];
    return this.#key(
      "x",
      preferred ??
        this.benchmark.columns.find(({ key }) => key !== this.benchmark.objective)?.key ??
        this.benchmark.objective,
    );
  }

  /** Whether the points of the benchmark are here. */
  get isLoaded() {
    return this.columns.has(this.benchmark?.objective);
  }

  /** The row with the best objective. */
  get bestRow() {
    const { values } = this.columns.get(this.benchmark.objective);
    const sign = this.isUp(this.benchmark.objective) ? 1 : -1;
    let best = 0;
    for (let row = 0; row < values.length; row++)
      if (Number.isFinite(values[row]) && !(sign * values[row] <= sign * values[best])) best = row;
    return best;
  }

  /** Whether more is better in a column; null where that has no meaning. */
  isUp(key) {
    const metric = this.benchmark.metrics.find((each) => each.key === key);
    if (metric) return metric.maximise;
    return this.described.get(key)?.kind === "cost" ? false : null;
  }

  /** Bring the picture up to date after keys of the view changed. */
  async refresh(changed) {
    if (!this.benchmark) return;
    if (!["x", "y", "c", "xs", "ys", "f", "r", "z", "p"].some((key) => changed.has(key))) return;
    for (const key of changed) this.#changed.add(key);
    const filters = readFilters(this.state.get("f")).filter(({ key }) => this.described.has(key));
    const colour = this.described.has(this.state.get("c")) ? this.state.get("c") : null;
    const ticket = ++this.#loading;
    const keys = [this.xKey, this.yKey, this.benchmark.objective, colour, ...filters.map(({ key }) => key)].filter(
      Boolean,
    );
    if (!(await attempt(() => this.load(keys))) || ticket !== this.#loading) return;
    this.#showControls(colour, filters);
    this.#filterNow(filters);
    this.scatter.setBrush(this.#brushOfView());
    const isOther = ["x", "y", "c", "xs", "ys", "z", "f"].some((key) => this.#changed.has(key));
    this.#changed.clear();
    if (isOther) this.draw(colour);
    else this.redraw();
  }

  /** Get columns that are not here yet. False if another benchmark was opened meanwhile. */
  async load(keys) {
    const { benchmark } = this;
    const missing = [...new Set(keys)].filter((key) => !this.columns.has(key));
    if (missing.length) {
      const { rows, columns } = await this.source.points(benchmark.id, missing);
      if (benchmark !== this.benchmark) return false;
      this.rows = rows;
      for (const [key, column] of columns) this.columns.set(key, column);
    }
    return true;
  }

  /** Draw all points. */
  draw(colour) {
    const style = getComputedStyle(document.documentElement);
    const of = (name) =>
      style
        .getPropertyValue(name)
        .split(",")
        .map((each) => each.trim());
    const colours = colour
      ? rowColours(this.described.get(colour), this.columns.get(colour), of("--ramp"))
      : oneColour(this.rows, of("--accent")[0]);
    const [only] = readFilters(this.state.get("f"))
      .filter(({ key, low, high }) => key === colour && low === high)
      .map(({ low }) => low);
    showLegend(this.described.get(colour), colours, only, (place) => this.#only(colour, place));
    const faint = oneColour(0, of("--pale")[0]).palette;
    const [xZoom, yZoom] = this.#zoomOfView();
    const all = this.state.get("z") === "all";
    this.scatter.show({
      x: this.#axis(this.xKey, "xs", { zoom: xZoom, all }),
      y: this.#axis(this.yKey, "ys", { zoom: yZoom, all }),
      colours,
      faint,
    });
    this.plot.dataset.points = this.rows;
  }

  /** Draw marks again. */
  redraw() {
    this.scatter.setMarks(this.scatter.drawMarks);
  }

  /** Add or replace marks: `draw(scatter)` returns SVG elements. */
  mark(name, draw) {
    this.#marks.set(name, draw);
    if (this.scatter.places) this.redraw();
  }

  /** The pixel of an architecture's details, null if its values are not known. */
  placeOf(scatter, details) {
    if (present(details.row) && details.row < this.rows) return scatter.at(details.row);
    const value = (key) => details.values[key]?.mean ?? details[key] ?? details.proxies?.[key.replace(/^proxy:/, "")];
    const place = scatter.place(value(this.xKey), value(this.yKey));
    return place.every(Number.isFinite) ? place : null;
  }

  /** Go through the chosen points by value: `step` 1 is the next better one; Infinity the best. */
  moveCursor(step) {
    const rows = this.scatter.places ? this.#ordered() : [];
    if (!rows.length) return;
    const before = this.#cursor === null ? -1 : rows.indexOf(this.#cursor);
    const place =
      before < 0 && Number.isFinite(step) ? rows.length - 1 : Math.min(rows.length - 1, Math.max(0, before + step));
    this.#cursor = rows[place];
    this.redraw();
    announce(`${exact(rows.length - place)} of ${exact(rows.length)}: ${this.#words(this.#cursor)}`);
    this.#showTip(this.#cursor);
  }

  /** Open the architecture that the keyboard points at. */
  openCursor() {
    if (this.#cursor !== null) this.onPick(this.#cursor);
  }

  clearBrush() {
    this.#cursor = null;
    this.#hover(null);
    this.state.set({ r: null });
    this.redraw();
  }

  togglePareto() {
    this.state.set({ p: this.state.get("p") ? null : "1" });
  }

  // --- parts of the view ---------------------------------------------------------------------------------------------

  #key(name, fallback) {
    const key = this.state.get(name);
    return this.described.has(key) ? key : fallback;
  }

  #isLog(key, name) {
    const column = this.described.get(key);
    const choice = this.state.get(name);
    return !isDiscrete(column) && (choice ? choice === "log" : column.log) && fullRange(this.columns.get(key)).high > 0;
  }

  #axis(key, name, range) {
    const column = this.described.get(key);
    const { values, labels } = this.columns.get(key);
    const isLog = this.#isLog(key, name);
    const title = column.unit ? `${column.title} (${column.unit})` : column.title;
    return { column, values, labels, isLog, title, domain: domainOf(column, values, isLog, range) };
  }

  #brushOfView() {
    const numbers = fourNumbers(this.state.get("r"));
    return numbers && { x0: numbers[0], x1: numbers[1], y0: numbers[2], y1: numbers[3] };
  }

  #zoomOfView() {
    const numbers = fourNumbers(this.state.get("z"));
    return numbers ? [numbers.slice(0, 2), numbers.slice(2)] : [null, null];
  }

  #filterNow(filters) {
    this.scatter.setFilter(filterMask(this.rows, filters, this.columns));
  }

  #ordered() {
    if (!this.#order) {
      const { values } = this.columns.get(this.benchmark.objective);
      const sign = this.isUp(this.benchmark.objective) ? 1 : -1;
      this.#order = [...values.keys()]
        .filter((row) => Number.isFinite(values[row]))
        .sort((one, other) => sign * (values[one] - values[other]));
    }
    const isChosen = new Uint8Array(this.rows);
    for (const row of this.#chosen ?? []) isChosen[row] = 1;
    return this.#order.filter((row) => isChosen[row]);
  }

  // --- controls ------------------------------------------------------------------------------------------------------

  #wire() {
    const change = (id, key, more = {}) =>
      byId(id).addEventListener("change", (event) => this.state.set({ [key]: event.target.value, ...more }));
    change("x", "x", { xs: null, z: null, r: null });
    change("y", "y", { ys: null, z: null, r: null });
    change("colour", "c");
    for (const axis of ["x", "y"]) {
      byId(`${axis}-log`).addEventListener("click", () => {
        const isLog = this.#isLog(axis === "x" ? this.xKey : this.yKey, `${axis}s`);
        this.state.set({ [`${axis}s`]: isLog ? "linear" : "log", z: null, r: null });
      });
    }
    byId("front").addEventListener("click", () => this.togglePareto());
    byId("clear").addEventListener("click", () => this.clearBrush());
    byId("zoom").addEventListener("click", () => this.state.set({ z: this.state.get("r"), r: null }));
    byId("whole").addEventListener("click", () => this.state.set({ z: "all", r: null }));
    byId("add-filter").addEventListener("change", (event) =>
      attempt(async () => {
        const key = event.target.value;
        event.target.value = "";
        if (!(await this.load([key]))) return;
        const filters = readFilters(this.state.get("f")).filter((each) => each.key !== key);
        this.state.set({ f: writeFilters([...filters, { key, ...fullRange(this.columns.get(key)) }]) });
      }),
    );
    matchMedia("(prefers-color-scheme: dark)").addEventListener(
      "change",
      () => this.benchmark && this.refresh(new Set(["c"])),
    );
  }

  #showControls(colour, filters) {
    byId("x").value = this.xKey;
    byId("y").value = this.yKey;
    byId("colour").value = colour ?? "";
    for (const [axis, key] of [
      ["x", this.xKey],
      ["y", this.yKey],
    ]) {
      const button = byId(`${axis}-log`);
      button.setAttribute("aria-pressed", String(this.#isLog(key, `${axis}s`)));
      button.disabled = isDiscrete(this.described.get(key));
    }
    const hasFront = this.isUp(this.xKey) !== null && this.isUp(this.yKey) !== null && this.xKey !== this.yKey;
    byId("front").disabled = !hasFront;
    byId("front").setAttribute("aria-pressed", String(hasFront && Boolean(this.state.get("p"))));
    byId("clear").hidden = byId("zoom").hidden = !this.#brushOfView();
    if (writeFilters(filters) !== this.shownFilters) this.#showFilters(filters);
  }

  #showFilters(filters) {
    this.shownFilters = writeFilters(filters);
    showFilters(byId("filters"), filters, this.columns, this.described, (changed, isDone) => {
      this.#filterNow(changed);
      if (!isDone) return;
      if (changed.length === filters.length) this.shownFilters = writeFilters(changed);
      this.state.set({ f: writeFilters(changed) });
    });
  }

  /** Show the points of one category alone; null shows all. */
  #only(key, place) {
    const others = readFilters(this.state.get("f")).filter((each) => each.key !== key);
    this.state.set({ f: writeFilters(place === null ? others : [...others, { key, low: place, high: place }]) });
  }

  // --- what is chosen ------------------------------------------------------------------------------------------------

  #brushed(rectangle, isDone) {
    if (!isDone) {
      this.scatter.setBrush(rectangle);
      return;
    }
    const numbers =
      rectangle &&
      [rectangle.x0, rectangle.x1, rectangle.y0, rectangle.y1].map((value) => Number(value.toPrecision(6)));
    this.state.set({ r: numbers ? numbers.join(",") : null });
  }

  #summarise(rows) {
    this.#chosen = rows;
    this.#front = null;
    const objective = this.described.get(this.benchmark.objective);
    const { best, mean } = bestAndMean(this.columns.get(objective.key).values, rows, this.isUp(objective.key));
    const words =
      rows.length === this.rows
        ? counted(this.rows, "architecture")
        : `${exact(rows.length)} of ${counted(this.rows, "architecture")}`;
    byId("summary").textContent =
      `${words} · ${this.yKey === objective.key ? "" : `${objective.title}: `}best ${withUnit(best, objective.unit)}, mean ${withUnit(mean, objective.unit)}`;
    this.plot.setAttribute(
      "aria-label",
      `${this.described.get(this.yKey).title} against ${this.described.get(this.xKey).title}: ${byId("summary").textContent}`,
    );
    this.plot.dataset.chosen = rows.length;
    byId("whole").hidden = Boolean(this.#brushOfView()) || this.state.get("z") === "all" || !this.#isPartial();
  }

  /** Whether values lie outside of the picture. */
  #isPartial() {
    return ["x", "y"].some((axis) => {
      const [low, high] = this.scatter[axis].domain;
      const range = fullRange(this.columns.get(axis === "x" ? this.xKey : this.yKey));
      return range.low < low || range.high > high;
    });
  }

  #frontMarks(scatter) {
    if (!this.state.get("p") || byId("front").disabled || !this.#chosen) return [];
    this.#front ??= paretoFront(
      this.columns.get(this.xKey).values,
      this.columns.get(this.yKey).values,
      this.#chosen,
      this.isUp(this.xKey),
      this.isUp(this.yKey),
    );
    const places = this.#front.map((row) => scatter.at(row));
    if (!places.length) return [];
    const stairs = places
      .map(([x, y], place) => (place ? `H${x.toFixed(1)}V${y.toFixed(1)}` : `M${x.toFixed(1)},${y.toFixed(1)}`))
      .join("");
    return [svg("path", { class: "front-line", d: stairs }), ...places.map((place) => ring(place, "front-point", 3.5))];
  }

  #hover(row) {
    this.mark("hover", (scatter) => (row === null ? [] : [ring(scatter.at(row), "hover", 6)]));
    this.#showTip(row);
  }

  #showTip(row) {
    if (row === null) return hideTip();
    const [x, y] = this.scatter.at(row);
    const box = this.plot.getBoundingClientRect();
    return showTip(this.#words(row), box.left + this.scatter.margin.left + x, box.top + this.scatter.margin.top + y);
  }

  #words(row) {
    const keys = [
      ...new Set([this.yKey, this.xKey, this.described.has(this.state.get("c")) ? this.state.get("c") : this.yKey]),
    ];
    return keys
      .map((key) => {
        const { values, labels } = this.columns.get(key);
        const { title, unit } = this.described.get(key);
        return `${title} ${labels?.[values[row]] ?? withUnit(values[row], unit)}`;
      })
      .join(" · ");
  }
}

/** The numbers of a rectangle in the view; null where they are none, or too large to be drawn. */
function fourNumbers(text) {
  const numbers = (text ?? "").split(",").map(Number);
  return numbers.length === 4 && numbers.every((number) => Math.abs(number) < FARTHEST) ? numbers : null;
}

/** A circle around a pixel. */
export function ring([x, y], name, radius) {
  return svg("circle", { class: `ring ${name}`, cx: x, cy: y, r: radius });
}
