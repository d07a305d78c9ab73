import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RECALL_BEGIN_MS, RECALL_LATEST_MS } from "../../../src/shared/limits/recall.ts";
import { searchStart } from "./search-start.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

function started() {
  const begin = vi.fn<() => void>();
  return { begin, ...searchStart(begin) };
}

test("a search begins when the model speaks, and not before its time", () => {
  const quick = started();
  quick.asked();
  quick.speaks();
  vi.advanceTimersByTime(RECALL_BEGIN_MS - 1);
  expect(quick.begin).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(quick.begin).toHaveBeenCalledTimes(1);

  const slow = started();
  slow.asked();
  vi.advanceTimersByTime(RECALL_BEGIN_MS + 1);
  expect(slow.begin).not.toHaveBeenCalled();
  slow.speaks();
  slow.speaks();
  expect(slow.begin).toHaveBeenCalledTimes(1);
  vi.runAllTimers();
  expect([quick, slow].map(({ begin }) => begin.mock.calls.length)).toEqual([1, 1]);
});

test("it waits for a model that says nothing, but not long, and a second request changes nothing", () => {
  const { begin, asked } = started();
  asked();
  vi.advanceTimersByTime(RECALL_LATEST_MS - 1);
  asked();
  expect(begin).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(begin).toHaveBeenCalledTimes(1);
  vi.runAllTimers();
  expect(begin).toHaveBeenCalledTimes(1);
});

test.each([
  ["at first", 0],
  ["while it waits for the model", RECALL_BEGIN_MS],
])("one that is stopped %s never begins", (_when, ms) => {
  const { begin, asked, stop } = started();
  asked();
  vi.advanceTimersByTime(ms);
  stop();
  vi.runAllTimers();
  expect(begin).not.toHaveBeenCalled();
});
