// Small charts of one architecture: its seeds, its curve over fidelities, a share as a bar.

import { scaleLinear, scaleLog } from "./vendor/d3.js";
import { element, svg } from "./dom.js";
import { present, short, withUnit } from "./numbers.js";

const WIDTH = 360;
const HEIGHT = 132;
const ROOM = { left: 44, right: 10, top: 10, bottom: 24 };

/** The values of single seeds on a line, with their mean and standard deviation. */
export function seedStrip(seeds, mean, std, unit) {
  const spreads = [...seeds, mean - (std ?? 0), mean + (std ?? 0)];
  const [low, high] = [Math.min(...spreads), Math.max(...spreads)];
  const x = scaleLinear()
    .domain(low === high ? [low - 1, high + 1] : [low, high])
    .range([8, WIDTH - 8]);
  const words = `${seeds.length} seeds: ${seeds.map((value) => withUnit(value, unit)).join(", ")}`;
  return svg(
    "svg",
    { class: "strip", viewBox: `0 0 ${WIDTH} 34`, role: "img", "aria-label": words },
    svg("line", { class: "frame", x1: 0, x2: WIDTH, y1: 12, y2: 12 }),
    std ? svg("line", { class: "noise", x1: x(mean - std), x2: x(mean + std), y1: 12, y2: 12 }) : null,
    svg("line", { class: "mean", x1: x(mean), x2: x(mean), y1: 4, y2: 20 }),
    ...seeds.map((value) =>
      svg("circle", { class: "seed", cx: x(value), cy: 12, r: 3.5 }, svg("title", {}, withUnit(value, unit))),
    ),
    svg("text", { class: "tick", x: 0, y: 32 }, withUnit(low, unit)),
    svg("text", { class: "tick", x: WIDTH, y: 32, "text-anchor": "end" }, withUnit(high, unit)),
  );
}

/** The objective at each fidelity, with its noise where it is known. */
export function curveChart(curve, unit, title) {
  const points = curve.filter(({ value }) => present(value));
  if (points.length < 2) return null;
  const fidelities = points.map(({ fidelity }) => fidelity);
  const lows = points.map(({ value, std }) => value - (std ?? 0));
  const highs = points.map(({ value, std }) => value + (std ?? 0));
  const isLog = fidelities[0] > 0 && fidelities.at(-1) / fidelities[0] > 8;
  const x = (isLog ? scaleLog() : scaleLinear())
    .domain([fidelities[0], fidelities.at(-1)])
    .range([ROOM.left, WIDTH - ROOM.right]);
  const y = scaleLinear()
    .domain([Math.min(...lows), Math.max(...highs)])
    .nice(4)
    .range([HEIGHT - ROOM.bottom, ROOM.top]);
  const line = points.map(({ fidelity, value }) => `${x(fidelity).toFixed(1)},${y(value).toFixed(1)}`).join("L");
  const band = [
    ...points.map(({ fidelity }, place) => [x(fidelity), y(highs[place])]),
    ...points.map(({ fidelity }, place) => [x(fidelity), y(lows[place])]).reverse(),
  ];
  const labelled =
    points.length <= 6 ? fidelities : [fidelities[0], fidelities[Math.floor(points.length / 2)], fidelities.at(-1)];
  return svg(
    "svg",
    {
      class: "curve",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      "aria-label": `${title} at ${fidelities.length} fidelities: from ${withUnit(points[0].value, unit)} to ${withUnit(points.at(-1).value, unit)}`,
    },
    ...y
      .ticks(3)
      .flatMap((value) => [
        svg("line", { class: "grid", x1: ROOM.left, x2: WIDTH - ROOM.right, y1: y(value), y2: y(value) }),
        svg("text", { class: "tick", x: ROOM.left - 6, y: y(value) + 4, "text-anchor": "end" }, short(value)),
      ]),
    ...labelled.map((value) =>
      svg(
        "text",
        {
          class: "tick",
          x: x(value),
          y: HEIGHT - 6,
          "text-anchor": value === fidelities[0] ? "start" : value === fidelities.at(-1) ? "end" : "middle",
        },
        String(value),
      ),
    ),
    points.some(({ std }) => present(std))
      ? svg("path", {
          class: "band",
          d: `M${band.map((corner) => corner.map((each) => each.toFixed(1)).join(",")).join("L")}Z`,
        })
      : null,
    svg("path", { class: "line", d: `M${line}` }),
    ...points.map(({ fidelity, value }) =>
      svg(
        "circle",
        { class: "dot", cx: x(fidelity), cy: y(value), r: 2.5 },
        svg("title", {}, `${fidelity}: ${withUnit(value, unit)}`),
      ),
    ),
  );
}

/** A bar filled to a share in percent. */
export function shareBar(percent, words) {
  return element("span", {
    class: "share",
    role: "img",
    "aria-label": words,
    vars: { "--share": `${Math.max(0, Math.min(100, percent))}%` },
  });
}
