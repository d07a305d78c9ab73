// A storm for tests: writers of every kind over one directory at once, changes past it, and
// kills in between. What was acknowledged is written down; afterwards the directory has to agree.

import { createMemdirFiles } from "../../../src/platform/objects/memdir-files.ts";
import type { MemdirStub, Version, WriteReply } from "../../../src/platform/objects/memdir-rpc.ts";
import type { Reply } from "../../../src/platform/objects/reply.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { createMounts } from "../../../src/shared/files/mounts.ts";
import type { WriteTool } from "../../../src/shared/loop/tool.ts";
import { INDEX_FILE } from "../../../src/shared/memdir/entrypoint.ts";
import { createDeleteTool } from "../../../src/shared/tools/delete.ts";
import { createEditTool } from "../../../src/shared/tools/edit.ts";
import { createWriteTool } from "../../../src/shared/tools/write.ts";

/** One thing that a writer is told to do; what it means depends on the writer. */
export interface Order {
  /** From 0 to 99. */
  kind: number;
  path: string;
  to: string;
}

interface StormPorts {
  stub(): MemdirStub;
  bucket: R2Bucket;
  prefix: string;
  /** A request to the stores API of this directory, below `/memories`. */
  http(method: string, path: string, body?: object): Promise<Response>;
  /** Kills the directory's object in the middle of whatever it does. */
  kill(): Promise<void>;
}

interface Storm {
  /**
   * Every change that was acknowledged; `text` is what it wrote, or a part of it, if it did; `on` the
   * hash that it was conditional on.
   */
  acknowledged: { versionId: string; text: string | undefined; on?: string | undefined }[];
  /** What was put into R2 from outside and replaced there by the directory itself. */
  replaced: string[];
  operations: number;
  conflicts: number;
  failed: number;
}

/** Meddled with from outside. R2 has no conditional delete, so nobody deletes here but outsiders. */
const LOUD = ["a.md", "b.md", "c.md", INDEX_FILE];
/** Deleted and renamed by the directory's own writers. */
const QUIET = ["topic/d.md", "topic/e.md", "f.md", "g.md"];
export const PATHS = [...LOUD, ...QUIET];
const KILL_EVERY = 97;

