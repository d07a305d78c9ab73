import type { Message } from "./messages.ts";

/**
 * Makes messages valid for the API: leaves out each tool call without a result and each result without
 * a call. The last message may contain calls that have no result yet.
 */
export function withWholePairs(messages: readonly Message[]): Message[] {
  const answered = new Set<string>();
  const called = new Set<string>();
  for (const message of messages) {
    for (const block of message.content) {
      if (block.type === "tool_result") answered.add(block.tool_use_id);
      if (block.type === "tool_use") called.add(block.id);
    }
  }
  const last = messages.at(-1);
  return messages.flatMap((message): Message[] => {
    if (message.role === "assistant") {
      const content = message.content.filter(
        (block) => block.type !== "tool_use" || answered.has(block.id) || message === last,
      );
      return content.length > 0 ? [{ role: "assistant", content }] : [];
    }
    const content = message.content.filter(
      (block) => block.type !== "tool_result" || called.has(block.tool_use_id),
    );
    return content.length > 0 ? [{ role: "user", content }] : [];
  });
}
