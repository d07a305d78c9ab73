// Every variable, named and parsed once: by the service, and by `npm start` before it starts one.

import * as z from "zod";
import { MemdirError } from "../shared/errors.ts";
import { DRAIN_MS, LEASE_MS } from "../shared/limits/extraction.ts";
import { NOTES_FIRST_TOKENS, NOTES_GROWTH_TOKENS, NOTES_WAIT_MS } from "../shared/limits/notes.ts";
import { APPROVAL_TIMEOUT_MS, CUSTOM_TOOL_TIMEOUT_MS } from "../shared/limits/tools.ts";
import { MODEL_IDLE_MS } from "../shared/limits/turn.ts";
import { type MemoryPath, memoryBase, memoryPath } from "../shared/settings/memory-path.ts";
import { permissionMode } from "../shared/tools/permission.ts";

/** A whole number from `least` to `most`: a time that never comes is a mistake, not a setting. */
const within = (least: number, most: number) =>
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

/** A path that these rules take; what they refuse is said with its rule, as a path is no secret. */
const place = (rules: (path: string) => MemoryPath) =>
  z.string().superRefine((path, context) => {
    const result = rules(path);
    if (result.status === "ok") return;
    const message = `is not a place for memory (${result.rule}): ${result.message}`;
    context.addIssue({ code: "custom", message });
  });

const name = z.string().trim().regex(/^\S+$/, "is blank or holds a blank, so it names no model");

/** A switch of any spelling: a config file may hold `true` or 0 where a shell holds text. */
const word = z.coerce.string();

const variables = z.object({
  AUTH_SECRET: z.string().min(32, "has fewer than 32 characters").optional(),
  AUTH_JWKS_URL: z.url("is not a URL").optional(),
  AUTH_ISSUER: z.string().min(1).optional(),
  AUTH_AUDIENCE: z.string().min(1).optional(),
  ANTHROPIC_API_KEY: z.string().min(1).optional(),
  ANTHROPIC_BASE_URL: z.url("is not a URL").optional(),
  MODEL: name.default("claude-opus-5-5"),
  RECALL_MODEL: name.default("claude-sonnet-5-5"),
  /** Takes a turn over while the model itself is overloaded. */
  FALLBACK_MODEL: name.optional(),
  REMOTE_MEMORY_DIR: place(memoryBase).optional(),
  MEMORY_PATH_OVERRIDE: place(memoryPath).optional(),
  DISABLE_AUTO_MEMORY: word.optional(),
  SIMPLE: word.optional(),
  MODEL_IDLE_MS: within(1, 60 * MINUTE_MS).default(MODEL_IDLE_MS),
  /** In place of what is known of the model: for local runs with a small window. */
  CONTEXT_WINDOW_TOKENS: within(8000, MANY).optional(),
  /** How long the first model call of a turn may wait for what is recalled. */
  RECALL_WAIT_MS: within(0, MINUTE_MS).default(0),
  RECALL_FALLBACK: z.enum(["words", "none"], 'is neither "words" nor "none"').default("words"),
  /** An extraction after every so many turns; 0 turns it off. */
  EXTRACTION_EVERY_TURNS: within(0, MANY).default(1),
  EXTRACTION_DRAIN_MS: within(0, 10 * MINUTE_MS).default(DRAIN_MS),
  /** A sign of life comes three times in it. */
  LEASE_MS: within(SECOND_MS, 60 * MINUTE_MS).default(LEASE_MS),
  /** Session notes: the tokens of the first update, the growth until each next one. */
  NOTES_FIRST_TOKENS: within(1, MANY).default(NOTES_FIRST_TOKENS),
  NOTES_GROWTH_TOKENS: within(1, MANY).default(NOTES_GROWTH_TOKENS),
  /** How long a compaction waits for an update of the notes. */
  NOTES_WAIT_MS: within(0, MINUTE_MS).default(NOTES_WAIT_MS),
  /** How a session asks before a tool changes something, unless its creation says otherwise. */
  PERMISSION_MODE: permissionMode.default("accept_edits"),
  APPROVAL_TIMEOUT_MS: within(1, 30 * DAY_MS).default(APPROVAL_TIMEOUT_MS),
  CUSTOM_TOOL_TIMEOUT_MS: within(1, 30 * DAY_MS).default(CUSTOM_TOOL_TIMEOUT_MS),
  DAILY_TOKEN_BUDGET: within(1, 1_000_000_000_000).optional(),
});

export type Variables = z.infer<typeof variables>;

/** What checks a token. */
export type AuthSettings = Pick<
  Variables,
  "AUTH_SECRET" | "AUTH_JWKS_URL" | "AUTH_ISSUER" | "AUTH_AUDIENCE"
>;
/** What a session needs to run turns. */
export type AgentSettings = Omit<Variables, keyof AuthSettings>;

/** Those of an environment that the service knows and that are not empty. */
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

/** An empty variable is one that is not set: shells and files cannot tell the two apart. */
function withoutEmpty(env: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
}
