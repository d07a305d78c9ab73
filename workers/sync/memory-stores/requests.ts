// The bodies of the memory store endpoints. Limits and what null means are those of the official SDK.

import * as z from "zod";
import {
  METADATA_KEY_CHARACTERS,
  METADATA_VALUE_CHARACTERS,
} from "../../../src/shared/limits/http.ts";
import {
  STORE_DESCRIPTION_CHARACTERS,
  STORE_MEMORY_BYTES,
  STORE_NAME_CHARACTERS,
} from "../../../src/shared/limits/memory.ts";
import { byteLength } from "../../../src/shared/text/bytes.ts";

const name = z
  .string()
  .refine(between(1, STORE_NAME_CHARACTERS), `use 1 to ${STORE_NAME_CHARACTERS} characters`)
  .refine((text) => !/\p{Cc}/u.test(text), "holds a control character; take it out");
const description = z
  .string()
  .refine(
    between(0, STORE_DESCRIPTION_CHARACTERS),
    `use at most ${STORE_DESCRIPTION_CHARACTERS} characters`,
  );
const metadataValue = z
  .string()
  .refine(
    between(0, METADATA_VALUE_CHARACTERS),
    `use at most ${METADATA_VALUE_CHARACTERS} characters`,
  );

export const createStore = z.strictObject({
  name,
  description: description.nullable().optional(),
  metadata: pairsOf(metadataValue).nullable().optional(),
});

/** What is left out or null stays as it is. */
export const updateStore = z.strictObject({
  name: name.nullable().optional(),
  description: description.nullable().optional(),
  metadata: pairsOf(metadataValue.nullable()).nullable().optional(),
});

const content = z
  .string({
    error: (issue) =>
      issue.input === null || issue.input === undefined
        ? 'is missing; send "" for an empty memory'
        : "is not a string",
  })
  .refine(
    (text) => byteLength(text) <= STORE_MEMORY_BYTES,
    `is longer than ${STORE_MEMORY_BYTES} bytes of UTF-8, the most a memory may have. Split it`,
  );
const path = z.string('is missing; send a path such as "/notes/todo.md"');

const SHA256 = /^[0-9a-f]{64}$/;
const NOT_A_HASH = "is not a SHA-256 in 64 lowercase hexadecimal characters";

/** Whether a text can be a `content_sha256`. */
export function isContentHash(text: string): boolean {
  return SHA256.test(text);
}

export const createMemory = z.strictObject({ path, content });

export const updateMemory = z.strictObject({
  content: content.nullable().optional(),
  path: path.nullable().optional(),
  precondition: z
    .strictObject({
      type: z.literal("content_sha256", 'use "content_sha256"'),
      content_sha256: z.string(NOT_A_HASH).regex(SHA256, NOT_A_HASH),
    })
    .nullable()
    .optional(),
});

export const restoreVersion = z.strictObject({});

export const rewindStore = z
  .strictObject({
    to: z.iso
      .datetime({
        offset: true,
        error: "is not a time. Use RFC 3339, such as 2026-01-31T09:00:00Z",
      })
      .optional(),
    session_id: z.string().min(1).max(200).optional(),
  })
  .refine(
    (body) => (body.to === undefined) !== (body.session_id === undefined),
    "Send either `to` (a time) or `session_id`",
  );

/** Metadata with values of this kind; the store checks how many there are, after the patch. */
function pairsOf<Value extends z.ZodType>(value: Value) {
  const fits = between(1, METADATA_KEY_CHARACTERS);
  return z
    .record(z.string(), value)
    .refine(
      (pairs) => Object.keys(pairs).every(fits),
      `holds a key that does not have 1 to ${METADATA_KEY_CHARACTERS} characters`,
    );
}

/** Characters are code points, so that an emoji counts once. */
function between(least: number, most: number): (text: string) => boolean {
  return (text) => {
    const count = [...text].length;
    return count >= least && count <= most;
  };
}
