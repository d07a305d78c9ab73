// What tests know of a session's memory: where it lies, what lies there, and what a memory looks like.

import type Anthropic from "@anthropic-ai/sdk";
import type { Bucket } from "./service.ts";

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

/** Where a session's memory lies in the bucket, for the user `ann` of `acme`; ends in "/". */
export async function memoryPrefixOf(client: Anthropic, session: string): Promise<string> {
  return `t/acme/u/ann${(await autoMemory(client, session)).directory}/`;
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
