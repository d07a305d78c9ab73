// `npm run build`: the page and the script as they are deployed, with the size and start-up time of
// the script. Fails above the size that we allow ourselves.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { buildPage } from "./service.ts";

/** Gzipped bytes of the script. */
const MOST_BYTES = 350 * 1024;
/** Words that only the fake model says; minifying leaves them as they are. */
const MARKERS = ["fake-model", "fake model", "demo model"];

const root = join(import.meta.dirname, "..");
const out = mkdtempSync(join(tmpdir(), "memdir-build-"));
try {
  await buildPage();
  const build = wrangler("deploy", "--dry-run", "--minify", "--outdir", out);
  const script = join(out, "main.js");
  if (build.status !== 0 || !existsSync(script)) {
    console.error(build.stderr || build.stdout);
    process.exit(1);
  }
  const files = readdirSync(out).filter((name) => name.endsWith(".js"));
  const bytes = Buffer.concat(files.map((name) => readFileSync(join(out, name))));
  const zipped = gzipSync(bytes).length;
  const kib = (n: number) => `${(n / 1024).toFixed(1)} KiB`;
  console.log(`script: ${kib(bytes.length)}, ${kib(zipped)} gzip (limit ${kib(MOST_BYTES)})`);
  const startUp = wrangler("check", "startup", "--outfile", join(out, "startup.cpuprofile"));
  const active = /Active: ([\d.]+ ms)/.exec(startUp.stdout)?.[1];
  if (active === undefined) {
    console.error(`The start-up time could not be measured: ${startUp.stderr || startUp.stdout}`);
    process.exit(1);
  }
  console.log(`start-up: ${active} of CPU in the local workerd, not minified`);
  const marker = MARKERS.find((one) => bytes.includes(one));
  if (marker !== undefined) {
    console.error(`The script holds the fake model ("${marker}"), which must never be deployed`);
    process.exit(1);
  }
  if (zipped > MOST_BYTES) {
    console.error(`The script is ${kib(zipped - MOST_BYTES)} over its limit`);
    process.exit(1);
  }
} finally {
  rmSync(out, { recursive: true, force: true });
}
process.disconnect?.();

function wrangler(...args: string[]) {
  const path = join(root, "node_modules", "wrangler", "bin", "wrangler.js");
  // What it measures it says at this level, which the launcher turns down.
  const env = { ...process.env, WRANGLER_LOG: "log" };
  return spawnSync(process.execPath, [path, ...args], { cwd: root, encoding: "utf8", env });
}
