import { createServer } from "node:http";
import { test as signedOut } from "@playwright/test";
import { admin, makePerson, unique, world } from "../world";
import { expect, expectAccessible, expectNoSidewaysScroll, open, signIn, test } from "./panel";

const PHONE = { width: 390, height: 844 };
const SECRET = "sk-typed-into-a-form-9911";

/** A server that speaks chat completions, as far as a connection asks it: it takes one key. */
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

/** A project of this test's own: what others submit must not run on what is connected here. */
const makeProject = () =>
  admin("project", "create", "--name", unique("Connected"), "--organization", world.organizationId).projectId;
const pathOf = (projectId: string, query = "") => `/projects/${projectId}/connections${query}`;

signedOut(
  "a link to a missing connection leads over sign-in to its form; the account is checked, used, rotated and deleted",
  async ({ page }) => {
    signedOut.setTimeout(240_000);
    const server = await startServer();
    const owner = makePerson("owner");
    const projectId = makeProject();
    try {
      await open(page, pathOf(projectId, "?environment=development&provider=openai-compatible"));
      await signIn(page, owner);
      const form = page.getByRole("dialog", { name: "Connect OpenAI-compatible server" });
      await expect(form.getByRole("checkbox", { name: "development" })).toBeChecked();
      await form.getByLabel("Base URL").fill(server.url);
      await form.getByLabel("Models").fill("llama-3:0.20:0.60");
      await form.getByLabel("API key").fill("sk-a-wrong-one");
      await form.getByRole("button", { name: "Check and connect" }).click();
      await expect(form.getByRole("alert")).toContainText("API key");
      await expectAccessible(page);
      await form.getByLabel("API key").fill(SECRET);
      await form.getByLabel("Name").fill("Basement");
      await page.keyboard.press("Enter");
      const row = page.getByRole("listitem").filter({ hasText: "Basement" });
      await expect(row).toContainText("Ready");
      await expect(row).toContainText("…9911");
      await expect(row).toContainText("development");
      await expect(form).toHaveCount(0);
      expect(await page.content()).not.toContain(SECRET);
      await expect(page.locator('[data-provider="openai-compatible"]')).toContainText("Connected");

      server.state.takes = "sk-the-second-2222";
      await row.getByRole("button", { name: /^Test / }).click();
      await expect(row.getByRole("status")).toContainText("The provider refuses it");
      await expect(row.getByRole("status")).toContainText("rotate the connection");
      await expect(row).toContainText("Refused");
      await expectAccessible(page);
      await row.getByRole("button", { name: /^Set limits of / }).click();
      const limits = page.getByRole("dialog", { name: /^Limits of / });
      await limits.getByLabel(/^Each day/).fill("5");
      await limits.getByLabel(/^One execution/).fill("0.5");
      await limits.getByRole("button", { name: "Save limits" }).click();
      await expect(row).toContainText("At most $5.00 a day, $0.50 an execution");
      await row.getByRole("button", { name: /^Rotate / }).click();
      const rotate = page.getByRole("dialog", { name: /^Rotate / });
      await rotate.getByLabel("API key").fill(server.state.takes);
      await rotate.getByRole("button", { name: "Check and rotate" }).click();
      await expect(row).toContainText("…2222");
      await expect(row).toContainText("Ready");
      await row.getByRole("button", { name: /^Test / }).click();
      await expect(row.getByRole("status")).toContainText("The provider takes it");
      await expect(row.getByRole("img", { name: /^Seven days of / })).toBeVisible();

      await row.getByRole("button", { name: /^Disconnect / }).click();
      await page.getByRole("alertdialog").getByRole("button", { name: "Disconnect" }).click();
      await row.getByRole("button", { name: /in development$/ }).click();
      await expect(row.getByRole("button", { name: /^Disconnect / })).toBeVisible();
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width: 1280, height: 800 });
        await open(page, pathOf(projectId));
        await expectAccessible(page);
        await page.setViewportSize(PHONE);
        await expectAccessible(page);
        await expectNoSidewaysScroll(page);
      }
      await row.getByRole("button", { name: /^Delete / }).click();
      await page.getByRole("alertdialog").getByRole("button", { name: "Delete connection" }).click();
      await expect(row).toHaveCount(0);
      await expect(page.getByText("Nothing connected yet")).toBeVisible();
    } finally {
      await server.stop();
    }
  },
);

test("from the capabilities wanted to the accounts they need, and to their forms", async ({ page }) => {
  const projectId = makeProject();
  await page.setViewportSize({ width: 1280, height: 800 });
  await open(page, pathOf(projectId));
  const onboarding = page.getByRole("region", { name: "Start from what you want to run" });
  await onboarding.getByRole("checkbox", { name: "3D model from an image" }).check();
  const accounts = onboarding.getByRole("list", { name: "Accounts this needs" });
  await expect(accounts.getByRole("listitem")).toHaveCount(2);
  await expect(onboarding.getByRole("status")).toContainText("2 new accounts are the fewest");
  await expectAccessible(page);
  await page.setViewportSize(PHONE);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await accounts.getByRole("button", { name: /^Connect Meshy/ }).click();
  await expect(page.getByRole("dialog", { name: "Connect Meshy" })).toBeVisible();
});

for (const colorScheme of ["light", "dark"] as const) {
  test.describe(`in ${colorScheme}`, () => {
    test.use({ colorScheme });
    test("the page without a connection is accessible and fits a phone", async ({ page }) => {
      const projectId = makeProject();
      await page.setViewportSize({ width: 1280, height: 800 });
      await open(page, pathOf(projectId));
      await expect(page.getByText("Nothing connected yet")).toBeVisible();
      await expectAccessible(page);
      await page.setViewportSize(PHONE);
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
    });
  });
}
