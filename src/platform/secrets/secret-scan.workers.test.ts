import { expect, it } from "vitest";
import { createSecretScan } from "./secret-scan.ts";
import { describeSecretScan, KEYS, pem } from "./secret-scan-fixture.ts";

const scan = createSecretScan();

describeSecretScan(scan);

it("finds private keys and keys in a file's name", async () => {
  const text = `a\n${pem("PRIVATE KEY", "\r\n", "  ")}`;
  const path = `notes/${KEYS["a GitHub token"]}.md`;
  expect(await scan({ path, text })).toEqual([
    { rule: "github", line: 0 },
    { rule: "privatekey", line: 2 },
  ]);
});

it("reads a file of the largest size", async () => {
  expect(await scan({ path: "a.md", text: "a".repeat(250_000) })).toEqual([]);
});
