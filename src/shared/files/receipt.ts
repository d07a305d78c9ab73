import * as z from "zod";

export const operation = z.enum(["created", "modified", "deleted"]);

/** The proof of a change to a memory: given only when it is on disk. */
export const receipt = z.object({
  /** Relative to its directory. */
  path: z.string(),
  operation,
  /** `mem_…` */
  memoryId: z.string(),
  /** `memver_…` */
  versionId: z.string(),
  /** The version's place in the store's history. */
  n: z.number(),
});

export type Receipt = z.infer<typeof receipt>;
