// Runs the turn that is due: builds the loop's ports from what the session holds, writes every step
// to disk before the next one, and ends the turn.

import type { Receipt } from "../../../src/platform/objects/memdir-rpc.ts";
import { pendingCalls, readSeen } from "../../../src/platform/threads/calls.ts";
import { fixedTokens, noteAnswered, tailTokens } from "../../../src/platform/threads/size.ts";
import { readMessages } from "../../../src/platform/threads/view.ts";
import type { AgentSettings } from "../../../src/platform/variables.ts";
import { MODEL_ATTEMPTS, TURN_ITERATIONS } from "../../../src/shared/limits/turn.ts";
import type { LoopHooks, LoopPorts } from "../../../src/shared/loop/loop.ts";
import { runLoop } from "../../../src/shared/loop/loop.ts";
import type { Usage } from "../../../src/shared/loop/model.ts";
import type { CallAnswer } from "../../../src/shared/loop/pending-action.ts";
import type { AnsweredStep, LoopOutcome, TurnState } from "../../../src/shared/loop/steps.ts";
import type { Tool } from "../../../src/shared/loop/tool.ts";
import { permissionOf } from "../../../src/shared/tools/permission.ts";
import { rememberNotes } from "../../../src/shared/tools/seen.ts";
import type { AgentEnv } from "../../env.ts";
import { prepareContext } from "../compaction/compaction.ts";
import type { Conversation } from "../compaction/compaction-model.ts";
import { turnRecall } from "../recall/turn-recall.ts";
import type { Meta } from "../rows/meta.ts";
import { readMeta } from "../rows/meta.ts";
import type { SessionNotes } from "../rows/notes.ts";
import { waitAnswer } from "../rows/pending-actions.ts";
import type { Turn } from "../rows/turns.ts";
import { healIndex, turnMemory } from "../setup/memory.ts";
import { limitsOf, loopSurroundings } from "../setup/model-ports.ts";
import { sessionMounts } from "../setup/session-mounts.ts";
import { permissionRules, sessionTools } from "../setup/session-tools.ts";
import { promptOf } from "../setup/system-prompt.ts";
import type { PreviewFrame } from "../stream/preview.ts";
import { createPreview } from "../stream/preview.ts";
import { createJoins } from "./joining.ts";
import type { Recording } from "./record-step.ts";
import { closeSpan, recordSaved, recordStep } from "./record-step.ts";
import type { Subrequests } from "./subrequests.ts";
import { pauseWhenCrowded } from "./subrequests.ts";
import { messageContent } from "./turn-ends.ts";

