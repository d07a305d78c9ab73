import type { ContextLimits } from "../../shared/compaction/context-limits.ts";
import { contextLimits } from "../../shared/compaction/context-limits.ts";
import {
  ANSWER_BYTES,
  CONTINUATIONS,
  RETRY_AFTER_MOST_MS,
  RETRY_FIRST_MS,
  RETRY_MOST_MS,
  WAIT_IN_MEMORY_MS,
} from "../../shared/limits/turn.ts";
import type { LoopPorts } from "../../shared/loop/loop.ts";
import type { Model } from "../../shared/loop/model.ts";
import { modelFacts } from "../../shared/loop/models.ts";
import { RESULT_LIMITS } from "../../shared/loop/result-budget.ts";
import { createAnthropicModel } from "../anthropic/model.ts";
import { sleep } from "../sleep.ts";
import type { AgentSettings } from "../variables.ts";

/** The model port of the settings. */
export function modelOf(settings: AgentSettings): Model {
  return createAnthropicModel({
    apiKey: settings.ANTHROPIC_API_KEY ?? "",
    baseUrl: settings.ANTHROPIC_BASE_URL,
    idleMs: settings.MODEL_IDLE_MS,
    answerBytes: ANSWER_BYTES,
  });
}

/** The limits by the model's context window, or by the one that `CONTEXT_WINDOW_TOKENS` sets. */
export function limitsOf(settings: AgentSettings, model: string): ContextLimits {
  return contextLimits(settings.CONTEXT_WINDOW_TOKENS ?? modelFacts(model).contextTokens);
}

/** The ports of a loop to model, clock and randomness, and its limits. */
export function loopPorts(
  settings: AgentSettings,
  model: string,
  most: { iterations: number; attempts: number },
): Pick<LoopPorts, "model" | "sleep" | "random" | "limits"> {
  const { resultBytes, resultsBytes } = limitsOf(settings, model);
  return {
    model: modelOf(settings),
    sleep,
    random: Math.random,
    limits: {
      ...most,
      continuations: CONTINUATIONS,
      results: { ...RESULT_LIMITS, one: resultBytes, all: resultsBytes },
      firstMs: RETRY_FIRST_MS,
      mostMs: RETRY_MOST_MS,
      inMemoryMs: WAIT_IN_MEMORY_MS,
      retryAfterMostMs: RETRY_AFTER_MOST_MS,
    },
  };
}
