// Imports of the files layer are for the test alone: a real store is what the reader will be.
import { describe, expect, it } from "vitest";
import { createMapStore } from "../files/map-store.ts";
import { gitRoot } from "./git-root.ts";

const WORKSPACE = "/workspace/w";

async function rootOf(project: string, files: Record<string, string | Uint8Array>) {
  const store = createMapStore(() => 0);
  for (const [path, text] of Object.entries(files)) {
    await store.put(path, typeof text === "string" ? new TextEncoder().encode(text) : text);
  }
  return gitRoot(store, project, WORKSPACE);
}

const MAIN = { "r/app/.git/HEAD": "ref: refs/heads/main\n", "r/app/src/a.ts": "" };
const TREE = "r/app/.worktrees/2573";
const POINTER = `${WORKSPACE}/r/app/.git/worktrees/2573`;

describe("the canonical git root", () => {
  it("is the first folder upwards that holds .git", async () => {
    for (const project of ["r/app", "r/app/src", "r/app/src/deep/down"]) {
      expect(await rootOf(`${WORKSPACE}/${project}`, MAIN)).toEqual({ root: `${WORKSPACE}/r/app` });
    }
    const nested = { ...MAIN, "r/app/vendor/lib/.git/HEAD": "" };
    expect(await rootOf(`${WORKSPACE}/r/app/vendor/lib`, nested)).toEqual({
      root: `${WORKSPACE}/r/app/vendor/lib`,
    });
  });

  it("may be the workspace itself, and is looked for no higher", async () => {
    expect(await rootOf(`${WORKSPACE}/src`, { ".git/HEAD": "" })).toEqual({ root: WORKSPACE });
    expect(await rootOf(WORKSPACE, {})).toEqual({ root: WORKSPACE });
  });

  it("is the project itself without git, beside another repository, and outside the workspace", async () => {
    for (const project of [
      `${WORKSPACE}/x/y`,
      `${WORKSPACE}/r/app-evil`,
      "/srv/acme/app",
      "/workspace/w-evil",
    ]) {
      expect(await rootOf(project, MAIN)).toEqual({ root: project });
    }
  });

  it("is not found by names that only begin like .git", async () => {
    const files = { "r/.gitignore": "", "r/.github/x": "", "r/.git-x/y": "" };
    expect(await rootOf(`${WORKSPACE}/r`, files)).toEqual({ root: `${WORKSPACE}/r` });
    expect(await rootOf(`${WORKSPACE}/r/a`, files)).toEqual({ root: `${WORKSPACE}/r/a` });
  });
});

describe("PATH-05: a linked worktree", () => {
  it.each([
    ["absolute", `gitdir: ${POINTER}\n`],
    ["without a line end", `gitdir: ${POINTER}`],
    ["with CRLF", `gitdir: ${POINTER}\r\n`],
    ["relative", "gitdir: ../../.git/worktrees/2573\n"],
    ["relative, the long way round", "gitdir: ./../../../app//.git/worktrees/2573\n"],
  ])("shares its main folder's memory: %s", async (_, pointer) => {
    for (const project of [TREE, `${TREE}/src`]) {
      expect(
        await rootOf(`${WORKSPACE}/${project}`, { ...MAIN, [`${TREE}/.git`]: pointer }),
      ).toEqual({
        root: `${WORKSPACE}/r/app`,
      });
    }
  });

  it("of the workspace's own repository shares it too", async () => {
    const files = { ".git/HEAD": "", "wt/.git": "gitdir: ../.git/worktrees/wt\n" };
    expect(await rootOf(`${WORKSPACE}/wt`, files)).toEqual({ root: WORKSPACE });
  });

  const MALFORMED: [string, string | Uint8Array, RegExp][] = [
    ["empty", "", /not one line/],
    ["blank", "\r\n", /not one line/],
    ["no pointer", "ref: x\n", /not one line/],
    ["without a path", "gitdir: \n", /not one line/],
    ["of two lines", `gitdir: ${POINTER}\ngitdir: /x\n`, /not one line/],
    ["not UTF-8", new Uint8Array([0x67, 0xff, 0xfe]), /not one line/],
    ["too long", `gitdir: ${POINTER}${"/x".repeat(3000)}`, /longer than 4096 bytes/],
    ["out of the workspace", "gitdir: /workspace/other/.git/worktrees/x\n", /out of its workspace/],
    ["to a neighbour with the same prefix", "gitdir: /workspace/w-evil/.git/worktrees/x", /out of/],
    [
      "to another tenant",
      "gitdir: ../../../../../../t/other/.git/worktrees/x",
      /out of|cannot be used/,
    ],
    [
      "to another tenant's name within",
      "gitdir: ../../../other-tenant/.git/worktrees/x\n",
      /not in this workspace/,
    ],
    ["above the root", `gitdir: ${"../".repeat(20)}etc/.git/worktrees/x\n`, /cannot be used/],
    ["with a NUL", `gitdir: ${POINTER}\u0000`, /cannot be used/],
    ["percent-encoded", "gitdir: ..%2f..%2f.git/worktrees/2573", /cannot be used/],
    ["with look-alike dots", "gitdir: ．．/．．/.git/worktrees/2573", /cannot be used/],
    ["of another system", "gitdir: C:/r/app/.git/worktrees/2573\r\n", /cannot be used/],
    ["of a share", "gitdir: //srv/app/.git/worktrees/2573", /cannot be used/],
    ["to no worktree", `gitdir: ${WORKSPACE}/r/app/.git\n`, /does not point to/],
    ["too deep", `gitdir: ${POINTER}/more\n`, /does not point to/],
    [
      "to the worktrees' folder",
      `gitdir: ${WORKSPACE}/r/app/.git/worktrees/\n`,
      /does not point to/,
    ],
    [
      "to what is not there",
      `gitdir: ${WORKSPACE}/gone/.git/worktrees/x\n`,
      /not in this workspace/,
    ],
    ["to the parent of the workspace", "gitdir: /workspace/.git/worktrees/w\n", /out of/],
  ];
  it.each(MALFORMED)(
    "has its own memory where its pointer is %s, and says why",
    async (_, pointer, reason) => {
      const result = await rootOf(`${WORKSPACE}/${TREE}`, { ...MAIN, [`${TREE}/.git`]: pointer });
      expect(result).toEqual({
        root: `${WORKSPACE}/${TREE}`,
        diagnostic: expect.stringMatching(reason),
      });
    },
  );

  it("a submodule is a project of its own, and nothing is wrong with it", async () => {
    const files = { ...MAIN, "r/app/lib/.git": "gitdir: ../.git/modules/lib\n" };
    expect(await rootOf(`${WORKSPACE}/r/app/lib`, files)).toEqual({
      root: `${WORKSPACE}/r/app/lib`,
    });
  });

  it("whose main folder is itself a pointer is not followed on", async () => {
    const files = {
      "a/.git": "gitdir: ../b/.git/worktrees/a\n",
      "b/.git": "gitdir: ../a/.git/worktrees/b\n",
    };
    expect((await rootOf(`${WORKSPACE}/a`, files)).root).toBe(`${WORKSPACE}/a`);
  });
});

it("a very deep project costs a bounded number of storage calls", async () => {
  const store = createMapStore(() => 0);
  let calls = 0;
  const counted = {
    ...store,
    head: (path: string) => {
      calls += 1;
      return store.head(path);
    },
  };
  const deep = `${WORKSPACE}${"/a".repeat(400)}`;
  expect(await gitRoot(counted, deep, WORKSPACE)).toEqual({ root: deep });
  expect(calls).toBeLessThanOrEqual(64);
});
