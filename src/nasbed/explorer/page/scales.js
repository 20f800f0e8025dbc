// How values become places on the picture and colours.

import { extent, quantileSorted, scaleLinear, scaleLog } from "./vendor/d3.js";
import { short } from "./numbers.js";

const DISCRETE = new Set(["operation", "shape", "choice", "method"]);
const MOST_TICKS = 8;
const MOST_SPREAD = 256;
const TAIL = 0.05;

/** Categories in Okabe and Ito's colours, as in all figures of nasbed; then Tol's muted ones, for many methods. */
export const CATEGORIES = [
  "#0072b2",
  "#d55e00",
  "#009e73",
  "#cc79a7",
  "#e69f00",
  "#56b4e9",
  "#8a8f98",
  "#882255",
  "#44aa99",
  "#999933",
  "#6a5acd",
  "#aa4499",
  "#117733",
  "#ddcc77",
  "#a0522d",
];

/** Whether the values of a column are few whole numbers, which would lie on top of one another. */
export function isDiscrete(column) {
  return DISCRETE.has(column.kind);
}

/** The range of a column on an axis, a little wider than its values; `zoom` replaces it. Where a few values far from the
 * rest would take half of the axis of a metric, the range begins or ends without them, unless `all` are wanted. */
export function domainOf(column, values, isLog, { zoom = null, all = false } = {}) {
  if (zoom) return zoom;
  if (isDiscrete(column)) {
    const [low, high] = extent(values);
    return [low - 0.5, high + 0.5];
  }
  const shown = isLog ? values.filter((value) => value > 0) : values;
  let [low, high] = extent(shown);
  if (low === undefined) return isLog ? [1, 10] : [0, 1];
  if (column.kind === "metric" && !isLog && !all) [low, high] = withoutTails(shown, low, high);
  if (low === high) [low, high] = isLog ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
  const room = 0.03;
  if (!isLog) return [low - room * (high - low), high + room * (high - low)];
  const factor = (high / low) ** room;
  return [low / factor, high * factor];
}

/** A scale of d3 from a domain to pixels. */
export function axisScale(domain, isLog, length, isVertical) {
  return (isLog ? scaleLog() : scaleLinear()).domain(domain).range(isVertical ? [length, 0] : [0, length]);
}

/** The ticks of a scale: values with labels that are some pixels apart; those of labelled columns have their names. */
export function axisTicks(scale, column, labels, apart) {
  const [from, to] = scale.range();
  const wanted = Math.max(3, Math.min(MOST_TICKS, Math.floor(Math.abs(to - from) / (1.6 * apart))));
  const [low, high] = scale.domain();
  if (isDiscrete(column)) {
    const whole = scaleLinear()
      .domain([low, high])
      .ticks(Math.min(12, high - low))
      .filter(Number.isInteger);
    return whole
      .filter((value) => !labels || labels[value] !== undefined)
      .map((value) => ({ value, label: labels ? labels[value] : String(value) }));
  }
  const ticks = scale.ticks(wanted);
  const labelled = [];
  for (const value of [...ticks].sort((one, other) => roundness(one) - roundness(other))) {
    if (labelled.every((other) => Math.abs(scale(other) - scale(value)) >= apart)) labelled.push(value);
  }
  return ticks.map((value) => ({ value, label: labelled.includes(value) ? short(value) : "" }));
}

/** The pixel of every value. Rows with the same value spread a little, always alike, so that their number shows. */
export function positions(scale, column, values) {
  const places = new Float32Array(values.length);
  const spreads = spreadOf(scale, column, values);
  for (let row = 0; row < values.length; row++) {
    const place = scale(values[row]) + (spreads ? spreads.get(values[row]) * (2 * noise(row) - 1) : 0);
    places[row] = Number.isFinite(place) ? place : -1e4;
  }
  return places;
}

/** How far the rows of each value may spread, where values are few: never as far as the next value. */
function spreadOf(scale, column, values) {
  const distinct = new Set();
  for (const value of values) {
    distinct.add(value);
    if (distinct.size > MOST_SPREAD || distinct.size > values.length / 4) return null;
  }
  const sorted = [...distinct].filter((value) => Number.isFinite(scale(value))).sort((one, other) => one - other);
  const most = isDiscrete(column) ? Infinity : 7;
  return new Map(
    sorted.map((value, place) => {
      const gaps = [sorted[place - 1], sorted[place + 1]]
        .filter((other) => other !== undefined)
        .map((other) => Math.abs(scale(other) - scale(value)));
      return [value, Math.min(most, 0.42 * Math.min(...gaps, 60))];
    }),
  );
}

/** One colour for all rows. */
export function oneColour(rows, colour) {
  return { indices: new Uint8Array(rows), palette: rgb([colour]) };
}

/** Colours of rows: `{indices, palette, low, high}` for numbers along a ramp, `{indices, palette, labels}` for names. */
export function rowColours(column, { values, labels }, steps) {
  const indices = new Uint8Array(values.length);
  if (labels) {
    for (let row = 0; row < values.length; row++) indices[row] = values[row] % CATEGORIES.length;
    return { indices, palette: rgb(CATEGORIES), labels };
  }
  const sorted = Float64Array.from(values).filter(Number.isFinite).sort();
  const isWide = !isDiscrete(column);
  const low = quantileSorted(sorted, isWide ? 0.02 : 0) ?? 0;
  const high = quantileSorted(sorted, isWide ? 0.98 : 1) ?? 1;
  const isLog = column.log && low > 0;
  const place = (isLog ? scaleLog() : scaleLinear())
    .domain([low, high > low ? high : low + 1])
    .range([0, 254])
    .clamp(true);
  for (let row = 0; row < values.length; row++)
    indices[row] = Number.isFinite(values[row]) ? Math.round(place(values[row])) : 255;
  const ramp = scaleLinear()
    .domain(steps.map((_, step) => (254 * step) / (steps.length - 1)))
    .range(steps);
  return { indices, palette: rgb([...Array.from({ length: 255 }, (_, level) => ramp(level)), "#8a8f98"]), low, high };
}

/** The range without the twentieth of values at either end, where the tail beyond is longer than the rest. */
function withoutTails(values, low, high) {
  const sorted = Float64Array.from(values).filter(Number.isFinite).sort();
  const [from, to] = [quantileSorted(sorted, TAIL), quantileSorted(sorted, 1 - TAIL)];
  if (from - low > high - from) return [from, high];
  return high - to > to - low ? [low, to] : [low, high];
}

/** How early a number is labelled: 1, 10, 100 first, then 3, 2 and 5 of each decade. */
function roundness(value) {
  const digit = Number(Math.abs(value).toExponential().split("e")[0]);
  const place = [1, 3, 2, 5].indexOf(digit);
  return place < 0 ? 4 : place;
}

/** A number in [0, 1) that belongs to a row. */
function noise(row) {
  const mixed = Math.sin((row + 1) * 12.9898) * 43758.5453;
  return mixed - Math.floor(mixed);
}

function rgb(colours) {
  const palette = new Float32Array(3 * colours.length);
  colours.forEach((colour, place) => palette.set(channels(colour), 3 * place));
  return palette;
}

function channels(colour) {
  const parts = /^#(..)(..)(..)$/.exec(colour);
  return parts
    ? parts.slice(1).map((part) => parseInt(part, 16))
    : colour
        .match(/[\d.]+/g)
        .slice(0, 3)
        .map(Number);
}
