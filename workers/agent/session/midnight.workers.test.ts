// TRUTH-05: a session over three days, by a clock that is handed in. Its requests begin with the bytes of
// those before them over each midnight, and each day's messages stand behind that day's date.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createFakeModel } from "../../../dev/fake-model/fake-model.ts";
import { newId } from "../../../src/platform/ids.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { firstDifference, sentOf } from "../../../test/prefix-fixture.ts";
import { eventually } from "../testing/eventually-fixture.ts";
import { newMeta } from "../testing/meta-fixture.ts";
import { withModel } from "../testing/notes-life-fixture.ts";
import { eventsOf, stub, withFetch } from "../testing/session-object-fixture.ts";

const model = createFakeModel({});
withFetch((request) => model.handle(request));

const clock = Date.now;
let ahead = 0;
const made: string[] = [];

beforeEach(() => {
  vi.spyOn(Date, "now").mockImplementation(() => clock() + ahead);
});
afterEach(async () => {
  for (const id of made.splice(0)) await stub(id).destroy();
  vi.mocked(Date.now).mockRestore();
});

async function session(metadata: Record<string, string>): Promise<string> {
  const id = newId("sesn");
  made.push(id);
  const meta = { ...newMeta(id), environmentId: id, projectRoot: `/workspace/${id}`, metadata };
  unwrap(await stub(id).create(meta, []));
  await withModel(id, { RECALL_WAIT_MS: "2000" });
  return id;
}

/** A turn at this moment, and what follows from it. */
async function turn(id: string, at: string, text: string): Promise<void> {
  ahead = Date.parse(at) - clock();
  const content = [{ type: "text" as const, text }];
  unwrap(await stub(id).send([{ type: "user.message", content }], undefined));
  await eventually(async () => unwrap(await stub(id).retrieve()).status === "idle");
}

/** Runs the extraction that is due, at this moment. */
async function extraction(id: string, at: string): Promise<void> {
  ahead = Date.parse(at) - clock();
  const { store_id: store } = unwrap(await stub(id).retrieve()).auto_memory as { store_id: string };
  const told = async () =>
    (await eventsOf(id)).filter(({ type }) => /^memory\.(saved|skipped)$/.test(type)).length;
  const before = await told();
  await stub(id).extract({ store });
  await eventually(async () => (await told()) > before);
}

function requests(id: string, purpose: string) {
  return model.requests.filter((one) => one.session === id && one.purpose === purpose);
}

test("over midnights the prefix stays the same bytes, and the model knows the day of each message", async () => {
  const id = await session({ time_zone: "Europe/Berlin" });
  await turn(id, "2026-11-30T22:50:00Z", "We freeze merges next Monday");
  await turn(id, "2026-11-30T22:51:00Z", "thanks");
  await extraction(id, "2026-11-30T23:10:00Z");
  await turn(id, "2026-11-30T23:11:00Z", "We freeze merges next Monday, as I said");
  await turn(id, "2026-12-01T22:58:00Z", "What do you know of merges?");
  await turn(id, "2026-12-02T07:00:00Z", "My editor is Helix");
  await extraction(id, "2026-12-02T07:01:00Z");
  await turn(id, "2026-12-02T07:02:00Z", "Which editor is mine these days?");

  const main = requests(id, "main").map(sentOf);
  for (const [n, request] of main.entries()) {
    const before = main[n - 1];
    if (before) expect(firstDifference(before, request), `request ${n}`).toBeUndefined();
  }
  const forks = requests(id, "extraction");
  for (const request of forks) {
    const fork = sentOf(request);
    expect(main.map((one) => firstDifference(one, fork))).toContain(undefined);
  }
  expect(JSON.stringify(forks[0]?.body)).toContain(
    "Tuesday, 2026-12-01, 00:10 (time zone Europe/Berlin)",
  );
  expect(JSON.stringify(forks.at(-1)?.body)).toContain("Wednesday, 2026-12-02, 08:01 (time zone");
  const [choosing] = requests(id, "recall").map(({ body }) => JSON.stringify(body));
  expect(choosing).toContain("It is now Wednesday, 2026-12-02, 08:02 (time zone Europe/Berlin).");

  const last = main.at(-1)?.blocks ?? [];
  const said = last.filter(({ path }) => path.endsWith("(user)")).map(({ bytes }) => bytes);
  const order = said.flatMap(
    (bytes) =>
      /Today is \w+, [\d-]+|We freeze[\w ]*|thanks|What do|My editor|Which/.exec(bytes)?.[0] ?? [],
  );
  expect(order).toEqual([
    "Today is Monday, 2026-11-30",
    "We freeze merges next Monday",
    "thanks",
    "Today is Tuesday, 2026-12-01",
    "We freeze merges next Monday",
    "What do",
    "Today is Wednesday, 2026-12-02",
    "My editor",
    "Which",
    // As the memory that was recalled.
    "My editor",
  ]);
  const fixed = last.filter(({ path }) => /^(tools|system)/.test(path));
  expect(fixed.length).toBeGreaterThan(3);
  expect(JSON.stringify(fixed)).not.toMatch(/2026-|Today is|Europe\/Berlin/);
});

test("a session that names no zone has UTC, and its days change by it", async () => {
  const id = await session({});
  await turn(id, "2026-11-30T23:59:00Z", "good evening to you");
  await turn(id, "2026-12-01T00:01:00Z", "good morning to you");
  const text = JSON.stringify(requests(id, "main").at(-1)?.body);
  expect(text).toContain("Today is Monday, 2026-11-30 (time zone UTC).");
  expect(text).toContain("Today is Tuesday, 2026-12-01 (time zone UTC).");
});
