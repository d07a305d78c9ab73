// The choice by a model behind the Messages API, by the code that the service runs.

import { createAnthropicModel } from "../../src/platform/anthropic/model.ts";
import { createSecretMask } from "../../src/platform/secrets/secret-mask.ts";
import { within } from "../../src/platform/sleep.ts";
import { ANSWER_BYTES } from "../../src/shared/limits/turn.ts";
import { requestAnswer } from "../../src/shared/loop/model.ts";
import { type ChoosePorts, chooseMemories } from "../../src/shared/recall/choose.ts";
import type { Candidate } from "../../src/shared/recall/list.ts";
import type { Chosen } from "./choice-figures.ts";
import type { Question } from "./set.ts";

export interface ModelAddress {
  url: string;
  apiKey: string;
  model: string;
}

/** Calls at a time: a real model has a limit for them. */
const AT_ONCE = 4;
const IDLE_MS = 90_000;
/** Each question is the first of its session, on the same day. */
const BEGINNING = {
  recent: [],
  toolsInUse: [],
  time: "Tuesday, 2026-12-01, 12:00 (time zone UTC)",
};
const mask = createSecretMask();

/**
 * Asks a model by the service's own prompt, schema and reading of the answer. `failed` counts calls
 * without a choice, by cause: for them nothing is chosen.
 */
export async function chooseByModel(
  questions: readonly Question[],
  memories: readonly Candidate[],
  address: ModelAddress,
): Promise<{ all: Chosen[]; failed: Map<string, number> }> {
  const failed = new Map<string, number>();
  const all: Chosen[] = [];
  const entries = questions.entries();
  const worker = async () => {
    for (const [at, question] of entries) {
      const choice = await chooseMemories(
        { message: question.question, candidates: memories, ...BEGINNING, fallback: "none" },
        { choose: callOf(address, sessionOf(at)), mask, within },
      );
      if (choice.fallback !== undefined) {
        failed.set(choice.fallback, (failed.get(choice.fallback) ?? 0) + 1);
      }
      all[at] = { question, chosen: choice.selected };
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { all, failed };
}

/** The session that a question's call names, by which a model of our own knows the question. */
export function sessionOf(at: number): string {
  return `sesn_eval${at}`;
}

function callOf({ url, apiKey, model }: ModelAddress, sessionId: string): ChoosePorts["choose"] {
  const port = createAnthropicModel({
    apiKey,
    baseUrl: url,
    idleMs: IDLE_MS,
    answerBytes: ANSWER_BYTES,
  });
  return async ({ system, message, schema, maxTokens }) => {
    const answer = await requestAnswer(
      port,
      {
        purpose: "recall",
        sessionId,
        model,
        maxTokens,
        system: [system],
        tools: [],
        messages: [{ role: "user", content: [{ type: "text", text: message }] }],
        schema,
        noThinking: true,
      },
      new AbortController().signal,
    );
    if (answer.status === "failed") return { status: "failed", cause: answer.kind };
    if (answer.stopReason !== "end_turn" && answer.stopReason !== "stop_sequence") {
      return { status: "failed", cause: answer.stopReason };
    }
    const text = answer.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    return { status: "answered", text };
  };
}
