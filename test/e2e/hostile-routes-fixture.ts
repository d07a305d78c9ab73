// The routes of workspace files, tried with hostile paths; then the bucket is looked at.

import { request } from "node:http";
import { expect, test } from "vitest";
import { canonicalRelative } from "../../src/shared/safety/path.ts";
import { relativeHostilePaths } from "../hostile-paths.ts";
import { type Attacked, eachOf, thinned } from "./hostile-fixture.ts";

/** Two tests of a file, with so many paths each. */
export function hostileRoutes(attacked: Attacked, kept: number): void {
  const { service, token, objects, expectOnly } = attacked;
  const paths = thinned(relativeHostilePaths(), kept);

  test(`workspace routes: ${paths.length} paths, encoded once, reach nothing outside`, {
    timeout: 240_000,
  }, async () => {
    const before = await objects();
    const wrong = await eachOf(paths, async ({ raw }) => {
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
    const lines = thinned(
      relativeHostilePaths()
        .map((path) => ({ ...path, raw: path.raw.toWellFormed() }))
        .filter(({ raw }) => /^[\x21-\x7e]+$/.test(raw)),
      kept,
    );
    expect(lines.length).toBeGreaterThan(150);
    const wrong = await eachOf(lines, async ({ raw: line }) => {
      for (const method of ["GET", "PUT", "DELETE"]) {
        const { status, text } = await send(
          attacked,
          method,
          `/v1/workspaces/attack/files/${line}`,
        );
        if (text.includes("secret of") || status >= 500) return [method, line, status, text];
      }
      return undefined;
    });
    expect(wrong).toEqual([]);
    await expectOnly(before, "t/acme/u/ann/w/attack/");
  });
}

function isRefusal(status: number, text: string): boolean {
  return status === 400 && /"message":"path: .{10}/.test(text);
}

function encoded(raw: string): string | undefined {
  return raw.isWellFormed() ? encodeURIComponent(raw) : undefined;
}

/** A request whose path no client has touched. */
function send(
  { service, token }: Attacked,
  method: string,
  path: string,
): Promise<{ status: number; text: string }> {
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
