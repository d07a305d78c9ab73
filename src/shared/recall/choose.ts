import {
  RECALL_FILES,
  RECALL_QUERY_CHARACTERS,
  RECALL_RECENT_CHARACTERS,
  RECALL_SELECT_MS,
  RECALL_TOKENS,
} from "../limits/recall.ts";
import type { SecretMask } from "../safety/secret-scan.ts";
import { cutCharacters } from "../text/bytes.ts";
import { selectByWords } from "./by-words.ts";
import type { Candidate } from "./list.ts";
import { type Spoken, shorten } from "./recent.ts";
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
  /** What a person said goes to the small model without its secrets. */
  mask: SecretMask;
  /** Resolves to undefined if the work takes longer than `ms` milliseconds. */
  within<T>(ms: number, work: Promise<T>): Promise<T | undefined>;
}

interface Choice extends Selection {
  source: "model" | "words" | "none";
  /** Why the model did not choose: "budget", "unmasked", "late", "unreadable", or the port's cause. */
  fallback?: string | undefined;
}

/**
 * Calls the small model once, with secrets masked. If that or the call fails, is late or cannot be read,
 * the words of the message choose in its place, or nothing is chosen, by `fallback`. Without candidates
 * there is no call. Only a model that was shown the whole message can say that it states nothing.
 */
export async function chooseMemories(
  request: {
    message: string;
    recent: readonly Spoken[];
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
  const { answer, wholeSent } = await ask(request, ports);
  const selection =
    answer.status === "answered" ? readSelection(answer.text, candidates) : undefined;
  if (selection) {
    const worthKeeping = wholeSent ? selection.worthKeeping : selection.worthKeeping || undefined;
    return { ...selection, worthKeeping, source: "model" };
  }
  const fallback = answer.status === "failed" ? answer.cause : "unreadable";
  if (request.fallback === "none") return { ...none, fallback };
  const selected = selectByWords(message, candidates, RECALL_FILES);
  return { selected, dropped: [], source: "words", fallback };
}

async function ask(
  asked: Parameters<typeof selectMessage>[0],
  ports: ChoosePorts,
): Promise<{ answer: ChooseAnswer; wholeSent: boolean }> {
  if (!ports.choose) return failed("budget");
  const masked = await maskAll(asked, ports.mask).catch(() => undefined);
  if (!masked) return failed("unmasked");
  const request = {
    system: SELECT_SYSTEM,
    message: selectMessage(masked),
    schema: SELECT_SCHEMA,
    maxTokens: RECALL_TOKENS,
  };
  try {
    const answer = await ports.within(RECALL_SELECT_MS, ports.choose(request));
    if (!answer) return failed("late");
    const isWhole = cutCharacters(asked.message, RECALL_QUERY_CHARACTERS) === masked.message;
    return { answer, wholeSent: isWhole };
  } catch {
    return failed("failed");
  }
}

function failed(cause: string): { answer: ChooseAnswer; wholeSent: boolean } {
  return { answer: { status: "failed", cause }, wholeSent: false };
}

/** How much more than is sent is looked at: what a cut would halve could not be recognised. */
const WIDER = 8;

async function maskAll<T extends { message: string; recent: readonly Spoken[] }>(
  asked: T,
  mask: SecretMask,
): Promise<T> {
  const message = await mask(cutCharacters(asked.message, RECALL_QUERY_CHARACTERS * 2));
  const recent = asked.recent.map(async ({ by, text }) => {
    return { by, text: await mask(shorten(text, RECALL_RECENT_CHARACTERS * WIDER)) };
  });
  return { ...asked, message, recent: await Promise.all(recent) };
}
