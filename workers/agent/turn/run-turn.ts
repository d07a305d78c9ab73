import { drive } from "../../../src/platform/threads/drive.ts";
import { loopPorts } from "../../../src/platform/threads/loop-ports.ts";
import { readProgress } from "../../../src/platform/threads/progress.ts";
import { readTurn } from "../../../src/platform/threads/record-step.ts";
import { MODEL_ATTEMPTS, TURN_ITERATIONS } from "../../../src/shared/limits/turn.ts";
import type { LoopPorts } from "../../../src/shared/loop/loop.ts";
import { runLoop } from "../../../src/shared/loop/loop.ts";
import type { CallAnswer } from "../../../src/shared/loop/pending-action.ts";
import type { LoopOutcome } from "../../../src/shared/loop/steps.ts";
import { permissionOf } from "../../../src/shared/tools/permission.ts";
import { loopHooks } from "../../../src/shared/turn/hooks.ts";
import { actionAnswer } from "../rows/pending-actions.ts";
import type { Turn } from "../rows/turns.ts";
import { writeLanded } from "../rows/write-in-flight.ts";
import type { Conversation } from "../setup/conversation.ts";
import { openConversation } from "../setup/conversation.ts";
import type { SessionContext } from "../setup/session-context.ts";
import { permissionRules } from "../setup/session-tools.ts";
import { closeSpan } from "./events-hook.ts";
import { turnHooks } from "./turn-hooks.ts";

/**
 * Runs a turn from where its rows say it is, to its end or to a pause. Throws only what is a defect
 * of ours; the caller ends the turn then. `asked`: the question what was lost, where it was put already.
 */
export async function runTurn(
  session: SessionContext,
  turn: Turn,
  signal: AbortSignal,
  asked: Promise<void> | undefined,
): Promise<LoopOutcome> {
  await writeLanded(session.sql);
  const of = await openConversation(session, "turn");
  const { thread } = of;
  const state = readTurn(thread, turn.n);
  const hooks = turnHooks(session, of, turn, state, signal, asked);
  // A turn whose last step is on disk only ends.
  let { outcome } = readProgress(thread, turn.n);
  try {
    if (!outcome) {
      // A crash may have left a request open.
      if (turn.span !== undefined) {
        session.commit(() => closeSpan(session.sql, turn, {}, session.now()));
      }
      const ports = { ...turnPorts(session, of, turn), hooks: loopHooks(hooks) };
      const loop = runLoop(state, ports, signal);
      outcome = await drive(loop, session, thread, turn.n, hooks);
    }
  } finally {
    for (const hook of hooks) await hook.ended?.(outcome);
  }
  return outcome ?? { reason: "stopped" };
}

function turnPorts(
  session: SessionContext,
  { meta, system, tools, limits }: Conversation,
  turn: Turn,
): Omit<LoopPorts, "hooks"> {
  const { settings } = session;
  const rules = permissionRules(meta);
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const most = { iterations: TURN_ITERATIONS, attempts: MODEL_ATTEMPTS };
  return {
    ...loopPorts(settings, meta.model, most),
    tools: byName,
    permit: ({ name, input }) => permissionOf(byName.get(name), input, rules),
    answers: (callId) => answerTo(session, turn, callId),
    fallback: settings.FALLBACK_MODEL,
    request: {
      purpose: "main",
      sessionId: meta.id,
      model: meta.model,
      maxTokens: limits.answer,
      system,
      tools,
    },
  };
}

/** What came of a pending call; a deadline that has passed is kept as that. */
function answerTo(
  { sql, commit, now }: SessionContext,
  turn: Turn,
  callId: string,
): CallAnswer | undefined {
  return commit(() => actionAnswer(sql, turn.n, callId, now()));
}
