import { killsInTurns, MOMENTS } from "./crash-fixture.ts";

killsInTurns(MOMENTS);
