// Followers of the changes: each waits until the next one, or until its time is over.

interface ChangeFeed {
  /** Wakes every follower; they look at the rows themselves. */
  announce(): void;
  /** Resolves at the next announcement, or after so many milliseconds. */
  next(ms: number): Promise<void>;
}

export function createChangeFeed(): ChangeFeed {
  const followers = new Set<() => void>();
  return {
    announce() {
      for (const wake of [...followers]) wake();
    },
    next: (ms) =>
      new Promise((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          followers.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, ms);
        followers.add(wake);
      }),
  };
}
