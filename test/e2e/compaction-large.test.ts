// Messages that are large beside the window: what was said before them is in the notes or in a summary,
// and stays. The model here writes down every fact that it is shown, so what is missing was not shown.

import { expect, test } from "vitest";
import type { ModelCall } from "../../dev/fake-model/fake-model.ts";
import { PAD, refused } from "./context-fixture.ts";
import { noteFacts } from "./notes-fixture.ts";
import { sentMessages, serviceOfFile, turn } from "./service.ts";

const FACT = /FACT-\d+ is [a-z]+/g;

const service = await serviceOfFile(
  {
    EXTRACTION_EVERY_TURNS: "0",
    CONTEXT_WINDOW_TOKENS: "12000",
    NOTES_FIRST_TOKENS: "2500",
    NOTES_GROWTH_TOKENS: "1000",
  },
  { reply },
);
const client = await service.client();

test.each([
  // It fits the window alone; it hardly does; it never does.
  ["with notes", {}, 6_500],
  ["with notes", {}, 8_000],
  ["with notes", {}, 30_000],
  ["without notes", { bare: "true" }, 6_500],
  ["without notes", { bare: "true" }, 8_000],
  ["without notes", { bare: "true" }, 30_000],
])(
  "%s %j, a message of %d words costs nothing that was said before",
  async (_how, metadata, words) => {
    const { id } = await client.beta.sessions.create({
      agent: "default",
      environment_id: "large",
      metadata,
    });
    const facts = Array.from({ length: 6 }, (_, n) => `FACT-${n} is oak`);
    for (const fact of facts) await turn(client, id, `${fact}. ${PAD}`);
    await turn(client, id, `What of this? ${"word ".repeat(words)}`);
    await turn(client, id, "What now?");
    const last = JSON.stringify(sentMessages(service.model, id).at(-1));
    expect(facts.filter((fact) => !last.includes(fact))).toEqual([]);
    expect(refused(service, id)).toEqual([]);
  },
);

test("a summariser that fails for a while loses nothing of what grows meanwhile", async () => {
  const { id } = await client.beta.sessions.create({
    agent: "default",
    environment_id: "large",
    metadata: { bare: "true" },
  });
  service.model.enqueue({
    fault: { type: "status", status: 500 },
    match: { session: id, purpose: "compaction" },
    times: 4,
  });
  const facts = Array.from({ length: 18 }, (_, n) => `FACT-${n} is elm`);
  for (const fact of facts) await turn(client, id, `${fact}. ${PAD}`);
  const last = JSON.stringify(sentMessages(service.model, id).at(-1));
  expect(facts.filter((fact) => !last.includes(fact))).toEqual([]);
  expect(refused(service, id)).toEqual([]);
});

function reply(call: ModelCall) {
  if (call.purpose !== "compaction") return noteFacts(call);
  const facts = new Set(JSON.stringify(call.request.messages).match(FACT));
  return { text: [...facts].join("\n") || "Nothing." };
}
