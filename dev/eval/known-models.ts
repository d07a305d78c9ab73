// Models whose figures are known beforehand, behind a real Messages API server: a perfect one, and silly
// ones. They show that the measure tells them apart.

import { createFakeModel, type ModelCall } from "../fake-model/fake-model.ts";
import type { ScriptStep } from "../fake-model/script.ts";
import { type Served, serveFakeModel } from "../fake-model/serve.ts";
import { sessionOf } from "./choose-by-model.ts";
import { type Draft, fileOf } from "./drafts.ts";
import type { Question, Talk } from "./set.ts";

/** A model that chooses by the question that it is asked. */
export function serveChooser(
  questions: readonly Question[],
  choose: (question: Question, at: number) => readonly string[],
): Promise<Served> {
  const known = new Map(questions.map((question, at) => [sessionOf(at), { question, at }]));
  return serve(({ session }) => {
    const asked = known.get(session ?? "");
    const selected_memories = asked ? choose(asked.question, asked.at) : [];
    return { text: JSON.stringify({ selected_memories }) };
  });
}

export interface Saver extends Served {
  begin(sessionId: string, talk: Talk, directory: string): void;
}

/** A model that saves what it is told to, in the background, once the talk's last message was said. */
export async function serveSaver(draft: (talk: Talk) => readonly Draft[]): Promise<Saver> {
  const known = new Map<string, { talk: Talk; directory: string; steps: number }>();
  const served = await serve(({ purpose, session, request }) => {
    const held = known.get(session ?? "");
    if (purpose === "recall") return { text: '{"selected_memories":[]}' };
    if (purpose !== "extraction" || !held) return { text: "All right." };
    const last = JSON.stringify(held.talk.messages.at(-1)).slice(1, -1);
    const wanted = draft(held.talk);
    if (wanted.length === 0 || !JSON.stringify(request.messages).includes(last)) {
      return { text: "There is nothing to save." };
    }
    held.steps += 1;
    // What exists is read before it is written over.
    const calls = [
      ...(held.talk.before ? [wanted.map((one) => read(held.directory, one))] : []),
      wanted.map((one) => write(held.directory, one)),
    ];
    const tools = calls[held.steps - 1];
    return tools ? { tools } : { text: "It is saved." };
  });
  return {
    ...served,
    begin: (sessionId, talk, directory) => known.set(sessionId, { talk, directory, steps: 0 }),
  };
}

function read(directory: string, { path }: Draft) {
  return { name: "Read", input: { file_path: `${directory}/${path}` } };
}

function write(directory: string, { path, type, text }: Draft) {
  const content = fileOf({ name: path.replace(/\.md$/, ""), description: text, type });
  return { name: "Write", input: { file_path: `${directory}/${path}`, content } };
}

function serve(reply: (call: ModelCall) => ScriptStep): Promise<Served> {
  return serveFakeModel(createFakeModel({ recordLimit: 1, reply }));
}
