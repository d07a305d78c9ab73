// Messages as in the model's API, reduced to the blocks that this system uses.

export interface TextBlock {
  type: "text";
  text: string;
}

/** Its signature covers everything before it: sent back exactly as it came, or not at all. */
interface ThinkingBlock {
  type: "thinking";
  thinking: string;
  signature: string;
}

interface RedactedThinkingBlock {
  type: "redacted_thinking";
  data: string;
}

export interface ToolUseBlock {
  type: "tool_use";
  id: string;
  name: string;
  input: Record<string, unknown>;
}

export interface ToolResultBlock {
  type: "tool_result";
  tool_use_id: string;
  content: string;
  is_error?: boolean;
}

export type AssistantBlock = TextBlock | ThinkingBlock | RedactedThinkingBlock | ToolUseBlock;
export type UserBlock = TextBlock | ToolResultBlock;

export type Message =
  | { role: "user"; content: UserBlock[] }
  | { role: "assistant"; content: AssistantBlock[] };

/** The tool calls of a message, in their order. */
export function toolCallsOf(message: Message | undefined): ToolUseBlock[] {
  if (message?.role !== "assistant") return [];
  return message.content.filter((block) => block.type === "tool_use");
}

/** The same message without thinking; undefined if it contains nothing else. */
export function withoutThinking(message: Message): Message | undefined {
  if (message.role === "user") return message;
  const content: AssistantBlock[] = message.content.filter(
    (block) => block.type !== "thinking" && block.type !== "redacted_thinking",
  );
  if (content.length === message.content.length) return message;
  return content.length === 0 ? undefined : { role: "assistant", content };
}

/** The files that the calls of these messages name, as they are written there. */
export function filesNamed(messages: readonly Message[]): string[] {
  return messages.flatMap((message) =>
    toolCallsOf(message).flatMap(({ input }) =>
      typeof input.file_path === "string" ? [input.file_path] : [],
    ),
  );
}
