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
  workers: 3, // more than the two cores, because tests sometimes wait
  fullyParallel: false,
  forbidOnly: true,
  // One retry, in its own browser: a test that then passes is reported as flaky, which is a bug of the test or the
  // product.
  retries: 1,
  // Two cores also render and encode for the tests, so this limit ends hangs, not slow tests.
  timeout: 180_000,
  expect: { timeout: 30_000 },
  use: {
    baseURL,
    browserName: "chromium",
    // No fades: a contrast check never sees a half-transparent element.
    contextOptions: { reducedMotion: "reduce" },
    screenshot: "only-on-failure",
    // Tracing every test would double the run time, so only retries are traced.
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
