// The system prompt of a session: made at its first turn, kept in its rows, the same bytes for every
// request after it, a fork's too.

import { errorName, log } from "../../../src/platform/log.ts";
import { workspacePath } from "../../../src/platform/r2/mount-table.ts";
import { defineMemory } from "../../../src/platform/state.ts";
import { keepPrompt, readPrompt, replacePrompt } from "../../../src/platform/threads/prompt.ts";
import { noteRead } from "../../../src/platform/threads/read-files.ts";
import type { Thread } from "../../../src/platform/threads/thread.ts";
import { cutIndex, INDEX_FILE } from "../../../src/shared/memdir/entrypoint.ts";
import { systemPrompt } from "../../../src/shared/turn/system-prompt.ts";
import type { Meta } from "../rows/meta.ts";
import { mainThread } from "../rows/session-threads.ts";
import type { TurnMemory } from "./memory.ts";
import type { SessionContext } from "./session-context.ts";

/** The blocks of the system prompt: made at the session's first turn, the same bytes ever after. */
export async function promptOf(
  ports: Pick<SessionContext, "sql" | "commit">,
  meta: Meta,
  memory: TurnMemory | undefined,
): Promise<readonly string[]> {
  const thread = mainThread(ports.sql);
  const kept = keptPrompt(thread);
  if (kept) return kept;

  const index = memory && (await readIndex(memory));
  const blocks = systemPrompt({
    system: meta.system,
    workspace: workspacePath(meta.environmentId),
    projectRoot: meta.projectRoot,
    memory: memory && {
      directory: memory.directory,
      index: index?.unreadable ? null : index?.text,
    },
  });
  // An index that cannot be read is looked for again at the next turn.
  if (index?.unreadable) return blocks;
  ports.commit(() => {
    // Another call may have come first while the index was read.
    if (keptPrompt(thread)) return;
    keepPrompt(thread, blocks);
    // The index in the prompt counts as read, unless it was cut.
    const whole = index?.text !== undefined && cutIndex(index.text).cutBy === undefined;
    if (index?.etag && whole) {
      noteRead(thread, [{ type: "seen", path: index.path, etag: index.etag }]);
    }
  });
  return keptPrompt(thread) ?? blocks;
}

/** What is erased leaves the prompt too: the one thing that changes it. Within a transaction. */
export function changePrompt(thread: Thread, blocks: readonly string[]): void {
  replacePrompt(thread, blocks);
  known.set(thread.sql, blocks);
}

const known = defineMemory<readonly string[]>();

/** Read once an instance, and the same array then: what follows from it is found by it. */
function keptPrompt(thread: Thread): readonly string[] | undefined {
  const blocks = known.get(thread.sql) ?? readPrompt(thread);
  known.set(thread.sql, blocks);
  return blocks;
}

interface IndexRead {
  path: string;
  text?: string;
  etag?: string;
  unreadable?: true;
}

async function readIndex(memory: TurnMemory): Promise<IndexRead> {
  const path = `${memory.directory}/${INDEX_FILE}`;
  try {
    await memory.refresh();
    const file = await memory.files.get(INDEX_FILE);
    if (!file) return { path };
    return { path, etag: file.etag, text: new TextDecoder().decode(file.bytes) };
  } catch (error) {
    log("session.index_unreadable", { error: errorName(error) });
    return { path, unreadable: true };
  }
}
