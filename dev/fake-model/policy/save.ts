import type { Draft } from "./memory-file.ts";
import { call, type Procedure } from "./play.ts";
import { type Call, fileText, type View } from "./view.ts";

export type Saved = { status: "saved" } | { status: "failed"; reason: string };

const MAX_TRIES = 3;

/** Writes a topic file; adds to the text of one that exists already. */
export function* saveTopic(dir: string, draft: Draft): Procedure<Saved> {
  const file_path = `${dir}/${draft.file}`;
  let last = yield* call("Write", { file_path, content: draft.content });
  for (let tries = 1; last.isError && isWorthAnotherTry(last) && tries < MAX_TRIES; tries++) {
    const read = yield* call("Read", { file_path });
    if (read.isError) return { status: "failed", reason: read.result };
    const end = fileText(read.result).trimEnd().split("\n").at(-1) ?? "";
    const edit = { file_path, old_string: end, new_string: `${end}\n\n${draft.body}` };
    last = yield* call("Edit", edit);
  }
  return outcome(last);
}

/**
 * Puts lines on top of the index. It takes the index from the prompt first; where that proves out of
 * date, it reads the file and makes the change again.
 */
export function* addIndexLines(view: View, dir: string, lines: string[]): Procedure<Saved> {
  let anchor = view.index[0]?.raw;
  return yield* changeIndex(
    dir,
    () => {
      const added = lines.join("\n");
      if (anchor === undefined) return { content: `${added}\n` };
      return { old_string: anchor, new_string: `${added}\n${anchor}` };
    },
    (text, tries) => {
      // With each try more lines: an edit cannot find a line alone that stands twice.
      anchor =
        text.trim() === "" ? undefined : text.trimEnd().split("\n").slice(0, tries).join("\n");
    },
  );
}

/** Takes one line out of the index; a line that is already gone counts as taken out. */
export function* removeIndexLine(dir: string, index: string[], raw: string): Procedure<Saved> {
  let edit = removal(index, raw);
  return yield* changeIndex(
    dir,
    () => edit,
    (text) => {
      edit = removal(text.trimEnd().split("\n"), raw);
    },
  );
}

type Change = { content: string } | { old_string: string; new_string: string };

function* changeIndex(
  dir: string,
  change: () => Change | undefined,
  reread: (text: string, tries: number) => void,
): Procedure<Saved> {
  const file_path = `${dir}/MEMORY.md`;
  let last: Call | undefined;
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const wanted = change();
    if (!wanted) return { status: "saved" };
    last = yield* call("content" in wanted ? "Write" : "Edit", { file_path, ...wanted });
    if (!last.isError || !isWorthAnotherTry(last) || tries === MAX_TRIES) return outcome(last);
    const read = yield* call("Read", { file_path });
    reread(read.isError ? "" : fileText(read.result), tries + 1);
  }
  return last ? outcome(last) : { status: "saved" };
}

// With the line goes its line break: the one after it, or before it if it is the last.
function removal(lines: string[], raw: string): Change | undefined {
  const at = lines.indexOf(raw);
  if (at < 0) return undefined;
  const after = lines[at + 1];
  if (after !== undefined) return { old_string: `${raw}\n${after}`, new_string: after };
  const before = lines[at - 1];
  if (before !== undefined) return { old_string: `${before}\n${raw}`, new_string: before };
  return { old_string: raw, new_string: "" };
}

// A conflict is worth a second look; a refusal is an answer.
function isWorthAnotherTry({ result }: Call): boolean {
  if (/denied|permission|not allowed|read-only|secret|forbidden/i.test(result)) return false;
  return /exist|read|changed|modified|stale|match|found|unique/i.test(result);
}

function outcome(last: Call): Saved {
  return last.isError ? { status: "failed", reason: last.result } : { status: "saved" };
}
