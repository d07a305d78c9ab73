// What a compaction asks of the outside: a summary, a count, a file.

import { errorName, log } from "../../../src/platform/log.ts";
import type { AgentSettings } from "../../../src/platform/variables.ts";
import type { ContextLimits } from "../../../src/shared/compaction/context-limits.ts";
import type { Summary } from "../../../src/shared/compaction/summarise.ts";
import { SUMMARY_TOKENS } from "../../../src/shared/limits/compaction.ts";
import { CONTINUATIONS } from "../../../src/shared/limits/turn.ts";
import type { Message } from "../../../src/shared/loop/messages.ts";
import type { Answer, ModelFailure, ModelRequest } from "../../../src/shared/loop/model.ts";
import type { ToolSpec } from "../../../src/shared/loop/tool.ts";
import { INDEX_FILE } from "../../../src/shared/memdir/entrypoint.ts";
import { decodeText } from "../../../src/shared/text/decode.ts";
import type { AgentEnv } from "../../env.ts";
import type { Meta } from "../rows/meta.ts";
import { addUsage } from "../rows/usage.ts";
import type { TurnMemory } from "../setup/memory.ts";
import { modelOf } from "../setup/model-ports.ts";
import { sessionMounts } from "../setup/session-mounts.ts";

const NEXT_WORDS: Message = { role: "user", content: [{ type: "text", text: "…" }] };

interface ModelPorts {
  sql: SqlStorage;
  settings: AgentSettings;
  commit(write: () => void): void;
  now(): number;
}

/** The conversation that is to fit. */
export interface Conversation {
  meta: Meta;
  memory: TurnMemory | undefined;
  system: readonly string[];
  tools: readonly ToolSpec[];
  /** Number and event of the turn that runs, or that ended last. */
  turn: { n: number; eventId: string };
}

/**
 * A summary by the conversation's own model; what the token limit cuts is gone on with. Tokens are
 * counted, whatever becomes of it; only a summary that has an end is one.
 */
export async function summarise(
  ports: ModelPorts,
  of: Conversation,
  limits: ContextLimits,
  messages: readonly Message[],
  signal: AbortSignal,
): Promise<Summary> {
  const asked = [...messages];
  let text = "";
  for (let cuts = 0; cuts <= CONTINUATIONS; cuts += 1) {
    const answer = await askOnce(ports, of, limits, asked, signal);
    if (answer.status === "failed") return answer;
    const said = textOf(answer);
    text += said;
    switch (answer.stopReason) {
      case "end_turn":
      case "stop_sequence":
        return text.trim() === "" ? UNFINISHED : { status: "answered", text: text.trim() };
      case "max_tokens":
      case "pause_turn":
        if (said.trim() === "") return UNFINISHED;
        asked.push({ role: "assistant", content: [{ type: "text", text: said }] }, GO_ON);
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
  ports: ModelPorts,
  of: Conversation,
  limits: ContextLimits,
  messages: readonly Message[],
  signal: AbortSignal,
): Promise<Answer | ModelFailure> {
  const { model } = of.meta;
  const request = requestOf(of, messages, Math.min(limits.answer, SUMMARY_TOKENS));
  const speech = modelOf(ports.settings).stream(request, signal);
  let event = await speech.next();
  while (!event.done) event = await speech.next();
  const answer = event.value;
  const { usage } = answer;
  if (usage) ports.commit(() => addUsage(ports.sql, "compaction", model, usage, ports.now()));
  if (answer.status === "failed" && answer.kind !== "aborted") {
    log("compaction.model_failed", { kind: answer.kind });
  }
  return answer;
}

/** Tokens of a prompt, as the server counts them; undefined where it does not say. */
export async function countPrompt(
  ports: Pick<ModelPorts, "settings">,
  of: Conversation,
  messages: readonly Message[],
  signal: AbortSignal,
): Promise<number | undefined> {
  // A prompt ends with the user's words; between two turns they are still to come.
  const ended = messages.at(-1)?.role === "assistant" ? [...messages, NEXT_WORDS] : messages;
  return modelOf(ports.settings).count?.(requestOf(of, ended, 1), signal);
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
  ports: { sql: SqlStorage; env: Pick<AgentEnv, "FILES"> },
  of: Conversation,
  path: string,
): Promise<{ text: string; etag: string } | undefined> {
  if (isIndex(of, path)) return undefined;
  const { meta, memory } = of;
  const target = sessionMounts(ports, meta, memory).resolve(path);
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
