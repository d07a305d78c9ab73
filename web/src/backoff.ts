const FIRST_MS = 500;
const CAP_MS = 15_000;

/** Delay before retry number `attempt` (from 0): doubles up to a cap, with half of it left to chance. */
export function backoff(attempt: number, random: () => number = Math.random): number {
  const full = Math.min(CAP_MS, FIRST_MS * 2 ** attempt);
  return Math.round(full / 2 + (full / 2) * random());
}

/** Waits, at most until the signal aborts or the browser says that the network is back. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      removeEventListener("online", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
    addEventListener("online", done);
  });
}
