// What tests of long conversations share: turns of a known size, and what the model was sent.

import type Anthropic from "@anthropic-ai/sdk";
import { expect } from "vitest";
import { type SessionEvent, stored, type TestService, turn } from "./service.ts";

/** What a compaction tells. */
export type Compacted = SessionEvent & {
  trigger: string;
  tokens_before: number;
  tokens_after: number;
  used_notes: boolean;
};

/** About 600 tokens. */
export const PAD = "The quick brown fox jumps over the lazy dog again and again. ".repeat(40);

/** The compactions of a session. */
export async function compactions(client: Anthropic, session: string): Promise<Compacted[]> {
  const events = await stored(client, session);
  return events.filter((event) => event.type === "agent.thread_context_compacted") as Compacted[];
}

/** Tokens of a turn's last request. */
export function promptTokensOf(events: readonly SessionEvent[]): number {
  const end = events.findLast((event) => event.type === "span.model_request_end");
  if (end?.type !== "span.model_request_end") throw new Error("The turn asked nobody");
  const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens } = end.model_usage;
  return input_tokens + (cache_read_input_tokens ?? 0) + (cache_creation_input_tokens ?? 0);
}

/** Says something until the conversation has been compacted so often; gives the turns that it took. */
export async function talkUntilCompacted(
  client: Anthropic,
  session: string,
  times = 1,
  text = (n: number) => `Turn ${n}: ${PAD}`,
): Promise<number> {
  for (let n = 1; n <= 200; n += 1) {
    await turn(client, session, text(n));
    if ((await compactions(client, session)).length >= times) return n;
  }
  throw new Error("The conversation was never compacted");
}

/** Requests of a session that its model's server has refused, beside the faults that a test asked for. */
export function refused({ model }: TestService, session: string): (string | undefined)[] {
  return model.requests
    .filter((request) => request.session === session && request.status === 400)
    .map(({ error }) => error);
}

/** How often a text stands in a request. */
export function occurrences(request: unknown, text: string): number {
  return JSON.stringify(request).split(text).length - 1;
}

/** All that a model's server got for one purpose. */
export function requestsFor({ model }: TestService, session: string, purpose: string) {
  return model.requests.filter(
    (request) =>
      request.session === session && request.purpose === purpose && request.path === "/v1/messages",
  );
}

/** What a request begins with. */
export function firstText(messages: Anthropic.MessageParam[] | undefined): string {
  const content = messages?.[0]?.content;
  const [block] = Array.isArray(content) ? content : [];
  expect(block).toBeDefined();
  return block?.type === "text" ? block.text : "";
}
