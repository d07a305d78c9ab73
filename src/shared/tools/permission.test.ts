import { describe, expect, test } from "vitest";
import { createFileTools } from "./file-tools.ts";
import { permissionOf, permittedTools } from "./permission.ts";
import { HOSTILE_SPELLINGS } from "./permission-fixture.ts";
import { createMemory, mountOf, openSession, stored } from "./tool-fixture.ts";

const memory = createMemory();
const workspace = createMemory();
const session = openSession(
  mountOf(memory),
  mountOf(workspace, { at: "/workspace/w", label: "workspace w" }),
);
const tools = new Map(createFileTools(session.env).map((tool) => [tool.name, tool]));
const decide = (name: string, file_path: unknown, mode: "accept_edits" | "ask" | "read_only") =>
  permissionOf(tools.get(name), { file_path }, { mode, memory: "/memory" });

const WRITERS = ["Write", "Edit", "Delete"];
const READERS = ["Read", "Glob", "Grep"];

test("every tool is one of the two kinds that are decided about", () => {
  expect([...tools.keys()].toSorted()).toEqual([...WRITERS, ...READERS].toSorted());
});

describe.each(WRITERS)("%s", (name) => {
  test("may change anything where edits are accepted", () => {
    expect(decide(name, "/workspace/w/a.md", "accept_edits")).toBe("allow");
  });
  test("asks outside the memory, and never inside", () => {
    expect(decide(name, "/workspace/w/a.md", "ask")).toBe("ask");
    expect(decide(name, "/memory/a.md", "ask")).toBe("allow");
    expect(decide(name, "/memory/./sub//a.md", "ask")).toBe("allow");
  });
  test("is denied outside the memory of a read-only session, and allowed inside", () => {
    expect(decide(name, "/workspace/w/a.md", "read_only")).toBe("deny");
    expect(decide(name, "/memory/a.md", "read_only")).toBe("allow");
  });
  test.each(HOSTILE_SPELLINGS)("does not take %j for memory", (path) => {
    expect(decide(name, path, "ask")).toBe("ask");
    expect(decide(name, path, "read_only")).toBe("deny");
  });
});

test.each(READERS)("%s is never asked about", (name) => {
  expect(decide(name, "/workspace/w/a.md", "ask")).toBe("allow");
  expect(decide(name, "/workspace/w/a.md", "read_only")).toBe("allow");
});

test("without a memory every change is outside it", () => {
  const rules = { mode: "ask" as const, memory: undefined };
  expect(permissionOf(tools.get("Write"), { file_path: "/memory/a.md" }, rules)).toBe("ask");
});

test("a tool that is not there is denied, one of the client's waits for the client", () => {
  const rules = { mode: "accept_edits" as const, memory: "/memory" };
  const client = { kind: "client" as const, name: "Map", description: "d", input_schema: {} };
  expect(permissionOf(undefined, {}, rules)).toBe("deny");
  expect(permissionOf(client, {}, rules)).toBe("client");
});

test("a read-only session refuses with what to do next, keeps its tool list and writes memories", async () => {
  const guarded = permittedTools([...tools.values()], { mode: "read_only", memory: "/memory" });
  expect(guarded.map(({ name, input_schema }) => [name, input_schema])).toEqual(
    [...tools.values()].map(({ name, input_schema }) => [name, input_schema]),
  );
  const write = guarded.find(({ name }) => name === "Write");
  if (write?.kind !== "write") throw new Error("no Write");
  const signal = new AbortController().signal;
  for (const file_path of ["/workspace/w/a.md", "/memory/../workspace/w/a.md"]) {
    const plan = await write.plan({ file_path, content: "x" }, signal);
    expect(plan).toMatchObject({ status: "refused", result: { isError: true } });
    const said = plan.status === "refused" ? plan.result.content : "";
    expect(said).toMatch(/read-only.*\/memory.*Tell the user/);
  }
  const plan = await write.plan({ file_path: "/memory/a.md", content: "x" }, signal);
  if (plan.status === "planned") await write.commit(plan.plan, false);
  expect(await stored(memory, "a.md")).toBe("x");
  expect(await stored(workspace, "a.md")).toBeUndefined();
});
