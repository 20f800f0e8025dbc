// The panel of one architecture: its drawing, values with their noise, costs, ranks, texts and code.

import { curveChart, seedStrip, shareBar } from "./charts.js";
import { drawnCell } from "./cell.js";
import { byId, element, fill } from "./dom.js";
import { announce } from "./live.js";
import { duration, exact, percent, present, short, withUnit } from "./numbers.js";

const UNDRAWN = "There is no drawing of this architecture here.";
const HINT = "Click an operation or an edge to change it.";

/** Shows the details of an architecture. `onSlot(slot, element)` opens a menu of edits, `onText(text)` another one. */
export class ArchitecturePanel {
  #current = null;

  constructor({ onSlot, onText }) {
    Object.assign(this, { root: byId("architecture"), more: byId("details"), onSlot, onText });
    new ResizeObserver(() => this.#current && this.#draw()).observe(this.root);
  }

  /** Show details of an architecture of a benchmark. */
  show(details, benchmark) {
    this.#current = { details, benchmark };
    const metric = benchmark.metrics.find(({ key }) => key === benchmark.objective);
    this.drawing = element("div", { class: "drawing" });
    fill(
      this.root,
      element("h2", { id: "architecture-title" }, "Architecture"),
      this.#headline(details, metric),
      this.drawing,
    );
    this.more.hidden = false;
    fill(
      this.more,
      element("h2", { id: "details-title" }, "Details"),
      ...this.#values(details, benchmark),
      ...this.#curve(details, metric),
      ...this.#proxies(details),
      ...this.#forms(details),
      ...this.#texts(details),
    );
    this.width = 0;
    this.#draw();
    this.root.dataset.text = details.text;
  }

  #draw() {
    const width = Math.floor(this.drawing.clientWidth);
    if (width === this.width) return;
    this.width = width;
    const { details } = this.#current;
    const focused = this.drawing.contains(document.activeElement) ? document.activeElement.dataset.slot : null;
    const isEditable = details.diagram.some(({ nodes, edges }) => [...nodes, ...edges].some(({ edit }) => edit));
    fill(
      this.drawing,
      ...details.diagram.flatMap((diagram) => [
        details.diagram.length > 1 ? element("h3", {}, diagram.title) : null,
        drawnCell(diagram, width, this.onSlot),
      ]),
      isEditable ? element("p", { class: "caption" }, HINT) : null,
      details.diagram.length ? null : element("p", { class: "caption" }, UNDRAWN),
    );
    if (focused) this.focusSlot(focused);
  }

  /** Put the keyboard on a slot of the drawing. */
  focusSlot(slot) {
    this.drawing?.querySelector(`[data-slot="${CSS.escape(slot)}"]`)?.focus();
  }

  #headline(details, metric) {
    const value = details.values[metric.key];
    if (!value) return element("p", { class: "caption" }, "The benchmark holds no value of this architecture.");
    const rank = details.rank[metric.key];
    const noise = present(value.std) ? ` ± ${withUnit(value.std, metric.unit)}` : "";
    const source = details.predicted_by
      ? `, predicted by ${details.predicted_by}`
      : value.predicted
        ? ", predicted"
        : "";
    return element(
      "div",
      { class: "headline" },
      element(
        "p",
        {},
        element("strong", { id: "value" }, withUnit(value.mean, metric.unit)),
        element("span", { class: "noise-text" }, noise),
        element("span", { class: "caption" }, ` ${metric.title}${source}`),
      ),
      rank
        ? element(
            "p",
            { class: "rank" },
            shareBar(rank.percentile, `better than ${percent(rank.percentile)}`),
            element(
              "span",
              {},
              `rank ${exact(rank.rank)} of ${exact(rank.of)} · better than ${percent(rank.percentile)}`,
            ),
          )
        : null,
      value.seeds && value.seeds.length > 1 ? seedStrip(value.seeds, value.mean, value.std, metric.unit) : null,
    );
  }

  #values(details, benchmark) {
    const rows = benchmark.metrics
      .filter(({ key }) => details.values[key])
      .map(({ key, title, unit }) => {
        const { mean, std } = details.values[key];
        const rank = details.rank[key];
        return element(
          "tr",
          {},
          element("th", { scope: "row" }, title),
          element("td", { class: "number" }, withUnit(mean, unit)),
          element("td", { class: "number faint" }, present(std) ? `± ${withUnit(std, unit)}` : ""),
          element("td", { class: "number" }, rank ? exact(rank.rank) : ""),
        );
      });
    const costs = [
      ["parameters", exact(details.parameters)],
      ["multiply-adds", exact(details.multiply_adds)],
      ["training time", duration(details.train_time_s)],
    ].filter(([, words]) => words !== "–");
    const heading = (words, name = "number") => element("th", { scope: "col", class: name }, words);
    return [
      rows.length
        ? element(
            "table",
            {},
            element(
              "thead",
              {},
              element("tr", {}, heading("metric", ""), heading("value"), heading("noise"), heading("rank")),
            ),
            element("tbody", {}, ...rows),
          )
        : null,
      element("dl", {}, ...costs.flatMap(([name, words]) => [element("dt", {}, name), element("dd", {}, words)])),
      details.cost_note ? element("p", { class: "caption" }, details.cost_note) : null,
    ];
  }

  #curve(details, metric) {
    const chart = details.curve && curveChart(details.curve, metric.unit, metric.title);
    return chart ? [element("h3", {}, `${metric.title} by fidelity`), chart] : [];
  }

  #proxies({ proxies }) {
    const scores = Object.entries(proxies ?? {});
    if (!scores.length) return [];
    return [
      element(
        "details",
        {},
        element("summary", {}, `Zero-cost proxies (${scores.length})`),
        element(
          "dl",
          { class: "tight" },
          ...scores.flatMap(([name, score]) => [element("dt", {}, name), element("dd", {}, short(score, 5))]),
        ),
      ),
    ];
  }

  #forms({ isomorphic, text }) {
    const forms = (isomorphic?.forms ?? []).filter((form) => form !== text);
    if (!forms.length) return [];
    const count = isomorphic.count ?? forms.length + 1;
    return [
      element(
        "details",
        {},
        element("summary", {}, `The same network is written in ${exact(count)} ways`),
        element(
          "ul",
          { class: "forms" },
          ...forms.map((form) =>
            element(
              "li",
              {},
              element("button", { type: "button", class: "text", on: { click: () => this.onText(form) } }, form),
            ),
          ),
        ),
      ),
    ];
  }

  #texts(details) {
    const code = details.code_line ? [["Python", details.code_line]] : [];
    const labelled = new Map();
    for (const [name, text] of [...Object.entries(details.notations), ...code]) {
      const known = [...labelled].find(([, other]) => other === text);
      if (known) labelled.delete(known[0]);
      labelled.set(known ? `${known[0]}, ${name}` : name, text);
    }
    return [
      element("h3", {}, "Copy"),
      element(
        "dl",
        { class: "texts" },
        ...[...labelled].flatMap(([name, text]) => [
          element("dt", {}, name),
          element("dd", {}, element("code", {}, text), copyButton(name, text)),
        ]),
      ),
    ];
  }
}

function copyButton(name, text) {
  const button = element(
    "button",
    { type: "button", class: "quiet", "aria-label": `Copy ${name}`, on: { click: copy } },
    "copy",
  );

  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "copied";
      announce(`${name} copied`);
    } catch {
      getSelection().selectAllChildren(button.previousElementSibling);
      button.textContent = "press Ctrl-C";
    }
    setTimeout(() => (button.textContent = "copy"), 1500);
  }

  return button;
}
