// Two recorded runs side by side: the value of the incumbent over time, and the cell that it is at the chosen time.

import { drawnCell } from "./cell.js";
import { element, fill, option, svg } from "./dom.js";
import { attempt } from "./live.js";
import { counted, present, withUnit } from "./numbers.js";
import { doneAt, incumbentAt } from "./paths.js";

const WIDTH = 320;
const HEIGHT = 110;
const ROOM = 6;

/** Two runs of `paths`. `view` has `choice(side)` and `choose(side, index)`, `colour(method)`, `details(text)` and
 * `open(text)`. */
export class SideBySide {
  constructor(paths, view) {
    Object.assign(this, { paths, view });
    const other = paths.runs.findIndex(({ method }) => method !== paths.runs[0].method);
    this.sides = [0, other < 0 ? Math.min(1, paths.runs.length - 1) : other].map((fallback, side) =>
      this.#side(side, fallback),
    );
    this.root = element("div", { class: "pair" }, ...this.sides.map(({ root }) => root));
  }

  /** Show both runs at a time. Cells are drawn unless time runs. */
  show(time_s, unit, isPlaying) {
    const runs = this.sides.map(
      (side, place) => this.paths.runs[Number(this.view.choice(place) ?? side.fallback)] ?? this.paths.runs[0],
    );
    const values = runs.flatMap((run) => run.incumbents.map((place) => run.value[place])).filter(present);
    const range = [Math.min(...values), Math.max(...values)];
    this.sides.forEach((side, place) => this.#showSide(side, runs[place], { time_s, unit, isPlaying, range }));
  }

  #side(side, fallback) {
    const label = side === 0 ? "First run" : "Second run";
    const choose = (event) => this.view.choose(side, event.target.value);
    const options = this.paths.runs.map(({ name, index }) => option(String(index), name));
    const select = element("select", { "aria-label": label, on: { change: choose } }, ...options);
    const [chart, words, cell] = [
      element("div"),
      element("p", { class: "caption" }),
      element("div", { class: "incumbent" }),
    ];
    return {
      fallback,
      select,
      chart,
      words,
      cell,
      text: null,
      root: element("div", { class: "side-run" }, select, chart, words, cell),
    };
  }

  #showSide(side, run, { time_s, unit, isPlaying, range }) {
    side.select.value = String(run.index);
    fill(side.chart, this.#chart(run, time_s, range));
    const place = incumbentAt(run, time_s);
    const value = place === null ? "–" : withUnit(run.value[place], unit);
    side.words.textContent = `${counted(doneAt(run, time_s), "evaluation")}, incumbent ${value}`;
    const text = place === null ? "" : this.paths.architectures[run.architecture[place]];
    if (isPlaying || text === side.text) return;
    side.text = text;
    if (text) attempt(() => this.#draw(side, text));
    else fill(side.cell);
  }

  async #draw(side, text) {
    const { diagram } = await this.view.details(text);
    if (side.text !== text) return;
    const open = element(
      "button",
      { type: "button", on: { click: () => this.view.open(text) } },
      "Open this incumbent",
    );
    fill(side.cell, ...diagram.map((cell) => drawnCell(withoutSlots(cell), side.cell.clientWidth, () => {})), open);
  }

  /** The incumbent's value over time, both runs on the same axes. */
  #chart(run, time_s, [low, high]) {
    const x = (time) => ((WIDTH * time) / (this.paths.end_s || 1)).toFixed(1);
    const y = (value) => (ROOM + (HEIGHT - 2 * ROOM) * (1 - (value - low) / (high - low || 1))).toFixed(1);
    const corner = (place, at) =>
      at ? `H${x(run.time_s[place])}V${y(run.value[place])}` : `M${x(run.time_s[place])},${y(run.value[place])}`;
    const stairs = `${run.incumbents.map(corner).join("")}H${x(run.end_s)}`;
    return svg(
      "svg",
      {
        class: "curve",
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        role: "img",
        "aria-label": `Incumbent of ${run.name} over time`,
      },
      svg("path", { class: "frame", d: `M0,0V${HEIGHT}H${WIDTH}` }),
      run.incumbents.length ? svg("path", { class: "line", d: stairs, stroke: this.view.colour(run.method) }) : null,
      svg("line", { class: "now", x1: x(time_s), x2: x(time_s), y1: 0, y2: HEIGHT }),
    );
  }
}

/** A cell that cannot be edited. */
function withoutSlots(cell) {
  const plain = (part) => ({ ...part, edit: null });
  return { ...cell, absent: [], nodes: cell.nodes.map(plain), edges: cell.edges.map(plain) };
}
