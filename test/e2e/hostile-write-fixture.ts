// Hostile paths as the model's own input; then the bucket is looked at.

import { expect, test } from "vitest";
import { canonicalPath } from "../../src/shared/safety/path.ts";
import { hostilePaths } from "../hostile-paths.ts";
import { type Attacked, type AutoMemory, isInside, thinned } from "./hostile-fixture.ts";
import { newSession, turn } from "./service.ts";

/** Calls of one answer of the scripted model. */
const CALLS = 150;

/** A test of a file, with so many paths. */
export function hostileWrites(attacked: Attacked, kept: number): void {
  const { service, client, objects, expectOnly } = attacked;
  test("the agent's Write: no call reaches a file outside its directories", {
    timeout: 240_000,
  }, async () => {
    const id = await newSession(client, "attack");
    const session: unknown = await client.beta.sessions.retrieve(id);
    const { directory } = Reflect.get(Object(session), "auto_memory") as AutoMemory;
    const roots = ["/workspace/attack", directory ?? ""];
    // What half a character is in JSON is not this test's matter.
    const paths = thinned(
      hostilePaths(roots).filter(({ raw }) => raw.isWellFormed()),
      kept,
    );
    expect(paths.length).toBeGreaterThanOrEqual(kept);
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
}
