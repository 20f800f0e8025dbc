// The Pareto front: what no other point beats in both directions.

const BINS = 1024;

/** The rows of the front of chosen ones, from the best by `x` to the best by `y`. `up` says that more is better. */
export function paretoFront(x, y, chosen, xUp, yUp) {
  const xSign = xUp ? -1 : 1;
  const ySign = yUp ? -1 : 1;
  const rows = candidates(
    chosen,
    (row) => xSign * x[row],
    (row) => ySign * y[row],
  );
  rows.sort((one, other) => xSign * (x[one] - x[other]) || ySign * (y[one] - y[other]));
  let best = Infinity;
  return rows.filter((row) => {
    const value = ySign * y[row];
    if (value >= best) return false;
    best = value;
    return true;
  });
}

/** Rows that no row in a lower bin of costs beats, so that few are left to sort. */
function candidates(chosen, costOf, lossOf) {
  let [low, high] = [Infinity, -Infinity];
  for (let at = 0; at < chosen.length; at++) {
    const cost = costOf(chosen[at]);
    if (cost < low) low = cost;
    if (cost > high) high = cost;
  }
  const binOf = (cost) => Math.min(BINS - 1, Math.floor((BINS * (cost - low)) / (high - low || 1)));
  const least = new Float64Array(BINS + 1).fill(Infinity);
  for (let at = 0; at < chosen.length; at++) {
    const bin = binOf(costOf(chosen[at])) + 1;
    const loss = lossOf(chosen[at]);
    if (loss < least[bin]) least[bin] = loss;
  }
  for (let bin = 1; bin <= BINS; bin++) least[bin] = Math.min(least[bin], least[bin - 1]);
  const rows = [];
  for (let at = 0; at < chosen.length; at++) {
    const row = chosen[at];
    if (lossOf(row) < least[binOf(costOf(row))]) rows.push(row);
  }
  return rows;
}
