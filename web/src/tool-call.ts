import { button, element } from "./element.ts";
import type { SessionEvent } from "./event.ts";
import type { Verdict } from "./events.ts";
import { asText, type Json } from "./json.ts";
import { type Roots, shortPath, splitPath } from "./paths.ts";

export type ToolCallView = {
  node: HTMLElement;
  /** The user's answer, here or on another page. */
  setVerdict: (allowed: boolean) => void;
  setResult: (text: string, failed: boolean) => void;
};

/** Sends the user's answer; false where it was not taken. */
export type Decide = (id: string, verdict: Verdict) => Promise<boolean>;

/** What a call is about, in a few words: its path or pattern, else nothing. */
function toolSubject(input: Json): string {
  const subject = [input.file_path, input.pattern, input.path].map((value) => asText(value));
  return subject.find((text) => text !== "") ?? "";
}

/** Who has to answer before a call runs; the words for it. */
const WAITING = { "": "running", user: "needs your answer", client: "waits for its client" };

/** One line that opens to show the input and the result; one that asks is open and has two buttons. */
export function createToolCall(
  { id, name, input, waitsFor }: Extract<SessionEvent, { kind: "tool-use" }>,
  roots: Roots,
  decide: Decide,
): ToolCallView {
  const subject = toolSubject(input);
  const [folder, last] = splitPath(shortPath(subject, roots));
  const mark = element("span", { class: "mark" }, WAITING[waitsFor]);
  const result = element("pre", { class: "result", tabindex: "0", hidden: true });
  const buttons = verdictButtons(async (verdict) => {
    if (!(await decide(id, verdict))) for (const each of buttons.children) enable(each, true);
  });
  buttons.hidden = waitsFor !== "user";
  const node = element(
    "details",
    {
      class: "tool-call",
      "data-testid": "tool-call",
      "data-state": waitsFor === "" ? "running" : "waiting",
      "data-event-id": id,
      open: waitsFor === "user",
    },
    element(
      "summary",
      {},
      element("span", { class: "tool-name" }, name || "tool"),
      element(
        "span",
        { class: "tool-subject", title: subject || undefined },
        element("span", { class: "tool-folder" }, folder),
        element("span", {}, last),
      ),
      mark,
    ),
    element("pre", { tabindex: "0" }, JSON.stringify(input, null, 2)),
    buttons,
    result,
  );
  return {
    node,
    setVerdict(allowed) {
      buttons.hidden = true;
      node.dataset.state = "running";
      mark.textContent = allowed ? "allowed" : "denied";
    },
    setResult(text, failed) {
      buttons.hidden = true;
      node.dataset.state = failed ? "failed" : "done";
      mark.textContent = failed ? "failed" : "done";
      result.textContent = text || "(no output)";
      result.hidden = false;
    },
  };
}

/** Allow and deny: pressed once, and again only where the answer was not taken. */
function verdictButtons(press: (verdict: Verdict) => void): HTMLElement {
  const box = element("div", { class: "verdict" });
  const one = (verdict: Verdict, label: string) =>
    button(
      label,
      () => {
        for (const each of box.children) enable(each, false);
        press(verdict);
      },
      { "data-testid": verdict },
    );
  box.append(one("allow", "Allow"), one("deny", "Deny"));
  return box;
}

function enable(control: Element, enabled: boolean): void {
  if (control instanceof HTMLButtonElement) control.disabled = !enabled;
}
