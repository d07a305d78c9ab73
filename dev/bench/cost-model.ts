// One model server for the bare Worker and the service: it says what a bench wants, to both.

import { createFakeModel } from "../fake-model/fake-model.ts";
import type { ScriptStep } from "../fake-model/script.ts";
import { serveFakeModel } from "../fake-model/serve.ts";

export interface CostModel {
  url: string;
  /** What it answers to the main conversation. */
  answer: ScriptStep;
  /** How many of the memories that are listed it chooses. */
  choose: number;
  /** Requests so far by purpose, and the bytes of their bodies. */
  sent: Map<string, { requests: number; bytes: number }>;
  close(): Promise<void>;
}

export async function startCostModel(): Promise<CostModel> {
  const fake = createFakeModel({
    recordLimit: 100,
    reply: ({ purpose, request }) => {
      if (purpose === "main") return model.answer;
      if (purpose === "recall") {
        const listed = [
          ...JSON.stringify(request.messages).matchAll(/- \[project\] (\S+\.md) \(/g),
        ];
        const selected_memories = listed.slice(0, model.choose).map(([, name]) => name);
        return { text: JSON.stringify({ selected_memories }) };
      }
      if (purpose === "extraction") return { text: "There is nothing to save." };
      // Notes and summaries are the policy's.
      return undefined;
    },
  });
  const server = await serveFakeModel({
    async handle(request) {
      const purpose = request.headers.get("x-memdir-purpose") ?? "none";
      const before = model.sent.get(purpose) ?? { requests: 0, bytes: 0 };
      const bytes = Number(request.headers.get("content-length") ?? 0);
      const body = bytes > 0 ? bytes : (await request.clone().arrayBuffer()).byteLength;
      model.sent.set(purpose, { requests: before.requests + 1, bytes: before.bytes + body });
      return fake.handle(request);
    },
  });
  const model: CostModel = {
    url: server.url,
    answer: { text: "" },
    choose: 0,
    sent: new Map(),
    close: () => server.close(),
  };
  return model;
}
