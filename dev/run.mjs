// Runs a script of this repository: installs what is missing from the lock file, picks the pinned
// Node, keeps the toolchain off the network, and leaves nothing running. Plain JavaScript without
// dependencies: it has to work before it has installed anything, on Node 20 or newer.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, lstatSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const modules = join(root, "node_modules");
const lock = join(root, "package-lock.json");
// npm writes this one last: it says what it has installed, and when.
const installed = join(modules, ".package-lock.json");
const windows = process.platform === "win32";

const ENVIRONMENT = {
  CI: process.env.CI ?? "1",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  DO_NOT_TRACK: "1",
  // The toolchain is megabytes of JavaScript, and a start compiles them for half a second.
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(modules, ".cache", "node"),
  WRANGLER_HIDE_BANNER: "true",
  // Else each batch of the queue is a line in the terminal.
  WRANGLER_LOG: process.env.WRANGLER_LOG ?? "error",
  WRANGLER_NO_SKILLS_UPDATE_PROMPTS: "true",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_SEND_METRICS: "false",
  // The runtime's own record of every request, which nobody here looks at.
  X_LOCAL_OBSERVABILITY: "false",
};

const [command, ...args] = process.argv.slice(2);
if (command === undefined) fail("Usage: node dev/run.mjs <script.ts | tool> [arguments]");
if (Number(process.versions.node.split(".")[0]) < 20) {
  fail(`Node ${process.versions.node} is too old: install Node 20 or newer`);
}
install();
run();

function install() {
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  // npm would empty the folder behind the link, which another checkout works with.
  if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) {
    fail(
      `${modules} is a link to modules of another lock file: run \`npm ci\` where it leads, or remove it`,
    );
  }
  process.stderr.write("Installing what is missing (npm ci) …\n");
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const result = spawnSync("npm", ["ci", ...flags], {
    cwd: root,
    shell: windows,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (result.status !== 0) fail("`npm ci` failed; see the lines above");
}

function run() {
  const node = pinnedNode();
  const isScript = /\.(ts|mjs)$/.test(command);
  const target = isScript ? join(root, command) : toolOf(command);
  // Its own process group would escape the terminal's Ctrl-C; the channel tells it when we die.
  const child = spawn(node, [...nodeFlags(isScript), target, ...args], {
    cwd: isScript ? root : process.cwd(),
    env: {
      ...process.env,
      ...ENVIRONMENT,
      PATH: `${join(modules, ".bin")}${windows ? ";" : ":"}${process.env.PATH}`,
    },
    stdio: isScript ? ["inherit", "inherit", "inherit", "ipc"] : "inherit",
  });
  // The terminal sends Ctrl-C to the child too; pass on a signal from elsewhere.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  process.on("SIGHUP", () => child.kill("SIGTERM"));
  // What started us may go without a word, as a shell does between npm and here.
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) child.kill("SIGTERM");
  }, 1000).unref();
  child.on("error", (error) => fail(`Cannot start ${command}: ${error.message}`));
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 143)));
}

/** The Node that the lock file pins where there is one for this machine, else the running one. */
function pinnedNode() {
  const pinned = join(modules, ".bin", "node");
  if (existsSync(pinned) && statSync(pinned).isFile()) return pinned;
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return process.execPath;
  return fail(
    `Node ${process.versions.node} cannot run TypeScript, and there is no pinned Node for ${process.platform} ${process.arch}: install Node 22.18 or newer`,
  );
}

function nodeFlags(isScript) {
  return isScript && command.endsWith(".ts") ? ["--disable-warning=ExperimentalWarning"] : [];
}

/** The JavaScript file behind a tool's name in node_modules/.bin. */
function toolOf(name) {
  const path = join(modules, ".bin", name);
  if (!existsSync(path)) fail(`There is no tool "${name}"`);
  return path;
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
