// What a memory directory takes in: text that can be read, and from a background run nothing that is
// saved already.

import { env, runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, test } from "vitest";
import { createMemdirFiles } from "../../../src/platform/objects/memdir-files.ts";
import type { MemdirStub, StoreMeta } from "../../../src/platform/objects/memdir-rpc.ts";
import { memdirStub } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { extractionTools } from "../../../src/shared/extraction/sandbox.ts";
import { createMounts } from "../../../src/shared/files/mounts.ts";
import { createFileTools } from "../../../src/shared/tools/file-tools.ts";
import { objectOf } from "./directory-fixture.ts";
import { actor, putText } from "./history-fixture.ts";
import { newStoreMeta } from "./meta-fixture.ts";

const DIRECTORY = "/memory/p";
const agent = { type: "session", sessionId: "s1", by: "agent" } as const;
const fork = { ...agent, by: "extraction" } as const;
const NUL = "moved\u0000 to Oslo";

let meta: StoreMeta;
let stub: MemdirStub;
beforeEach(async () => {
  meta = newStoreMeta();
  stub = memdirStub(env, meta.owner, meta.id);
  unwrap(await stub.open(meta));
});

describe("TRUTH-08: what no reader would take is refused with its place, and nothing is stored", () => {
  test("by writes and updates, whoever asks", async () => {
    const { memoryId } = await putText(stub, "a.md", "old");
    for (const who of [actor, agent, fork]) {
      const write = { path: "b.md", bytes: bytes(NUL), actor: who };
      expect(unwrap(await stub.write(write))).toEqual({
        status: "refused",
        reason: "text",
        message: expect.stringMatching(/b\.md.*NUL.*line 1, column 6 \(byte 6\)/),
      });
      const odd = new Uint8Array([0x61, 0x0a, 0xff]);
      const update = { id: memoryId, bytes: odd, actor: who };
      expect(unwrap(await stub.update(update))).toMatchObject({
        reason: "text",
        message: expect.stringMatching(/a\.md.*not UTF-8 at line 2, column 1/),
      });
    }
    await expectOnly("old");
  });

  test("by the agent's tools, Write and Edit", async () => {
    await putText(stub, "a.md", "old");
    const call = toolsOf(agent);
    const file_path = `${DIRECTORY}/b.md`;
    expect(await call("Write", { file_path, content: NUL })).toMatch(/NUL.*line 1, column 6/);
    const edit = { file_path: `${DIRECTORY}/a.md`, old_string: "old", new_string: `one\n${NUL}` };
    expect(await call("Edit", edit)).toMatch(/NUL.*line 2, column 6/);
    expect(await call("Write", { file_path, content: "a\n\ud83d" })).toMatch(/line 2, column 1/);
    await expectOnly("old");
  });

  test("by restore and rewind of a version that is none", async () => {
    const { versionId } = await putText(stub, "a.md", "old!");
    const time = Date.now();
    await new Promise((resolve) => setTimeout(resolve, 5));
    await putText(stub, "a.md", "new");
    // As if it had been stored before there was this rule.
    await runInDurableObject(objectOf(meta), (_instance, { storage }) => {
      storage.sql.exec("UPDATE contents SET bytes = ? WHERE n = 1", bytes("ol\u0000d"));
    });
    expect(unwrap(await stub.restore(versionId, { actor }))).toMatchObject({ reason: "text" });
    const { changed, skipped } = unwrap(await stub.rewind({ time }, { actor }));
    expect(changed).toEqual([]);
    expect(skipped).toMatchObject([{ path: "a.md", reason: expect.stringMatching(/NUL/) }]);
    expect(await textOf("a.md")).toBe("new");
  });

  test("a memory of before is still moved and deleted", async () => {
    const { memoryId } = await putText(stub, "a.md", "old");
    await runInDurableObject(objectOf(meta), (_instance, { storage }) => {
      storage.sql.exec("UPDATE contents SET bytes = ? WHERE n = 1", bytes(NUL));
    });
    const moved = { id: memoryId, path: "b.md", actor };
    expect(unwrap(await stub.update(moved))).toMatchObject({ status: "written" });
    expect(unwrap(await stub.remove({ id: memoryId, actor }))).toMatchObject({ status: "removed" });
  });
});

