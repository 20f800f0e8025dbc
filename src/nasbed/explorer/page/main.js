// The page: parts put together around the view in the address.

import { Across } from "./across.js";
import { ArchitecturePanel } from "./architecture.js";
import { openSource } from "./data.js";
import { byId, element, fill, option } from "./dom.js";
import { Edits } from "./edits.js";
import { listenToKeys } from "./keyboard.js";
import { attempt, complain } from "./live.js";
import { closeMenu } from "./menu.js";
import { Overview, ring } from "./overview.js";
import { Searches } from "./searches.js";
import { State } from "./state.js";

const source = await openSource();
const state = new State();
const overview = new Overview(source, state, openRow);
const panel = new ArchitecturePanel({ onSlot: (slot, anchor) => edits.menu(slot, anchor), onText: openText });
const edits = new Edits({ source, overview, onText: openText });
const across = new Across({ source, onBenchmark: (id) => state.set({ ...overview.freshView, b: id }) });
const searches = new Searches({ source, state, overview, onText: openText });
let benchmark = null;
let current = null;
let requests = 0;
let openings = 0;
let isOpening = false;

/** Open the benchmark of the view, the default one of the server if it names none. False if the reader has chosen
 * another one since. Answers on the benchmark before come too late. */
async function openBenchmark() {
  const ticket = ++openings;
  requests++;
  isOpening = true;
  try {
    return await describeAndDraw(() => ticket === openings);
  } finally {
    if (ticket === openings) isOpening = false;
  }
}

async function describeAndDraw(isWanted) {
  const { benchmarks } = await source.benchmarks();
  const id = state.get("b") ?? (benchmarks.find((each) => each.default) ?? benchmarks[0]).id;
  fill(
    byId("benchmark"),
    ...["table", "surrogate"]
      .map((kind) =>
        element(
          "optgroup",
          { label: kind === "table" ? "Tables" : "Surrogates" },
          ...benchmarks.filter((each) => each.kind === kind).map((each) => option(each.id, each.id, each.id === id)),
        ),
      )
      .filter((group) => group.children.length),
  );
  const described = await source.benchmark(id);
  if (!isWanted()) return false;
  benchmark = described;
  isOpening = false;
  document.title = `${benchmark.id} · nasbed explore`;
  byId("benchmark").title = [benchmark.title, benchmark.sampled].filter(Boolean).join(". ");
  byId("note").textContent = benchmark.sampled ?? "";
  current = null;
  edits.clear();
  across.clear();
  await overview.open(benchmark);
  if (!isWanted()) return false;
  document.documentElement.dataset.shown = benchmark.id;
  return true;
}

/** Open an architecture by `{row}`, `{text}` in any notation or `{random}`; it becomes part of the view. Only the last
 * one that was asked for is shown. A walk uphill ends with it, unless this is one of its steps. */
async function open(which, { replace = false, focusSlot = null, isStep = false } = {}) {
  if (!benchmark || isOpening) return;
  complain("");
  if (!isStep) edits.stop();
  const ticket = ++requests;
  const details = await attempt(() => source.architecture(benchmark.id, which));
  if (!details || ticket !== requests) return;
  current = details;
  edits.remember(details);
  state.set({ a: details.text }, { replace });
  await showArchitecture();
  if (focusSlot) panel.focusSlot(focusSlot);
}

function openRow(row) {
  return open({ row });
}

function openText(text, options) {
  return open({ text }, options);
}

/** Show the architecture of the view, the best one of the overview if it names none. */
async function showArchitecture() {
  const text = state.get("a");
  if (!benchmark || !(text || overview.isLoaded)) return;
  const ticket = ++requests;
  const which = text ? { text } : { row: overview.bestRow };
  const details =
    text && current?.text === text ? current : await attempt(() => source.architecture(benchmark.id, which));
  if (!details || ticket !== requests) return;
  current = details;
  panel.show(details, benchmark);
  overview.mark("shown", (scatter) => {
    const place = overview.placeOf(scatter, details);
    return place ? [ring(place, "shown-halo", 9), ring(place, "shown", 6)] : [];
  });
  await Promise.all([edits.show(details, benchmark), across.show(details, benchmark)]);
  byId("architecture").dataset.ready = details.text;
}

function openRandom() {
  return open({ random: Math.floor(Math.random() * 2 ** 31) });
}

/** A link may name a benchmark that is not here: the default one is shown then, and why is said. */
async function withoutUnknownBenchmark() {
  const name = state.get("b");
  const { benchmarks } = await source.benchmarks();
  if (name === undefined || benchmarks.some(({ id }) => id === name)) return "";
  state.set(Object.fromEntries(state.keys.map((key) => [key, null])), { replace: true });
  return `No benchmark is called ${name.slice(0, 80)} here; choose one from the list.`;
}

byId("benchmark").addEventListener("change", (event) => {
  const keeps = benchmark?.siblings.includes(event.target.value);
  state.set({ ...overview.freshView, b: event.target.value, ...(keeps ? {} : { a: null }) });
});
byId("random").addEventListener("click", openRandom);
byId("undo").addEventListener("click", () => state.undo());
byId("paste").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = byId("text").value.trim();
  if (text) openText(text);
});
listenToKeys(overview, {
  undo: () => state.undo(),
  paste: () => byId("text").focus(),
  random: openRandom,
  uphill: () => edits.walkUphill(),
  front: () => overview.togglePareto(),
  drawing: () => document.querySelector(".drawing .slot")?.focus(),
  escape: () => {
    if (closeMenu()) return;
    edits.stop();
    searches.stop();
    overview.clearBrush();
  },
});

const refusal = (await attempt(withoutUnknownBenchmark)) ?? "";
state.listen(async (changed) => {
  byId("undo").disabled = !state.canUndo;
  complain("");
  if (!changed.has("b")) await overview.refresh(changed);
  else if (!(await attempt(openBenchmark))) return;
  if (changed.has("b") || (changed.has("a") && current?.text !== state.get("a"))) await showArchitecture();
  await searches.refresh(changed);
});
if (await attempt(openBenchmark)) {
  if (refusal) complain(refusal);
  await Promise.all([searches.open(), showArchitecture()]);
}
byId("undo").disabled = !state.canUndo;
