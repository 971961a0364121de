import { spawn } from "node:child_process";
import { once } from "node:events";
import AxeBuilder from "@axe-core/playwright";
import { type APIRequestContext, expect, type Page, test } from "@playwright/test";
import { freePort } from "../../scripts/launch/system";
import { call, world } from "../world";
import { expectNoSidewaysScroll } from "./panel";

/** The example of docs/guides/embed-in-your-site.md: a page on another origin that shows an embed. */
async function startHost() {
  const port = await freePort();
  const child = spawn(process.execPath, ["docs/examples/panel-host.mjs"], {
    env: {
      ...process.env,
      PORT: String(port),
      CAPSTAN_URL: world.baseUrl,
      CAPSTAN_API_KEY: world.apiKey,
      CAPSTAN_PROJECT: world.projectId,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return { origin: `http://localhost:${port}`, stop: () => child.kill() };
}

type Heard = {
  name: string;
  jobId?: string;
  sessionId?: string;
  category?: string;
  artifacts?: { artifactId: string }[];
};
const heardBy = (page: Page) => page.evaluate(() => (window as unknown as { heard: Heard[] }).heard);
const waitFor = async (page: Page, name: string): Promise<Heard> => {
  await expect.poll(async () => (await heardBy(page)).map((each) => each.name)).toContain(name);
  return (await heardBy(page)).findLast((each) => each.name === name) as Heard; // the poll found it
};

async function framersOf(request: APIRequestContext, path: string) {
  const { headers } = await request.get(path).then((answer) => ({ headers: answer.headers() }));
  return { csp: headers["content-security-policy"], options: headers["x-frame-options"] };
}

test("a page of another origin shows an embed, runs a job in it, and receives the events of the job and the session's end", async ({
  page,
  request,
}) => {
  const host = await startHost();
  try {
    await page.setViewportSize({ width: 390, height: 900 });
    await page.goto(host.origin);
    const { sessionId } = await waitFor(page, "capstan-ready");
    const frame = page.frameLocator("capstan-panel iframe");
    await expect(frame.getByRole("heading", { name: "Picture studio" })).toBeVisible();
    await expect(frame.getByLabel("Prompt")).toHaveValue("A kite over the dunes");
    await expect(frame.getByLabel("Variant count")).toHaveCount(0); // this field is locked
    await expect(frame.locator("[data-price]")).toContainText("$");
    await expectNoSidewaysScroll(page);
    const { violations } = await new AxeBuilder({ page }).include("capstan-panel").analyze();
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);

    // The host fills in values and sets the theme; locked fields stay, and unknown messages are ignored.
    await page.evaluate(() => {
      const panel = document.querySelector("capstan-panel") as HTMLElement & { inputs: object };
      panel.inputs = { prompt: "A red kite", variantCount: 4, nonsense: true };
      panel.setAttribute("theme", "dark");
      document
        .querySelector("iframe")
        ?.contentWindow?.postMessage({ protocol: "service.panel.v1", type: "nonsense" }, "*");
    });
    await expect(frame.getByLabel("Prompt")).toHaveValue("A red kite");
    await expect(frame.locator("html")).toHaveClass("dark");
    // The host's theme also overrides a change of the system theme.
    for (const colorScheme of ["dark", "light"] as const) await page.emulateMedia({ colorScheme });
    await expect(frame.locator("html")).toHaveCSS("color-scheme", "dark");
    await expect(frame.locator("html")).toHaveClass("dark");

    await frame.getByLabel("Prompt").fill("");
    await frame.getByRole("button", { name: "Run" }).click();
    await expect(frame.locator("[data-issue]")).toHaveText("This cannot be empty.");
    await frame.getByLabel("Prompt").fill("A red kite");

    await frame.getByRole("button", { name: "Run" }).click();
    const { jobId } = await waitFor(page, "capstan-job-submitted");
    const done = await waitFor(page, "capstan-job-completed");
    expect(done).toMatchObject({ jobId, artifacts: [{ artifactId: expect.stringMatching(/^art_/) }] });
    await expect(frame.locator("[data-artifact] img")).toBeVisible();
    const file = await call(`/v1/jobs/${jobId}/artifacts/${done.artifacts?.[0]?.artifactId}`);
    expect(file.headers.get("content-type")).toBe("image/png");

    // Neither the frame's URL nor what it stores contains the token.
    const inner = page.frames().find((each) => each.url().includes("/embed"));
    expect(inner?.url()).toBe(`${world.baseUrl}/embed?session=${sessionId}`);
    const kept = await inner?.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
    );
    expect(kept).not.toContain("capp_");

    await call(`/v1/panel-sessions/${sessionId}/revoke`, { body: {} });
    await frame.getByRole("button", { name: "Run" }).click();
    expect(await waitFor(page, "capstan-error")).toMatchObject({ category: "session_expired" });
    await expect(frame.getByText("This embed is closed")).toBeVisible();
    await expect(frame.getByRole("heading", { level: 1, name: "Embed" })).toBeAttached();

    const named = await framersOf(request, `/embed?session=${sessionId}`);
    expect(named).toEqual({
      csp: expect.stringContaining(`frame-ancestors ${host.origin};`),
      options: undefined,
    });
  } finally {
    host.stop();
  }
});

test("a page outside the session's origins can frame neither its embed nor any other page of ours", async ({
  page,
  request,
}) => {
  const host = await startHost();
  try {
    const other = {
      projectId: world.projectId,
      allowedOrigins: ["https://app.example"],
      maxSpendMicros: 1_000_000,
    };
    const session = await (await call("/v1/panel-sessions", { body: other })).json();
    await page.goto(host.origin);
    await waitFor(page, "capstan-ready");
    for (const path of [
      `/embed?session=${session.sessionId}`,
      "/embed",
      "/embed?session=pses_none",
      "/sign-in",
    ]) {
      const { csp } = await framersOf(request, path);
      expect([path, csp]).toEqual([path, expect.not.stringContaining(host.origin)]);
      if (!path.includes(session.sessionId)) expect(csp).toContain("frame-ancestors 'none'");
    }
    // A stolen token works neither in a frame of another session nor in a direct request.
    const answer = await page.evaluate(
      async ([url, token]) =>
        fetch(`${url}/v1/panel/bootstrap`, { headers: { authorization: `Bearer ${token}` } }).then(
          ({ status }) => status,
        ),
      [world.baseUrl, session.accessToken],
    );
    expect(answer).toBe(403);
  } finally {
    host.stop();
  }
});

test("a launch code in the URL opens the embed once, and is removed from the URL", async ({ page }) => {
  const { definitions } = await (await call(`/v1/panel-definitions?projectId=${world.projectId}`)).json();
  const panelDefinitionId = definitions.find(({ key }: { key: string }) => key === "example-panel").id;
  const body = {
    projectId: world.projectId,
    allowedOrigins: [world.baseUrl],
    maxSpendMicros: 1_000_000,
    panelDefinitionId,
  };
  const { sessionId } = await (await call("/v1/panel-sessions", { body })).json();
  const { embedUrl } = await (
    await call(`/v1/panel-sessions/${sessionId}/launch-codes`, { body: {} })
  ).json();
  const { hash, search } = new URL(embedUrl);
  await page.goto(`/embed${search}${hash}`);
  await expect(page.getByRole("heading", { name: "Picture studio" })).toBeVisible();
  expect(page.url()).not.toContain("plc_");
  await page.goto("/sign-in");
  await page.goto(`/embed${search}${hash}`);
  await expect(page.getByText("already used")).toBeVisible();
});
