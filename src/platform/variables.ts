// Every variable, named and parsed once: by the service, and by `npm start` before it starts one.

import * as z from "zod";
import { MemdirError } from "../shared/errors.ts";
import { DRAIN_MS, LEASE_MS, MODEL_IDLE_MS } from "../shared/limits.ts";
import { memoryBase } from "../shared/settings/memory-path.ts";

const positive = z.coerce
  .number("is not a number")
  .int("is not a whole number")
  .positive("is not above 0");

const whole = z.coerce.number("is not a number").int("is not a whole number").min(0, "is below 0");

/** A switch of any spelling: a config file may hold `true` or 0 where a shell holds text. */
const word = z.coerce.string();

const variables = z.object({
  AUTH_SECRET: z.string().min(32, "has fewer than 32 characters").optional(),
  AUTH_JWKS_URL: z.url("is not a URL").optional(),
  AUTH_ISSUER: z.string().min(1).optional(),
  AUTH_AUDIENCE: z.string().min(1).optional(),
  ANTHROPIC_API_KEY: z.string().min(1).optional(),
  ANTHROPIC_BASE_URL: z.url("is not a URL").optional(),
  MODEL: z.string().min(1).default("claude-opus-5-5"),
  RECALL_MODEL: z.string().min(1).default("claude-sonnet-5-5"),
  REMOTE_MEMORY_DIR: z
    .string()
    .refine((path) => memoryBase(path).status === "ok", "is not a place for memory")
    .optional(),
  MEMORY_PATH_OVERRIDE: z.string().min(1).optional(),
  DISABLE_AUTO_MEMORY: word.optional(),
  SIMPLE: word.optional(),
  MODEL_IDLE_MS: positive.default(MODEL_IDLE_MS),
  /** How long the first model call of a turn may wait for what is recalled. */
  RECALL_WAIT_MS: whole.default(0),
  RECALL_FALLBACK: z.enum(["words", "none"], 'is neither "words" nor "none"').default("words"),
  /** An extraction after every so many turns; 0 turns it off. */
  EXTRACTION_EVERY_TURNS: whole.default(1),
  EXTRACTION_DRAIN_MS: whole.default(DRAIN_MS),
  LEASE_MS: positive.default(LEASE_MS),
  DAILY_TOKEN_BUDGET: positive.optional(),
});

export type Variables = z.infer<typeof variables>;

/** What checks a token. */
export type AuthSettings = Pick<
  Variables,
  "AUTH_SECRET" | "AUTH_JWKS_URL" | "AUTH_ISSUER" | "AUTH_AUDIENCE"
>;
/** What a session needs to run turns. */
export type AgentSettings = Pick<
  Variables,
  | "ANTHROPIC_API_KEY"
  | "ANTHROPIC_BASE_URL"
  | "MODEL"
  | "REMOTE_MEMORY_DIR"
  | "MEMORY_PATH_OVERRIDE"
  | "DISABLE_AUTO_MEMORY"
  | "SIMPLE"
  | "MODEL_IDLE_MS"
  | "DAILY_TOKEN_BUDGET"
  | "RECALL_MODEL"
  | "RECALL_WAIT_MS"
  | "RECALL_FALLBACK"
  | "EXTRACTION_EVERY_TURNS"
  | "EXTRACTION_DRAIN_MS"
  | "LEASE_MS"
>;

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
