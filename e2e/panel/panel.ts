import AxeBuilder from "@axe-core/playwright";
import { type Browser, type BrowserContext, test as base, expect, type Page } from "@playwright/test";
import { world } from "../world";

type Account = { email: string; password: string };

export async function signIn(page: Page, { email, password }: Account): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/**
 * Opens a page and waits until its scripts run, because earlier clicks would reach only the plain HTML. Fails if the server
 * could not render the page, which the browser would hide by rendering it again.
 */
export async function open(page: Page, path: string): Promise<void> {
  const answer = await page.goto(path);
  expect([path, (answer?.status() ?? 200) < 500]).toEqual([path, true]);
  await scriptRuns(page);
}

/** Waits until React has hydrated the page. */
export async function scriptRuns(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    Object.keys(document.querySelector("main") ?? {}).some((key) => key.startsWith("__react")),
  );
}

/**
 * Signs a browser context in with the request of the sign-in form, without showing the form, for tests of other pages. Ends
 * an earlier session of the context.
 */
export async function enter(context: BrowserContext, { email, password }: Account): Promise<void> {
  const headers = { origin: world.baseUrl };
  const { csrfToken } = await (await context.request.get(`${world.baseUrl}/api/auth/csrf`)).json();
  const answer = await context.request.post(`${world.baseUrl}/api/auth/callback/credentials`, {
    form: { csrfToken, email, password, json: "true" },
    headers,
  });
  const { url } = await answer.json();
  if (!answer.ok() || new URL(url).searchParams.has("error")) throw new Error(`${email} could not sign in.`);
}

async function memberState(browser: Browser) {
  const context = await browser.newContext({ baseURL: world.baseUrl });
  await enter(context, world.member);
  const state = await context.storageState();
  await context.close();
  return state;
}

/** Hosts of the installation, and of servers that tests start. */
const LOCAL_HOSTS = new Set(["localhost", "127.0.0.1", "[::1]"]);

type State = Awaited<ReturnType<typeof memberState>>;

/**
 * A test whose page is signed in as the member; one sign-in serves all tests of a worker. It fails if the page sends a
 * request to another host, because the panel must work without the internet.
 */
export const test = base.extend<object, { signedIn: State }>({
  page: async ({ page }, use) => {
    const elsewhere: string[] = [];
    page.on("request", (request) => {
      const { protocol, hostname } = new URL(request.url());
      const isOwn = !/^(http|ws)s?:$/.test(protocol) || LOCAL_HOSTS.has(hostname);
      if (!isOwn && !request.isNavigationRequest()) elsewhere.push(request.url());
    });
    await use(page);
    expect(elsewhere).toEqual([]);
  },
  signedIn: [
    async ({ browser }, use) => {
      await use(await memberState(browser));
    },
    { scope: "worker" },
  ],
  storageState: async ({ signedIn }, use) => {
    await use(signedIn);
  },
});

export { expect };

export function jobsPath(query: Record<string, string> = {}): string {
  const search = new URLSearchParams(query).toString();
  return `/projects/${world.projectId}/jobs${search && `?${search}`}`;
}

export function jobPath(jobId: string): string {
  return `/projects/${world.projectId}/jobs/${jobId}`;
}

/** Shows a part of the open job's page. */
export const showTab = (page: Page, name: "Result" | "Timeline" | "Receipt" | "Request") =>
  page.getByRole("tablist", { name: "Parts of the job" }).getByRole("tab", { name }).click();

export function catalogPath(capability?: string): string {
  return `/projects/${world.projectId}/catalog${capability ? `/${capability}` : ""}`;
}

export const keysPath = `/projects/${world.projectId}/keys`;

/**
 * True if this test runs in full size (`npm run test:long`), which checks each page in both themes. Throws if the test lacks
 * the tag by which `npm run test:long` finds it.
 */
export function isFull(): boolean {
  if (!test.info().tags.some((tag) => tag === "@full" || tag === "@long"))
    throw new Error('This test has two sizes: give it { tag: "@full" }.');
  return process.env.CAPSTAN_CAMPAIGN === "full";
}
const THEMES = ["dark", "light"] as const;
/** The places that `npm test` has already checked, for the page of each test: a path with a number of open dialogs. */
const checked = new WeakMap<Page, Set<string>>();
let checks = 0;

/**
 * Checks the rules that axe enables by default (WCAG 2.2 A and AA without the target size, and best practices), in dark and
 * in light. `npm test` checks a place once per test and in one theme, and the next place in the other.
 */
export async function expectAccessible(page: Page): Promise<void> {
  if (isFull()) for (const colorScheme of THEMES) await expectAccessibleIn(page, colorScheme);
  else if (await isNewPlace(page)) await expectAccessibleIn(page, THEMES[checks++ % 2]!);
}

async function isNewPlace(page: Page): Promise<boolean> {
  const dialogs = await page.locator("[role=dialog], [role=alertdialog]").count();
  const place = `${new URL(page.url()).pathname} ${dialogs}`;
  const places = checked.get(page) ?? new Set();
  checked.set(page, places);
  return places.size < places.add(place).size;
}

async function expectAccessibleIn(page: Page, colorScheme: "dark" | "light"): Promise<void> {
  await page.emulateMedia({ colorScheme });
  // The theme follows its media query in the next frame.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
  // Runs in the page itself and reports only violations; the default opens a new page each time and takes three times as
  // long.
  const { violations } = await new AxeBuilder({ page })
    .setLegacyMode()
    .options({ resultTypes: ["violations"] })
    .analyze();
  const found = violations.map(({ id, help, nodes }) => ({
    id,
    help,
    where: nodes.map((node) => node.html),
  }));
  expect(found, colorScheme).toEqual([]);
}

/** Saves pictures of the whole page in both themes for people to review, in test-results/looks; not in `npm test`. */
export async function keepLooks(page: Page, name: string): Promise<void> {
  if (!isFull()) return;
  const { width = 0 } = page.viewportSize() ?? {};
  for (const colorScheme of THEMES) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: `test-results/looks/${name}-${width}-${colorScheme}.png`, fullPage: true });
  }
}

/** Expects that the page itself does not scroll sideways. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const excess = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(excess).toBe(0);
}
