import { expect, test } from "vitest";
import { type Api, ApiError } from "./api.ts";
import { createSession } from "./sessions.ts";

/** A service that answers so, and what it was sent. */
function serviceOf(answer: (json: object) => ApiError | undefined) {
  const sent: object[] = [];
  const api: Api = async (_path, { json } = {}) => {
    sent.push(Object(json));
    const error = answer(Object(json));
    if (error) throw error;
    return new Response(JSON.stringify({ id: "sesn_1" }));
  };
  return { api, sent };
}

const ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

test("a session is made with the browser's time zone", async () => {
  const { api, sent } = serviceOf(() => undefined);
  expect(await createSession(api, "w", "")).toMatchObject({ id: "sesn_1" });
  expect(sent).toMatchObject([{ environment_id: "w", metadata: { time_zone: ZONE } }]);
});

test("a zone that the service does not know yet keeps nobody out, and nothing else is tried twice", async () => {
  const unknown = new ApiError(400, "invalid_request_error", "metadata.time_zone: is no time zone");
  const { api, sent } = serviceOf((json) => ("metadata" in json ? unknown : undefined));
  expect(await createSession(api, "w", "Boats")).toMatchObject({ id: "sesn_1" });
  expect(sent.at(-1)).toEqual({ agent: "default", environment_id: "w", title: "Boats" });

  const full = new ApiError(429, "rate_limit_error", "too many");
  const other = serviceOf(() => full);
  await expect(createSession(other.api, "w", "")).rejects.toBe(full);
  expect(other.sent).toHaveLength(1);
});
