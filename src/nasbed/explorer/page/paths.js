// Recorded searches as paths: what each run had evaluated and found at a time.

/** Add to every run what the page draws: `incumbents`, the places of its evaluations that were best so far. */
export function preparedPaths(answer) {
  const runs = answer.runs.map((run, index) => ({
    ...run,
    index,
    name: `${run.method} · seed ${run.seed}`,
    incumbents: run.incumbent.flatMap((isIncumbent, place) => (isIncumbent ? [place] : [])),
    end_s: run.time_s.at(-1) ?? 0,
  }));
  return { ...answer, runs, end_s: Math.max(0, ...runs.map(({ end_s }) => end_s)) };
}

/** How many evaluations of a run were done at a time. */
export function doneAt(run, time_s) {
  let low = 0;
  let high = run.time_s.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (run.time_s[middle] <= time_s) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The place of a run's incumbent at a time among its evaluations, null before the first. */
export function incumbentAt(run, time_s) {
  const done = doneAt(run, time_s);
  let place = null;
  for (const each of run.incumbents) {
    if (each >= done) break;
    place = each;
  }
  return place;
}

/** Methods at a time: runs, evaluations, the mean and best incumbent. */
export function standings({ runs, methods, maximise }, time_s) {
  return methods.map((method) => {
    const own = runs.filter((run) => run.method === method);
    const values = own
      .map((run) => [run, incumbentAt(run, time_s)])
      .filter(([, place]) => place !== null)
      .map(([run, place]) => run.value[place]);
    const evaluations = own.reduce((sum, run) => sum + doneAt(run, time_s), 0);
    const best = values.length ? (maximise ? Math.max(...values) : Math.min(...values)) : NaN;
    return {
      method,
      runs: own.length,
      evaluations,
      best,
      mean: values.reduce((sum, value) => sum + value, 0) / values.length,
    };
  });
}
