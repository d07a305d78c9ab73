import { element } from "./element.ts";
import type { AutoMemory } from "./sessions.ts";
import type { Touched } from "./touched-memory.ts";

type View = { hasSession: boolean; memory: AutoMemory | undefined; touched: Touched[] };

/** Draws the memory tab anew: how auto memory stands for the session, and what its tools touched. */
export function drawMemoryPanel(panel: HTMLElement, view: View): void {
  const note = element(
    "p",
    { class: "hint" },
    "Browsing memory stores and their versions comes with the memory store API.",
  );
  if (!view.hasSession) {
    panel.replaceChildren(element("p", {}, "Open a session to see its memory."), note);
    return;
  }
  panel.replaceChildren(
    element("h2", { class: "panel-title" }, "Auto memory"),
    ...describe(view.memory),
    element("h2", { class: "panel-title" }, "Memory files of this session"),
    touchedList(view.touched),
    note,
  );
}

function describe(memory: AutoMemory | undefined): HTMLElement[] {
  if (!memory) return [element("p", {}, "The service says nothing about it for this session.")];
  const facts: [string, string][] = [
    ["State", memory.enabled ? "On" : "Off"],
    ["Rule", memory.rule],
    ["Directory", memory.directory],
    ["Store", memory.storeId],
  ];
  const rows = facts
    .filter(([, value]) => value !== "")
    .flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
  const list = element("dl", { class: "facts", "data-testid": "auto-memory" }, ...rows);
  if (memory.ignored.length === 0) return [list];
  const ignored = memory.ignored.map(({ source, key, reason }) =>
    element("li", {}, element("code", {}, key), ` from ${source}: ${reason}`),
  );
  return [
    list,
    element("h3", {}, "Ignored settings"),
    element("ul", { class: "plain-list" }, ...ignored),
  ];
}

function touchedList(touched: Touched[]): HTMLElement {
  if (touched.length === 0) return element("p", { class: "hint" }, "None read or written yet.");
  const items = touched.map(({ path, acts }) =>
    element(
      "li",
      { "data-testid": "memory-file", "data-path": path },
      element("span", { class: "file-name" }, path),
      element("span", { class: "hint" }, acts.join(", ")),
    ),
  );
  return element("ul", { class: "file-list" }, ...items);
}
