import { draftMemory } from "./memory-file.ts";
import type { Procedure } from "./play.ts";
import { call } from "./play.ts";
import { addIndexLines, removeIndexLine, saveTopic } from "./save.ts";
import type { View } from "./view.ts";
import { keywords, oneLine, overlap } from "./words.ts";

const START = String.raw`(?:^|[.!?。！？\n])\s*(?:(?:hey|hi|hello|ok|okay|also|and|so|then)\b[,!]?\s*)*`;
const REMEMBER = [
  new RegExp(
    `${START}(?:please |can you |could you |i want you to |don['’]t forget to )*remember(?: this| that)?[:,]?\\s+([\\s\\S]+)`,
    "i",
  ),
  new RegExp(`${START}(?:please )?don['’]t forget(?: that)?[:,]?\\s+([\\s\\S]+)`, "i"),
  new RegExp(`${START}(?:bitte )?merke? dir(?: bitte)?[:,]?\\s+(?:dass\\s+)?([\\s\\S]+)`, "i"),
  /(?:请|帮我)*记住[:：,，]?\s*([\s\S]+)/,
];
const FORGET = [
  new RegExp(
    `${START}(?:please )?forget(?: about| that| what i said about| the memory about)?[:,]?\\s+([\\s\\S]+)`,
    "i",
  ),
  new RegExp(`${START}(?:bitte )?vergiss(?: bitte)?[:,]?\\s+(?:dass\\s+)?([\\s\\S]+)`, "i"),
  /(?:请)?(?:忘记|忘掉)[:：,，]?\s*([\s\S]+)/,
];

/** What the user asks to have remembered; a question about remembering is none. */
export function factToRemember(text: string): string | undefined {
  return text.endsWith("?") ? undefined : firstMatch(REMEMBER, text);
}

export function subjectToForget(text: string): string | undefined {
  return text.endsWith("?") ? undefined : firstMatch(FORGET, text);
}

function firstMatch(patterns: RegExp[], text: string): string | undefined {
  for (const pattern of patterns) {
    const found = pattern.exec(text)?.[1]?.trim();
    if (found) return found;
  }
  return undefined;
}

const NO_DIRECTORY = "I have no memory directory here, so I can't keep or remove anything.";

export function* remember(view: View, fact: string): Procedure {
  const dir = view.memoryDir;
  if (dir === undefined) return NO_DIRECTORY;
  const draft = draftMemory(
    fact,
    view.index.map(({ file }) => file),
  );
  const hook = draft.line.slice(draft.line.indexOf(") - ") + 4);
  const known = view.index.find((line) => line.hook === hook);
  if (known) return `I have that in memory already (${known.file}).`;

  const saved = yield* saveTopic(dir, draft);
  if (saved.status === "failed") {
    return `I could not save that to ${draft.file}: ${oneLine(saved.reason, 300)}`;
  }
  const indexed = yield* addIndexLines(view, dir, [draft.line]);
  if (indexed.status === "failed") {
    const reason = oneLine(indexed.reason, 300);
    return `I saved that to ${draft.file}, but could not add it to the index: ${reason}`;
  }
  return `I'll remember that. Saved to ${draft.file}: ${oneLine(fact, 200)}`;
}

export function* forget(view: View, subject: string): Procedure {
  const dir = view.memoryDir;
  if (dir === undefined) return NO_DIRECTORY;
  const wanted = keywords(subject);
  const score = (text: string) => overlap(wanted, keywords(text));
  const [best] = view.index
    .map((line) => ({ line, score: score(`${line.title} ${line.file} ${line.hook}`) }))
    .sort((left, right) => right.score - left.score);
  if (!best || best.score === 0) return `I have nothing in memory about ${oneLine(subject, 80)}`;

  const { file, raw } = best.line;
  const deleted = yield* call("Delete", { file_path: `${dir}/${file}` });
  // A file that is gone already still has a line to take out.
  if (deleted.isError && !/not exist|not found|no such/i.test(deleted.result)) {
    return `I could not delete ${file}: ${oneLine(deleted.result, 300)}`;
  }
  const lines = view.index.map((line) => line.raw);
  const removed = yield* removeIndexLine(dir, lines, raw);
  if (removed.status === "failed") {
    const reason = oneLine(removed.reason, 300);
    return `I deleted ${file}, but could not take its line out of the index: ${reason}`;
  }
  return `I've forgotten that: ${file} is deleted and its line is out of the index.`;
}
