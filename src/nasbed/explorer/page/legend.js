// What the colours of points mean.

import { byId, element, fill } from "./dom.js";
import { withUnit } from "./numbers.js";
import { CATEGORIES } from "./scales.js";

/** Show a ramp for numbers, or a button a name. `only` is the name that is shown alone; `onOnly(place or null)` is called
 * when another one is chosen. */
export function showLegend(column, { low, high, labels }, only, onOnly) {
  const root = byId("legend");
  if (!column) return fill(root);
  if (!labels) {
    return fill(root, `${column.title} ${withUnit(low, column.unit)}`, element("i"), withUnit(high, column.unit));
  }
  const button = (label, place) =>
    element(
      "button",
      {
        type: "button",
        class: "chip",
        title: `Only ${label}`,
        "aria-pressed": String(only === undefined || only === place),
        vars: { "--chip": CATEGORIES[place % CATEGORIES.length] },
        on: { click: () => onOnly(only === place ? null : place) },
      },
      label,
    );
  return fill(root, ...labels.map(button));
}
