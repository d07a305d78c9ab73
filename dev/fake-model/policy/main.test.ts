import { describe, expect, test } from "vitest";
import { createFakeModel } from "../fake-model.ts";
import { DIR, testAgent } from "./test-agent.ts";

const INDEX = `${DIR}/MEMORY.md`;
const start = () => testAgent(createFakeModel());

describe("remember, ask, forget", () => {
  test("what is told in one conversation answers a question in the next", async () => {
    const agent = start();
    const confirmed = await agent.say("Please remember that I take my coffee with oat milk");
    expect(agent.calls).toEqual(["Write take-coffee-oat-milk.md", "Write MEMORY.md"]);
    expect(confirmed).toContain("take-coffee-oat-milk.md");
    expect(agent.files.get(`${DIR}/take-coffee-oat-milk.md`)).toBe(
      '---\nname: take-coffee-oat-milk\ndescription: "I take my coffee with oat milk"\n' +
        "type: user\n---\n\nI take my coffee with oat milk\n",
    );
    expect(agent.files.get(INDEX)).toBe(
      "- [Take coffee oat milk](take-coffee-oat-milk.md) - I take my coffee with oat milk\n",
    );

    agent.restart();
    const answer = await agent.say("How do I drink my coffee?");
    expect(answer).toBe("From memory (take-coffee-oat-milk.md): I take my coffee with oat milk");
    expect(agent.calls.slice(2)).toEqual(["Read take-coffee-oat-milk.md"]);
  });

  test("a second memory goes on top of the index, in the same conversation and in the next", async () => {
    const agent = start();
    await agent.say("remember that the deploy runs on Fridays");
    await agent.say("remember: never push to main without review");
    expect(agent.calls.slice(2)).toEqual([
      "Write never-push-main-without-review.md",
      "Edit MEMORY.md",
    ]);
    agent.restart();
    await agent.say("Remember that the tracker is https://example.test/board");
    const files = [...(agent.files.get(INDEX) ?? "").matchAll(/\]\((.*?)\)/g)].map(
      ([, file]) => file,
    );
    expect(files).toHaveLength(3);
    expect(files.slice(1)).toEqual(["never-push-main-without-review.md", "deploy-runs-fridays.md"]);
    const types = [...agent.files].map(([, text]) => /^type: (.*)$/m.exec(text)?.[1]);
    expect(types).toEqual(["project", undefined, "feedback", "reference"]);
    expect(agent.files.get(`${DIR}/deploy-runs-fridays.md`)).toMatch(
      /\n\*\*Why:\*\* .+\n\*\*How to apply:\*\* .+\n$/,
    );
  });

  test("forgetting removes the file and its line and nothing else", async () => {
    const agent = start();
    await agent.say("remember that I like tea");
    await agent.say("remember that the standup is at nine");
    await agent.say("remember that my dog is called Rex");
    agent.restart();
    const said = await agent.say("Please forget about my tea");
    expect(said).toContain("like-tea.md");
    await agent.say("forget the dog");
    expect([...agent.files.keys()]).toEqual([INDEX, `${DIR}/standup-nine.md`]);
    const left = "- [Standup nine](standup-nine.md) - the standup is at nine\n";
    expect(agent.files.get(INDEX)).toBe(left);
    await agent.say("forget the standup");
    expect(agent.files.get(INDEX)?.trim()).toBe("");
    expect(await agent.say("forget my bicycle")).toContain("nothing in memory");
  });

  test("calls that a script made first are not taken for its own", async () => {
    const fakeModel = createFakeModel();
    const agent = testAgent(fakeModel);
    fakeModel.enqueue({ tools: [{ name: "Write", input: { file_path: "/w/x", content: "y" } }] });
    await agent.say("remember that I like tea");
    expect([...agent.files.keys()]).toEqual(["/w/x", `${DIR}/like-tea.md`, INDEX]);
  });

  test("the same fact is not saved twice, the same name is never taken twice", async () => {
    const agent = start();
    await agent.say("remember that I like tea");
    expect(await agent.say("remember that I like tea")).toContain("already (like-tea.md)");
    await agent.say("remember that I like TEA!");
    expect([...agent.files.keys()]).toContain(`${DIR}/like-tea-2.md`);
  });

  test.each([
    ["merke dir, dass ich früh aufstehe", "fruh-aufstehe.md"],
    ["记住：我喜欢喝茶", /^我.*喝茶\.md$/u],
    ["remember that 👋🏽🎉", /^memory-[0-9a-f]{6}\.md$/],
    ["don't forget that lunch is at noon", "lunch-noon.md"],
    ["Hey, I want you to remember that lunch is at noon", "lunch-noon.md"],
  ])("%s is a request to remember", async (said, name) => {
    const agent = start();
    await agent.say(said);
    const [file] = agent.files.keys();
    const base = file?.split("/").at(-1);
    if (typeof name === "string") expect(base).toBe(name);
    else expect(base).toMatch(name);
  });

  test("Chinese questions find Chinese memories", async () => {
    const agent = start();
    await agent.say("记住：我喜欢喝绿茶");
    agent.restart();
    expect(await agent.say("我喜欢喝什么茶？")).toMatch(/^From memory \(.*\): 我喜欢喝绿茶$/);
  });

  test("an unknown matter is not in memory, and a question about remembering saves nothing", async () => {
    const agent = start();
    await agent.say("remember that I like tea");
    agent.restart();
    expect(await agent.say("What is the capital of France?")).toContain(
      "nothing on that in my memory",
    );
    expect(await agent.say("Do you remember the capital of France?")).toContain("nothing on that");
    expect(await agent.say("Remember what I said about France?")).toContain("nothing on that");
    expect(agent.files.size).toBe(2);
  });

  test("a recalled memory is quoted without another read", async () => {
    const agent = start();
    const reminder =
      `<system-reminder>\nMemory ${DIR}/wifi.md (saved 3 days ago):\n---\nname: wifi\n` +
      "description: x\ntype: reference\n---\n\nThe guest wifi is called Heron.\n</system-reminder>";
    const said = await agent.say(`${reminder}\n\nWhat is the guest wifi called?`);
    expect(said).toBe("From memory (wifi.md): The guest wifi is called Heron.");
    expect(agent.calls).toEqual([]);
  });

  test("an index shown in the conversation is an index, no recalled memory", async () => {
    const agent = start();
    agent.files.set(`${DIR}/wifi.md`, "The guest wifi is called Heron.");
    const shown =
      `<system-reminder>\n<memory_index path="${INDEX}">\n- [Wifi](wifi.md) - guest wifi\n` +
      "</memory_index>\n</system-reminder>";
    await agent.say(`${shown}\nhello`);
    expect(await agent.say("What do you remember?")).toBe("In my memory:\n- guest wifi (wifi.md)");
    const said = await agent.say("What is the guest wifi called?");
    expect(said).toBe("From memory (wifi.md): The guest wifi is called Heron.");
    expect(agent.calls).toEqual(["Read wifi.md"]);
  });

  test("of several recalled memories the fitting one is quoted, whatever files they name", async () => {
    const agent = start();
    const memory = (file: string, text: string) =>
      `<memory path="${DIR}/${file}" age="3 days">\n---\nname: x\n---\n\n${text}\n</memory>`;
    const reminder = [
      memory("wifi.md", "The wifi is called Heron.\n\nMore is in setup.md."),
      memory("lunch.md", "Lunch is at noon."),
    ].join("\n");
    const said = await agent.say(
      `<system-reminder>\n${reminder}\n</system-reminder>\nwhen is lunch`,
    );
    expect(said).toBe("From memory (lunch.md): Lunch is at noon.");
  });
});

