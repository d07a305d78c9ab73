import type Anthropic from "@anthropic-ai/sdk";
import type { FakeModel } from "../fake-model.ts";
import { clientOver, MODEL } from "../probe.ts";

// A service in small, for the policy's tests: files in a Map with the rules the real tools keep (a file
// is changed only after it was read, text is replaced only where it stands once), and the tool loop.

export const DIR = "/memory/projects/p/memory";

const NAMES = ["Read", "Write", "Edit", "Delete", "Glob", "Grep"];
const TOOLS: Anthropic.Tool[] = NAMES.map((name) => ({ name, input_schema: { type: "object" } }));
const MAX_ITERATIONS = 12;

type Answer = { text: string; failed?: boolean };

export interface TestAgent {
  files: Map<string, string>;
  messages: Anthropic.MessageParam[];
  /** Every tool call so far, as `Name last-part-of-path`. */
  calls: string[];
  /** Runs before a tool: a test's own failure, or a change behind the agent's back. */
  onCall: (name: string, path: string) => Answer | undefined;
  say(text: string, options?: { purpose?: string; system?: string }): Promise<string>;
  /** Ends the conversation: the next one sees the index as it then is. */
  restart(): void;
}

export function testAgent(fakeModel: FakeModel): TestAgent {
  const files = new Map<string, string>();
  const read = new Map<string, string | undefined>();
  let shownIndex = "";
  const client = clientOver(fakeModel);
  const agent: TestAgent = {
    files,
    messages: [],
    calls: [],
    onCall: () => undefined,
    restart: () => {
      agent.messages.length = 0;
      read.clear();
      shownIndex = files.get(`${DIR}/MEMORY.md`) ?? "";
      read.set(`${DIR}/MEMORY.md`, shownIndex);
    },
    say: async (text, { purpose = "main", system = systemWith(shownIndex) } = {}) => {
      agent.messages.push({ role: "user", content: text });
      for (let iteration = 0; iteration < MAX_ITERATIONS; iteration++) {
        const message = await client.messages
          .stream(
            {
              model: MODEL,
              max_tokens: 4_000,
              system,
              tools: TOOLS,
              thinking: { type: "adaptive" },
              messages: agent.messages,
            },
            { headers: { "x-memdir-purpose": purpose } },
          )
          .finalMessage();
        agent.messages.push({ role: "assistant", content: message.content });
        if (message.stop_reason !== "tool_use") return textIn(message.content);
        agent.messages.push({ role: "user", content: message.content.flatMap(resultOf) });
      }
      throw new Error(`No end after ${MAX_ITERATIONS} iterations: ${agent.calls.join(", ")}`);
    },
  };

  function resultOf(block: Anthropic.ContentBlock): Anthropic.ToolResultBlockParam[] {
    if (block.type !== "tool_use") return [];
    const input = Object.fromEntries(Object.entries(block.input ?? {}));
    const path = String(input.file_path ?? "");
    agent.calls.push(`${block.name} ${path.split("/").at(-1)}`.trim());
    const { text, failed } = agent.onCall(block.name, path) ?? run(block.name, path, input);
    const result = { type: "tool_result" as const, tool_use_id: block.id, content: text };
    return [failed ? { ...result, is_error: true } : result];
  }

  function run(name: string, path: string, input: Record<string, unknown>): Answer {
    const content = files.get(path);
    const fail = (text: string) => ({ text, failed: true });
    if (name === "Glob") return { text: [...files.keys()].join("\n") };
    if (name === "Grep") {
      return { text: [...files].flatMap(([file, text]) => hits(file, text, input)).join("\n") };
    }
    if (name === "Write") {
      if (content !== undefined && read.get(path) !== content) {
        return fail(`Cannot write ${path}: it exists and was not read`);
      }
      files.set(path, String(input.content));
      read.set(path, String(input.content));
      return { text: `Wrote ${path}` };
    }
    if (content === undefined) return fail(`${path} does not exist`);
    if (name === "Read") {
      read.set(path, content);
      const lines = content.split("\n").map((line, index) => `${index + 1}\t${line}`);
      return { text: lines.join("\n") };
    }
    if (name === "Delete") {
      files.delete(path);
      return { text: `Deleted ${path}` };
    }
    if (read.get(path) !== content)
      return fail(`Cannot edit ${path}: it changed since it was read`);
    const parts = content.split(String(input.old_string));
    if (parts.length !== 2)
      return fail(`old_string was found ${parts.length - 1} times in ${path}`);
    const changed = parts.join(String(input.new_string));
    files.set(path, changed);
    read.set(path, changed);
    return { text: `Edited ${path}` };
  }

  return agent;
}

function hits(file: string, text: string, input: Record<string, unknown>): string[] {
  const found = text.split("\n").filter((line) => line.includes(String(input.pattern)));
  return found.map((line) => `${file}: ${line}`);
}

function systemWith(index: string): string {
  return `You remember things. Your memory directory is \`${DIR}/\`.
<memory_index path="${DIR}/MEMORY.md">
${index}
</memory_index>`;
}

function textIn(content: Anthropic.ContentBlock[]): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
