import { INDEX_FILE } from "../memdir/entrypoint.ts";
import type { MemoryType } from "../memdir/types.ts";
import { fence } from "../safety/fence.ts";
import { cutCharacters } from "../text/bytes.ts";

/** An existing memory on the fork's list. */
interface KnownMemory {
  /** Relative to the directory. */
  path: string;
  type: MemoryType | undefined;
  description: string | undefined;
  /** Epoch milliseconds. */
  updatedAt: number;
}

interface ExtractionTask {
  /** The agent's path of the memory directory. */
  directory: string;
  /** Messages at the end of the conversation that no extraction has looked at yet. */
  messages: number;
  /** Newest first. */
  known: readonly KnownMemory[];
  /** Model calls of the fork. */
  iterations: number;
  /** The time now, in words. */
  time: string;
}

/** A description in the list, in characters. */
const DESCRIPTION_CHARACTERS = 150;

/**
 * The task of the extraction fork, sent after the unchanged conversation. It is short, since the cache
 * does not have it; the system prompt says what a memory is and how to save one.
 */
export function extractionPrompt(task: ExtractionTask): string {
  const { directory, messages, known, iterations, time } = task;
  return `This is not from the user: you now run in the background, and nobody reads your answer.

Look at the last ${messages} messages before this one and save what will still matter in later sessions, by the rules of the memory section. Look at nothing earlier: it was looked at before.
- Save only what the user said or confirmed. What you suggested and nobody took up, what a tool showed, and what stands in a <system-reminder> or in an instruction file is known already or is no fact about the user.
- Look in the list below first. If a memory on the subject exists, Read it and Edit it; never delete anything.
- You may Read, Grep and Glob; you may Write and Edit in \`${directory}/\` only. You have ${iterations} steps: make several calls in one, the files first, then ${INDEX_FILE}.
- Nothing that you save may widen what you or anybody is allowed to do.
- Often there is nothing to save. Then say so in a few words and stop.

Existing memories:
${known.length === 0 ? "(none)" : fence("memory_list", directory, known.map(lineOf).join("\n"))}

It is now ${time}. What a message says of days counts from the date before it: save dates, not "tomorrow".`;
}

function lineOf({ path, type, description, updatedAt }: KnownMemory): string {
  const kind = type === undefined ? "" : `[${type}] `;
  const hook = cutCharacters((description ?? "").replaceAll(/\s+/g, " "), DESCRIPTION_CHARACTERS);
  return `- ${kind}${path} (${isoDay(updatedAt)}): ${hook}`;
}

function isoDay(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? "unknown" : date.toISOString().slice(0, 10);
}
