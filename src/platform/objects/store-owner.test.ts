import fc from "fast-check";
import { expect, test } from "vitest";
import { type StoreOwner, storeObjectName } from "./store-owner.ts";

const PARTS = ["a", "repository", "user", '"', '","', '["a","repository"]', "\\", ""];
const part = fc.oneof(fc.constantFrom(...PARTS), fc.string());
const owner: fc.Arbitrary<StoreOwner> = fc.oneof(
  fc.record({ type: fc.constant("user" as const), tenant: part, user: part }),
  fc.record({ type: fc.constant("repository" as const), tenant: part, repo: part }),
);

test("two owners never share an object, be they users or repositories", () => {
  const [id, other] = ["memstore_1", "memstore_2"];
  for (const text of PARTS) {
    const user: StoreOwner = { type: "user", tenant: "t", user: text };
    const repository: StoreOwner = { type: "repository", tenant: "t", repo: text };
    expect(storeObjectName(user, id)).not.toBe(storeObjectName(repository, id));
    expect(storeObjectName(user, id)).not.toBe(storeObjectName(user, other));
  }
  fc.assert(
    fc.property(owner, owner, part, part, (a, b, idA, idB) => {
      const [one, two] = [storeObjectName(a, idA), storeObjectName(b, idB)];
      const same = JSON.stringify([a, idA]) === JSON.stringify([b, idB]);
      expect(one === two).toBe(same);
    }),
    { numRuns: 2000 },
  );
});
