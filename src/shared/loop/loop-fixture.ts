// What the tests of the loop share: a model that follows a script, tools that keep count of what
// they did, a recorder that keeps of each step what the session's own keeps, and the API's rules.

import type { AssistantBlock, Message } from "../thread/messages.ts";
import { assistant, refusals, user } from "./history-fixture.ts";
import type { LoopPorts } from "./loop.ts";
import { runLoop } from "./loop.ts";
import type { Answer, FailureKind, Model, ModelEvent, ModelFailure } from "./model.ts";
import { RESULT_LIMITS } from "./result-budget.ts";
import type { CallState, LoopOutcome, LoopStep, TurnState } from "./steps.ts";
import type { Tool } from "./tool.ts";
import { createTools, ticks } from "./tools-fixture.ts";

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

interface TurnOptions {
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
  results: RESULT_LIMITS,
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

interface Course {
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
  return turn.outcome !== undefined && turn.outcome.reason !== "paused";
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
      if (step.text.trim() !== "")
        state.messages.push(assistant({ type: "text", text: step.text }));
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
        call: { ...toolUse(call), malformed: call.malformed },
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
  return { status: "failed", kind, message: `It failed (${kind})`, retryAfterMs };
}

// biome-ignore lint/correctness/useYield: a model that is replaced before it is asked
async function* failing(): AsyncGenerator<ModelEvent, Answer | ModelFailure> {
  return failure("unreachable");
}

/** A call as the script says it. */
export const call = (id: string, name: string): SaidCall => ({ id, name });
/** A turn with readers and writers, mixed, over two answers, and a last one. */
export const MIXED: Said[] = [
  {
    thinking: "hm",
    text: "I look and write.",
    calls: [call("r1", "Read"), call("w1", "Write"), call("r2", "Read"), call("w2", "Write")],
  },
  { text: "Once more.", calls: [call("w3", "Write"), call("r3", "Read"), call("x", "Nope")] },
  { text: "All is done." },
];
/** Steps that it takes, previews among them. */
export const MIXED_STEPS = 31;

/** What the API is sent when the user goes on after this turn. */
export const next = (turn: Turn) => refusals([...turn.state.messages, user("Go on.")]);
