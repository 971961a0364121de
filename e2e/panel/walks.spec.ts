import type { Page } from "@playwright/test";
import { dollars, formatMoney } from "@/components/blocks/money/money";
import { Wallet } from "@/server/contract/billing";
import { BudgetList } from "@/server/contract/budgets";
import { Job, JobPage } from "@/server/contract/jobs";
import { BillingSummary } from "@/server/contract/usage";
import { admin, call, ended, makePerson, submit, textInput, unique, world } from "../world";
import { enter, expect, jobsPath, open, signIn, test } from "./panel";

const TEXT = "text.general.fast.v1";

test("a failed job shows its reason and cost after two interactions", async ({ page }) => {
  const tag = unique("why");
  const job = await ended(
    (await submit({ input: textInput("Why?"), tags: [tag], model: "sandbox-refuse" })).jobId,
  );
  await open(page, jobsPath());
  await page.goto(jobsPath({ tag })); // the two interactions are this filter and a click
  await page.getByRole("row").filter({ hasText: "Why?" }).getByRole("link").first().click();
  const main = page.getByRole("main");
  await expect(main).toContainText(job.error?.message ?? "no message");
  await expect(main).toContainText(/\$0\.00|No charge/);
});

test.describe("people that the tests create", () => {
  test.use({ storageState: { cookies: [], origins: [] } });

  test("ten waiting jobs are approved by keyboard, each after its request was shown, with at most 14 keys", async ({
    page,
  }) => {
    const { projectId } = admin("project", "create", "--name", "Ten", "--organization", world.organizationId);
    await enter(page.context(), makePerson("owner"));
    const set = await page.request.put(`${world.baseUrl}/v1/projects/${projectId}/approval-rules`, {
      data: { thresholdUsd: 0, requireDifferentApprover: false },
      headers: { origin: world.baseUrl },
    });
    expect(set.status(), await set.text()).toBe(200);
    const jobs = new Map<string, string>();
    for (let n = 0; n < 10; n++) {
      const question = `Is plan ${n} worth it?`;
      const body = { context: { projectId }, input: textInput(question) };
      const answer = await call(`/v1/capabilities/${TEXT}/jobs`, { key: world.unboundApiKey, body });
      jobs.set(question, Job.parse(await answer.json()).jobId);
    }

    await open(page, `/projects/${projectId}/approvals`);
    const chosen = page.getByRole("region", { name: "Chosen approval" });
    const items = page.getByRole("list", { name: /^Approvals/ }).getByRole("listitem");
    await expect(items).toHaveCount(10);
    const seen = new Set<string>();
    let keys = 0;
    while (seen.size < 10 && keys < 14) {
      // The screen shows the job that the next key approves, with its price.
      await expect(chosen).toContainText("at most");
      const [question = ""] = /Is plan \d worth it\?/.exec((await chosen.textContent()) ?? "") ?? [];
      expect([...jobs.keys()]).toContain(question);
      seen.add(question);
      await page.keyboard.press("a");
      keys++;
      await expect(items).toHaveCount(10 - keys);
    }
    expect(seen.size).toBe(10);
    await expect(page.getByText("You're all caught up")).toBeVisible();
    for (const jobId of jobs.values())
      await expect
        .poll(async () => (await readJob(jobId)).status, { timeout: 60_000 })
        .not.toBe("awaiting_approval");
  });

  test("a new member signs in and has a first result from the playground", async ({ page }) => {
    const member = makePerson("member");
    await open(page, "/sign-in");
    const began = Date.now();
    await signIn(page, member);
    await page.getByRole("link", { name: "Catalog", exact: true }).click();
    await page
      .getByRole("main")
      .getByRole("listitem")
      .filter({ hasText: TEXT })
      .getByRole("link")
      .first()
      .click();
    await page.getByLabel("Content").first().fill("What is a capstan?");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await expect(page.getByRole("region", { name: "Output", exact: true })).toContainText(/\w{3}/);
    process.stdout.write(`from sign-in to a first result: ${((Date.now() - began) / 1000).toFixed(1)} s\n`);
  });

  test("usage, budgets, billing and jobs show the figures of the API", async ({ page }) => {
    const place = makeTenant();
    const { organizationId, projectId, key } = place;
    const read = async (path: string) => (await call(path, { key })).json();
    for (const [capability, input, model] of [
      [TEXT, textInput("What does it cost?"), "sandbox-2"],
      ["image.generate.v1", { prompt: "A kite", variantCount: 3 }, "sandbox-1"],
      [TEXT, textInput("Refuse this."), "sandbox-refuse"],
    ] as const) {
      const body = { input, preferredModel: model };
      const { jobId } = Job.parse(
        await (await call(`/v1/capabilities/${capability}/jobs`, { key, body })).json(),
      );
      await expect
        .poll(async () => Job.parse(await read(`/v1/jobs/${jobId}`)).completedAt, { timeout: 60_000 })
        .toBeTruthy();
    }
    admin(
      "budget",
      "set",
      "--project",
      projectId,
      "--ceiling-micros",
      "150000",
      "--period",
      "month",
      "--enforcement",
      "warn",
    );
    await enter(page.context(), place.owner);

    await open(page, `/projects/${projectId}/usage`);
    const summary = BillingSummary.parse(await read(`/v1/billing/summary?projectId=${projectId}`));
    const table = page.getByRole("table", { name: /^Usage by capability/ });
    for (const { capabilityKey, ...figures } of summary.test.byCapability) {
      expect(await figuresOf(page, table.getByRole("row").filter({ hasText: capabilityKey }))).toMatchObject({
        Executions: String(figures.executions),
        Failed: String(figures.failed),
        Fee: inColumn(figures.feeMicros),
        Charged: inColumn(figures.chargedMicros),
        "Tokens out": figures.outputTokens.toLocaleString("en-US"),
        Images: String(figures.images),
      });
    }
    await expect(table.getByRole("row", { name: /^Total/ })).toContainText(
      dollars(summary.test.totals.chargedMicros),
    );

    await open(page, `/projects/${projectId}/budgets`);
    const owned = await page.request.get(`${world.baseUrl}/v1/budgets?projectId=${projectId}`);
    const [budget] = BudgetList.parse(await owned.json()).items;
    const card = page.getByRole("region", { name: "This project" });
    for (const micros of [
      budget?.testSpend.settledMicros,
      budget?.testSpend.availableMicros,
      budget?.ceilingMicros,
    ])
      await expect(card).toContainText(dollars(micros ?? Number.NaN));

    await open(page, "/billing");
    const wallet = Wallet.parse(await read(`/v1/billing/wallet?organizationId=${organizationId}`));
    await expect(page.getByTestId("test-wallet-available")).toHaveText(formatMoney(wallet.test.available));
    await page.getByRole("button", { name: "Show Live" }).click();
    await expect(page.getByTestId("live-wallet-available")).toHaveText(formatMoney(wallet.available));

    await open(page, `/projects/${projectId}/jobs`);
    const listed = JobPage.parse(await read(`/v1/projects/${projectId}/jobs`));
    expect(listed.items).toHaveLength(3);
    for (const { jobId } of listed.items) {
      const { charge } = Job.parse(await read(`/v1/jobs/${jobId}`));
      const row = page.getByRole("row").filter({ has: page.locator(`a[href*="${jobId}"]`) });
      await expect(row).toContainText(charge?.chargedMicros ? dollars(charge.chargedMicros) : "$0.00");
    }
  });
});

