// The page in a real browser, served by the service.

import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "../../dev/chromium.ts";
import { toldOf } from "./extraction-fixture.ts";
import { autoMemory, memoryText } from "./memory-fixture.ts";
import { startTestService, type TestService } from "./service.ts";

const executablePath = chromiumPath();
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
];

describe.skipIf(executablePath === undefined)("the page", () => {
  let service: TestService;
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];

  beforeAll(async () => {
    service = await startTestService();
    browser = await chromium.launch({ executablePath: executablePath ?? "", args: FLAGS });
    page = await browser.newPage({ timezoneId: "Asia/Tokyo" });
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (line) => {
      if (line.type() === "error") problems.push(line.text());
    });
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
  });

  test("a person signs in, talks, sees the memory being written, and gets it back in a new session", async () => {
    await page.goto(service.url);
    await page.getByTestId("token-input").fill(await service.token());
    await page.getByTestId("token-save").click();
    await page.getByTestId("start-session").click();
    await page.getByTestId("message-input").and(page.locator(":enabled")).waitFor();
    expect(await page.getByTestId("welcome").isVisible()).toBe(false);
    await say("Remember that the cat is called Ada");
    await agentSays(/Saved to/);
    expect(await page.getByTestId("tool-call").count()).toBe(2);
    const subjects = await page.locator(".tool-subject").allInnerTexts();
    expect(subjects.map((text) => text.replace(/\s/g, ""))).toEqual([
      "memory/cat-called-ada.md",
      "memory/MEMORY.md",
    ]);
    expect(await page.locator(".tool-subject").first().getAttribute("title")).toMatch(
      /^\/memory\/.*\/cat-called-ada\.md$/,
    );
    const lines = page.getByTestId("memory-saved");
    await lines.filter({ hasText: "MEMORY.md" }).waitFor();
    expect(await lines.allInnerTexts()).toEqual(["Saved to memory: cat-called-ada.md, MEMORY.md"]);
    expect(await page.getByText("Thinking").count()).toBe(0);

    await newSession();
    await say("What is the cat called?");
    await agentSays(/called Ada/);
    const sent = JSON.stringify(service.model.requests.map(({ body }) => body));
    expect(sent).toContain("(time zone Asia/Tokyo)");
    expect(sent).not.toContain("(time zone UTC)");
    expect(problems).toEqual([]);
  });

  test("text that looks like HTML is shown, not run", async () => {
    await newSession();
    await say("<img src=x onerror=\"document.title='hacked'\">");
    await agentSays(/You said: <img/);
    expect(await page.title()).not.toBe("hacked");
    expect(await page.locator("[data-testid=conversation] img").count()).toBe(0);
  });

  test("messages that are sent while a turn runs are answered in order", async () => {
    await newSession();
    for (const text of ["one apple", "two pears", "three figs"]) await say(text);
    await agentSays(/three figs/);
    const texts = await page.locator("[data-testid=message][data-role=agent]").allInnerTexts();
    expect(texts.map((text) => /one|two|three/.exec(text)?.[0])).toEqual(["one", "two", "three"]);
  });

  test("a file is made, shown and changed in the workspace", async () => {
    await page.getByTestId("workspace-tab").click();
    await page.getByTestId("new-file-path").fill("notes/a.md");
    await page.getByTestId("new-file").click();
    await page.getByTestId("file-save").click();
    await page.getByTestId("file-item").filter({ hasText: "notes/a.md" }).waitFor();
    const response = await fetch(`${service.url}/v1/workspaces/demo/files/notes/a.md`, {
      headers: { authorization: `Bearer ${await service.token()}` },
    });
    expect(response.status).toBe(200);
  });

  test("the memory tab shows what is saved, edits it and restores its first version", async () => {
    await newSession();
    await page.getByTestId("memory-tab").click();
    await say("Remember that the dog is called Rex");
    const file = page.getByTestId("memory-file");
    const dog = file.filter({ hasText: "dog-called-rex.md" });
    await dog.filter({ hasText: "saved here" }).waitFor();
    expect(await file.first().textContent()).toMatch(/^MEMORY\.md/);
    expect(await file.nth(1).textContent()).toMatch(/^dog-called-rex\.md/);
    expect(await file.filter({ hasText: "cat-called" }).textContent()).not.toContain("saved here");

    await dog.click();
    const area = page.locator("#memory-panel textarea");
    const version = page.getByTestId("version-item");
    await version.filter({ hasText: "by this session" }).waitFor();
    const first = await area.inputValue();
    expect(first).toContain("dog is called Rex");
    await area.fill(first.replaceAll("Rex", "Max"));
    await inMemory("file-save").click();
    await inMemory("file-message").filter({ hasText: "Saved" }).waitFor();
    await version.filter({ hasText: "by user ann" }).waitFor();
    expect(await storedDog()).toContain("called Max");

    await version.nth(1).getByTestId("version-view").click();
    await version.nth(1).getByTestId("version-text").filter({ hasText: "called Rex" }).waitFor();
    await version.nth(1).getByTestId("version-restore").click();
    await version.nth(2).waitFor();
    await expect.poll(() => area.inputValue()).toBe(first);
    expect(await storedDog()).toBe(first);
  });

  test("a memory that was changed meanwhile is kept or taken over, then deleted", async () => {
    const area = page.locator("#memory-panel textarea");
    const { client, store_id, memory } = await dogMemory();
    const change = (content: string) =>
      client.beta.memoryStores.memories.update(memory.id, { memory_store_id: store_id, content });
    problems.length = 0;
    await change("theirs 1");
    await area.fill("mine 1");
    await inMemory("file-save").click();
    await page.getByRole("button", { name: "Load the stored version" }).click();
    await expect.poll(() => area.inputValue()).toBe("theirs 1");
    await change("theirs 2");
    await area.fill("mine 2");
    await inMemory("file-save").click();
    await page.getByRole("button", { name: "Keep mine" }).click();
    await page.getByRole("button", { name: "Really replace theirs?" }).click();
    await inMemory("file-message")
      .filter({ hasText: /^Saved$/ })
      .waitFor();
    expect(await storedDog()).toBe("mine 2");

    await inMemory("file-delete").click();
    expect(await storedDog()).toBe("mine 2");
    await inMemory("file-delete").click();
    await page.getByTestId("memory-file").filter({ hasText: "dog" }).waitFor({ state: "detached" });
    expect(await storedDog()).toBeUndefined();
    // The browser itself tells of the two refusals.
    expect(problems.filter((text) => !text.includes("409"))).toEqual([]);
  });

  test("TRUTH-01: what a person deletes on the page is not brought back by a fork that still runs", async () => {
    await newSession();
    await page.getByTestId("memory-tab").click();
    await say("Remember that the dog is called Rex");
    const dog = page.getByTestId("memory-file").filter({ hasText: "dog" });
    await dog.click();
    const text = memoryText("Dog", "the dog is called Rex and swims", "user");
    const session = (await page.evaluate(() => location.hash)).replace("#session=", "");
    const { directory } = await autoMemory(await service.client(), session);
    const write = (name: string, content: string) => ({
      name: "Write",
      input: { file_path: `${directory}/${name}`, content },
    });
    const match = { session, purpose: "extraction" } as const;
    const file = (await dog.textContent())?.match(/[\w-]+\.md/)?.[0] ?? "";
    service.model.enqueue({ match, delayMs: 2_500, tools: [write(file, text)] });
    service.model.enqueue({ match, text: "Done." });
    await say("Rex likes to swim, by the way.");
    const asked = () =>
      service.model.requests.some(
        ({ headers }) =>
          headers["x-memdir-session"] === session && headers["x-memdir-purpose"] === "extraction",
      );
    await expect.poll(asked, { timeout: 10_000 }).toBe(true);
    await inMemory("file-delete").click();
    await inMemory("file-delete").click();
    await dog.waitFor({ state: "detached" });
    await expect
      .poll(async () => JSON.stringify(await toldOf(await service.client(), session)), {
        timeout: 20_000,
      })
      .toMatch(/it was deleted or moved by somebody else/);
    expect(await storedDog()).toBeUndefined();
  });

  test("whoever has no valid token is told where one comes from", async () => {
    const other = await browser.newPage();
    await other.goto(service.url);
    expect(await other.locator("#gate").textContent()).toContain("npm start");
    await other.getByTestId("token-input").fill("not-a-token");
    await other.getByTestId("token-save").click();
    const told = other.getByTestId("error").filter({ hasText: "npm run -s token" });
    await told.waitFor();
    expect(await told.textContent()).toContain("does not take this token");
    await other.close();
  });

  function inMemory(testId: string) {
    return page.locator("#memory-panel").getByTestId(testId);
  }

  async function dogMemory() {
    const client = await service.client();
    for await (const store of client.beta.memoryStores.list()) {
      const memories = client.beta.memoryStores.memories.list(store.id, { view: "full" });
      for await (const memory of memories) {
        if (memory.type === "memory" && memory.path === "/dog-called-rex.md") {
          return { client, store_id: store.id, memory };
        }
      }
    }
    throw new Error("There is no memory of the dog");
  }

  async function storedDog() {
    return dogMemory().then(
      ({ memory }) => memory.content,
      () => undefined,
    );
  }

  async function newSession() {
    const before = await page.getByTestId("session-item").count();
    await page.getByTestId("new-session").click();
    await page.getByTestId("session-item").nth(before).waitFor();
    await page.getByTestId("message-input").and(page.locator(":enabled")).waitFor();
  }

  async function say(text: string) {
    await page.getByTestId("message-input").fill(text);
    await page.getByTestId("send").click();
  }

  async function agentSays(text: RegExp) {
    const messages = page.locator("[data-testid=message][data-role=agent]");
    await messages.filter({ hasText: text }).first().waitFor();
  }
});
