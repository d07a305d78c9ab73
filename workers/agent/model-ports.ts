import { createAnthropicModel } from "../../src/platform/anthropic-model.ts";
import type { AgentSettings } from "../../src/platform/variables.ts";
import * as limits from "../../src/shared/limits.ts";
import type { LoopPorts } from "../../src/shared/query/loop.ts";
import type { Model } from "../../src/shared/query/model.ts";
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

/** What a loop needs of the outside: a model, time, chance, and how often it may try. */
export function loopSurroundings(
  settings: AgentSettings,
  most: { iterations: number; attempts: number },
): Pick<LoopPorts, "model" | "sleep" | "random" | "limits"> {
  return {
    model: modelOf(settings),
    sleep,
    random: Math.random,
    limits: {
      ...most,
      continuations: limits.CONTINUATIONS,
      firstMs: limits.RETRY_FIRST_MS,
      mostMs: limits.RETRY_MOST_MS,
      inMemoryMs: limits.WAIT_IN_MEMORY_MS,
      retryAfterMostMs: limits.RETRY_AFTER_MOST_MS,
    },
  };
}
