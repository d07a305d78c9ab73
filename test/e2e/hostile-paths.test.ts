// Every door of the running service, tried with a part of the corpus, evenly over its kinds.

import { attackedService } from "./hostile-fixture.ts";
import { hostileRoutes } from "./hostile-routes-fixture.ts";
import { hostileSettings } from "./hostile-settings-fixture.ts";
import { hostileWrites } from "./hostile-write-fixture.ts";

const attacked = await attackedService();

hostileRoutes(attacked, 200);
hostileSettings(attacked, 150);
hostileWrites(attacked, 300);
