import type { ScriptStep } from "../script.ts";
import { draftMemory } from "./memory-file.ts";
import { listedMemory } from "./memory-index.ts";
import { type Procedure, play } from "./play.ts";
import { factToRemember } from "./remember.ts";
import { addIndexLines } from "./save.ts";
import type { View } from "./view.ts";
import { keywords, overlap } from "./words.ts";

const MAX_FACTS = 5;
const DURABLE =
  /^(i am|i['’]m|i (prefer|like|work|live|use|hate|need)|my \w+ (is|are)|call me|we (are|always|never|use|decided|deploy|agreed)|don['’]?t|do not|never|always|the (staging|production|test|build) [\w ]+ (is|lives|runs)|our [\w ]+ (is|are)|ich (bin|mag|arbeite)|wir (nutzen|immer))\b|^我(是|喜欢|们|住)/i;

/** Saves what the user said in passing and is likely to hold for longer than this conversation. */
export function extractMemories(view: View): ScriptStep {
  return play(extract(view), view);
}

function* extract(view: View): Procedure {
  const dir = view.memoryDir;
  if (dir === undefined) return "There is no memory directory, so nothing was saved.";
  const listed = view.prompt.split("\n").flatMap((line) => listedMemory(line) ?? []);
  const taken = [...view.index, ...listed].map(({ file }) => file);
  const known = [
    ...view.index.map(({ hook }) => hook),
    ...listed.map(({ description }) => description),
  ].map(keywords);
  const facts = factsIn(view).filter((fact) => !known.some((words) => says(words, fact)));
  if (facts.length === 0) return "Nothing new to save.";

  const drafts = facts.slice(0, MAX_FACTS).map((fact) => {
    const draft = draftMemory(fact, taken);
    taken.push(draft.file);
    return draft;
  });
  const written = yield drafts.map(({ file, content }) => ({
    name: "Write",
    input: { file_path: `${dir}/${file}`, content },
  }));
  const saved = drafts.filter((_draft, index) => !written[index]?.isError);
  if (saved.length === 0) return `Nothing could be saved: ${written[0]?.result ?? ""}`;
  const lines = saved.map(({ line }) => line);
  const indexed = yield* addIndexLines(view, dir, lines);
  const names = saved.map(({ file }) => file).join(", ");
  return indexed.status === "saved"
    ? `Saved ${names}.`
    : `Saved ${names}, but the index could not be changed: ${indexed.reason}`;
}

// The task names the messages between which to look by their beginnings; without it, look at everything.
function factsIn(view: View): string[] {
  const first = placeOf(view, "look_from") ?? 0;
  const looked = view.before.slice(first, placeOf(view, "look_until", first));
  const sentences = looked
    .filter(({ role, text }) => role === "user" && factToRemember(text) === undefined)
    .flatMap(({ text }) => text.split(/(?<=[.!?。！？])\s+|\n+/))
    .map((sentence) => sentence.trim());
  return [...new Set(sentences.filter((said) => DURABLE.test(said) && !said.endsWith("?")))];
}

/** The message of the user that a task names: its last one that begins so, or the first after another. */
function placeOf(view: View, tag: string, after?: number): number | undefined {
  const named = new RegExp(`<${tag}>(.*?)…?</${tag}>`).exec(view.prompt)?.[1];
  if (named === undefined) return undefined;
  const isNamed = ({ role, text }: { role: string; text: string }, n: number) =>
    role === "user" && n > (after ?? -1) && text.replaceAll(/\s+/g, " ").trim().startsWith(named);
  const at =
    after === undefined ? view.before.findLastIndex(isNamed) : view.before.findIndex(isNamed);
  return at < 0 ? undefined : at;
}

function says(known: Set<string>, fact: string): boolean {
  const words = keywords(fact);
  return words.size > 0 && overlap(words, known) / words.size >= 0.8;
}
