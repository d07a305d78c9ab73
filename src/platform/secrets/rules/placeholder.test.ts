import { expect, it } from "vitest";
import { isPlaceholder, isWords } from "./placeholder.ts";

it("a value is a placeholder only when one character is more than half of it", () => {
  expect(isPlaceholder("Z9".repeat(18))).toBe(false);
  expect(isPlaceholder(`${"Z9".repeat(18)}z`)).toBe(true);
});

it("random values are neither placeholders nor words", () => {
  for (const value of ["q7Zx2LmP9vRt4KsWn8Yb", "9f86d081884c7d659a2feaa0", "k3f-x7qp2-9zz1a"]) {
    expect.soft(isPlaceholder(value) || isWords(value), value).toBe(false);
  }
});

it("what is made of words is no key, however it is joined", () => {
  for (const value of ["prod/db-password-2024", "getAuthToken2", "OPENAI_API_KEY", "v1.2.3"]) {
    expect.soft(isWords(value), value).toBe(true);
  }
});
