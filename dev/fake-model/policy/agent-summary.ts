import type { ScriptStep } from "../script.ts";
import type { View } from "./view.ts";

const DOING: Record<string, string> = {
  Read: "Reading the file",
  Write: "Writing the file",
  Edit: "Editing the file",
  Delete: "Deleting the file",
  Glob: "Listing files matching",
  Grep: "Searching files for",
};

/** Three to five words on what the last tool call was about. */
export function summarizeProgress(view: View): ScriptStep {
  const last = [...view.earlierCalls, ...view.calls].at(-1);
  const doing = last && DOING[last.name];
  if (!doing) return { text: "Working on the task" };
  const subject = String(last.input.file_path ?? last.input.pattern ?? "");
  const word = subject.split("/").at(-1)?.trim().split(/\s+/)[0];
  return { text: `${doing} ${word || "unnamed"}` };
}
