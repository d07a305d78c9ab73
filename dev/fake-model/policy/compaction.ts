import type { ScriptStep } from "../script.ts";
import type { View } from "./view.ts";
import { oneLine } from "./words.ts";

const MAX_REQUESTS = 20;

/** A summary of what was asked, what was touched and where things stand. */
export function summarize(view: View): ScriptStep {
  const asked = view.earlier.filter(({ role }) => role === "user").slice(-MAX_REQUESTS);
  const answered = view.earlier.findLast(({ role }) => role === "assistant");
  const touched = view.earlierCalls.flatMap(({ name, input }) =>
    typeof input.file_path === "string" ? [`- ${name} ${input.file_path}`] : [],
  );
  const parts = [
    "Summary of the conversation so far (by the demo model).",
    `What the user asked:\n${asked.map(({ text }) => `- ${oneLine(text, 200)}`).join("\n")}`,
    touched.length > 0 ? `Files:\n${[...new Set(touched)].join("\n")}` : "",
    `Where things stand: ${oneLine(answered?.text ?? "nothing was answered yet", 400)}`,
  ];
  return { text: parts.filter((part) => part !== "").join("\n\n") };
}