describe("TRUTH-07: a background run saves nothing again", () => {
  const memoryOf = (n: number) =>
    `---\nname: n${n}\ndescription: Part ${n} is built in C\ntype: project\n---\n\nPart ${n} is built in C since spring.\n`;

  test("also where what is there is the oldest of 231; it is told the file, and to Edit it", async () => {
    await putText(stub, "m0.md", memoryOf(0));
    const later = Array.from({ length: 230 }, (_, n) => n + 1);
    await Promise.all(later.map((n) => env.FILES.put(`${meta.prefix}m${n}.md`, memoryOf(n))));
    expect(unwrap(await stub.importChanges())).toHaveLength(230);
    expect(unwrap(await stub.scan(200)).map(({ path }) => path)).not.toContain("m0.md");
    const call = toolsOf(fork);
    const write = (content: string, name = "again.md") =>
      call("Write", { file_path: `${DIRECTORY}/${name}`, content });
    expect(await write(memoryOf(0))).toMatch(
      /again\.md was not saved: m0\.md says this.*Edit that/,
    );
    const about = memoryOf(0).replace("in C since spring", "by Ann");
    expect(await write(about)).toMatch(/m0\.md.*its description is the same.*Edit that/);
    const said = memoryOf(0).replace("description: Part 0 is built in C", "description: old part");
    expect(await write(said)).toMatch(/m0\.md says this already, in the same words/);
    expect(unwrap(await stub.head("again.md"))).toBeNull();
    // A reader sees that these are others.
    const others = [/built in C/g, /\bPart 0\b/g, /is built/g].map((part, index) =>
      memoryOf(0).replaceAll(part, ["built in C#", "Part 0.1", "is not built"][index] ?? ""),
    );
    for (const [n, other] of others.entries()) {
      expect(await write(other, `other${n}.md`)).toMatch(/^Created/);
    }
    // The agent may: it does what it is told to.
    expect(
      await toolsOf(agent)("Write", { file_path: `${DIRECTORY}/again.md`, content: about }),
    ).toMatch(/^Created/);
  });

  test("what was said once and is no more is news; so is a change of it", async () => {
    const { memoryId } = await putText(stub, "a.md", memoryOf(1));
    await putText(stub, "a.md", memoryOf(2));
    const call = toolsOf(fork);
    const write = (name: string, content: string) =>
      call("Write", { file_path: `${DIRECTORY}/${name}`, content });
    expect(await write("b.md", memoryOf(1))).toMatch(/^Created/);
    unwrap(await stub.update({ id: memoryId, path: "moved.md", actor }));
    expect(await write("c.md", memoryOf(2))).toMatch(/moved\.md says this/);
    const edit = { file_path: `${DIRECTORY}/b.md`, old_string: "spring", new_string: "autumn" };
    expect(await call("Edit", edit)).toMatch(/^Edited/);
    unwrap(await stub.remove({ id: memoryId, actor }));
    expect(await write("c.md", memoryOf(2))).toMatch(/^Created/);
  });

  test("what comes in from R2 counts too, and the index is nobody's repetition", async () => {
    await env.FILES.put(`${meta.prefix}a.md`, memoryOf(1));
    unwrap(await stub.importChanges());
    const request = { actor: fork, repeats: "refuse" } as const;
    expect(
      unwrap(await stub.write({ path: "b.md", bytes: bytes(memoryOf(1)), ...request })),
    ).toMatchObject({ reason: "repeat" });
    expect(
      unwrap(await stub.write({ path: "MEMORY.md", bytes: bytes(memoryOf(1)), ...request })),
    ).toMatchObject({ status: "written" });
  });
});

/** The tools of the agent, or of its background run, over the directory. */
function toolsOf(who: typeof agent | typeof fork) {
  const repeats = who.by === "extraction" ? ("refuse" as const) : undefined;
  const files = createMemdirFiles(stub, { actor: who, repeats });
  const mounts = [
    { at: DIRECTORY, store: files, rights: "write", maxFileBytes: 250_000, label: "memory" },
  ] as const;
  const seen = new Map<string, string>();
  const tools =
    who.by === "extraction"
      ? extractionTools({ mounts, directory: DIRECTORY, files, seen, recalled: () => [] })
      : new Map(
          createFileTools({ mounts: createMounts(mounts), seen }).map((tool) => [tool.name, tool]),
        );
  return async (name: "Write" | "Edit", input: unknown): Promise<string> => {
    const tool = tools.get(name);
    if (tool?.kind !== "write") throw new Error(name);
    const planned = await tool.plan(input, new AbortController().signal);
    if (planned.status === "refused") return planned.result.content;
    return (await tool.commit(planned.plan, false)).content;
  };
}

/** One memory, one version, and one object in R2 are all there is. */
async function expectOnly(text: string): Promise<void> {
  expect(await textOf("a.md")).toBe(text);
  expect(unwrap(await stub.versions({ limit: 9, withContent: false }))).toHaveLength(1);
  const { objects } = await env.FILES.list({ prefix: meta.prefix });
  expect(objects.map(({ key }) => key)).toEqual([`${meta.prefix}a.md`]);
}

async function textOf(path: string): Promise<string | undefined> {
  const found = unwrap(await stub.read(path));
  return found ? new TextDecoder().decode(found.bytes) : undefined;
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
