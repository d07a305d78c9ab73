/** How the task of a background run begins: marked as ours, as nothing that somebody else writes is. */
export const BACKGROUND =
  "<system-reminder>This is not from the user: you now run in the background, and nobody reads your answer.</system-reminder>";
