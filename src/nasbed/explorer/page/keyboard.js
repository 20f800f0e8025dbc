// The keys of the page.

import { byId, element, fill } from "./dom.js";

const KEYS = [
  ["← ↓", "on the overview: the next worse architecture"],
  ["→ ↑", "on the overview: the next better one"],
  ["Home, End", "on the overview: the worst, the best"],
  ["Enter", "open the architecture; on the drawing: the menu of legal moves"],
  ["Escape", "close a menu, clear the brush, stop the walk or the playback"],
  ["Ctrl-Z", "undo, like the browser's back button"],
  ["/", "paste a text, genotype or hash"],
  ["o", "to the overview"],
  ["e", "to the drawing"],
  ["r", "a random architecture"],
  ["u", "walk uphill"],
  ["p", "Pareto front"],
  ["?", "this list"],
];

/** Listen to keys. `actions` has a function for each of undo, paste, random, uphill, front, drawing, escape. */
export function listenToKeys(overview, actions) {
  const dialog = byId("keys");
  fill(
    dialog,
    element("h2", { id: "keys-title" }, "Keys"),
    element(
      "dl",
      {},
      ...KEYS.flatMap(([keys, words]) => [element("dt", {}, element("kbd", {}, keys)), element("dd", {}, words)]),
    ),
    element("form", { method: "dialog" }, element("button", {}, "Close")),
  );
  const help = () => dialog.showModal();
  byId("help").addEventListener("click", help);
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    overview.plot.focus();
  });

  const moves = {
    ArrowUp: 1,
    ArrowRight: 1,
    ArrowDown: -1,
    ArrowLeft: -1,
    PageUp: 100,
    PageDown: -100,
    Home: -Infinity,
    End: Infinity,
  };
  overview.plot.addEventListener("keydown", (event) => {
    if (event.key in moves) overview.moveCursor(moves[event.key]);
    else if (event.key === "Enter") overview.openCursor();
    else return;
    event.preventDefault();
  });

  const letters = {
    "/": actions.paste,
    o: () => overview.plot.focus(),
    e: actions.drawing,
    r: actions.random,
    u: actions.uphill,
    p: actions.front,
    "?": help,
  };
  addEventListener("keydown", (event) => {
    if (dialog.open) return;
    const isTyping = event.target.matches?.("input[type=text], select, textarea");
    if (event.key === "Escape") actions.escape();
    else if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !isTyping) actions.undo();
    else if (!isTyping && !event.ctrlKey && !event.metaKey && !event.altKey && event.key in letters)
      letters[event.key]();
    else return;
    event.preventDefault();
  });
}
