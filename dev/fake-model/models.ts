/** What the fake model must know of a model to refuse and to meter as the API does. */
export interface ModelFacts {
  id: string;
  name: string;
  line: "haiku" | "sonnet" | "opus" | "fable" | "mythos";
  contextTokens: number;
  maxOutputTokens: number;
  /** The cache skips a shorter prefix in silence. Assumed for the 5.5 family: no source names it. */
  minCacheTokens: number;
  /** Whether the model takes `role: "system"` in the middle of a conversation. */
  midSystem: boolean;
  createdAt: string;
}

type Row = [
  id: string,
  context: number,
  output: number,
  minCache: number,
  midSystem: boolean,
  day: string,
];

const MILLION = 1_000_000;

// Newest first, as GET /v1/models lists them. Days are placeholders but for their order.
const ROWS: Row[] = [
  ["claude-fable-5-2", MILLION, 128_000, 512, true, "2026-11-10"],
  ["claude-mythos-5-2", MILLION, 128_000, 512, true, "2026-11-09"],
  ["claude-haiku-5-5", MILLION, 128_000, 1024, true, "2026-10-21"],
  ["claude-sonnet-5-5", MILLION, 128_000, 1024, true, "2026-10-20"],
  ["claude-fable-5-1", MILLION, 128_000, 512, true, "2026-09-15"],
  ["claude-opus-5-5", MILLION, 128_000, 1024, true, "2026-09-10"],
  ["claude-mythos-5-1", MILLION, 128_000, 512, true, "2026-09-01"],
  ["claude-sonnet-5", MILLION, 64_000, 1024, true, "2026-07-10"],
  ["claude-fable-5", MILLION, 64_000, 512, true, "2026-07-05"],
  ["claude-mythos-5", MILLION, 64_000, 512, true, "2026-07-01"],
  ["claude-opus-5", MILLION, 64_000, 512, true, "2026-06-15"],
  ["claude-opus-4-8", MILLION, 64_000, 1024, true, "2026-05-15"],
  ["claude-opus-4-7", MILLION, 64_000, 2048, false, "2026-04-10"],
  ["claude-mythos-preview", MILLION, 64_000, 2048, false, "2026-04-07"],
  ["claude-opus-4-6", MILLION, 64_000, 4096, false, "2026-02-05"],
  ["claude-sonnet-4-6", MILLION, 64_000, 1024, false, "2026-02-04"],
  ["claude-opus-4-5", 200_000, 64_000, 4096, false, "2025-11-01"],
  ["claude-opus-4-5-20251101", 200_000, 64_000, 4096, false, "2025-11-01"],
  ["claude-haiku-4-5", 200_000, 32_000, 4096, false, "2025-10-01"],
  ["claude-haiku-4-5-20251001", 200_000, 32_000, 4096, false, "2025-10-01"],
  ["claude-sonnet-4-5", 200_000, 64_000, 1024, false, "2025-09-29"],
  ["claude-sonnet-4-5-20250929", 200_000, 64_000, 1024, false, "2025-09-29"],
];

const LINES = ["haiku", "sonnet", "opus", "fable", "mythos"] as const;

const MODELS: readonly ModelFacts[] = ROWS.map(
  ([id, contextTokens, maxOutputTokens, minCacheTokens, midSystem, day]) => ({
    id,
    name: `Claude ${id.slice("claude-".length)} (demo model)`,
    line: LINES.find((line) => id.includes(line)) ?? "opus",
    contextTokens,
    maxOutputTokens,
    minCacheTokens,
    midSystem,
    createdAt: `${day}T00:00:00Z`,
  }),
);

/** Undefined for an id that the API does not know either. */
export function findModel(id: string): ModelFacts | undefined {
  return MODELS.find((model) => model.id === id);
}

function modelInfo(model: ModelFacts): Record<string, unknown> {
  const yes = { supported: true };
  const no = { supported: false };
  return {
    type: "model",
    id: model.id,
    display_name: model.name,
    created_at: model.createdAt,
    line: model.line,
    lifecycle: "active",
    deprecated_at: null,
    retires_at: null,
    max_input_tokens: model.contextTokens,
    max_tokens: model.maxOutputTokens,
    capabilities: { batch: no, structured_outputs: yes, image_input: no, pdf_input: no },
  };
}

/** What GET answers for /v1/models and below; undefined where nothing is. */
export function modelsAnswer(pathname: string): Record<string, unknown> | undefined {
  if (pathname === "/v1/models") {
    const data = MODELS.map(modelInfo);
    const ids = { first_id: MODELS[0]?.id ?? null, last_id: MODELS.at(-1)?.id ?? null };
    return { data, has_more: false, ...ids };
  }
  if (!pathname.startsWith("/v1/models/")) return undefined;
  const model = findModel(decodeURIComponent(pathname.slice("/v1/models/".length)));
  return model && modelInfo(model);
}
