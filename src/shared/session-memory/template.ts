/** Where the notes fork finds the notes: a path that only it has, of a file that lies in no store. */
export const NOTES_PATH = "/session/notes.md";

/** The sections of the notes in their order, each with a line that says what belongs there. */
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

/** Sections that say where the work stands give way only where they are too long themselves. */
export const KEPT_WHOLE: ReadonlySet<string> = new Set(["Current state", "Errors and corrections"]);

/** The line under a heading that says what belongs there. */
export function hintLine(hint: string): string {
  return `_${hint}_`;
}

/** The notes of a session in which nothing was noted yet. */
export const NOTES_TEMPLATE = NOTES_SECTIONS.map(
  ({ name, hint }) => `# ${name}\n${hintLine(hint)}\n`,
).join("\n");
