import type { ThreadContext } from "../../../src/platform/threads/thread.ts";
import type { AgentSettings } from "../../../src/platform/variables.ts";
import type { AgentEnv } from "../../env.ts";
import type { PreviewFrame } from "../stream/preview.ts";
import type { Subrequests } from "./subrequests.ts";

/** What everything that a session does is done with; made once an object. */
export interface SessionContext extends ThreadContext {
  env: AgentEnv;
  settings: AgentSettings;
  /** For whoever listens; never on disk. */
  preview(frames: readonly PreviewFrame[]): void;
  /** Whether the user's tokens of the day are used up. */
  overBudget(): Promise<boolean>;
  /**
   * Takes in what its memory directory lost since it asked last. To be awaited before anything of the
   * conversation is sent or shown.
   */
  settleLosses(): Promise<void>;
  /** Keeps the object alive for work that nobody waits for. */
  waitUntil(work: Promise<unknown>): void;
  /** Background work has ended, well or not. */
  ended(): void;
  /** What the invocation has asked of the outside. */
  subrequests: Subrequests;
  notes: SessionNotes;
}

/** What keeps the notes of a session up to date. */
export interface SessionNotes {
  /** An answer is on disk, with the results of its calls: an update may be due. Never throws. */
  look(turn: { n: number; eventId: string }): void;
  /** Settles when the update in flight has ended, well or not; never rejects. */
  inFlight(): Promise<void> | undefined;
  /** Ends the update in flight: what it has not committed by now is dropped. */
  stop(): void;
}
