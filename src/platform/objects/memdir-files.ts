// A memory directory as a FileStore: what the agent's tools see. The etag of a file is the sha256 of
// its content, so a condition holds exactly as long as the content does.

import { MemdirError } from "../../shared/errors.ts";
import { checkListQuery } from "../../shared/files/list-query.ts";
import type { FileEntry, FileStore, PutResult } from "../../shared/files/store.ts";
import type { Change, MemdirStub, MemoryHead, WriteReply } from "./memdir-rpc.ts";
import { unwrap } from "./reply.ts";

/**
 * The files of a directory, written as `change` says. Each change comes back with its receipt, also
 * where a repeated request finds its work done. A refusal (a secret, a full store, a lost lease)
 * throws a `MemdirError` whose message says what to do.
 */
export function createMemdirFiles(stub: MemdirStub, change: Change): FileStore {
  return {
    async get(path) {
      const found = unwrap(await stub.read(path, change.actor));
      if (!found) return undefined;
      return { ...entryOf(found), bytes: found.bytes, receipt: found.receipt };
    },
    async head(path) {
      const found = unwrap(await stub.head(path));
      return found ? entryOf(found) : undefined;
    },
    async put(path, bytes, precondition) {
      const request = { path, bytes, condition: precondition, ...change };
      return putResult(unwrap(await stub.write(request)), path);
    },
    async delete(path, precondition) {
      const reply = unwrap(await stub.remove({ path, ...precondition, ...change }));
      switch (reply.status) {
        case "removed":
          return { status: "deleted", receipt: reply.receipt };
        case "missing":
          return reply;
        case "conflict":
          return { status: "conflict" };
        case "refused":
          throw new MemdirError("invalid_request", reply.message, path);
      }
    },
    async list(query) {
      const { prefix, after, limit } = checkListQuery(query);
      const page = unwrap(await stub.list({ prefix, limit, after }));
      const entries = page.heads.map(entryOf);
      return page.next === null ? { entries } : { entries, next: page.next };
    },
  };
}

function putResult(reply: WriteReply, path: string): PutResult {
  switch (reply.status) {
    case "written": {
      const { head, receipt, warning } = reply;
      return { status: "written", entry: entryOf(head), warning, receipt };
    }
    case "unchanged":
      return { status: "written", entry: entryOf(reply.head), receipt: reply.receipt };
    case "conflict":
    case "missing":
      return { status: "conflict" };
    case "path_conflict":
      throw new MemdirError(
        "invalid_request",
        `Cannot write ${path}: ${reply.path} is a memory, and a path cannot be file and folder`,
        path,
      );
    case "refused":
      throw new MemdirError("invalid_request", reply.message, path);
  }
}

function entryOf(head: MemoryHead): FileEntry {
  return { path: head.path, size: head.size, etag: head.sha256, modified: head.updatedAt };
}
