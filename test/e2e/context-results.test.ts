// What tools give on a model with a small window: large results are kept in a file, old ones give way.

import { expect, test } from "vitest";
import { compactions, refused, requestsFor } from "./context-fixture.ts";
import {
  NO_BACKGROUND,
  newSession,
  sentMessages,
  serviceOfFile,
  stored,
  turn,
  typesOf,
} from "./service.ts";

const service = await serviceOfFile({ ...NO_BACKGROUND, CONTEXT_WINDOW_TOKENS: "24000" });
const client = await service.client();

async function putFile(workspace: string, path: string, text: string): Promise<void> {
  const response = await fetch(`${service.url}/v1/workspaces/${workspace}/files/${path}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${await service.token()}` },
    body: text,
  });
  expect(response.ok).toBe(true);
}

test("a result over its budget is cut, and Read finds all of it in the session's own files", async () => {
  const lines = Array.from(
    { length: 200 },
    (_, n) => `match number ${n} of ${"a long file, ".repeat(8)}`,
  );
  await putFile("large", "long.txt", lines.join("\n"));
  const id = await newSession(client, "large");
  const main = { session: id, purpose: "main" };
  const grep = { pattern: "match" };
  service.model.enqueue({ tools: [{ name: "Grep", input: grep, id: "toolu_g" }], match: main });
  const kept = "/session/results/toolu_g.txt";
  service.model.enqueue({
    tools: [{ name: "Read", input: { file_path: kept, offset: 199 } }],
    match: main,
  });
  service.model.enqueue({
    tools: [{ name: "Write", input: { file_path: kept, content: "mine" } }],
    match: main,
  });
  const events = await turn(client, id, "find them all");
  const results = events.flatMap((event) =>
    event.type === "agent.tool_result" ? [JSON.stringify(event)] : [],
  );
  expect(results[0]).toMatch(
    /bytes were left out here. All of it is in \/session\/results\/toolu_g/,
  );
  expect(results[0]?.length).toBeLessThan(14_000);
  expect(results[1]).toContain("match number 198");
  expect(results[2]).toMatch(/"is_error":true/);
  const other = await newSession(client, "large");
  service.model.enqueue({
    tools: [{ name: "Read", input: { file_path: kept } }],
    match: { session: other, purpose: "main" },
  });
  expect(JSON.stringify(await turn(client, other, "and here?"))).toContain("no such file");
});

test("old results give way in one batch; between two batches the cache is kept, and nothing is refused", async () => {
  const id = await newSession(client, "many");
  for (let n = 0; n < 24; n += 1) {
    await putFile("many", `f${n}.md`, `File ${n}: ${"text of a file.\n".repeat(180)}`);
    service.model.enqueue({
      thinking: `I think about file ${n}.`,
      tools: [{ name: "Read", input: { file_path: `/workspace/many/f${n}.md` } }],
      match: { session: id, purpose: "main" },
    });
  }
  const events = await turn(client, id, "read them all");
  expect(typesOf(events)).not.toContain("session.error");
  expect(refused(service, id)).toEqual([]);
  const requests = sentMessages(service.model, id).map((messages) => JSON.stringify(messages));
  const cleared = requests.map((text) => text.split("old result of this Read").length - 1);
  expect(Math.max(...cleared)).toBeGreaterThan(5);
  // Each batch is one step, and the next comes when the conversation has grown again.
  const batches = cleared.flatMap((count, n) => (n > 0 && count !== cleared[n - 1] ? [n] : []));
  expect(batches.length).toBeGreaterThan(0);
  expect(batches.slice(1).every((n, at) => n - (batches[at] ?? 0) >= 3)).toBe(true);
  const broken = requestsFor(service, id, "main").filter(({ usage }) => {
    const { cache_read_input_tokens: read = 0, cache_creation_input_tokens: made = 0 } =
      usage ?? {};
    return read < made;
  });
  expect(broken.length).toBeLessThanOrEqual(
    batches.length + (await compactions(client, id)).length + 2,
  );
  // The newest five results are there, word for word.
  for (const n of [23, 22, 21, 20, 19]) expect(requests.at(-1)).toContain(`File ${n}: text`);
  const results = (await stored(client, id)).filter(({ type }) => type === "agent.tool_result");
  expect(JSON.stringify(results)).toContain("File 0: text");
});

test("a file whose content was left out has to be read again before it is written over", async () => {
  const id = await newSession(client, "stale");
  const main = { session: id, purpose: "main" };
  const path = (n: number) => `/workspace/stale/f${n}.md`;
  for (let n = 0; n < 20; n += 1) {
    await putFile("stale", `f${n}.md`, `File ${n}: ${"text of a file.\n".repeat(180)}`);
    service.model.enqueue({
      tools: [{ name: "Read", input: { file_path: path(n) } }],
      match: main,
    });
  }
  for (const n of [0, 19]) {
    const input = { file_path: path(n), content: "new" };
    service.model.enqueue({ tools: [{ name: "Write", input }], match: main });
  }
  const events = await turn(client, id, "read them, then write");
  const results = events.filter((event) => event.type === "agent.tool_result");
  expect(JSON.stringify(results.at(-2))).toMatch(/"is_error":true/);
  expect(JSON.stringify(results.at(-2))).toMatch(/Read/);
  expect(JSON.stringify(results.at(-1))).toMatch(/"is_error":false/);
});
