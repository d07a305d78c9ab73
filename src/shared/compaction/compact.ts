// Compaction: what the conversation was is told in a summary, its newest messages stay as they are.
// The transcript is untouched; what comes of this is a view of it.

import { COMPACTED_FILES, COMPACTION_ATTEMPTS } from "../limits.ts";
import type { Message } from "../query/messages.ts";
import type { FailureKind } from "../query/model.ts";
import { BYTES_PER_TOKEN } from "../query/tokens.ts";
import { byteLength, cutBytes } from "../text.ts";
import type { AttachedFile } from "./boundary.ts";
import { boundaryMessage, SUMMARY_TASK } from "./boundary.ts";
import type { ContextLimits } from "./context-limits.ts";
import { recentFiles } from "./recent-files.ts";
import { shrink } from "./shrink.ts";
import { messageTokens } from "./size.ts";
import type { Placed, Tail } from "./tail.ts";
import { isSaid, tailOf } from "./tail.ts";

export interface CompactionInput {
  /** What stands in the place of what earlier compactions cut. */
  head: readonly Message[];
  /** The messages behind that, as the model sees them. */
  placed: readonly Placed[];
  /** The session's notes, fit to be a summary, and the last message that they know of. */
  notes: { text: string; upTo: number } | undefined;
  limits: ContextLimits;
}

export type Summary =
  | { status: "answered"; text: string }
  | { status: "failed"; kind: FailureKind | "empty" };

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
      head: Message[];
      kept: Placed[];
      usedNotes: boolean;
      /** Files that the conversation shows whole from here on: canonical paths, and what they are. */
      files: { path: string; etag: string }[];
    }
  /** All of it is what would be kept. */
  | { status: "nothing" }
  | { status: "failed"; kind: FailureKind | "empty" };

/** A tail of notes may take so much of the room; with more, a summary tells it. */
const NOTES_TAIL_SHARE = 1 / 2;

/** Makes the view's new head. Changes nothing; never throws for what a port fails at. */
export async function compact(
  input: CompactionInput,
  ports: CompactionPorts,
  signal: AbortSignal,
): Promise<Compaction> {
  const noted = tailWithNotes(input);
  const tail = noted ?? tailOf(input.placed, input.limits.keep);
  if (tail.cut === 0) return { status: "nothing" };
  let summary = noted ? input.notes?.text : undefined;
  if (summary === undefined) {
    const said = await summarise(input, ports, signal);
    if (said.status === "failed") return said;
    summary = said.text;
  }
  const left = input.placed.slice(0, input.placed.length - tail.kept.length);
  const files = await attach(left, tail.kept, input.limits, ports);
  return {
    status: "compacted",
    cut: tail.cut,
    head: [boundaryMessage(summary, files), ...tail.carried],
    kept: tail.kept,
    usedNotes: noted !== undefined,
    files: files.flatMap(({ path, etag, cut }) => (cut ? [] : [{ path, etag }])),
  };
}

/** What the notes do not know has to stay. Undefined where there are none, or that is too much. */
function tailWithNotes({ notes, placed, limits }: CompactionInput): Tail | undefined {
  if (!notes) return undefined;
  const tail = tailOf(placed, limits.keep, notes.upTo);
  const tokens = messageTokens(tail.kept.map(({ message }) => message));
  return tail.cut > 0 && tokens <= limits.room * NOTES_TAIL_SHARE ? tail : undefined;
}

/** Asks for a summary; where the conversation is too long even for that, without its oldest part. */
async function summarise(
  { head, placed }: CompactionInput,
  ports: CompactionPorts,
  signal: AbortSignal,
): Promise<Summary> {
  const task: Message = { role: "user", content: [{ type: "text", text: SUMMARY_TASK }] };
  let said: Summary = { status: "failed", kind: "too_long" };
  for (let attempt = 0; attempt < COMPACTION_ATTEMPTS; attempt += 1) {
    const messages =
      attempt === 0
        ? [...head, ...placed.map(({ message }) => message)]
        : [...head, ...shortened(placed, attempt / COMPACTION_ATTEMPTS)];
    said = await ports.summarise([...messages, task], signal);
    if (said.status === "answered" || said.kind !== "too_long") return said;
  }
  return said;
}

/** Without results that can be had again, and without the oldest part, up to the user's next words. */
function shortened(placed: readonly Placed[], part: number): Message[] {
  const most = messageTokens(placed.map(({ message }) => message)) * part;
  let dropped = 0;
  const from = placed.findIndex(({ message }) => {
    if (dropped > most && isSaid(message)) return true;
    dropped += messageTokens([message]);
    return false;
  });
  const rest = placed.slice(Math.max(0, from)).map(({ message }) => message);
  return shrink(rest, { results: rest.length, thinking: rest.length });
}

/** The files that the agent used last and that what is kept does not show. */
async function attach(
  left: readonly Placed[],
  kept: readonly Placed[],
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
