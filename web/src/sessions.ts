import { type Api, ApiError } from "./api.ts";
import { asList, asObject, asText, type Json } from "./json.ts";

export type AutoMemory = {
  enabled: boolean;
  rule: string;
  directory: string;
  storeId: string;
  ignored: { source: string; key: string; reason: string }[];
};

export type Session = {
  id: string;
  status: string;
  title: string;
  workspace: string;
  createdAt: string;
  autoMemory: AutoMemory | undefined;
};

const PAGE_SIZE = 50;

/** The agent is told the days of the browser's time zone, where the service knows that zone. */
export async function createSession(api: Api, workspace: string, title: string): Promise<Session> {
  const json = { agent: "default", environment_id: workspace, ...(title ? { title } : {}) };
  const create = async (metadata: object) =>
    parseSession(
      await (await api("/v1/sessions", { method: "POST", json: { ...json, ...metadata } })).json(),
    );
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  try {
    return await create(timeZone ? { metadata: { time_zone: timeZone } } : {});
  } catch (error) {
    // A browser may know a zone that is newer than the service.
    if (error instanceof ApiError && error.message.includes("metadata.time_zone"))
      return create({});
    throw error;
  }
}

/** One page of sessions, in the service's order; `nextPage` is "" on the last. */
export async function listSessions(api: Api, page: string) {
  const query = new URLSearchParams({ limit: String(PAGE_SIZE), ...(page ? { page } : {}) });
  const body = asObject(await (await api(`/v1/sessions?${query}`)).json());
  return { sessions: asList(body.data).map(parseSession), nextPage: asText(body.next_page) };
}

export async function readSession(api: Api, id: string): Promise<Session> {
  return parseSession(await (await api(`/v1/sessions/${encodeURIComponent(id)}`)).json());
}

export async function deleteSession(api: Api, id: string): Promise<void> {
  await api(`/v1/sessions/${encodeURIComponent(id)}`, { method: "DELETE" });
}

/** What a list shows where a session has no title: the end of its id tells it apart. */
export function sessionLabel(session: Pick<Session, "id" | "title">): string {
  return session.title || `Session ${session.id.slice(-6)}`;
}

function parseSession(value: unknown): Session {
  const body = asObject(value);
  return {
    id: asText(body.id),
    status: asText(body.status, "idle"),
    title: asText(body.title),
    workspace: asText(body.environment_id),
    createdAt: asText(body.created_at),
    autoMemory: body.auto_memory ? parseAutoMemory(asObject(body.auto_memory)) : undefined,
  };
}

function parseAutoMemory(body: Json): AutoMemory {
  return {
    enabled: body.enabled === true,
    rule: asText(body.rule),
    directory: asText(body.directory),
    storeId: asText(body.store_id),
    ignored: asList(body.ignored).map((item) => {
      const { source, key, reason } = asObject(item);
      return { source: asText(source), key: asText(key), reason: asText(reason) };
    }),
  };
}
