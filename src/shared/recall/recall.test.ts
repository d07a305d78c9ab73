import { describe, expect, it, test, vi } from "vitest";
import { SCAN_FILES } from "../limits/memory.ts";
import {
  RECALL_FILE_BYTES,
  RECALL_QUERY_CHARACTERS,
  RECALL_RECENT_CHARACTERS,
  RECALL_SELECT_MS,
  RECALL_SESSION_BYTES,
  RECALL_TOKENS,
  RECALL_TURN_BYTES,
  RECALL_VERIFY_MS,
} from "../limits/recall.ts";
import { byteLength } from "../text/bytes.ts";
import type { ChooseRequest } from "./choose.ts";
import {
  discardRecall,
  type Recalled,
  type RecallInput,
  type RecallPorts,
  recall,
  wantsRecall,
  withoutRead,
} from "./recall.ts";
import {
  bytesOf,
  candidate,
  DAY,
  DIRECTORY,
  input,
  NOW,
  portsOf,
  storeOf,
} from "./recall-fixture.ts";

const MEMORIES = {
  "deploy.md": "---\nname: Deploy\n---\nWe deploy on Mondays.",
  "coffee.md": "Oat milk.",
};
const NEVER = new Promise<never>(() => undefined);

/** Time is up for everything that does not answer at once. */
const impatient: RecallPorts["within"] = (_ms, work) =>
  Promise.race([work, new Promise<undefined>((resolve) => setTimeout(resolve, 0))]);

const bodies = ({ attachment = "" }: Recalled) =>
  [...attachment.matchAll(/<memory path="[^"]*">\n([\s\S]*?)\n<\/memory>/g)].map(
    ([, body = ""]) => body,
  );

test.each([
  ["thanks", false],
  ["谢谢", false],
  ["", false],
  ["when do we deploy", true],
  ["部署规则是什么", true],
])("%j is searched for: %s", (message, wanted) => {
  expect(wantsRecall(message)).toBe(wanted);
});

describe("a search for memories", () => {
  it("scans, lets the model choose, reads, and attaches what it says of itself", async () => {
    const times = [0, 5, 25, 32].map((ms) => NOW + ms);
    const requests: ChooseRequest[] = [];
    const recalled = await recall(
      input({ toolsInUse: ["Read"] }),
      portsOf(MEMORIES, [], {
        scan: async () => [
          candidate("deploy.md", { type: "project", updatedAt: NOW - 47 * DAY }),
          candidate("coffee.md", { updatedAt: Number.NaN }),
        ],
        choose: async (request) => {
          requests.push(request);
          return {
            status: "answered",
            text: '{"selected_memories":["coffee.md","deploy.md","x"]}',
          };
        },
        now: () => times.shift() ?? 0,
      }),
    );
    expect(recalled.explanation).toEqual({
      offered: 2,
      selected: [
        { path: "coffee.md", type: null, age_days: null, bytes: 9 },
        { path: "deploy.md", type: "project", age_days: 47, bytes: 21 },
      ],
      dropped: [{ path: "x", reason: "not_in_list" }],
      source: "model",
      timings_ms: { scan: 5, select: 20, read: 7 },
    });
    expect(recalled.candidates).toEqual(["deploy.md", "coffee.md"]);
    expect(recalled.shown).toEqual([
      { id: "mem_coffee.md", path: "coffee.md", bytes: 9 },
      { id: "mem_deploy.md", path: "deploy.md", bytes: 21 },
    ]);
    expect(bodies(recalled)).toEqual([MEMORIES["coffee.md"], "We deploy on Mondays."]);
    expect(recalled.attachment).toContain(`<memory path="${DIRECTORY}/deploy.md">`);
    expect(recalled.attachment).toContain("Changed 2026-10-14, 47 days ago:");
    expect(recalled.attachment).toContain("Changed unknown age:");
    const [request] = requests;
    expect(requests).toHaveLength(1);
    expect(request?.maxTokens).toBe(RECALL_TOKENS);
    expect(request?.message).toMatch(/<query>\nwhen do we deploy\?\n.*deploy\.md.*now: Read\n/s);
  });

  it("asks the scan for more by what is not to be offered again, and offers no more", async () => {
    const names = Array.from({ length: 300 }, (_, at) => `m${String(at).padStart(3, "0")}.md`);
    const memories = Object.fromEntries(names.map((name) => [name, "x"]));
    const ports = portsOf(memories, ["m000.md"]);
    const scan = vi.spyOn(ports, "scan");
    const shown = new Set(names.slice(0, 30).map((name) => `mem_${name}`));
    const read = new Set(names.slice(30, 50));
    const recalled = await recall(input({ shown, read }), ports);
    expect(scan.mock.calls).toEqual([[SCAN_FILES + 50]]);
    expect(recalled.candidates).toEqual(names.slice(50, 50 + SCAN_FILES));
    expect(recalled.explanation.selected).toEqual([]);
    expect(recalled.explanation.dropped).toHaveLength(51);
    expect(recalled.explanation.dropped.at(-1)).toEqual({ path: "m000.md", reason: "not_in_list" });
  });

  it.each([
    ["there is no memory", {}, input()],
    [
      "all were shown or read",
      MEMORIES,
      input({ shown: new Set(["mem_deploy.md"]), read: new Set(["coffee.md"]) }),
    ],
  ])("asks no model where %s", async (_why, memories, asked) => {
    const ports = portsOf(memories, []);
    const choose = vi.fn(ports.choose);
    const { explanation, attachment } = await recall(asked, { ...ports, choose });
    expect(choose).not.toHaveBeenCalled();
    expect(explanation).toMatchObject({ offered: 0, source: "none", selected: [] });
    expect(explanation.fallback).toBeUndefined();
    expect(attachment).toBeUndefined();
  });

  it("attaches nothing where the model chooses nothing", async () => {
    const recalled = await recall(input(), portsOf(MEMORIES, []));
    expect(recalled.explanation).toMatchObject({ offered: 2, source: "model", selected: [] });
    expect([recalled.attachment, recalled.shown]).toEqual([undefined, []]);
  });

  it("comes without a word where the scan fails", async () => {
    const scan = () => Promise.reject(new Error("down"));
    const { explanation, candidates } = await recall(input(), portsOf(MEMORIES, [], { scan }));
    expect(explanation).toMatchObject({ offered: 0, source: "none", fallback: "scan_failed" });
    expect(candidates).toEqual([]);
  });
});

