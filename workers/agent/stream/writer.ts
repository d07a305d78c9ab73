import type { SentEvent } from "../rows/events.ts";
import type { PreviewFrame } from "./preview.ts";

/**
 * The transport to one client. A subscription calls it and knows nothing of its format; all sizes are
 * bytes. When there is room again it calls the subscription's `drain`, when the client has left its
 * `cancel`.
 */
export interface EventWriter {
  /** What it takes before its buffer is full; 0 or less where it is. An item may overshoot it. */
  room(): number;
  /** Written, and not yet read by the client. */
  unread(): number;
  /** Read by the client since the start. */
  read(): number;
  event(event: SentEvent): void;
  preview(frame: PreviewFrame): void;
  /** So many events are missing before the next one, which is the last. */
  leftOut(count: number): void;
  /** A heartbeat. */
  ping(): void;
  /** Nothing follows. Called once, and not after `cancel`. */
  close(): void;
}
