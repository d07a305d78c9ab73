/** The four types of memory, closed. */
export const MEMORY_TYPES = ["user", "feedback", "project", "reference"] as const;

export type MemoryType = (typeof MEMORY_TYPES)[number];

/**
 * The type that a text names; case and surrounding blanks do not count, for readers and writers
 * alike. Whatever else it is reads as undefined, and the memory works without a type.
 */
export function memoryType(text: unknown): MemoryType | undefined {
  if (typeof text !== "string") return undefined;
  const wanted = text.trim().toLowerCase();
  return MEMORY_TYPES.find((type) => type === wanted);
}
