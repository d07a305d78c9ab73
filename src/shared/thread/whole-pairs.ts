import type { Message } from "./messages.ts";

/**
 * The same messages such that the API takes them: a call or result that lost its other half is left
 * out. The last message may hold calls whose results are still to come.
 */
export function withWholePairs(messages: readonly Message[]): Message[] {
  const answered = new Set<string>();
  const asked = new Set<string>();
  for (const message of messages) {
    for (const block of message.content) {
      if (block.type === "tool_result") answered.add(block.tool_use_id);
      if (block.type === "tool_use") asked.add(block.id);
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
      (block) => block.type !== "tool_result" || asked.has(block.tool_use_id),
    );
    return content.length > 0 ? [{ role: "user", content }] : [];
  });
}
