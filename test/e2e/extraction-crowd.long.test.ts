import { extractionCrowd } from "./extraction-crowd-fixture.ts";

await extractionCrowd(50);
