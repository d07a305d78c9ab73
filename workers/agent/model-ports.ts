import { createAnthropicModel } from "../../src/platform/anthropic-model.ts";
import type { AgentSettings } from "../../src/platform/variables.ts";
import type { ContextLimits } from "../../src/shared/compaction/context-limits.ts";
import { contextLimits } from "../../src/shared/compaction/context-limits.ts";
import * as limits from "../../src/shared/limits.ts";
import type { LoopPorts } from "../../src/shared/query/loop.ts";
import type { Model } from "../../src/shared/query/model.ts";
import { modelFacts } from "../../src/shared/query/models.ts";
import { RESULT_LIMITS } from "../../src/shared/query/result-budget.ts";
import { sleep } from "./sleep.ts";

/** The model that the settings name. */
export function modelOf(settings: AgentSettings): Model {
  return createAnthropicModel({
    apiKey: settings.ANTHROPIC_API_KEY ?? "",
    baseUrl: settings.ANTHROPIC_BASE_URL,
    idleMs: settings.MODEL_IDLE_MS,
    answerBytes: limits.ANSWER_BYTES,
  });
}

/** The limits of a session's model, or of the window that a variable sets. */
export function limitsOf(settings: AgentSettings, model: string): ContextLimits {
  return contextLimits(settings.CONTEXT_WINDOW_TOKENS ?? modelFacts(model).contextTokens);
}

/** What a loop needs of the outside: a model, time, chance, and how often and how much it may. */
export function loopSurroundings(
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
      continuations: limits.CONTINUATIONS,
      results: { ...RESULT_LIMITS, one: resultBytes, all: resultsBytes },
      firstMs: limits.RETRY_FIRST_MS,
      mostMs: limits.RETRY_MOST_MS,
      inMemoryMs: limits.WAIT_IN_MEMORY_MS,
      retryAfterMostMs: limits.RETRY_AFTER_MOST_MS,
    },
  };
}
