import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { runToEnd } from "../launch/ending";
import { findFile } from "../launch/files";
import { freePort } from "../launch/system";
import { chromiumPath } from "./chromium";
import { BIN, type Count, cleanEnv, runTool } from "./process";
import { startProduct } from "./product";

const PlaywrightSuite = z.object({
  get suites() {
    return z.array(PlaywrightSuite).optional();
  },
  specs: z.array(
    z.object({ title: z.string(), file: z.string(), tests: z.array(z.object({ status: z.string() })) }),
  ),
});
const PlaywrightReport = z.object({
  suites: z.array(PlaywrightSuite),
  stats: z.object({ expected: z.int(), unexpected: z.int(), flaky: z.int() }),
  errors: z.array(z.object({ message: z.string().optional() })),
});

type Options = { scratch: string; specs?: string[]; options?: string[]; env?: Record<string, string> };

/** Runs these specs of e2e, or all, in a browser against the product as `npm run up` starts it. */
export async function runBrowserTests({
  scratch,
  specs: named = [],
  options = [],
  env = {},
}: Options): Promise<Count> {
  await ensureBrowser();
  const dataDir = join(scratch, "data");
  // Tests that need a Hub start one of their own at this address.
  const hubUrl = `http://127.0.0.1:${await freePort()}`;
  const instance = await startProduct(dataDir, { HF_BASE_URL: hubUrl });
  try {
    const reportFile = join(scratch, "playwright.json");
    const code = await runTool(
      join(BIN, "playwright"),
      ["test", ...named, ...options, "--reporter=list,json"],
      cleanEnv({
        ...env,
        CAPSTAN_BASE_URL: instance.baseUrl,
        CAPSTAN_DATA_DIR: dataDir,
        HF_BASE_URL: hubUrl,
        PLAYWRIGHT_JSON_OUTPUT_FILE: reportFile,
      }),
    );
    const { stats, errors, suites } = PlaywrightReport.parse(JSON.parse(findFile(reportFile) ?? "null"));
    for (const error of errors) console.error(error.message);
    const failed = stats.unexpected + errors.length;
    const specs = suites.flatMap(specsOf);
    const withStatus = (status: string) =>
      specs
        .filter((spec) => spec.tests.some((one) => one.status === status))
        .map((spec) => `e2e/${spec.file} > ${spec.title}`);
    return {
      files: new Set(specs.map(({ file }) => file)).size,
      passed: stats.expected + stats.flaky,
      failed: failed === 0 && code !== 0 ? 1 : failed,
      failures: withStatus("unexpected"),
      flaky: withStatus("flaky"),
    };
  } finally {
    await instance.stop();
  }
}

function specsOf(suite: z.infer<typeof PlaywrightSuite>): z.infer<typeof PlaywrightSuite>["specs"] {
  return [...suite.specs, ...(suite.suites ?? []).flatMap(specsOf)];
}

/**
 * Makes sure that there is a Chromium: the one of CHROMIUM_PATH, Debian's, which is installed for root, or Playwright's own.
 * Throws when there is none.
 */
async function ensureBrowser(): Promise<void> {
  if (chromiumPath()) return;
  const { chromium } = await import("@playwright/test"); // the package is heavy, and only this command needs it
  if (existsSync(chromium.executablePath())) return;
  if (process.platform === "linux" && process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) {
    console.log("Installing Debian's Chromium …");
    await runToEnd("apt-get", ["update", "-q"]);
    await runToEnd("apt-get", ["install", "-y", "-q", "--no-install-recommends", "chromium-headless-shell"], {
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
    if (chromiumPath()) return;
  }
  throw new Error("There is no Chromium. Run: npx playwright install chromium, or set CHROMIUM_PATH.");
}
