import type { ModelCall } from "../../dev/fake-model/fake-model.ts";

const FACT = /FACT-\d+ is [a-z]+/g;

/** Notes all facts that the conversation and the notes hold, under the results. */
export function noteFacts({ request, purpose }: ModelCall) {
  if (purpose !== "session-notes") return undefined;
  const texts = request.messages.map((message) => JSON.stringify(message));
  const task = texts.findLastIndex((text) => text.includes("run in the background"));
  if (request.messages.slice(task).some(({ role }) => role === "assistant")) {
    return { text: "The notes are up to date." };
  }
  const facts = [...new Set(texts.join("\n").match(FACT))];
  const notes = JSON.parse(`"${texts[task]?.match(/<session_notes.*<\/session_notes>/)?.[0]}"`);
  const [section = "", heading = ""] =
    /(# Key results\n_[^\n]*_\n)[\s\S]*?(?=\n# Work log)/.exec(notes) ?? [];
  const edit = {
    file_path: "/session/notes.md",
    old_string: section,
    new_string: `${heading}${facts.join("\n")}\n`,
  };
  return { tools: [{ name: "Edit", input: edit }] };
}
