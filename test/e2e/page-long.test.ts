import { longSessionOnPage } from "./page-long-fixture.ts";

longSessionOnPage(300, { whole: true });
