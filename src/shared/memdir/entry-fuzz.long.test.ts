import { findsDescriptions } from "./entry-fuzz-fixture.ts";

findsDescriptions(20_000);
