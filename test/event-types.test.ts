// The event log's types against those who speak of them too: the contract's page and the official
// SDK, whose types are compared by the compiler.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type Anthropic from "@anthropic-ai/sdk";
import { expect, expectTypeOf, test } from "vitest";
import type { EventOf, EventType } from "../src/shared/events/event.ts";
import { EVENT_TYPES } from "../src/shared/events/event.ts";
import { OUR_EVENT_TYPES } from "../src/shared/events/ours.ts";
import type { EventPreview } from "../src/shared/events/preview.ts";
import { previewedType } from "../src/shared/events/preview.ts";

type Sdk = Anthropic.Beta.Sessions.BetaManagedAgentsStreamSessionEvents;
type SharedType = Extract<EventType, Sdk["type"]>;
type OurType = Exclude<EventType, Sdk["type"]>;
/** The same as the SDK has it. */
type SdkOf<Type extends SharedType> = Extract<Sdk, { type: Type }>;
/** JSON leaves out what is undefined. */
type Sent<Event> = { [Field in keyof Event]: Exclude<Event[Field], undefined> };

/** One entry a type: the compiler refuses the list when it misses one or has one too many. */
const OURS: Record<OurType, true> = {
  "memory.recalled": true,
  "memory.saved": true,
  "memory.skipped": true,
  "session_memory.updated": true,
  "turn.joined": true,
};

const docs = readFileSync(join(import.meta.dirname, "..", "docs", "api.md"), "utf8");

test("docs/api.md lists the types of the log, each once", () => {
  const listed = ["From the client: ", "From the service: "].flatMap((beginning) => {
    const line = docs.split("\n").find((text) => text.startsWith(beginning)) ?? "";
    // The list is the first sentence; what follows speaks of some of them again.
    const [list = ""] = line.split(/\.(?: |$)/);
    return [...list.matchAll(/`([a-z_.]+)`/g)].map(([, type]) => type);
  });
  expect(listed.toSorted()).toEqual(EVENT_TYPES.toSorted());
});

test("docs/api.md names the events that have previews", () => {
  for (const type of previewedType.options)
    expect(docs).toMatch(new RegExp(`event_deltas.*${type}`));
});

test("what stands beside the SDK's types is listed as ours, and nothing else", () => {
  expect([...OUR_EVENT_TYPES].toSorted()).toEqual(Object.keys(OURS).toSorted());
});

test("every event of the SDK's types is one that the SDK's reader may take for its own", () => {
  type Unlike = { [Type in SharedType]: Sent<EventOf<Type>> extends SdkOf<Type> ? never : Type };
  expectTypeOf<Unlike[SharedType]>().toEqualTypeOf<never>();
  expectTypeOf<EventPreview>().toExtend<Extract<Sdk, { type: EventPreview["type"] }>>();
});
