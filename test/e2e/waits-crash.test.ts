import { killWhileTurnsWait } from "./waits-crash-fixture.ts";

killWhileTurnsWait(15_000);
