// A result that is too large for the conversation: its beginning is shown, all of it lies in a file
// of the session's own, where Read finds it.

/** Where the agent finds what was stored. */
export const STORED_DIRECTORY = "/session/results";

/** The path of a stored result, by the name of its file. */
export function storedFile(name: string): string {
  return `${STORED_DIRECTORY}/${name}.txt`;
}

/** What stands after the beginning of a stored result. */
export function storedNote(bytes: number, path: string): string {
  return `\n[${bytes} bytes were left out here. All of it is in ${path}: Read it with offset and limit]`;
}
