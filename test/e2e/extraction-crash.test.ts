import { killsInExtractions } from "./extraction-crash-fixture.ts";

killsInExtractions(1);
