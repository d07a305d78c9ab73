import { call, type Procedure } from "./play.ts";
import { fileText } from "./view.ts";
import { firstCharacters } from "./words.ts";

const SHOWN_CHARACTERS = 4_000;

/** Makes a relative path absolute. */
type At = (path: string) => string;
type Run = (parts: string[], at: At) => Procedure;

const COMMANDS: [pattern: RegExp, run: Run][] = [
  [
    /^(?:list|show(?: me)?|what)\s+(?:(?:the|all|my|of)\s+)*files(?:\s+are\s+(?:there|here))?(?:\s+in\s+(?:my|the|this)\s+(?:workspace|project)|.*?\sin\s+(\S+?))?[?.]?$/i,
    list,
  ],
  [/^(?:search for|grep(?: for)?)\s+(.+?)(?:\s+in\s+(\/\S+|~\S*))?$/i, search],
  [/^read\s+(?:(?:the\s+)?file\s+)?(\S+?)[.?!]?$/i, read],
  [/^write\s+(\S+?):\s([\s\S]*)$/i, write],
  [
    /^(?:create|make|write|add)\s+(?:(?:a|the|new)\s+)*(?:file\s+)?(?:(?:named|called|at)\s+)?['"`]?(\S+?\.\w+)['"`]?,?\s+(?:with(?:\s+the)?\s+(?:text|content|contents|words|line)|containing|that says|saying)\b:?\s*([\s\S]+)$/i,
    write,
  ],
  [/^edit\s+(\S+?):?\s+replace\s+['"]([\s\S]+?)['"]\s+with\s+['"]([\s\S]*?)['"]\.?$/i, edit],
  [/^delete\s+(?:(?:the\s+)?file\s+)?(\S+\.\w+)[.!]?$/i, remove],
];

/**
 * The work that a plain file command asks for; undefined where the text is none. A relative path
 * starts at the project's directory, where the request names it.
 */
export function fileCommand(text: string, projectDir: string | undefined): Procedure | undefined {
  const at: At = (path) =>
    projectDir === undefined || /^[/~]/.test(path) ? path : `${projectDir}/${path}`;
  const asked = text.replace(/^(?:please|can you|could you)\s+/i, "");
  for (const [pattern, run] of COMMANDS) {
    const found = pattern.exec(asked);
    if (found) {
      const parts = found.slice(1).map((part) => part ?? "");
      return run(parts, at);
    }
  }
  return undefined;
}

function* list([path = ""]: string[], at: At): Procedure {
  const input = path === "" ? {} : { path: at(path) };
  return told("Files:", yield* call("Glob", { pattern: "**/*", ...input }));
}

function* search([wanted = "", path = ""]: string[]): Procedure {
  const pattern = wanted.replace(/^(['"`])(.*)\1$/, "$2");
  const input = path === "" ? {} : { path };
  return told(`Found for ${pattern}:`, yield* call("Grep", { pattern, ...input }));
}

function* read([path = ""]: string[], at: At): Procedure {
  const result = yield* call("Read", { file_path: at(path) });
  if (result.isError) return told("", result);
  return `${path}:\n${firstCharacters(fileText(result.result), SHOWN_CHARACTERS)}`;
}

function* write([path = "", content = ""]: string[], at: At): Procedure {
  const result = yield* call("Write", { file_path: at(path), content });
  return result.isError ? told("", result) : `I wrote ${path}.`;
}

function* edit([path = "", old_string = "", new_string = ""]: string[], at: At): Procedure {
  const file_path = at(path);
  const seen = yield* call("Read", { file_path });
  if (seen.isError) return told("", seen);
  const result = yield* call("Edit", { file_path, old_string, new_string });
  return result.isError ? told("", result) : `I edited ${path}.`;
}

function* remove([path = ""]: string[], at: At): Procedure {
  const result = yield* call("Delete", { file_path: at(path) });
  return result.isError ? told("", result) : `I deleted ${path}.`;
}

function told(heading: string, result: { result: string; isError: boolean }): string {
  if (result.isError) return `That failed: ${firstCharacters(result.result, SHOWN_CHARACTERS)}`;
  return `${heading}\n${firstCharacters(result.result, SHOWN_CHARACTERS)}`;
}
