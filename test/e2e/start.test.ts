// What a user meets in the terminal.

import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { freePort, newState, removeState, startProcess } from "./process.ts";
import { until } from "./service.ts";

const root = join(import.meta.dirname, "..", "..");
const states: string[] = [];
afterAll(() => states.forEach(removeState));

function state(): string {
  const path = newState();
  states.push(path);
  return path;
}

interface Ended {
  status: number;
  stdout: string;
  stderr: string;
}

function launch(
  script: string,
  args: string[],
  environment: Record<string, string>,
): Promise<Ended> {
  const options = { cwd: root, env: { ...process.env, ...environment }, timeout: 30_000 };
  const command = [join(root, "dev", "run.mjs"), script, ...args];
  return new Promise((resolve) => {
    const child = execFile(process.execPath, command, options, (_error, stdout, stderr) =>
      resolve({ status: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

test("a start prints one line with address and token, twice on the same state, and Ctrl-C ends it all", async () => {
  const directory = state();
  const port = await freePort();
  const tokens: string[] = [];
  for (let n = 0; n < 2; n++) {
    // The first one bundles the script, as every start of a user does.
    const service = await startProcess(directory, port, n === 0 ? { MEMDIR_BUILT: "" } : {});
    const line = service
      .output()
      .split("\n")
      .find((text) => text.includes("Memdir is ready"));
    const [, address, token = ""] = /: (http:\S+) token: (\S+)$/.exec(line ?? "") ?? [];
    expect(address).toBe(service.url);
    expect(service.token()).toBe(token);
    tokens.push(token);
    const page = await fetch(service.url);
    expect(await page.text()).toContain("<!doctype html>");
    for (const good of tokens) {
      const list = await fetch(`${service.url}/v1/sessions`, {
        headers: { authorization: `Bearer ${good}` },
      });
      expect(list.status).toBe(200);
    }
    expect([0, 130]).toContain(await service.interrupt());
    await until(
      "nothing of it runs any more",
      () => groupOf(service.child.pid).length === 0,
      5_000,
    );
    await expect(fetch(service.url)).rejects.toThrow();
  }
});

test("one service a state: tokens of its script hold, and a second one is refused", async () => {
  const directory = state();
  const secret = "s".repeat(20) + "t".repeat(20);
  const service = await startProcess(directory, await freePort(), { AUTH_SECRET: secret });
  const second = await launch("dev/start.ts", [], { PORT: "0", STATE_DIR: directory });
  expect(second.stderr).toMatch(/is used by another service/);
  expect(second.status).toBe(1);

  const args = [
    "--org",
    "acme",
    "--user",
    "ann",
    "--role",
    "admin",
    "--repos",
    "acme/app,acme/site",
  ];
  const token = async (AUTH_SECRET: string) => {
    const made = await launch("dev/token.ts", args, { STATE_DIR: directory, AUTH_SECRET });
    expect(made.stderr).toBe("");
    expect(made.stdout).toBe(`${made.stdout.trim()}\n`);
    return made.stdout.trim();
  };
  const claims: unknown = JSON.parse(
    Buffer.from((await token(secret)).split(".")[1] ?? "", "base64url").toString(),
  );
  expect(claims).toMatchObject({
    org: "acme",
    sub: "ann",
    role: "admin",
    repos: ["acme/app", "acme/site"],
    exp: expect.any(Number),
  });
  // The environment's secret comes before the state's own.
  for (const [given, status] of [
    [secret, 200],
    ["", 401],
  ] as const) {
    const list = await fetch(`${service.url}/v1/sessions`, {
      headers: { authorization: `Bearer ${await token(given)}` },
    });
    expect(list.status).toBe(status);
  }
  await service.interrupt();
});

test("what is wrong with the set-up is said in one clear line", async () => {
  const taken = createServer();
  const port = await new Promise<number>((resolve) => {
    taken.listen(0, "127.0.0.1", () => {
      const address = taken.address();
      resolve(typeof address === "object" && address ? address.port : 0);
    });
  });
  const file = join(state(), "a-file");
  writeFileSync(file, "x");
  const short = state();
  mkdirSync(short, { recursive: true });
  writeFileSync(join(short, "auth-secret"), "short");
  const cases: [Record<string, string>, RegExp][] = [
    [{ PORT: String(port), STATE_DIR: state() }, /^Port \d+ is in use: .*PORT/],
    [{ PORT: "abc", STATE_DIR: state() }, /^PORT "abc" is not a port/],
    [{ PORT: "0", STATE_DIR: file }, /^Cannot use .*STATE_DIR/],
    [{ PORT: "0", STATE_DIR: short }, /auth-secret has 5 characters/],
    [{ PORT: "0", STATE_DIR: state(), AUTH_SECRET: "tooshort" }, /^AUTH_SECRET has 8 characters/],
    [
      {
        PORT: "0",
        STATE_DIR: state(),
        ANTHROPIC_BASE_URL: "http://127.0.0.1:1",
        ANTHROPIC_API_KEY: "",
      },
      /^ANTHROPIC_BASE_URL is set and ANTHROPIC_API_KEY is not/,
    ],
    [{ PORT: "0", STATE_DIR: state(), MODEL_IDLE_MS: "soon" }, /^MODEL_IDLE_MS is not a number/],
    [
      { PORT: "0", STATE_DIR: state(), REMOTE_MEMORY_DIR: "rel" },
      /^REMOTE_MEMORY_DIR is not a place/,
    ],
  ];
  const ended = await Promise.all(
    cases.map(async ([environment, says]) => ({
      says,
      ...(await launch("dev/start.ts", [], environment)),
    })),
  );
  for (const { says, status, stderr } of ended) {
    expect(stderr.trim()).toMatch(says);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(status).toBe(1);
  }
  taken.close();
});

/** Processes that are left of a group. */
function groupOf(group: number | undefined): string[] {
  const { stdout } = spawnSync("ps", ["-eo", "pgid=,pid=,comm="], { encoding: "utf8" });
  return stdout.split("\n").filter((line) => line.trim().split(/\s+/)[0] === String(group));
}
