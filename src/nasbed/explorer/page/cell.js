// A drawn cell that can be edited: every operation and edge that may change opens a menu of its legal moves.

import { element, svg } from "./dom.js";
import { laidOut } from "./diagrams.js";

const READABLE = 0.62;
let serial = 0;

/** The drawing of one cell for a place of some width. `onSlot(slot, element)` is called with what the reader chose. */
export function drawnCell(diagram, width, onSlot) {
  const shape = laidOut(diagram, width);
  const scale = Math.min(1.1, Math.max(READABLE, (width - 4) / shape.width));
  const places = new Map(shape.nodes.map((node) => [node.id, node]));
  const title = `cell-${serial++}`;
  const drawing = svg(
    "svg",
    {
      class: "cell",
      viewBox: `0 0 ${shape.width} ${shape.height}`,
      width: shape.width * scale,
      height: shape.height * scale,
      role: "group",
      "aria-labelledby": title,
    },
    svg("title", { id: title }, diagram.title || "cell"),
    ...shape.absent.filter(({ edit }) => edit).map((edge) => absentEdge(edge, places, onSlot)),
    ...shape.edges.map((edge) => drawnEdge(edge, places, onSlot)),
    ...shape.nodes.map((node) => drawnNode(node, onSlot)),
  );
  return element("div", { class: "cell-place" }, drawing);
}

function drawnNode(node, onSlot) {
  const { x, y, width, height } = node;
  const isRound = node.kind === "sum";
  const box = svg("rect", {
    class: "box",
    x: x - width / 2,
    y: y - height / 2,
    width,
    height,
    rx: isRound ? width / 2 : 6,
    fill: node.fill ?? undefined,
  });
  const label = svg(
    "text",
    { class: node.fill ? "label on-colour" : "label", x, y: y + 4, "text-anchor": "middle" },
    ...withSubscript(node.label),
  );
  const names = ["node", node.kind, node.used === false ? "unused" : ""].join(" ");
  return slotGroup(names, node.edit, `${node.label}${node.used === false ? ", without effect" : ""}`, onSlot, [
    box,
    label,
  ]);
}

function drawnEdge(edge, places, onSlot) {
  const parts = [svg("path", { class: "shaft", d: edge.path }), svg("path", { class: "head", d: edge.head })];
  if (edge.edit) parts.unshift(svg("path", { class: "reach", d: edge.path }));
  const words = `edge from ${places.get(edge.from)?.label} to ${places.get(edge.to)?.label}`;
  return slotGroup("edge", edge.edit, words, onSlot, parts);
}

function absentEdge(edge, places, onSlot) {
  const one = places.get(edge.from);
  const other = places.get(edge.to);
  const bend =
    Math.abs(one.x - other.x) > Math.abs(one.y - other.y)
      ? [0, -0.14 * Math.abs(one.x - other.x)]
      : [0.14 * Math.abs(one.y - other.y), 0];
  const path = `M${one.x},${one.y}Q${(one.x + other.x) / 2 + bend[0]},${(one.y + other.y) / 2 + bend[1]} ${other.x},${other.y}`;
  const words = `no edge from ${one.label} to ${other.label}`;
  return slotGroup("edge absent", edge.edit, words, onSlot, [
    svg("path", { class: "reach", d: path }),
    svg("path", { class: "shaft", d: path }),
  ]);
}

function slotGroup(names, slot, words, onSlot, parts) {
  if (!slot) return svg("g", { class: names }, ...parts);
  const open = (event) => {
    event.preventDefault();
    onSlot(slot, event.currentTarget);
  };
  const onKey = (event) => {
    if (event.key === "Enter" || event.key === " ") open(event);
  };
  return svg(
    "g",
    {
      class: `${names} slot`,
      "data-slot": slot,
      tabindex: 0,
      role: "button",
      "aria-haspopup": "menu",
      "aria-label": `${words}: change`,
      on: { click: open, keydown: onKey },
    },
    ...parts,
  );
}

/** A label in which "c_{k-1}" has a subscript. */
function withSubscript(label) {
  const parts = /^(.*?)_\{([^}]*)\}(.*)$/.exec(label);
  if (!parts) return [label];
  return [
    parts[1],
    svg("tspan", { class: "subscript", dy: 4 }, parts[2]),
    svg("tspan", { dy: -4 }, parts[3] || "\u200b"),
  ];
}
