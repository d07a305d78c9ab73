import { type Turn, textOf, turnsOf } from "../conversation.ts";
import { systemBlocks } from "../render.ts";
import type { Block, Prompt } from "../wire.ts";
import { type IndexLine, indexLines, lastIndexBlock } from "./memory-index.ts";

/** One tool call of the conversation with its result. */
export interface Call {
  name: string;
  input: Record<string, unknown>;
  result: string;
  isError: boolean;
}

/** A memory that the service put into the conversation by itself. */
export interface Recalled {
  file: string;
  text: string;
}

/** All that the policy looks at, taken from the request and from nothing else. */
export interface View {
  /** What the user last said, reminders left out. */
  text: string;
  /** The same turn as it was sent. */
  prompt: string;
  /** True for the first thing said in a conversation. */
  isFirst: boolean;
  tools: Set<string>;
  /** Calls made for what was last said, in order: how far the present work has come. */
  calls: Call[];
  /** All messages before, oldest first; one of tool calls or results alone has no text. */
  before: { role: string; text: string }[];
  /** What was said before, oldest first. */
  earlier: { role: "user" | "assistant"; text: string }[];
  /** Calls before that. */
  earlierCalls: Call[];
  /** The project's directory, which a relative path is meant to start from. */
  projectDir: string | undefined;
  memoryDir: string | undefined;
  /** The index as it is known to have been before the present work began. */
  index: IndexLine[];
  recalled: Recalled[];
}

const REMINDER = /<system-reminder>([\s\S]*?)<\/system-reminder>/g;

export function viewOf(request: Prompt): View {
  const turns = turnsOf(request.messages);
  const start = startOf(turns);
  const system = systemBlocks(request)
    .map(({ text }) => text)
    .join("\n");
  const prompt = saidIn(turns[start]);
  const before = turns.slice(0, start);
  const earlierCalls = callsIn(turns.slice(0, start + 1));
  const memoryDir = directoryIn(system);
  return {
    text: prompt.replace(REMINDER, "").trim(),
    prompt,
    isFirst: !before.some(({ role }) => role === "assistant"),
    tools: new Set((request.tools ?? []).flatMap(({ name }) => name ?? [])),
    calls: callsIn(turns.slice(start)),
    before: before.map((turn) => ({ role: turn.role, text: spokenIn(turn) })),
    earlier: before.flatMap((turn) => {
      const text = spokenIn(turn);
      return turn.role === "system" || text === "" ? [] : [{ role: turn.role, text }];
    }),
    earlierCalls,
    projectDir: /\/workspace\/[\w.-]*[\w-]/.exec(system)?.[0],
    memoryDir,
    index: indexBefore(system, before, earlierCalls, memoryDir),
    recalled: turns.flatMap(recalledIn),
  };
}

// Tool results and bare reminders answer the model; only other text is a person speaking.
function startOf(turns: readonly Turn[]): number {
  const spoken = turns.findLastIndex(
    (turn) => turn.role === "user" && saidIn(turn).replace(REMINDER, "").trim() !== "",
  );
  if (spoken >= 0) return spoken;
  return Math.max(
    0,
    turns.findLastIndex((turn) => turn.role === "user" && saidIn(turn) !== ""),
  );
}

function saidIn(turn: Turn | undefined): string {
  const texts = turn?.blocks.flatMap(({ block }) => (block.type === "text" ? [block.text] : []));
  return texts?.join("\n") ?? "";
}

function spokenIn(turn: Turn): string {
  return saidIn(turn).replace(REMINDER, "").trim();
}

function callsIn(turns: readonly Turn[]): Call[] {
  const blocks = turns.flatMap((turn) => turn.blocks.map(({ block }) => block));
  const results = new Map<string, Extract<Block, { type: "tool_result" }>>();
  for (const block of blocks) {
    if (block.type === "tool_result") results.set(block.tool_use_id, block);
  }
  return blocks.flatMap((block) => {
    const result = block.type === "tool_use" ? results.get(block.id) : undefined;
    if (block.type !== "tool_use" || !result) return [];
    const { name, input } = block;
    return [{ name, input, result: textOf(result), isError: result.is_error === true }];
  });
}

function directoryIn(system: string): string | undefined {
  const named = /memory directory is [`"']?(\/[^\s`"'<>]+)/i.exec(system)?.[1];
  const found = named ?? /(\/[^\s`"'<>]+\/memory)\/?/.exec(system)?.[1];
  return found?.replace(/[/.]+$/, "");
}

function indexBefore(
  system: string,
  before: readonly Turn[],
  calls: readonly Call[],
  memoryDir: string | undefined,
): IndexLine[] {
  // A compaction may have put a newer index into the conversation.
  const shown = [system, ...before.map(saidIn)].map(lastIndexBlock).findLast((text) => text);
  let text = shown ?? "";
  for (const call of calls) {
    if (call.isError || call.input.file_path !== `${memoryDir}/MEMORY.md`) continue;
    text = indexAfter(text, call);
  }
  return indexLines(text);
}

function indexAfter(text: string, { name, input, result }: Call): string {
  if (name === "Read") return fileText(result);
  if (name === "Write") return String(input.content);
  if (name !== "Edit") return text;
  return text.replace(String(input.old_string), () => String(input.new_string));
}

/** The text of a file from what Read answered: without line numbers and notes, where it has them. */
export function fileText(result: string): string {
  const lines = result.replace(REMINDER, "").split("\n");
  const numbered = /^\s*\d+(?:\t|→)(.*)$/;
  if (!lines.some((line) => /^\s*1(?:\t|→)/.test(line))) return lines.join("\n").trimStart();
  return lines.flatMap((line) => numbered.exec(line)?.[1] ?? []).join("\n");
}

const MEMORY = /^<memory path="([^"]+)"[^>]*>\n([\s\S]*?)\n<\/memory>$/gm;
const FRONTMATTER = /^---[ \t]*\n[\s\S]*?\n---[ \t]*$/gm;
const FILE_LINE = /^.*?([^\s`"'(<>]+\.md)\b.*$/gm;

// A reminder may hold several memories: each in its tag, or as a line that names a file, then its
// frontmatter and body. Where none has frontmatter, the first file named is the only one. The index is none.
function recalledIn(turn: Turn): Recalled[] {
  if (turn.role !== "user") return [];
  return [...saidIn(turn).matchAll(REMINDER)].flatMap(([, inner = ""]) => {
    if (inner.includes("<memory_index")) return [];
    const tagged = [...inner.matchAll(MEMORY)];
    if (tagged.length > 0) {
      return tagged.map(([, path = "", text = ""]) => ({
        file: path.split("/").at(-1) ?? "",
        text,
      }));
    }
    const starts = [...inner.matchAll(FRONTMATTER)].map(({ index }) => index);
    const named = [...inner.matchAll(FILE_LINE)];
    const owners = starts.map((start) => named.findLast(({ index }) => index < start));
    const heads =
      starts.length > 0 ? owners.filter((head) => head !== undefined) : named.slice(0, 1);
    return heads.map((head, at) => {
      const from = head.index + head[0].length;
      const text = inner.slice(from, heads[at + 1]?.index ?? inner.length).trim();
      return { file: (head[1] ?? "").split("/").at(-1) ?? "", text };
    });
  });
}
