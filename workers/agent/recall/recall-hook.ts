// The search of one turn for memories that bear on its question: begun beside the first model call,
// taken in at the end of an iteration, given up with the turn. What it finds belongs to this question
// and is never used for another.

import { log } from "../../../src/platform/log.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { userOwner } from "../../../src/platform/objects/store-owner.ts";
import { workspaceMount } from "../../../src/platform/r2/mount-table.ts";
import { createSecretMask } from "../../../src/platform/secrets/secret-mask.ts";
import { sleep, within } from "../../../src/platform/sleep.ts";
import { modelOf } from "../../../src/platform/threads/loop-ports.ts";
import { readFiles } from "../../../src/platform/threads/read-files.ts";
import { readRecent } from "../../../src/platform/threads/view.ts";
import {
  RECALL_RECENT_ENTRIES,
  RECALL_RESUME_MS,
  RECALL_TOKENS,
} from "../../../src/shared/limits/recall.ts";
import type { ModelRequest } from "../../../src/shared/loop/model.ts";
import { requestAnswer } from "../../../src/shared/loop/model.ts";
import type { TurnState } from "../../../src/shared/loop/steps.ts";
import { placesIn } from "../../../src/shared/recall/attach.ts";
import type { Recalled, RecallPorts } from "../../../src/shared/recall/recall.ts";
import {
  discardRecall,
  recall,
  wantsRecall,
  withoutRead,
} from "../../../src/shared/recall/recall.ts";
import { spokenIn } from "../../../src/shared/recall/recent.ts";
import { isWithin } from "../../../src/shared/safety/path.ts";
import { dayOf, timeInWords } from "../../../src/shared/text/local-time.ts";
import { textDraft } from "../../../src/shared/thread/entry.ts";
import type { Message } from "../../../src/shared/thread/messages.ts";
import { filesNamed, toolCallsOf } from "../../../src/shared/thread/messages.ts";
import type { TurnHook } from "../../../src/shared/turn/hooks.ts";
import type { Meta } from "../rows/meta.ts";
import { hasRecall, readShown, recordRecall } from "../rows/recalls.ts";
import type { Turn } from "../rows/turns.ts";
import { userWords } from "../rows/turns.ts";
import { countUsage } from "../rows/usage.ts";
import type { Conversation } from "../setup/conversation.ts";
import type { TurnMemory } from "../setup/memory.ts";
import type { SessionContext } from "../setup/session-context.ts";
import { searchStart } from "./search-start.ts";

/** Tools that were called in so many messages before the question count as in use. */
const RECENT_MESSAGES = 10;

/** What a turn was when its search may begin. */
interface History {
  messages: readonly Message[];
  question: string;
  /** It waited for somebody outside, and goes on now. */
  wasPaused: boolean;
}

/** The search of a turn; undefined where there is none: no memory, one word, or it was done before. */
export function recallHook(
  session: SessionContext,
  of: Conversation,
  turn: Turn,
  state: TurnState,
  signal: AbortSignal,
): TurnHook | undefined {
  const { sql, settings } = session;
  const { memory } = of;
  const history = historyOf(sql, turn, state);
  if (!memory || !wantsRecall(history.question) || hasRecall(sql, turn.n)) return undefined;
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  let search: Promise<Recalled> | undefined;
  let found: Recalled | undefined;
  let attached: Message | undefined;
  let waited = false;
  let recorded = false;
  const record = (recalled: Recalled, now: number) => {
    if (recorded) return;
    recorded = true;
    recordRecall(sql, turn, recalled, now);
  };
  const begin = () => {
    if (stopped.aborted) return;
    search ??= run(session, of, memory, turn, history, stopped).then((recalled) => {
      found = recalled;
      return recalled;
    });
  };
  const start = searchStart(begin);
  return {
    async joining(messages) {
      // Who waited for a person does not mind a moment more: the search is not lost to the wait.
      const ms = Math.max(settings.RECALL_WAIT_MS, history.wasPaused ? RECALL_RESUME_MS : 0);
      if (!waited && ms > 0) {
        begin();
        await Promise.race([search, sleep(ms, stopped)]);
      }
      waited = true;
      if (!found || recorded || attached || signal.aborted) return [];
      // What the model has read, written or deleted since the search began is not for it any more.
      found = withoutRead(found, readByModel(of, memory.directory, messages));
      const { attachment, attached: memories } = found;
      if (attachment === undefined) {
        const recalled = found;
        session.commit(() => record(recalled, session.now()));
        return [];
      }
      const draft = textDraft(
        { type: "recall", memories: placesIn(attachment, memories) },
        attachment,
      );
      attached = draft.message;
      return [draft];
    },
    record(step, now) {
      if (step.type === "joined" && step.message === attached && found) record(found, now);
    },
    after(step) {
      // At once when the model is at work.
      if (step.type === "answered" && step.calls.length > 0) begin();
      if (step.type === "request_started" && !search && !stopped.aborted) start.asked();
    },
    preview: () => start.speaks(),
    ended(outcome) {
      start.stop();
      stop.abort();
      // A turn that only pauses, or broke off, searches again when it goes on.
      const paused = outcome?.reason === "paused" || outcome?.reason === "requires_action";
      if (!outcome || paused || recorded || !search) return;
      const recalled = discardRecall(found ?? NOTHING);
      session.commit(() => record(recalled, session.now()));
    },
  };
}

