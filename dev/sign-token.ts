import { SignJWT } from "jose";

export interface TokenClaims {
  org: string;
  user: string;
  role: "member" | "admin";
  repos: readonly string[];
}

/** How long a development token is good, in days. */
const TOKEN_DAYS = 365;

/** A token as the service checks it (HS256). */
export async function signToken(
  secret: string,
  claims: TokenClaims,
  environment: NodeJS.ProcessEnv = {},
): Promise<string> {
  const { org, user, role, repos } = claims;
  const token = new SignJWT({ org, role, repos: [...repos] })
    .setProtectedHeader({ alg: "HS256" })
    .setSubject(user)
    .setIssuedAt()
    .setExpirationTime(`${TOKEN_DAYS}d`);
  if (environment.AUTH_ISSUER) token.setIssuer(environment.AUTH_ISSUER);
  if (environment.AUTH_AUDIENCE) token.setAudience(environment.AUTH_AUDIENCE);
  return token.sign(new TextEncoder().encode(secret));
}
