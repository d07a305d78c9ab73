import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { LongFirst } from "./dev/test-order.ts";

/** `npm run test:long` runs the long forms alone, `npm test` all the rest. */
const long = process.env.MEMDIR_TEST_LONG === "1";
const LONG_FORMS = "**/*.long.test.ts";

// What computes comes first, one file a core: some of it must not take long. The rest also waits, for
// timers and processes, so that more of it fits side by side; but each further worker loads its tools
// anew, which is seconds of a core.
const COMPUTING = { maxWorkers: 2, sequence: { groupOrder: 0 } };
const IN_WORKERD = { maxWorkers: 3, sequence: { groupOrder: 1 } };
const FROM_OUTSIDE = { maxWorkers: 4, sequence: { groupOrder: 2 } };

// What we depend on is hundreds of files, which each workerd would ask for one by one.
const BUNDLED = {
  enabled: true,
  include: [
    "@anthropic-ai/sdk",
    "@anthropic-ai/sdk/client",
    "@anthropic-ai/sdk/error",
    "@secretlint/secretlint-rule-preset-recommend",
    "fast-check",
    "hono",
    "jose",
    "re2js",
    "yaml",
    "zod",
  ],
  rolldownOptions: { external: [/^node:/] },
};

// Three places to run: what is pure on Node, what needs the platform inside workerd, and the whole
// service from outside.
export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    projects: [
      {
        test: {
          name: "core",
          ...COMPUTING,
          isolate: false,
          include: long
            ? [`src/${LONG_FORMS}`]
            : [
                "src/**/*.test.ts",
                "workers/**/*.test.ts",
                "dev/**/*.test.ts",
                "web/src/**/*.test.ts",
                "test/*.test.ts",
              ],
          exclude: ["**/*.workers.test.ts", ...(long ? [] : [LONG_FORMS])],
          environment: "node",
        },
      },
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              bindings: {
                AUTH_SECRET: "tests only".repeat(4),
                STORM_OPERATIONS: process.env.STORM_OPERATIONS ?? "750",
                STORM_SEED: process.env.STORM_SEED ?? "1",
                // Few cases that are struck at every sort of moment.
                FUZZ_CASES: process.env.FUZZ_CASES ?? "18",
                FUZZ_SEED: process.env.FUZZ_SEED ?? "228",
                LASTWORD_CASES: process.env.LASTWORD_CASES ?? "24",
                LASTWORD_SEED: process.env.LASTWORD_SEED ?? "1",
                CRASH_STRIDE: process.env.CRASH_STRIDE ?? "3",
              },
              // Nothing here talks to the world; what tries is told so.
              outboundService: () => new Response("no network in tests", { status: 400 }),
            },
          }),
        ],
        test: {
          name: "workers",
          ...IN_WORKERD,
          // The storms have one form; how long it is, their variables say.
          include: long
            ? [
                "workers/**/storm.workers.test.ts",
                "workers/**/interrupt-fuzz.workers.test.ts",
                "workers/**/extraction-crash.workers.test.ts",
                "workers/**/last-word-fuzz.workers.test.ts",
              ]
            : ["src/platform/**/*.workers.test.ts", "workers/**/*.workers.test.ts"],
          deps: { optimizer: { ssr: BUNDLED } },
          // One workerd for all files of a worker; each test uses names of its own.
          isolate: false,
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: "e2e",
          ...FROM_OUTSIDE,
          // The toolchain is loaded once a worker, not once a file.
          isolate: false,
          // Its heap is marked anew at each start of a service: by further threads that costs more.
          execArgv: ["--single-threaded-gc"],
          include: long ? [`test/e2e/${LONG_FORMS}`] : ["test/e2e/**/*.test.ts"],
          exclude: long ? [] : [LONG_FORMS],
          environment: "node",
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
