// What the tests of waiting calls share: sessions in a mode or with tools of the client's, and turns
// that stand still.

import { randomUUID } from "node:crypto";
import type Anthropic from "@anthropic-ai/sdk";
import type { FakeModel } from "../../dev/fake-model/fake-model.ts";
import type { SessionEvent } from "./service.ts";
import { eventsUntil, say, typesOf } from "./service.ts";

type Tools = Anthropic.Beta.Sessions.BetaManagedAgentsAgentWithOverridesParams["tools"];

/** A tool of the client's, and a call of it. */
export const WEATHER = {
  type: "custom" as const,
  name: "get_weather",
  description: "Tells the weather of a city",
  input_schema: {
    type: "object" as const,
    properties: { city: { type: "string" } },
    required: ["city"],
  },
};

export interface Waiting {
  id: string;
  workspace: string;
  /** A path in the session's workspace. */
  at(name: string): string;
  memory: string;
}

/** A session with these modes, and these tools of the client's. */
export async function session(
  client: Anthropic,
  metadata: Record<string, string> = {},
  tools?: Tools,
): Promise<Waiting> {
  const workspace = `w-${randomUUID().slice(0, 8)}`;
  const made = await client.beta.sessions.create({
    agent: tools ? { type: "agent_with_overrides", id: "default", tools } : "default",
    environment_id: workspace,
    metadata,
  });
  const memory: unknown = Reflect.get(Object(Reflect.get(made, "auto_memory")), "directory");
  return {
    id: made.id,
    workspace,
    at: (name) => `/workspace/${workspace}/${name}`,
    memory: String(memory),
  };
}

/** The model's next answers in this session's own conversation. */
export function script(
  model: FakeModel,
  { id }: Waiting,
  ...steps: Parameters<FakeModel["enqueue"]>[0][]
): void {
  for (const step of steps) model.enqueue({ ...step, match: { session: id, purpose: "main" } });
}

export const write = (file_path: string, content = "new") => ({
  name: "Write",
  input: { file_path, content },
});
export const weather = (city: string) => ({ name: "get_weather", input: { city } });

/** Sends a message; gives back all events when the turn stands still, and what it waits for. */
export async function untilPaused(client: Anthropic, { id }: Waiting, text = "go") {
  await client.beta.sessions.events.send(id, { events: [say(text)] });
  return paused(client, id);
}

/** Waits until the session stands still once more than before. */
export async function paused(client: Anthropic, id: string, times = 1) {
  const events = await eventsUntil(
    client,
    id,
    "the turn stands still",
    (seen) => seen.filter((event) => openOf(event) !== undefined).length >= times,
  );
  return { events, open: openOf(events.at(-1)) ?? [] };
}

/** The events that an idle session waits for. */
export function openOf(event: SessionEvent | undefined): string[] | undefined {
  if (event?.type !== "session.status_idle") return undefined;
  return event.stop_reason.type === "requires_action" ? event.stop_reason.event_ids : undefined;
}

/** All events when the turn has ended for the nth time. */
export function ended(client: Anthropic, id: string, times = 1): Promise<SessionEvent[]> {
  return eventsUntil(client, id, "the turn ended", (seen) => {
    const ends = seen.filter(
      (e) => e.type === "session.status_idle" && e.stop_reason.type !== "requires_action",
    );
    return ends.length >= times;
  });
}

export const confirm = (
  tool_use_id: string,
  result: "allow" | "deny" = "allow",
  deny_message?: string,
) => ({
  type: "user.tool_confirmation" as const,
  tool_use_id,
  result,
  ...(deny_message === undefined ? {} : { deny_message }),
});

export const result = (custom_tool_use_id: string, text?: string, is_error?: boolean) => ({
  type: "user.custom_tool_result" as const,
  custom_tool_use_id,
  ...(text === undefined ? {} : { content: [{ type: "text" as const, text }] }),
  ...(is_error === undefined ? {} : { is_error }),
});

/** The results of tools as the client is told them: the call's event, an error or not, the text. */
export function resultsOf(events: readonly SessionEvent[]) {
  return events.flatMap((event) => {
    if (event.type !== "agent.tool_result") return [];
    const [block] = event.content ?? [];
    const text = block && "text" in block ? block.text : "";
    return [{ of: event.tool_use_id, failed: event.is_error === true, text }];
  });
}

export function usesOf(events: readonly SessionEvent[]) {
  return events.flatMap((event) =>
    event.type === "agent.tool_use" || event.type === "agent.custom_tool_use" ? [event] : [],
  );
}

/** The results in the last request to the model, in order. */
export function toldModel(model: FakeModel, { id }: Waiting): string[] {
  const last = model.requests.findLast((one) => one.session === id && one.purpose === "main");
  const messages = (last?.body as { messages?: Anthropic.MessageParam[] })?.messages ?? [];
  return messages.flatMap(({ content }) =>
    typeof content === "string"
      ? []
      : content.flatMap((block) =>
          block.type === "tool_result" ? [JSON.stringify(block.content)] : [],
        ),
  );
}

/** Every request of a session was one that the API takes. */
export function statusesOf(model: FakeModel, { id }: Waiting): (number | undefined)[] {
  return model.requests.filter((one) => one.session === id).map((one) => one.status);
}

type Sent = Parameters<Anthropic["beta"]["sessions"]["events"]["send"]>[1]["events"];

/** Sends one request of these events to a session. */
export function sender(client: Anthropic) {
  return (id: string, ...events: Sent) => client.beta.sessions.events.send(id, { events });
}

/** A file of a session's workspace; undefined where there is none. */
export async function fileOf(
  service: { url: string },
  token: string,
  { workspace }: Waiting,
  name: string,
): Promise<string | undefined> {
  const response = await fetch(`${service.url}/v1/workspaces/${workspace}/files/${name}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const text = await response.text();
  return response.status === 200 ? text : undefined;
}

/** The seq-ordered types without the model's own spans. */
export function outline(events: readonly SessionEvent[]): string[] {
  return typesOf(events).filter((type) => !type.startsWith("span.") && type !== "session.usage");
}
