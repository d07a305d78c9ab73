// What a compaction takes out of the model's sight is still looked at by the extraction, word for word.

import { expect, test } from "vitest";
import { compactions, PAD, refused, requestsFor } from "./context-fixture.ts";
import { newSession, serviceOfFile, turn } from "./service.ts";

const service = await serviceOfFile({
  CONTEXT_WINDOW_TOKENS: "16000",
  EXTRACTION_EVERY_TURNS: "1000",
  NOTES_FIRST_TOKENS: "1000000000",
});
const client = await service.client();
const TURNS = 32;

test("turns that were compacted away before anybody looked at them are extracted all the same", {
  timeout: 120_000,
}, async () => {
  const id = await newSession(client, "hidden");
  for (let n = 1; n <= TURNS; n += 1) await turn(client, id, `Turn ${n}: ${PAD} number${n}x`);
  expect((await compactions(client, id)).length).toBeGreaterThanOrEqual(1);
  // Once more at the very end, so that the newest turns are hidden too.
  await client.post(`/v1/sessions/${id}/compact`);
  await client.beta.sessions.archive(id);
  const requests = requestsFor(service, id, "extraction").map(({ body }) =>
    JSON.stringify((body as { messages: unknown }).messages),
  );
  expect(requests.length).toBeGreaterThan(0);
  // At their end, where no summary has a word of them.
  const unseen = Array.from({ length: TURNS }, (_, n) => `number${n + 1}x`).filter(
    (words) => !requests.some((request) => request.includes(words)),
  );
  expect(unseen).toEqual([]);
  expect(refused(service, id)).toEqual([]);
  const { data }: { data: { outcome: string }[] } = await client.get(
    `/v1/sessions/${id}/extractions`,
  );
  expect(data.map(({ outcome }) => outcome)).not.toContain("failed");
});
