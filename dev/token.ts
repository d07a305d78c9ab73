// `npm run -s token -- --org acme --user ann [--role admin] [--repos acme/app,acme/site]`

import { join } from "node:path";
import { parseArgs } from "node:util";
import { signToken } from "./sign-token.ts";
import { authSecret, hasSecret, openState } from "./state.ts";

try {
  const { values } = parseArgs({
    options: {
      org: { type: "string" },
      user: { type: "string" },
      role: { type: "string", default: "member" },
      repos: { type: "string", default: "" },
    },
  });
  const { org, user, role, repos } = values;
  if (!org || !user) throw new Error("Usage: npm run -s token -- --org ORG --user USER");
  if (role !== "member" && role !== "admin") {
    throw new Error(`--role "${role}": use member or admin`);
  }
  const state = openState(process.env, join(import.meta.dirname, ".."));
  if (!process.env.AUTH_SECRET && !hasSecret(state)) {
    process.stderr.write(
      `${state} had no secret until now: a service with another STATE_DIR will refuse this token\n`,
    );
  }
  const secret = authSecret(process.env, state);
  const claims = {
    org,
    user,
    role,
    repos: repos.split(",").filter((repo) => repo !== ""),
  } as const;
  process.stdout.write(`${await signToken(secret, claims, process.env)}\n`);
  process.disconnect?.();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
