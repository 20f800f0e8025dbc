// A line of words beside the pointer or the keyboard's cursor.

import { byId } from "./dom.js";

const BESIDE = 14;
const EDGE = 8;

/** Show words beside a place of the window. */
export function showTip(words, x, y) {
  const tip = byId("tip");
  tip.hidden = false;
  tip.textContent = words;
  tip.style.setProperty("left", `${Math.min(x + BESIDE, innerWidth - tip.offsetWidth - EDGE)}px`);
  tip.style.setProperty("top", `${y + BESIDE}px`);
}

export function hideTip() {
  byId("tip").hidden = true;
}
