// A mind that does as it is told: a fork that saves what the user stated last, and nothing that they took
// back, as far as it was shown.

import type { Sent, Step } from "./fork-model-fixture.ts";

const SAID = /The (\w+) is in (\w+)\.|Forget the (\w+)\./g;

export function stateText(topic: string, value: string): string {
  return `The ${topic} is in ${value}.`;
}

export function forgetText(topic: string): string {
  return `Forget the ${topic}.`;
}

export function memoryOf(topic: string, value: string): string {
  return `---\nname: ${topic}\ndescription: ${value}, for the ${topic}\ntype: project\n---\n\nSaid so.\n`;
}

/** The last word on each topic in a text, in the order of these words; undefined where it is to be forgotten. */
export function lastWords(text: string): Map<string, string | undefined> {
  const last = new Map<string, string | undefined>();
  for (const [, topic, value, gone] of text.matchAll(SAID)) last.set(topic ?? gone ?? "", value);
  return last;
}

/** The fork's next answer to all that it was sent. */
export function faithfulMind(sent: Sent): Step {
  const { before, task, work } = partsOf(sent);
  const end = before.indexOf(named(task, "look_until") ?? "nothing");
  const start = before.indexOf(named(task, "look_from") ?? "nothing");
  const own = lastWords(before.slice(start, end < 0 ? undefined : end));
  const told = [task, ...work.map(({ result }) => result)].flatMap((text) => {
    return [...text.matchAll(/<user_said>(.*?)<\/user_said>/gs)].map(([said]) => said);
  });
  const all = lastWords([before, ...told].join("\n"));
  const tools = [...own.keys()].flatMap((topic): NonNullable<Step["tools"]> => {
    const value = all.get(topic);
    const path = `/${topic}.md`;
    const done = work.some((call) => call.path.endsWith(path) && !isOpen(call.result));
    const isGone = work.some((call) => call.path.endsWith(path) && call.result.includes(GONE));
    const list = new RegExp(`- \\[project\\] ${topic}\\.md \\([-\\d]+\\): (\\w+), for`);
    const known = isGone ? undefined : list.exec(task)?.[1];
    if (value === undefined || done || known === value) return [];
    if (known === undefined) {
      return [{ name: "Write", input: { file_path: `@${path}`, content: memoryOf(topic, value) } }];
    }
    const edit = { old_string: `${known}, for`, new_string: `${value}, for` };
    return [{ name: "Edit", input: { file_path: `@${path}`, ...edit } }];
  });
  return tools.length > 0 ? { text: "hm", tools } : { text: "That was all." };
}

/** Whether a result asks for another decision. */
function isOpen(result: string): boolean {
  return result.includes("the user said") || result.includes(GONE);
}

/** An Edit of a file that is not there any more: whoever is sure of a fact makes it anew. */
const GONE = "there is no such file";

function named(task: string, tag: string): string | undefined {
  return new RegExp(`<${tag}>(.*?)…?</${tag}>`).exec(task)?.[1];
}

/** The words before the task, the task, and the fork's calls with their results. */
function partsOf(sent: Sent) {
  const blocks = sent.flatMap(({ content }) =>
    typeof content === "string" ? [{ type: "text" as const, text: content }] : content,
  );
  const texts = blocks.map((block) => (block.type === "text" ? block.text : ""));
  const at = texts.findLastIndex((text) => text.includes("This is not from the user"));
  const results = new Map(
    blocks.flatMap((block) =>
      block.type === "tool_result" ? [[block.tool_use_id, JSON.stringify(block.content)]] : [],
    ),
  );
  const work = blocks
    .slice(at)
    .flatMap((block) =>
      block.type === "tool_use"
        ? [{ path: String(block.input.file_path), result: results.get(block.id) ?? "" }]
        : [],
    );
  return { before: texts.slice(0, at).join("\n"), task: texts[at] ?? "", work };
}