describe("when a tool refuses", () => {
  test("an index that changed since it was shown is read and edited again", async () => {
    const agent = start();
    await agent.say("remember that I like tea");
    agent.restart();
    agent.files.set(INDEX, `- [Other](other.md) - by somebody else\n${agent.files.get(INDEX)}`);
    const said = await agent.say("remember that the standup is at nine");
    expect(said).toMatch(/^I'll remember that/);
    expect(agent.calls.slice(2)).toEqual([
      "Write standup-nine.md",
      "Edit MEMORY.md",
      "Read MEMORY.md",
      "Edit MEMORY.md",
    ]);
    const index = agent.files.get(INDEX) ?? "";
    expect([...index.matchAll(/\]\((.*?)\)/g)].map(([, file]) => file)).toEqual([
      "standup-nine.md",
      "other.md",
      "like-tea.md",
    ]);
  });

  test("a topic file that exists keeps its text and gets the new one", async () => {
    const agent = start();
    agent.files.set(`${DIR}/like-tea.md`, "Earl Grey\n");
    agent.files.set(INDEX, "- [Unlinked](x.md) - y\n");
    const said = await agent.say("remember that I like tea");
    expect(said).toContain("like-tea.md");
    expect(agent.files.get(`${DIR}/like-tea.md`)).toBe("Earl Grey\n\nI like tea\n");
    expect(agent.files.get(INDEX)).toMatch(/^- \[Like tea\]\(like-tea\.md\)[^\n]*\n- \[Unlinked\]/);
  });

  test("it gives up after three tries and says why", async () => {
    const agent = start();
    agent.onCall = (name) =>
      name === "Edit" || name === "Write" ? { text: "It changed since", failed: true } : undefined;
    agent.files.set(`${DIR}/like-tea.md`, "Earl Grey\n");
    const said = await agent.say("remember that I like tea");
    expect(said).toBe("I could not save that to like-tea.md: It changed since");
    expect(agent.calls.filter((call) => !call.startsWith("Read"))).toHaveLength(3);
  });

  test("a denial is not tried again", async () => {
    const agent = start();
    agent.onCall = () => ({ text: "Permission denied: read-only session", failed: true });
    expect(await agent.say("remember that I like tea")).toContain("Permission denied");
    expect(agent.calls).toEqual(["Write like-tea.md"]);
  });
});

