// Allowing and denying on the page, in a real browser.

import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "../../dev/chromium.ts";
import { NO_BACKGROUND, startTestService, type TestService, until } from "./service.ts";

const executablePath = chromiumPath();
const FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"];

describe.skipIf(executablePath === undefined)("a call that waits", () => {
  let service: TestService;
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];

  beforeAll(async () => {
    service = await startTestService({ ...NO_BACKGROUND, PERMISSION_MODE: "ask" });
    browser = await chromium.launch({ executablePath: executablePath ?? "", args: FLAGS });
    page = await browser.newPage();
    page.on("pageerror", (error) => problems.push(error.message));
    await page.goto(service.url);
    await page.getByTestId("token-input").fill(await service.token());
    await page.getByTestId("token-save").click();
    await page.getByTestId("start-session").click();
    await page.getByTestId("message-input").and(page.locator(":enabled")).waitFor();
  });
  afterAll(async () => {
    await browser.close();
    await service.close();
  });

  test("has two buttons until it is answered, also after a reload; the answer is carried out", async () => {
    const model = service.model;
    const write = (name: string) => ({
      name: "Write",
      input: { file_path: `/workspace/page-ask/${name}`, content: "x" },
    });
    model.enqueue({ tools: [write("a.md"), write("b.md")], match: { purpose: "main" } });
    model.enqueue({ text: "All done.", match: { purpose: "main" } });
    await page.getByTestId("message-input").fill("go");
    await page.getByTestId("send").click();

    const calls = page.getByTestId("tool-call");
    await until("both ask", async () => (await calls.getByTestId("allow").count()) === 2);
    await page.getByText("Waiting for an answer to a tool").waitFor();
    expect(await calls.first().getAttribute("data-state")).toBe("waiting");

    await calls.first().getByTestId("allow").click();
    await calls.first().getByText("allowed").waitFor();
    expect(await calls.first().getByTestId("allow").isVisible()).toBe(false);

    await page.reload();
    await calls.last().getByTestId("deny").click();
    await page.getByText("All done.").waitFor();
    expect(await calls.last().getAttribute("data-state")).toBe("failed");
    expect(await page.getByTestId("allow").and(page.locator(":visible")).count()).toBe(0);
    expect(problems).toEqual([]);
  });
});
