/** Makes a tab list work by pointer and by arrow keys, with one tab in the tab order. */
export function wireTabs(list: HTMLElement): void {
  const tabs = [...list.querySelectorAll<HTMLElement>("[role=tab]")];

  function select(chosen: HTMLElement): void {
    for (const tab of tabs) {
      const on = tab === chosen;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
      const panel = document.getElementById(tab.getAttribute("aria-controls") ?? "");
      if (panel) panel.hidden = !on;
    }
  }

  tabs.forEach((tab, index) => {
    tab.addEventListener("click", () => select(tab));
    tab.addEventListener("keydown", (event) => {
      const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      const next = tabs[(index + step + tabs.length) % tabs.length];
      if (step === 0 || !next) return;
      select(next);
      next.focus();
    });
  });
}

/** On a narrow screen one panel shows at a time; answers with the function that shows one. */
export function wirePanels(bar: HTMLElement, app: HTMLElement): (name: string) => void {
  const buttons = [...bar.querySelectorAll<HTMLElement>("[data-panel]")];
  function show(name: string): void {
    app.dataset.panel = name;
    for (const node of buttons) {
      node.setAttribute("aria-pressed", String(node.dataset.panel === name));
    }
  }
  for (const node of buttons) {
    node.addEventListener("click", () => show(node.dataset.panel ?? "chat"));
  }
  return show;
}