describe("plain talk and file commands", () => {
  test("anything else is echoed, introduced once, and never split inside a character", async () => {
    const agent = start();
    const long = "👋".repeat(100);
    const first = await agent.say(long);
    expect(first).toMatch(/^You said: (👋){80}\n\nI'm the demo model/u);
    const second = await agent.say("<system-reminder>be brief</system-reminder>\nthanks");
    expect(second).toBe("You said: thanks");
    expect(await agent.say("Who are you?")).toMatch(/^I'm the demo model/);
  });

  test("files are listed, searched, read, written, edited and deleted on command", async () => {
    const agent = start();
    expect(await agent.say("write /w/a.txt: first line")).toBe("I wrote /w/a.txt.");
    expect(await agent.say("list files")).toContain("/w/a.txt");
    expect(await agent.say("edit /w/a.txt: replace 'first' with '$& 2nd'")).toContain("edited");
    expect(agent.files.get("/w/a.txt")).toBe("$& 2nd line");
    expect(await agent.say("read /w/a.txt")).toBe("/w/a.txt:\n$& 2nd line");
    expect(await agent.say("search for '2nd'")).toContain("/w/a.txt: $& 2nd line");
    expect(await agent.say("read /w/none.txt")).toContain("does not exist");
    expect(await agent.say("delete /w/a.txt")).toContain("deleted");
    expect(agent.files.size).toBe(0);
  });

  test("asked what it can do, it introduces itself and says what to try", async () => {
    const agent = start();
    const said = await agent.say("Hello, what can you do?");
    expect(said).toMatch(/^I'm the demo model/);
    for (const line of said.split("\n- ").slice(1)) {
      const answer = await agent.say(line.replace(/ \(.*\)$/, ""));
      expect(answer).not.toMatch(/^You said|failed|^I can't/);
    }
    expect(agent.calls).toContain("Read todo.md");
    expect(await agent.say("What can I do about the leak?")).not.toMatch(/^I'm the demo model/);
  });

  test("a relative path starts at the project's directory that the prompt names", async () => {
    const agent = start();
    const system = "The project lies at `/workspace/my-app.v2`. Its neighbour: /workspace/other";
    const say = (text: string) => agent.say(text, { system });
    const path = "/workspace/my-app.v2/notes/todo.md";
    expect(await say("Create a file notes/todo.md with the text: buy tea. Remember milk")).toBe(
      "I wrote notes/todo.md.",
    );
    expect([...agent.files]).toEqual([[path, "buy tea. Remember milk"]]);
    expect(await say("Read notes/todo.md.")).toBe("notes/todo.md:\nbuy tea. Remember milk");
    expect(await say(`please read the file ${path}`)).toContain("buy tea");
    expect(await say("edit notes/todo.md: replace 'tea' with 'coffee'")).toContain("edited");
    for (const text of ["List the files in my workspace", "What files are there?"]) {
      expect(await say(text)).toContain(path);
    }
    expect(await say("delete notes/todo.md")).toBe("I deleted notes/todo.md.");
    expect(agent.files.size).toBe(0);
  });

  test("any offered tool can be asked for by name", async () => {
    const agent = start();
    agent.onCall = (name) => ({ text: `${name} ran` });
    expect(await agent.say('use tool Glob with {"pattern": "*.md"}')).toBe(
      "Glob answered: Glob ran",
    );
    expect(await agent.say("use tool Fly with {}")).toContain("no tool Fly");
  });
});
