// What a compaction asks of the outside: a summary, a count, a file.

import { errorName, log } from "../../../src/platform/log.ts";
import { modelOf } from "../../../src/platform/threads/loop-ports.ts";
import type { Summary } from "../../../src/shared/compaction/summarise.ts";
import { SUMMARY_TOKENS } from "../../../src/shared/limits/compaction.ts";
import { CONTINUATIONS } from "../../../src/shared/limits/turn.ts";
import type { Answer, ModelFailure, ModelRequest } from "../../../src/shared/loop/model.ts";
import { requestAnswer } from "../../../src/shared/loop/model.ts";
import { INDEX_FILE } from "../../../src/shared/memdir/entrypoint.ts";
import { decodeText } from "../../../src/shared/text/decode.ts";
import type { Message } from "../../../src/shared/thread/messages.ts";
import { countUsage } from "../rows/usage.ts";
import type { Conversation } from "../setup/conversation.ts";
import type { SessionContext } from "../setup/session-context.ts";

const NEXT_WORDS: Message = { role: "user", content: [{ type: "text", text: "…" }] };

/**
 * A summary by the conversation's own model; what the token limit cuts is gone on with. Tokens are
 * counted, whatever becomes of it; only a summary that has an end is one.
 */
export async function summarise(
  session: SessionContext,
  of: Conversation,
  messages: readonly Message[],
  signal: AbortSignal,
): Promise<Summary> {
  const asked = [...messages];
  let text = "";
  for (let cuts = 0; cuts <= CONTINUATIONS; cuts += 1) {
    const answer = await askOnce(session, of, asked, signal);
    if (answer.status === "failed") return answer;
    const part = textOf(answer);
    text += part;
    switch (answer.stopReason) {
      case "end_turn":
      case "stop_sequence":
        return text.trim() === "" ? UNFINISHED : { status: "answered", text: text.trim() };
      case "max_tokens":
      case "pause_turn":
        if (part.trim() === "") return UNFINISHED;
        asked.push({ role: "assistant", content: [{ type: "text", text: part }] }, GO_ON);
        break;
      default:
        return UNFINISHED;
    }
  }
  return UNFINISHED;
}

const UNFINISHED: Summary = { status: "failed", kind: "unfinished" };
const GO_ON: Message = {
  role: "user",
  content: [{ type: "text", text: "Go on exactly where you stopped, without repeating anything." }],
};

function textOf({ content }: Answer): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

async function askOnce(
  session: SessionContext,
  of: Conversation,
  messages: readonly Message[],
  signal: AbortSignal,
): Promise<Answer | ModelFailure> {
  const request = requestOf(of, messages, Math.min(of.limits.answer, SUMMARY_TOKENS));
  const answer = await requestAnswer(modelOf(session.settings), request, signal);
  countUsage(session, request, answer.usage);
  if (answer.status === "failed" && answer.kind !== "aborted") {
    log("compaction.model_failed", { kind: answer.kind });
  }
  return answer;
}

/** Tokens of a prompt, as the server counts them; undefined where it does not say. */
export async function countPrompt(
  { settings }: Pick<SessionContext, "settings">,
  of: Conversation,
  messages: readonly Message[],
  signal: AbortSignal,
): Promise<number | undefined> {
  // A prompt ends with the user's words; between two turns they are still to come.
  const ended = messages.at(-1)?.role === "assistant" ? [...messages, NEXT_WORDS] : messages;
  return modelOf(settings).count?.(requestOf(of, ended, 1), signal);
}

/** The conversation's own bytes first, so that the prompt cache is read. */
function requestOf(
  { meta, system, tools }: Conversation,
  messages: readonly Message[],
  maxTokens: number,
): ModelRequest {
  const { id: sessionId, model } = meta;
  return { purpose: "compaction", sessionId, model, maxTokens, system, tools, messages };
}

/** A file of the agent's as text; the index is in the system prompt already. */
export async function fileNow(
  of: Conversation,
  path: string,
): Promise<{ text: string; etag: string } | undefined> {
  if (isIndex(of, path)) return undefined;
  const target = of.mounts.resolve(path);
  if (target.status !== "mounted" || target.relative === "") return undefined;
  try {
    const file = await target.mount.store.get(target.relative);
    const text = file && decodeText(file.bytes);
    return file && text !== undefined ? { text, etag: file.etag } : undefined;
  } catch (error) {
    log("compaction.file_unreadable", { error: errorName(error) });
    return undefined;
  }
}

/** Whether a path is that of the memory's index. */
export function isIndex({ memory }: Conversation, path: string): boolean {
  return memory !== undefined && path === `${memory.directory}/${INDEX_FILE}`;
}