async function readJob(jobId: string): Promise<Job> {
  return Job.parse(await (await call(`/v1/jobs/${jobId}`, { key: world.unboundApiKey })).json());
}

/** A new organization, so that no other test changes its figures. */
function makeTenant() {
  const { organizationId } = admin("organization", "create", "--name", unique("Figures"));
  const of = ["--organization", organizationId];
  admin("wallet", "credit", ...of, "--amount-micros", "5000000", "--reason", "Figures", "--test");
  const { projectId } = admin("project", "create", "--name", "Figures", ...of);
  const { apiKey } = admin("key", "create", "--project", projectId, "--name", "Figures");
  return {
    organizationId: String(organizationId),
    projectId: String(projectId),
    key: String(apiKey),
    owner: makePerson("owner", { organizationId }),
  };
}

/** Writes an amount as the columns do, with six decimals. */
const inColumn = (micros: number) => `$${(micros / 1e6).toFixed(6)}`;

/** The cells of a row, by the headings of their columns. */
async function figuresOf(page: Page, row: ReturnType<Page["getByRole"]>): Promise<Record<string, string>> {
  const names = await page
    .getByRole("table", { name: /^Usage by/ })
    .getByRole("columnheader")
    .allTextContents();
  const cells = await row.locator("th, td").allTextContents();
  return Object.fromEntries(names.map((name, place) => [name, cells[place] ?? ""]));
}