describe("REC-01, REC-02: where the model's choice does not count", () => {
  const cases: [string, Partial<RecallPorts>][] = [
    ["rejected", { choose: async () => ({ status: "failed", cause: "rejected" }) }],
    ["late", { choose: () => NEVER, within: impatient }],
    ["unreadable", { choose: async () => ({ status: "answered", text: "{}" }) }],
    ["budget", { choose: undefined }],
    ["unmasked", { mask: () => Promise.reject(new Error("the scanner fails")) }],
    ["failed", { choose: () => Promise.reject(new Error("a port that breaks its promise")) }],
  ];

  it.each(cases)("(%s) the words choose after one attempt", async (fallback, more) => {
    const ports = portsOf(MEMORIES, [], more);
    const choose = ports.choose && vi.fn(ports.choose);
    const recalled = await recall(input(), { ...ports, choose });
    expect(recalled.explanation).toMatchObject({ source: "words", fallback });
    expect(recalled.shown.map(({ path }) => path)).toEqual(["deploy.md"]);
    expect(recalled.worthKeeping).toBeUndefined();
    if (choose) expect(choose).toHaveBeenCalledTimes(fallback === "unmasked" ? 0 : 1);
  });

  it.each(cases)("(%s) nobody does, if that is wanted", async (fallback, more) => {
    const recalled = await recall(input({ fallback: "none" }), portsOf(MEMORIES, [], more));
    expect(recalled.explanation).toMatchObject({
      source: "none",
      fallback,
      selected: [],
      offered: 2,
    });
    expect(recalled.attachment).toBeUndefined();
  });

  it("waits for it for ten seconds", async () => {
    const waits: number[] = [];
    const within: RecallPorts["within"] = (ms, work) => {
      waits.push(ms);
      return work;
    };
    await recall(input(), portsOf(MEMORIES, ["deploy.md"], { within }));
    expect(waits).toEqual([RECALL_SELECT_MS]);
  });
});

describe("what the small model is told", () => {
  const asked = async (more: Partial<RecallInput>, ports: Partial<RecallPorts> = {}) => {
    const requests: ChooseRequest[] = [];
    const choose: RecallPorts["choose"] = async (request) => {
      requests.push(request);
      return { status: "answered", text: '{"selected_memories":[]}' };
    };
    await recall(input(more), portsOf(MEMORIES, [], { choose, ...ports }));
    return requests[0]?.message ?? "";
  };
  const mask: RecallPorts["mask"] = async (text) => text.replaceAll(/SECRETx{60}/g, "[secret]");

  it("holds no secret of the message or of what was said before it, also where a cut would halve it", async () => {
    const secret = `SECRET${"x".repeat(60)}`;
    for (const before of [10, RECALL_QUERY_CHARACTERS - 30]) {
      const message = `${"a ".repeat(before / 2)}${secret} end`;
      const text = await asked({ message }, { mask });
      expect(text).not.toContain("SECRET");
    }
    for (const before of [10, RECALL_RECENT_CHARACTERS - 30]) {
      const text = `${"a ".repeat(before / 2)}${secret}${" b".repeat(300)}`;
      const recent = [{ by: "user" as const, text }];
      const told = await asked({ recent }, { mask });
      expect(told).toMatch(/<recent>\nuser: a /);
      expect(told).not.toContain("SECRET");
    }
  });

  it("is searched by the words as they are where the model does not choose", async () => {
    const memories = { "secretx.md": "One two three four." };
    const ports = portsOf(memories, [], {
      mask,
      choose: async () => ({ status: "failed", cause: "x" }),
    });
    const { shown } = await recall(input({ message: "where is SECRETX now" }), ports);
    expect(shown).toHaveLength(1);
  });
});

