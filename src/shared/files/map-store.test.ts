import { describeFileStore } from "../../../test/contract/file-store.ts";
import { createMapStore } from "./map-store.ts";

describeFileStore("map store", async () => createMapStore(() => 1_760_000_000_000));
