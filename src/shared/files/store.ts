// The port through which everything reads and writes files. A store is one flat directory tree;
// paths are canonical and relative ("notes/a.md": no leading slash, no empty or dot segment, NFC):
// `safety/path.ts` makes them. Every adapter passes `test/contract/file-store.ts`.

import type { Receipt } from "./receipt.ts";

/** What a listing knows of a file. */
export interface FileEntry {
  path: string;
  /** Bytes. */
  size: number;
  /** Opaque and unquoted; equal content may share it, different content never does. */
  etag: string;
  /** Milliseconds since the epoch. */
  modified: number;
}

export interface StoredFile extends FileEntry {
  bytes: Uint8Array;
  /** Of a store that keeps versions, where its own writer made the present one. */
  receipt?: Receipt | undefined;
}

/** What must be true of the file for a write to happen; absent means "whatever is there". */
export type Precondition = { ifMatch: string } | { ifAbsent: true };

/** `receipt`: of a store that keeps versions, also where a repeated request finds its work done. */
export type PutResult =
  /** `warning` is for the writer: what it should do next about what it wrote. */
  | {
      status: "written";
      entry: FileEntry;
      warning?: string | undefined;
      receipt?: Receipt | undefined;
    }
  | { status: "conflict" };
export type DeleteResult =
  | { status: "deleted"; receipt?: Receipt | undefined }
  /** `receipt`: the last change at this path is a deletion by the store's own writer. */
  | { status: "missing"; receipt?: Receipt | undefined }
  | { status: "conflict" };

export interface ListQuery {
  /** "" for the whole store, else a directory that ends in "/": a bare prefix matches neighbours. */
  prefix: string;
  /** Continue after this path: the `next` of the page before. */
  after?: string | undefined;
  /** Entries at most; a page may hold fewer and still have a `next`. Default 1,000. */
  limit?: number | undefined;
}

export interface ListPage {
  entries: FileEntry[];
  /** Present while there is more; only its absence means the end. */
  next?: string;
}

/**
 * MUSTs of every adapter: a write is all or nothing; a failed precondition is the value
 * `{ status: "conflict" }`, not a throw; an empty file is a file; it reads or cancels each body that
 * it opens; a failure of the storage throws a `MemdirError` with code `unavailable` whose message
 * holds the logical path only.
 */
export interface FileStore {
  get(path: string): Promise<StoredFile | undefined>;
  head(path: string): Promise<FileEntry | undefined>;
  put(path: string, bytes: Uint8Array, precondition?: Precondition): Promise<PutResult>;
  delete(path: string, precondition?: { ifMatch: string }): Promise<DeleteResult>;
  list(query: ListQuery): Promise<ListPage>;
}
