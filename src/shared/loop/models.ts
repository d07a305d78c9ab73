/** The facts of a model. An id that is not listed has those of `UNKNOWN_MODEL`. */
export interface ModelFacts {
  /** Tokens of the context window. */
  contextTokens: number;
  /** Whether `thinking: {type: "adaptive"}` may be sent. */
  adaptiveThinking: boolean;
  /** US dollars per million tokens. */
  price: { input: number; output: number; cacheRead: number; cacheWrite: number };
}

/** Source: prices and windows as the official command line client accounts for them, 2026-11-30. */
const MODELS: Record<string, ModelFacts> = {
  "claude-opus-5-5": facts(1_000_000, 4, 20, 0.2, 5),
  "claude-sonnet-5-5": facts(1_000_000, 2, 10, 0.1, 2.5),
  "claude-haiku-5-5": facts(1_000_000, 0.1, 0.5, 0.01, 0.125),
  "claude-fable-5-2": facts(1_000_000, 8, 40, 0.2, 10),
  "claude-opus-5": facts(1_000_000, 5, 25, 0.5, 6.25),
  "claude-sonnet-5": facts(1_000_000, 2, 10, 0.2, 2.5),
};

/** A careful guess: the smallest window still in service, no thinking, the middle price. */
const UNKNOWN_MODEL: ModelFacts = {
  ...facts(200_000, 2, 10, 0.2, 2.5),
  adaptiveThinking: false,
};

export function modelFacts(id: string): ModelFacts {
  return Object.hasOwn(MODELS, id) ? (MODELS[id] ?? UNKNOWN_MODEL) : UNKNOWN_MODEL;
}

function facts(
  contextTokens: number,
  input: number,
  output: number,
  cacheRead: number,
  cacheWrite: number,
): ModelFacts {
  const price = { input, output, cacheRead, cacheWrite };
  return { contextTokens, adaptiveThinking: true, price };
}
