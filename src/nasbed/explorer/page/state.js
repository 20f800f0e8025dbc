// What the reader looks at, kept in the address: a view can be shared, and going back undoes.

/** The view as an object of texts. Listeners get the keys that changed. */
export class State {
  #listeners = [];
  #values = {};

  constructor() {
    this.#values = parsedHash();
    history.replaceState({ depth: history.state?.depth ?? 0 }, "");
    addEventListener("popstate", () => this.#take(parsedHash()));
    addEventListener("hashchange", () => this.#take(parsedHash()));
  }

  get(key) {
    return this.#values[key];
  }

  /** What the view names. */
  get keys() {
    return Object.keys(this.#values);
  }

  /** Change the view; null removes a key. `replace` leaves no step to go back to. */
  set(changes, { replace = false } = {}) {
    const after = { ...this.#values, ...changes };
    for (const key of Object.keys(after))
      if (after[key] === null || after[key] === undefined || after[key] === "") delete after[key];
    const hash = formatted(after);
    if (hash === location.hash) return;
    const depth = (history.state?.depth ?? 0) + (replace ? 0 : 1);
    history[replace ? "replaceState" : "pushState"]({ depth }, "", hash || location.pathname + location.search);
    this.#take(after);
  }

  /** Whether there is a step to undo on this page. */
  get canUndo() {
    return (history.state?.depth ?? 0) > 0;
  }

  /** Go back by one step, like the browser's button. */
  undo() {
    if (this.canUndo) history.back();
  }

  /** Call a listener with the set of changed keys after every change. */
  listen(listener) {
    this.#listeners.push(listener);
  }

  #take(after) {
    const before = this.#values;
    const changed = new Set(
      [...Object.keys(before), ...Object.keys(after)].filter((key) => before[key] !== after[key]),
    );
    this.#values = after;
    if (changed.size) for (const listener of this.#listeners) listener(changed);
  }
}

function parsedHash() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

function formatted(values) {
  const text = new URLSearchParams(values).toString();
  return text ? `#${text}` : "";
}
