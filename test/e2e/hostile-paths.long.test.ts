// Every door of the running service, tried with the corpus.

import { attackedService } from "./hostile-fixture.ts";
import { hostileRoutes } from "./hostile-routes-fixture.ts";
import { hostileSettings } from "./hostile-settings-fixture.ts";
import { hostileWrites } from "./hostile-write-fixture.ts";

const attacked = await attackedService();

hostileRoutes(attacked, Number.POSITIVE_INFINITY);
hostileSettings(attacked, 1000);
hostileWrites(attacked, 1000);
