// Runs the turn that is due: builds the loop's ports from what the session holds, writes every step
// to disk before the next one, and ends the turn.

import type { Receipt } from "../../src/platform/memdir-rpc.ts";
import { agentMounts } from "../../src/platform/mount-table.ts";
import type { AgentSettings } from "../../src/platform/variables.ts";
import * as limits from "../../src/shared/limits.ts";
import type { LoopPorts } from "../../src/shared/query/loop.ts";
import { runLoop } from "../../src/shared/query/loop.ts";
import type { LoopOutcome, TurnState } from "../../src/shared/query/steps.ts";
import type { Tool } from "../../src/shared/query/tool.ts";
import type { CallAnswer } from "../../src/shared/query/waits.ts";
import { permissionOf } from "../../src/shared/tools/permission.ts";
import { rememberNotes } from "../../src/shared/tools/seen.ts";
import type { AgentEnv } from "../env.ts";
import { pendingCalls, readSeen } from "./calls.ts";
import { createJoins } from "./joining.ts";
import { healIndex, turnMemory } from "./memory.ts";
import type { Meta } from "./meta.ts";
import { readMeta } from "./meta.ts";
import { loopSurroundings } from "./model-ports.ts";
import type { PreviewFrame } from "./preview.ts";
import { createPreview } from "./preview.ts";
import type { Recording } from "./record-step.ts";
import { closeSpan, recordSaved, recordStep } from "./record-step.ts";
import { permissionRules, sessionTools } from "./session-tools.ts";
import { promptOf } from "./system-prompt.ts";
import { readTranscript } from "./transcript.ts";
import { messageContent } from "./turn-ends.ts";
import { turnRecall } from "./turn-recall.ts";
import type { Turn } from "./turns.ts";
import { waitAnswer } from "./waits.ts";

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
    waits: {
      approval: ports.settings.APPROVAL_TIMEOUT_MS,
      client: ports.settings.CUSTOM_TOOL_TIMEOUT_MS,
    },
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
  const tools = sessionTools({ mounts, seen }, meta);
  const state: TurnState = {
    messages: readTranscript(sql),
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
    { messages: state.messages, seen, question: textOf(turn) },
    signal,
  );
  const joins = meta.midTurnMessages === "join" ? createJoins(sql, turn, signal) : undefined;
  const hooks: LoopPorts["hooks"] = {
    // What was recalled first: it belongs to the turn's own question.
    joining: async (messages) => [
      ...((await recall?.joining()) ?? []),
      ...(joins?.take(messages) ?? []),
    ],
  };
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
        ports.commit(() => {
          if (value.type === "joined" && joins?.admits(value.message) === false) return;
          recordStep(recording(receipts), value);
          if (value.type !== "joined") return;
          recall?.joined(value.message);
          joins?.joined(value.message, ports.now());
        });
        if (value.type === "request_started") {
          preview = createPreview();
          recall?.asked();
        }
        if (value.type === "answered" && value.calls.length > 0) recall?.begin();
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
    ...loopSurroundings(settings, {
      iterations: limits.TURN_ITERATIONS,
      attempts: limits.MODEL_ATTEMPTS,
    }),
    tools: byName,
    request: {
      purpose: "main",
      sessionId: meta.id,
      model: meta.model,
      maxTokens: limits.ANSWER_TOKENS,
      system,
      tools,
    },
  };
}
