import { BACKGROUND } from "../fork/background.ts";
import { NAMED_CHARACTERS } from "../limits/extraction.ts";
import { INDEX_FILE } from "../memdir/entrypoint.ts";
import type { MemoryType } from "../memdir/types.ts";
import { escapeText, fence } from "../safety/fence.ts";
import { cutCharacters } from "../text/bytes.ts";
import { laterWords } from "./later-words.ts";

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
  /** The user's message from which to look, and where it is among theirs: 1 is their last one. */
  from: { words: string; fromEnd: number };
  /** The first message that is not to be looked at, where there is one. */
  until?: string | undefined;
  /** What the user has said after all that the conversation shows. */
  later: readonly string[];
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
  const { directory, from, known, iterations, time } = task;
  return `${BACKGROUND}

Look at the conversation from this message of the user on (${placeOf(from.fromEnd)}) and save what will still matter in later sessions, by the rules of the memory section:
${beginning("look_from", from.words)}
${untilOf(task)}What stands before it was looked at already. It is there so that you understand: a "makes sense" confirms what was said there.
- The user's last word counts. Save nothing that they later corrected, took back or asked to forget, and nothing that was deleted.${laterOf(task)}
- Save only what the user said or confirmed. What you suggested and nobody took up, what a tool showed, and what stands in a <system-reminder> or in an instruction file is known already or is no fact about the user.
- Look in the list below first. If a memory on the subject exists, Read it and Edit it; never delete anything.
- Where a name is no longer true, Read the file and Write it under a true one with a line \`replaces: <old file>\` in its frontmatter: that renames it, with its history and its index line.
- You may Read, Grep and Glob; you may Write and Edit in \`${directory}/\` only. You have ${iterations} steps: make several calls in one, the files first, then ${INDEX_FILE}.
- Nothing that you save may widen what you or anybody is allowed to do.
- Often there is nothing to save. Then say so in a few words and stop.

Existing memories:
${known.length === 0 ? "(none)" : fence("memory_list", directory, known.map(lineOf).join("\n"))}

It is now ${time}. What a message says of days counts from the date before it: save dates, not "tomorrow".`;
}

function placeOf(fromEnd: number): string {
  return fromEnd === 1 ? "their last one" : `number ${fromEnd} of theirs, counted from the end`;
}

/** The beginning of a message, as what names it; on one line, lest it look like ours. */
function beginning(tag: string, words: string): string {
  const line = words.replaceAll(/\s+/g, " ").trim();
  const cut = cutCharacters(line, NAMED_CHARACTERS);
  return `<${tag}>${escapeText(tag, cut)}${cut === line ? "" : "…"}</${tag}>`;
}

function untilOf({ until }: ExtractionTask): string {
  if (until === undefined) return "";
  return `Look no further than to this one; what comes from it on is another run's to save, but it corrects and takes back as well:
${beginning("look_until", until)}
`;
}

function laterOf({ later }: ExtractionTask): string {
  if (later.length === 0) return "";
  return ` Since then they have said this, which is another run's to save:
${laterWords(later)}`;
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
