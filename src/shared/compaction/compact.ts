// Compaction: what the conversation was is told in a summary, its newest messages stay as they are.
// The transcript is untouched; what comes of this is a view of it.

import { COMPACTED_FILES } from "../limits/compaction.ts";
import type { FailureKind } from "../loop/model.ts";
import { byteLength, cutBytes } from "../text/bytes.ts";
import type { Entry } from "../thread/entry.ts";
import type { Message } from "../thread/messages.ts";
import { BYTES_PER_TOKEN } from "../thread/tokens.ts";
import type { AttachedFile } from "./boundary.ts";
import { boundaryMessage } from "./boundary.ts";
import type { ContextLimits } from "./context-limits.ts";
import { recentFiles } from "./recent-files.ts";
import { messageTokens } from "./size.ts";
import type { Summary } from "./summarise.ts";
import { summarise } from "./summarise.ts";
import type { Tail } from "./tail.ts";
import { tailOf } from "./tail.ts";

export interface CompactionInput {
  /** What stands in the place of what earlier compactions cut, and the last message that they cut. */
  head: readonly Entry[];
  cut: number;
  /** The entries after that, as the model sees them. */
  tail: readonly Entry[];
  /** The session's notes, fit to be a summary, and the last message that they know of. */
  notes: { text: string; upTo: number } | undefined;
  limits: ContextLimits;
  /** Tokens, by their bytes, of what stands before the messages of every request. */
  fixed: number;
  /** Tokens that the API counts for one that the bytes say. */
  ratio: number;
}

export interface CompactionPorts {
  /** One call of the model over these messages, whose prefix is the conversation's where it can be. */
  summarise(messages: readonly Message[], signal: AbortSignal): Promise<Summary>;
  /** A file as it is now; undefined where it cannot be shown. */
  readFile(path: string): Promise<{ text: string; etag: string } | undefined>;
}

export type Compaction =
  | {
      status: "compacted";
      cut: number;
      head: Entry[];
      kept: Entry[];
      usedNotes: boolean;
      /** Files that the conversation shows whole from here on: canonical paths, and what they are. */
      files: { path: string; etag: string }[];
    }
  /** All of it is what would be kept. */
  | { status: "nothing" }
  | { status: "failed"; kind: FailureKind | "unfinished" };

/** Between the notes and what the model says of the time since. */
const SINCE = "\n\n# Since these notes\n";
/** Left free for the question itself. */
const TASK_TOKENS = 600;
/** A tail of notes may take so much of the room; with more, a summary tells it. */
const NOTES_TAIL_SHARE = 1 / 2;

/** Makes the view's new head. Changes nothing; never throws for what a port fails at. */
export async function compact(
  input: CompactionInput,
  ports: CompactionPorts,
  signal: AbortSignal,
): Promise<Compaction> {
  const tail = tailWithNotes(input) ?? tailOf(input.tail, input.limits.keep, input);
  if (tail.cut === 0) return { status: "nothing" };
  const left = input.tail.slice(0, input.tail.length - tail.kept.length);
  const told = await tell(input, left, ports, signal);
  if (told.status === "failed") return told;
  const summary = [input.notes?.text ?? "", told.text].filter((text) => text !== "").join(SINCE);
  const files = await attach(left, tail.kept, input.limits, ports);
  return {
    status: "compacted",
    cut: tail.cut,
    head: [boundaryEntry(boundaryMessage(summary, files)), ...tail.carried],
    kept: tail.kept,
    usedNotes: input.notes !== undefined,
    files: files.flatMap(({ path, etag, cut }) => (cut ? [] : [{ path, etag }])),
  };
}

/** It stands before all entries, and belongs to no turn. */
function boundaryEntry(message: Message): Entry {
  return { n: 0, turn: 0, origin: { type: "summary" }, message };
}

/** What the notes do not know has to stay. Undefined where there are none, or that is too much. */
function tailWithNotes(input: CompactionInput): Tail | undefined {
  const { notes, limits, ratio, head } = input;
  if (!notes || !knowsHead(input)) return undefined;
  const tail = tailOf(input.tail, limits.keep, { known: notes.upTo, head });
  const tokens = messageTokens(tail.kept.map(({ message }) => message));
  return tail.cut > 0 && tokens * ratio <= limits.room * NOTES_TAIL_SHARE ? tail : undefined;
}

/** Whether the notes know all that the head stands for, so that they may take its place. */
function knowsHead({ notes, cut }: CompactionInput): boolean {
  return notes !== undefined && notes.upTo >= cut;
}

/** What the model says of the messages that are cut and that no notes tell of; it is not asked for none. */
function tell(
  input: CompactionInput,
  left: readonly Entry[],
  ports: CompactionPorts,
  signal: AbortSignal,
): Promise<Summary> {
  const { head, limits, fixed, ratio } = input;
  const notes = knowsHead(input) ? input.notes : undefined;
  const unknown = notes ? left.filter(({ n }) => n > notes.upTo) : left;
  return summarise(
    {
      base: notes ? [boundaryMessage(notes.text, [])] : head.map(({ message }) => message),
      entries: unknown,
      asSent: notes === undefined,
      room: Math.floor(limits.room / ratio) - fixed - TASK_TOKENS,
    },
    ports.summarise,
    signal,
  );
}

/** The files that the agent used last and that what is kept does not show. */
async function attach(
  left: readonly Entry[],
  kept: readonly Entry[],
  limits: ContextLimits,
  { readFile }: CompactionPorts,
): Promise<(AttachedFile & { etag: string })[]> {
  const shown = new Set(recentFiles(kept.map(({ message }) => message)));
  const paths = recentFiles(left.map(({ message }) => message)).filter((path) => !shown.has(path));
  const files: (AttachedFile & { etag: string })[] = [];
  let room = limits.files * BYTES_PER_TOKEN;
  for (const path of paths.slice(0, COMPACTED_FILES)) {
    const file = await readFile(path);
    if (file === undefined || file.text.trim() === "") continue;
    const { text, etag } = file;
    const most = Math.min(room, limits.file * BYTES_PER_TOKEN);
    const part = byteLength(text) <= most ? text : wholeLines(text, most);
    if (part === "") continue;
    room -= byteLength(part);
    files.push({ path, text: part, etag, cut: part.length < text.length });
  }
  return files;
}

/** The lines of a text's beginning that fit into so many bytes. */
function wholeLines(text: string, most: number): string {
  const begun = cutBytes(text, most);
  return begun.slice(0, begun.lastIndexOf("\n") + 1);
}
