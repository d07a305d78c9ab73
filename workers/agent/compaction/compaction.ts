// Steps 2 to 7 of a session's loop: what is done to the view of the conversation so that it fits its
// model, and when. What changes is one transaction; a crash before it has changed nothing.

import { sleep } from "../../../src/platform/sleep.ts";
import { noteSeen } from "../../../src/platform/threads/calls.ts";
import { lastMessage } from "../../../src/platform/threads/entries.ts";
import { canonicalPaths, forgetSeen } from "../../../src/platform/threads/read-files.ts";
import {
  changeContext,
  fixedTokens,
  readContext,
  tailTokens,
} from "../../../src/platform/threads/size.ts";
import {
  readMessages,
  readViewed,
  readViewRow,
  sentMessages,
  show,
  writeView,
} from "../../../src/platform/threads/view.ts";
import type { AgentSettings } from "../../../src/platform/variables.ts";
import type { Compaction } from "../../../src/shared/compaction/compact.ts";
import { compact } from "../../../src/shared/compaction/compact.ts";
import type { ContextLimits } from "../../../src/shared/compaction/context-limits.ts";
import { messageTokens, promptTokens } from "../../../src/shared/compaction/size.ts";
import { tailOf } from "../../../src/shared/compaction/tail.ts";
import { COMPACTION_FAILURES } from "../../../src/shared/limits/compaction.ts";
import { NOTES_SECTION_TOKENS, NOTES_TOKENS } from "../../../src/shared/limits/notes.ts";
import type { Prepared } from "../../../src/shared/loop/loop.ts";
import { type Message, toolCallsOf } from "../../../src/shared/loop/messages.ts";
import type { ModelFailure } from "../../../src/shared/loop/model.ts";
import { notesHaveContent } from "../../../src/shared/session-memory/sections.ts";
import { notesForSummary } from "../../../src/shared/session-memory/summary.ts";
import type { AgentEnv } from "../../env.ts";
import { compactionError } from "../contract/session-errors.ts";
import { appendEvent } from "../rows/events.ts";
import type { SessionNotes } from "../rows/notes.ts";
import { readNotes, rebaseNotes } from "../rows/notes.ts";
import { forgetShown } from "../rows/recalls.ts";
import { limitsOf } from "../setup/model-ports.ts";
import { type Conversation, countPrompt, fileNow, isIndex, summarise } from "./compaction-model.ts";
import { shrinkView } from "./shrink-view.ts";

export interface CompactionPorts {
  sql: SqlStorage;
  env: Pick<AgentEnv, "FILES">;
  settings: AgentSettings;
  commit(write: () => void): void;
  now(): number;
  notes: SessionNotes;
}

export type Trigger = "auto" | "manual" | "too_long";

/** The conversation grows by this part of the room before the same is tried again. */
const COMPACT_AGAIN = 1 / 10;
/** The notes take at most this part of a small room. */
const NOTES_SHARE = 1 / 4;
/** An estimate whose uncounted part may be off by this much is not trusted near a threshold. */
const DOUBT = 1 / 4;

/**
 * Makes the conversation fit before a model call: leaves out what can be had again, then compacts,
 * then refuses. `tooLong`: the model has just refused it, whatever the figures say.
 */
