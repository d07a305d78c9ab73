// What the tests of the loop share: a model that follows a script, tools that keep count of what
// they did, a recorder that keeps of each step what the session's own keeps, and the API's rules.

import type { LoopPorts } from "./loop.ts";
import { runLoop } from "./loop.ts";
import type { AssistantBlock, Message, TextBlock } from "./messages.ts";
import type { Answer, FailureKind, Model, ModelEvent, ModelFailure } from "./model.ts";
import type { CallState, LoopOutcome, LoopStep, TurnState } from "./steps.ts";
import type { ReadTool, Tool, ToolResult, WriteTool } from "./tool.ts";

export interface SaidCall {
  id: string;
  name: string;
  /** `{key: id}` if left out. */
  input?: Record<string, unknown>;
  malformed?: string;
}

/** One answer of a script. */
export interface Said {
  thinking?: string;
  text?: string;
  calls?: SaidCall[];
  /** `tool_use` or `end_turn` if left out, by whether there are calls. */
  stop?: string;
  cutCall?: boolean;
  /** What the tries before this answer fail with, each after having said everything. */
  fails?: ModelFailure[];
}

export interface Turn {
  /** As it is on disk. */
  state: TurnState;
  interrupted: boolean;
  /** The outcome that a step carried, or the one that the loop returned. */
  outcome: LoopOutcome | undefined;
  ports: LoopPorts;
  /** Keys that a writer has put in place, once for each time that it was done. */
  effects: string[];
  /** What tools and model did, in order. */
  log: string[];
  /** The messages of each model request. */
  requests: Message[][];
  pauses: number[];
}

export interface TurnOptions {
  history?: Message[];
  tools?: Tool[];
  /** A model that does not notice the interrupt and answers all the same. */
  deaf?: boolean;
  limits?: Partial<LoopPorts["limits"]>;
  hooks?: LoopPorts["hooks"];
}

export const QUESTION: Message = user("Do it.");
const LIMITS = {
  iterations: 10,
  continuations: 2,
  attempts: 3,
  firstMs: 500,
  mostMs: 16_000,
  inMemoryMs: 5_000,
  retryAfterMostMs: 60_000,
};

export function createTurn(script: readonly Said[], options: TurnOptions = {}): Turn {
  const effects: string[] = [];
  const log: string[] = [];
  const pauses: number[] = [];
  const tools = [...createTools(effects, log), ...(options.tools ?? [])];
  const turn: Turn = {
    state: {
      messages: options.history ?? [QUESTION],
      pending: [],
      iteration: 0,
      attempt: 0,
      continuations: 0,
    },
    interrupted: false,
    outcome: undefined,
    ports: {
      model: { stream: () => failing() },
      tools: new Map(tools.map((tool) => [tool.name, tool])),
      request: {
        purpose: "main",
        sessionId: "sesn_1",
        model: "claude-sonnet-5-5",
        maxTokens: 1000,
        system: ["Be brief."],
        tools,
      },
      hooks: options.hooks ?? {},
      sleep: async (ms) => {
        pauses.push(ms);
      },
      random: () => 0,
      limits: { ...LIMITS, ...options.limits },
    },
    effects,
    log,
    requests: [],
    pauses,
  };
  turn.ports.model = scriptedModel(script, turn, options.deaf ?? false);
  return turn;
}

export interface Course {
  /** The user's interrupt comes before the loop is asked for this step. */
  interruptBefore?: number;
  /** The user's interrupt comes with this, in the middle of a step. */
  interruptOn?: Promise<void>;
  /** The process dies with this step; `lost` says that the step did not reach the disk. */
  crashAt?: number;
  lost?: boolean;
}

/** Runs a turn from what is on disk to its end, to a pause or to a crash; gives back its steps. */
export async function run(turn: Turn, course: Course = {}): Promise<LoopStep[]> {
  const steps: LoopStep[] = [];
  if (over(turn)) return steps;
  const stop = new AbortController();
  const interrupt = () => {
    turn.interrupted = true;
    stop.abort();
  };
  if (turn.interrupted) stop.abort();
  course.interruptOn?.then(interrupt);
  const loop = runLoop(fromDisk(turn.state), turn.ports, stop.signal);
  while (true) {
    if (steps.length === course.interruptBefore) interrupt();
    const next = await loop.next();
    if (next.done) {
      turn.outcome = next.value;
      return steps;
    }
    const crash = steps.length === course.crashAt;
    steps.push(next.value);
    if (crash && course.lost) return steps;
    record(turn, next.value);
    if (crash) return steps;
  }
}

