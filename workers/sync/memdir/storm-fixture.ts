// A storm for tests: writers of every kind over one directory at once, changes behind its back, and
// kills in between. What was acknowledged is written down; afterwards the directory has to agree.

import type { MemdirStub, Receipt, Version, WriteReply } from "../../../src/platform/memdir-rpc.ts";
import type { Reply } from "../../../src/platform/reply.ts";
import { unwrap } from "../../../src/platform/reply.ts";
import { INDEX_FILE } from "../../../src/shared/memdir/entrypoint.ts";

export interface StormPorts {
  stub(): MemdirStub;
  bucket: R2Bucket;
  prefix: string;
  /** Kills the directory's object in the middle of whatever it does. */
  kill(): Promise<void>;
  /** A number from 0 to 1, from a seed. */
  random(): number;
}

export interface Storm {
  /** Every change that was acknowledged, with what it wrote; deletions have no text. */
  acknowledged: { receipt: Receipt; text: string | undefined }[];
  operations: number;
  conflicts: number;
  failed: number;
}

const PATHS = ["a.md", "b.md", "c.md", "topic/d.md", "topic/e.md", "f.md", INDEX_FILE];

/** Runs `operations` in all, by six writers with a stub and two that go behind its back. */
export async function runStorm(ports: StormPorts, operations: number): Promise<Storm> {
  const storm: Storm = { acknowledged: [], operations: 0, conflicts: 0, failed: 0 };
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    while (storm.operations < operations) {
      storm.operations += 1;
      const n = storm.operations;
      if (n % 97 === 0) await ports.kill();
      try {
        if (writer < 6) await operate(ports, storm, writer, n);
        else await meddle(ports, n);
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

async function operate(ports: StormPorts, storm: Storm, writer: number, n: number): Promise<void> {
  const stub = ports.stub();
  const path = pick(ports, PATHS);
  const actor = { type: "session", sessionId: `s${writer}`, by: "agent" } as const;
  const text = textOf(writer, n);
  const kind = ports.random();
  if (kind < 0.3) return note(storm, await stub.write({ path, bytes: bytes(text), actor }), text);
  if (kind < 0.4) {
    const condition = { ifAbsent: true as const };
    return note(storm, await stub.write({ path, bytes: bytes(text), condition, actor }), text);
  }
  if (kind < 0.7) {
    // Read, then write on that condition: what an Edit does.
    const found = unwrap(await stub.read(path));
    if (!found) return;
    const longer = `${new TextDecoder().decode(found.bytes).slice(0, 400)}\n${text}`;
    const condition = { ifMatch: found.sha256 };
    return note(storm, await stub.write({ path, bytes: bytes(longer), condition, actor }), longer);
  }
  if (kind < 0.8) {
    const found = unwrap(await stub.head(path));
    if (!found) return;
    const reply = unwrap(await stub.remove({ id: found.id, ifMatch: found.sha256, actor }));
    if (reply.status === "removed")
      storm.acknowledged.push({ receipt: reply.receipt, text: undefined });
    if (reply.status === "conflict") storm.conflicts += 1;
    return;
  }
  if (kind < 0.88) {
    const found = unwrap(await stub.read(path));
    if (!found || path === INDEX_FILE) return;
    const to = pick(
      ports,
      PATHS.filter((one) => one !== INDEX_FILE),
    );
    const body = new TextDecoder().decode(found.bytes);
    return note(
      storm,
      await stub.update({ id: found.id, path: to, ifMatch: found.sha256, actor }),
      body,
    );
  }
  if (kind < 0.94) {
    for (const receipt of unwrap(await stub.reconcile(actor))) await own(storm, stub, receipt);
    return;
  }
  unwrap(await stub.takeIn());
}

/** What is written by the directory itself is read back by its version. */
async function own(storm: Storm, stub: MemdirStub, receipt: Receipt): Promise<void> {
  const version = unwrap(await stub.version(receipt.versionId));
  if (version?.bytes)
    storm.acknowledged.push({ receipt, text: new TextDecoder().decode(version.bytes) });
}

async function meddle(ports: StormPorts, n: number): Promise<void> {
  const path = pick(ports, PATHS);
  const key = ports.prefix + path;
  if (ports.random() < 0.2) await ports.bucket.delete(key);
  else await ports.bucket.put(key, textOf(9, n));
  await new Promise((resolve) => setTimeout(resolve, 5));
}

function note(storm: Storm, reply: Reply<WriteReply>, text: string): void {
  const result = unwrap(reply);
  if (result.status === "written") storm.acknowledged.push({ receipt: result.receipt, text });
  if (result.status === "conflict") storm.conflicts += 1;
}

/** All versions, oldest first, with their content. */
export async function allVersions(stub: MemdirStub): Promise<Version[]> {
  const all: Version[] = [];
  for (let before: number | undefined; ; ) {
    const page = unwrap(
      await stub.versions({
        limit: 200,
        withContent: true,
        ...(before === undefined ? {} : { before }),
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

function textOf(writer: number, n: number): string {
  return `---\nname: note ${n}\ndescription: written by ${writer} as ${n}\ntype: project\n---\nbody ${n}\n`;
}

function pick<T>(ports: StormPorts, items: readonly T[]): T {
  const item = items[Math.floor(ports.random() * items.length)];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
