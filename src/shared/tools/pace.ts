// Patterns come from models. RE2 is linear in the text, but its constant grows with the pattern, and
// one call of it cannot be stopped. So work is counted before it is done, in characters times
// instructions, and broken off by pauses in which others get in and an interrupt is heard.

import { PATTERN_SLICE_STEPS, PATTERN_STEPS } from "../limits/tools.ts";

/** Ends the slice of work that runs: resolves in a later task, behind what has waited meanwhile. */
export type Pause = () => Promise<void>;

/** A timer is the one way to a later task that every platform has. It measures no time. */
export const nextTask: Pause = () => new Promise((resolve) => setTimeout(resolve, 0));

export interface PaceLimits {
  /** Steps between two pauses. */
  slice: number;
  /** Steps in all. */
  all: number;
}

export const PACE_LIMITS: PaceLimits = { slice: PATTERN_SLICE_STEPS, all: PATTERN_STEPS };

/** The work of one tool call. */
export class Pace {
  private slice = 0;
  private done = 0;
  private readonly limits: PaceLimits;
  private readonly pause: Pause;

  constructor(limits: PaceLimits, pause: Pause) {
    this.limits = limits;
    this.pause = pause;
  }

  /** Whether the budget is used up. */
  get exhausted(): boolean {
    return this.done > this.limits.all;
  }

  /** Counts work that is to follow at once; wait for what it gives back, if anything. */
  before(steps: number): Promise<void> | undefined {
    this.done += steps;
    this.slice += steps;
    if (this.slice <= this.limits.slice) return undefined;
    this.slice = steps;
    return this.pause();
  }
}
