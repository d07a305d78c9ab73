import type { ScriptStep, ToolStep } from "../script.ts";
import { type Procedure, play } from "./play.ts";
import type { View } from "./view.ts";
import { oneLine } from "./words.ts";

const KEPT_LINES = 10;
const KEPT_CHARACTERS = 200;

/** Fills the sections of the notes file that the task shows, by one Edit each. */
export function updateNotes(view: View): ScriptStep {
  return play(update(view), view);
}

function* update(view: View): Procedure {
  const path = /(\/[^\s`"'<>]+\.md)\b/.exec(view.prompt)?.[1];
  const from = view.prompt.search(/^#+ /m);
  if (path === undefined || from < 0) return "I was shown no notes to update.";
  const notes = view.prompt.slice(from).replace(/\n<\/[\s\S]*$/, "");
  const tooLong = sectionsToCondense(view.prompt.slice(0, from));
  const edits = notes.split(/^(?=#+ )/m).flatMap((section) => editOf(section, view, path, tooLong));
  if (edits.length === 0) return "The notes have none of the sections that I know.";
  const results = yield edits;
  const failed = results.find(({ isError }) => isError);
  return failed ? `The notes could not be updated: ${failed.result}` : "The notes are up to date.";
}

// Keeps the heading and the line that explains it. Says the rest anew, but lets the log grow.
function editOf(section: string, view: View, path: string, tooLong: string[]): ToolStep[] {
  const [heading = "", ...lines] = section.trimEnd().split("\n");
  const said = contentFor(heading.toLowerCase(), view);
  const condense = tooLong.includes(heading.replace(/^#+ /, ""));
  if (said === undefined && !condense) return [];
  const explained = lines.findIndex((line) => /^[_*].*[_*]$/.test(line.trim()));
  const head = [heading, ...lines.slice(0, explained + 1)].join("\n");
  const before = lines.slice(explained + 1).filter((line) => line.trim());
  const grows = said === undefined || /log/i.test(heading);
  const kept = grows ? (condense ? condensed(before) : before) : [];
  if (said !== undefined) kept.push(said);
  const new_string = [head, ...kept].join("\n");
  if (new_string === section.trimEnd()) return [];
  return [{ name: "Edit", input: { file_path: path, old_string: section.trimEnd(), new_string } }];
}

// "Condense these sections …: "Work log" (2,345 tokens), …"
function sectionsToCondense(task: string): string[] {
  const [line = ""] = /^.*\bcondense these sections\b.*$/im.exec(task) ?? [];
  return [...line.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name);
}

function condensed(lines: readonly string[]): string[] {
  return lines.slice(-KEPT_LINES).map((line) => oneLine(line, KEPT_CHARACTERS));
}

function contentFor(heading: string, view: View): string | undefined {
  const asked = view.earlier.filter(({ role }) => role === "user");
  const answered = view.earlier.findLast(({ role }) => role === "assistant");
  if (heading.includes("title")) return oneLine(asked[0]?.text ?? "Conversation", 60);
  if (heading.includes("current state")) return oneLine(answered?.text ?? "Just begun.", 300);
  if (heading.includes("task")) return oneLine(asked[0]?.text ?? "None yet.", 300);
  if (heading.includes("log")) return `- ${oneLine(asked.at(-1)?.text ?? "Nothing yet.", 200)}`;
  return undefined;
}
