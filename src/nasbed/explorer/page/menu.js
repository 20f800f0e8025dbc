// A menu of legal moves beside what was clicked: arrow keys, Enter, Escape; closes when the reader looks elsewhere.

import { element } from "./dom.js";

let current = null;

/** Open a menu of `{words, detail, name, isDisabled}` beside an element; `onChoose(item)`. */
export function openMenu(anchor, title, items, onChoose) {
  closeMenu();
  const menu = element(
    "div",
    { class: "menu", role: "menu", "aria-label": title, on: { keydown: keys, focusout: lookAway } },
    element("p", { class: "menu-title", "aria-hidden": "true" }, title),
    ...items.map((item) =>
      element(
        "button",
        {
          type: "button",
          role: "menuitem",
          tabindex: -1,
          class: item.name ?? "",
          disabled: item.isDisabled ?? false,
          on: { click: () => choose(item) },
        },
        element("span", {}, item.words),
        element("span", { class: "detail" }, item.detail),
      ),
    ),
  );
  document.body.append(menu);
  place(menu, anchor.getBoundingClientRect());
  current = { menu, anchor };
  menu.querySelector("button:enabled")?.focus();

  function choose(item) {
    closeMenu();
    onChoose(item);
  }
}

/** Close the menu if one is open, and say whether one was. */
export function closeMenu() {
  if (!current) return false;
  const { menu, anchor } = current;
  current = null;
  const hadFocus = menu.contains(document.activeElement);
  menu.remove();
  if (hadFocus && anchor.isConnected) anchor.focus();
  return true;
}

function place(menu, box) {
  const left = Math.max(8, Math.min(box.left, innerWidth - menu.offsetWidth - 8));
  const below = box.bottom + 6;
  const top = below + menu.offsetHeight > innerHeight - 8 ? Math.max(8, box.top - menu.offsetHeight - 6) : below;
  menu.style.setProperty("left", `${left}px`);
  menu.style.setProperty("top", `${top}px`);
}

function keys(event) {
  const buttons = [...event.currentTarget.querySelectorAll("button:enabled")];
  const at = buttons.indexOf(document.activeElement);
  const target = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
  if (event.key === "Escape" || event.key === "Tab") {
    event.stopPropagation();
    closeMenu();
  } else if (target !== undefined) {
    event.preventDefault();
    event.stopPropagation();
    buttons.at(target % buttons.length)?.focus();
  }
}

function lookAway(event) {
  if (event.relatedTarget && !event.currentTarget.contains(event.relatedTarget)) closeMenu();
}

addEventListener("pointerdown", (event) => {
  if (current && !current.menu.contains(event.target)) closeMenu();
});
