// Many turns on a model with a small window: what was noted is there after each compaction, and
// nothing that the user said is lost on the way.

import { expect, test } from "vitest";
import { compactions, PAD, promptTokensOf, refused, requestsFor } from "./context-fixture.ts";
import { memoryPrefixOf, memoryText } from "./memory-fixture.ts";
import { noteFacts } from "./notes-fixture.ts";
import { bucketOf, newSession, serviceOfFile, stored, turn } from "./service.ts";

/** Turns between two compactions, at most. */
const MOST_TURNS = 33;

/** The test of a file: one conversation of so many turns. */
export async function longConversation(turns: number): Promise<void> {
  const service = await serviceOfFile(
    {
      EXTRACTION_EVERY_TURNS: "0",
      CONTEXT_WINDOW_TOKENS: "36000",
      NOTES_FIRST_TOKENS: "4000",
      NOTES_GROWTH_TOKENS: "2000",
    },
    { reply: noteFacts },
  );
  const client = await service.client();
  test(`a conversation of ${turns} turns crosses the window again and again and forgets no fact`, {
    timeout: 240_000,
  }, async () => {
    const prefix = await memoryPrefixOf(client, await newSession(client, "harbour"));
    const bucket = await bucketOf(service);
    await bucket.put(`${prefix}boats.md`, memoryText("Boats", "the user builds boats", "user"));
    await bucket.put(`${prefix}MEMORY.md`, "- [Boats](boats.md) - the user builds boats\n");
    const id = await newSession(client, "harbour");
    const planted: string[] = [];
    const tokens: number[] = [];
    for (let n = 1; n <= turns; n += 1) {
      const fact = n % 10 === 1 ? `FACT-${n} is ${word(n)}` : undefined;
      if (fact !== undefined) planted.push(fact);
      const events = await turn(client, id, `Turn ${n}. ${fact ?? "Go on"}. ${PAD}`);
      tokens.push(promptTokensOf(events));
      if (!events.some((event) => event.type === "agent.thread_context_compacted")) continue;
      const body = JSON.stringify(requestsFor(service, id, "main").at(-1)?.body);
      expect(planted.filter((each) => !body.includes(each))).toEqual([]);
      expect(body).toContain(`Turn ${n}. `);
    }
    printTable(tokens);
    const cuts = await compactions(client, id);
    console.table(
      cuts.map(({ trigger, tokens_before, tokens_after, used_notes }) => ({
        trigger,
        tokens_before,
        tokens_after,
        used_notes,
      })),
    );
    expect(cuts.length).toBeGreaterThanOrEqual(Math.floor(turns / MOST_TURNS));
    expect(cuts.every(({ used_notes }) => used_notes)).toBe(true);
    expect(requestsFor(service, id, "compaction")).toEqual([]);
    expect(refused(service, id)).toEqual([]);
    expect(Math.max(...tokens)).toBeLessThanOrEqual(28_800);

    const systems = requestsFor(service, id, "main").map(({ body }) =>
      JSON.stringify((body as { system: unknown }).system),
    );
    expect(new Set(systems).size).toBe(1);
    expect(systems[0]).toContain("the user builds boats");
    const said = (await stored(client, id)).filter((event) => event.type === "user.message");
    expect(said).toHaveLength(turns);
  });
}

/** The tokens of each turn's request, ten turns a line. */
function printTable(tokens: readonly number[]): void {
  const rows = Array.from({ length: tokens.length / 10 }, (_, row) => [
    `turns ${row * 10 + 1} to ${row * 10 + 10}`,
    tokens.slice(row * 10, row * 10 + 10).join(" "),
  ]);
  console.table(Object.fromEntries(rows));
}

function word(n: number): string {
  return ["oak", "elm", "pine", "birch", "beech"][n % 5] ?? "ash";
}
