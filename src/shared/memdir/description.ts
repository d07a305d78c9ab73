/** What stands where a memory's description should be: a reader knows that nothing was left out. */
export const NO_DESCRIPTION = "(no description)";

/** Whether a description tells anything: it has a letter, a digit or a pictograph. */
export function isUsable(description: string | undefined): description is string {
  return description !== undefined && /[\p{L}\p{N}\p{So}]/u.test(description);
}
