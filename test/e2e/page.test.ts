// The page in a real browser, served by the service.

import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "../../dev/chromium.ts";
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
    page = await browser.newPage();
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
    await newSession();
    await say("Remember that the cat is called Ada");
    await agentSays(/Saved to/);
    expect(await page.getByTestId("tool-call").count()).toBe(2);

    await newSession();
    await say("What is the cat called?");
    await agentSays(/called Ada/);
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
