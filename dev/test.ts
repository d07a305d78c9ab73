// `npm test`: everything but the long forms, or what the arguments name. `npm run test:long` (`--long`):
// the long forms alone. Both end with a line "N passed, N failed".

import { spawn, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromiumPath } from "./chromium.ts";
import { buildPage } from "./service.ts";

const root = join(import.meta.dirname, "..");
const report = join(tmpdir(), `memdir-test-${process.pid}.json`);

if (!chromiumPath() && process.env.MEMDIR_CI) {
  console.error("No Chromium: install it or set CHROMIUM_PATH; the page has to be tested here");
  process.exit(1);
}
await buildPage();
const args = process.argv.slice(2).filter((arg) => arg !== "--long");
if (process.argv.includes("--long")) goLong();
const built = join(tmpdir(), `memdir-test-worker-${process.pid}`);
const project = args[args.indexOf("--project") + 1];
if (!args.includes("--project") || project === "e2e") buildWorker();
const code = await run(args);
rmSync(built, { recursive: true, force: true });
const counts = read();
rmSync(report, { force: true });
if (!chromiumPath()) {
  console.log("The page was not tested: there is no Chromium (install it or set CHROMIUM_PATH)");
}
if (!counts || counts.passed + counts.failed === 0) {
  console.error("No test ran");
  process.exit(1);
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(code === 0 && counts.failed === 0 ? 0 : 1);

/** Chooses the long forms, and storms of another seed each time; what is set stays as it is. */
function goLong(): void {
  const seed = () => String(randomInt(1, 1_000_000));
  const storms = {
    STORM_OPERATIONS: "10000",
    STORM_SEED: seed(),
    CRASH_STRIDE: "1",
    FUZZ_CASES: "500",
    FUZZ_SEED: seed(),
    LASTWORD_CASES: "500",
    LASTWORD_SEED: seed(),
  };
  process.env.MEMDIR_TEST_LONG = "1";
  const set = Object.entries(storms).map(([name, value]) => {
    process.env[name] ??= value;
    return `${name}=${process.env[name]}`;
  });
  console.log(`To repeat this run: ${set.join(" ")} npm run test:long`);
}

/** Bundles the service once for the whole run; vitest on its own bundles it for each file. */
function buildWorker(): void {
  const wrangler = join(root, "node_modules", "wrangler", "bin", "wrangler.js");
  const made = spawnSync(process.execPath, [wrangler, "deploy", "--dry-run", "--outdir", built], {
    cwd: root,
    encoding: "utf8",
  });
  if (made.status === 0) process.env.MEMDIR_BUILT = built;
  else console.error(`The worker was not bundled ahead: ${made.stderr}`);
}

function run(args: string[]): Promise<number> {
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const child = spawn(
    process.execPath,
    [
      vitest,
      "run",
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${report}`,
      ...args,
    ],
    { cwd: root, stdio: "inherit" },
  );
  process.on("disconnect", () => child.kill("SIGTERM"));
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  process.on("SIGINT", () => {});
  return new Promise((resolve) => child.on("exit", (status) => resolve(status ?? 1)));
}

function read(): { passed: number; failed: number } | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(report, "utf8"));
    if (typeof value !== "object" || value === null) return undefined;
    const passed = "numPassedTests" in value ? Number(value.numPassedTests) : 0;
    const failed = "numFailedTests" in value ? Number(value.numFailedTests) : 0;
    return { passed, failed };
  } catch {
    return undefined;
  }
}
