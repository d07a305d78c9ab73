import * as z from "zod";
import { isTimeZone } from "../text/local-time.ts";
import { misspelt } from "./spelling.ts";

/** A time zone by its name. */
export const ZONE_FORM = 'an IANA name, such as "Europe/Berlin" or "UTC"';

/**
 * A `settings.json`. Only what is known is checked; what is not is kept and ignored, so that a file
 * of a newer version, or of another program, still works.
 */
const known = z.looseObject(
  {
    /** Whether auto memory is on; the order of the layers is in `enabled.ts`. */
    autoMemoryEnabled: z.boolean("must be true or false").optional(),
    /** Where auto memory lies; honoured from trusted layers only (`locate.ts`). */
    autoMemoryDirectory: z
      .string('must be a path in text, such as "/data/memory" or "~/memory"')
      .optional(),
    /** What a secret found in private memory does: the write is refused, or it passes with a warning. */
    privateSecretScan: z.enum(["refuse", "warn"], 'must be "refuse" or "warn"').optional(),
    /** The zone of new sessions that name none; honoured from the user's own layer only. */
    time_zone: z
      .string(`must be ${ZONE_FORM}`)
      .refine(isTimeZone, `must be ${ZONE_FORM}`)
      .optional(),
  },
  "the settings must be a JSON object",
);

/** The settings that somebody sends: a key of ours in another spelling is refused too. */
export const settingsSchema = known.superRefine((settings, context) => {
  for (const { key, reason } of misspellings(settings)) {
    context.addIssue({ code: "custom", path: [key], message: reason });
  }
});

/** What a layer says. "unclear": something is there and cannot be read, which counts as off. */
export interface LayerSettings {
  autoMemoryEnabled?: boolean | "unclear" | undefined;
  autoMemoryDirectory?: string | undefined;
  privateSecretScan?: "refuse" | "warn" | undefined;
  time_zone?: string | undefined;
}

/** What of a file cannot be used. `key` is undefined where that is all of it. */
interface SettingsProblem {
  key: string | undefined;
  /** Never shows a value, which may be a secret. */
  reason: string;
}

interface ParsedSettings {
  settings: LayerSettings;
  problems: SettingsProblem[];
}

/** A file that nobody can read may have said no. */
const STRICT: LayerSettings = { autoMemoryEnabled: "unclear", privateSecretScan: "refuse" };
const LIMITING = ["autoMemoryEnabled", "autoMemoryDirectory", "privateSecretScan"];

/**
 * The settings of a file's text. Never throws: a key that cannot be used counts as the strictest that
 * it may have meant, the others count as they are.
 */
export function parseSettings(text: string): ParsedSettings {
  let value: unknown;
  try {
    // Editors of some systems put a byte order mark in front.
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return unreadableSettings("the file is not valid JSON");
  }
  const result = known.safeParse(value);
  const issues = result.success ? [] : result.error.issues;
  if (issues.some(({ path }) => path.length === 0) || typeof value !== "object" || value === null) {
    return unreadableSettings("the settings must be a JSON object");
  }
  const problems: SettingsProblem[] = issues.map(({ path, message }) => ({
    key: String(path[0]),
    reason: message,
  }));
  const wrong = misspellings(value);
  const bad = new Set([...problems.map(({ key }) => key), ...wrong.map((each) => each.known)]);
  const usable = Object.entries(value).filter(([key]) => !bad.has(key));
  const strict = Object.entries(STRICT).filter(([key]) => bad.has(key));
  return {
    settings: { ...known.parse(Object.fromEntries(usable)), ...Object.fromEntries(strict) },
    problems: [...problems, ...wrong.map(({ key, reason }) => ({ key, reason }))],
  };
}

/** What a file says that cannot be read at all. */
export function unreadableSettings(reason: string): ParsedSettings {
  return { settings: STRICT, problems: [{ key: undefined, reason }] };
}

function misspellings(settings: object) {
  return misspelt(Object.keys(settings), LIMITING).map((each) => ({
    ...each,
    reason: `is no setting; write ${each.known}`,
  }));
}
