// The model's server of an extraction fork, which answers by what a request holds.

import { afterEach, beforeEach } from "vitest";
import { createFakeModel, type ModelCall } from "../../../dev/fake-model/fake-model.ts";
import { withFetch } from "./session-object-fixture.ts";

export const model = createFakeModel({ reply: (call) => answerOf(call) });
export type Sent = ModelCall["request"]["messages"];
export type Step = NonNullable<
  ReturnType<NonNullable<Parameters<typeof createFakeModel>[0]>["reply"] & {}>
>;

export const server: {
  /** What it does in place of an answer, for one test. */
  atModel: ((call: () => Promise<Response>) => Promise<Response>) | undefined;
  /** What the fork says, by the number of answers that it has had, or by all that it is sent. */
  answers: Step[] | ((sent: Sent, had: number) => Step);
} = { atModel: undefined, answers: [] };

/** Puts the model where the fork asks for it. */
export function withForkModel(): void {
  withFetch((request) => {
    const { atModel } = server;
    const answer = () => model.handle(request);
    return atModel ? atModel(answer) : answer();
  });
  beforeEach(() => {
    model.reset();
    server.atModel = undefined;
    server.answers = savesThree();
  });
  afterEach(() => {
    server.atModel = undefined;
  });
}

/** A fork that makes two memories in one answer, one of them with its line, and then a third. */
export function savesThree(): Step[] {
  const write = (name: string) => ({
    name: "Write",
    input: {
      file_path: `@/${name}.md`,
      content: `---\nname: ${name}\ndescription: about ${name}\ntype: user\n---\n\nOn ${name}.\n`,
    },
  });
  const line = "- [old](old.md) — something old";
  return [
    {
      text: "hm",
      tools: [
        write("city"),
        write("tea"),
        {
          name: "Edit",
          input: {
            file_path: "@/MEMORY.md",
            old_string: line,
            new_string: `${line}\n- [city](city.md) — about city`,
          },
        },
      ],
    },
    { text: "more", tools: [write("dog")] },
    { text: "That was all." },
  ];
}

/** By what the request holds, not by a queue: a repeated request gets the same answer. */
function answerOf({ request, purpose }: ModelCall): Step | undefined {
  if (purpose !== "extraction") return { text: "Hello." };
  const directory = /Write and Edit in `([^`]+)\/`/.exec(JSON.stringify(request.messages))?.[1];
  const task = request.messages.findLastIndex((message) =>
    JSON.stringify(message).includes("not from the user"),
  );
  const had = request.messages.slice(task).filter(({ role }) => role === "assistant").length;
  const { answers } = server;
  const step =
    typeof answers === "function"
      ? answers(request.messages, had)
      : answers[Math.min(had, answers.length - 1)];
  return JSON.parse(JSON.stringify(step).replaceAll('"@/', `"${directory}/`)) as Step;
}
