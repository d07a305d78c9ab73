// `npm run check`, the one gate: format and lint, types, the size of what is deployed, then all tests
// (layer rules among them). With `--static` format, lint and types alone.

import { spawnSync } from "node:child_process";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const modules = join(root, "node_modules");
const biome = join(modules, "@biomejs", "biome", "bin", "biome");
const tsc = join(modules, "typescript", "bin", "tsc");

const STEPS: [string, string[]][] = [
  ["format and lint", [biome, "ci", "--error-on-warnings", "."]],
  ["types of the core", [tsc, "-p", "src/shared"]],
  ["types of the workers", [tsc, "-p", "."]],
  ["types of the page", [tsc, "-p", "web"]],
  ["types of the tools", [tsc, "-p", "dev"]],
  ["what is deployed", [join(import.meta.dirname, "build.ts")]],
  ["tests", [join(import.meta.dirname, "test.ts")]],
];

const steps = process.argv.includes("--static") ? STEPS.slice(0, -2) : STEPS;
for (const [name, args] of steps) {
  const started = Date.now();
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log(`${status === 0 ? "ok" : "FAILED"}  ${name} (${seconds} s)`);
  if (status !== 0) process.exit(1);
}
process.disconnect?.();
