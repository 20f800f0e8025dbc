// The lists of columns that axes, colour and filters choose from.

import { byId, element, fill, option } from "./dom.js";

const GROUPS = {
  metric: "Metrics",
  cost: "Costs",
  operation: "Operations",
  shape: "Shape",
  choice: "Choices",
  proxy: "Zero-cost proxies",
  method: "Methods",
};

/** Fill the lists with the columns of a benchmark, in groups. */
export function fillSelects(columns) {
  const kinds = Object.keys(GROUPS).filter((kind) => columns.some((column) => column.kind === kind));
  const groups = () =>
    kinds.map((kind) => {
      const members = columns.filter((column) => column.kind === kind);
      return element("optgroup", { label: GROUPS[kind] }, ...members.map(({ key, title }) => option(key, title)));
    });
  fill(byId("x"), ...groups());
  fill(byId("y"), ...groups());
  fill(byId("colour"), option("", "one colour"), ...groups());
  fill(byId("add-filter"), option("", "add …"), ...groups());
}
