// Runs the turn that is due: builds the loop's ports from what the session holds, writes every step
// to disk before the next one, and ends the turn.

import { createAnthropicModel } from "../../src/platform/anthropic-model.ts";
import { errorName, log } from "../../src/platform/log.ts";
import type { Receipt } from "../../src/platform/memdir-rpc.ts";
import { agentMounts, workspacePath } from "../../src/platform/mount-table.ts";
import type { AgentSettings } from "../../src/platform/variables.ts";
import * as limits from "../../src/shared/limits.ts";
import { cutIndex, INDEX_FILE } from "../../src/shared/memdir/entrypoint.ts";
import type { LoopPorts } from "../../src/shared/query/loop.ts";
import { runLoop } from "../../src/shared/query/loop.ts";
import type { LoopOutcome, TurnState } from "../../src/shared/query/steps.ts";
import { createFileTools } from "../../src/shared/tools/file-tools.ts";
import { rememberNotes } from "../../src/shared/tools/seen.ts";
import { systemPrompt } from "../../src/shared/turn/system-prompt.ts";
import type { AgentEnv } from "../env.ts";
import { noteSeen, pendingCalls, readSeen } from "./calls.ts";
import type { TurnMemory } from "./memory.ts";
import { turnMemory } from "./memory.ts";
import type { Meta } from "./meta.ts";
import { readMeta } from "./meta.ts";
import type { PreviewFrame } from "./preview.ts";
import { createPreview } from "./preview.ts";
import type { Recording } from "./record-step.ts";
import { closeSpan, recordSaved, recordStep } from "./record-step.ts";
import { readTranscript } from "./transcript.ts";
import type { Turn } from "./turns.ts";

export interface TurnPorts {
  sql: SqlStorage;
  env: Pick<AgentEnv, "FILES" | "MEMDIR">;
  settings: AgentSettings;
  /** Runs a function as one transaction and tells the subscribers afterwards. */
  commit(write: () => void): void;
  preview(frames: readonly PreviewFrame[]): void;
  now(): number;
}

/**
 * Runs a turn from where its rows say it is, to its end or to a pause. Throws only what is a defect
 * of ours; the caller ends the turn then.
 */
export async function runTurn(
  ports: TurnPorts,
  turn: Turn,
  signal: AbortSignal,
): Promise<LoopOutcome> {
  const { sql } = ports;
  const meta = readMeta(sql);
  const memory = turnMemory(ports.env, meta, meta.id, meta.memory);
  const recording = (saved: readonly Receipt[] = []): Recording => ({
    sql,
    turn: turn.n,
    turnId: turn.eventId,
    model: meta.model,
    preview,
    saved: memory ? { storeId: memory.storeId, receipts: saved } : undefined,
    now: ports.now(),
  });
  let preview = createPreview();
  // A turn that goes on after a crash may have written before it.
  let wrote = turn.iteration > 0;
  const tidy = async () => {
    const receipts = memory && wrote ? await healIndex(memory) : [];
    if (receipts.length > 0) ports.commit(() => recordSaved(recording(receipts)));
  };
  if (turn.outcome) {
    await tidy();
    return turn.outcome;
  }
  if (turn.span !== undefined) ports.commit(() => closeSpan(recording()));

  const mounts = agentMounts(ports.env.FILES, meta, meta.environmentId, memory);
  const system = await promptOf(ports, meta, memory);
  const seen = readSeen(sql);
  const tools = createFileTools({ mounts, seen });
  const state: TurnState = {
    messages: readTranscript(sql),
    pending: pendingCalls(sql, turn.n),
    iteration: turn.iteration,
    attempt: turn.attempt,
    continuations: turn.continuations,
  };
  const loop = runLoop(state, loopPorts(ports.settings, meta, system, tools), signal);
  let step = await loop.next();
  while (!step.done) {
    const value = step.value;
    if (value.type === "preview") {
      ports.preview(preview.frames(value.event));
    } else {
      const notes = value.type === "call_finished" ? value.result.notes : [];
      const receipts = (await memory?.receiptsOf(notes)) ?? [];
      ports.commit(() => recordStep(recording(receipts), value));
      if (value.type === "request_started") preview = createPreview();
      rememberNotes(seen, notes);
      wrote ||= receipts.length > 0;
    }
    step = await loop.next();
  }
  await tidy();
  return step.value;
}

/** The index can be healed at the next session's start too: it never costs the turn. */
async function healIndex(memory: TurnMemory): Promise<Receipt[]> {
  try {
    return await memory.reconcile();
  } catch (error) {
    log("session.index_not_healed", { error: errorName(error) });
    return [];
  }
}

function loopPorts(
  settings: AgentSettings,
  meta: Meta,
  system: readonly string[],
  tools: ReturnType<typeof createFileTools>,
): LoopPorts {
  return {
    model: createAnthropicModel({
      apiKey: settings.ANTHROPIC_API_KEY ?? "",
      baseUrl: settings.ANTHROPIC_BASE_URL,
      idleMs: settings.MODEL_IDLE_MS,
      answerBytes: limits.ANSWER_BYTES,
    }),
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    request: {
      purpose: "main",
      sessionId: meta.id,
      model: meta.model,
      maxTokens: limits.ANSWER_TOKENS,
      system,
      tools,
    },
    hooks: {},
    sleep,
    random: Math.random,
    limits: {
      iterations: limits.TURN_ITERATIONS,
      continuations: limits.CONTINUATIONS,
      attempts: limits.MODEL_ATTEMPTS,
      firstMs: limits.RETRY_FIRST_MS,
      mostMs: limits.RETRY_MOST_MS,
      inMemoryMs: limits.WAIT_IN_MEMORY_MS,
      retryAfterMostMs: limits.RETRY_AFTER_MOST_MS,
    },
  };
}

/** The system prompt: made at the session's first turn, the same bytes ever after. */
async function promptOf(
  ports: TurnPorts,
  meta: Meta,
  memory: TurnMemory | undefined,
): Promise<string[]> {
  const { sql } = ports;
  const rows = sql.exec<{ body: string }>("SELECT body FROM prompt ORDER BY n").toArray();
  if (rows.length > 0) return rows.map((row) => row.body);

  const index = memory && (await readIndex(memory));
  const blocks = systemPrompt({
    system: meta.system,
    workspace: workspacePath(meta.environmentId),
    projectRoot: meta.projectRoot,
    memory: memory && {
      directory: memory.directory,
      index: index?.unreadable ? null : index?.text,
    },
  });
  // An index that cannot be read is looked for again at the next turn.
  if (index?.unreadable) return blocks;
  ports.commit(() => {
    for (const [n, body] of blocks.entries()) {
      sql.exec("INSERT INTO prompt (n, body) VALUES (?, ?)", n, body);
    }
    // The index in the prompt counts as read, unless it was cut.
    const whole = index?.text !== undefined && cutIndex(index.text).cutBy === undefined;
    if (index?.etag && whole) noteSeen(sql, [{ type: "seen", path: index.path, etag: index.etag }]);
  });
  return blocks;
}

interface IndexRead {
  path: string;
  text?: string;
  etag?: string;
  unreadable?: true;
}

async function readIndex(memory: TurnMemory): Promise<IndexRead> {
  const path = `${memory.directory}/${INDEX_FILE}`;
  try {
    await memory.refresh();
    const file = await memory.files.get(INDEX_FILE);
    if (!file) return { path };
    return { path, etag: file.etag, text: new TextDecoder().decode(file.bytes) };
  } catch (error) {
    log("session.index_unreadable", { error: errorName(error) });
    return { path, unreadable: true };
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
    if (signal.aborted) done();
  });
}
