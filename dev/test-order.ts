// The order in which test files start. The long ones begin first, so that none is left over at the
// end; a fresh clone has no times of an earlier run to order by.

import { basename } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take eight seconds or more beside others, the longest first. */
const LONG_FILES = [
  "hostile-paths.long.test.ts",
  "extraction-crash.long.test.ts",
  "crash.long.test.ts",
  "waits-crash.long.test.ts",
  "extraction-crash.workers.test.ts",
  "interrupt-fuzz.workers.test.ts",
  "extraction-faults.workers.test.ts",
  "storm.workers.test.ts",
  "r2-files.workers.test.ts",
  "extraction.test.ts",
  "compaction.test.ts",
  "interrupt.test.ts",
  "page-long.test.ts",
  "start.test.ts",
  "hostile-paths.test.ts",
  "compaction-notes.test.ts",
  "prefix.test.ts",
  "join.test.ts",
  "recall.test.ts",
  "event-log.test.ts",
  "faults.test.ts",
  "compaction-large.test.ts",
  "page.test.ts",
  "crash.test.ts",
  "order.test.ts",
  "compaction-crash.test.ts",
];
/** A process of one project cannot serve another, so each project's files stay together. */
const PROJECTS = ["core", "workers", "e2e"];

export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ordered = await super.sort(files);
    return ordered.toSorted(
      (a, b) =>
        PROJECTS.indexOf(a.project.name) - PROJECTS.indexOf(b.project.name) ||
        placeOf(a) - placeOf(b),
    );
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = LONG_FILES.indexOf(basename(moduleId));
  return place < 0 ? LONG_FILES.length : place;
}
