import { expect, it } from "vitest";
import { systemPrompt } from "./system-prompt.ts";

const input = { system: null, workspace: "/workspace/app", memory: undefined };

it("says where the project lies and where a path without a leading slash leads", () => {
  const [, here] = systemPrompt({ ...input, projectRoot: "/workspace/app/api" });
  expect(here).toMatch(
    /lies at `\/workspace\/app\/api`; a path .* without a leading slash is below/,
  );
  const [, away] = systemPrompt({ ...input, projectRoot: "/home/ann/api" });
  expect(away).toMatch(/below `\/workspace\/app`, and so do paths .* without a leading slash/);
  expect(away).toMatch(/`\/home\/ann\/api`\) is on another machine/);
});

it("says that text beside tool calls is seen", () => {
  const [, files] = systemPrompt({ ...input, projectRoot: "/workspace/app" });
  expect(files).toMatch(/The user sees what you write beside tool calls/);
});
