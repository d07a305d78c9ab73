/** The notes fork's path of the notes. No other agent has it, and no store has the file. */
export const NOTES_PATH = "/session/notes.md";

/** The sections of the notes in their order, each with a hint that says what belongs there. */
export const NOTES_SECTIONS = [
  { name: "Title", hint: "What this conversation is about, in a handful of words" },
  { name: "Current state", hint: "What is being done right now, what is half done, the next step" },
  {
    name: "Task",
    hint: "What the user asked for, in their words where these matter; choices made",
  },
  { name: "Files and functions", hint: "Paths and names that matter, and what each is for" },
  { name: "Workflow", hint: "Commands that are run, in which order, and how to read their output" },
  { name: "Errors and corrections", hint: "What failed and why, what the user put right" },
  { name: "Lessons", hint: "What worked, what did not and is not to be tried again" },
  {
    name: "Key results",
    hint: "Answers, figures and texts that the user wanted, exactly as given",
  },
  { name: "Work log", hint: "One short line a step, the newest last" },
] as const;

/** Sections on the state of the work: they are cut only by their own limit. */
export const KEPT_WHOLE: ReadonlySet<string> = new Set(["Current state", "Errors and corrections"]);

/** A hint as the line under its heading. */
export function hintLine(hint: string): string {
  return `_${hint}_`;
}

/** The notes of a new session. */
export const NOTES_TEMPLATE = NOTES_SECTIONS.map(
  ({ name, hint }) => `# ${name}\n${hintLine(hint)}\n`,
).join("\n");
