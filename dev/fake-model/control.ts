import { errorResponse } from "./api-error.ts";
import type { RecordedRequest } from "./record.ts";
import { parseStep, type ScriptQueue } from "./script.ts";

export interface Controlled {
  queue: ScriptQueue;
  requests: readonly RecordedRequest[];
  reset(): void;
}

/**
 * The control surface, for a test in another process than the service under test; undefined where the
 * request is none of its own. It asks for no key: the server listens on loopback only.
 */
export async function handleControl(
  request: Request,
  { queue, requests, reset }: Controlled,
): Promise<Response | undefined> {
  const route = `${request.method} ${new URL(request.url).pathname}`;
  if (route === "GET /__requests") return Response.json(requests);
  if (route === "POST /__reset") {
    reset();
    return Response.json({ ok: true });
  }
  if (route !== "POST /__script") return undefined;
  try {
    const steps: unknown = await request.json();
    if (!Array.isArray(steps))
      throw new Error("Cannot read the script: expected an array of steps");
    // All or nothing: a script with a bad step must not run up to it.
    for (const step of steps) parseStep(step);
    for (const step of steps) queue.add(step);
    return Response.json({ ok: true, added: steps.length });
  } catch (error) {
    return errorResponse({ status: 400, message: String(error) }, "req_control");
  }
}
