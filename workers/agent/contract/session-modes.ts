// What a session's creation fixes by its metadata. A value that is not documented is refused, and so is one
// of these names in another spelling: else what it was meant to limit would not be limited.

import * as z from "zod";
import { MemdirError } from "../../../src/shared/errors.ts";
import { ZONE_FORM } from "../../../src/shared/settings/schema.ts";
import { misspelt } from "../../../src/shared/settings/spelling.ts";
import { isTimeZone } from "../../../src/shared/text/local-time.ts";
import type { PermissionMode } from "../../../src/shared/tools/permission.ts";
import { permissionMode } from "../../../src/shared/tools/permission.ts";

export const midTurnMessages = z.enum(["queue", "join"], 'is neither "queue" nor "join"');

/** The zone of who names none. */
export const DEFAULT_ZONE = "UTC";
/** A time zone as it is shown in an error, in characters. */
const ZONE_CHARACTERS = 60;

/** The modes among a session's metadata; wrong ones name their field. */
export const modeMetadata = z.object({
  /** No memory, no notes. */
  bare: z.enum(["true", "false"], 'is neither "true" nor "false"').optional(),
  permission_mode: permissionMode.optional(),
  mid_turn_messages: midTurnMessages.optional(),
  time_zone: z
    .string()
    .refine(isTimeZone, {
      error: ({ input }) =>
        `is no time zone: ${JSON.stringify(String(input).slice(0, ZONE_CHARACTERS))}. Use ${ZONE_FORM}`,
    })
    .optional(),
});

const MODES = ["bare", "permission_mode", "mid_turn_messages"];

/** What is wrong with a session's metadata, each with its field. */
export function modeProblems(
  metadata: Record<string, string>,
): { path: PropertyKey[]; message: string }[] {
  const misspellings = misspelt(Object.keys(metadata), MODES).map(({ key, known }) => ({
    path: [key],
    message: `is no field of ours; write ${known}`,
  }));
  return [...(modeMetadata.safeParse(metadata).error?.issues ?? []), ...misspellings];
}

/** Whether a session has neither memory nor notes. */
export function isBare(metadata: Record<string, string>): boolean {
  return metadata.bare === "true";
}

/** The policy that stands for a mode in the contract. */
export function policyOf(mode: PermissionMode): "always_allow" | "always_ask" {
  return mode === "ask" ? "always_ask" : "always_allow";
}

/**
 * The mode of a new session: what its metadata says, else what a toolset's policy asks for, else the
 * service's own. Throws `invalid_request` where the first two contradict each other.
 */
export function modeOf(
  asked: PermissionMode | undefined,
  policy: "always_allow" | "always_ask" | undefined,
  fallback: PermissionMode,
): PermissionMode {
  if (asked === undefined && policy !== undefined && policy !== policyOf(fallback)) {
    return policy === "always_ask" ? "ask" : "accept_edits";
  }
  const mode = asked ?? fallback;
  if (policy === undefined || policy === policyOf(mode)) return mode;
  throw new MemdirError(
    "invalid_request",
    `metadata.permission_mode: "${mode}" contradicts the policy "${policy}" of agent.tools. Leave one of them out`,
  );
}
