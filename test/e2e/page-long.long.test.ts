import { longSessionOnPage } from "./page-long-fixture.ts";

longSessionOnPage(10_000, { whole: false });
