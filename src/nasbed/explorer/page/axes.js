// Axes with their grid and titles, and the distribution of points beside each.

import { fill, svg } from "./dom.js";
import { axisTicks } from "./scales.js";

const BIN = 5;

/** The room around the picture in pixels. */
export function margins(width) {
  const isNarrow = width < 520;
  return { left: isNarrow ? 46 : 58, right: isNarrow ? 30 : 54, top: isNarrow ? 30 : 46, bottom: 44 };
}

/** Draw both axes into a group. `x`, `y`: `{scale, column, labels, title}`. */
export function drawAxes(group, x, y, width, height) {
  const parts = [];
  for (const { value, label } of axisTicks(x.scale, x.column, x.labels, width)) {
    const place = x.scale(value);
    parts.push(svg("line", { class: label ? "grid" : "grid minor", x1: place, x2: place, y1: 0, y2: height }));
    if (label) parts.push(svg("text", { class: "tick", x: place, y: height + 16, "text-anchor": "middle" }, clipped(label)));
  }
  for (const { value, label } of axisTicks(y.scale, y.column, y.labels, height)) {
    const place = y.scale(value);
    parts.push(svg("line", { class: label ? "grid" : "grid minor", x1: 0, x2: width, y1: place, y2: place }));
    if (label) parts.push(svg("text", { class: "tick", x: -8, y: place + 4, "text-anchor": "end" }, clipped(label, 8)));
  }
  parts.push(svg("path", { class: "frame", d: `M0,0V${height}H${width}` }));
  parts.push(svg("text", { class: "title", x: width / 2, y: height + 36, "text-anchor": "middle" }, x.title));
  parts.push(svg("text", { class: "title", x: -height / 2, y: -44, transform: "rotate(-90)", "text-anchor": "middle" }, y.title));
  fill(group, ...parts);
}

/** Draw the distribution of all points and of the chosen ones above the picture and to its right. */
export function drawMarginals(group, points, on, width, height, margin) {
  const above = histogram(points.x, on, width);
  const beside = histogram(points.y, on, height);
  const tall = margin.top - 10;
  const wide = margin.right - 10;
  fill(
    group,
    svg("path", { class: "marginal all", d: stairs(above.all, above.most, tall, (along, across) => [along, -4 - across]) }),
    svg("path", { class: "marginal on", d: stairs(above.chosen, above.most, tall, (along, across) => [along, -4 - across]) }),
    svg("path", { class: "marginal all", d: stairs(beside.all, beside.most, wide, (along, across) => [width + 4 + across, along]) }),
    svg("path", { class: "marginal on", d: stairs(beside.chosen, beside.most, wide, (along, across) => [width + 4 + across, along]) }),
  );
}

function histogram(places, on, length) {
  const bins = Math.max(1, Math.ceil(length / BIN));
  const all = new Uint32Array(bins);
  const chosen = new Uint32Array(bins);
  for (let row = 0; row < places.length; row++) {
    const bin = (places[row] / BIN) | 0;
    if (places[row] < 0 || bin >= bins) continue;
    all[bin]++;
    chosen[bin] += on[row];
  }
  return { all, chosen, most: all.reduce((most, count) => Math.max(most, count), 1) };
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
