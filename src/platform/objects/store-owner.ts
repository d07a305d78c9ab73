/** Whose a memory store is: one user's, or a repository's, which a team shares. */
export type StoreOwner =
  | { type: "user"; tenant: string; user: string }
  | { type: "repository"; tenant: string; repo: string };

/** The owner that a user is. */
export function userOwner({ tenant, user }: { tenant: string; user: string }): StoreOwner {
  return { type: "user", tenant, user };
}

/**
 * The name of a store's object. The owner is part of it, so another owner's id leads to an object
 * that holds nothing. A user's name has three parts and a repository's has four: no two are equal.
 */
export function storeObjectName(owner: StoreOwner, storeId: string): string {
  const { tenant } = owner;
  switch (owner.type) {
    case "user":
      return JSON.stringify([tenant, owner.user, storeId]);
    case "repository":
      return JSON.stringify([tenant, "repository", owner.repo, storeId]);
  }
}
