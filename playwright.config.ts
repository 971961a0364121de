import { defineConfig } from "@playwright/test";
import { chromiumPath } from "./scripts/test/chromium";

/*
 * `npm test` starts the product and names it here. By hand: npm run up, then
 * CAPSTAN_BASE_URL=http://localhost:3000 npx playwright test
 */
const baseURL = process.env.CAPSTAN_BASE_URL;
if (!baseURL) throw new Error("CAPSTAN_BASE_URL is not set. Use: npm test -- --only e2e");

export default defineConfig({
  testDir: "e2e",
  outputDir: "test-results",
  workers: 3, // of two cores: a test waits now and then
  fullyParallel: false,
  forbidOnly: true,
  // Once more, in a browser of its own: what then passes is reported as flaky, and is a bug of the test or of the product.
  retries: 1,
  // Two cores also render and encode what the tests ask for: a hang is what this ends, not slowness.
  timeout: 180_000,
  expect: { timeout: 30_000 },
  use: {
    baseURL,
    browserName: "chromium",
    // What fades in or out is there or not: a check of contrast never meets half of it.
    contextOptions: { reducedMotion: "reduce" },
    screenshot: "only-on-failure",
    // A trace of every test would cost as much as the tests: the second try of one that failed leaves one.
    trace: "on-first-retry",
    launchOptions: {
      executablePath: chromiumPath(),
      args: [
        ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-gpu",
        "--no-first-run",
      ],
    },
  },
});