/** Runs a turn until it is really over, pauses included. */
export async function runToEnd(turn: Turn): Promise<LoopOutcome | undefined> {
  while (!over(turn)) await run(turn);
  return turn.outcome;
}

export function over(turn: Turn): boolean {
  return turn.outcome !== undefined && turn.outcome.reason !== "wait";
}

/** Keeps of a step what the session's recorder keeps of it. */
function record(turn: Turn, step: LoopStep): void {
  const { state } = turn;
  const pending = (id: string) => state.pending.filter(({ call }) => call.id === id);
  switch (step.type) {
    case "request_failed":
      state.attempt = step.attempt;
      if (step.outcome?.reason === "failed") turn.outcome = step.outcome;
      return;
    case "answered":
      if (step.message) state.messages.push(step.message);
      if (step.continuation) state.messages.push(step.continuation);
      state.pending = fromDisk(step.calls);
      state.iteration += 1;
      state.attempt = 0;
      state.continuations += step.continuation ? 1 : 0;
      if (step.outcome) turn.outcome = step.outcome;
      return;
    case "call_planned":
      for (const call of pending(step.callId)) call.plan = step.plan;
      return;
    case "call_finished":
      for (const call of pending(step.callId)) call.result = step.result;
      return;
    case "results":
      state.messages.push(step.message);
      state.pending = [];
      return;
    case "joined":
      state.messages.push(step.message);
      return;
    case "interrupted":
      if (step.said.trim() !== "")
        state.messages.push(assistant({ type: "text", text: step.said }));
      state.messages.push(step.mark);
      turn.outcome = step.outcome;
      return;
  }
}

function fromDisk<T extends TurnState | CallState[]>(value: T): T {
  return structuredClone(value);
}

function scriptedModel(script: readonly Said[], turn: Turn, deaf: boolean): Model {
  return {
    async *stream(request, signal) {
      turn.requests.push([...request.messages]);
      const said = script[turn.state.iteration] ?? { text: "Done." };
      const fails = said.fails?.[turn.state.attempt];
      for (const event of eventsOf(said)) {
        await ticks();
        if (signal.aborted && !deaf) return failure("aborted");
        yield event;
      }
      await ticks();
      if (signal.aborted && !deaf) return failure("aborted");
      turn.log.push(fails ? "model failed" : "model ended");
      return fails ?? answerOf(said);
    },
  };
}

function eventsOf({ text = "", calls = [] }: Said): ModelEvent[] {
  const half = Math.ceil(text.length / 2);
  const pieces = [text.slice(0, half), text.slice(half)].filter((piece) => piece !== "");
  return [
    ...pieces.map((piece): ModelEvent => ({ type: "text", block: 0, text: piece })),
    ...calls.map(
      (call): ModelEvent => ({
        type: "call",
        call: { ...toolUse(call), ...(call.malformed ? { malformed: call.malformed } : {}) },
      }),
    ),
  ];
}

/** The answer as the port gives it: without empty text. */
export function answerOf({ thinking, text = "", calls = [], stop, cutCall }: Said): Answer {
  const content: AssistantBlock[] = [];
  if (thinking !== undefined) content.push({ type: "thinking", thinking, signature: "signed" });
  if (text.trim() !== "") content.push({ type: "text", text });
  content.push(...calls.map((call) => ({ type: "tool_use" as const, ...toolUse(call) })));
  const malformed = calls.flatMap((call) =>
    call.malformed ? [[call.id, call.malformed] as const] : [],
  );
  return {
    status: "answered",
    content,
    malformed: new Map(malformed),
    stopReason: stop ?? (calls.length > 0 ? "tool_use" : "end_turn"),
    cutCall: cutCall ?? false,
    usage: { input: 10, cacheRead: 0, cacheCreation: 0, output: 5 },
  };
}

function toolUse({ id, name, input, malformed }: SaidCall) {
  return { id, name, input: malformed ? {} : (input ?? { key: id }) };
}

export function failure(kind: FailureKind, retryAfterMs?: number): ModelFailure {
  const hint = retryAfterMs === undefined ? {} : { retryAfterMs };
  return { status: "failed", kind, message: `It failed (${kind})`, ...hint };
}

// biome-ignore lint/correctness/useYield: a model that is replaced before it is asked
async function* failing(): AsyncGenerator<ModelEvent, Answer | ModelFailure> {
  return failure("unreachable");
}

