// Settings that name a hostile directory for the memory; then the bucket is looked at.

import { expect, test } from "vitest";
import { memoryPath } from "../../src/shared/settings/memory-path.ts";
import { hostilePaths, readings } from "../hostile-paths.ts";
import {
  type Attacked,
  type AutoMemory,
  eachOf,
  isInside,
  LANES,
  thinned,
} from "./hostile-fixture.ts";

/** A test of a file, with so many paths. */
export function hostileSettings({ service, objects, expectOnly }: Attacked, kept: number): void {
  test("settings: no hostile autoMemoryDirectory is where a session's memory lies", {
    timeout: 240_000,
  }, async () => {
    const paths = thinned(hostilePaths(["/data/attack", "~", "/workspace/attack"]), kept).map(
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
}
