import { expect, it } from "vitest";
import type { Api } from "./api.ts";
import { readEvents, readNewest } from "./events.ts";

const signal = new AbortController().signal;

/** A service that answers one page after the other; it notes what it is asked. */
function service(...pages: { types: string[]; next?: string; reason?: string }[]) {
  const asked: URLSearchParams[] = [];
  let seq = 1000;
  const api: Api = async (path) => {
    asked.push(new URL(path, "http://service").searchParams);
    const { types = [], next = null, reason = "end_turn" } = pages[asked.length - 1] ?? {};
    const data = types.map((type) => ({ seq: seq--, type, stop_reason: { type: reason } }));
    return Response.json({ data, next_page: next });
  };
  return { api, asked };
}

const RUNNING = "session.status_running";
const IDLE = "session.status_idle";

it("reads the newest page, and gives it out oldest first", async () => {
  const { api, asked } = service({ types: [IDLE, "agent.message", RUNNING], next: "c2" });
  const { events, earlier, before } = await readNewest(api, "sesn_1", signal);
  expect(events.map(({ kind, seq }) => [kind, seq])).toEqual([
    ["running", 998],
    ["agent-message", 999],
    ["idle", 1000],
  ]);
  expect([earlier, before, asked.length]).toEqual(["c2", "idle", 1]);
  expect(asked[0]?.get("order")).toBe("desc");
  await readEvents(api, "sesn_1", signal, { page: earlier });
  expect(asked[1]?.get("page")).toBe("c2");
});

it("knows how the session was before a page that begins within a turn", async () => {
  const within = service({ types: [IDLE, "agent.tool_use"], next: "c2" });
  expect(await readNewest(within.api, "sesn_1", signal)).toMatchObject({ before: "running" });
  for (const [last, reason, before] of [
    [RUNNING, "", "running"],
    [IDLE, "end_turn", "idle"],
    [IDLE, "requires_action", "blocked"],
  ] as const) {
    const long = service(
      { types: ["agent.tool_result", "agent.tool_use"], next: "c2" },
      { types: [last], reason },
    );
    expect(await readNewest(long.api, "sesn_1", signal)).toMatchObject({ before, earlier: "c2" });
    expect(long.asked[1]?.getAll("types[]")).toEqual([RUNNING, IDLE]);
  }
  const young = service({ types: ["user.message"] });
  expect(await readNewest(young.api, "sesn_1", signal)).toMatchObject({ before: "idle" });
  expect(young.asked).toHaveLength(1);
});
