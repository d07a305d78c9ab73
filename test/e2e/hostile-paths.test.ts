// Every door of the running service, tried with the whole corpus; then the bucket is looked at.

import { request } from "node:http";
import { expect, test } from "vitest";
import { canonicalPath, canonicalRelative } from "../../src/shared/safety/path.ts";
import { memoryPath } from "../../src/shared/settings/memory-path.ts";
import {
  type HostilePath,
  hostilePaths,
  readings,
  relativeHostilePaths,
} from "../hostile-paths.ts";
import { bucketOf, NO_BACKGROUND, newSession, serviceOfFile, turn } from "./service.ts";

/** Calls of one answer of the scripted model. */
const CALLS = 150;
/** Requests in flight. */
const LANES = 6;

const VICTIMS = [
  "t/acme/u/ann/w/victim/keep.md",
  "t/acme/u/ann/w/victim/victim/keep.md",
  "t/acme/u/ann/w/attack-evil/a.md",
  "t/acme/u/ann/memory/projects/victim/memory/MEMORY.md",
  "t/acme/u/ann/home/.claude/CLAUDE.md",
  "t/acme/u/bob/w/victim/keep.md",
  "t/acme/u/bob/memory/projects/victim/memory/MEMORY.md",
  "t/acme/managed/CLAUDE.md",
  "t/acme/w/shared-victim/keep.md",
  "t/other/u/bob/w/victim/keep.md",
];

const service = await serviceOfFile(NO_BACKGROUND);
const client = await service.client();
const token = await service.token();
const bucket = await bucketOf(service);
for (const key of VICTIMS) await bucket.put(key, `secret of ${key}`);

const RELATIVE = relativeHostilePaths();

test(`workspace routes: ${RELATIVE.length} paths, encoded once, reach nothing outside`, {
  timeout: 240_000,
}, async () => {
  const before = await objects();
  const wrong = await eachOf(RELATIVE, async ({ raw }) => {
    const path = encoded(raw);
    if (path === undefined) return undefined;
    const url = `${service.url}/v1/workspaces/attack/files/${path}`;
    const headers = { authorization: `Bearer ${token}` };
    const canonical = canonicalRelative(raw);
    const read = await fetch(url, { headers });
    const text = await read.text();
    // What another spelling of the same accepted path has written is the only thing to be found.
    const ours = canonical.status === "ok" && read.status === 200 && text === "pwned";
    if (!ours && read.status !== 404 && !isRefusal(read.status, text)) {
      return ["GET", raw, read.status, text];
    }
    if (canonical.status === "refused") {
      // The rule that refuses is the same at every door; the raw request lines try all of them.
      const method = raw.length % 2 === 0 ? "PUT" : "DELETE";
      const tried = await fetch(url, {
        method,
        headers,
        ...(method === "PUT" ? { body: "pwned" } : {}),
      });
      const answer = await tried.text();
      const named = answer.includes(JSON.stringify(`path: ${canonical.message}`));
      return tried.status === 400 && named ? undefined : [method, raw, tried.status, answer];
    }
    const gone = await fetch(url, { method: "DELETE", headers });
    const deleted = await gone.text();
    if (![204, 400, 404].includes(gone.status)) return ["DELETE", raw, gone.status, deleted];
    const written = await fetch(url, { method: "PUT", headers, body: "pwned" });
    const answer = await written.text();
    return written.status === 200 || written.status === 400
      ? undefined
      : ["PUT", raw, written.status, answer];
  });
  expect(wrong).toEqual([]);
  await expectOnly(before, "t/acme/u/ann/w/attack/");
});

test("workspace routes: as raw request lines, decoded by nobody on the way", {
  timeout: 120_000,
}, async () => {
  const before = await objects();
  const lines = RELATIVE.map(({ raw }) => raw.toWellFormed()).filter((raw) =>
    /^[\x21-\x7e]+$/.test(raw),
  );
  expect(lines.length).toBeGreaterThan(150);
  const wrong = await eachOf(lines, async (line) => {
    for (const method of ["GET", "PUT", "DELETE"]) {
      const { status, text } = await send(method, `/v1/workspaces/attack/files/${line}`);
      if (text.includes("secret of") || status >= 500) return [method, line, status, text];
    }
    return undefined;
  });
  expect(wrong).toEqual([]);
  await expectOnly(before, "t/acme/u/ann/w/attack/");
});