/** Carries out all orders: two writers by tools, two by HTTP, two by calls, two past it. */
export async function runStorm(ports: StormPorts, orders: readonly Order[]): Promise<Storm> {
  const storm: Storm = { acknowledged: [], replaced: [], operations: 0, conflicts: 0, failed: 0 };
  const ways = [byTools, byTools, byHttp, byHttp, byCalls, byCalls, pastIt, pastIt];
  const writers = ways.map(async (way, writer) => {
    for (let order = orders[storm.operations]; order; order = orders[storm.operations]) {
      storm.operations += 1;
      const n = storm.operations;
      if (n % KILL_EVERY === 0) await ports.kill();
      try {
        await way(ports, storm, order, { writer, n });
      } catch {
        // A kill takes the calls under way with it; nothing was acknowledged.
        storm.failed += 1;
      }
      // Lets the runtime's network in: a loop of local calls would starve it.
      if (n % 16 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    }
  });
  await Promise.all(writers);
  return storm;
}

interface Who {
  writer: number;
  n: number;
}

/** As the agent's tools do it: look, plan, commit. */
async function byTools(ports: StormPorts, storm: Storm, order: Order, who: Who): Promise<void> {
  const actor = { type: "session", sessionId: `s${who.writer}`, by: "agent" } as const;
  const store = createMemdirFiles(ports.stub(), { actor });
  const mounts = createMounts([
    { at: "/m", store, rights: "write", maxFileBytes: 250_000, label: "memory" },
  ]);
  const seen = new Map<string, string>();
  const known = await store.head(order.path);
  if (known) seen.set(`/m/${order.path}`, known.etag);
  const file_path = `/m/${order.path}`;
  const text = textOf(who);
  const run = async (tool: WriteTool, input: object, written: string | undefined) => {
    const planned = await tool.plan(input, new AbortController().signal);
    const result =
      planned.status === "planned" ? await tool.commit(planned.plan, false) : undefined;
    if (result?.isError !== false) storm.conflicts += 1;
    for (const note of result?.notes ?? []) {
      if (note.type !== "changed") continue;
      // A change without its receipt counts as lost.
      const versionId = note.receipt?.versionId ?? `none for ${note.path}`;
      storm.acknowledged.push({ versionId, text: written });
    }
  };
  if (order.kind < 40)
    return run(createWriteTool({ mounts, seen }), { file_path, content: text }, text);
  if (order.kind < 85) {
    const new_string = `body, edited as ${who.n}`;
    const input = { file_path, old_string: "body", new_string, replace_all: true };
    return run(createEditTool({ mounts, seen }), input, new_string);
  }
  if (LOUD.includes(order.path)) return;
  return run(createDeleteTool({ mounts, seen }), { file_path }, undefined);
}

/** As a client of the stores API does it, with and without a condition. */
async function byHttp(ports: StormPorts, storm: Storm, order: Order, who: Who): Promise<void> {
  const content = textOf(who);
  const note = async (response: Response, text: string | undefined, on?: string) => {
    const body: unknown = await response.json();
    if (response.status === 409) storm.conflicts += 1;
    const versionId: unknown = Reflect.get(Object(body), "memory_version_id");
    if (!response.ok || typeof versionId !== "string") return;
    storm.acknowledged.push({ versionId, text, on });
  };
  if (order.kind < 35) {
    return note(await ports.http("POST", "", { path: `/${order.path}`, content }), content);
  }
  const found = unwrap(await ports.stub().head(order.path));
  if (!found) return;
  const precondition = { type: "content_sha256", content_sha256: found.sha256 };
  if (order.kind < 60) {
    const reply = await ports.http("POST", `/${found.id}`, { content, precondition });
    return note(reply, content, found.sha256);
  }
  if (order.kind < 80) return note(await ports.http("POST", `/${found.id}`, { content }), content);
  if (LOUD.includes(order.path) || LOUD.includes(order.to)) return;
  if (order.kind < 90) {
    const path = `/${order.to}`;
    return note(await ports.http("POST", `/${found.id}`, { path, precondition }), undefined);
  }
  await (await ports.http("DELETE", `/${found.id}?expected_content_sha256=${found.sha256}`)).text();
}

/** As background work does it: calls of the object, healing and imports among them. */
async function byCalls(ports: StormPorts, storm: Storm, order: Order, who: Who): Promise<void> {
  const stub = ports.stub();
  const { path, kind } = order;
  const actor = { type: "session", sessionId: `s${who.writer}`, by: "extraction" } as const;
  const text = textOf(who);
  const note = (reply: Reply<WriteReply>, written: string, on?: string) => {
    const result = unwrap(reply);
    if (result.status === "written") {
      const { versionId } = result.receipt;
      storm.acknowledged.push({ versionId, text: written, on });
    }
    if (result.status === "conflict") storm.conflicts += 1;
  };
  if (kind < 25) return note(await stub.write({ path, bytes: bytes(text), actor }), text);
  if (kind < 40) {
    const condition = { ifAbsent: true as const };
    return note(await stub.write({ path, bytes: bytes(text), condition, actor }), text);
  }
  if (kind < 70) {
    const found = unwrap(await stub.read(path));
    if (!found) return;
    const longer = `${new TextDecoder().decode(found.bytes).slice(0, 400)}\n${text}`;
    const condition = { ifMatch: found.sha256 };
    const reply = await stub.write({ path, bytes: bytes(longer), condition, actor });
    return note(reply, longer, found.sha256);
  }
  if (kind < 90) {
    for (const { versionId } of unwrap(await stub.reconcile(actor))) {
      storm.acknowledged.push({ versionId, text: undefined });
    }
    return;
  }
  unwrap(await stub.importChanges());
}

/** Each of the two has paths of its own, so that what takes its place is the directory's doing. */
async function pastIt(ports: StormPorts, storm: Storm, order: Order, who: Who): Promise<void> {
  const own = LOUD.filter((_, index) => index % 2 === who.writer % 2);
  const path = own[order.kind % own.length] ?? INDEX_FILE;
  const key = ports.prefix + path;
  if (order.kind < 20) return ports.bucket.delete(key);
  const text = textOf(who);
  await ports.bucket.put(key, text);
  for (let looks = 0; looks < 6; looks += 1) {
    await new Promise((resolve) => setTimeout(resolve, 4));
    const found = await (await ports.bucket.get(key))?.text();
    if (found === text) continue;
    storm.replaced.push(text);
    return;
  }
}

/** Foreign contents that the directory overwrote without having imported them. */
export function unseenOf(storm: Storm, versions: readonly Version[]): string[] {
  const kept = new Set(versions.map(({ bytes: content }) => content && decode(content)));
  return storm.replaced.filter((text) => !kept.has(text));
}

/** Versions that are called foreign and hold what one of our writers wrote. */
export function misattributed(versions: readonly Version[]): Version[] {
  return versions.filter(
    ({ actor, bytes: content }) =>
      actor.type === "external" && content !== null && !FOREIGN.test(decode(content)),
  );
}

const FOREIGN =
  /^---\nname: note (\d+)\ndescription: written by [67] as \1\ntype: project\n---\nbody \1\n$/;

function decode(content: Uint8Array): string {
  return new TextDecoder().decode(content);
}

/** What was acknowledged and is not in the history with what it wrote. */
export function lostOf(storm: Storm, versions: readonly Version[]): string[] {
  const byId = new Map(versions.map((version) => [version.id, version]));
  return storm.acknowledged.flatMap(({ versionId, text }) => {
    const version = byId.get(versionId);
    const kept = version?.bytes ? new TextDecoder().decode(version.bytes) : "";
    return version && kept.includes(text ?? "") ? [] : [versionId];
  });
}

/** Conditional changes that were made onto something else than what they were conditional on. */
export function unconditional(storm: Storm, versions: readonly Version[]): string[] {
  const before = new Map<string, string | null>();
  const found = new Map<string, string | null>();
  for (const { id, memoryId, sha256 } of versions) {
    found.set(id, before.get(memoryId) ?? null);
    before.set(memoryId, sha256);
  }
  return storm.acknowledged.flatMap(({ versionId, on }) =>
    on === undefined || found.get(versionId) === on ? [] : [versionId],
  );
}

/** All versions, oldest first, with their content. */
export async function allVersions(stub: MemdirStub): Promise<Version[]> {
  const all: Version[] = [];
  for (let before: number | undefined; ; ) {
    const page = unwrap(
      await stub.versions({
        limit: 200,
        withContent: true,
        before,
      }),
    );
    all.push(...page);
    before = page.at(-1)?.n;
    if (page.length < 200) return all.reverse();
  }
}

/** The state that the versions lead to: path to text. */
export function replay(versions: readonly Version[]): Map<string, string> {
  const byMemory = new Map<string, { path: string; text: string }>();
  for (const { memoryId, operation, path, bytes: content } of versions) {
    if (operation === "deleted") byMemory.delete(memoryId);
    else if (path !== null && content) {
      byMemory.set(memoryId, { path, text: new TextDecoder().decode(content) });
    }
  }
  return new Map([...byMemory.values()].map(({ path, text }) => [path, text]));
}

function textOf({ writer, n }: Who): string {
  return `---\nname: note ${n}\ndescription: written by ${writer} as ${n}\ntype: project\n---\nbody ${n}\n`;
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
