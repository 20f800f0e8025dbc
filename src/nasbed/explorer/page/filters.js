// Ranges that points must lie in, one a column, each a slider with two thumbs.

import { element, fill } from "./dom.js";
import { present, withUnit } from "./numbers.js";

const STEPS = 500;

/** The filters of a view's text: "key,low,high;key,low,high". */
export function readFilters(text) {
  return (text ?? "")
    .split(";")
    .filter(Boolean)
    .map((part) => {
      const [key, low, high] = part.split(",");
      return { key: decoded(key), low: Number(low), high: Number(high) };
    });
}

function decoded(key) {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** The text of filters, for the view. */
export function writeFilters(filters) {
  return filters.map(({ key, low, high }) => `${encodeURIComponent(key)},${low},${high}`).join(";");
}

/** Which rows lie in all ranges: a 0 or 1 a row. Missing values lie in none. */
export function filterMask(rows, filters, columns) {
  const mask = new Uint8Array(rows).fill(1);
  for (const { key, low, high } of filters) {
    const { values } = columns.get(key);
    for (let row = 0; row < rows; row++) if (!(values[row] >= low && values[row] <= high)) mask[row] = 0;
  }
  return mask;
}

/** Show a slider a filter in `root`. `onChange(filters, isDone)` gets the new ones. */
export function showFilters(root, filters, columns, described, onChange) {
  const others = (filter) => filters.filter((each) => each !== filter);
  fill(
    root,
    ...filters.map((filter) =>
      slider(filter, described.get(filter.key), columns.get(filter.key), {
        change: (range, isDone) =>
          onChange(
            filters.map((each) => (each === filter ? Object.assign(filter, range) : each)),
            isDone,
          ),
        remove: () => onChange(others(filter), true),
      }),
    ),
  );
}

/** The range that holds all values of a column. */
export function fullRange({ values }) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return { low, high };
}

function slider(filter, column, data, { change, remove }) {
  const range = fullRange(data);
  const isWhole = !(data.values instanceof Float32Array);
  const isLog = column.log && range.low > 0;
  const steps = isWhole ? Math.max(1, range.high - range.low) : STEPS;
  const valueAt = (step) =>
    isLog
      ? range.low * (range.high / range.low) ** (step / steps)
      : range.low + ((range.high - range.low) * step) / steps;
  const stepOf = (value) =>
    Math.round(
      steps *
        (isLog
          ? Math.log(value / range.low) / Math.log(range.high / range.low)
          : (value - range.low) / (range.high - range.low || 1)),
    );
  const label = (value) => data.labels?.[value] ?? (isWhole ? String(value) : withUnit(value, column.unit));
  const words = element("output", {});
  const thumbs = ["low", "high"].map((end) =>
    element("input", {
      type: "range",
      min: 0,
      max: steps,
      value: present(filter[end]) ? stepOf(filter[end]) : 0,
      "aria-label": `${end === "low" ? "Lowest" : "Highest"} ${column.title}`,
      on: { input: () => take(end, false), change: () => take(end, true) },
    }),
  );
  const track = element("div", { class: "dual" }, ...thumbs);

  function take(end, isDone) {
    const [low, high] = thumbs.map((thumb) => Number(thumb.value));
    if (low > high) thumbs[end === "low" ? 0 : 1].value = end === "low" ? high : low;
    const ends = thumbs.map((thumb) => Number(thumb.value));
    const outer = (step) => (step === 0 ? range.low : step === steps ? range.high : valueAt(step));
    change({ low: outer(ends[0]), high: outer(ends[1]) }, isDone);
    tell();
  }

  function tell() {
    words.textContent = filter.low === filter.high ? label(filter.low) : `${label(filter.low)} – ${label(filter.high)}`;
    thumbs[0].setAttribute("aria-valuetext", label(filter.low));
    thumbs[1].setAttribute("aria-valuetext", label(filter.high));
    track.style.setProperty("--from", `${(100 * stepOf(filter.low)) / steps}%`);
    track.style.setProperty("--to", `${(100 * stepOf(filter.high)) / steps}%`);
  }

  tell();
  const close = element(
    "button",
    { type: "button", class: "quiet", "aria-label": `Remove the filter by ${column.title}`, on: { click: remove } },
    "×",
  );
  return element(
    "div",
    { class: "filter", role: "group", "aria-label": `Filter by ${column.title}` },
    element("span", {}, column.title),
    track,
    words,
    close,
  );
}
