import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

// Three places to run: what is pure on Node, what needs the platform inside workerd, and the whole
// service from outside.
export default defineConfig({
  test: {
    // Most of the time is spent waiting for processes, not computing.
    maxWorkers: 4,
    projects: [
      {
        test: {
          name: "core",
          isolate: false,
          include: [
            "src/**/*.test.ts",
            "workers/**/*.test.ts",
            "dev/**/*.test.ts",
            "web/src/**/*.test.ts",
            "test/*.test.ts",
          ],
          exclude: ["**/*.workers.test.ts"],
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
                STORM_OPERATIONS: process.env.STORM_OPERATIONS ?? "1500",
                STORM_SEED: process.env.STORM_SEED ?? "1",
                FUZZ_CASES: process.env.FUZZ_CASES ?? "30",
                FUZZ_SEED: process.env.FUZZ_SEED ?? "1",
              },
              // Nothing here talks to the world; what tries is told so.
              outboundService: () => new Response("no network in tests", { status: 400 }),
            },
          }),
        ],
        test: {
          name: "workers",
          include: ["src/platform/**/*.workers.test.ts", "workers/**/*.workers.test.ts"],
          // One workerd for all files; each test uses names of its own.
          isolate: false,
        },
      },
      {
        test: {
          name: "e2e",
          // The toolchain is loaded once a worker, not once a file.
          isolate: false,
          include: ["test/e2e/**/*.test.ts"],
          environment: "node",
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
