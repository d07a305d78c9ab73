import { expect, it } from "vitest";
import { secretRefusal } from "./secret-scan.ts";

it("a refusal names the file, each rule with its line, and the next step", () => {
  const hits = [
    { rule: "github", line: 3 },
    { rule: "privatekey", line: 12 },
  ];
  expect(secretRefusal("/memory/a.md", hits)).toBe(
    'Cannot write "/memory/a.md": it holds what looks like a secret (github on line 3, privatekey on line 12). Nothing was written; replace the value by where it is kept (such as a password manager) and write again',
  );
});

it("a refusal for a secret in the name does not repeat the name", () => {
  const message = secretRefusal("/memory/ghp_secret.md", [
    { rule: "github", line: 0 },
    { rule: "github", line: 1 },
  ]);
  expect(message).toContain("the file: ");
  expect(message).toContain("(github in the name, github on line 1)");
  expect(message).toContain("choose a name without it, replace the value");
  expect(message).not.toContain("ghp_secret");
});

it("a refusal stays short, however many hits there are", () => {
  const hits = Array.from({ length: 50 }, (_, at) => ({ rule: "github", line: at + 1 }));
  expect(secretRefusal("a.md", hits)).toContain("on line 8, and 42 more)");
});
