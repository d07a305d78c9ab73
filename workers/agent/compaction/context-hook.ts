import { noteAnswered, tailTokens } from "../../../src/platform/threads/size.ts";
import type { Usage } from "../../../src/shared/loop/model.ts";
import type { AnsweredStep } from "../../../src/shared/loop/steps.ts";
import type { TurnHook } from "../../../src/shared/turn/hooks.ts";
import { erasures } from "../rows/erasures.ts";
import type { SessionContext } from "../setup/session-context.ts";
import type { Fitting } from "./compaction.ts";
import { prepareContext } from "./compaction.ts";

/** Makes the conversation fit before each model call, and keeps account of its size. */
export function contextHook(session: SessionContext, of: Fitting, signal: AbortSignal): TurnHook {
  const { thread, fixed, limits } = of;
  const before = erasures(session.sql);
  let sent = 0;
  return {
    prepare: (tooLong) => prepareContext(session, of, { tooLong, before }, signal),
    record(step) {
      if (step.type === "request_started") sent = tailTokens(thread, fixed);
      if (step.type === "answered") noteAnswered(thread, sent, limits.window, keptUsage(step));
    },
  };
}

/** An answer of which nothing is kept adds nothing to the next request. */
function keptUsage({ message, usage }: AnsweredStep): Usage {
  return message ? usage : { ...usage, output: 0 };
}
