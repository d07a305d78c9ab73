import { SignJWT } from "jose";
import { describe, expect, test } from "vitest";
import { signToken } from "../../../dev/sign-token.ts";
import { principalOf } from "./auth.ts";

const secret = "s".repeat(40);
const rules = { secret, jwksUrl: undefined, issuer: undefined, audience: undefined };
const claims = { org: "acme", user: "ann", role: "member", repos: [] } as const;
const headers = (token: string) => new Headers({ authorization: `Bearer ${token}` });
const SECOND = 1_000;

describe("a token that was checked a moment ago", () => {
  test("is the same principal without a second check, for these rules only", async () => {
    const token = await signToken(secret, claims);
    const first = await principalOf(headers(token), rules);
    expect(first).toMatchObject({ tenant: "acme", user: "ann" });
    expect(await principalOf(headers(token), rules)).toBe(first);
    for (const other of [
      { ...rules, secret: "t".repeat(40) },
      { ...rules, secret: undefined },
      { ...rules, issuer: "https://else.example" },
    ]) {
      expect(await principalOf(headers(token), other)).toBeUndefined();
    }
    expect(await principalOf(headers(`${token}x`), rules)).toBeUndefined();
  });

  test("ends with its time, whatever was known of it before", async () => {
    const now = Date.UTC(2026, 10, 30);
    const token = await new SignJWT({ org: "acme" })
      .setProtectedHeader({ alg: "HS256" })
      .setSubject("ann")
      .setExpirationTime(now / SECOND + 30)
      .sign(new TextEncoder().encode(secret));
    const first = await principalOf(headers(token), rules, now);
    expect(first).toBeDefined();
    expect(await principalOf(headers(token), rules, now + 29 * SECOND)).toBe(first);
    expect(await principalOf(headers(token), rules, now + 31 * SECOND)).toBeUndefined();
  });

  test("is checked again after a minute: its key may be withdrawn", async () => {
    const token = await signToken(secret, claims);
    const now = Date.now();
    const first = await principalOf(headers(token), rules, now);
    expect(await principalOf(headers(token), rules, now + 59 * SECOND)).toBe(first);
    expect(await principalOf(headers(token), rules, now + 61 * SECOND)).not.toBe(first);
  });

  test("a thousand others push the oldest out, and it is checked again", async () => {
    const token = await signToken(secret, claims);
    const first = await principalOf(headers(token), rules);
    for (let n = 0; n < 1_000; n += 1) {
      await principalOf(headers(await signToken(secret, { ...claims, user: `u${n}` })), rules);
    }
    const again = await principalOf(headers(token), rules);
    expect(again).toEqual(first);
    expect(again).not.toBe(first);
  });
});
