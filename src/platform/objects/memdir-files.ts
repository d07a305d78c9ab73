// A memory directory as a FileStore: what the agent's tools see. The etag of a file is the sha256 of
// its content, so a condition holds exactly as long as the content does.

import { MemdirError } from "../../shared/errors.ts";
import { checkListQuery } from "../../shared/files/list-query.ts";
import type { FileEntry, FileStore, PutResult } from "../../shared/files/store.ts";
import type { Change, MemdirStub, MemoryHead, Receipt, WriteReply } from "./memdir-rpc.ts";
import { unwrap } from "./reply.ts";

/**
 * The files of a directory, written as `change` says. `onReceipt` is told of each change that is on
 * disk, before the write returns. A refusal (a secret, a full store, a lost lease) throws a
 * `MemdirError` whose message says what to do.
 */
export function createMemdirFiles(
  stub: MemdirStub,
  change: Change,
  onReceipt: (receipt: Receipt) => void = () => {},
): FileStore {
  return {
    async get(path) {
      const found = unwrap(await stub.read(path));
      return found ? { ...entryOf(found), bytes: found.bytes } : undefined;
    },
    async head(path) {
      const found = unwrap(await stub.head(path));
      return found ? entryOf(found) : undefined;
    },
    async put(path, bytes, precondition) {
      const condition = precondition === undefined ? {} : { condition: precondition };
      const reply = unwrap(await stub.write({ path, bytes, ...condition, ...change }));
      if (reply.status === "written") onReceipt(reply.receipt);
      return putResult(reply, path);
    },
    async delete(path, precondition) {
      const reply = unwrap(await stub.remove({ path, ...precondition, ...change }));
      switch (reply.status) {
        case "removed":
          onReceipt(reply.receipt);
          return { status: "deleted" };
        case "missing":
        case "conflict":
          return { status: reply.status };
        case "refused":
          throw new MemdirError("invalid_request", reply.message, path);
      }
    },
    async list(query) {
      const { prefix, after, limit } = checkListQuery(query);
      const page = unwrap(await stub.list({ prefix, limit, ...(after === "" ? {} : { after }) }));
      const entries = page.heads.map(entryOf);
      return page.next === null ? { entries } : { entries, next: page.next };
    },
  };
}

function putResult(reply: WriteReply, path: string): PutResult {
  switch (reply.status) {
    case "written": {
      const warning = reply.warning === undefined ? {} : { warning: reply.warning };
      return { status: "written", entry: entryOf(reply.head), ...warning };
    }
    case "unchanged":
      return { status: "written", entry: entryOf(reply.head) };
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