it.each([
  ["{}", undefined],
  ['{"selected_memories":[]}', undefined],
  ['{"selected_memories":[],"worth_keeping":"no"}', undefined],
  ['{"selected_memories":[],"worth_keeping":true}', true],
  ['```json\n{"selected_memories":[],"worth_keeping":false}\n```', false],
])("an answer %j says of the message's worth: %s", async (text, worth) => {
  const choose: RecallPorts["choose"] = async () => ({ status: "answered", text });
  const recalled = await recall(input(), portsOf(MEMORIES, [], { choose }));
  expect(recalled.worthKeeping).toBe(worth);
  expect(discardRecall(recalled).worthKeeping).toBe(worth);
  expect(withoutRead(recalled, new Set(["deploy.md"])).worthKeeping).toBe(worth);
});

it.each([
  ["is cut", `What is this? ${"a ".repeat(RECALL_QUERY_CHARACTERS)} We moved to Oslo.`],
  ["had a secret", "What is SECRET here, and who has it?"],
])("of a message that %s nobody says that it states nothing", async (_what, message) => {
  const says = (worth: boolean): Partial<RecallPorts> => ({
    mask: async (text) => text.replace("SECRET", "[secret]"),
    choose: async () => ({
      status: "answered",
      text: `{"selected_memories":[],"worth_keeping":${worth}}`,
    }),
  });
  const worthOf = async (worth: boolean) =>
    (await recall(input({ message }), portsOf(MEMORIES, [], says(worth)))).worthKeeping;
  expect([await worthOf(false), await worthOf(true)]).toEqual([undefined, true]);
});

test("TRUTH-06: an attachment names the date of the last change, and can be read rightly weeks later", async () => {
  const scan = async () => [
    candidate("deploy.md", { updatedAt: NOW - 60_000 }),
    // Clocks differ: nothing was changed tomorrow.
    candidate("coffee.md", { updatedAt: NOW + DAY }),
  ];
  const ports = portsOf(MEMORIES, ["deploy.md", "coffee.md"], { scan });
  const { attachment = "" } = await recall(input(), ports);
  expect(attachment.match(/^Changed .*$/gm)).toEqual(Array(2).fill("Changed 2026-11-30, today:"));
  // Three weeks later: the other session's search names the same day.
  const later = await recall(input(), { ...ports, now: () => NOW + 21 * DAY });
  expect(later.attachment).toContain("Changed 2026-11-30, 21 days ago:");
  expect(later.attachment).toContain("This memory was written 21 days ago");
});

describe("REC-09: a file that cannot be read", () => {
  const bad: Record<string, () => Promise<Uint8Array | undefined>> = {
    "binary.md": async () => new Uint8Array([0xff, 0xfe, 0x00]),
    "deleted.md": async () => undefined,
    "empty.md": async () => new Uint8Array(0),
    "rejects.md": () => Promise.reject(new Error("down")),
  };

  it("costs no other one its place", async () => {
    const names = [...Object.keys(bad), "deploy.md"];
    const recalled = await recall(
      input(),
      portsOf(MEMORIES, names, {
        scan: async () => names.map((name) => candidate(name)),
        read: (path) => bad[path]?.() ?? Promise.resolve(bytesOf(MEMORIES["deploy.md"])),
      }),
    );
    expect(recalled.explanation.offered).toBe(5);
    expect(recalled.explanation.dropped).toEqual(
      Object.keys(bad).map((path) => ({ path, reason: "unreadable" })),
    );
    expect(recalled.shown.map(({ path }) => path)).toEqual(["deploy.md"]);
  });
});

