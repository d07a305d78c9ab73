// A session of very many turns on the page: its end is there at once, the rest where it is asked for.

import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath } from "../../dev/chromium.ts";
import {
  NO_BACKGROUND,
  newSession,
  say,
  startTestService,
  type TestService,
  turn,
} from "./service.ts";
import { script, session, untilPaused, write } from "./waiting-fixture.ts";

const executablePath = chromiumPath();
const FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"];
/** Turns in one transaction. */
const GROW_AT_ONCE = 100;
/** Of the page, however long the session is. */
const NODES_MOST = 1_000;
const BYTES_MOST = 200_000;

/** The test of a file. With `whole` all of the session is read back, else some pages of it. */
export function longSessionOnPage(turns: number, { whole }: { whole: boolean }): void {
  describe.skipIf(executablePath === undefined)(`a session of ${turns} turns`, () => {
    let service: TestService;
    let browser: Browser;
    let page: Page;
    const problems: string[] = [];
    const lists: { bytes: number }[] = [];

    beforeAll(async () => {
      service = await startTestService(NO_BACKGROUND, {}, "test/e2e/grown-service.toml");
      browser = await chromium.launch({ executablePath: executablePath ?? "", args: FLAGS });
      page = await browser.newPage();
      page.on("pageerror", (error) => problems.push(error.message));
      page.on("response", async (response) => {
        if (!/\/events\?/.test(response.url())) return;
        lists.push({ bytes: (await response.body().catch(() => Buffer.of())).length });
      });
    });
    afterAll(async () => {
      await browser.close();
      await service.close();
    });

    test("opens with its end, is talked to, and shows what was before where it is asked for", {
      timeout: 600_000,
    }, async () => {
      const button = page.locator("button[data-testid=load-earlier]");
      const client = await service.client();
      const id = await newSession(client);
      await turn(client, id, "The first words of all");
      await grow(id, turns - 1);
      await page.goto(service.url);
      await page.getByTestId("token-input").fill(await service.token());
      await page.getByTestId("token-save").click();
      await page.getByTestId("session-item").first().click();
      await call(turns).waitFor();
      await page
        .getByTestId("status")
        .filter({ hasText: /^Idle$/ })
        .waitFor();
      expect(await call(1).count()).toBe(0);
      expect(await page.getByText("The first words of all").count()).toBe(0);
      expect(await inView(call(turns))).toBe(true);
      // Two requests: the newest events, and what was saved before them.
      expect(lists.length).toBeLessThanOrEqual(2);
      expect(lists.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(BYTES_MOST);
      expect(await nodes()).toBeLessThan(NODES_MOST);

      await page.getByTestId("message-input").fill("hello there");
      await page.getByTestId("send").click();
      const answer = page.locator("[data-testid=message][data-role=agent]").filter({
        hasText: "hello there",
      });
      await answer.waitFor();
      expect(await inView(answer)).toBe(true);

      // What somebody looks at stays where it is.
      const top = await page.getByTestId("tool-call").first().elementHandle();
      const place = () => top?.evaluate((node) => Math.round(node.getBoundingClientRect().top));
      const before = await place();
      await earlier(() => button.dispatchEvent("click"));
      expect(await place()).toBe(before);
      for (let n = 0; whole && (await button.isVisible()); n += 1) {
        expect(n).toBeLessThan(turns);
        await earlier(scrollToStart);
      }
      const numbers = await turnsShown();
      const first = numbers[0] ?? 0;
      expect(numbers).toEqual(Array.from({ length: turns - first + 1 }, (_, n) => first + n));
      if (whole) {
        expect(first).toBe(2);
        await page.getByText("The first words of all").first().waitFor();
      } else expect(await nodes()).toBeLessThan(2 * NODES_MOST);
      expect(await page.locator("[data-state=waiting], [data-state=running]").count()).toBe(0);
      expect(problems).toEqual([]);
    });

    test("that has more waiting messages than a page of events shows them in their order", {
      timeout: 120_000,
    }, async () => {
      const client = await service.client();
      const waiting = await session(client, { permission_mode: "ask" });
      script(
        service.model,
        waiting,
        { tools: [write(waiting.at("a.md"))] },
        { text: "It is done." },
      );
      await untilPaused(client, waiting, "May it be written?");
      for (const from of [0, 40, 80]) {
        const events = Array.from({ length: 40 }, (_, n) => say(`Then number ${from + n}.`));
        await client.beta.sessions.events.send(waiting.id, { events });
      }
      await page.goto(`${service.url}/#session=${waiting.id}`);
      await page.reload();
      await page.getByText("Waiting for an answer to a tool").waitFor();
      const held = page.locator("[data-testid=message][data-state=waiting]");
      await expect.poll(() => held.count()).toBe(100);
      expect(await page.getByTestId("allow").count()).toBe(0);

      await page.locator("button[data-testid=load-earlier]").dispatchEvent("click");
      await page.getByTestId("allow").waitFor();
      expect(await held.locator(".text").allInnerTexts()).toEqual(
        Array.from({ length: 120 }, (_, n) => `Then number ${n}.`),
      );
      await page.getByTestId("allow").click();
      await page.getByText("It is done.").waitFor();
      await expect.poll(() => held.count(), { timeout: 60_000 }).toBe(0);
      const told = page.locator("[data-testid=message][data-role=user] .text");
      expect(await told.allInnerTexts()).toEqual([
        "May it be written?",
        ...Array.from({ length: 120 }, (_, n) => `Then number ${n}.`),
      ]);
    });

    /** The call of a turn, by the file that it read. */
    function call(n: number) {
      return page.getByTestId("tool-call").filter({
        has: page.locator(`.tool-subject[title$="/grown-${n}.txt"]`),
      });
    }

    async function turnsShown(): Promise<number[]> {
      const titles = await page
        .locator(".tool-subject")
        .evaluateAll((all) => all.map((one) => one.getAttribute("title") ?? ""));
      return titles.map((title) => Number(/grown-(\d+)\.txt$/.exec(title)?.[1]));
    }

    async function earlier(ask: () => Promise<void>): Promise<void> {
      const shown = await page.getByTestId("tool-call").count();
      await ask();
      await expect.poll(() => page.getByTestId("tool-call").count()).toBeGreaterThan(shown);
    }

    function scrollToStart(): Promise<void> {
      return page.getByTestId("conversation").evaluate((node) => {
        node.scrollTop = 0;
      });
    }

    function nodes(): Promise<number> {
      return page.evaluate(() => document.querySelectorAll("*").length);
    }

    async function grow(id: string, count: number): Promise<void> {
      const name = encodeURIComponent(JSON.stringify([service.org, "ann", id]));
      for (let made = 0; made < count; made += GROW_AT_ONCE) {
        const response = await fetch(`${service.url}/bench/grow?name=${name}`, {
          method: "POST",
          body: JSON.stringify({
            turns: Math.min(GROW_AT_ONCE, count - made),
            extracted: true,
            resultSize: 2_000,
            model: "claude-opus-5-5",
          }),
        });
        if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
        await response.body?.cancel();
      }
    }
  });
}

async function inView(locator: ReturnType<Page["locator"]>): Promise<boolean> {
  return locator.evaluate((node) => {
    const { top, bottom } = node.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  });
}
