// Every binding and variable, named and parsed once. Each worker is given its own slice, so that a
// secret is visible only where it is used.

import * as z from "zod";
import { MemdirError } from "../src/shared/errors.ts";
import { MODEL_IDLE_MS } from "../src/shared/limits.ts";

/** What sessions need. */
export interface AgentEnv {
  FILES: R2Bucket;
  SESSION: DurableObjectNamespace;
  ACCOUNT: DurableObjectNamespace;
  MEMDIR: DurableObjectNamespace;
}

/** What memory and files for everybody else need. */
export interface SyncEnv {
  FILES: R2Bucket;
  MEMDIR: DurableObjectNamespace;
  ACCOUNT: DurableObjectNamespace;
}

/** What the platform hands to the script; only the merge sees all of it. */
export interface Env extends AgentEnv, SyncEnv {
  WORK: Queue;
  ASSETS: Fetcher;
}

const positive = z.coerce.number().int().positive();

/** A switch of any spelling: a config file may hold `true` or 0 where a shell holds text. */
const word = z.coerce.string();

const variables = z.object({
  AUTH_SECRET: z.string().min(32).optional(),
  AUTH_JWKS_URL: z.url().optional(),
  AUTH_ISSUER: z.string().min(1).optional(),
  AUTH_AUDIENCE: z.string().min(1).optional(),
  ANTHROPIC_API_KEY: z.string().min(1).optional(),
  ANTHROPIC_BASE_URL: z.url().optional(),
  MODEL: z.string().min(1).default("claude-opus-5-5"),
  RECALL_MODEL: z.string().min(1).default("claude-sonnet-5-5"),
  REMOTE_MEMORY_DIR: z.string().min(1).optional(),
  MEMORY_PATH_OVERRIDE: z.string().min(1).optional(),
  DISABLE_AUTO_MEMORY: word.optional(),
  SIMPLE: word.optional(),
  MODEL_IDLE_MS: positive.default(MODEL_IDLE_MS),
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
>;

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
      `The variable ${issue?.path.join(".") ?? "?"} is not valid: ${issue?.message ?? "unknown"}. Correct it and start again`,
    );
  }
  parsed.set(env, result.data);
  return result.data;
}

/** An empty variable is one that is not set: shells and files cannot tell the two apart. */
function withoutEmpty(env: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
}
