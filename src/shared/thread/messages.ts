// The conversation as the model's API has it, reduced to the blocks that this system produces.

export interface TextBlock {
  type: "text";
  text: string;
}

/** Bound by its signature to everything before it: sent back exactly as it came, or not at all. */
export interface ThinkingBlock {
  type: "thinking";
  thinking: string;
  signature: string;
}

export interface RedactedThinkingBlock {
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

/** The tool calls of a message, in the order in which they were asked for. */
export function toolCallsOf(message: Message | undefined): ToolUseBlock[] {
  if (message?.role !== "assistant") return [];
  return message.content.filter((block) => block.type === "tool_use");
}

/** The same message without thinking; undefined where it holds nothing else. */
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
