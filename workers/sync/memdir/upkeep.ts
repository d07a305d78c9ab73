// What the alarm does: all that is on disk and waits for R2.

import { errorName, log } from "../../../src/platform/log.ts";
import type { Directory } from "./directory.ts";
import { emptyOutbox } from "./outbox.ts";
import { erase } from "./redact.ts";
import { finishRewind } from "./rewind.ts";
import { spill } from "./spill.ts";

/** True when nothing is left to do. What fails keeps nothing else from being done. */
export async function upkeep(dir: Directory): Promise<boolean> {
  const rewound = await finishRewind(dir).then(
    () => true,
    (error: unknown) => {
      log("memdir.rewind_pending", { error: errorName(error) });
      return false;
    },
  );
  const synced = await emptyOutbox(dir);
  const erased = await erase(dir);
  const spilled = await spill(dir);
  return rewound && synced && erased && spilled;
}
