// Runs the turn that is due: builds the loop's ports from what the session holds, writes every step
// to disk before the next one, and ends the turn.

import { createAnthropicModel } from "../../src/platform/anthropic-model.ts";
import { errorName, log } from "../../src/platform/log.ts";
import { agentMounts } from "../../src/platform/mount-table.ts";
import type { Mounts } from "../../src/shared/files/mounts.ts";
import * as limits from "../../src/shared/limits.ts";
import { INDEX_FILE } from "../../src/shared/memdir/entrypoint.ts";
import type { LoopPorts } from "../../src/shared/query/loop.ts";
import { runLoop } from "../../src/shared/query/loop.ts";
import type { LoopOutcome, TurnState } from "../../src/shared/query/steps.ts";
import type { MemoryPlace } from "../../src/shared/settings/locate.ts";
import { locateMemory } from "../../src/shared/settings/locate.ts";
import { createFileTools } from "../../src/shared/tools/file-tools.ts";
import { rememberNotes } from "../../src/shared/tools/seen.ts";
import { systemPrompt } from "../../src/shared/turn/system-prompt.ts";
import type { AgentSettings } from "../env.ts";
import { noteSeen, pendingCalls, readSeen } from "./calls.ts";
import type { Meta } from "./meta.ts";
import { readMeta } from "./meta.ts";
import type { PreviewFrame } from "./preview.ts";
import { createPreview } from "./preview.ts";
import type { Recording } from "./record-step.ts";
import { closeSpan, recordStep } from "./record-step.ts";
import { readTranscript } from "./transcript.ts";
import type { Turn } from "./turns.ts";

export interface TurnPorts {
  sql: SqlStorage;
  files: R2Bucket;
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
  if (turn.outcome) return turn.outcome;
  const meta = readMeta(sql);
  const recording = (): Recording => ({
    sql,
    turn: turn.n,
    turnId: turn.eventId,
    model: meta.model,
    preview,
    now: ports.now(),
  });
  let preview = createPreview();
  if (turn.span !== undefined) ports.commit(() => closeSpan(recording()));

  const memory = await memoryOf(ports.settings, meta);
  const mounts = agentMounts(ports.files, meta, meta.environmentId, memory);
  const system = await promptOf(ports, meta, memory, mounts);
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
      ports.commit(() => recordStep(recording(), value));
      if (value.type === "request_started") preview = createPreview();
      if (value.type === "call_finished") rememberNotes(seen, value.result.notes);
    }
    step = await loop.next();
  }
  return step.value;
}

/** Where this session's memory lies; asked by everything that needs to know. */
export async function memoryOf(settings: AgentSettings, meta: Meta): Promise<MemoryPlace> {
  return locateMemory({
    remoteMemoryDir: settings.REMOTE_MEMORY_DIR,
    projectRoot: meta.projectRoot,
    bare: meta.metadata.bare === "true",
  });
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
  memory: MemoryPlace,
  mounts: Mounts,
): Promise<string[]> {
  const { sql } = ports;
  const rows = sql.exec<{ body: string }>("SELECT body FROM prompt ORDER BY n").toArray();
  if (rows.length > 0) return rows.map((row) => row.body);

  const index = memory.enabled ? await readIndex(mounts, memory.directory) : undefined;
  const blocks = systemPrompt({
    system: meta.system,
    projectRoot: meta.projectRoot,
    memory: memory.enabled ? { directory: memory.directory, index: index?.text } : undefined,
  });
  // An index that cannot be read costs this turn its memory; the next turn looks again.
  if (index?.unreadable) return blocks;
  ports.commit(() => {
    for (const [n, body] of blocks.entries()) {
      sql.exec("INSERT INTO prompt (n, body) VALUES (?, ?)", n, body);
    }
    // The index in the prompt counts as read.
    if (index?.etag) noteSeen(sql, [{ type: "seen", path: index.path, etag: index.etag }]);
  });
  return blocks;
}

interface IndexRead {
  path: string;
  text?: string;
  etag?: string;
  unreadable?: true;
}

async function readIndex(mounts: Mounts, directory: string): Promise<IndexRead> {
  const path = `${directory}/${INDEX_FILE}`;
  const place = mounts.resolve(path);
  if (place.status !== "mounted") return { path };
  try {
    const file = await place.mount.store.get(place.relative);
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
