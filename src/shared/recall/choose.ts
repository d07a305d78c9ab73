import { RECALL_FILES, RECALL_SELECT_MS, RECALL_TOKENS } from "../limits/recall.ts";
import { selectByWords } from "./by-words.ts";
import type { Candidate } from "./list.ts";
import {
  readSelection,
  SELECT_SCHEMA,
  SELECT_SYSTEM,
  type Selection,
  selectMessage,
} from "./select.ts";

export interface ChooseRequest {
  system: string;
  message: string;
  schema: Record<string, unknown>;
  /** Output tokens. */
  maxTokens: number;
}

type ChooseAnswer =
  | { status: "answered"; text: string }
  /** `cause`: a code for logs and clients. */
  | { status: "failed"; cause: string };

export interface ChoosePorts {
  /** One call of the small model; undefined if a budget is used up. */
  choose: ((request: ChooseRequest) => Promise<ChooseAnswer>) | undefined;
  /** Resolves to undefined if the work takes longer than `ms` milliseconds. */
  within<T>(ms: number, work: Promise<T>): Promise<T | undefined>;
}

interface Choice extends Selection {
  source: "model" | "words" | "none";
  /** Why the model did not choose: "budget", "late", "unreadable", or the port's cause. */
  fallback?: string | undefined;
}

/**
 * Calls the small model once. If the call fails, is late or cannot be read, the words of the message
 * choose in its place, or nothing is chosen, by `fallback`. Without candidates there is no call.
 */
export async function chooseMemories(
  request: {
    message: string;
    candidates: readonly Candidate[];
    toolsInUse: readonly string[];
    /** The time now, in words. */
    time: string;
    fallback: "words" | "none";
  },
  ports: ChoosePorts,
): Promise<Choice> {
  const none: Choice = { selected: [], dropped: [], source: "none" };
  const { message, candidates } = request;
  if (candidates.length === 0) return none;
  const answer = await ask(selectMessage(request), ports);
  const selection =
    answer.status === "answered" ? readSelection(answer.text, candidates) : undefined;
  if (selection) return { ...selection, source: "model" };
  const fallback = answer.status === "failed" ? answer.cause : "unreadable";
  if (request.fallback === "none") return { ...none, fallback };
  const selected = selectByWords(message, candidates, RECALL_FILES);
  return { selected, dropped: [], source: "words", fallback };
}

async function ask(message: string, ports: ChoosePorts): Promise<ChooseAnswer> {
  if (!ports.choose) return { status: "failed", cause: "budget" };
  const request = {
    system: SELECT_SYSTEM,
    message,
    schema: SELECT_SCHEMA,
    maxTokens: RECALL_TOKENS,
  };
  try {
    const answer = await ports.within(RECALL_SELECT_MS, ports.choose(request));
    return answer ?? { status: "failed", cause: "late" };
  } catch {
    return { status: "failed", cause: "failed" };
  }
}
