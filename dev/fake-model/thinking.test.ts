import type Anthropic from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import { createFakeModel } from "./fake-model.ts";
import { ask, clientOver, type Message, post } from "./probe.ts";

const thinking = { type: "adaptive" } as const;

async function thoughtful(display?: "omitted") {
  const fakeModel = createFakeModel();
  fakeModel.enqueue({ thinking: "Let me see.", text: "Done." });
  const config = display ? { ...thinking, display } : thinking;
  const params = { ...ask("question"), thinking: config };
  const { content } = await clientOver(fakeModel).messages.stream(params).finalMessage();
  return { fakeModel, content };
}

function next(content: Anthropic.ContentBlock[], first: Message[] = ask("question").messages) {
  const answer: Message = { role: "assistant", content };
  return {
    ...ask("x"),
    thinking,
    messages: [...first, answer, { role: "user", content: "go on" }],
  };
}

test("thinking comes back signed, and the signature outlives the process", async () => {
  const { content } = await thoughtful();
  expect(content).toMatchObject([
    { type: "thinking", thinking: "Let me see.", signature: expect.stringMatching(/^\w+/) },
    { type: "text", text: "Done." },
  ]);
  expect((await post(createFakeModel(), next(content))).status).toBe(200);
});

test("omitted thinking has a signature and no text", async () => {
  const { fakeModel, content } = await thoughtful("omitted");
  expect(content[0]).toMatchObject({ type: "thinking", thinking: "" });
  expect((await post(fakeModel, next(content))).status).toBe(200);
});

test("a request without thinking gets none", async () => {
  const fakeModel = createFakeModel();
  fakeModel.enqueue({ thinking: "Let me see.", text: "Done." });
  const { content } = await clientOver(fakeModel).messages.create(ask("question"));
  expect(content.map(({ type }) => type)).toEqual(["text"]);
});

test.each([
  ["a foreign signature", { signature: "c29tZXRoaW5n" }],
  ["a signature that is no base64", { signature: "§§" }],
  ["a changed thought", { thinking: "Let me see!" }],
])("%s is refused", async (_what, change) => {
  const { fakeModel, content } = await thoughtful();
  const forged = content.map((block) =>
    block.type === "thinking" ? { ...block, ...change } : block,
  );
  const answer = await post(fakeModel, next(forged));
  expect(answer.body.error?.message).toMatch(/^messages\.1\.content\.0: Invalid `signature`/);
});

test("thinking after a changed prefix is refused, or dropped where that is asked for", async () => {
  const { fakeModel, content } = await thoughtful();
  const changed = next(content, ask("another question").messages);
  const refused = await post(fakeModel, changed);
  expect(refused.body.error?.message).toMatch(/^messages\.1\.content\.0: .*bound/);
  const block_binding = { prefix_mismatch_behavior: "drop_block" };
  const dropped = await post(fakeModel, { ...changed, thinking: { ...thinking, block_binding } });
  expect(dropped.status).toBe(200);
  const stripped = next(
    content.filter(({ type }) => type !== "thinking"),
    ask("another question").messages,
  );
  expect((await post(fakeModel, stripped)).status).toBe(200);
});

test("a moved cache marker and a string for a block leave the prefix as it was", async () => {
  const { fakeModel, content } = await thoughtful();
  const block = {
    type: "text" as const,
    text: "question",
    cache_control: { type: "ephemeral" as const },
  };
  const same = next(content, [{ role: "user", content: [block] }]);
  expect((await post(fakeModel, same)).status).toBe(200);
});
