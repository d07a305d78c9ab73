// What a case of the interrupt fuzzing consists of: a model that calls several tools at random, each
// change with a mark of its own, and the moments at which its turns are struck. All by a seed.

import type { FakeModelOptions, ModelCall } from "../../../dev/fake-model/fake-model.ts";

export interface Random {
  /** A whole number from 0 up to, not including, `below`. */
  below(below: number): number;
  chance(part: number): boolean;
  pick<T>(from: readonly [T, ...T[]]): T;
}

/** The generator "mulberry32": the same numbers for the same seed. */
export function randomOf(seed: number): Random {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const below = (most: number) => Math.floor(next() * most);
  return {
    below,
    chance: (part) => next() < part,
    pick: (from) => from[below(from.length)] ?? from[0],
  };
}

export type Deed = "interrupt" | "kill" | "message";

/** Where in a turn something strikes: the so-manieth time that it comes there. */
export interface Strike {
  at: Moment;
  nth: number;
  deeds: readonly Deed[];
  /** Milliseconds between two deeds. */
  gapMs: number;
}

export const MOMENTS = [
  "acknowledged",
  "soon",
  "token",
  "answer's end",
  "tool begins",
  "tool's effect",
  "memory begins",
  "memory's effect",
  "record",
  "approval",
  "compaction",
  "idle",
] as const;
export type Moment = (typeof MOMENTS)[number];

/** How often, at most, the moment passes by before it is used. */
const MOST: Partial<Record<Moment, number>> = {
  token: 60,
  "answer's end": 3,
  "tool begins": 6,
  "tool's effect": 2,
  "memory begins": 12,
  "memory's effect": 2,
  record: 20,
  compaction: 3,
};

const DEEDS: [Deed[], ...Deed[][]] = [
  ["interrupt"],
  ["kill"],
  ["interrupt", "kill"],
  ["kill", "interrupt"],
  ["interrupt", "message"],
  ["message", "interrupt"],
  ["interrupt", "message", "interrupt", "message", "interrupt", "message"],
];

export interface Plan {
  seed: number;
  mode: "ask" | "accept_edits";
  joins: boolean;
  clientTool: boolean;
  smallWindow: boolean;
  extracts: boolean;
  /** The model pauses now and then within an answer. */
  slow: boolean;
  turns: number;
  strikes: Strike[];
}

export function planOf(seed: number): Plan {
  const random = randomOf(seed);
  const smallWindow = random.chance(0.3);
  const mode = random.chance(0.4) ? "ask" : "accept_edits";
  const clientTool = random.chance(0.3);
  const strike = (): Strike => {
    const fits = MOMENTS.filter(
      (moment) =>
        moment !== "idle" &&
        (moment !== "approval" || mode === "ask" || clientTool) &&
        (moment !== "compaction" || smallWindow),
    );
    const often: Moment[] = [
      "token",
      ...(smallWindow ? (["compaction", "compaction", "compaction"] as const) : []),
      ...(mode === "ask" || clientTool ? (["approval", "approval"] as const) : []),
    ];
    const at = random.pick<Moment>(["token", ...often, ...fits]);
    return {
      at,
      nth: 1 + random.below(MOST[at] ?? 1),
      deeds: random.pick(DEEDS),
      gapMs: random.below(6),
    };
  };
  return {
    seed,
    mode,
    joins: random.chance(0.3),
    clientTool,
    smallWindow,
    extracts: random.chance(0.15),
    slow: random.chance(0.3),
    turns: smallWindow ? 3 : 1 + random.below(2),
    strikes: Array.from({ length: random.chance(0.3) ? 2 : 1 }, strike),
  };
}

/** A change that the model asked for; its mark, or its path, is that of no other. */
export interface Asked {
  name: "Write" | "Edit" | "Delete";
  path: string;
  mark: string;
}

/** The words after which the model only answers. */
export const LAST = "Is all well? This is the last one.";
export const LAST_ANSWER = "All is well.";

/** Files there are of each kind from the beginning. */
export const SEEDED = 3;
export const BIG = `${"A long line that fills the window, as such lines do.\n".repeat(160)}end\n`;

type Step = ReturnType<NonNullable<FakeModelOptions["reply"]>>;

/** A model that says and calls something else each time; what it asks to be changed goes to `asked`. */
export function scriptOf(
  plan: Plan,
  places: { workspace: string; memory: string },
  asked: Asked[],
): (call: ModelCall) => Step {
  const random = randomOf(plan.seed + 1_000_003);
  let answers = 0;
  let deleted = 0;
  const change = (): { name: string; input: Record<string, unknown> } => {
    const root = random.pick([places.workspace, places.memory]);
    const mark = `mark-${asked.length}-${random.below(1_000_000)}`;
    const kind = random.below(5);
    if (kind === 0 && deleted < SEEDED * 2) {
      const path = `${deleted % 2 === 0 ? places.workspace : places.memory}/old-${deleted >> 1}.md`;
      deleted += 1;
      asked.push({ name: "Delete", path, mark: "" });
      return { name: "Delete", input: { file_path: path } };
    }
    if (kind <= 2) {
      const path = `${root}/${mark}.md`;
      asked.push({ name: "Write", path, mark });
      const content = `---\nname: ${mark}\ndescription: about ${mark}\ntype: user\n---\n\nEND\n`;
      return { name: "Write", input: { file_path: path, content } };
    }
    const path = `${root}/log-${random.below(2)}.md`;
    asked.push({ name: "Edit", path, mark });
    const input = { file_path: path, old_string: "END", new_string: `${mark}.\nEND` };
    return { name: "Edit", input };
  };
  const big = { name: "Read", input: { file_path: `${places.workspace}/big.md` } };
  const look = () =>
    random.pick([
      { name: "Read", input: { file_path: `${places.workspace}/log-0.md` } },
      { name: "Read", input: { file_path: `${places.memory}/log-1.md` } },
      {
        name: "Read",
        input: { file_path: `${places.workspace}/log-1.md` },
      },
      { name: "Glob", input: { pattern: "**/*.md", path: places.workspace } },
      { name: "Grep", input: { pattern: "END", path: places.workspace } },
    ]);
  return ({ request }) => {
    if (JSON.stringify(request.messages.at(-1)).includes(LAST)) return { text: LAST_ANSWER };
    const text = random.pick(["Let me look.", "I do it now, one thing after another.", ""]);
    const split = random.pick(["events" as const, "events" as const, 60 + random.below(300)]);
    answers += 1;
    if (answers > 2 && random.chance(0.5)) return { text: `${text} Done for now.`, split };
    const tools = Array.from({ length: 1 + random.below(4) }, (_, place) => {
      if (place === 0 && answers <= 2) return change();
      if (place === 1 && plan.smallWindow) return big;
      if (plan.clientTool && random.chance(0.2)) return { name: "Map", input: { place: "Turku" } };
      return random.chance(0.5) ? look() : change();
    });
    const bad = random.chance(0.07);
    return {
      text,
      tools,
      split,
      ...(bad ? { fault: { type: "malformed_tool_json" as const } } : {}),
    };
  };
}
