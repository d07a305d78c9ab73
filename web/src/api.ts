import { asObject, asText } from "./json.ts";

/** A refusal by the service: its status, its error type and its own words. */
export class ApiError extends Error {
  readonly status: number;
  readonly type: string;

  constructor(status: number, type: string, message: string) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.type = type;
  }
}

/** One authorised request. Resolves on success only: a refusal throws ApiError, no connection TypeError. */
export type Api = (path: string, init?: ApiInit) => Promise<Response>;

export type ApiInit = {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  headers?: Record<string, string>;
  json?: unknown;
  body?: string;
  signal?: AbortSignal;
};

/** Binds the token. A 401 calls `onUnauthorized` and is thrown as well. */
export function createApi(token: string, onUnauthorized: () => void): Api {
  return async (path, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${token}`);
    if (init.json !== undefined) headers.set("content-type", "application/json");
    const body = init.json === undefined ? init.body : JSON.stringify(init.json);
    const response = await fetch(path, {
      method: init.method ?? "GET",
      headers,
      cache: "no-store",
      ...(body === undefined ? {} : { body }),
      ...(init.signal ? { signal: init.signal } : {}),
    });
    if (response.ok) return response;
    const error = await readError(response);
    if (error.status === 401) onUnauthorized();
    throw error;
  };
}

/** What to tell a person about any failure. */
export function explain(error: unknown): string {
  if (error instanceof ApiError) return `${error.message} (${error.status})`;
  if (error instanceof TypeError) return "The service cannot be reached";
  return error instanceof Error ? error.message : String(error);
}

async function readError(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => "");
  let error: Record<string, unknown> = {};
  try {
    error = asObject(asObject(JSON.parse(text)).error);
  } catch {
    // A gateway's own page: the status line has to do.
  }
  const message = asText(error.message, response.statusText || "The service refused the request");
  return new ApiError(response.status, asText(error.type, "unknown"), message);
}
