// A result that is too large for the conversation: its beginning is shown, all of it lies in a file
// of the session's own, where Read finds it.

/** Where the agent finds what was kept. */
export const KEPT_DIRECTORY = "/session/results";

const NOTE = /\[\d+ bytes were left out here\. All of it is in (\/session\/results\/[\w.-]+)/;

/** The path of a kept result, by the name of its file. */
export function keptFile(name: string): string {
  return `${KEPT_DIRECTORY}/${name}.txt`;
}

/** What stands behind the beginning of a kept result. */
export function keptNote(bytes: number, path: string): string {
  return `\n[${bytes} bytes were left out here. All of it is in ${path}: Read it with offset and limit]`;
}

/** The file in which all of a result lies, where its text says so at its end. */
export function keptPath(content: string): string | undefined {
  return NOTE.exec(content.slice(-400))?.[1];
}
