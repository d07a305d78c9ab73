import type { Usage } from "./answer.ts";

/** One request as it came, and what became of it, without credentials. */
export interface RecordedRequest {
  at: number;
  method: string;
  path: string;
  headers: Record<string, string>;
  purpose: string | undefined;
  session: string | undefined;
  body: unknown;
  status?: number;
  error?: string;
  reply_id?: string;
  stop_reason?: string;
  usage?: Usage;
  /** The client went away before the answer was complete. */
  aborted?: boolean;
}

export interface Recorder {
  requests: RecordedRequest[];
  /** Keeps the record at once and fills it in later, so that a test sees a request in flight. */
  open(request: Request, path: string, at: number): RecordedRequest;
  clear(): void;
}

const SECRET_HEADERS = new Set(["authorization", "x-api-key", "cookie"]);

export function createRecorder(limit: number): Recorder {
  const requests: RecordedRequest[] = [];
  return {
    requests,
    open: (request, path, at) => {
      const headers = Object.fromEntries(
        [...request.headers].filter(([name]) => !SECRET_HEADERS.has(name.toLowerCase())),
      );
      const record: RecordedRequest = {
        at,
        method: request.method,
        path,
        headers,
        purpose: request.headers.get("x-memdir-purpose") ?? undefined,
        session: request.headers.get("x-memdir-session") ?? undefined,
        body: undefined,
      };
      requests.push(record);
      if (requests.length > limit) requests.splice(0, requests.length - limit);
      return record;
    },
    clear: () => {
      requests.length = 0;
    },
  };
}
