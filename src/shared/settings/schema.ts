import * as z from "zod";

/**
 * A `settings.json`. Only what is known is checked; what is not is kept and ignored, so that a file
 * of a newer version, or of another program, still works.
 */
export const settingsSchema = z.looseObject(
  {
    /** Whether auto memory is on; the order of the layers is in `enabled.ts`. */
    autoMemoryEnabled: z.boolean("must be true or false").optional(),
    /** Where auto memory lies; honoured from trusted layers only (`locate.ts`). */
    autoMemoryDirectory: z
      .string('must be a path in text, such as "/data/memory" or "~/memory"')
      .optional(),
    /** What a secret found in private memory does: the write is refused, or it passes with a warning. */
    privateSecretScan: z.enum(["refuse", "warn"], 'must be "refuse" or "warn"').optional(),
  },
  "the settings must be a JSON object",
);

export type Settings = z.infer<typeof settingsSchema>;

export type ParsedSettings =
  | { status: "ok"; settings: Settings }
  /** `reason` names the key, where it is one, and never shows a value. */
  | { status: "invalid"; reason: string };

/** The settings of a file's text. Never throws: what cannot be used is `invalid`, as a whole. */
export function parseSettings(text: string): ParsedSettings {
  let value: unknown;
  try {
    // Editors of some systems put a byte order mark in front.
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return { status: "invalid", reason: "the file is not valid JSON" };
  }
  const result = settingsSchema.safeParse(value);
  if (result.success) return { status: "ok", settings: result.data };
  const [issue] = result.error.issues;
  const key = issue?.path.join(".") ?? "";
  const message = issue?.message ?? "the settings do not have the right shape";
  return { status: "invalid", reason: key === "" ? message : `${key}: ${message}` };
}
