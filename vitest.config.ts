import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const DATABASE = "**/*.db.test.ts";
const ISOLATED = "**/*.isolated.test.ts";
const { MODULE_CACHE } = process.env;
const NO_TESTS = [
  // Whole files that `npm test` leaves to `npm run test:long`.
  ...(process.env.TESTS_LEFT_OUT ?? "").split(",").filter((file) => file !== ""),
  "**/node_modules/**",
  "**/.next/**",
  "**/dist/**",
  "**/.data/**",
  "e2e/**",
  "bench/peers/**",
];

/*
 * The file name of a test states what the test needs. `x.test.ts` needs nothing, `x.db.test.ts` the database of its worker,
 * `x.isolated.test.ts` its own process and database. The first two share a worker's modules, file after file, because
 * importing the product takes longer than most tests.
 */
export default defineConfig({
  resolve: { alias: { "@": fileURLToPath(new URL(".", import.meta.url)).replace(/\/$/, "") } },
  test: {
    pool: "forks",
    // Planted faults keep compiled modules. vitest 4.1 rejects this as an option on the command line, because it reads the
    // option twice.
    ...(MODULE_CACHE ? { experimental: { fsModuleCache: true, fsModuleCachePath: MODULE_CACHE } } : {}),
    maxWorkers: 3, // more than the two cores, because some tests wait for a slow provider
    projects: [
      {
        extends: true,
        test: {
          name: "pure",
          include: ["**/*.test.ts", "**/*.test.tsx"],
          exclude: [...NO_TESTS, DATABASE, ISOLATED],
          isolate: false,
          setupFiles: "testing/setup/settings.ts",
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "database",
          include: [DATABASE],
          exclude: NO_TESTS,
          isolate: false,
          globalSetup: ["testing/setup/global.ts", "testing/setup/programs.ts"],
          setupFiles: ["testing/setup/database.ts", "testing/setup/settings.ts"],
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: "isolated",
          include: [ISOLATED],
          exclude: NO_TESTS,
          globalSetup: ["testing/setup/global.ts", "testing/setup/programs.ts"],
          setupFiles: "testing/setup/database.ts",
          sequence: { groupOrder: 3 },
        },
      },
    ],
    env: {
      NODE_ENV: "test",
      CAPSTAN_ENV: "development",
      DATABASE_POOL: "10",
      NEXTAUTH_SECRET: "a secret for tests only, never used elsewhere",
      NEXTAUTH_URL: "http://127.0.0.1:3000",
      CAPSTAN_VAULT_KEY: Buffer.from("a vault key for the tests, 32 by").toString("base64"),
      // A worker's tests send more requests per minute than people do, all from one address. Some tests use up a limit, so it
      // is no higher.
      RATE_LIMIT_KEY_PER_MINUTE: "10000",
      RATE_LIMIT_ANONYMOUS_PER_MINUTE: "10000",
      LOG_LEVEL: process.env.LOG_LEVEL ?? "silent",
    },
    tags: [{ name: "long", description: "Runs in `npm run test:long` alone." }],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // `npm test` runs a failed file once more on its own and reports it as flaky, which is a bug of the test or the product.
    retry: 0,
  },
});
