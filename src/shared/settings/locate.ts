import { canonicalPath } from "../safety/path.ts";
import { projectSlug } from "./slug.ts";

/** Whether a session has auto memory, by which rule, and where. */
export type MemoryPlace =
  | { enabled: false; rule: string }
  /** `directory` is canonical, without a final slash. */
  | { enabled: true; rule: string; directory: string; slug: string };

export interface PlaceInput {
  /** `REMOTE_MEMORY_DIR`. A Worker is always remote: without it there is no memory. */
  remoteMemoryDir: string | undefined;
  /** Canonical root of the project. */
  projectRoot: string;
  bare: boolean;
}

/**
 * The one place that knows where a project's memory lies: the prompt, the sandbox and every
 * background run ask here.
 */
export async function locateMemory(input: PlaceInput): Promise<MemoryPlace> {
  if (input.bare) return { enabled: false, rule: "the session is bare" };
  if (input.remoteMemoryDir === undefined) {
    return { enabled: false, rule: "REMOTE_MEMORY_DIR is not set" };
  }
  const base = canonicalPath(input.remoteMemoryDir);
  if (base.status === "refused") {
    return { enabled: false, rule: `REMOTE_MEMORY_DIR is refused: ${base.rule}` };
  }
  const slug = await projectSlug(input.projectRoot);
  return {
    enabled: true,
    rule: "default",
    directory: `${base.path}/projects/${slug}/memory`,
    slug,
  };
}
