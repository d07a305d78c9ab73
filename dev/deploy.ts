// `npm run deploy`: builds, then puts the script on Cloudflare (`wrangler login` comes first).

import { spawnSync } from "node:child_process";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const wrangler = join(root, "node_modules", "wrangler", "bin", "wrangler.js");

for (const args of [[join(import.meta.dirname, "build.ts")], [wrangler, "deploy", "--minify"]]) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(1);
}
process.disconnect?.();
