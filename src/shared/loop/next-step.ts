import type { AssistantBlock, Message } from "../thread/messages.ts";
import type { Answer } from "./model.ts";
import type { CallState, LoopOutcome, Problem } from "./steps.ts";

type NextStep = {
  /** The part of the answer that is kept; undefined if none is. */
  message: Message | undefined;
  calls: CallState[];
  problem?: Problem | undefined;
} & (
  | { next: "tools"; continuation?: undefined; outcome?: undefined }
  | { next: "continue"; continuation: Message; outcome?: undefined }
  | { next: "end"; continuation?: undefined; outcome: LoopOutcome }
);

/**
 * What follows from an answer. `count` continuations of this turn came before, at most `most` may.
 * Tools run only after `tool_use`; calls of any other answer are dropped, since each kept call needs a
 * result.
 */
export function nextStep(answer: Answer, count: number, most: number): NextStep {
  const calls = callStates(answer);
  const blocks = answer.content.filter((block) => block.type !== "tool_use");
  const end = (outcome: LoopOutcome, problem?: Problem): NextStep => ({
    message: assistant(blocks),
    calls: [],
    problem,
    next: "end",
    outcome,
  });

  switch (answer.stopReason) {
    case "tool_use": {
      if (calls.length === 0) return end({ reason: "end_turn" });
      const unparsed = calls.find((state) => state.malformed !== undefined);
      return {
        message: { role: "assistant", content: answer.content },
        calls,
        problem: unparsed && malformed(unparsed),
        next: "tools",
      };
    }
    case "end_turn":
    case "stop_sequence":
      return end({ reason: "end_turn" });
    case "pause_turn":
      return pausedAnswer(blocks, count, most);
    case "max_tokens":
      return cutAnswer(answer, blocks, count, most);
    case "refusal":
      // The text before a refusal would be refused again, together with everything after it.
      return { message: undefined, calls: [], next: "end", outcome: { reason: "refusal" } };
    case "model_context_window_exceeded":
      return filledWindow(blocks, count, most);
    default:
      return end({ reason: "stopped" }, unknownStop(answer.stopReason));
  }
}

function cutAnswer(
  answer: Answer,
  blocks: AssistantBlock[],
  count: number,
  most: number,
): NextStep {
  const continues = count < most;
  const what = answer.cutCall
    ? "The model's answer reached its output limit inside a tool call; the call was not run"
    : "The model's answer reached its output limit";
  const problem: Problem = {
    kind: "output_limit",
    message: `${what}. ${continues ? "It is asked to go on" : `It happened ${count + 1} times in this turn; ask for a smaller piece of work`}`,
    continues,
  };
  const message = assistant(blocks);
  if (!continues)
    return { message, calls: [], problem, next: "end", outcome: { reason: "stopped" } };
  const advice = answer.cutCall
    ? "Your answer reached the output limit inside a tool call, and the call was not run. Do the work in smaller pieces: several shorter calls instead of one long one."
    : "Your answer reached the output limit. Go on exactly where it stopped, without repeating anything.";
  return { message, calls: [], problem, next: "continue", continuation: reminder(advice) };
}

/**
 * `pause_turn` asks for the answer to be sent back as it is. That is right for answers that end in a
 * server-side tool, which we do not keep; any other request must end with a user message.
 */
function pausedAnswer(blocks: AssistantBlock[], count: number, most: number): NextStep {
  const message = assistant(blocks);
  if (count < most) {
    const continuation = reminder("Your answer was paused. Go on exactly where it stopped.");
    return { message, calls: [], next: "continue", continuation };
  }
  const problem: Problem = {
    kind: "unknown_stop",
    message: `The model paused its answer ${count + 1} times in this turn; ask for a smaller piece of work`,
    continues: false,
  };
  return { message, calls: [], problem, next: "end", outcome: { reason: "stopped" } };
}

function reminder(text: string): Message {
  return {
    role: "user",
    content: [{ type: "text", text: `<system-reminder>${text}</system-reminder>` }],
  };
}

function callStates(answer: Answer): CallState[] {
  return answer.content.flatMap((block) => {
    if (block.type !== "tool_use") return [];
    return [{ call: block, malformed: answer.malformed.get(block.id) }];
  });
}

/**
 * An assistant message of these blocks up to the last text: without its calls it may end in thinking,
 * which the API refuses. Undefined without a text.
 */
function assistant(blocks: AssistantBlock[]): Message | undefined {
  const last = blocks.findLastIndex((block) => block.type === "text");
  return last < 0 ? undefined : { role: "assistant", content: blocks.slice(0, last + 1) };
}

function malformed(state: CallState): Problem {
  return {
    kind: "malformed_input",
    message: `The model called ${state.call.name} with input that is not valid JSON; the call was not run, and the model is told`,
    continues: true,
  };
}

/** The answer reached the end of the context window: it continues after a compaction. */
function filledWindow(blocks: AssistantBlock[], count: number, most: number): NextStep {
  const continues = count < most;
  const next = continues
    ? "It is made shorter, and the model goes on"
    : "Start a new session to go on; what was saved to memory is known there";
  const problem: Problem = {
    kind: "context_window",
    message: `The conversation fills the model's context window. ${next}`,
    continues,
  };
  const message = assistant(blocks);
  if (!continues)
    return { message, calls: [], problem, next: "end", outcome: { reason: "stopped" } };
  const continuation = reminder(
    "Your answer met the end of the context window, and what stood before it was shortened. Go on where it stopped, without repeating anything.",
  );
  return { message, calls: [], problem, next: "continue", continuation };
}

function unknownStop(reason: string): Problem {
  return {
    kind: "unknown_stop",
    message: `The model ended its answer for a reason that is not known here ("${reason.slice(0, 60)}"); no tool was run. Send the message again`,
    continues: false,
  };
}
