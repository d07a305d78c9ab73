// Commits and pages by the databases' own logs: SQLite appends each page of a commit to `*.sqlite-wal`
// as a frame, and marks the last one. Source of the format: sqlite.org/fileformat2.html, section 4.

import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const HEADER = 32;
const FRAME_HEADER = 24;

export interface Written {
  commits: number;
  pages: number;
}

/**
 * What each kind of object ("Session", "R2BucketObject") has written since the last look. Frames that
 * a checkpoint took between two looks are missing, so look often: one comes after a thousand pages.
 */
export function createWalCounter(directory: string): () => Map<string, Written> {
  const known = new Map<string, { salt: string; frames: number }>();
  return () => {
    const found = new Map<string, Written>();
    for (const path of logsBelow(join(directory, "storage"))) {
      const log = readLog(path);
      if (!log) continue;
      const before = known.get(path);
      const from = before?.salt === log.salt ? before.frames : 0;
      known.set(path, { salt: log.salt, frames: log.commitMarks.length });
      const news = log.commitMarks.slice(from);
      const kind = basename(dirname(path)).split("-").at(-1) ?? "";
      const sum = found.get(kind) ?? { commits: 0, pages: 0 };
      sum.commits += news.filter(Boolean).length;
      sum.pages += news.length;
      found.set(kind, sum);
    }
    return found;
  };
}

/** For each valid frame whether it ends a commit; undefined where there is no whole log. */
function readLog(path: string): { salt: string; commitMarks: boolean[] } | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    return undefined;
  }
  if (bytes.length < HEADER) return undefined;
  const size = FRAME_HEADER + bytes.readUInt32BE(8);
  const salt = bytes.toString("hex", 16, 24);
  const commitMarks: boolean[] = [];
  for (let at = HEADER; at + size <= bytes.length; at += size) {
    // What is left of an earlier round of the log has another salt.
    if (bytes.toString("hex", at + 8, at + 16) !== salt) break;
    commitMarks.push(bytes.readUInt32BE(at + 4) !== 0);
  }
  return { salt, commitMarks };
}

function logsBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".sqlite-wal"))
    .filter(({ name }) => !name.startsWith("metadata."))
    .map((entry) => join(entry.parentPath, entry.name));
}
