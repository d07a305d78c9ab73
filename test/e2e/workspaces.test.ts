import { expect, test } from "vitest";
import { newSession, sharedService, turn } from "./service.ts";

const service = await sharedService();
const token = await service.token();

function call(method: string, path: string, init: RequestInit & { as?: string } = {}) {
  const { as = token, headers, ...rest } = init;
  return fetch(`${service.url}/v1/workspaces/${path}`, {
    method,
    ...rest,
    headers: { authorization: `Bearer ${as}`, ...(headers as Record<string, string>) },
  });
}

test("a file is written, read back byte for byte, changed on condition and deleted", async () => {
  const bytes = new Uint8Array([0, 255, 13, 10, 240, 159, 140, 141]);
  const made = await call("PUT", "w1/files/dir/a.bin", {
    body: bytes,
    headers: { "if-none-match": "*" },
  });
  expect(made.status).toBe(200);
  const etag = made.headers.get("etag") ?? "";
  expect(etag).toMatch(/^"[^"]+"$/);
  expect(await made.json()).toEqual({ path: "dir/a.bin", size: 8, etag: etag.replaceAll('"', "") });

  const read = await call("GET", "w1/files/dir/a.bin");
  expect(new Uint8Array(await read.arrayBuffer())).toEqual(bytes);
  expect(read.headers.get("etag")).toBe(etag);
  const known = await call("GET", "w1/files/dir/a.bin", { headers: { "if-none-match": etag } });
  expect(known.status).toBe(304);

  const again = await call("PUT", "w1/files/dir/a.bin", {
    body: "x",
    headers: { "if-none-match": "*" },
  });
  expect(again.status).toBe(412);
  for (const match of [etag, `W/${etag}`]) {
    const current = (await call("GET", "w1/files/dir/a.bin")).headers.get("etag") ?? "";
    const header = match.startsWith("W/") ? `W/${current}` : current;
    const put = await call("PUT", "w1/files/dir/a.bin", {
      body: `new ${match}`,
      headers: { "if-match": header },
    });
    expect(put.status).toBe(200);
  }
  const stale = await call("PUT", "w1/files/dir/a.bin", {
    body: "y",
    headers: { "if-match": etag },
  });
  expect(stale.status).toBe(412);
  expect(
    (await call("DELETE", "w1/files/dir/a.bin", { headers: { "if-match": etag } })).status,
  ).toBe(412);
  expect((await call("DELETE", "w1/files/dir/a.bin")).status).toBe(204);
  expect((await call("DELETE", "w1/files/dir/a.bin")).status).toBe(404);
  expect((await call("GET", "w1/files/dir/a.bin")).status).toBe(404);
});

test("names round-trip: what is listed can be read and deleted", async () => {
  const names = ["notes 50%.md", "a#b.md", "café.md", "a+b.md", "会议.md", "🌍/x y.md", "plain.md"];
  for (const name of names) {
    const path = name.split("/").map(encodeURIComponent).join("/");
    expect((await call("PUT", `w2/files/${path}`, { body: name })).status).toBe(200);
  }
  const listed: string[] = [];
  let page = "";
  do {
    const response = await call("GET", `w2/files?limit=2&page=${page}`);
    const body = (await response.json()) as { data: { path: string }[]; next_page: string | null };
    listed.push(...body.data.map((file) => file.path));
    page = body.next_page ?? "";
  } while (page !== "");
  expect(listed.toSorted()).toEqual(names.toSorted());
  for (const name of listed) {
    const path = name.split("/").map(encodeURIComponent).join("/");
    expect(await (await call("GET", `w2/files/${path}`)).text()).toBe(name);
    expect((await call("DELETE", `w2/files/${path}`)).status).toBe(204);
  }
  expect(await (await call("GET", "w2/files")).json()).toEqual({ data: [], next_page: null });
});

test("a path that could leave its workspace is refused, and nothing is read or deleted", async () => {
  await call("PUT", "w3/files/keep.md", { body: "keep" });
  await call("PUT", "w3-evil/files/keep.md", { body: "other" });
  for (const path of [
    "..%2fw3-evil%2fkeep.md",
    "a%2f..%2f..%2fkeep.md",
    "a%252e%252e/b",
    "a%00b",
    "a%5C..%5Cb",
    "%E4%B8",
    "a%zz",
    "%2e%2e%2fkeep.md",
    "%EF%BC%8E%EF%BC%8E/keep.md",
    "x%0Ay",
    "%E2%80%AEkeep.md",
  ]) {
    for (const method of ["GET", "PUT", "DELETE"]) {
      const response = await call(
        method,
        `w3/files/${path}`,
        method === "PUT" ? { body: "x" } : {},
      );
      expect([path, method, response.status]).toEqual([path, method, 400]);
      await response.body?.cancel();
    }
  }
  for (const id of ["..%2fx", "a%2fb", "%00", "-x", "x".repeat(65)]) {
    expect((await call("GET", `${id}/files`)).status).toBe(400);
  }
  expect(await (await call("GET", "w3/files/keep.md")).text()).toBe("keep");
  expect(await (await call("GET", "w3-evil/files/keep.md")).text()).toBe("other");
});

