
(() => {
  "use strict";
  const tip = document.body.appendChild(document.createElement("div"));
  tip.className = "tip";
  tip.hidden = true;
  function showTooltip(_, event, item, value) {
    tip.hidden = value === null || value === undefined || value === "";
    if (tip.hidden) return;
    const row = item.datum && item.datum.datum;  // of the nearest point, whose texts Vega-Lite leaves out of the value
    if (row && "method" in value) value = {...value, method: row.method};
    const texts = Object.entries(typeof value === "object" ? value : {"": value});
    tip.replaceChildren(...texts.map(([name, text]) => {
      const line = document.createElement("div"), label = document.createElement("b");
      label.textContent = name;
      line.append(label, String(text));
      return line;
    }));
    const box = tip.getBoundingClientRect(), room = document.documentElement.clientWidth - box.width - 8;
    const above = event.clientY - box.height - 14;
    tip.style.left = Math.max(8, Math.min(event.clientX + 14, room)) + "px";
    tip.style.top = (above > 0 ? above : event.clientY + 18) + "px";
  }
  const views = [];
  for (const place of document.querySelectorAll(".chart")) {
    const specification = JSON.parse(document.getElementById(place.dataset.figure).textContent);
    const options = {mode: "vega", renderer: "svg", actions: false, defaultStyle: false, tooltip: showTooltip};
    views.push(vegaEmbed(place, specification, options).then(chart => chart.view));
  }
  const buttons = [...document.querySelectorAll(".legend button")];
  async function updateVisibility() {
    const released = buttons.filter(button => button.getAttribute("aria-pressed") === "false");
    const hiddenMethods = released.map(button => button.dataset.method);
    for (const panel of document.querySelectorAll("[data-panel]")) panel.hidden = hiddenMethods.includes(panel.dataset.panel);
    for (const view of await Promise.all(views)) {
      if ("hidden" in view.getState().signals) await view.signal("hidden", hiddenMethods).runAsync();
    }
    document.documentElement.dataset.shown = String(buttons.length - hiddenMethods.length);
  }
  for (const button of buttons) button.addEventListener("click", () => {
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") === "false"));
    updateVisibility();
  });
  Promise.all(views).then(updateVisibility);
})();
