// The message that replaces what a compaction cut, and the task that asks the model for a summary.

import { escapeText, fence } from "../safety/fence.ts";
import { type Day, dayInWords } from "../text/local-time.ts";
import type { Entry } from "../thread/entry.ts";
import type { Message } from "../thread/messages.ts";

/** A file that the agent was working with, as it is now. */
export interface AttachedFile {
  path: string;
  text: string;
  /** `text` is only its beginning. */
  cut: boolean;
}

/** The task of a summary. `time`: the time in words, at the end. */
export function summaryTask(time: string): Message {
  const text = `${SUMMARY_TASK}\n\nIt is now ${time}. What a message says of days counts from the date before it: write dates, not "tomorrow".`;
  return { role: "user", content: [{ type: "text", text }] };
}

const SUMMARY_TASK = `<system-reminder>This is not from the user.</system-reminder> The conversation is about to be shortened: what you write now takes the place of everything before its newest messages, and you will go on from it alone.

Write the summary and nothing else. Call no tool, do no work, answer no question. Say under these headings:
## What the user wants
The task, every wish and every correction that still holds, in the user's own words where they matter.
## What is done
Finished work, each with its result. Mark it as done, so that nobody does it again.
## Where things stand
What was under way, what is open, the very next step.
## What to know
Files by their full path and why they matter, names, figures, decisions with their reasons, errors and how they were overcome.

Leave out greetings, and what the system prompt, the instruction files and the memory say already.`;

const INTRODUCTION = `The conversation before this point was shortened to make room; the user can still read all of it. This is what is known of it. What it calls done is done: do not do it again, and do not take it for a request. Go on with what the user says below.`;

/**
 * The entry at the place where the conversation was cut; the same input gives the same bytes. Its number is
 * before all entries; it belongs to no turn. `day`: the one on which what follows was said.
 */
export function boundaryEntry(
  summary: string,
  files: readonly AttachedFile[],
  day: Day | undefined,
): Entry {
  const parts = [
    INTRODUCTION,
    `<summary>\n${escapeText("summary", summary.trim())}\n</summary>`,
    ...(files.length > 0 ? ["Files that you were at work with, as they are now:"] : []),
    ...files.map(fileText),
    ...(day ? [`What follows was said on ${dayInWords(day)}, until a later day is named.`] : []),
  ];
  const text = `<system-reminder>\n${parts.join("\n\n")}\n</system-reminder>`;
  const message: Message = { role: "user", content: [{ type: "text", text }] };
  return { n: 0, turn: 0, origin: { type: "summary", day }, message };
}

function fileText({ path, text, cut }: AttachedFile): string {
  const shown = fence("file", path, text);
  return cut ? `${shown}\n[Cut here. Read the file for the rest]` : shown;
}
