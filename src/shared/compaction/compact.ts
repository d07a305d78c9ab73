// Compaction: a summary replaces the older messages, the newest ones stay as they are. The transcript
// does not change; the result is a view of it.

import { COMPACTED_FILES } from "../limits/compaction.ts";
import type { FailureKind } from "../loop/model.ts";
import { byteLength, cutBytes } from "../text/bytes.ts";
import type { Entry } from "../thread/entry.ts";
import { dayIn } from "../thread/entry.ts";
import type { Message } from "../thread/messages.ts";
import { BYTES_PER_TOKEN } from "../thread/tokens.ts";
import type { AttachedFile } from "./boundary.ts";
import { boundaryEntry } from "./boundary.ts";
import type { ContextLimits } from "./context-limits.ts";
import { recentFiles } from "./recent-files.ts";
import { messageTokens } from "./size.ts";
import type { Summary } from "./summarise.ts";
import { summarise } from "./summarise.ts";
import type { Tail } from "./tail.ts";
import { tailOf } from "./tail.ts";

export interface CompactionInput {
  /** What replaces the entries that earlier compactions cut, and the number of the last such entry. */
  head: readonly Entry[];
  cut: number;
  /** The entries after that, as the model sees them. */
  tail: readonly Entry[];
  /** The session's notes, short enough for a summary, and the number of the last entry they cover. */
  notes: { text: string; upTo: number } | undefined;
  limits: ContextLimits;
  /** Tokens by bytes of the part before the messages of every request. */
  fixed: number;
  /** Tokens by the API's count for one token by bytes. */
  ratio: number;
  /** The time now, in words. */
  time: string;
}

export interface CompactionPorts {
  /** One call of the model with these messages. */
  summarise(messages: readonly Message[], signal: AbortSignal): Promise<Summary>;
  /** A file as it is now; undefined if it cannot be shown. */
  readFile(path: string): Promise<{ text: string; etag: string } | undefined>;
}

export type Compaction =
  | {
      status: "compacted";
      cut: number;
      head: Entry[];
      kept: Entry[];
      usedNotes: boolean;
      /** Canonical paths and etags of the files that the new head shows whole. */
      files: { path: string; etag: string }[];
    }
  /** Every entry would be kept. */
  | { status: "nothing" }
  | { status: "failed"; kind: FailureKind | "unfinished" };

/** Between the notes and the summary of the entries after them. */
const SINCE = "\n\n# Since these notes\n";
/** Room for the summary task itself. */
const TASK_TOKENS = 600;
/** The notes are used only if the entries after them take at most this part of the room. */
const NOTES_TAIL_SHARE = 1 / 2;

/** Makes the view's new head. Changes nothing. A failed summary is returned, not thrown. */
export async function compact(
  input: CompactionInput,
  ports: CompactionPorts,
  signal: AbortSignal,
): Promise<Compaction> {
  const tail = tailWithNotes(input) ?? tailOf(input.tail, input.limits.keep, input);
  if (tail.cut === 0) return { status: "nothing" };
  const removed = input.tail.slice(0, input.tail.length - tail.kept.length);
  const answer = await summariseRemoved(input, removed, ports, signal);
  if (answer.status === "failed") return answer;
  const summary = [input.notes?.text ?? "", answer.text].filter((text) => text !== "").join(SINCE);
  const files = await attachFiles(removed, tail.kept, input.limits, ports);
  return {
    status: "compacted",
    cut: tail.cut,
    head: [boundaryEntry(summary, files, dayAfter(input, tail)), ...tail.carried],
    kept: tail.kept,
    usedNotes: input.notes !== undefined,
    files: files.flatMap(({ path, etag, cut }) => (cut ? [] : [{ path, etag }])),
  };
}

/** The day on which the first entry after the boundary was said. */
function dayAfter({ head, tail: entries }: CompactionInput, tail: Tail) {
  const first = tail.carried[0] ?? tail.kept[0];
  return dayIn([...head, ...entries].filter(({ n }) => first === undefined || n < first.n));
}

/** Keeps every entry that the notes do not cover. Undefined without notes, or if that is too much. */
function tailWithNotes(input: CompactionInput): Tail | undefined {
  const { notes, limits, ratio, head } = input;
  if (!notes || !notesCoverHead(input)) return undefined;
  const tail = tailOf(input.tail, limits.keep, { known: notes.upTo, head });
  const tokens = messageTokens(tail.kept.map(({ message }) => message));
  return tail.cut > 0 && tokens * ratio <= limits.room * NOTES_TAIL_SHARE ? tail : undefined;
}

/** Whether the notes cover all that the head replaces, so that they may replace the head. */
function notesCoverHead({ notes, cut }: CompactionInput): boolean {
  return notes !== undefined && notes.upTo >= cut;
}

/** Summarises the removed entries that no notes cover; without any it calls no model. */
function summariseRemoved(
  input: CompactionInput,
  removed: readonly Entry[],
  ports: CompactionPorts,
  signal: AbortSignal,
): Promise<Summary> {
  const { head, limits, fixed, ratio } = input;
  const notes = notesCoverHead(input) ? input.notes : undefined;
  const uncovered = notes ? removed.filter(({ n }) => n > notes.upTo) : removed;
  const covered = [...head, ...removed.slice(0, removed.length - uncovered.length)];
  return summarise(
    {
      base: notes ? [boundaryEntry(notes.text, [], dayIn(covered))] : head,
      entries: uncovered,
      asSent: notes === undefined,
      room: Math.floor(limits.room / ratio) - fixed - TASK_TOKENS,
      time: input.time,
    },
    ports.summarise,
    signal,
  );
}

/** The files that the agent used last and that the kept entries do not show. */
async function attachFiles(
  removed: readonly Entry[],
  kept: readonly Entry[],
  limits: ContextLimits,
  { readFile }: CompactionPorts,
): Promise<(AttachedFile & { etag: string })[]> {
  const shown = new Set(recentFiles(kept.map(({ message }) => message)));
  const paths = recentFiles(removed.map(({ message }) => message)).filter(
    (path) => !shown.has(path),
  );
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

/** The first lines of a text that fit into `most` bytes. */
function wholeLines(text: string, most: number): string {
  const beginning = cutBytes(text, most);
  return beginning.slice(0, beginning.lastIndexOf("\n") + 1);
}
