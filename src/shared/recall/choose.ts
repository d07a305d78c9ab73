import { RECALL_FILES, RECALL_SELECT_MS, RECALL_TOKENS } from "../limits/recall.ts";
import type { Candidate } from "./list.ts";
import {
  readSelection,
  SELECT_SCHEMA,
  SELECT_SYSTEM,
  type Selection,
  selectByWords,
  selectMessage,
} from "./select.ts";

export interface ChooseRequest {
  system: string;
  message: string;
  schema: Record<string, unknown>;
  /** Output tokens. */
  maxTokens: number;
}

export type ChooseAnswer =
  | { status: "answered"; text: string }
  /** The cause is a code, for logs and clients. */
  | { status: "failed"; cause: string };

export interface ChoosePorts {
  /** One call of the small model; undefined: not to be asked, a budget is used up. Never throws. */
  choose: ((request: ChooseRequest) => Promise<ChooseAnswer>) | undefined;
  /** Resolves undefined where the work took longer than so many milliseconds. */
  within<T>(ms: number, work: Promise<T>): Promise<T | undefined>;
}

export interface Choice extends Selection {
  source: "model" | "words" | "none";
  /** Why the model's choice does not count: "budget", "late", "unreadable", or the port's cause. */
  fallback?: string;
}

/**
 * One call of the small model, and no second one. Where it fails, is late or cannot be read, the words
 * of the message choose, or nobody does. Without candidates nobody is asked.
 */
export async function chooseMemories(
  request: {
    message: string;
    candidates: readonly Candidate[];
    toolsInUse: readonly string[];
    fallback: "words" | "none";
  },
  ports: ChoosePorts,
): Promise<Choice> {
  const none: Choice = { selected: [], dropped: [], source: "none" };
  const { message, candidates } = request;
  if (candidates.length === 0) return none;
  const answer = await ask(selectMessage(request), ports);
  const read = answer.status === "answered" ? readSelection(answer.text, candidates) : undefined;
  if (read) return { ...read, source: "model" };
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