export async function prepareContext(
  ports: CompactionPorts,
  of: Conversation,
  tooLong: boolean,
  signal: AbortSignal,
): Promise<Prepared> {
  const { sql, settings } = ports;
  const limits = limitsOf(settings, of.meta.model);
  let changed = false;
  let tokens = await sizeOf(ports, of, limits.shrinkAt, signal);
  if (tokens >= Math.max(limits.shrinkAt, readContext(sql).shrinkFrom) || tooLong) {
    changed = shrinkView(ports, limits, tokens);
    if (changed) tokens = await sizeOf(ports, of, limits.compactAt, signal);
  }
  const { requested, compactFrom } = readContext(sql);
  const due = tokens >= Math.max(limits.compactAt, compactFrom) && mayTry(ports, of);
  if ((tooLong || due) && leastTokens(sql, of) > limits.room) {
    // Nothing that is left out would make it fit.
    return { status: "refused", failure: tooLarge(of, limits, tokens) };
  }
  if (tooLong || requested || due) {
    const trigger = tooLong ? "too_long" : requested ? "manual" : "auto";
    const status = await compactNow(ports, of, trigger, tokens, signal);
    if (status === "compacted") {
      changed = true;
      tokens = await sizeOf(ports, of, limits.room, signal);
    } else if (tooLong && status !== "stopped") {
      return { status: "refused", failure: tooLarge(of, limits, tokens) };
    }
  }
  if (signal.aborted) return { status: "ready" };
  if (tokens > limits.room) return { status: "refused", failure: tooLarge(of, limits, tokens) };
  return changed ? { status: "ready", messages: readMessages(sql) } : { status: "ready" };
}

/** `stopped`: its signal was aborted before anything was changed. */
export type Compacted = Compaction["status"] | "stopped";

/** Compacts, whatever the size. `tokens` is the conversation's before it. */
export async function compactNow(
  ports: CompactionPorts,
  of: Conversation,
  trigger: Trigger,
  tokens: number,
  signal: AbortSignal,
): Promise<Compacted> {
  const { sql, settings } = ports;
  const limits = limitsOf(settings, of.meta.model);
  await settleNotes(ports, signal);
  if (signal.aborted) return "stopped";
  const view = readViewRow(sql);
  const viewed = readViewed(sql);
  const made = await compact(
    {
      ...viewed,
      cut: view.cut,
      notes: summaryNotes(sql, limits),
      limits,
      fixed: fixedTokens(of.system, of.tools),
      ratio: readContext(sql).ratio,
    },
    {
      summarise: (messages, stop) => summarise(ports, of, limits, messages, stop),
      readFile: (path) => fileNow(ports, of, path),
    },
    signal,
  );
  if (signal.aborted) return "stopped";
  if (made.status === "compacted") {
    return commitCompaction(ports, of, { ...made, view }, trigger, tokens, limits, signal);
  }
  ports.commit(() => {
    if (made.status === "nothing") {
      changeContext(sql, { requested: false, compactFrom: tokens + limits.room * COMPACT_AGAIN });
      return;
    }
    const failures = readContext(sql).failures + 1;
    changeContext(sql, { requested: false, failures, failedTurn: of.turn.n });
    const error = compactionError(made.kind);
    appendEvent(sql, { type: "session.error", error, turn_id: of.turn.eventId }, ports.now());
  });
  return made.status;
}

/** Waits for an update of the notes in flight; one that is not done by then is dropped. */
async function settleNotes(
  { notes, settings }: CompactionPorts,
  signal: AbortSignal,
): Promise<void> {
  const update = notes.inFlight();
  if (!update) return;
  await Promise.race([update, sleep(settings.NOTES_WAIT_MS, signal)]);
  if (!signal.aborted) notes.stop();
}

/** The notes as a summary of the messages that they know; undefined where nothing is in them. */
function summaryNotes(
  sql: SqlStorage,
  limits: ContextLimits,
): { text: string; upTo: number } | undefined {
  const { text, upTo } = readNotes(sql);
  if (!notesHaveContent(text)) return undefined;
  const tokens = Math.min(NOTES_TOKENS, Math.floor(limits.room * NOTES_SHARE));
  const sectionTokens = Math.min(NOTES_SECTION_TOKENS, Math.floor(tokens / 3));
  return { text: notesForSummary(text, { tokens, sectionTokens }), upTo: upTo ?? 0 };
}

/** Tokens of the next request; counted by the server where the estimate is too near the threshold. */
export async function sizeOf(
  ports: CompactionPorts,
  of: Conversation,
  threshold: number,
  signal: AbortSignal,
): Promise<number> {
  const { sql } = ports;
  const tail = tailTokens(sql, fixedTokens(of.system, of.tools));
  const context = readContext(sql);
  const tokens = promptTokens(context, tail);
  const doubt = tail * context.ratio * DOUBT;
  if (Math.abs(tokens - threshold) > doubt) return tokens;
  const messages = readMessages(sql);
  return (await countPrompt(ports, of, messages, signal)) ?? tokens;
}