function historyOf(sql: SqlStorage, turn: Turn, { messages, pending }: TurnState): History {
  const question = userWords(sql, turn)
    .map(({ text }) => text)
    .join("\n");
  const wasPaused = pending.some(
    ({ permission }) => permission === "ask" || permission === "client",
  );
  return { messages, question, wasPaused };
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
  worthKeeping: undefined,
};

async function run(
  session: SessionContext,
  of: Conversation,
  memory: TurnMemory,
  turn: Turn,
  history: History,
  signal: AbortSignal,
): Promise<Recalled> {
  const { sql, env, settings } = session;
  const { meta } = of;
  const stub = memdirStub(env, userOwner(meta), memory.storeId);
  const shown = readShown(sql);
  const recent = history.messages
    .slice(-RECENT_MESSAGES)
    .flatMap((message) => toolCallsOf(message));
  const overBudget = await session.overBudget();
  return recall(
    {
      message: history.question,
      recent: spokenIn(readRecent(of.thread, turn.n, RECALL_RECENT_ENTRIES)),
      toolsInUse: [...new Set(recent.map(({ name }) => name))],
      time: timeInWords(session.now(), meta.timeZone),
      shown: new Set(shown.keys()),
      read: readByModel(of, memory.directory, history.messages),
      readContents: new Set(readFiles(of.thread).values()),
      sessionBytes: [...shown.values()].reduce((sum, bytes) => sum + bytes, 0),
      directory: memory.directory,
      fallback: settings.RECALL_FALLBACK,
    },
    {
      scan: async (limit) => unwrap(await stub.scan(limit)),
      choose: overBudget ? undefined : chooser(session, meta, signal),
      read: async (path) => (await memory.files.get(path))?.bytes,
      workspace: workspaceOf(session, meta),
      within,
      mask: maskSecrets,
      now: session.now,
      dateOf: (at) => dayOf(at, meta.timeZone).date,
    },
  );
}

const maskSecrets = createSecretMask();

/** One call of the small model. Its tokens are counted apart, whatever becomes of its answer. */
function chooser(session: SessionContext, meta: Meta, signal: AbortSignal): RecallPorts["choose"] {
  const { settings } = session;
  const model = settings.RECALL_MODEL;
  return async ({ system, message, schema, maxTokens }) => {
    const request: ModelRequest = {
      purpose: "recall",
      sessionId: meta.id,
      model,
      maxTokens: Math.min(maxTokens, RECALL_TOKENS),
      system: [system],
      tools: [],
      messages: [{ role: "user", content: [{ type: "text", text: message }] }],
      schema,
      noThinking: true,
    };
    const answer = await requestAnswer(modelOf(settings), request, signal);
    countUsage(session, request, answer.usage);
    if (answer.status === "failed") {
      if (answer.kind !== "aborted") logOnce(model, answer.kind);
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

const logged = new Set<string>();

/** A selector that always fails would fill the log with one and the same line. */
function logOnce(model: string, cause: string): void {
  if (logged.has(`${model} ${cause}`)) return;
  logged.add(`${model} ${cause}`);
  log("recall.selector_failed", { model, cause });
}

/** Claims are checked where the project's files are; on somebody's own machine nobody can look. */
function workspaceOf({ env }: SessionContext, meta: Meta): RecallPorts["workspace"] {
  const { at, store } = workspaceMount(env.FILES, meta, meta.environmentId);
  return isWithin(at, meta.projectRoot) ? { at, store, project: meta.projectRoot } : undefined;
}

/** Memories that the model has read or written itself, whole or in part. */
function readByModel(
  { thread }: Conversation,
  directory: string,
  messages: readonly Message[],
): Set<string> {
  const below = `${directory}/`;
  return new Set(
    [...readFiles(thread).keys(), ...filesNamed(messages)]
      .filter((path) => path.startsWith(below))
      .map((path) => path.slice(below.length)),
  );
}
