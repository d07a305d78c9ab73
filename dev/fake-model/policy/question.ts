import { factOf } from "./memory-file.ts";
import { call, type Procedure } from "./play.ts";
import { fileText, type View } from "./view.ts";
import { keywords, overlap } from "./words.ts";

export const INTRODUCTION =
  "I'm the demo model: I follow fixed rules and understand nothing. Tell me to remember " +
  'something, or ask about what I was told. "What can you do?" shows more.';

export const GUIDE = `I'm the demo model: I follow fixed rules and understand nothing. Real answers need ANTHROPIC_API_KEY. All the rest here is real: sessions, files and memory. Try:

- Remember that our staging server is staging.acme.example
- What is the address of our staging server? (in a new session, too)
- What do you remember?
- Forget the staging server
- Create a file notes/todo.md with the text: buy tea
- Read notes/todo.md
- List files`;

const OPENING = /^(who|what|where|when|which|how|why|wie|was|wer|wo|wann|warum|welche[rs]?)\b/i;
const MAX_FILES_READ = 3;

export function isQuestion(text: string): boolean {
  return /[?？]\s*$/.test(text) || OPENING.test(text) || /吗|什么|哪里|谁/.test(text);
}

export function asksWhoItIs(text: string): boolean {
  return /\b(who|what) are you\b|what model|are you (a |an )?(real|ai|model|bot)|wer bist du|你是谁/i.test(
    text,
  );
}

export function asksWhatItCan(text: string): boolean {
  return /\bwhat (?:can|could) (?:you do|i (?:do|ask|say|try))(?: here| for me| with (?:you|this))?[?.!\s]*$|\bhow (?:do|can) i use (?:you|this)\b|^(?:please )?help(?: me)?[.!?]*$|was kannst du|你能做什么/i.test(
    text,
  );
}

/** Answers from what the recall found or from the file whose index line shares most words. */
export function* answerQuestion(view: View): Procedure {
  if (/what (do|did) you (remember|know)( about me)?\s*\??$/i.test(view.text)) return listAll(view);
  const asked = keywords(view.text);
  const recalled = ranked(view.recalled, asked, ({ file, text }) => `${file} ${text}`)[0];
  const listed = ranked(view.index, asked, ({ title, file, hook }) => `${title} ${file} ${hook}`);
  // What the conversation holds already needs no second read.
  if (recalled && recalled.score >= (listed[0]?.score ?? 0)) {
    return quote(recalled.item.file, recalled.item.text);
  }
  for (const { item } of listed.slice(0, MAX_FILES_READ)) {
    const read = yield* call("Read", { file_path: `${view.memoryDir}/${item.file}` });
    if (!read.isError) return quote(item.file, fileText(read.result));
  }
  return "I have nothing on that in my memory. I'm the demo model, so that is all I can look at.";
}

function ranked<T>(
  items: readonly T[],
  asked: Set<string>,
  textOf: (item: T) => string,
): { item: T; score: number }[] {
  return items
    .map((item) => ({ item, score: overlap(asked, keywords(textOf(item))) }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score);
}

function quote(file: string, text: string): string {
  return `From memory (${file}): ${factOf(text)}`;
}

function listAll(view: View): string {
  if (view.index.length === 0) return "My memory is empty.";
  const lines = view.index.map(({ file, hook }) => `- ${hook} (${file})`);
  return `In my memory:\n${lines.join("\n")}`;
}
