// Single changes of an architecture: the best listed, those of one slot in a menu, and the walk uphill.

import { byId, element, fill, motionReduced, svg } from "./dom.js";
import { announce, attempt } from "./live.js";
import { openMenu } from "./menu.js";
import { counted, present, signed, withUnit } from "./numbers.js";
import { ring } from "./overview.js";

const LISTED = 8;
const STEP_MS = 650;
const NOT_HERE = "not in this file; nasbed explore opens it";

/** The edits of the architecture that is shown. `onText(text, options)` opens another one. */
export class Edits {
  #answer = null;
  #walk = null;
  #ticket = 0;

  constructor({ source, overview, onText }) {
    Object.assign(this, { source, overview, onText, root: byId("edits") });
  }

  /** Load and list the edits of an architecture. */
  async show(details, benchmark) {
    const ticket = ++this.#ticket;
    this.benchmark = benchmark;
    this.details = details;
    this.metric = benchmark.metrics.find(({ key }) => key === benchmark.objective);
    const answer = await attempt(() => this.source.edits(benchmark.id, details.text));
    if (ticket !== this.#ticket || !answer) return;
    this.#answer = answer;
    if (this.#walk && !this.#walk.steps.some(({ text }) => text === details.text)) {
      this.stop();
      this.#walk = null;
    }
    this.#list(LISTED);
    this.#mark();
  }

  /** Forget everything, as another benchmark is opened. */
  clear() {
    this.#ticket++;
    this.stop();
    this.#answer = this.#walk = null;
    this.root.hidden = true;
    this.overview.mark("edits", () => []);
  }

  /** Open the menu of a slot beside its drawing. */
  menu(slot, anchor) {
    const edits = this.#answer?.edits.filter((each) => each.slot === slot) ?? [];
    if (!edits.length) {
      announce("No single legal change here.");
      return;
    }
    const items = edits.map((edit) => ({
      edit,
      words: edit.to,
      isDisabled: edit.isHere === false,
      name: present(edit.gain) && edit.gain > 0 ? "gains" : "",
      detail: present(edit.value)
        ? `${withUnit(edit.value, this.metric.unit)}  ${signed(edit.gain, this.metric.unit)}`
        : "not in the table",
    }));
    openMenu(anchor, `${edits[0].slot_title}: ${edits[0].from} →`, items, ({ edit }) => this.#take(edit));
  }

  /** Local search step by step: each step is the best single edit. */
  async walkUphill() {
    if (!this.details) return;
    const { benchmark, details } = this;
    const answer = await attempt(() => this.source.uphill(benchmark.id, details.text));
    if (!answer || this.details !== details) return;
    const steps = answer.steps;
    if (steps.length < 2) {
      const words = answer.isCut ? `The best edit is ${NOT_HERE}.` : "No single edit improves it: a local best.";
      announce(words);
      this.#say(words);
      return;
    }
    const end = answer.isCut ? `the next one is ${NOT_HERE}` : "a local best";
    this.#walk = { steps, at: 0, end };
    const ticket = {};
    this.walking = ticket;
    this.remember(details);
    for (let at = 1; at < steps.length; at++) {
      const isShown = !motionReduced() || at === steps.length - 1;
      if (!motionReduced()) await new Promise((resolve) => setTimeout(resolve, STEP_MS));
      if (this.walking !== ticket || this.benchmark !== benchmark) return;
      this.#walk.at = at;
      if (isShown) await this.onText(steps[at].text, { replace: at > 1 && !motionReduced(), isStep: true });
      else if (!present(steps[at].row))
        this.remember(await this.source.architecture(benchmark.id, { text: steps[at].text }));
    }
    announce(`${counted(steps.length - 1, "step")}, ${end}: ${withUnit(steps.at(-1).value, this.metric.unit)}.`);
  }

  /** Stop the walk where it is. */
  stop() {
    this.walking = null;
  }

  #take(edit) {
    this.stop();
    announce(`${edit.slot_title}: ${edit.to}, ${withUnit(edit.value, this.metric.unit)}`);
    this.onText(edit.text, { focusSlot: edit.slot });
  }

  #list(most) {
    const { edits } = this.#answer;
    this.root.hidden = false;
    const known = edits.filter(({ value }) => present(value));
    const widest = Math.max(1e-12, ...known.slice(0, most).map(({ gain }) => Math.abs(gain)));
    fill(
      this.root,
      element(
        "div",
        { class: "bar" },
        element("h2", { id: "edits-title" }, "Single edits"),
        element(
          "button",
          { type: "button", id: "uphill", "aria-keyshortcuts": "u", on: { click: () => this.walkUphill() } },
          "Walk uphill",
        ),
      ),
      element("p", { class: "caption", id: "edits-note" }, this.#note()),
      element("ol", { class: "edits" }, ...edits.slice(0, most).map((edit) => this.#line(edit, widest))),
      edits.length > most
        ? element(
            "button",
            { type: "button", class: "quiet", on: { click: () => this.#list(edits.length) } },
            `Show all ${edits.length}`,
          )
        : null,
      ...this.#steps(),
    );
  }

  /** How many edits improve it, and where their values are from. */
  #note() {
    const { edits, more, predicted_by, value } = this.#answer;
    if (!edits.some((edit) => present(edit.value))) return "No legal edit has a value here.";
    const up = edits.filter(({ gain }) => present(gain) && gain > 0).length;
    const words = `${up} of ${counted(edits.length + (more ?? 0), "legal edit")} ${up === 1 ? "improves" : "improve"} it.`;
    if (!predicted_by) return words;
    return `Values predicted by ${predicted_by}, ${withUnit(value, this.metric.unit)} for this one. ${words}`;
  }

  #line(edit, widest) {
    const gains = present(edit.gain) && edit.gain > 0;
    return element(
      "li",
      {},
      element(
        "button",
        {
          type: "button",
          class: gains ? "edit gains" : "edit",
          "data-slot": edit.slot,
          "data-to": edit.to,
          disabled: edit.isHere === false,
          title: edit.isHere === false ? NOT_HERE : null,
          on: { click: () => this.#take(edit) },
        },
        element("span", { class: "what" }, element("small", {}, edit.slot_title), ` ${edit.from} → ${edit.to}`),
        element("span", { class: "after" }, present(edit.value) ? withUnit(edit.value, this.metric.unit) : "–"),
        element(
          "span",
          { class: "gain", vars: { "--share": `${(100 * Math.abs(edit.gain ?? 0)) / widest}%` } },
          present(edit.gain) ? signed(edit.gain, this.metric.unit) : "",
        ),
      ),
    );
  }

  #steps() {
    if (!this.#walk) return [];
    const { steps, end } = this.#walk;
    const shown = steps.slice(0, this.#walk.at + 1);
    return [
      element("h3", {}, `Uphill: ${counted(steps.length - 1, "step")}, ${end}`),
      element(
        "ol",
        { class: "edits steps", start: 0 },
        ...shown.map((step) => {
          const isHere = step.text === this.details.text;
          return element(
            "li",
            {},
            element(
              "button",
              {
                type: "button",
                class: "edit",
                "aria-current": isHere ? "step" : null,
                on: { click: () => this.onText(step.text) },
              },
              element(
                "span",
                { class: "what" },
                step.slot_title ? [element("small", {}, step.slot_title), ` ${step.from} → ${step.to}`] : "start",
              ),
              element("span", { class: "after" }, withUnit(step.value, this.metric.unit)),
            ),
          );
        }),
      ),
    ];
  }

  #say(words) {
    byId("edits-note").textContent = words;
  }

  /** Mark the neighbours and the walk on the overview. */
  #mark() {
    const rows = this.#answer.edits
      .map(({ row, gain }) => ({ row, gain }))
      .filter(({ row }) => present(row) && row < this.overview.rows);
    const walked = this.#walk ? this.#walk.steps.slice(0, this.#walk.at + 1) : [];
    this.overview.mark("edits", (scatter) => {
      const neighbours = rows.map(({ row, gain }) =>
        ring(scatter.at(row), gain > 0 ? "neighbour gains" : "neighbour", 3),
      );
      const places = walked.map((step) => this.#placeOfStep(scatter, step)).filter(Boolean);
      const path =
        places.length > 1
          ? [
              svg("path", {
                class: "walk",
                d: `M${places.map((place) => place.map((each) => each.toFixed(1)).join(",")).join("L")}`,
              }),
            ]
          : [];
      return [...neighbours, ...path, ...places.map((place) => ring(place, "step", 3.5))];
    });
  }

  #placeOfStep(scatter, step) {
    if (present(step.row)) return scatter.at(step.row);
    return step.place?.(scatter) ?? null;
  }

  /** Remember where a step of the walk lies, from its details. */
  remember(details) {
    const step = this.#walk?.steps.find(({ text }) => text === details.text);
    if (!step) return;
    if (present(details.row)) step.row = details.row;
    else step.place = (scatter) => this.overview.placeOf(scatter, details);
  }
}
