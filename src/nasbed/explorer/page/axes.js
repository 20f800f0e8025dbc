// Axes with their grid and titles, and the distribution of points beside each.

import { fill, svg } from "./dom.js";
import { axisTicks } from "./scales.js";

const BIN = 5;
const ACROSS = 52;
const ALONG = 30;

/** The room around the picture in pixels. */
export function margins(width) {
  const isNarrow = width < 520;
  return { left: isNarrow ? 46 : 58, right: isNarrow ? 30 : 54, top: isNarrow ? 30 : 46, bottom: 44 };
}

/** Draw both axes into a group. `x`, `y`: `{scale, column, labels, title}`. */
export function drawAxes(group, x, y, width, height) {
  const parts = [];
  for (const { value, label } of axisTicks(x.scale, x.column, x.labels, ACROSS)) {
    const place = x.scale(value);
    parts.push(svg("line", { class: label ? "grid" : "grid minor", x1: place, x2: place, y1: 0, y2: height }));
    if (label)
      parts.push(svg("text", { class: "tick", x: place, y: height + 16, "text-anchor": "middle" }, clipped(label)));
  }
  for (const { value, label } of axisTicks(y.scale, y.column, y.labels, ALONG)) {
    const place = y.scale(value);
    parts.push(svg("line", { class: label ? "grid" : "grid minor", x1: 0, x2: width, y1: place, y2: place }));
    if (label) parts.push(svg("text", { class: "tick", x: -8, y: place + 4, "text-anchor": "end" }, clipped(label, 8)));
  }
  parts.push(svg("path", { class: "frame", d: `M0,0V${height}H${width}` }));
  parts.push(svg("text", { class: "title", x: width / 2, y: height + 36, "text-anchor": "middle" }, x.title));
  parts.push(
    svg("text", { class: "title", x: -height / 2, y: -44, transform: "rotate(-90)", "text-anchor": "middle" }, y.title),
  );
  fill(group, ...parts);
}

/** Draw the distribution of all points and of the chosen ones above the picture and to its right; `bins` of binned. */
export function drawMarginals(group, bins, rows, width, margin) {
  const tall = margin.top - 10;
  const wide = margin.right - 10;
  const above = (along, across) => [along, -4 - across];
  const beside = (along, across) => [width + 4 + across, along];
  fill(
    group,
    svg("path", { class: "marginal all", d: stairs(bins.x.all, bins.x.most, tall, above) }),
    svg("path", { class: "marginal on", d: stairs(chosenCounts(bins.x, rows), bins.x.most, tall, above) }),
    svg("path", { class: "marginal all", d: stairs(bins.y.all, bins.y.most, wide, beside) }),
    svg("path", { class: "marginal on", d: stairs(chosenCounts(bins.y, rows), bins.y.most, wide, beside) }),
  );
}

/** The bin of every place along an axis, and how many points each holds; the last bin is for points off the picture. */
export function binned(places, length) {
  const count = Math.max(1, Math.ceil(length / BIN));
  const bins = new Uint16Array(places.length);
  const all = new Uint32Array(count + 1);
  for (let row = 0; row < places.length; row++) {
    const place = places[row];
    bins[row] = place >= 0 && place < length ? place / BIN : count;
    all[bins[row]]++;
  }
  return {
    bins,
    all: all.subarray(0, count),
    most: all.subarray(0, count).reduce((most, each) => Math.max(most, each), 1),
  };
}

function chosenCounts({ bins, all }, rows) {
  const counts = new Uint32Array(all.length + 1);
  for (let at = 0; at < rows.length; at++) counts[bins[rows[at]]]++;
  return counts.subarray(0, all.length);
}

function stairs(counts, most, room, place) {
  const corners = [place(0, 0)];
  counts.forEach((count, bin) => {
    const across = (room * count) / most;
    corners.push(place(bin * BIN, across), place((bin + 1) * BIN, across));
  });
  corners.push(place(counts.length * BIN, 0));
  return `M${corners.map((corner) => corner.map((each) => each.toFixed(1)).join(",")).join("L")}Z`;
}

function clipped(label, most = 14) {
  return label.length > most ? `${label.slice(0, most - 1)}…` : label;
}
