import { hash } from "../hash.ts";
import { firstCharacters, isStopWord, oneLine, plainWords } from "./words.ts";

/** A memory about to be written: the topic file and its line in the index. */
export interface Draft {
  file: string;
  content: string;
  /** What to add where the file turns out to exist already. */
  body: string;
  line: string;
}

type MemoryType = "user" | "feedback" | "project" | "reference";

const NAME_WORDS = 6;
const NAME_CHARACTERS = 50;
const DESCRIPTION_CHARACTERS = 120;
const LINE_CHARACTERS = 149;

const RULES: [MemoryType, RegExp][] = [
  ["reference", /https?:\/\/|\b(dashboard|tracker|wiki|runbook|channel|staging|jira|linear)\b/i],
  [
    "feedback",
    /\b(don['’]?t|do not|never|always|stop|avoid|instead|immer|niemals?)\b|不要|总是|总要/i,
  ],
  ["user", /\b(i|i['’]m|me|my|mine|ich|mein|meine|mir)\b|我/i],
];

function typeOf(fact: string): MemoryType {
  return RULES.find(([, pattern]) => pattern.test(fact))?.[0] ?? "project";
}

/** Drafts one memory; the file name never collides with one of `taken`. */
export function draftMemory(fact: string, taken: Iterable<string>): Draft {
  const text = fact.trim();
  const type = typeOf(text);
  const words = nameWords(text);
  const name = freeName(slugOf(words, text), new Set(taken));
  const file = `${name}.md`;
  const description = oneLine(text, DESCRIPTION_CHARACTERS);
  const body = bodyOf(text, type);
  const frontmatter = [
    "---",
    `name: ${name}`,
    `description: ${JSON.stringify(description)}`,
    `type: ${type}`,
    "---",
  ];
  const head = `- [${titleOf(words)}](${file}) - `;
  const room = LINE_CHARACTERS - Array.from(head).length;
  return {
    file,
    content: `${frontmatter.join("\n")}\n\n${body}\n`,
    body,
    line: head + oneLine(text, room),
  };
}

function bodyOf(text: string, type: MemoryType): string {
  if (type !== "feedback" && type !== "project") return text;
  const use = type === "feedback" ? "Follow it in later work." : "Keep it in mind in later work.";
  return `${text}\n\n**Why:** The user asked to have it remembered.\n**How to apply:** ${use}`;
}

function nameWords(text: string): string[] {
  const all = plainWords(text);
  const telling = all.filter((word) => !isStopWord(word));
  return (telling.length > 0 ? telling : all).slice(0, NAME_WORDS);
}

// Accents on Latin letters go, letters of other scripts stay: a name of CJK words is readable too.
function slugOf(words: string[], text: string): string {
  const slug = words
    .join("-")
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .normalize("NFC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, "-");
  const short = firstCharacters(slug, NAME_CHARACTERS).replace(/^-+|-+$/g, "");
  return short === "" || short === "memory" ? `memory-${hash(text).slice(0, 6)}` : short;
}

function freeName(slug: string, taken: Set<string>): string {
  let name = slug;
  for (let count = 2; taken.has(`${name}.md`); count++) name = `${slug}-${count}`;
  return name;
}

function titleOf(words: string[]): string {
  const title = words.join(" ").replace(/[[\]()]/g, "");
  return title === "" ? "Memory" : firstCharacters(title, 1).toUpperCase() + title.slice(1);
}

/** What a memory says: its first paragraph, without frontmatter and the lines on use. */
export function factOf(text: string): string {
  const body = text.replace(/^\s*---\n[\s\S]*?\n---\n?/, "");
  const kept = body
    .split("\n")
    .filter((line) => !/^\s*(\*\*(why|how to apply):|<\/?[\w-]+[^>]*>\s*$|#)/i.test(line));
  return (
    kept
      .join("\n")
      .trim()
      .split(/\n\s*\n/)[0] ?? ""
  );
}
