// Where the boxes and arrows of a drawn cell lie: as they come, from left to right, or turned to run downwards where
// that is easier to read in the place there is.

const GAP = 9;
const LEVEL = 46;
const ARROW = 7;

/** A diagram as `{width, height, nodes, edges}` to draw at this width: the larger of both ways. */
export function laidOut(diagram, width) {
  const turned = turnedDown(diagram);
  const isTurned = Math.min(1, width / turned.width) > Math.min(1, width / diagram.width) + 0.02;
  return isTurned
    ? turned
    : { ...diagram, absent: diagram.absent ?? [], edges: diagram.edges.map((edge) => ({ ...edge, points: null })) };
}

/** The same diagram with its columns as lines. */
function turnedDown(diagram) {
  const across = spread(diagram.nodes);
  const levels = levelsOf(diagram.nodes);
  const nodes = diagram.nodes.map((node) => ({ ...node, x: across(node.y), y: levels(node.x) }));
  const places = new Map(nodes.map((node) => [node.id, node]));
  const bends = diagram.edges.flatMap((edge) => coordinates(edge.path).map(([, y]) => across(y)));
  const left = Math.min(...nodes.map((node) => node.x - node.width / 2), ...bends) - 4;
  for (const node of nodes) node.x -= left;
  const before = new Map(diagram.nodes.map((node) => [node.id, node]));
  const edges = diagram.edges.map((edge) => {
    const original = coordinates(edge.path);
    const points = original.map(([x, y]) => [across(y) - left, levels(x)]);
    const port = (id, [, y]) => portOf(places.get(id), y - before.get(id).y);
    const [from, to] = [port(edge.from, original[0]), port(edge.to, original.at(-1))];
    for (let place = 0; place < points.length && original[place][1] === original[0][1]; place++)
      points[place][0] = from.x;
    for (let place = points.length - 1; place >= 0 && original[place][1] === original.at(-1)[1]; place--)
      points[place][0] = to.x;
    for (const point of points) point[1] = Math.max(from.bottom, Math.min(to.top - ARROW, point[1]));
    points[0][1] = from.bottom;
    points.at(-1)[1] = to.top - ARROW;
    return { ...edge, path: rewritten(edge.path, points), head: `M${to.x},${to.top}l-3.6,-8h7.2Z` };
  });
  const xs = [
    ...nodes.map((node) => node.x + node.width / 2),
    ...edges.flatMap((edge) => coordinates(edge.path).map(([x]) => x)),
  ];
  const height = Math.max(...nodes.map((node) => node.y + node.height / 2));
  return { ...diagram, absent: diagram.absent ?? [], nodes, edges, width: Math.max(...xs) + 4, height: height + 4 };
}

/** Where an arrow meets a box that it reaches some pixels beside the middle. */
function portOf({ x, y, width, height, kind }, beside) {
  const half = kind === "sum" ? Math.sqrt(Math.max(0, (height / 2) ** 2 - beside ** 2)) : height / 2;
  return { x: x + Math.max(4 - width / 2, Math.min(width / 2 - 4, beside)), top: y - half, bottom: y + half };
}

/** Stretches heights so that boxes that were above one another fit beside one another. */
function spread(nodes) {
  const widest = Math.max(...nodes.map((node) => node.width));
  const gaps = nodes.flatMap((one) =>
    nodes
      .filter((other) => other.y > one.y + 1 && Math.abs(other.x - one.x) < (one.width + other.width) / 2)
      .map((other) => other.y - one.y),
  );
  const factor = (widest + GAP) / Math.min(48, ...gaps);
  return (y) => y * factor;
}

/** Shrinks widths so that boxes that were beside one another lie one line apart. */
function levelsOf(nodes) {
  const centres = [...new Set(nodes.map((node) => Math.round(node.x)))].sort((one, other) => one - other);
  const columns = centres.filter((centre, place) => place === 0 || centre - centres[place - 1] > 12);
  return (x) => {
    const next = columns.findIndex((column) => column >= x);
    if (next === 0) return LEVEL / 2 + (x - columns[0]) * 0.3;
    if (next < 0) return LEVEL / 2 + (columns.length - 1) * LEVEL + (x - columns.at(-1)) * 0.3;
    const share = (x - columns[next - 1]) / (columns[next] - columns[next - 1]);
    return LEVEL / 2 + (next - 1 + share) * LEVEL;
  };
}

function coordinates(path) {
  const numbers = (path.match(/-?\d+(?:\.\d+)?(?:e-?\d+)?/g) ?? []).map(Number);
  return Array.from({ length: numbers.length / 2 }, (_, place) => [numbers[2 * place], numbers[2 * place + 1]]);
}

/** The commands of a path with other coordinates. */
function rewritten(path, points) {
  let place = 0;
  let isFirst = true;
  return path.replace(/-?\d+(?:\.\d+)?(?:e-?\d+)?/g, () => {
    const [x, y] = points[Math.floor(place)];
    const value = isFirst ? x : y;
    isFirst = !isFirst;
    place += 0.5;
    return value.toFixed(2);
  });
}
