import { createServer } from "node:http";
import { type Page, test as signedOut } from "@playwright/test";
import { admin, call, makePerson, textInput, unique, world } from "../world";
import { enter, expect, expectAccessible, expectNoSidewaysScroll, open, signIn, test } from "./panel";

const PHONE = { width: 390, height: 844 };
const SECRET = "sk-typed-into-a-form-9911";

/** A server for the part of chat completions that a connection check uses; it accepts one key. */
async function startServer() {
  const state = { takes: SECRET };
  const server = createServer((request, response) => {
    const isKnown = request.headers.authorization === `Bearer ${state.takes}`;
    response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" });
    response.end(
      JSON.stringify(isKnown ? { object: "list", data: [] } : { error: { code: "invalid_api_key" } }),
    );
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    state,
    stop: () => new Promise((closed) => server.close(closed)),
  };
}

const TEXT = "text.general.fast.v1";
const onBasement = (projectId: string) => ({
  context: { projectId },
  input: textInput("How deep is the sea?"),
  execution: { executionConstraints: { preferredModel: "llama-3" } },
});

/** A project of this test, because jobs of other tests must not run on its connections. */
const makeProject = () =>
  admin("project", "create", "--name", unique("Connected"), "--organization", world.organizationId).projectId;
const pathOf = (projectId: string, query = "") => `/projects/${projectId}/connections${query}`;

signedOut(
  "the link to a missing connection opens its form after sign-in; the account is checked, used, rotated and deleted",
  { tag: "@full" },
  async ({ page }) => {
    signedOut.setTimeout(240_000);
    const server = await startServer();
    const owner = makePerson("owner");
    const projectId = makeProject();
    const label = unique("Basement");
    try {
      await open(page, pathOf(projectId, "?environment=development&provider=openai-compatible"));
      await signIn(page, owner);
      const form = page.getByRole("dialog", { name: "Connect OpenAI-compatible server" });
      await expect(form.getByRole("checkbox", { name: "development" })).toBeChecked();
      await form.getByLabel("Base URL").fill(server.url);
      await form.getByLabel("Models").fill("llama-3:0.20:0.60");
      await form.getByLabel("API key").fill("sk-a-wrong-one");
      await form.getByRole("button", { name: "Connect account" }).click();
      await expect(form.getByRole("alert")).toContainText("API key");
      await expect(form.getByLabel("Base URL")).toHaveValue(server.url);
      await expect(form.getByLabel("Models")).toHaveValue("llama-3:0.20:0.60");
      await expect(form.getByLabel("API key")).toHaveValue("sk-a-wrong-one");
      await expectAccessible(page);
      await form.getByLabel("API key").fill(SECRET);
      await form.getByLabel("Name").fill(label);
      await page.keyboard.press("Enter");
      const row = page.locator("li[data-credential]").filter({ hasText: label });
      await expect(row).toContainText("Healthy");
      await expect(row).toContainText("…9911");
      await expect(row).toContainText("development");
      await expect(form).toHaveCount(0);
      expect(await page.content()).not.toContain(SECRET);
      await expect(page.locator('[data-provider="openai-compatible"]')).toContainText("Connected");

      server.state.takes = "sk-the-second-2222";
      await row.getByRole("button", { name: /^Test / }).click();
      await expect(row.getByRole("status")).toContainText("Credentials refused");
      await expect(row.getByRole("status")).toContainText("rotate the connection");
      await expect(row).toContainText("Degraded");
      await expectAccessible(page);
      await row.getByRole("button", { name: /^Rotate / }).click();
      const rotate = page.getByRole("dialog", { name: /^Rotate / });
      await rotate.getByLabel("API key").fill(server.state.takes);
      await rotate.getByRole("button", { name: "Rotate secret" }).click();
      await expect(row).toContainText("…2222");
      await expect(row).toContainText("Healthy");
      await row.getByRole("button", { name: /^Test / }).click();
      await expect(row.getByRole("status")).toContainText("Credentials accepted");
      await expect(row.getByRole("img", { name: /^Last 7 days of / })).toBeVisible();

      // A limit of a millionth of a dollar refuses executions on this account; a raised limit allows them.
      const setLimits = async (day: string, execution: string) => {
        await row.getByRole("button", { name: /^Set limits for / }).click();
        const limits = page.getByRole("dialog", { name: /^Limits for / });
        await limits.getByLabel(/^Daily limit/).fill(day);
        await limits.getByLabel(/^Limit per execution/).fill(execution);
        await limits.getByRole("button", { name: "Save limits" }).click();
        await expect(limits).toHaveCount(0);
      };
      await setLimits("5", "0.000001");
      await expect(row).toContainText("Up to $5.00 per day, $0.000001 per execution");
      const { apiKey: key } = admin("key", "create", "--project", projectId, "--name", "Guarded");
      const run = () => call(`/v1/capabilities/${TEXT}/jobs`, { key, body: onBasement(projectId) });
      const refused = await run();
      expect(refused.status).toBe(402);
      expect((await refused.json()).detail).toMatchObject({ code: "BudgetExceeded" });
      await setLimits("5", "0.5");
      await expect(row).toContainText("Up to $5.00 per day, $0.50 per execution");
      expect((await run()).status).toBe(200);

      await row.getByRole("button", { name: /^Disconnect / }).click();
      await page.getByRole("alertdialog").getByRole("button", { name: "Disconnect" }).click();
      await row.getByRole("button", { name: /in development$/ }).click();
      await expect(row.getByRole("button", { name: /^Disconnect / })).toBeVisible();
      await page.setViewportSize({ width: 1280, height: 800 });
      await open(page, pathOf(projectId));
      await expectAccessible(page);
      await page.setViewportSize(PHONE);
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      await row.getByRole("button", { name: /^Delete / }).click();
      await page.getByRole("alertdialog").getByRole("button", { name: "Delete connection" }).click();
      await expect(row).toHaveCount(0);
    } finally {
      await server.stop();
    }
  },
);

/** Members can only view; an owner can connect. */
async function openAsOwner(page: Page, path: string) {
  await page.setViewportSize({ width: 1280, height: 800 });
  await enter(page.context(), makePerson("owner"));
  await open(page, path);
}

signedOut(
  "the chosen capabilities show the required accounts and open their forms",
  { tag: "@long" },
  async ({ page }) => {
    const projectId = makeProject();
    await openAsOwner(page, pathOf(projectId));
    const onboarding = page.getByRole("region", { name: "Connect by capability" });
    await onboarding.getByText("Choose capabilities").click();
    await onboarding.getByRole("checkbox", { name: "3D model from an image" }).check();
    const accounts = onboarding.getByRole("list", { name: "Required accounts" });
    await expect(accounts.getByRole("listitem")).toHaveCount(2);
    await expect(onboarding.getByRole("status")).toContainText("2 new accounts are the minimum");
    await expectAccessible(page);
    await page.setViewportSize(PHONE);
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await accounts.getByRole("button", { name: /^Connect Meshy/ }).click();
    await expect(page.getByRole("dialog", { name: "Connect Meshy" })).toBeVisible();
  },
);

signedOut(
  "an onboarding link opens the next form, then shows the remaining accounts; an unknown session is reported",
  { tag: "@long" },
  async ({ page }) => {
    const projectId = makeProject();
    const asked = {
      capabilities: [TEXT, "model.generate.3d.from-image.v1"],
      projectId,
      environment: "production",
    };
    await openAsOwner(page, pathOf(projectId));
    const begun = await page.request.post("/v1/connections/onboarding/sessions", {
      data: asked,
      headers: { origin: world.baseUrl },
    });
    const { action, plan } = await begun.json();
    const [first] = plan.accounts;
    const link = new URL(action.url);
    await open(page, link.pathname + link.search);
    const form = page.getByRole("dialog", { name: `Connect ${first.title}` });
    await expect(form.getByRole("checkbox", { name: "production" })).toBeChecked();
    await form.getByRole("button", { name: "Cancel" }).click();
    const session = page.getByRole("region", { name: "Requested connections" });
    await expect(session).toContainText("For production in ");
    await expect(session.getByRole("list", { name: "Required accounts" }).getByRole("listitem")).toHaveCount(
      plan.accounts.length,
    );
    await expectAccessible(page);
    await page.setViewportSize(PHONE);
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await open(page, pathOf(projectId, "?onboarding=onb_01m82gb83yd9grgc5d89xtvr5h"));
    await expect(page.getByText("There is no such onboarding session.")).toBeVisible();
    await expect(page.getByRole("region", { name: "Connect by capability" })).toBeVisible();
  },
);

test("the page without a connection is accessible and fits a phone", { tag: "@long" }, async ({ page }) => {
  const projectId = makeProject();
  await page.setViewportSize({ width: 1280, height: 800 });
  await open(page, pathOf(projectId));
  await expect(page.getByText("No connections yet")).toBeVisible();
  await expectAccessible(page);
  await page.setViewportSize(PHONE);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
});
