import { expect, test } from "vitest";
import { chunksOf } from "./chunks.ts";

test("texts go together and bytes as they are, in their order", () => {
  const large = new Uint8Array([1, 2, 3]);
  const chunks = chunksOf(["a", "\u00fc", large, "b", "", "c"]);
  expect(chunks.map((chunk) => [...chunk])).toEqual([
    [0x61, 0xc3, 0xbc],
    [1, 2, 3],
    [0x62, 0x63],
  ]);
  expect(chunks[1]).toBe(large);
  expect(chunksOf([])).toEqual([]);
});