/** Tokens of what stays in any case: the fixed part, the user's words, the last step. */
function leastTokens(sql: SqlStorage, of: Conversation): number {
  const { kept, carried } = tailOf(readViewed(sql).placed, 0);
  const messages = [...carried, ...kept.map(({ message }) => message)];
  const tokens = fixedTokens(of.system, of.tools) + messageTokens(messages);
  return Math.floor(tokens * readContext(sql).ratio);
}

/** After some failures in a row a turn is not held up by another try; the next turn has one. */
function mayTry({ sql }: CompactionPorts, { turn }: Conversation): boolean {
  const { failures, failedTurn } = readContext(sql);
  return failures < COMPACTION_FAILURES || failedTurn < turn.n;
}

async function commitCompaction(
  ports: CompactionPorts,
  of: Conversation,
  made: Extract<Compaction, { status: "compacted" }> & { view: ReturnType<typeof readViewRow> },
  trigger: Trigger,
  tokensBefore: number,
  limits: ContextLimits,
  signal: AbortSignal,
): Promise<Compacted> {
  const { sql } = ports;
  const { cut, head, kept, usedNotes, files } = made;
  const view = { cut, head, results: made.view.results, thinking: lastMessage(sql) };
  const messages = sentMessages(show(view, kept));
  const fixed = fixedTokens(of.system, of.tools);
  const { ratio } = readContext(sql);
  const counted = await countPrompt(ports, of, messages, signal);
  const tokensAfter = counted ?? Math.ceil((fixed + messageTokens(messages)) * ratio);
  if (signal.aborted) return "stopped";
  ports.commit(() => {
    writeView(sql, view);
    changeContext(sql, {
      counted: counted ?? null,
      upTo: counted === undefined ? 0 : lastMessage(sql),
      shrinkFrom: 0,
      compactFrom: tokensAfter + limits.room * COMPACT_AGAIN,
      failures: 0,
      requested: false,
    });
    forgetShown(sql, firstWholeTurn(sql, cut));
    noteSeen(
      sql,
      files.map((file) => ({ type: "seen", ...file })),
    );
    const shown = new Set([
      ...files.map(({ path }) => path),
      ...canonicalPaths(namedIn(kept.map(({ message }) => message))),
    ]);
    forgetSeen(sql, undefined, (path) => shown.has(path) || isIndex(of, path));
    rebaseNotes(sql, tokensAfter);
    appendEvent(
      sql,
      {
        type: "agent.thread_context_compacted",
        turn_id: of.turn.eventId,
        trigger,
        tokens_before: tokensBefore,
        tokens_after: tokensAfter,
        used_notes: usedNotes,
      },
      ports.now(),
    );
  });
  return "compacted";
}

/** The first turn of which nothing was cut. */
function firstWholeTurn(sql: SqlStorage, cut: number): number {
  return sql
    .exec<{ turn: number }>(
      "SELECT ifnull(max(turn), 0) + 1 AS turn FROM messages WHERE n <= ?",
      cut,
    )
    .one().turn;
}

/** Files that calls of these messages name. */
function namedIn(messages: readonly Message[]): string[] {
  return messages.flatMap((message) =>
    toolCallsOf(message).flatMap(({ input }) =>
      typeof input.file_path === "string" ? [input.file_path] : [],
    ),
  );
}

function tooLarge(of: Conversation, limits: ContextLimits, tokens: number): ModelFailure {
  const fixed = fixedTokens(of.system, of.tools);
  const why =
    fixed > limits.room / 2
      ? `the system prompt, the memory's index and the tools take about ${fixed} of them: shorten these`
      : "ask for less at once, or start a new session: what was saved to memory is known there";
  return {
    status: "failed",
    kind: "too_long",
    message: `The conversation needs about ${tokens} tokens, more than the ${limits.room} that the model's window of ${limits.window} leaves for it; ${why}`,
  };
}
