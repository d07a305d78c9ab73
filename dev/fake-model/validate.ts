import type * as z from "zod";
import type { ApiError } from "./api-error.ts";
import { checkCacheMarkers } from "./check-cache.ts";
import { checkMessages } from "./check-messages.ts";
import { checkSettings } from "./check-settings.ts";
import { countTokens } from "./meter.ts";
import { findModel, type ModelFacts } from "./models.ts";
import { checkThinking } from "./thinking.ts";
import {
  type Block,
  countSchema,
  type MessagesRequest,
  messagesSchema,
  type Prompt,
} from "./wire.ts";

// Refuses what the API would refuse, with a message that starts with the place. Shape first, then
// the rules between the parts. It reports the first failure.

export type Validated<T> =
  | { status: "ok"; request: T; model: ModelFacts }
  | { status: "refused"; error: ApiError };

export interface ValidateOptions {
  contextTokens?: number | undefined;
}

export function validateMessages(
  body: unknown,
  options: ValidateOptions = {},
): Validated<MessagesRequest> {
  const shaped = checkShape(body, messagesSchema);
  return shaped.status === "refused" ? shaped : validatePrompt(shaped.request, options);
}

/** As for messages, but the endpoint counts a prompt of any length. */
export function validateCount(body: unknown): Validated<Prompt> {
  const shaped = checkShape(body, countSchema);
  if (shaped.status === "refused") return shaped;
  return validatePrompt(shaped.request, { contextTokens: Number.POSITIVE_INFINITY });
}

function validatePrompt<T extends Prompt>(request: T, options: ValidateOptions): Validated<T> {
  const model = findModel(request.model);
  if (!model) return refuse(`model: ${request.model}`, 404);
  const problem =
    checkStrings(request, "") ??
    checkSettings(request, model) ??
    checkMessages(request.messages, model) ??
    checkCacheMarkers(request);
  if (problem !== undefined) return refuse(problem);

  const thinking = checkThinking(request);
  if (thinking.status === "forged") {
    return refuse(`${thinking.path}: Invalid \`signature\` in \`thinking\` block`);
  }
  if (thinking.status === "unbound" && !dropsUnbound(request)) {
    return refuse(
      `${thinking.path}: \`thinking\` block is bound to the messages before it, and they changed. ` +
        "Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to `drop_block`",
    );
  }
  const limit = options.contextTokens ?? model.contextTokens;
  const tokens = countTokens(request);
  if (tokens > limit) return refuse(`prompt is too long: ${tokens} tokens > ${limit} maximum`);
  const kept = thinking.status === "unbound" ? withoutBlocks(request, thinking.blocks) : request;
  return { status: "ok", request: kept, model };
}

function refuse(message: string, status = 400): { status: "refused"; error: ApiError } {
  return { status: "refused", error: { status, message } };
}

function dropsUnbound(request: Prompt): boolean {
  const thinking = request.thinking;
  if (thinking?.type !== "adaptive" && thinking?.type !== "enabled") return false;
  return thinking.block_binding?.prefix_mismatch_behavior === "drop_block";
}

function withoutBlocks<T extends Prompt>(request: T, dropped: Set<Block>): T {
  const messages = request.messages.map((message) =>
    typeof message.content === "string"
      ? message
      : { ...message, content: message.content.filter((block) => !dropped.has(block)) },
  );
  return { ...request, messages };
}

const REMOVED = new Set(["temperature", "top_p", "top_k"]);

// Hands on the body itself, not zod's copy: the schemas transform nothing, and the meter hashes the
// keys in the order in which they came.
function checkShape<T extends z.ZodType>(
  body: unknown,
  schema: T,
): { status: "ok"; request: z.infer<T> } | { status: "refused"; error: ApiError } {
  const parsed = schema.safeParse(body);
  if (parsed.success) return { status: "ok", request: body as z.infer<T> };
  const issue = parsed.error.issues[0];
  return refuse(issue ? describeIssue(issue, []) : "The request body is not valid");
}

type Issue = z.core.$ZodIssue;

function describeIssue(issue: Issue, above: PropertyKey[]): string {
  const path = [...above, ...issue.path];
  const at = (message: string, places = path) =>
    places.length > 0 ? `${places.map(String).join(".")}: ${message}` : message;
  if (issue.code === "invalid_union") {
    const branch = likeliestBranch(issue.errors);
    return branch ? describeIssue(branch, path) : at("Input tag does not match any expected tag");
  }
  if (issue.code === "unrecognized_keys") {
    const key = issue.keys[0] ?? "";
    const removed = path.length === 0 && REMOVED.has(key);
    const reason = removed ? "is not supported by this model" : "Extra inputs are not permitted";
    return at(reason, [...path, key]);
  }
  if (issue.code === "invalid_type" && issue.expected === "never") {
    return at("Extra inputs are not permitted");
  }
  if (issue.code === "invalid_type") {
    const missing = issue.message.endsWith("received undefined");
    return at(missing ? "Field required" : `Input should be a valid ${issue.expected}`);
  }
  return at(issue.message);
}

// Of the forms that a value may have, the sender meant the one that the schema understood furthest.
function likeliestBranch(branches: Issue[][]): Issue | undefined {
  let best: Issue | undefined;
  for (const branch of branches) {
    const first = branch[0];
    if (first && (!best || first.path.length > best.path.length)) best = first;
  }
  return best;
}

function checkStrings(value: unknown, path: string): string | undefined {
  if (typeof value === "string") {
    if (value.isWellFormed()) return undefined;
    return `${path}: str is not valid UTF-8: surrogates not allowed`;
  }
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const place = path === "" ? key : `${path}.${key}`;
    const problem = checkStrings(inner, place);
    if (problem !== undefined) return problem;
    if (!key.isWellFormed()) return `${path}: str is not valid UTF-8: surrogates not allowed`;
  }
  return undefined;
}
