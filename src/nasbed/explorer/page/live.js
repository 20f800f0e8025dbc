// What changed, in words: read aloud by screen readers, errors also shown.

import { byId } from "./dom.js";

/** Say a change to readers of the live region. */
export function announce(text) {
  byId("live").textContent = text;
}

/** Show an error in one line, or hide it with an empty text: at the start of what the reader does next. */
export function complain(text) {
  const place = byId("error");
  place.textContent = text;
  place.hidden = !text;
}

/** Run something that asks the source, and show its error. */
export async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    complain(error.message);
    return undefined;
  }
}
