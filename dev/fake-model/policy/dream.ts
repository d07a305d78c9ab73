import type { ScriptStep } from "../script.ts";
import { factOf } from "./memory-file.ts";
import { type IndexLine, indexLines } from "./memory-index.ts";
import { call, type Procedure, play } from "./play.ts";
import { removeIndexLine } from "./save.ts";
import { fileText, type View } from "./view.ts";

const MAX_FILES = 40;

/** Puts the memory in order: says nothing twice and points nowhere. Ends with a report. */
export function consolidate(view: View): ScriptStep {
  return play(dream(view), view);
}

function* dream(view: View): Procedure {
  const dir = view.memoryDir;
  if (dir === undefined) return "Report: there is no memory directory.";
  const read = yield* call("Read", { file_path: `${dir}/MEMORY.md` });
  if (read.isError) return `Report: the index could not be read: ${read.result}`;
  const lines = indexLines(fileText(read.result)).slice(0, MAX_FILES);
  if (lines.length === 0) return "Report: the index is empty, nothing to do.";

  const files = yield lines.map(({ file }) => ({
    name: "Read",
    input: { file_path: `${dir}/${file}` },
  }));
  const facts = new Map<string, IndexLine>();
  const report = [`Read the index and ${lines.length} files.`];
  let index = fileText(read.result).trimEnd().split("\n");
  for (const [at, line] of lines.entries()) {
    const file = files[at];
    const gone = file === undefined || file.isError;
    const fact = gone ? "" : normalized(factOf(fileText(file.result)));
    const twin = facts.get(fact);
    if (!gone && (fact === "" || !twin)) {
      facts.set(fact, line);
      continue;
    }
    if (!gone && !view.tools.has("Delete")) continue;
    if (!gone) {
      const deleted = yield* call("Delete", { file_path: `${dir}/${line.file}` });
      if (deleted.isError) {
        report.push(`Kept ${line.file}: ${deleted.result}`);
        continue;
      }
    }
    const removed = yield* removeIndexLine(dir, index, line.raw);
    index = index.filter((raw) => raw !== line.raw);
    const why = gone ? "its file is gone" : `it says the same as ${twin?.file}`;
    report.push(
      removed.status === "saved"
        ? `Removed ${line.file}: ${why}.`
        : `The line of ${line.file} could not be removed: ${removed.reason}`,
    );
  }
  if (report.length === 1) report.push("Nothing is said twice and no line points nowhere.");
  return `Report\n\n${report.map((entry) => `- ${entry}`).join("\n")}`;
}

function normalized(fact: string): string {
  return fact
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
