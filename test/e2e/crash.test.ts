// One of the kills of `crash.long.test.ts`: the moment at which the most is under way.

import { killsInTurns, MOMENTS } from "./crash-fixture.ts";

killsInTurns(MOMENTS.filter(({ name }) => name === "between two writers of one answer"));
