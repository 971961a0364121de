import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type BrowserContext, chromium, type Page } from "@playwright/test";
import { chromiumPath } from "../test/chromium";
import { shots } from "./shots";

/*
 * npm run screenshots [-- --to FOLDER] [--only NAME]
 *
 * Takes pictures of every page of the panel and of its main dialogs in a running installation that has the demo's organization
 * (npm run demo:seed): light and dark, each also as wide as a phone. Prints the written paths. `--only` takes pictures whose
 * name contains the text.
 */

const { values } = parseArgs({
  options: { to: { type: "string", default: "screenshots" }, only: { type: "string", default: "" } },
});
const dataDir = process.env.CAPSTAN_DATA_DIR || ".data";
const file = join(dataDir, "demo.json");
if (!existsSync(file)) {
  console.error(`There is no ${file}. Run npm run demo:seed against the running installation first.`);
  process.exit(2);
}
type Account = { email: string; password: string };
const demo: {
  baseUrl: string;
  projectId: string;
  places: Record<string, string>;
  people: (Account & { role: string })[];
} = JSON.parse(readFileSync(file, "utf8")); // written by npm run demo:seed
/** Written by npm run up. */
const { operator }: { operator: Account } = JSON.parse(readFileSync(join(dataDir, "bootstrap.json"), "utf8"));

const LOOKS = [
  { name: "light", colorScheme: "light", viewport: { width: 1440, height: 900 } },
  { name: "dark", colorScheme: "dark", viewport: { width: 1440, height: 900 } },
  { name: "phone", colorScheme: "light", viewport: { width: 390, height: 844 } },
  { name: "phone-dark", colorScheme: "dark", viewport: { width: 390, height: 844 } },
] as const;

/** Signs in as the page's form does. */
async function enter(context: BrowserContext, role: string): Promise<void> {
  const person = role === "operator" ? operator : demo.people.find((each) => each.role === role);
  if (!person) throw new Error(`the demo has no ${role}`);
  const { csrfToken } = await (await context.request.get(`${demo.baseUrl}/api/auth/csrf`)).json();
  const form = { csrfToken, email: person.email, password: person.password, json: "true" };
  const answer = await context.request.post(`${demo.baseUrl}/api/auth/callback/credentials`, {
    form,
    headers: { origin: demo.baseUrl },
  });
  if (!answer.ok())
    throw new Error(`${person.email} could not sign in: run npm run demo:seed against this installation.`);
}

/** Waits until the page has loaded its data, for at most five seconds. */
async function settle(page: Page): Promise<void> {
  await page.waitForLoadState("networkidle", { timeout: 5_000 }).catch(() => {}); // a page that polls is never idle
  await page.waitForTimeout(300);
}

const browser = await chromium.launch({
  executablePath: chromiumPath(),
  args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
});
try {
  for (const { name: look, colorScheme, viewport } of LOOKS) {
    const folder = join(values.to, look);
    mkdirSync(folder, { recursive: true });
    for (const role of ["owner", "operator", null] as const) {
      const context = await browser.newContext({
        baseURL: demo.baseUrl,
        colorScheme,
        viewport,
        reducedMotion: "reduce",
      });
      if (role) await enter(context, role);
      const page = await context.newPage();
      page.setDefaultTimeout(30_000);
      for (const shot of shots(demo)) {
        if (shot.as !== role || !shot.name.includes(values.only)) continue;
        const path = join(folder, `${shot.name}.png`);
        try {
          await page.goto(shot.path);
          await settle(page);
          if (shot.act) {
            await shot.act(page);
            await settle(page);
          }
          await page.screenshot({ path, fullPage: !shot.act });
          console.log(path);
        } catch (error) {
          console.error(
            `${path} was not written: ${error instanceof Error ? error.message.split("\n")[0] : error}`,
          );
          process.exitCode = 1;
        }
      }
      await context.close();
    }
  }
} finally {
  await browser.close();
}
