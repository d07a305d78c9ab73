import type Anthropic from "@anthropic-ai/sdk";
import { describe, expect, test } from "vitest";
import { createFakeModel } from "../fake-model.ts";
import { ask, clientOver } from "../probe.ts";
import { DIR, testAgent } from "./test-agent.ts";

const INDEX = `${DIR}/MEMORY.md`;
const start = () => testAgent(createFakeModel());
const links = (index = "") => [...index.matchAll(/\]\((.*?)\)/g)].map(([, file]) => file);

describe("recall", () => {
  const list = [
    "- [project] deploy-day.md (2026-11-01T10:00:00Z): The release is deployed on Fridays",
    "- [user] coffee.md (2026-11-02T10:00:00Z): Takes oat milk in coffee",
    "- team/style.md (2026-11-03T10:00:00Z): How reviews of a release are written",
  ];
  const prompt = (query: string) => `Query: ${query}\n\nAvailable memories:\n${list.join("\n")}`;
  const params = (query: string): Anthropic.MessageCreateParamsNonStreaming => ({
    ...ask(prompt(query)),
    output_config: {
      format: {
        type: "json_schema",
        schema: {
          type: "object",
          properties: { selected_memories: { type: "array", items: { type: "string" } } },
          required: ["selected_memories"],
          additionalProperties: false,
        },
      },
    },
  });
  const options = { headers: { "x-memdir-purpose": "recall" } };

  test.each([
    ["when is the release deployed?", ["deploy-day.md", "team/style.md"]],
    ["milk for my coffees", ["coffee.md"]],
    ["what is the time in Tokyo", []],
  ])("%s chooses %j", async (query, selected) => {
    const client = clientOver(createFakeModel());
    const message = await client.messages.create(params(query), options);
    const [block] = message.content;
    expect(block?.type === "text" && JSON.parse(block.text)).toEqual({
      selected_memories: selected,
      worth_keeping: true,
    });
    expect(await client.messages.stream(params(query), options).finalText()).toBe(
      JSON.stringify({ selected_memories: selected, worth_keeping: true }),
    );
  });

  test("never more than five", async () => {
    const many = Array.from(
      { length: 9 },
      (_, n) => `- [user] tea-${n}.md (2026-11-01T00:00:00Z): tea`,
    );
    const message = await clientOver(createFakeModel()).messages.create(
      ask(`Query: tea\n\n${many.join("\n")}`),
      options,
    );
    const [block] = message.content;
    expect(block?.type === "text" && JSON.parse(block.text).selected_memories).toHaveLength(5);
  });
});

describe("extraction", () => {
  const task =
    "Save what is worth keeping from this message on: <look_from>I'm a nurse.…</look_from> Existing memories:";
  const purpose = "extraction";

  test("saves durable statements of the user, each in its file, with one change of the index", async () => {
    const agent = start();
    await agent.say("I'm a nurse. Thanks for the help!");
    await agent.say("We always deploy on Tuesdays.\nWhat time is it?");
    const said = await agent.say(task, { purpose });
    expect(agent.calls).toEqual([
      "Write nurse.md",
      "Write always-deploy-tuesdays.md",
      "Write MEMORY.md",
    ]);
    expect(links(agent.files.get(INDEX))).toEqual(["nurse.md", "always-deploy-tuesdays.md"]);
    expect(said).toContain("nurse.md");
  });

  test("leaves alone what is known, what lies before the bound and what was saved on request", async () => {
    const agent = start();
    await agent.say("I am left-handed.");
    await agent.say(`remember this: ${"a long story ".repeat(20)}\nWe use pnpm.`);
    await agent.say("I'm a nurse.");
    const calls = agent.calls.length;
    const listed = "- [user] job.md (2026-11-01T00:00:00Z): I'm a nurse.";
    expect(await agent.say(`${task}\n${listed}`, { purpose })).toBe("Nothing new to save.");
    expect(agent.calls).toHaveLength(calls);
  });
});

test("session notes: the known sections are filled, the rest is left as it is", async () => {
  const agent = start();
  const notes =
    "# Session title\n_A short title_\n\n# Current state\n_What goes on_\n\n# Lessons\n_What to keep_\n\n# Work log\n- began\n";
  agent.files.set("/notes/session.md", notes);
  await agent.say("Build me a boat");
  await agent.say("read /notes/session.md");
  await agent.say(`Update the notes in /notes/session.md:\n<notes>\n${notes}</notes>`, {
    purpose: "session-notes",
  });
  const after = agent.files.get("/notes/session.md") ?? "";
  expect(after).toContain("# Session title\n_A short title_\nBuild me a boat");
  expect(after).toContain("# Lessons\n_What to keep_\n");
  expect(after).toContain("- began\n- read /notes/session.md");
});

test("session notes: a section that the task names as too long is condensed, also one that says nothing new", async () => {
  const agent = start();
  const lines = Array.from({ length: 40 }, (_, n) => `- line ${n}`).join("\n");
  const notes = `# Title\n_Short_\n\n# Lessons\n_What to keep_\n${lines}\n\n# Work log\n${lines}\n`;
  agent.files.set("/notes/session.md", notes);
  await agent.say("read /notes/session.md");
  await agent.say(
    `Update \`/notes/session.md\`.\n- Condense these sections first: "Lessons" (900 tokens), "Work log" (900 tokens).\n<notes>\n${notes}</notes>`,
    { purpose: "session-notes" },
  );
  const after = agent.files.get("/notes/session.md") ?? "";
  expect(after).toContain("# Lessons\n_What to keep_\n- line 30\n");
  expect(after).toContain("# Work log\n- line 30\n");
  expect(after).toMatch(/- line 39\n- read \/notes\/session\.md\s*$/);
});

test("compaction tells what was asked, what was touched and where things stand", async () => {
  const agent = start();
  await agent.say("write /w/a.txt: hello");
  const said = await agent.say("Summarise the conversation.", { purpose: "compaction" });
  expect(said).toContain("- write /w/a.txt: hello");
  expect(said).toContain("- Write /w/a.txt");
  expect(said).toContain("I wrote /w/a.txt.");
});

test("an agent's summary has three to five words", async () => {
  const agent = start();
  const options = { purpose: "agent-summary" };
  expect(await agent.say("Say what you do.", options)).toBe("Working on the task");
  await agent.say("read /w/session.ts");
  expect(await agent.say("Say what you do.", options)).toBe("Reading the file session.ts");
});

test("a dream removes twins and dangling lines, and reports what and why", async () => {
  const agent = start();
  agent.files.set(
    INDEX,
    "- [Tea](tea.md) - tea\n- [Tea again](tea-2.md) - tea\n- [Gone](gone.md) - x\n- [Dog](dog.md) - dog\n",
  );
  agent.files.set(`${DIR}/tea.md`, "---\nname: tea\n---\n\nLikes tea.\n");
  agent.files.set(`${DIR}/tea-2.md`, "---\nname: tea-2\n---\n\nlikes tea\n");
  agent.files.set(`${DIR}/dog.md`, "Has a dog.\n");
  const report = await agent.say("Consolidate.", { purpose: "dream" });
  expect(links(agent.files.get(INDEX))).toEqual(["tea.md", "dog.md"]);
  expect([...agent.files.keys()]).toEqual([INDEX, `${DIR}/tea.md`, `${DIR}/dog.md`]);
  expect(report).toContain("Removed tea-2.md: it says the same as tea.md.");
  expect(report).toContain("Removed gone.md: its file is gone.");
});