test("one spelling, one file: //, . and a decomposed accent are the same path", async () => {
  await call("PUT", "w4/files/a/b.md", { body: "one" });
  expect(await (await call("GET", "w4/files/a%2F%2Fb.md")).text()).toBe("one");
  expect(await (await call("GET", "w4/files/a%2F.%2Fb.md")).text()).toBe("one");
  await call("PUT", `w4/files/${encodeURIComponent("caf\u00e9.md")}`, { body: "two" });
  expect(await (await call("GET", `w4/files/${encodeURIComponent("cafe\u0301.md")}`)).text()).toBe(
    "two",
  );
});

test('a workspace named "files" is one like any other, and a path that only looks like one is none', async () => {
  await call("PUT", "files/files/a.md", { body: "here" });
  expect(await (await call("GET", "files/files")).json()).toMatchObject({
    data: [{ path: "a.md" }],
  });
  for (const path of ["app/%66iles/a.md", "app/fil%65s/a.md"]) {
    expect((await call("PUT", path, { body: "x" })).status).toBe(404);
  }
});

test("ten million bytes pass, one more does not, and a folder is no file", async () => {
  const most = new Uint8Array(10_000_000);
  expect((await call("PUT", "w5/files/big.bin", { body: most })).status).toBe(200);
  const over = await call("PUT", "w5/files/over.bin", { body: new Uint8Array(10_000_001) });
  expect(over.status).toBe(413);
  expect((await call("GET", "w5/files/over.bin")).status).toBe(404);
  await call("PUT", "w5/files/dir/a.md", { body: "x" });
  expect((await call("PUT", "w5/files/dir", { body: "x" })).status).toBe(400);
  expect((await call("PUT", "w5/files/dir/a.md/b", { body: "x" })).status).toBe(400);
});

test("a workspace is its user's own; a shared one is the tenant's, its instructions the admins'", async () => {
  await call("PUT", "w6/files/a.md", { body: "mine" });
  const bob = await service.token({ user: "bob" });
  const admin = await service.token({ user: "eve", role: "admin" });
  const other = await service.token({ org: "other" });
  expect((await call("GET", "w6/files/a.md", { as: bob })).status).toBe(404);
  await call("PUT", "shared-x/files/src/a.ts", { body: "ours" });
  expect(await (await call("GET", "shared-x/files/src/a.ts", { as: bob })).text()).toBe("ours");
  expect((await call("GET", "shared-x/files/src/a.ts", { as: other })).status).toBe(404);
  for (const path of [
    "CLAUDE.md",
    "src/CLAUDE.md",
    ".claude/rules/a.md",
    "src/.claude/x.md",
    "claude.MD",
  ]) {
    expect((await call("PUT", `shared-x/files/${path}`, { body: "x" })).status).toBe(403);
    expect((await call("PUT", `shared-x/files/${path}`, { body: "x", as: admin })).status).toBe(
      200,
    );
  }
  for (const path of ["CLAUDE.local.md", ".claude/settings.local.json"]) {
    expect((await call("PUT", `shared-x/files/${path}`, { body: "x", as: admin })).status).toBe(
      403,
    );
  }
});

test("the agent reads, searches and edits the project's files", async () => {
  await call("PUT", "w7/files/src/app.ts", { body: "export const port = 8080;\n" });
  const client = await service.client();
  const id = await newSession(client, "w7");
  service.model.enqueue({
    tools: [
      { name: "Glob", input: { pattern: "**/*.ts" } },
      { name: "Grep", input: { pattern: "port\\s*=" } },
      { name: "Read", input: { file_path: "/workspace/w7/src/app.ts" } },
      {
        name: "Edit",
        input: { file_path: "/workspace/w7/src/app.ts", old_string: "8080", new_string: "$& 9090" },
      },
    ],
    match: { session: id, purpose: "main" },
  });
  const events = await turn(client, id, "change the port");
  const results = events.flatMap((event) =>
    event.type === "agent.tool_result" ? [event.is_error] : [],
  );
  expect(results).toEqual([false, false, false, false]);
  const text = await (await call("GET", "w7/files/src/app.ts")).text();
  expect(text).toBe("export const port = $& 9090;\n");
});
