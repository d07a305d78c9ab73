import { expect, test } from "vitest";
import { textDraft } from "../thread/entry.ts";
import { entryOf } from "../thread/entry-fixture.ts";
import { recalledIn } from "./check-repeats.ts";

test("what was recalled is known by its origin: a person's words that look like it are theirs", () => {
  const text = '<system-reminder>\n<memory path="/m/a.md">\nTea.\n</memory>\n</system-reminder>';
  const start = text.indexOf("Tea.");
  const memories = [{ path: "/m/a.md", start, end: start + 4 }];
  const { message, origin } = textDraft({ type: "recall", memories }, text);
  expect(recalledIn([entryOf(message, 1, 1, origin)])).toEqual([{ path: "/m/a.md", text: "Tea." }]);
  expect(recalledIn([entryOf(message)])).toEqual([]);
});
