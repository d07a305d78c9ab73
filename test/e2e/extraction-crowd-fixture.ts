// Many sessions of one project whose turns end at the same time.

import { expect, test } from "vitest";
import { outcomesOf, reasonOf, type Told } from "./extraction-fixture.ts";
import { filesBelow, memoryPrefixOf, pointersIn } from "./memory-fixture.ts";
import { bucketOf, newSession, serviceOfFile, turn } from "./service.ts";

/** The test of a file: so many sessions at once. */
export async function extractionCrowd(count: number): Promise<void> {
  const service = await serviceOfFile();
  const client = await service.client();
  const bucket = await bucketOf(service);

  test(`${count} sessions of one project that end at once are all extracted, one at a time`, {
    timeout: 120_000,
  }, async () => {
    const sessions = await Promise.all(
      Array.from({ length: count }, () => newSession(client, "crowd")),
    );
    await Promise.all(sessions.map((id, n) => turn(client, id, `My number${word(n)} is ${n}.`)));
    const ends: Told[][] = [];
    for (const id of sessions) ends.push(await outcomesOf(client, id, 1, 90_000));
    expect(ends.map(([event]) => event && reasonOf(event))).toEqual(sessions.map(() => "saved"));
    // One at a time: the requests of one run stand together, nobody's between them.
    const asked = service.model.requests.flatMap(({ purpose, session = "" }) =>
      purpose === "extraction" && sessions.includes(session) ? [session] : [],
    );
    expect(asked.filter((session, n) => session !== asked[n - 1])).toHaveLength(count);
    const files = await filesBelow(bucket, await memoryPrefixOf(client, sessions[0] ?? ""));
    expect(pointersIn(files)).toHaveLength(count);
    expect(files.size).toBe(count + 1);
  });
}

/** A word that no two numbers share. */
function word(n: number): string {
  return [...String(n)].map((digit) => "abcdefghij"[Number(digit)]).join("");
}
