// The labelled set: memories of one project, questions with the memories that should be offered, and
// talks with what should be saved. How it was made is in set/README.md.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { MEMORY_TYPES } from "../../src/shared/memdir/types.ts";
import type { Candidate } from "../../src/shared/recall/list.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** The day on which the memories are so many days old: the figures do not change with the calendar. */
const TODAY = Date.UTC(2026, 11, 1, 12);

const language = z.enum(["en", "de", "zh", "ja"]);

const memorySchema = z.strictObject({
  path: z.string(),
  type: z.enum(MEMORY_TYPES),
  name: z.string(),
  description: z.string(),
  /** Since its last change. */
  days: z.int(),
  body: z.string().optional(),
});

const questionSchema = z.strictObject({
  question: z.string(),
  /** Paths of the memories that should be offered; none where nothing fits. */
  want: z.array(z.string()).max(3),
  kind: z.string(),
  language,
});

const seededSchema = memorySchema.omit({ days: true, body: true });

const talkSchema = z.strictObject({
  id: z.string(),
  language,
  messages: z.array(z.string()).min(1),
  /** Memories that the project has before. */
  before: z.array(seededSchema).optional(),
  save: z.array(
    z.strictObject({
      /** A type, or those that would do, between bars. */
      type: z.string(),
      /** Each must stand in the memory; between bars what would do as well. */
      facts: z.array(z.string()).min(1),
      /** A date that must stand there, in days from the day of the talk. */
      date: z.strictObject({ days: z.int() }).optional(),
    }),
  ),
  /** What must stand in no memory. */
  not: z.array(z.string()),
});

export type Question = z.output<typeof questionSchema>;
export type Talk = z.output<typeof talkSchema>;
export type Seeded = z.output<typeof seededSchema>;

/** The memories of the project, as a scan finds them: the newest first. */
export function readMemories(): Candidate[] {
  return read("memories.jsonl", memorySchema)
    .map(({ days, body = "", ...memory }) => ({
      ...memory,
      updatedAt: TODAY - days * DAY_MS,
      size: 100 + body.length,
    }))
    .sort((a, b) => b.updatedAt - a.updatedAt);
}

/** The questions that the choice by words was made with. */
export function readQuestions(): Question[] {
  return read("questions.jsonl", questionSchema);
}

/** Questions that were written when the choice by words was done, and changed nothing of it. */
export function readHeldOut(): Question[] {
  return read("held-out.jsonl", questionSchema);
}

export function readTalks(): Talk[] {
  return read("talks.jsonl", talkSchema);
}

function read<T>(file: string, schema: z.ZodType<T>): T[] {
  const lines = readFileSync(join(import.meta.dirname, "set", file), "utf8")
    .trim()
    .split("\n");
  return lines.map((line, at) => {
    const parsed = schema.safeParse(JSON.parse(line));
    if (parsed.success) return parsed.data;
    throw new Error(`${file}, line ${at + 1}: ${z.prettifyError(parsed.error)}`);
  });
}
