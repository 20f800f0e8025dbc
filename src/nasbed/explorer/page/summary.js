// What a choice of rows amounts to.

/** The best and the mean of the values of some rows; missing ones do not count. */
export function bestAndMean(values, rows, isUp) {
  const sign = isUp ? 1 : -1;
  let best = NaN;
  let sum = 0;
  let finite = 0;
  for (let at = 0; at < rows.length; at++) {
    const value = values[rows[at]];
    if (!Number.isFinite(value)) continue;
    sum += value;
    finite++;
    if (!(sign * value <= sign * best)) best = value;
  }
  return { best, mean: finite ? sum / finite : NaN };
}
