// How calls reach the rows of an object: what changes something runs one after the other, what reads is
// answered at once. Before the first of them, what a crash or a failed change left is finished; before
// each of them, what the last change had left for after its reply.

import { errorName, log } from "../../../src/platform/log.ts";
import type { Reply } from "../../../src/platform/objects/reply.ts";
import { replyWith } from "../../../src/platform/objects/reply.ts";
import { recover } from "./apply.ts";
import type { Directory } from "./directory.ts";
import { finishRewind } from "./rewind.ts";
import { createSerialQueue } from "./serial-queue.ts";
import { isSpillDue } from "./spill.ts";

type Work<T> = (dir: Directory) => T | Promise<T>;

export interface Access {
  /** Runs after what others asked before, whatever the rows hold. */
  inTurn<T>(work: () => T | Promise<T>): Promise<T>;
  /** The same over the rows, which hold nothing that is half done. */
  alone<T>(work: Work<T>): Promise<Reply<T>>;
  /** Runs what changes something: alone, and after a rewind that is under way. */
  changing<T>(work: Work<T>): Promise<Reply<T>>;
  /** Answers from the rows; nobody ever reads a change that is half done. */
  reading<T>(work: Work<T>): Promise<Reply<T>>;
  /** Leaves a change's last step for after its reply: what it has done so far outlives a crash. */
  afterReply(rest: () => void): void;
  /** Does that step now, if there is one. */
  settle(): void;
}

/** `open` gives the directory as it is then, and throws `not_found` where there is none. */
export function createAccess(open: () => Directory): Access {
  const queue = createSerialQueue();
  /** Known to be no more on disk: an intent, a rewind. One that fails may leave both. */
  let recovered = false;
  let rewound = false;
  let rest: (() => void) | undefined;

  const settle = () => {
    const work = rest;
    rest = undefined;
    try {
      work?.();
    } catch (error) {
      // Its intent is on disk: the next call makes up for it, as after a crash.
      recovered = false;
      log("memdir.change_unsettled", { error: errorName(error) });
    }
  };

  const alone = <T>(work: Work<T>): Promise<Reply<T>> =>
    queue(() =>
      replyWith(async () => {
        const dir = open();
        settle();
        if (!recovered) await recover(dir);
        recovered = true;
        try {
          return await work(dir);
        } catch (error) {
          recovered = false;
          rewound = false;
          throw error;
        }
      }),
    );

  return {
    inTurn: (work) => queue(async () => work()),
    alone,
    changing: (work) =>
      alone(async (dir) => {
        if (!rewound) await finishRewind(dir);
        rewound = true;
        const result = await work(dir);
        if (isSpillDue(dir)) dir.later();
        return result;
      }),
    reading(work) {
      settle();
      return recovered ? replyWith(() => work(open())) : alone(work);
    },
    afterReply(work) {
      rest = work;
      setTimeout(settle, 0);
    },
    settle,
  };
}
