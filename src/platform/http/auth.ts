import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import * as z from "zod";

/** Who calls. Every read and write goes by this, never by a body. */
export interface Principal {
  tenant: string;
  user: string;
  role: "member" | "admin";
  /** Repositories whose team memory may be used; "*" is all of the tenant's. */
  repos: string[];
}

export interface TokenRules {
  /** HS256 key as UTF-8 text. */
  secret: string | undefined;
  jwksUrl: string | undefined;
  issuer: string | undefined;
  audience: string | undefined;
}

// An id becomes part of object names and storage keys: printable, well-formed and short.
const id = z
  .string()
  .min(1)
  .max(128)
  .refine((text) => text.isWellFormed() && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text));

const claims = z.object({
  org: id,
  sub: id,
  role: z.enum(["member", "admin"]).default("member"),
  repos: z.array(z.string().min(1).max(256)).max(1000).default([]),
});

const keySets = new Map<string, ReturnType<typeof createRemoteJWKSet>>();

/** Tokens that were checked a moment ago: to import a key and to check a signature takes a millisecond. */
const checked = new Map<string, { principal: Principal; until: number }>();
const CHECKED_MOST = 1000;
/** A key that was withdrawn is noticed this late, in milliseconds. */
const CHECKED_MS = 60_000;

/** The principal of a token, or undefined where it is missing, forged, expired or incomplete. */
export async function principalOf(
  headers: Headers,
  rules: TokenRules,
  now: number = Date.now(),
): Promise<Principal | undefined> {
  const token = bearer(headers);
  if (!token) return undefined;
  const { secret, jwksUrl, issuer, audience } = rules;
  const name = JSON.stringify([token, secret, jwksUrl, issuer, audience]);
  const known = checked.get(name);
  if (known && known.until > now) return known.principal;
  checked.delete(name);
  try {
    const options = { requiredClaims: ["exp"], issuer, audience, currentDate: new Date(now) };
    const { payload } = await verify(token, rules, options);
    const { org, sub, role, repos } = claims.parse(payload);
    const principal = { tenant: org, user: sub, role, repos };
    const until = Math.min(now + CHECKED_MS, (payload.exp ?? 0) * 1000);
    checked.set(name, { principal, until });
    for (const oldest of checked.keys()) {
      if (checked.size <= CHECKED_MOST) break;
      checked.delete(oldest);
    }
    return principal;
  } catch {
    return undefined;
  }
}

/** A token says itself which kind of key it wants; only a kind that the deployment set up counts. */
async function verify(token: string, rules: TokenRules, options: object) {
  const { alg } = decodeProtectedHeader(token);
  if (alg === "HS256" && rules.secret !== undefined) {
    const key = new TextEncoder().encode(rules.secret);
    return jwtVerify(token, key, { ...options, algorithms: ["HS256"] });
  }
  if (rules.jwksUrl === undefined) throw new Error("no key to check such a token with");
  const keys = keySets.get(rules.jwksUrl) ?? createRemoteJWKSet(new URL(rules.jwksUrl));
  keySets.set(rules.jwksUrl, keys);
  const algorithms = ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"];
  return jwtVerify(token, keys, { ...options, algorithms });
}

function bearer(headers: Headers): string | undefined {
  const value = headers.get("authorization");
  const match = value?.match(/^Bearer +(\S+)$/i);
  return match?.[1] ?? headers.get("x-api-key") ?? undefined;
}
