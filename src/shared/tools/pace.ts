// Patterns come from models. RE2 is linear in the text, but its constant grows with the pattern, and one
// call of it cannot be stopped. So steps (characters times instructions) are counted before they are
// done. Between slices of them there are pauses, in which other tasks run and an interrupt takes effect.

import { PATTERN_SLICE_STEPS, PATTERN_STEPS } from "../limits/tools.ts";

/** Ends a slice of work: resolves in a later task, after those that were queued meanwhile. */
export type Pause = () => Promise<void>;

/** By a timer, since every platform has one. It measures no time. */
export const nextTask: Pause = () => new Promise((resolve) => setTimeout(resolve, 0));

export interface PaceLimits {
  /** Steps between two pauses. */
  slice: number;
  /** Steps in all. */
  all: number;
}

export const PACE_LIMITS: PaceLimits = { slice: PATTERN_SLICE_STEPS, all: PATTERN_STEPS };

/** Counts the steps of one tool call. */
export class Pace {
  private slice = 0;
  private done = 0;
  private readonly limits: PaceLimits;
  private readonly pause: Pause;

  constructor(limits: PaceLimits, pause: Pause) {
    this.limits = limits;
    this.pause = pause;
  }

  /** Whether all steps are used up. */
  get exhausted(): boolean {
    return this.done > this.limits.all;
  }

  /** Counts steps that follow at once. Await the result, if there is one, before them. */
  before(steps: number): Promise<void> | undefined {
    this.done += steps;
    this.slice += steps;
    if (this.slice <= this.limits.slice) return undefined;
    this.slice = steps;
    return this.pause();
  }
}
