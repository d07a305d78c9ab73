// All environment variables, parsed once: by the service, and by `npm start` before it starts one.

import * as z from "zod";
import { MemdirError } from "../shared/errors.ts";
import { DRAIN_MS, LEASE_MS } from "../shared/limits/extraction.ts";
import { STORE_MOST_BYTES, STORE_SPILL_BYTES } from "../shared/limits/memory.ts";
import { NOTES_FIRST_TOKENS, NOTES_GROWTH_TOKENS, NOTES_WAIT_MS } from "../shared/limits/notes.ts";
import { APPROVAL_TIMEOUT_MS, CUSTOM_TOOL_TIMEOUT_MS } from "../shared/limits/tools.ts";
import { MODEL_IDLE_MS, SESSION_MOST_BYTES } from "../shared/limits/turn.ts";
import { SWITCH_WORDS, switchOf } from "../shared/settings/enabled.ts";
import { type MemoryPath, memoryBase, memoryPath } from "../shared/settings/memory-path.ts";
import { permissionMode } from "../shared/tools/permission.ts";

/** A whole number from `least` to `most`. */
const between = (least: number, most: number) =>
  z.coerce
    .number("is not a number")
    .int("is not a whole number")
    .min(least, `is not ${least} or more`)
    .max(most, `is not ${most} or less`);

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** More than any window, budget or count that makes sense. */
const MANY = 1_000_000_000;

/** A path that `rules` accepts. The message names the rule and the path, which is no secret. */
const place = (rules: (path: string) => MemoryPath) =>
  z.string().superRefine((path, context) => {
    const result = rules(path);
    if (result.status === "ok") return;
    const message = `is not a place for memory (${result.rule}): ${result.message}`;
    context.addIssue({ code: "custom", message });
  });

const name = z.string().trim().regex(/^\S+$/, "is blank or holds a blank, so it names no model");

/**
 * A switch: a config file may contain `true` or 0 in place of text. A word that nobody knows could be
 * meant either way, so it is refused.
 */
const word = z.coerce
  .string()
  .refine((text) => switchOf(text) !== undefined, `is none of ${SWITCH_WORDS}`);

const variables = z.object({
  AUTH_SECRET: z.string().min(32, "has fewer than 32 characters").optional(),
  AUTH_JWKS_URL: z.url("is not a URL").optional(),
  AUTH_ISSUER: z.string().min(1).optional(),
  AUTH_AUDIENCE: z.string().min(1).optional(),
  ANTHROPIC_API_KEY: z.string().min(1).optional(),
  ANTHROPIC_BASE_URL: z.url("is not a URL").optional(),
  MODEL: name.default("claude-opus-5-5"),
  RECALL_MODEL: name.default("claude-sonnet-5-5"),
  /** Takes over while `MODEL` is overloaded. */
  FALLBACK_MODEL: name.optional(),
  REMOTE_MEMORY_DIR: place(memoryBase).optional(),
  MEMORY_PATH_OVERRIDE: place(memoryPath).optional(),
  DISABLE_AUTO_MEMORY: word.optional(),
  SIMPLE: word.optional(),
  MODEL_IDLE_MS: between(1, 60 * MINUTE_MS).default(MODEL_IDLE_MS),
  /** Replaces the model's own context window: for local runs with a small one. */
  CONTEXT_WINDOW_TOKENS: between(8000, MANY).optional(),
  /** How long the first model call of a turn may wait for recall. */
  RECALL_WAIT_MS: between(0, MINUTE_MS).default(0),
  RECALL_FALLBACK: z.enum(["words", "none"], 'is neither "words" nor "none"').default("words"),
  /** An extraction after every so many turns; 0 turns it off. */
  EXTRACTION_EVERY_TURNS: between(0, MANY).default(1),
  EXTRACTION_DRAIN_MS: between(0, 10 * MINUTE_MS).default(DRAIN_MS),
  /** A lease is renewed three times in this span. */
  LEASE_MS: between(SECOND_MS, 60 * MINUTE_MS).default(LEASE_MS),
  /** Session notes: tokens at the first update, growth until each later one. */
  NOTES_FIRST_TOKENS: between(1, MANY).default(NOTES_FIRST_TOKENS),
  NOTES_GROWTH_TOKENS: between(1, MANY).default(NOTES_GROWTH_TOKENS),
  /** How long a compaction waits for an update of the notes. */
  NOTES_WAIT_MS: between(0, MINUTE_MS).default(NOTES_WAIT_MS),
  /** How a session asks before a tool changes something, unless its creation says otherwise. */
  PERMISSION_MODE: permissionMode.default("accept_edits"),
  APPROVAL_TIMEOUT_MS: between(1, 30 * DAY_MS).default(APPROVAL_TIMEOUT_MS),
  CUSTOM_TOOL_TIMEOUT_MS: between(1, 30 * DAY_MS).default(CUSTOM_TOOL_TIMEOUT_MS),
  /** A memory store's database: from where on its history moves to R2, and where it is full. */
  STORE_SPILL_BYTES: between(0, STORE_MOST_BYTES).default(STORE_SPILL_BYTES),
  STORE_MOST_BYTES: between(0, STORE_MOST_BYTES).default(STORE_MOST_BYTES),
  /** Where a session's database is full. */
  SESSION_MOST_BYTES: between(0, SESSION_MOST_BYTES).default(SESSION_MOST_BYTES),
  DAILY_TOKEN_BUDGET: between(1, 1_000_000_000_000).optional(),
});

export type Variables = z.infer<typeof variables>;

/** The variables that check a token. */
type AuthSettings = Pick<
  Variables,
  "AUTH_SECRET" | "AUTH_JWKS_URL" | "AUTH_ISSUER" | "AUTH_AUDIENCE"
>;
/** The variables that a session needs. */
export type AgentSettings = Omit<Variables, keyof AuthSettings>;

/** The variables of an environment that the service knows and that are not empty. */
export function passedVariables(environment: Record<string, string | undefined>) {
  const passed: Record<string, string> = {};
  for (const name of Object.keys(variables.shape)) {
    const value = environment[name];
    if (value) passed[name] = value;
  }
  return passed;
}

const parsed = new WeakMap<object, Variables>();

/**
 * The variables of this environment. Throws a `MemdirError` that names the first wrong one and never
 * its value, which may be a secret.
 */
export function variablesOf(env: object): Variables {
  const known = parsed.get(env);
  if (known) return known;
  const result = variables.safeParse(withoutEmpty(env));
  if (!result.success) {
    const issue = result.error.issues[0];
    throw new MemdirError(
      "internal",
      `${issue?.path.join(".") ?? "A variable"} ${issue?.message ?? "is not valid"}. Correct it and start again`,
    );
  }
  parsed.set(env, result.data);
  return result.data;
}

/** An empty variable counts as unset: shells and files cannot tell the two apart. */
function withoutEmpty(env: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
}
