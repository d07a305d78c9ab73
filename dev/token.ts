// `npm run -s token -- --org acme --user ann [--role admin] [--repos acme/app,acme/site]`

import { join } from "node:path";
import { parseArgs } from "node:util";
import { signToken } from "./sign-token.ts";
import { authSecret, openState } from "./state.ts";

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
  const secret = authSecret(process.env, openState(process.env, join(import.meta.dirname, "..")));
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
