import { longConversation } from "./long-conversation-fixture.ts";

await longConversation(70);
