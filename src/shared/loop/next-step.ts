import type { AssistantBlock, Message } from "../thread/messages.ts";
import type { Answer } from "./model.ts";
import type { CallState, LoopOutcome, Problem } from "./steps.ts";

export type Decision = {
  /** What is kept of the answer; absent where nothing is. */
  message: Message | undefined;
  calls: CallState[];
  problem?: Problem | undefined;
} & (
  | { next: "tools"; continuation?: undefined; outcome?: undefined }
  | { next: "continue"; continuation: Message; outcome?: undefined }
  | { next: "end"; continuation?: undefined; outcome: LoopOutcome }
);

/**
 * What follows from an answer. Tools run only where the model stopped in order to have them run:
 * calls of an answer that ended otherwise are dropped, since each kept call must get a result.
 */
export function afterAnswer(answer: Answer, cuts: number, cutsMost: number): Decision {
  const calls = callStates(answer);
  const spoken = answer.content.filter((block) => block.type !== "tool_use");
  const end = (outcome: LoopOutcome, problem?: Problem): Decision => ({
    message: assistant(spoken),
    calls: [],
    problem,
    next: "end",
    outcome,
  });

  switch (answer.stopReason) {
    case "tool_use": {
      if (calls.length === 0) return end({ reason: "end_turn" });
      const bad = calls.find((state) => state.malformed !== undefined);
      return {
        message: { role: "assistant", content: answer.content },
        calls,
        problem: bad && malformed(bad),
        next: "tools",
      };
    }
    case "end_turn":
    case "stop_sequence":
      return end({ reason: "end_turn" });
    case "pause_turn":
      return pausedAnswer(spoken, cuts, cutsMost);
    case "max_tokens":
      return cutAnswer(answer, spoken, cuts, cutsMost);
    case "refusal":
      // What was said before a refusal would be refused again with everything that follows it.
      return { message: undefined, calls: [], next: "end", outcome: { reason: "refusal" } };
    case "model_context_window_exceeded":
      return filledWindow(spoken, cuts, cutsMost);
    default:
      return end({ reason: "stopped" }, unknownStop(answer.stopReason));
  }
}

function cutAnswer(
  answer: Answer,
  spoken: AssistantBlock[],
  cuts: number,
  cutsMost: number,
): Decision {
  const goesOn = cuts < cutsMost;
  const what = answer.cutCall
    ? "The model's answer reached its output limit inside a tool call; the call was not run"
    : "The model's answer reached its output limit";
  const problem: Problem = {
    kind: "output_limit",
    message: `${what}. ${goesOn ? "It is asked to go on" : `It happened ${cuts + 1} times in this turn; ask for a smaller piece of work`}`,
    goesOn,
  };
  const message = assistant(spoken);
  if (!goesOn) return { message, calls: [], problem, next: "end", outcome: { reason: "stopped" } };
  const advice = answer.cutCall
    ? "Your answer reached the output limit inside a tool call, and the call was not run. Do the work in smaller pieces: several shorter calls instead of one long one."
    : "Your answer reached the output limit. Go on exactly where it stopped, without repeating anything.";
  return { message, calls: [], problem, next: "continue", continuation: reminder(advice) };
}

/**
 * A pause asks for the answer to be sent back as it is. That holds for answers that end in a tool of
 * the server's, which we do not keep; any other request has to end with the user's words.
 */
function pausedAnswer(spoken: AssistantBlock[], cuts: number, cutsMost: number): Decision {
  const message = assistant(spoken);
  if (cuts < cutsMost) {
    const continuation = reminder("Your answer was paused. Go on exactly where it stopped.");
    return { message, calls: [], next: "continue", continuation };
  }
  const problem: Problem = {
    kind: "unknown_stop",
    message: `The model paused its answer ${cuts + 1} times in this turn; ask for a smaller piece of work`,
    goesOn: false,
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
 * An assistant message of these blocks up to the last that says something; the API refuses a message
 * that ends in thinking, as one does whose calls were dropped.
 */
function assistant(blocks: AssistantBlock[]): Message | undefined {
  const last = blocks.findLastIndex((block) => block.type === "text");
  return last < 0 ? undefined : { role: "assistant", content: blocks.slice(0, last + 1) };
}

function malformed(state: CallState): Problem {
  return {
    kind: "malformed_input",
    message: `The model called ${state.call.name} with input that is not valid JSON; the call was not run, and the model is told`,
    goesOn: true,
  };
}

/** The answer met the end of the window: it goes on after a shorter conversation. */
function filledWindow(spoken: AssistantBlock[], cuts: number, cutsMost: number): Decision {
  const goesOn = cuts < cutsMost;
  const next = goesOn
    ? "It is made shorter, and the model goes on"
    : "Start a new session to go on; what was saved to memory is known there";
  const problem: Problem = {
    kind: "context_window",
    message: `The conversation fills the model's context window. ${next}`,
    goesOn,
  };
  const message = assistant(spoken);
  if (!goesOn) return { message, calls: [], problem, next: "end", outcome: { reason: "stopped" } };
  const continuation = reminder(
    "Your answer met the end of the context window, and what stood before it was shortened. Go on where it stopped, without repeating anything.",
  );
  return { message, calls: [], problem, next: "continue", continuation };
}

function unknownStop(reason: string): Problem {
  return {
    kind: "unknown_stop",
    message: `The model ended its answer for a reason that is not known here ("${reason.slice(0, 60)}"); no tool was run. Send the message again`,
    goesOn: false,
  };
}
