// What tests know of a session's memory: where it lies, what lies there, and what a memory looks like.

import type Anthropic from "@anthropic-ai/sdk";
import type { Bucket, SessionEvent } from "./service.ts";
import { eventsUntil, stored } from "./service.ts";

/** What a session says of its memory. */
export async function autoMemory(
  client: Anthropic,
  session: string,
): Promise<{ directory: string; store_id: string }> {
  const shape = (await client.beta.sessions.retrieve(session)) as unknown as {
    auto_memory: { directory: string; store_id: string };
  };
  return shape.auto_memory;
}

/** Where a session's memory lies in the bucket, for the user `ann` of a tenant; ends in "/". */
export async function memoryPrefixOf(
  client: Anthropic,
  session: string,
  org = "acme",
): Promise<string> {
  return `t/${org}/u/ann${(await autoMemory(client, session)).directory}/`;
}

/** The files below a prefix, by the name that follows it. */
export async function filesBelow(bucket: Bucket, prefix: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const { key } of (await bucket.list({ prefix })).objects) {
    files.set(key.slice(prefix.length), (await (await bucket.get(key))?.text()) ?? "");
  }
  return files;
}

/** The pointer lines of an index. */
export function pointersIn(files: ReadonlyMap<string, string>): string[] {
  return (files.get("MEMORY.md") ?? "").split("\n").filter((line) => line.startsWith("- "));
}

/** The text of a memory file. */
export function memoryText(
  name: string,
  description: string,
  type = "project",
  body = description,
): string {
  return `---\nname: ${name}\ndescription: ${description}\ntype: ${type}\n---\n\n${body}\n`;
}

/** Waits until nothing of a session's turns so far is due; one that was interrupted never is by itself. */
export async function extracted(client: Anthropic, session: string): Promise<void> {
  const events = await stored(client, session);
  const last = events.findLast(
    (event) => event.type === "session.status_idle" && !interrupted(events, event.turn_id),
  );
  await eventsUntil(client, session, "the extraction of its turns", (seen) =>
    seen.some(
      (event: SessionEvent & { by?: string }) =>
        event.by === "extraction" && event.turn_id === last?.turn_id,
    ),
  );
}

function interrupted(events: readonly SessionEvent[], turnId: string | undefined): boolean {
  const from = events.findIndex((event) => "id" in event && event.id === turnId);
  const next = events.slice(from + 1).find((event) => event.type.startsWith("user."));
  return next?.type === "user.interrupt";
}