/** `Read` and `Write` as they should be, and four that break their promises. */
function createTools(effects: string[], log: string[]): Tool[] {
  const done = new Set<string>();
  return [
    readTool("Read", async (input) => {
      log.push(`read ${keyOf(input)}`);
      await ticks();
      return ok(`content of ${keyOf(input)}`);
    }),
    readTool("Reject", () => Promise.reject(new Error("secret detail"))),
    readTool("Throw", () => {
      throw new Error("secret detail");
    }),
    writeTool("Write", {
      plan: async (input) => {
        log.push(`plan ${keyOf(input)}`);
        await ticks();
        return { status: "planned", plan: keyOf(input) };
      },
      commit: async (plan, resumed) => {
        await ticks();
        log.push(`commit ${plan}`);
        // Only a resumed commit looks for its own work: done twice is counted twice.
        if (!resumed || !done.has(plan)) effects.push(plan);
        done.add(plan);
        return ok(`wrote ${plan}`);
      },
    }),
    writeTool("Refuse", {
      plan: async () => ({ status: "refused", result: { ...ok("refused"), isError: true } }),
    }),
    writeTool("BadPlan", { plan: () => Promise.reject(new Error("secret detail")) }),
    writeTool("BadCommit", {
      commit: () => {
        throw new Error("secret detail");
      },
    }),
  ];
}

export function readTool(name: string, run: ReadTool["run"]): ReadTool {
  return { kind: "read", name, description: name, input_schema: {}, run };
}

export function writeTool(name: string, parts: Partial<WriteTool>): WriteTool {
  return {
    kind: "write",
    name,
    description: name,
    input_schema: {},
    plan: async (input) => ({ status: "planned", plan: keyOf(input) }),
    commit: async (plan) => ok(`wrote ${plan}`),
    ...parts,
  };
}

export function keyOf(input: unknown): string {
  if (typeof input !== "object" || input === null || !("key" in input)) return "?";
  return String(input.key);
}

export function ok(content: string): ToolResult {
  return { content, isError: false, notes: [] };
}

/** Lets everything go on that waits for nothing from outside. */
export async function ticks(): Promise<void> {
  for (let n = 0; n < 4; n += 1) await Promise.resolve();
}

export function user(text: string): Message {
  return { role: "user", content: [{ type: "text", text }] };
}

export function assistant(...content: AssistantBlock[]): Message {
  return { role: "assistant", content };
}

/** Results by the id of their call. */
export function resultsOf(messages: readonly Message[]): Map<string, string> {
  const blocks = messages.flatMap((message): Message["content"][number][] => message.content);
  return new Map(
    blocks.flatMap((block) =>
      block.type === "tool_result" ? [[block.tool_use_id, block.content] as const] : [],
    ),
  );
}

/** All that is said as text. */
export function textOf(messages: readonly Message[]): string {
  const blocks = messages.flatMap((message): Message["content"][number][] => message.content);
  return blocks
    .filter((block): block is TextBlock => block.type === "text")
    .map((block) => block.text)
    .join("\n");
}

/** Why the API would refuse these messages as a request; empty where it would take them. */
export function refusals(messages: readonly Message[]): string[] {
  const problems: string[] = [];
  const turns = joinedByRole(messages);
  if (turns[0]?.role !== "user") problems.push("the first message is not the user's");
  if (turns.at(-1)?.role !== "user") problems.push("the last message is not the user's");
  const ids = new Set<string>();
  let open: string[] = [];
  for (const { role, content } of turns) {
    if (content.length === 0) problems.push("a message is empty");
    const asked: string[] = [];
    const answered: string[] = [];
    let leading = true;
    for (const block of content) {
      if (block.type === "text" && block.text.trim() === "") problems.push("a text is empty");
      if (block.type === "text" && !block.text.isWellFormed()) problems.push("a lone surrogate");
      if (block.type === "tool_use") {
        if (ids.has(block.id)) problems.push(`${block.id} is asked twice`);
        ids.add(block.id);
        asked.push(block.id);
      }
      if (block.type === "tool_result") {
        if (!leading) problems.push(`the result of ${block.tool_use_id} stands behind a text`);
        if (block.content === "") problems.push(`the result of ${block.tool_use_id} is empty`);
        answered.push(block.tool_use_id);
      } else leading = false;
    }
    if (role === "assistant" && content.at(-1)?.type.endsWith("thinking")) {
      problems.push("a message ends in thinking");
    }
    if (answered.join() !== open.join()) {
      problems.push(`asked [${open.join()}], answered [${answered.join()}]`);
    }
    open = asked;
  }
  if (open.length > 0) problems.push(`[${open.join()}] got no result`);
  return problems;
}

function joinedByRole(messages: readonly Message[]) {
  const turns: { role: Message["role"]; content: Message["content"][number][] }[] = [];
  for (const { role, content } of messages) {
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content: [...content] });
  }
  return turns;
}
