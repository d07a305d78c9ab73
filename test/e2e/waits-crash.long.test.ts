import { killWhileTurnsWait } from "./waits-crash-fixture.ts";

killWhileTurnsWait(25_000);
