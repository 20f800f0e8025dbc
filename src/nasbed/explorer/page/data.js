// Where answers come from: one interface, from the API of a server or from the data inside an exported page.

import { FixedLayout } from "./fixed_layout.js";
import { exact } from "./numbers.js";
import { unpacked } from "./points.js";

/** The source of this page. */
export async function openSource() {
  const block = document.getElementById("export");
  return block ? new ExportSource(await unzipped(block.textContent)) : new ApiSource();
}

/** Answers of the server that serves the page. */
class ApiSource {
  exported = false;

  benchmarks() {
    return json("api/benchmarks");
  }

  benchmark(id) {
    return json(`api/benchmarks/${id.split("/").map(encodeURIComponent).join("/")}`);
  }

  async points(id, keys) {
    const response = await answered("api/points", { benchmark: id, columns: keys.join(",") });
    return unpacked(await response.arrayBuffer());
  }

  /** `which` is `{row}`, `{text}` or `{random}`. */
  architecture(id, which) {
    return json("api/architecture", { benchmark: id, ...which });
  }

  edits(id, text) {
    return json("api/edits", { benchmark: id, text });
  }

  uphill(id, text) {
    return json("api/uphill", { benchmark: id, text });
  }

  across(id, text) {
    return json("api/across", { benchmark: id, text });
  }

  async runs() {
    return (await json("api/runs")).folders;
  }

  paths(folder) {
    return json("api/runs/paths", { folder });
  }
}

/** Answers from the data that an export holds: the same, for the rows that were written into it. */
class ExportSource {
  exported = true;
  #data;
  #points;
  #aliases = new Map();
  #layout;

  constructor(data) {
    this.#data = data;
    this.#layout = data.fixed ? new FixedLayout({ ...data.fixed, codes: bytes(data.fixed.codes) }) : null;
    this.#points = unpacked(bytes(data.points).buffer);
  }

  async benchmarks() {
    return { benchmarks: [{ ...this.#data.benchmark, default: true }], version: this.#data.version };
  }

  async benchmark() {
    const notes = [this.#data.row_note ?? this.#data.benchmark.sampled, this.#detailsNote].filter(Boolean);
    return { ...this.#data.benchmark, siblings: [], sampled: notes.join("; ") || null };
  }

  async points() {
    return this.#points;
  }

  /** Which rows have all details, in words. */
  get #detailsNote() {
    if (!this.#layout || !this.#data.details_note) return this.#data.details_note;
    return `${exact(Object.keys(this.#data.details).length)} of ${exact(this.#data.texts.length)} architectures have noise, other datasets and notations in this file`;
  }

  async architecture(id, which) {
    if ("text" in which) return this.#details(this.#row(which.text));
    if ("row" in which) return this.#details(which.row);
    const rows = Object.keys(this.#data.details);
    return this.#details(Number(rows[which.random % rows.length]));
  }

  /** Edits as the API lists them; `isHere` says whether the file holds what an edit leads to. */
  async edits(id, text) {
    const row = this.#row(text);
    const answer = this.#data.details[row]?.edits ?? this.#derivedEdits(row);
    for (const edit of answer.edits) if (edit.row !== null) this.#aliases.set(edit.text, edit.row);
    return { ...answer, edits: answer.edits.map((edit) => ({ ...edit, isHere: edit.row !== null })) };
  }

  /** Steps uphill as far as the file holds them; `isCut` where the next one is not in it. */
  async uphill(id, text) {
    let { value, edits, objective } = await this.edits(id, text);
    const steps = [{ text, value, slot: null, slot_title: null, from: null, to: null }];
    while (edits[0]?.gain > 0 && edits[0].isHere) {
      steps.push(edits[0]);
      ({ edits } = await this.edits(id, edits[0].text));
    }
    return { objective, steps, isCut: edits[0]?.gain > 0 };
  }

  async across(id, text) {
    return this.#data.details[this.#row(text)]?.across ?? { benchmarks: [] };
  }

  async runs() {
    return [];
  }

  #row(text) {
    const row = this.#aliases.get(text) ?? this.#data.texts.indexOf(text);
    if (row >= 0) return row;
    const other = Object.entries(this.#data.details).find(
      ([, each]) => each.native === text || Object.values(each.notations).includes(text),
    );
    if (other) return Number(other[0]);
    throw new Error("This file does not hold that architecture; paste one that it shows, or run nasbed explore.");
  }

  /** The details of a row; of a row without them, what the overview knows. */
  #details(row) {
    const details = this.#data.details[row];
    if (details) return details;
    const text = this.#data.texts[row];
    const known = (key) => this.#points.columns.get(key)?.values[row] ?? null;
    const values = Object.fromEntries(
      this.#data.benchmark.metrics.map(({ key }) => [
        key,
        { mean: known(key), std: null, seeds: null, predicted: false },
      ]),
    );
    const costs = Object.fromEntries(["parameters", "multiply_adds", "train_time_s"].map((key) => [key, known(key)]));
    const diagram = this.#layout?.diagram(row) ?? [];
    return {
      text,
      row,
      notations: { text },
      code_line: null,
      values,
      curve: null,
      ...costs,
      rank: this.#rank(row),
      proxies: {},
      isomorphic: { count: null, forms: [] },
      diagram,
    };
  }

  /** The rank of a row's objective, where the file holds all rows of the table. */
  #rank(row) {
    if (this.#data.row_note) return {};
    const { objective } = this.#data.benchmark;
    const values = this.#points.columns.get(objective).values.filter(Number.isFinite);
    const value = this.#points.columns.get(objective).values[row];
    const better = values.filter((other) => this.#sign * (other - value) > 0).length;
    const worse = values.filter((other) => this.#sign * (other - value) < 0).length;
    return Number.isFinite(value)
      ? { [objective]: { rank: better + 1, of: values.length, percentile: (100 * worse) / values.length } }
      : {};
  }

  /** 1 where more of the objective is better, else -1. */
  get #sign() {
    const { objective, metrics } = this.#data.benchmark;
    return metrics.find(({ key }) => key === objective).maximise ? 1 : -1;
  }

  /** The edits of a row without details: those to other rows of this file, best first. */
  #derivedEdits(row) {
    const { objective } = this.#data.benchmark;
    const { values } = this.#points.columns.get(objective);
    const edits = (this.#layout?.edits(row) ?? []).map((edit) => ({
      ...edit,
      text: this.#data.texts[edit.row],
      value: values[edit.row],
      gain: this.#sign * (values[edit.row] - values[row]),
    }));
    return { objective, value: values[row], edits: edits.sort((one, other) => other.gain - one.gain), more: 0 };
  }
}

function bytes(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

async function unzipped(base64) {
  const stream = new Blob([bytes(base64)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

async function json(path, query = {}) {
  return (await answered(path, query)).json();
}

async function answered(path, query) {
  const search = new URLSearchParams(query).toString();
  let response;
  try {
    response = await fetch(search ? `${path}?${search}` : path);
  } catch {
    throw new Error("The server does not answer; start it again with nasbed explore.");
  }
  if (response.ok) return response;
  const { error } = await response.json().catch(() => ({}));
  throw new Error(error ?? `The server answered ${response.status} to ${path}.`);
}
