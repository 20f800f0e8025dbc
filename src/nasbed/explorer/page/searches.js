// Recorded searches over the overview: paths of methods, a time slider that plays, and two runs side by side.

import { byId, element, fill, motionReduced, option, svg } from "./dom.js";
import { announce, attempt } from "./live.js";
import { counted, duration, exact, present, withUnit } from "./numbers.js";
import { doneAt, preparedPaths, standings } from "./paths.js";
import { CATEGORIES } from "./scales.js";
import { SideBySide } from "./side_by_side.js";

const STEPS = 1000;
const PLAY_MS = 9000;
const MOST_DOTS = 1500;
const SIDES = ["sa", "sb"];

/** The part of the page for runs folders. */
export class Searches {
  #paths = null;
  #hidden = new Set();
  #playing = 0;
  #step = STEPS;

  constructor({ source, state, overview, onText }) {
    Object.assign(this, { source, state, overview, onText, root: byId("searches") });
  }

  /** Show which folders there are. */
  async open() {
    this.folders = (await attempt(() => this.source.runs())) ?? [];
    this.root.hidden = !this.folders.length;
    if (!this.folders.length) return;
    this.select = element(
      "select",
      { id: "folder", on: { change: (event) => this.#choose(event.target.value) } },
      option("", "none"),
      ...this.folders.map(({ name, runs, methods }) =>
        option(name, `${name} (${counted(methods.length, "method")}, ${counted(runs, "run")})`),
      ),
    );
    this.body = element("div", { class: "searches-body" });
    fill(
      this.root,
      element(
        "div",
        { class: "bar" },
        element("h2", { id: "searches-title" }, "Searches"),
        element("div", { class: "axis" }, element("label", { for: "folder" }, "Runs"), this.select),
      ),
      this.body,
    );
    await this.refresh(new Set(["s"]));
  }

  /** Bring this part up to date after keys of the view changed. */
  async refresh(changed) {
    if (!this.folders?.length) return;
    if (changed.has("s") || changed.has("b")) await this.#load();
    else if (["t", ...SIDES].some((key) => changed.has(key))) {
      this.#step = this.#stepOfView;
      this.#update();
    }
  }

  /** Stop playing; the time it stopped at becomes part of the view. */
  stop() {
    if (!this.#playing) return;
    cancelAnimationFrame(this.#playing);
    this.#playing = 0;
    this.play.textContent = "Play";
    this.#keepTime();
    this.#update();
  }

  #choose(name) {
    const folder = this.folders.find((each) => each.name === name);
    const moves =
      folder?.shown && folder.benchmark !== this.overview.benchmark.id
        ? { ...this.overview.freshView, b: folder.benchmark, a: null }
        : {};
    this.state.set({ ...moves, s: name || null, t: null, ...Object.fromEntries(SIDES.map((key) => [key, null])) });
  }

  async #load() {
    this.#paths = null;
    this.stop();
    const name = this.state.get("s");
    this.select.value = name ?? "";
    const folder = this.folders.find((each) => each.name === name);
    if (folder && folder.benchmark === this.overview.benchmark.id) {
      const answer = await attempt(() => this.source.paths(name));
      if (this.state.get("s") !== name || folder.benchmark !== this.overview.benchmark.id) return;
      if (answer?.runs.length) this.#paths = preparedPaths(answer);
    }
    this.#step = this.#stepOfView;
    if (this.#paths) this.#build();
    else fill(this.body, ...(folder ? this.#reason(folder) : []));
    this.overview.mark("searches", (scatter) => (this.#paths ? this.#marks(scatter) : []));
  }

  /** Why the runs of a folder are not drawn: none is finished, or they are on another benchmark. */
  #reason({ name, benchmark, runs, shown }) {
    const words = (text) => [element("p", { class: "caption" }, text)];
    if (!runs) return words("No run of this folder is finished.");
    if (!shown)
      return words(
        `These runs are on ${benchmark}, which is not here; get it, then start: nasbed explore ${benchmark} --runs ${name}`,
      );
    if (benchmark === this.overview.benchmark.id) return [];
    return [
      element(
        "p",
        { class: "caption" },
        `These runs are on ${benchmark}. `,
        element(
          "button",
          { type: "button", class: "text", on: { click: () => this.#choose(name) } },
          "Show that benchmark",
        ),
      ),
    ];
  }

  get #time() {
    return (this.#step / STEPS) * this.#paths.end_s;
  }

  get #stepOfView() {
    const step = Number(this.state.get("t") ?? STEPS);
    return Number.isFinite(step) ? Math.max(0, Math.min(STEPS, step)) : STEPS;
  }

  #colour(method) {
    return CATEGORIES[this.#paths.methods.indexOf(method) % CATEGORIES.length];
  }

  // --- controls ------------------------------------------------------------------------------------------------------

  #build() {
    this.slider = element("input", {
      type: "range",
      id: "time",
      min: 0,
      max: STEPS,
      "aria-label": "Time of the searches",
      on: {
        input: (event) => this.#showStep(Number(event.target.value)),
        change: () => this.#keepTime(),
        pointerdown: () => this.stop(),
        keydown: () => this.stop(),
      },
    });
    this.play = element(
      "button",
      { type: "button", id: "play", on: { click: () => (this.#playing ? this.stop() : this.#start()) } },
      "Play",
    );
    this.clock = element("output", { class: "clock" });
    this.table = element("tbody");
    this.pair = new SideBySide(this.#paths, {
      choice: (side) => this.state.get(SIDES[side]),
      choose: (side, index) => this.state.set({ [SIDES[side]]: index }),
      colour: (method) => this.#colour(method),
      details: (text) => this.source.architecture(this.#paths.benchmark, { text }),
      open: this.onText,
    });
    fill(
      this.body,
      element("div", { class: "time" }, this.play, this.slider, this.clock),
      element(
        "table",
        { class: "standings" },
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            ...["method", "runs", "evaluations", "mean incumbent", "best"].map((words, place) =>
              element("th", { scope: "col", class: place ? "number" : "" }, words),
            ),
          ),
        ),
        this.table,
      ),
      element("h3", {}, "Two runs side by side"),
      this.pair.root,
    );
    this.#update();
  }

  #showStep(step) {
    this.#step = step;
    this.#update();
  }

  #keepTime() {
    this.state.set({ t: this.#step >= STEPS ? null : String(this.#step) }, { replace: true });
  }

  #start() {
    if (motionReduced()) return this.#showStep(STEPS);
    const from = this.#step >= STEPS ? 0 : this.#step;
    const began = performance.now();
    this.play.textContent = "Pause";
    const tick = (now) => {
      const step = Math.min(STEPS, Math.round(from + (STEPS * (now - began)) / PLAY_MS));
      this.#showStep(step);
      if (step < STEPS) this.#playing = requestAnimationFrame(tick);
      else this.stop();
    };
    this.#playing = requestAnimationFrame(tick);
    return undefined;
  }

  #update() {
    if (!this.#paths) return;
    const time_s = this.#time;
    const metric = this.overview.benchmark.metrics.find(({ key }) => key === this.#paths.objective);
    const unit = metric?.unit ?? "";
    this.slider.value = this.#step;
    this.slider.setAttribute("aria-valuetext", duration(time_s));
    this.clock.textContent = `${duration(time_s)} of ${duration(this.#paths.end_s)}`;
    fill(
      this.table,
      ...standings(this.#paths, time_s).map(({ method, runs, evaluations, mean, best }) =>
        element(
          "tr",
          {},
          element(
            "th",
            { scope: "row" },
            element(
              "button",
              {
                type: "button",
                class: "chip",
                "aria-pressed": String(!this.#hidden.has(method)),
                vars: { "--chip": this.#colour(method) },
                on: { click: () => this.#toggle(method) },
              },
              method,
            ),
          ),
          ...[exact(runs), exact(evaluations), withUnit(mean, unit), withUnit(best, unit)].map((words) =>
            element("td", { class: "number" }, words),
          ),
        ),
      ),
    );
    this.pair.show(time_s, unit, Boolean(this.#playing));
    this.overview.redraw();
  }

  #toggle(method) {
    if (!this.#hidden.delete(method)) this.#hidden.add(method);
    announce(`${method} ${this.#hidden.has(method) ? "hidden" : "shown"}`);
    this.#update();
  }

  // --- marks ---------------------------------------------------------------------------------------------------------

  #marks(scatter) {
    const time_s = this.#time;
    const marks = [];
    for (const run of this.#paths.runs.filter(({ method }) => !this.#hidden.has(method))) {
      const colour = this.#colour(run.method);
      const done = doneAt(run, time_s);
      const from = Math.max(0, done - Math.floor(MOST_DOTS / this.#paths.runs.length));
      for (let place = from; place < done; place++) {
        const spot = this.#spot(scatter, run, place);
        if (spot)
          marks.push(
            svg("circle", { class: "evaluated", cx: spot[0].toFixed(1), cy: spot[1].toFixed(1), r: 2, fill: colour }),
          );
      }
      const way = run.incumbents
        .filter((place) => place < done)
        .map((place) => this.#spot(scatter, run, place))
        .filter(Boolean);
      if (way.length > 1)
        marks.push(
          svg("path", {
            class: "search-path",
            stroke: colour,
            d: `M${way.map((spot) => spot.map((each) => each.toFixed(1)).join(",")).join("L")}`,
          }),
        );
      if (way.length)
        marks.push(
          svg("circle", { class: "incumbent-mark", cx: way.at(-1)[0], cy: way.at(-1)[1], r: 5, fill: colour }),
        );
    }
    return marks;
  }

  #spot(scatter, run, place) {
    const row = this.#paths.rows[run.architecture[place]];
    return present(row) && row < this.overview.rows ? scatter.at(row) : null;
  }
}
