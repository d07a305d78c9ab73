// The search of one turn for memories that bear on its question: begun beside the first model call,
// taken in at the end of an iteration, given up with the turn. What it finds belongs to this question
// and is never used for another.

import { errorName, log } from "../../../src/platform/log.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { userOwner } from "../../../src/platform/objects/store-owner.ts";
import { workspaceMount } from "../../../src/platform/r2/mount-table.ts";
import { sleep, within } from "../../../src/platform/sleep.ts";
import type { AgentSettings } from "../../../src/platform/variables.ts";
import {
  RECALL_BEGIN_MS,
  RECALL_RESUME_MS,
  RECALL_TOKENS,
} from "../../../src/shared/limits/recall.ts";
import type { Message } from "../../../src/shared/loop/messages.ts";
import { toolCallsOf } from "../../../src/shared/loop/messages.ts";
import type { Recalled, RecallPorts } from "../../../src/shared/recall/recall.ts";
import { recall, unused, wantsRecall, withoutRead } from "../../../src/shared/recall/recall.ts";
import { isWithin } from "../../../src/shared/safety/path.ts";
import type { AgentEnv } from "../../env.ts";
import type { Meta } from "../rows/meta.ts";
import { hasRecall, readShown, recordRecall } from "../rows/recalls.ts";
import type { Turn } from "../rows/turns.ts";
import { addUsage } from "../rows/usage.ts";
import type { TurnMemory } from "../setup/memory.ts";
import { modelOf } from "../setup/model-ports.ts";

/** What a turn was when its search may begin. */
export interface TurnHistory {
  messages: readonly Message[];
  seen: ReadonlyMap<string, string>;
  question: string;
  /** It waited for somebody outside, and goes on now. */
  stoodStill: boolean;
}

interface RecallSurroundings {
  sql: SqlStorage;
  env: Pick<AgentEnv, "FILES" | "MEMDIR">;
  settings: AgentSettings;
  commit(write: () => void): void;
  now(): number;
  /** Whether the user's tokens of the day are used up. */
  overBudget(): Promise<boolean>;
}

export interface TurnRecall {
  /** The model has been asked: the search begins soon. */
  asked(): void;
  /** Begins the search, once. */
  begin(): void;
  /** What joins these messages now: the attachment, once it is there. The first call may wait for it. */
  joining(messages: readonly Message[]): Promise<Message[]>;
  /** Within the transaction that puts a message into the transcript. */
  joined(message: Message): void;
  /** Ends the search; where nothing of it was used, that is recorded too, unless the turn only pauses. */
  end(paused: boolean): void;
}

/** Tools that were called in so many messages before the question count as in use. */
const RECENT_MESSAGES = 10;

/** The search of a turn; undefined where there is none: no memory, one word, or it was done before. */
export function turnRecall(
  ports: RecallSurroundings,
  turn: Turn,
  meta: Meta,
  memory: TurnMemory | undefined,
  history: TurnHistory,
  signal: AbortSignal,
): TurnRecall | undefined {
  const { sql, settings } = ports;
  if (!memory || !wantsRecall(history.question) || hasRecall(sql, turn.n)) return undefined;
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  let search: Promise<Recalled> | undefined;
  let found: Recalled | undefined;
  let attached: Message | undefined;
  let waited = false;
  let recorded = false;
  const record = (recalled: Recalled) => {
    if (recorded) return;
    recorded = true;
    recordRecall(sql, turn, recalled, ports.now());
  };
  const begin = () => {
    if (stopped.aborted) return;
    search ??= run(ports, meta, memory, history, stopped).then((recalled) => {
      found = recalled;
      return recalled;
    });
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    asked() {
      if (!search && !stopped.aborted) timer ??= setTimeout(begin, RECALL_BEGIN_MS);
    },
    begin,
    async joining(messages) {
      // Who waited for a person does not mind a moment more: the search is not lost to the wait.
      const ms = Math.max(settings.RECALL_WAIT_MS, history.stoodStill ? RECALL_RESUME_MS : 0);
      if (!waited && ms > 0) {
        begin();
        await Promise.race([search, sleep(ms, stopped)]);
      }
      waited = true;
      if (!found || recorded || attached || signal.aborted) return [];
      // What the model has read, written or deleted since the search began is not for it any more.
      found = withoutRead(found, readByModel(memory.directory, { ...history, messages }));
      const { attachment } = found;
      if (attachment === undefined) {
        const recalled = found;
        ports.commit(() => record(recalled));
        return [];
      }
      attached = { role: "user", content: [{ type: "text", text: attachment }] };
      return [attached];
    },
    joined(message) {
      if (message === attached && found) record(found);
    },
    end(paused) {
      clearTimeout(timer);
      stop.abort();
      if (paused || recorded || !search) return;
      const recalled = unused(found ?? NOTHING);
      ports.commit(() => record(recalled));
    },
  };
}

