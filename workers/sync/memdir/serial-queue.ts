// Work that must not overlap: each piece begins when the one before has ended, however it ended.

/** A queue that runs one piece of work at a time, in the order of asking. */
export function createSerialQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  };
}
