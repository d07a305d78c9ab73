import { turnsOf } from "./conversation.ts";
import { hash } from "./hash.ts";
import { canon } from "./render.ts";
import type { Block, Message, Prompt, Role } from "./wire.ts";

// A signature binds thinking to what stood before it. It carries the hash of that prefix and a check
// over it. So it verifies after a restart, without a record of what this server issued.

const VERSION = "fake-model-1";
const PREFIX_START = hash("conversation");

/** The hash of a whole conversation, to which a signature binds an answer's thinking. */
export function prefixOf(messages: readonly Message[]): string {
  let prefix = PREFIX_START;
  for (const turn of turnsOf(messages)) {
    for (const { block } of turn.blocks) prefix = extend(prefix, turn.role, block);
  }
  return prefix;
}

export function signThinking(thinking: string, prefix: string): string {
  return btoa(`${VERSION}.${prefix}.${checkOf(thinking, prefix)}`);
}

export type ThinkingCheck =
  | { status: "ok" }
  | { status: "forged"; path: string }
  | { status: "unbound"; path: string; blocks: Set<Block> };

/**
 * Looks at every thinking block. It refuses a foreign signature always. It reports a changed prefix
 * with the blocks concerned, since the caller may have asked to drop them.
 */
export function checkThinking(request: Prompt): ThinkingCheck {
  let prefix = PREFIX_START;
  let firstUnbound: string | undefined;
  const unbound = new Set<Block>();
  for (const turn of turnsOf(request.messages)) {
    for (const { block, path } of turn.blocks) {
      if (block.type === "redacted_thinking") return { status: "forged", path };
      if (block.type === "thinking") {
        const bound = boundPrefix(block);
        if (bound === undefined) return { status: "forged", path };
        if (bound !== prefix) {
          firstUnbound ??= path;
          unbound.add(block);
        }
      }
      prefix = extend(prefix, turn.role, block);
    }
  }
  if (firstUnbound === undefined) return { status: "ok" };
  return { status: "unbound", path: firstUnbound, blocks: unbound };
}

function boundPrefix(block: Extract<Block, { type: "thinking" }>): string | undefined {
  const [version, prefix, check] = decode(block.signature).split(".");
  if (version !== VERSION || prefix === undefined) return undefined;
  return check === checkOf(block.thinking, prefix) ? prefix : undefined;
}

function decode(signature: string): string {
  try {
    return atob(signature);
  } catch {
    return "";
  }
}

function extend(prefix: string, role: Role, block: Block): string {
  return hash(`${prefix}|${role}|${canon(block)}`);
}

function checkOf(thinking: string, prefix: string): string {
  return hash(`${VERSION}|${prefix}|${thinking}`);
}
