import type { SavedMemory, SessionEvent } from "./event.ts";

/** Collects which memories one session saved, by their ids. */
export function createSavedMemory() {
  const saved = new Set<string>();
  return {
    /** True if the event tells of something saved. */
    take(event: SessionEvent): boolean {
      if (event.kind !== "memory-saved") return false;
      for (const { memoryId } of event.memories) saved.add(memoryId);
      return true;
    },
    has: (memoryId: string) => saved.has(memoryId),
    clear: () => saved.clear(),
  };
}

/** What was saved and what was deleted, in a line; of several changes of a path the last one counts. */
export function savedLine(memories: readonly SavedMemory[]): string {
  const last = new Map(memories.map(({ path, operation }) => [path, operation]));
  const named = (deleted: boolean) =>
    [...last]
      .filter(([, operation]) => (operation === "deleted") === deleted)
      .map(([path]) => path)
      .join(", ");
  const parts = [
    ["Saved to memory", named(false)],
    ["Deleted from memory", named(true)],
  ];
  return parts
    .filter(([, names]) => names !== "")
    .map(([what, names]) => `${what}: ${names}`)
    .join(" · ");
}
