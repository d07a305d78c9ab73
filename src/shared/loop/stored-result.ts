// A result that is too large for the conversation: the model sees its beginning, and reads the rest in
// a file of the session.

/** The agent's path of the stored results. */
export const STORED_DIRECTORY = "/session/results";

/** The path of a stored result, by the name of its file. */
export function storedFile(name: string): string {
  return `${STORED_DIRECTORY}/${name}.txt`;
}

/** The text after the beginning of a stored result. */
export function storedNote(bytes: number, path: string): string {
  return `\n[${bytes} bytes were left out here. All of it is in ${path}: Read it with offset and limit]`;
}
