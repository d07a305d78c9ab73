// Nobody reaches another's memory store.

import { expect, test } from "vitest";
import { sharedService } from "./service.ts";
import { caller, collect, newStore } from "./stores-fixture.ts";

const service = await sharedService();
const client = await service.client();
const call = caller(service, await service.token());

const NOT_THERE = {
  type: "error",
  error: { type: "not_found_error", message: "There is no such memory store" },
};
const HASH = "0".repeat(64);

test("every endpoint, id and cursor of somebody else answers like one that does not exist", async () => {
  await newStore(client, "first");
  const other = await newStore(client, "other");
  const there = await client.beta.memoryStores.memories.create(other, { path: "/t", content: "x" });
  await client.beta.memoryStores.memories.update(there.id, {
    memory_store_id: other,
    content: "y",
  });
  await client.beta.memoryStores.memories.create(other, { path: "/u", content: "z" });
  const cursorOf = async (path: string) =>
    String((await call("GET", `/${other}/${path}?limit=1`)).body.next_page);
  const cursors = { m: await cursorOf("memories"), v: await cursorOf("memory_versions") };
  const { next_page: storeCursor } = (await call("GET", "?limit=1")).body;
  expect(storeCursor).toEqual(expect.any(String));
  const nothing = "2".repeat(24);
  const endpoints = (s: string, m: string, v: string): [string, string, unknown?][] => [
    ["GET", `/${s}`],
    ["POST", `/${s}`, { name: "taken over" }],
    ["POST", `/${s}/archive`],
    ["GET", `/${s}/memories`],
    ["GET", `/${s}/memories?path_prefix=/&depth=1&view=full&page=${cursors.m}`],
    ["POST", `/${s}/memories`, { path: "/planted.md", content: "" }],
    ["GET", `/${s}/memories/${m}`],
    ["GET", `/${s}/memories/${m}?view=basic`],
    ["POST", `/${s}/memories/${m}`, { content: "taken over" }],
    ["DELETE", `/${s}/memories/${m}`],
    ["DELETE", `/${s}/memories/${m}?expected_content_sha256=${HASH}`],
    ["GET", `/${s}/memory_versions`],
    ["GET", `/${s}/memory_versions?page=${cursors.v}&view=full`],
    ["GET", `/${s}/memory_versions?memory_id=${m}`],
    ["GET", `/${s}/memory_versions?api_key_id=x`],
    ["GET", `/${s}/memory_versions/${v}`],
    ["POST", `/${s}/memory_versions/${v}/redact`],
    ["POST", `/${s}/memory_versions/${v}/restore`, {}],
    ["POST", `/${s}/rewind`, { to: "2020-01-01T00:00:00Z" }],
    ["POST", `/${s}/rewind`, { session_id: "sesn_x" }],
    ["GET", `/${s}/changes?after=0`],
    ["GET", `/${s}/changes?after=0&wait=1`],
    ["DELETE", `/${s}`],
  ];
  const theirs = endpoints(other, there.id, there.memory_version_id);
  const missing = endpoints(`memstore_${nothing}`, `mem_${nothing}`, `memver_${nothing}`);
  const malformed = endpoints("memstore_x", "mem_x", "memver_x");
  const before = await client.beta.memoryStores.retrieve(other);
  const history = await collect(client.beta.memoryStores.memoryVersions.list(other));
  for (const claims of [
    { user: "bob" },
    { org: `${service.org}-other` },
    { user: "rob", role: "admin" as const },
    { user: 'ann"]' },
    { org: `${service.org}","ann`, user: "x" },
    { org: service.org.toUpperCase() },
  ]) {
    const foreign = caller(service, await service.token(claims));
    const own = String((await foreign("POST", "", { name: "mine" })).body.id);
    // What is missing or no id at all answers the same to everybody; asking one is enough.
    const nobodys = claims.user === "bob" ? [...missing, ...malformed] : [];
    for (const [method, path, body] of [...theirs, ...nobodys]) {
      const answer = await foreign(method, path, body);
      const { request_id, ...rest } = answer.body;
      expect([method, path, answer.status, rest]).toEqual([method, path, 404, NOT_THERE]);
    }
    // Their memory and version, looked for in a store of one's own, are not there either.
    for (const [method, path, body] of endpoints(own, there.id, there.memory_version_id)) {
      if (!path.includes(there.id) && !path.includes(there.memory_version_id)) continue;
      const answer = await foreign(method, path, body);
      if (path.includes("memory_id=")) expect(answer.body.data).toEqual([]);
      else expect([path, answer.status]).toEqual([path, 404]);
    }
    const list = await foreign("GET", "?include_archived=true");
    expect((list.body.data as { id: string }[]).map((item) => item.id)).toEqual([own]);
    expect((await foreign("GET", `?page=${storeCursor}`)).body.data).toEqual([]);
    await foreign("DELETE", `/${own}`);
  }
  expect(await client.beta.memoryStores.retrieve(other)).toEqual(before);
  expect(await collect(client.beta.memoryStores.memoryVersions.list(other))).toEqual(history);
});

test("without a token there is no store at all", async () => {
  const store = await newStore(client);
  for (const path of ["", `/${store}`, `/${store}/memories`, `/${store}/changes`]) {
    const answer = await caller(service, "nonsense")("GET", path);
    expect(answer).toMatchObject({
      status: 401,
      body: { error: { type: "authentication_error" } },
    });
  }
});
