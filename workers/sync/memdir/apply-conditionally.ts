// THE loop around every change: decide on the rows, apply on the condition that R2 holds what we know,
// and where it does not, import what it holds and decide anew.

import type { Actor } from "../../../src/platform/objects/memdir-rpc.ts";
import type { Receipt } from "../../../src/shared/files/receipt.ts";
import type { ChangedOutside, PutChange, Written } from "./apply.ts";
import { applyDelete, applyPut } from "./apply.ts";
import type { Directory } from "./directory.ts";
import type { Head } from "./heads.ts";
import { importPath } from "./import.ts";

/** Attempts at one change, each over what the one before found in R2. */
const ATTEMPTS = 6;

/** What is to be done about the rows as they are now. */
export type Decision<Reply> =
  | { type: "finished"; reply: Reply }
  | {
      type: "put";
      change: PutChange;
      reply: (written: Written) => Reply | Promise<Reply>;
      /** This is all that the call does: nothing reads the rows after it. */
      isLast?: boolean;
    }
  | { type: "delete"; head: Head; actor: Actor; reply: (receipt: Receipt) => Reply };

/** The decision that nothing is left to do. */
export function finished<Reply>(reply: Reply): Decision<Reply> {
  return { type: "finished", reply };
}

/**
 * Carries out what `decide` decides. `decide` looks at the rows afresh each time and changes nothing.
 * `contended` is the reply where R2 held something else at every attempt, or holds what cannot come in.
 */
export async function applyConditionally<Reply>(
  dir: Directory,
  decide: () => Decision<Reply> | Promise<Decision<Reply>>,
  contended: () => Reply,
): Promise<Reply> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const decision = await decide();
    if (decision.type === "finished") return decision.reply;
    const applied = await apply(dir, decision);
    if (applied !== "changed_outside") return applied.reply;
    const path = decision.type === "put" ? decision.change.path : decision.head.path;
    if ((await importPath(dir, path)) === "left") break;
  }
  return contended();
}

async function apply<Reply>(
  dir: Directory,
  decision: Exclude<Decision<Reply>, { type: "finished" }>,
): Promise<{ reply: Reply } | ChangedOutside> {
  if (decision.type === "put") {
    const written = await applyPut(dir, decision.change, decision.isLast === true);
    return written === "changed_outside" ? written : { reply: await decision.reply(written) };
  }
  const receipt = await applyDelete(dir, decision.head, decision.actor);
  return receipt === "changed_outside" ? receipt : { reply: decision.reply(receipt) };
}
