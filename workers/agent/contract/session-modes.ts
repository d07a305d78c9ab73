// Modes that a session's creation fixes: `metadata.permission_mode` and `metadata.mid_turn_messages`.

import * as z from "zod";
import { MemdirError } from "../../../src/shared/errors.ts";
import type { PermissionMode } from "../../../src/shared/tools/permission.ts";
import { permissionMode } from "../../../src/shared/tools/permission.ts";

export const midTurnMessages = z.enum(["queue", "join"], 'is neither "queue" nor "join"');

/** The modes among a session's metadata; wrong ones name their field. */
export const modeMetadata = z.object({
  permission_mode: permissionMode.optional(),
  mid_turn_messages: midTurnMessages.optional(),
});

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
