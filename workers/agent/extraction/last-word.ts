// The user's last word reaches a fork before its write counts: a write that it decided on before it
// knew of a message is refused once, with that message.

import { MemdirError } from "../../../src/shared/errors.ts";
import { unheardRefusal } from "../../../src/shared/extraction/later-words.ts";
import type { FileStore } from "../../../src/shared/files/store.ts";
import { LATER_TURNS } from "../../../src/shared/limits/extraction.ts";
import type { StepHook } from "../../../src/shared/loop/steps.ts";
import type { Run } from "../rows/runs.ts";
import { changeStart, unfinishedRun } from "../rows/runs.ts";
import { newestTurn, turnsAfter, userWords } from "../rows/turns.ts";
import { sendWrite } from "../rows/write-in-flight.ts";

interface LastWord {
  /** The memory's files as the fork writes them. */
  files: FileStore;
  /** Takes in what has reached the fork. */
  hook: StepHook;
}

/**
 * The messages are looked for in the step that sends the write off. What was acknowledged before it
 * refuses the write; what comes later finds it done. All writes of an answer are refused together: the
 * fork decides anew with its next answer, and what it was shown counts from then on, on disk.
 */
export function lastWord(sql: SqlStorage, run: Run, files: FileStore): LastWord {
  /** What a refusal tells whose result is not on disk yet. */
  let telling: number | undefined;
  const refuseUnheard = (path: string) => {
    const start = unfinishedRun(sql, "extraction")?.start;
    const newest = newestTurn(sql);
    if (!start || newest <= start.heard) return;
    const later = turnsAfter(sql, start.told, LATER_TURNS).map((turn) =>
      textOf(userWords(sql, turn)),
    );
    telling = newest;
    const words = later.length > 0 ? later : undefined;
    throw new MemdirError("invalid_request", unheardRefusal(path, words), path);
  };
  return {
    files: {
      ...files,
      async put(path, bytes, precondition) {
        refuseUnheard(path);
        return sendWrite(sql, () => files.put(path, bytes, precondition));
      },
    },
    hook: {
      record(step) {
        const start = unfinishedRun(sql, "extraction")?.start;
        if (!start) return;
        if (step.type === "call_finished" && telling !== undefined) {
          changeStart(sql, run, { ...start, told: telling });
          telling = undefined;
        }
        if (step.type === "results" && start.told > start.heard) {
          changeStart(sql, run, { ...start, heard: start.told });
        }
      },
    },
  };
}

/** What a message says, in one text. */
export function textOf(words: readonly { text: string }[]): string {
  return words.map(({ text }) => text).join("\n");
}
