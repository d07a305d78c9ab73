// Holds the talks with the service itself, in the local runtime, and looks at what it saved.

import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import * as z from "zod";
import { startService } from "../service.ts";
import { signToken } from "../sign-token.ts";
import { fileOf } from "./drafts.ts";
import type { Talk } from "./set.ts";
import { type Saved, type TalkFigures, talkFigures } from "./talk-figures.ts";

/** Talks at a time. */
const AT_ONCE = 4;
/** A real model may take minutes over a turn, not more. */
const CLIENT_MS = 600_000;

const sessionShape = z.object({
  id: z.string(),
  auto_memory: z.object({ directory: z.string(), store_id: z.string() }),
});

/** A talk's session, told before its first message. */
export type Begin = (sessionId: string, talk: Talk, directory: string) => void;

/**
 * Holds each talk in a project of its own, ends its session, which waits for what is saved in the
 * background, and reads the project's memory. `variables` name the model.
 */
export async function holdTalks(
  talks: readonly Talk[],
  variables: Record<string, string>,
  begin: Begin = () => {},
): Promise<TalkFigures[]> {
  const directory = mkdtempSync(join(tmpdir(), "memdir-eval-"));
  const secret = randomUUID() + randomUUID();
  const service = await startService({
    port: 0,
    directory,
    variables: {
      NOTES_FIRST_TOKENS: "1000000000",
      ...variables,
      AUTH_SECRET: secret,
    },
  });
  const owner = { org: "eval", user: "eval", role: "member", repos: [] } as const;
  const client = new Anthropic({
    apiKey: await signToken(secret, owner),
    baseURL: service.url,
    maxRetries: 0,
    timeout: CLIENT_MS,
  });
  const figures: TalkFigures[] = [];
  try {
    const entries = talks.entries();
    const worker = async () => {
      for (const [at, talk] of entries) {
        const day = Date.now();
        figures[at] = talkFigures(talk, await hold(client, talk, at, begin), day);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  } finally {
    await service.close();
    rmSync(directory, { recursive: true, force: true });
  }
  return figures;
}

async function hold(client: Anthropic, talk: Talk, at: number, begin: Begin): Promise<Saved[]> {
  const session = sessionShape.parse(
    await client.beta.sessions.create({ agent: "default", environment_id: `talk-${at}` }),
  );
  const { directory, store_id } = session.auto_memory;
  begin(session.id, talk, directory);
  const { memories } = client.beta.memoryStores;
  for (const memory of talk.before ?? []) {
    await memories.create(store_id, { path: `/${memory.path}`, content: fileOf(memory) });
  }
  const stream = await client.beta.sessions.events.stream(session.id);
  const events = stream[Symbol.asyncIterator]();
  for (const text of talk.messages) {
    await client.beta.sessions.events.send(session.id, {
      events: [{ type: "user.message", content: [{ type: "text", text }] }],
    });
    for (let next = await events.next(); !next.done; next = await events.next()) {
      if (next.value.type === "session.status_idle") break;
    }
  }
  await events.return?.();
  await client.beta.sessions.archive(session.id);
  const saved: Saved[] = [];
  for await (const memory of memories.list(store_id, { view: "full" })) {
    if (memory.type !== "memory" || memory.path.endsWith("/MEMORY.md")) continue;
    saved.push({ path: memory.path.replace(/^\//, ""), content: memory.content ?? "" });
  }
  return saved;
}
