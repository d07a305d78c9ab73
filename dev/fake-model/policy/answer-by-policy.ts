import { formatOf } from "../render.ts";
import type { ScriptStep } from "../script.ts";
import type { MessagesRequest } from "../wire.ts";
import { summarizeProgress } from "./agent-summary.ts";
import { summarize } from "./compaction.ts";
import { consolidate } from "./dream.ts";
import { extractMemories } from "./extraction.ts";
import { instanceOf, isRecord } from "./instance.ts";
import { answerMain } from "./main.ts";
import { selectMemories } from "./recall.ts";
import { updateNotes } from "./session-notes.ts";
import { type View, viewOf } from "./view.ts";
import { firstCharacters } from "./words.ts";

const BY_PURPOSE: Record<string, (view: View) => ScriptStep> = {
  main: answerMain,
  subagent: answerMain,
  recall: selectMemories,
  extraction: extractMemories,
  "session-notes": updateNotes,
  compaction: summarize,
  "agent-summary": summarizeProgress,
  dream: consolidate,
};

/**
 * What the fake model says when no script does. The request alone decides, so that the same request
 * always gets the same answer. A request without a known purpose is a conversation.
 */
export function answerByPolicy(call: {
  request: MessagesRequest;
  purpose: string | undefined;
}): ScriptStep {
  const { request, purpose } = call;
  const view = viewOf(request);
  const schema = formatOf(request)?.schema;
  if (purpose === "recall" || selects(schema)) return selectMemories(view);
  if (schema) return { text: JSON.stringify(instanceOf(schema, firstCharacters(view.text, 80))) };
  const step = (BY_PURPOSE[purpose ?? "main"] ?? answerMain)(view);
  if (request.tool_choice?.type !== "none" || !step.tools) return step;
  return { text: "I would need a tool for that, and may not use one now." };
}

function selects(schema: Record<string, unknown> | undefined): boolean {
  return isRecord(schema?.properties) && "selected_memories" in schema.properties;
}
