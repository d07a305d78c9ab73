import { findsDescriptions } from "./entry-fuzz-fixture.ts";

findsDescriptions(5_000);