test("settings: no hostile autoMemoryDirectory is where a session's memory lies", {
  timeout: 240_000,
}, async () => {
  const paths = thinned(hostilePaths(["/data/attack", "~", "/workspace/attack"])).map(
    ({ raw }) => raw,
  );
  const before = await objects();
  // JSON in UTF-8 cannot carry half a character; the endpoint says so before anything is stored.
  for (const raw of paths.filter((one) => !one.isWellFormed())) {
    const set = await setDirectory("user", raw, await adminOf("broken"));
    expect([set.status, await set.text()]).toEqual([
      400,
      expect.stringMatching(/autoMemoryDirectory: .*surrogate/),
    ]);
  }
  const whole = paths.filter((raw) => raw.isWellFormed());
  const refused = whole.filter((raw) => memoryPath(raw).status === "refused");
  const literal = whole.filter((raw) => memoryPath(raw).status === "ok");
  // What is refused is tried in all trusted layers at once, and the session tells of each.
  const groups = Array.from({ length: Math.ceil(refused.length / 3) }, (_, n) =>
    refused.slice(n * 3, n * 3 + 3),
  );
  // A tenant for each lane: settings are shared, and one lane must not see another's.
  const wrong = await eachOf([...groups, ...literal.map((raw) => [raw])], async (group, lane) => {
    const as = await adminOf(`lane${lane}`);
    for (const [index, layer] of (["user", "local", "managed"] as const).entries()) {
      const set = await setDirectory(layer, group[index], as);
      if (set.status !== 200) return [group, set.status, await set.text()];
      await set.body?.cancel();
    }
    const made = await fetch(`${service.url}/v1/sessions`, {
      method: "POST",
      headers: { authorization: `Bearer ${as}` },
      body: JSON.stringify({ agent: "default", environment_id: "w" }),
    });
    const { auto_memory: memory } = (await made.json()) as { auto_memory: AutoMemory };
    const rules = group
      .map((raw) => memoryPath(raw))
      .map((path) => (path.status === "ok" ? "ok" : path.rule));
    if (rules[0] === "ok") {
      const escaped = [...readings(memory.directory ?? "")].some((place) =>
        ["/workspace", "/etc/claude-code", "/home/.claude", "/memory"].some((root) =>
          isInside(root, place),
        ),
      );
      return escaped || memory.directory === null ? [group, memory] : undefined;
    }
    const named = memory.ignored
      .map(({ source, reason }) => `${source} ${reason.split(":")[0]}`)
      .toSorted();
    const expected = rules
      .map((rule, index) => `${["user", "local", "policy"][index]} ${rule}`)
      .toSorted();
    const isDefault = memory.directory?.startsWith("/memory/projects/workspace-w-") === true;
    return isDefault && JSON.stringify(named) === JSON.stringify(expected)
      ? undefined
      : [group, memory];
  });
  expect(wrong).toEqual([]);
  const tenants = Array.from({ length: LANES }, (_, lane) => `t/lane${lane}/`);
  await expectOnly(before, ...tenants);
});

test("the agent's Write: no call reaches a file outside its directories", {
  timeout: 240_000,
}, async () => {
  const id = await newSession(client, "attack");
  const session: unknown = await client.beta.sessions.retrieve(id);
  const { directory } = Reflect.get(Object(session), "auto_memory") as AutoMemory;
  const roots = ["/workspace/attack", directory ?? ""];
  // What half a character is in JSON is not this test's matter.
  const paths = thinned(hostilePaths(roots).filter(({ raw }) => raw.isWellFormed()));
  expect(paths.length).toBeGreaterThanOrEqual(1000);
  const before = await objects();
  const wrong: unknown[] = [];
  for (let at = 0; at < paths.length; at += CALLS) {
    const batch = paths.slice(at, at + CALLS);
    service.model.enqueue({
      tools: batch.map(({ raw }) => ({
        name: "Write",
        input: { file_path: raw, content: "pwned" },
      })),
      match: { session: id, purpose: "main" },
    });
    const results = (await turn(client, id, "write them")).filter(
      (event) => event.type === "agent.tool_result",
    );
    expect(results).toHaveLength(batch.length);
    for (const [index, result] of results.entries()) {
      const raw = batch[index]?.raw ?? "";
      const text =
        result.content?.map((block) => (block.type === "text" ? block.text : "")).join("") ?? "";
      const canonical = canonicalPath(raw);
      const outside =
        canonical.status === "refused" || !roots.some((root) => isInside(root, canonical.path));
      const named = /^Refused: .{10}/.test(text);
      if (outside && !(result.is_error === true && named)) wrong.push([raw, text]);
    }
  }
  expect(wrong).toEqual([]);
  const slug = directory?.split("/").at(-2) ?? "";
  await expectOnly(
    before,
    "t/acme/u/ann/w/attack/",
    `t/acme/u/ann/memory/projects/${slug}/memory/`,
  );
});