/** The turn was over before anything was found. */
const NOTHING: Recalled = {
  explanation: {
    offered: 0,
    selected: [],
    dropped: [],
    source: "none",
    fallback: "turn_ended",
    timings_ms: { scan: 0, select: 0, read: 0 },
  },
  candidates: [],
  attachment: undefined,
  attached: [],
  shown: [],
};

async function run(
  ports: RecallSurroundings,
  meta: Meta,
  memory: TurnMemory,
  history: TurnHistory,
  signal: AbortSignal,
): Promise<Recalled> {
  const stub = memdirStub(ports.env, userOwner(meta), memory.storeId);
  const shown = readShown(ports.sql);
  const recent = history.messages
    .slice(-RECENT_MESSAGES)
    .flatMap((message) => toolCallsOf(message));
  const overBudget = await ports.overBudget();
  return recall(
    {
      message: history.question,
      toolsInUse: [...new Set(recent.map(({ name }) => name))],
      shown: new Set(shown.keys()),
      read: readByModel(memory.directory, history),
      sessionBytes: [...shown.values()].reduce((sum, bytes) => sum + bytes, 0),
      directory: memory.directory,
      fallback: ports.settings.RECALL_FALLBACK,
    },
    {
      scan: async (limit) => unwrap(await stub.scan(limit)),
      choose: overBudget ? undefined : chooser(ports, meta, signal),
      read: async (path) => (await memory.files.get(path))?.bytes,
      workspace: workspaceOf(ports, meta),
      within,
      now: ports.now,
    },
  );
}

/** One call of the small model. Its tokens are counted apart, whatever becomes of its answer. */
function chooser(
  ports: RecallSurroundings,
  meta: Meta,
  signal: AbortSignal,
): RecallPorts["choose"] {
  const model = ports.settings.RECALL_MODEL;
  return async ({ system, message, schema, maxTokens }) => {
    const speech = modelOf(ports.settings).stream(
      {
        purpose: "recall",
        sessionId: meta.id,
        model,
        maxTokens: Math.min(maxTokens, RECALL_TOKENS),
        system: [system],
        tools: [],
        messages: [{ role: "user", content: [{ type: "text", text: message }] }],
        schema,
        thoughtless: true,
      },
      signal,
    );
    let event = await speech.next();
    while (!event.done) event = await speech.next();
    const answer = event.value;
    const { usage } = answer;
    try {
      if (usage) ports.commit(() => addUsage(ports.sql, "recall", model, usage, ports.now()));
    } catch (error) {
      log("recall.usage_lost", { error: errorName(error) });
    }
    if (answer.status === "failed") {
      if (answer.kind !== "aborted") tellOnce(model, answer.kind);
      return { status: "failed", cause: answer.kind };
    }
    // Whatever else it says: an answer that was refused, cut or paused is none.
    if (answer.stopReason !== "end_turn" && answer.stopReason !== "stop_sequence") {
      return { status: "failed", cause: answer.stopReason.slice(0, 40) };
    }
    const text = answer.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    return { status: "answered", text };
  };
}

const told = new Set<string>();

/** A selector that always fails would fill the log with one and the same line. */
function tellOnce(model: string, cause: string): void {
  if (told.has(`${model} ${cause}`)) return;
  told.add(`${model} ${cause}`);
  log("recall.selector_failed", { model, cause });
}

/** Claims are checked where the project's files are; on somebody's own machine nobody can look. */
function workspaceOf(ports: RecallSurroundings, meta: Meta): RecallPorts["workspace"] {
  const { at, store } = workspaceMount(ports.env.FILES, meta, meta.environmentId);
  return isWithin(at, meta.projectRoot) ? { at, store, project: meta.projectRoot } : undefined;
}

/** Memories that the model has read or written itself, whole or in part. */
function readByModel(
  directory: string,
  { messages, seen }: { messages: readonly Message[]; seen: ReadonlyMap<string, string> },
): Set<string> {
  const named = messages.flatMap((message) =>
    toolCallsOf(message).flatMap(({ input }) =>
      typeof input.file_path === "string" ? [input.file_path] : [],
    ),
  );
  const below = `${directory}/`;
  return new Set(
    [...seen.keys(), ...named]
      .filter((path) => path.startsWith(below))
      .map((path) => path.slice(below.length)),
  );
}
