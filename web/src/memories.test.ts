import { expect, it } from "vitest";
import { type Api, ApiError, type ApiInit } from "./api.ts";
import { listMemories, memoryText, parseVersion } from "./memories.ts";

const HASH = "a".repeat(64);

/** A service that answers from a list, and remembers what it was asked. */
function service(answers: unknown[]) {
  const asked: { path: string; init: ApiInit | undefined }[] = [];
  const api: Api = async (path, init) => {
    asked.push({ path, init });
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return Response.json(answer);
  };
  return { api, asked };
}

const memory = (path: string, updated_at: string) => ({ id: path, path: `/${path}`, updated_at });

it("lists all pages, the index first and then what was changed last", async () => {
  const { api, asked } = service([
    {
      data: [
        memory("MEMORY.md", "2026-01-01T00:00:00.000Z"),
        memory("a.md", "2026-01-01T00:00:00Z"),
      ],
      next_page: "two",
    },
    {
      data: [memory("b.md", "2026-01-03T00:00:00Z"), memory("c/MEMORY.md", "2026-01-02T00:00:00Z")],
      next_page: null,
    },
  ]);
  const paths = (await listMemories(api, "memstore_1")).map(({ path }) => path);
  expect(paths).toEqual(["MEMORY.md", "b.md", "c/MEMORY.md", "a.md"]);
  expect(asked.map(({ path }) => path)).toEqual([
    "/v1/memory_stores/memstore_1/memories?view=basic&limit=100",
    "/v1/memory_stores/memstore_1/memories?view=basic&limit=100&page=two",
  ]);
});

const known = { id: "mem_1", path: "a.md" };

it("saves over the version that was read, deletes that one, and makes a memory anew where it is gone", async () => {
  const { api, asked } = service([
    { id: "mem_1", content: "x", content_size_bytes: 1, content_sha256: HASH },
    { id: "mem_1", content_sha256: "b" },
    { id: "mem_2", content_sha256: "c" },
    { id: "mem_2", type: "memory_deleted" },
  ]);
  const text = memoryText(api, "memstore_1", { ...known });
  expect(await text.read()).toEqual({ text: "x", version: HASH });
  expect(await text.write("y", HASH)).toBe("b");
  expect(await text.write("y", undefined)).toBe("c");
  await text.remove("c");
  expect(
    asked.map(({ path, init }) => [path.split("/memories")[1], init?.method, init?.json]),
  ).toEqual([
    ["/mem_1?view=full", undefined, undefined],
    [
      "/mem_1",
      "POST",
      { content: "y", precondition: { type: "content_sha256", content_sha256: HASH } },
    ],
    ["", "POST", { path: "/a.md", content: "y" }],
    ["/mem_2?expected_content_sha256=c", "DELETE", undefined],
  ]);
});

it("takes a changed and a deleted memory for a conflict, and nothing else", () => {
  const { isConflict } = memoryText(service([]).api, "memstore_1", known);
  const found = [409, 404, 400, 500].map((status) => isConflict(new ApiError(status, "", "")));
  expect(found).toEqual([true, true, false, false]);
});

it("bytes that are no text are not offered for editing", async () => {
  const { api } = service([{ content: "\uFFFD", content_size_bytes: 1, content_sha256: HASH }]);
  expect(await memoryText(api, "memstore_1", known).read()).toMatchObject({ text: undefined });
});

it.each([
  [
    { type: "session_actor", session_id: "sesn_1" },
    { kind: "session", id: "sesn_1" },
  ],
  [
    { type: "user_actor", user_id: "ann" },
    { kind: "user", id: "ann" },
  ],
  [null, { kind: "outside" }],
])("a version by %j is by %j", (created_by, by) => {
  expect(parseVersion({ id: "v", operation: "created", content_sha256: HASH, created_by })).toEqual(
    {
      id: "v",
      operation: "created",
      at: "",
      by,
      hasContent: true,
      redacted: false,
    },
  );
});