describe("the limits", () => {
  it("REC-06: a big memory is cut and marked, four small ones stand beside it", async () => {
    const small = Object.fromEntries([1, 2, 3, 4].map((n) => [`s${n}.md`, "x".repeat(1024)]));
    const text = `---\nname: Big\n---\n${"a line of the big one\n".repeat(1862)}`;
    const memories = { "big.md": text, ...small };
    const recalled = await recall(input(), portsOf(memories, Object.keys(memories)));
    expect(recalled.shown.map(({ path }) => path)).toEqual(Object.keys(memories));
    expect(recalled.attachment).toMatch(/\[Cut here: \d+ bytes are shown, the file has 40982\./);
    expect(recalled.explanation.dropped).toEqual([]);
  });

  it("REC-11: five memories in CJK stay within their bytes, and the session's within its own", async () => {
    const names = ["a.md", "b.md", "c.md", "d.md", "e.md"];
    const memories = Object.fromEntries(names.map((name) => [name, "测试环境".repeat(1000)]));
    const recalled = await recall(input(), portsOf(memories, names));
    const sizes = bodies(recalled).map(byteLength);
    expect(sizes).toEqual(recalled.shown.map(({ bytes }) => bytes));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(RECALL_FILE_BYTES);
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(RECALL_TURN_BYTES);
    expect(recalled.attachment).not.toContain("\ufffd");
    const late = await recall(
      input({ sessionBytes: RECALL_SESSION_BYTES - 2 * RECALL_FILE_BYTES }),
      portsOf({ ...memories, "e.md": "x" }, names),
    );
    expect(late.shown.map(({ path }) => path)).toEqual(["a.md", "b.md", "e.md"]);
    expect(late.explanation.dropped).toEqual([
      { path: "c.md", reason: "session_limit" },
      { path: "d.md", reason: "session_limit" },
    ]);
  });
});

describe("TRUST-02: what memories name", () => {
  const memories = { "m.md": "auth lives in src/auth/login.ts, see notes/x.md", "notes/x.md": "x" };
  const workspaceOf = async () => ({
    store: await storeOf({ "a.ts": "" }),
    at: "/w",
    project: "/w",
  });

  it("is checked before it is attached; other memories are no claims", async () => {
    const workspace = await workspaceOf();
    const { attachment } = await recall(input(), portsOf(memories, ["m.md"], { workspace }));
    expect(attachment).toContain(
      'Could not confirm: `src/auth/login.ts` is not there any more\n<memory path="',
    );
    expect(attachment).not.toContain("`notes/x.md`");
  });

  it("is not spoken of where the check is late, fails, or nobody can look", async () => {
    const workspace = await workspaceOf();
    workspace.store.head = () => NEVER;
    const waits: number[] = [];
    const within: RecallPorts["within"] = (ms, work) => {
      waits.push(ms);
      return impatient(ms, work);
    };
    const broken: RecallPorts["within"] = (ms, work) =>
      ms === RECALL_VERIFY_MS ? Promise.reject(new Error("broken")) : work;
    const ports: Partial<RecallPorts>[] = [
      { workspace, within },
      { workspace, within: broken },
      {},
    ];
    for (const more of ports) {
      const recalled = await recall(input(), portsOf(memories, ["m.md"], more));
      expect(recalled.shown).toHaveLength(1);
      expect(recalled.attachment).not.toContain("Could not confirm");
    }
    expect(waits).toEqual([RECALL_SELECT_MS, RECALL_VERIFY_MS]);
  });
});

test("a recall that came too late says so of what it had chosen, and nothing was shown", async () => {
  const recalled = await recall(input(), portsOf(MEMORIES, ["deploy.md", "x"]));
  const late = discardRecall(recalled);
  expect(late).toEqual({
    explanation: {
      ...recalled.explanation,
      selected: [],
      dropped: [
        { path: "x", reason: "not_in_list" },
        { path: "deploy.md", reason: "not_used" },
      ],
    },
    candidates: recalled.candidates,
    attachment: undefined,
    attached: [],
    shown: [],
    worthKeeping: undefined,
  });
});

test("what the model read while it was searched for is taken out, and said so", async () => {
  const recalled = await recall(input(), portsOf(MEMORIES, ["deploy.md", "coffee.md"]));
  expect(bodies(recalled)).toHaveLength(2);
  expect(withoutRead(recalled, new Set(["other.md"]))).toBe(recalled);

  const one = withoutRead(recalled, new Set(["deploy.md"]));
  expect(bodies(one)).toEqual(["Oat milk."]);
  expect(one.shown).toEqual([{ id: "mem_coffee.md", path: "coffee.md", bytes: 9 }]);
  expect(one.explanation.selected.map(({ path }) => path)).toEqual(["coffee.md"]);
  expect(one.explanation.dropped).toEqual([{ path: "deploy.md", reason: "already_read" }]);

  const none = withoutRead(recalled, new Set(["deploy.md", "coffee.md"]));
  expect(none).toMatchObject({ attachment: undefined, attached: [], shown: [] });
});
