import { element } from "./element.ts";
import { asText, type Json } from "./json.ts";
import { type Roots, shortPath, splitPath } from "./paths.ts";

export type ToolCallView = {
  node: HTMLElement;
  setResult: (text: string, failed: boolean) => void;
};

/** What a call is about, in a few words: its path or pattern, else nothing. */
function toolSubject(input: Json): string {
  const subject = [input.file_path, input.pattern, input.path].map((value) => asText(value));
  return subject.find((text) => text !== "") ?? "";
}

/** One line that opens to show the input and the result. */
export function createToolCall(id: string, name: string, input: Json, roots: Roots): ToolCallView {
  const subject = toolSubject(input);
  const [folder, last] = splitPath(shortPath(subject, roots));
  const mark = element("span", { class: "mark" }, "running");
  const result = element("pre", { class: "result", tabindex: "0", hidden: true });
  const node = element(
    "details",
    {
      class: "tool-call",
      "data-testid": "tool-call",
      "data-state": "running",
      "data-event-id": id,
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
    result,
  );
  return {
    node,
    setResult(text, failed) {
      node.dataset.state = failed ? "failed" : "done";
      mark.textContent = failed ? "failed" : "done";
      result.textContent = text || "(no output)";
      result.hidden = false;
    },
  };
}
