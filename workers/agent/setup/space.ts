// The platform gives an object 10 GB. A session says that it is full long before its database would fail
// in the middle of a step.

import { MemdirError } from "../../../src/shared/errors.ts";
import { SESSION_TURN_BYTES } from "../../../src/shared/limits/turn.ts";
import type { TurnHook } from "../../../src/shared/turn/hooks.ts";
import type { SessionContext } from "./session-context.ts";

type Space = Pick<SessionContext, "sql" | "settings">;

/** Throws `too_large` where a session takes no new message. */
export function requireSpace(session: Space): void {
  const { SESSION_MOST_BYTES: most } = session.settings;
  if (session.sql.databaseSize < most) return;
  throw new MemdirError("too_large", full(session));
}

/** Ends a turn of a full session before its next model call. */
export function spaceHook(session: Space): TurnHook {
  return {
    async prepare() {
      const { SESSION_MOST_BYTES: most } = session.settings;
      if (session.sql.databaseSize < most + SESSION_TURN_BYTES) return { status: "ready" };
      return {
        status: "refused",
        failure: { status: "failed", kind: "too_large", message: full(session) },
      };
    },
  };
}

function full({ sql, settings }: Space): string {
  return (
    `This session takes ${sql.databaseSize} bytes, and a session may have ${settings.SESSION_MOST_BYTES}: it takes no new message. ` +
    "It can be read, archived and deleted. Start a new session: what was saved to memory is known there"
  );
}