/** A thousand of them, evenly over all kinds: each costs several calls here. */
function thinned(paths: HostilePath[]): HostilePath[] {
  const kept = 1000;
  return paths.filter(
    (_, n) => Math.floor(((n + 1) * kept) / paths.length) > Math.floor((n * kept) / paths.length),
  );
}

/** Sets the layer to this directory, or to nothing. */
function setDirectory(layer: "user" | "local" | "managed", raw: string | undefined, as: string) {
  const path =
    layer === "local" ? "workspaces/w/files/.claude/settings.local.json" : `settings/${layer}`;
  return fetch(`${service.url}/v1/${path}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${as}` },
    body: JSON.stringify(raw === undefined ? {} : { autoMemoryDirectory: raw }),
  });
}

/** An admin of a tenant of its own. */
function adminOf(org: string): Promise<string> {
  return service.token({ org, user: "ann", role: "admin" });
}

interface AutoMemory {
  enabled: boolean;
  directory: string | null;
  ignored: { source: string; key: string; reason: string }[];
}

/** Every object of the bucket with its etag. */
async function objects(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let cursor: string | undefined;
  do {
    const page = await bucket.list(cursor === undefined ? {} : { cursor });
    for (const { key, etag } of page.objects) found.set(key, etag);
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
  return found;
}

/** Nothing that was there is changed or gone, and what is new lies below these prefixes. */
async function expectOnly(before: Map<string, string>, ...prefixes: string[]): Promise<void> {
  const after = await objects();
  const inside = (key: string) => prefixes.some((prefix) => key.startsWith(prefix));
  const changed = [...before].filter(([key, etag]) => after.get(key) !== etag && !inside(key));
  const strange = [...after.keys()].filter((key) => !before.has(key) && !inside(key));
  expect({ changed, strange }).toEqual({ changed: [], strange: [] });
  for (const key of VICTIMS) expect(after.has(key), key).toBe(true);
  // Not one of the new keys can be read as one that lies elsewhere.
  const escaping = [...after.keys()].filter((key) =>
    /(^|\/)\.{1,2}(\/|$)|\/\/|\\|\p{Cc}/u.test(key),
  );
  expect(escaping).toEqual([]);
}

/** Runs each item, some at a time, and collects what is wrong. */
async function eachOf<T>(items: readonly T[], check: (item: T, lane: number) => Promise<unknown>) {
  const wrong: unknown[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: LANES }, async (_, lane) => {
      for (let item = items[next++]; item !== undefined; item = items[next++]) {
        const problem = await check(item, lane);
        if (problem !== undefined) wrong.push(problem);
      }
    }),
  );
  return wrong;
}

/** Not the one of `path.ts`, which is under test too. */
function isInside(root: string, path: string): boolean {
  return `${path}/`.startsWith(`${root}/`);
}

function isRefusal(status: number, text: string): boolean {
  return status === 400 && /"message":"path: .{10}/.test(text);
}

function encoded(raw: string): string | undefined {
  return raw.isWellFormed() ? encodeURIComponent(raw) : undefined;
}

/** A request whose path no client has touched. */
function send(method: string, path: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(service.url);
    const headers = { authorization: `Bearer ${token}` };
    const call = request({ hostname, port, method, path, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        text += part;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    call.on("error", reject);
    call.end(method === "PUT" ? "pwned" : undefined);
  });
}
