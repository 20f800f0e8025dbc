// The same architecture on every table of its space: why one dataset is not enough.

import { shareBar } from "./charts.js";
import { byId, element, fill } from "./dom.js";
import { attempt } from "./live.js";
import { exact, percent, present, withUnit } from "./numbers.js";

/** Shows values and ranks on sibling benchmarks. */
export class Across {
  #ticket = 0;

  constructor({ source, onBenchmark }) {
    Object.assign(this, { source, onBenchmark, root: byId("across") });
  }

  clear() {
    this.#ticket++;
    this.root.hidden = true;
  }

  async show(details, benchmark) {
    const ticket = ++this.#ticket;
    if (!benchmark.siblings.length && !this.source.exported) return;
    const answer = await attempt(() => this.source.across(benchmark.id, details.text));
    if (ticket !== this.#ticket || !answer) return;
    const rows = answer.benchmarks.filter(({ value }) => present(value));
    this.root.hidden = rows.length < 2;
    const unit = benchmark.metrics.find(({ key }) => key === benchmark.objective).unit;
    const ranked = rows.filter(({ percentile }) => present(percentile)).map(({ percentile }) => percentile);
    const spread =
      ranked.length > 1
        ? ` Better than ${percent(Math.min(...ranked))} to ${percent(Math.max(...ranked))} of a table.`
        : "";
    fill(
      this.root,
      element("h2", { id: "across-title" }, "Across datasets"),
      element("p", { class: "caption" }, `The same architecture on ${rows.length} tables.${spread}`),
      element(
        "table",
        { class: "across" },
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            ...["table", "value", "better than", "rank"].map((words, place) =>
              element("th", { scope: "col", class: place === 1 || place === 3 ? "number" : "" }, words),
            ),
          ),
        ),
        element("tbody", {}, ...rows.map((row) => this.#row(row, benchmark, row.unit ?? unit))),
      ),
    );
  }

  #row(row, benchmark, unit) {
    const isHere = row.id === benchmark.id;
    const name =
      isHere || this.source.exported
        ? element("span", {}, row.dataset || row.id)
        : element(
            "button",
            { type: "button", class: "text", title: `Open ${row.id}`, on: { click: () => this.onBenchmark(row.id) } },
            row.dataset || row.id,
          );
    return element(
      "tr",
      { class: isHere ? "here" : "", "data-benchmark": row.id },
      element("th", { scope: "row" }, name),
      element("td", { class: "number" }, withUnit(row.value, unit)),
      element(
        "td",
        {},
        shareBar(row.percentile, `better than ${percent(row.percentile)}`),
        element("span", { class: "percent" }, present(row.percentile) ? percent(row.percentile) : ""),
      ),
      element("td", { class: "number", title: `of ${exact(row.of)}` }, exact(row.rank)),
    );
  }
}
