import { describe, expect, it } from "vitest";
import { createMounts } from "../files/mounts.ts";
import { sandboxDirectory, sandboxFile } from "./sandbox.ts";
import { createMemory, mountOf } from "./tool-fixture.ts";

const AT = "/memory/projects/-home-u-new_dir-app-1f2e/memory";
const mounts = createMounts([
  mountOf(createMemory(), { at: AT, label: "auto memory" }),
  mountOf(createMemory(), { at: "/etc/claude-code", label: "managed", rights: "read" }),
]);

describe("sandboxFile", () => {
  it("PATH-03: a memory path that the model computed itself is denied with the right one", () => {
    const wrong = "/memory/projects/-home-u-new_dir-app/memory/feedback_x.md";
    const result = sandboxFile(mounts, wrong, "write");
    expect(result).toMatchObject({
      status: "refused",
      message: expect.stringContaining(`${AT} (`),
    });
    expect(result).toMatchObject({ message: expect.stringContaining(wrong) });
  });

  it("gives one canonical path for several spellings", () => {
    for (const raw of [`${AT}/d/a.md`, `${AT}//d/./a.md`, `${AT}/d/a.md/`]) {
      expect(sandboxFile(mounts, raw, "write")).toMatchObject({
        status: "file",
        path: `${AT}/d/a.md`,
        relative: "d/a.md",
      });
    }
  });

  it.each([
    "~/notes.md",
    "~",
    "~root/x",
    "notes.md",
    "",
    `${AT}-evil/x.md`,
    `${AT}/../x.md`,
    "/",
    AT,
    `${AT}/`,
    `${AT}/.`,
    "/memory",
    "C:\\Windows\\x",
    "file:///etc/claude-code/x",
  ])("refuses %j and says why", (raw) => {
    const result = sandboxFile(mounts, raw, "read");
    expect(result).toMatchObject({
      status: "refused",
      message: expect.stringMatching(/^Refused: /),
    });
  });

  it("says that ~ leads outside and what may be used", () => {
    const result = sandboxFile(mounts, "~/.ssh/id", "read");
    expect(result).toMatchObject({
      message: expect.stringMatching(/outside.*you may use: .*\/memory/),
    });
  });

  it("lets a read-only place be read, not written", () => {
    expect(sandboxFile(mounts, "/etc/claude-code/CLAUDE.md", "read").status).toBe("file");
    expect(sandboxFile(mounts, "/etc/claude-code/CLAUDE.md", "write")).toMatchObject({
      status: "refused",
      message: expect.stringContaining("read-only"),
    });
  });
});

describe("sandboxDirectory", () => {
  it("takes mounts, what is in them and what is above them", () => {
    for (const path of ["/", "/memory", AT, `${AT}/d`]) {
      expect(sandboxDirectory(mounts, path)).toEqual({ status: "directory", path });
    }
    for (const path of ["/etc/passwd", `${AT}2`, "..", "~"]) {
      expect(sandboxDirectory(mounts, path).status).toBe("refused");
    }
  });
});
