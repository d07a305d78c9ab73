import { describe, expect, it } from "vitest";
import { memoryBase, memoryPath } from "./memory-path.ts";

/** PATH-08. */
const REFUSED: [raw: string, rule: string][] = [
  ["", "empty"],
  ["   ", "empty"],
  ["/", "near_root"],
  ["/.", "near_root"],
  ["//", "unc"],
  ["/a", "near_root"],
  ["/a/", "near_root"],
  ["/./a//", "near_root"],
  ["relative/x", "relative"],
  ["./.claude/memory", "relative"],
  ["~", "home"],
  ["~/", "home"],
  ["~/.", "home"],
  ["~/./", "home"],
  ["~/..", "dot_dot"],
  ["~/../ann/mem", "dot_dot"],
  ["~//etc/x", "absolute"],
  ["~root/x", "home"],
  ["~user/", "home"],
  ["~\\x", "home"],
  ["\uff5e/x", "relative"],
  ["C:", "drive"],
  ["C:\\", "drive"],
  ["C:\\data\\mem", "drive"],
  ["c:/", "drive"],
  ["c:mem/x", "drive"],
  ["/C:/mem", "drive"],
  ["\\\\srv\\share\\m", "unc"],
  ["//srv/share/m", "unc"],
  ["\\\\?\\UNC\\srv\\share\\m", "unc"],
  ["/mem\u0000ory", "control_character"],
  ["/data/mem\n", "control_character"],
  ["/tmp/../..", "dot_dot"],
  ["/data/mem/../../etc", "dot_dot"],
  [" /data/mem", "relative"],
  ["/data/mem ", "whitespace"],
  ["/data/%2e%2e/mem", "percent_encoding"],
  ["/data\u2215mem/x", "look_alike"],
  ["/data/．．/mem", "dots_only"],
  ["/etc/claude-code", "reserved"],
  ["/etc/claude-code/memory", "reserved"],
  ["/workspace/app", "reserved"],
  ["/workspace/app/memory", "reserved"],
  ["~/.claude", "reserved"],
  ["~/.claude/projects/x/memory", "reserved"],
  ["/home/.claude", "reserved"],
  ["/home//./.claude/x", "reserved"],
];

const ACCEPTED: [raw: string, path: string][] = [
  ["/data/mem", "/data/mem"],
  ["/data/mem/", "/data/mem"],
  ["/data//./mem", "/data/mem"],
  ["~/mem", "/home/mem"],
  ["~/a/b/", "/home/a/b"],
  ["~/.claude-memory", "/home/.claude-memory"],
  ["/etc/claude-code-memory", "/etc/claude-code-memory"],
  ["/workspaces/app", "/workspaces/app"],
  ["/data/e\u0301te\u0301", "/data/été"],
  ["/data/会议", "/data/会议"],
];

describe("PATH-08: a memory directory", () => {
  it.each(REFUSED)("%j is refused by the rule %s, which the message explains", (raw, rule) => {
    expect(memoryPath(raw)).toEqual({
      status: "refused",
      rule,
      message: expect.stringMatching(/^Cannot use path ".*": .{10}/),
    });
  });
  it.each(ACCEPTED)("%j is the directory %j", (raw, path) => {
    expect(memoryPath(raw)).toEqual({ status: "ok", path });
  });
  it("the message shows what was written, not what it was expanded to", () => {
    expect(memoryPath("~/a/../b")).toMatchObject({
      message: expect.stringContaining('"~/a/../b"'),
    });
  });
});

describe("the base of all memory directories", () => {
  it("may be one directory below the root, and no less", () => {
    expect(memoryBase("/memory")).toEqual({ status: "ok", path: "/memory" });
    expect(memoryBase("~/mem/")).toEqual({ status: "ok", path: "/home/mem" });
    expect(memoryBase("/")).toMatchObject({ rule: "near_root" });
  });
  it.each(REFUSED.filter(([, rule]) => rule !== "near_root"))(
    "%j is refused by the rule %s",
    (raw, rule) => {
      expect(memoryBase(raw)).toMatchObject({ status: "refused", rule });
    },
  );
});
