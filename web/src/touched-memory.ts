import type { SessionEvent } from "./event.ts";
import { toolSubject } from "./tool-call.ts";

export type Touched = { path: string; acts: string[] };

const ACTS: Record<string, string> = {
  Read: "read",
  Write: "written",
  Edit: "edited",
  Delete: "deleted",
  Glob: "searched",
  Grep: "searched",
};

/** Where memory lies unless a session says otherwise. */
const DEFAULT_ROOT = "/memory";

/** Collects the memory files that the tool calls of one session touched, in the order of first touch. */
export function createTouchedMemory() {
  const open = new Map<string, { path: string; act: string }>();
  const touched = new Map<string, Set<string>>();

  return {
    /** True if the collection changed. A call counts when its result is there. */
    take(event: SessionEvent): boolean {
      if (event.kind === "tool-use") {
        const path = toolSubject({ file_path: event.input.file_path, path: event.input.path });
        if (path.startsWith("/")) open.set(event.id, { path, act: ACTS[event.name] ?? event.name });
        return false;
      }
      if (event.kind !== "tool-result") return false;
      const call = open.get(event.toolUseId);
      open.delete(event.toolUseId);
      if (!call) return false;
      const acts = touched.get(call.path) ?? new Set();
      touched.set(call.path, acts.add(event.failed ? `${call.act} (failed)` : call.act));
      return true;
    },
    /** What lies in the memory directory (or below the default root, where that is unknown). */
    list(directory: string): Touched[] {
      const roots = [directory, DEFAULT_ROOT].filter((root) => root !== "");
      const inside = (path: string) =>
        roots.some(
          (root) => path === root || path.startsWith(root.endsWith("/") ? root : `${root}/`),
        );
      return [...touched]
        .filter(([path]) => inside(path))
        .map(([path, acts]) => ({ path, acts: [...acts] }));
    },
    clear(): void {
      open.clear();
      touched.clear();
    },
  };
}
