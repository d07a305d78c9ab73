import { TOOL_RESULT_BYTES, TOOL_RESULTS_BYTES } from "../limits/tools.ts";
import { ANSWER_TOKENS } from "../limits/turn.ts";
import { BYTES_PER_TOKEN } from "../thread/tokens.ts";

/** The limits that follow from a model's context window. Tokens, unless stated otherwise. */
export interface ContextLimits {
  window: number;
  /** Reserved for the answer. */
  answer: number;
  /** For the request: the rest of the window. */
  room: number;
  /** At this size old results and old thinking are left out. */
  shrinkAt: number;
  /** At this size the conversation is compacted. */
  compactAt: number;
  /** The newest messages that a compaction keeps as they are. */
  keep: number;
  /** Files that a compaction attaches again: all together, and one. */
  files: number;
  file: number;
  /** One tool result in UTF-8 bytes, and all results of an answer in bytes of JSON. */
  resultBytes: number;
  resultsBytes: number;
}

/** Of a small window the answer gets a fifth; of a large one `ANSWER_TOKENS`. */
const ANSWER_SHARE = 1 / 5;
/** Between `compactAt` and the end of the room: one large step, or a tenth of a small room. */
const COMPACT_BUFFER = 13_000;
const COMPACT_SHARE = 1 / 10;
const SHRINK_SHARE = 3 / 5;
const KEEP = 10_000;
const KEEP_SHARE = 1 / 5;
const FILES = 25_000;
const FILES_SHARE = 3 / 20;
const FILE = 5_000;

/** `window` in tokens. */
export function contextLimits(window: number): ContextLimits {
  const answer = Math.min(ANSWER_TOKENS, Math.floor(window * ANSWER_SHARE));
  const room = window - answer;
  const share = (part: number, most: number) => Math.min(most, Math.floor(room * part));
  const files = share(FILES_SHARE, FILES);
  return {
    window,
    answer,
    room,
    shrinkAt: Math.floor(room * SHRINK_SHARE),
    compactAt: room - share(COMPACT_SHARE, COMPACT_BUFFER),
    keep: share(KEEP_SHARE, KEEP),
    files,
    file: Math.min(FILE, Math.floor(files / 2)),
    resultBytes: share(BYTES_PER_TOKEN / 5, TOOL_RESULT_BYTES),
    resultsBytes: share((2 * BYTES_PER_TOKEN) / 5, TOOL_RESULTS_BYTES),
  };
}
