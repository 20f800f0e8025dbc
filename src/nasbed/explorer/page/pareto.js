// The Pareto front: what no other point beats in both directions.

/** The rows of the front, from the best by `x` to the best by `y`. `up` says that more is better. */
export function paretoFront(x, y, on, xUp, yUp) {
  const rows = [];
  for (let row = 0; row < x.length; row++) if (on[row] && Number.isFinite(x[row]) && Number.isFinite(y[row])) rows.push(row);
  const xSign = xUp ? -1 : 1;
  const ySign = yUp ? -1 : 1;
  rows.sort((one, other) => xSign * (x[one] - x[other]) || ySign * (y[one] - y[other]));
  let best = Infinity;
  return rows.filter((row) => {
    const value = ySign * y[row];
    if (value >= best) return false;
    best = value;
    return true;
  });
}
