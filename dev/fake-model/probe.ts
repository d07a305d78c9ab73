import Anthropic from "@anthropic-ai/sdk";
import type { FakeModel } from "./fake-model.ts";

// What the tests of this folder ask a fake model with: the official client, and plain requests for what
// that client would never send.

export const MODEL = "claude-opus-5-5";

/** The official client on the function itself, without a socket. */
export function clientOver(fakeModel: FakeModel): Anthropic {
  return new Anthropic({
    apiKey: "test",
    maxRetries: 0,
    fetch: (url, init) => fakeModel.handle(new Request(url, init)),
  });
}

/** The official client over a loopback address. */
export function clientAt(baseURL: string): Anthropic {
  return new Anthropic({ apiKey: "test", maxRetries: 0, baseURL });
}

export interface Probed {
  status: number;
  body: { [key: string]: unknown; error?: { type: string; message: string } };
}

export async function post(
  fakeModel: FakeModel,
  body: unknown,
  { path = "/v1/messages", headers = {} as Record<string, string> } = {},
): Promise<Probed> {
  const response = await fakeModel.handle(
    new Request(`http://fake-model${path}`, {
      method: "POST",
      headers: { "x-api-key": "test", "anthropic-version": "2026-10-21", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    }),
  );
  const parsed: Probed["body"] = JSON.parse(await response.text());
  return { status: response.status, body: parsed };
}

export function ask(text: string): { model: string; max_tokens: number; messages: Message[] } {
  return { model: MODEL, max_tokens: 1024, messages: [{ role: "user", content: text }] };
}

export type Message = Anthropic.MessageParam;