export interface TurnPorts {
  sql: SqlStorage;
  env: Pick<AgentEnv, "FILES" | "MEMDIR">;
  settings: AgentSettings;
  /** Runs a function as one transaction and tells the subscribers afterwards. */
  commit(write: () => void): void;
  preview(frames: readonly PreviewFrame[]): void;
  now(): number;
  /** Whether the user's tokens of the day are used up. */
  overBudget(): Promise<boolean>;
  notes: SessionNotes;
  /** What the invocation that the turn runs in has asked of the outside. */
  subrequests: Subrequests;
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
    model,
    preview,
    saved: memory ? { storeId: memory.storeId, receipts: saved } : undefined,
    waits: {
      approval: ports.settings.APPROVAL_TIMEOUT_MS,
      client: ports.settings.CUSTOM_TOOL_TIMEOUT_MS,
    },
    now: ports.now(),
  });
  let preview = createPreview();
  let { model } = meta;
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

  const mounts = sessionMounts(ports, meta, memory);
  const system = await promptOf(ports, meta, memory);
  const seen = readSeen(sql);
  const tools = sessionTools({ mounts, seen }, meta);
  const state: TurnState = {
    messages: readMessages(sql),
    pending: pendingCalls(sql, turn.n),
    iteration: turn.iteration,
    attempt: turn.attempt,
    continuations: turn.continuations,
  };
  const recall = turnRecall(
    ports,
    turn,
    meta,
    memory,
    {
      messages: state.messages,
      seen,
      question: textOf(turn),
      stoodStill: state.pending.some(
        ({ permission }) => permission === "ask" || permission === "client",
      ),
    },
    signal,
  );
  const conversation: Conversation = {
    meta,
    memory,
    system,
    tools,
    turn: { n: turn.n, eventId: turn.eventId },
  };
  const joins = meta.midTurnMessages === "join" ? createJoins(sql, turn, signal) : undefined;
  const hooks: LoopHooks = {
    async prepare(tooLong) {
      const paused = pauseWhenCrowded(ports.subrequests);
      if (paused) return paused;
      const prepared = await prepareContext(ports, conversation, tooLong, signal);
      // What is not shown any more is not known any more.
      if (prepared.status === "ready" && prepared.messages) replaceSeen(seen, readSeen(sql));
      return prepared;
    },
    // What was recalled first: it belongs to the turn's own question.
    joining: async (messages) => [
      ...((await recall?.joining(messages)) ?? []),
      ...(joins?.take(messages) ?? []),
    ],
  };
  const fixed = fixedTokens(system, tools);
  const { window } = limitsOf(ports.settings, meta.model);
  const loop = runLoop(
    state,
    { ...loopPorts(ports.settings, meta, system, tools), ...answering(ports, turn), hooks },
    signal,
  );
  try {
    let step = await loop.next();
    while (!step.done) {
      const value = step.value;
      if (value.type === "preview") {
        ports.preview(preview.frames(value.event));
      } else {
        const notes = value.type === "call_finished" ? value.result.notes : [];
        const receipts = (await memory?.receiptsOf(notes)) ?? [];
        if (value.type === "request_started") model = value.model;
        ports.commit(() => {
          if (value.type === "joined" && joins?.admits(value.message) === false) return;
          const tail = value.type === "answered" ? tailTokens(sql, fixed) : 0;
          recordStep(recording(receipts), value);
          if (value.type === "answered") noteAnswered(sql, tail, window, keptUsage(value));
          if (value.type !== "joined") return;
          recall?.joined(value.message);
          joins?.joined(value.message, ports.now());
        });
        if (value.type === "request_started") {
          preview = createPreview();
          recall?.asked();
        }
        if (value.type === "answered" && value.calls.length > 0) recall?.begin();
        // Step 9, not awaited.
        if (value.type === "answered") ports.notes.answered(turn, value.calls.length > 0);
        if (value.type === "results") ports.notes.results(turn);
        rememberNotes(seen, notes);
        wrote ||= receipts.length > 0;
      }
      step = await loop.next();
    }
    recall?.end(step.value.reason === "wait" || step.value.reason === "requires_action");
    await tidy();
    return step.value;
  } finally {
    recall?.end(true);
  }
}

/** An answer of which nothing is kept adds nothing to the next request. */
function keptUsage({ message, usage }: AnsweredStep): Usage {
  return message ? usage : { ...usage, output: 0 };
}

function replaceSeen(seen: Map<string, string>, now: ReadonlyMap<string, string>): void {
  seen.clear();
  for (const [path, etag] of now) seen.set(path, etag);
}

/** Looks up answers; a deadline that has passed is kept as what came of its call. */
function answering({ sql, commit, now }: TurnPorts, turn: Turn): Pick<LoopPorts, "answers"> {
  return {
    answers(callId) {
      let answer: CallAnswer | undefined;
      commit(() => {
        answer = waitAnswer(sql, turn.n, callId, now());
      });
      return answer;
    },
  };
}

/** What the user said, as one text. */
function textOf(turn: Turn): string {
  return messageContent
    .parse(JSON.parse(turn.content))
    .map(({ text }) => text)
    .join("\n");
}

function loopPorts(
  settings: AgentSettings,
  meta: Meta,
  system: readonly string[],
  tools: readonly Tool[],
): Omit<LoopPorts, "hooks"> {
  const rules = permissionRules(meta);
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    permit: ({ name, input }) => permissionOf(byName.get(name), input, rules),
    ...loopSurroundings(settings, meta.model, {
      iterations: TURN_ITERATIONS,
      attempts: MODEL_ATTEMPTS,
    }),
    tools: byName,
    ...(settings.FALLBACK_MODEL === undefined ? {} : { fallback: settings.FALLBACK_MODEL }),
    request: {
      purpose: "main",
      sessionId: meta.id,
      model: meta.model,
      maxTokens: limitsOf(settings, meta.model).answer,
      system,
      tools,
    },
  };
}
