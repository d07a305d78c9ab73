import { call, type Procedure } from "./play.ts";
import { fileText } from "./view.ts";
import { firstCharacters } from "./words.ts";

const SHOWN_CHARACTERS = 4_000;

type Command = [pattern: RegExp, run: (parts: string[]) => Procedure];

const COMMANDS: Command[] = [
  [/^(?:list|show|what)\s+(?:the\s+|all\s+)?files(?:.*?\sin\s+(\S+?))?[?.]?$/i, list],
  [/^(?:search for|grep(?: for)?)\s+(.+?)(?:\s+in\s+(\/\S+|~\S*))?$/i, search],
  [/^read\s+(\S+)$/i, read],
  [/^write\s+(\S+?):\s([\s\S]*)$/i, write],
  [/^edit\s+(\S+?):?\s+replace\s+['"]([\s\S]+?)['"]\s+with\s+['"]([\s\S]*?)['"]\.?$/i, edit],
  [/^delete\s+(\S+\.\w+)$/i, remove],
];

/** The work that a plain file command asks for; undefined where the text is none. */
export function fileCommand(text: string): Procedure | undefined {
  for (const [pattern, run] of COMMANDS) {
    const found = pattern.exec(text);
    if (found) return run(found.slice(1).map((part) => part ?? ""));
  }
  return undefined;
}

function* list([path = ""]: string[]): Procedure {
  const input = path === "" ? {} : { path };
  return told("Files:", yield* call("Glob", { pattern: "**/*", ...input }));
}

function* search([wanted = "", path = ""]: string[]): Procedure {
  const pattern = wanted.replace(/^(['"`])(.*)\1$/, "$2");
  const input = path === "" ? {} : { path };
  return told(`Found for ${pattern}:`, yield* call("Grep", { pattern, ...input }));
}

function* read([file_path = ""]: string[]): Procedure {
  const result = yield* call("Read", { file_path });
  if (result.isError) return told("", result);
  return `${file_path}:\n${firstCharacters(fileText(result.result), SHOWN_CHARACTERS)}`;
}

function* write([file_path = "", content = ""]: string[]): Procedure {
  const result = yield* call("Write", { file_path, content });
  return result.isError ? told("", result) : `I wrote ${file_path}.`;
}

function* edit([file_path = "", old_string = "", new_string = ""]: string[]): Procedure {
  const seen = yield* call("Read", { file_path });
  if (seen.isError) return told("", seen);
  const result = yield* call("Edit", { file_path, old_string, new_string });
  return result.isError ? told("", result) : `I edited ${file_path}.`;
}

function* remove([file_path = ""]: string[]): Procedure {
  const result = yield* call("Delete", { file_path });
  return result.isError ? told("", result) : `I deleted ${file_path}.`;
}

function told(heading: string, result: { result: string; isError: boolean }): string {
  if (result.isError) return `That failed: ${firstCharacters(result.result, SHOWN_CHARACTERS)}`;
  return `${heading}\n${firstCharacters(result.result, SHOWN_CHARACTERS)}`;
}
