import { dollars } from "@/components/blocks/money/money";
import { call, ended, getJob, submit, textInput, unique, world } from "../world";
import { expect, jobPath, open, showTab, test } from "./panel";

test("a job page updates live: output, timeline and receipt appear when the job ends", async ({ page }) => {
  const job = await submit({ input: textInput("Tell me slowly"), model: "sandbox-slow" });
  await open(page, jobPath(job.jobId));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Tell me slowly");
  await expect(page.getByRole("main")).toContainText("text.general.fast.v1");
  const status = page.getByRole("status").filter({ has: page.locator("[data-status]") });
  await expect(status).toHaveText(/Queued|Running/);
  await expect(page.getByText("Live", { exact: true })).toBeVisible();

  await expect(status).toHaveText("Succeeded", { timeout: 45_000 });
  await expect(page.getByText("Live", { exact: true })).toBeHidden();
  const { typedOutput, charge } = await getJob(job.jobId);
  expect(typedOutput).toMatchObject({ content: expect.any(String) });
  const content = (typedOutput as { content: string }).content; // the line above checks it
  await expect(page.getByRole("region", { name: "Output", exact: true })).toContainText(content);
  const paid = page.locator("dt", { hasText: /^You pay$/ }).locator("xpath=following-sibling::dd[1]");
  await expect(paid).toContainText(dollars(charge?.chargedMicros ?? Number.NaN));
  const seal = page.getByRole("region", { name: "Seal" });
  await expect(seal.getByRole("status")).toContainText("unchanged and signed by this installation");

  await showTab(page, "Timeline");
  await expect(page).toHaveURL(/\?tab=timeline$/);
  const events = page.getByRole("log").getByRole("listitem");
  await expect(events.last()).toContainText("Receipt sealed");
  await expect(events.first()).toContainText("Queued");
  const told = await (await call(`/v1/jobs/${job.jobId}/events?limit=200`)).json();
  await expect(events).toHaveCount(told.events.length);
  const bars = page.getByRole("list", { name: "Timing" }).getByRole("listitem");
  await expect(bars.first()).toContainText("Queue wait");
  await expect(bars.last()).toHaveText(/^Total[\d.]+ m?s$/);

  await showTab(page, "Request");
  await expect(page.getByRole("region", { name: "Input", exact: true })).toContainText("Tell me slowly");

  await showTab(page, "Receipt");
  const receipt = await (await call(`/v1/jobs/${job.jobId}/receipt`)).json();
  const card = page.getByRole("region", { name: /^Receipt/ });
  await expect(card.getByTitle(receipt.requestHash)).toBeVisible();
  await expect(card).toContainText(receipt.signature.keyId);
  await expect(card.getByRole("status")).toContainText("This receipt is authentic");
  await card.getByRole("tab", { name: "JSON" }).click();
  await expect(card).toContainText('"service.receipt.v1"');
});

test("a sheet shows its labelled cells, which can be opened and downloaded", { tag: "@long" }, async ({
  page,
}) => {
  const submitted = await submit({
    capability: "image.generate.v1",
    input: {
      prompt: "Things",
      requestTransparentOutput: true,
      sheet: {
        rows: 2,
        columns: 3,
        slice: true,
        labels: ["sword", "shield"],
        normalize: { width: 320, height: 416 },
      },
    },
  });
  const job = await ended(submitted.jobId);
  expect(job.status).toBe("succeeded");
  await open(page, jobPath(job.jobId));
  const artifacts = page.getByRole("region", { name: "Artifacts" });
  await expect(artifacts).toContainText("Sheet of 6 cells");
  const cells = artifacts.getByRole("region", { name: "Cells" });
  await expect(cells.getByRole("listitem")).toHaveCount(6);
  await expect(cells.getByRole("listitem").first()).toContainText("sword");
  await expect(cells.getByRole("listitem").last()).toContainText("r2c3");
  for (const image of await cells.getByRole("img").all()) {
    await image.scrollIntoViewIfNeeded();
    await expect
      .poll(() => image.evaluate((element) => element instanceof HTMLImageElement && element.naturalWidth))
      .toBe(320);
  }
  const download = page.waitForEvent("download");
  await cells.getByRole("link", { name: "Download shield.png" }).click();
  expect((await download).suggestedFilename()).toBe("shield.png");
});

test("images are previewed from the panel's own URL and one variant can be selected", async ({ page }) => {
  const submitted = await submit({
    capability: "image.generate.v1",
    input: { prompt: "A capstan", variantCount: 2 },
  });
  const job = await ended(submitted.jobId);
  expect(job.status).toBe("succeeded");
  await open(page, jobPath(job.jobId));
  const artifacts = page.getByRole("region", { name: "Artifacts" });
  const images = artifacts.getByRole("img");
  await expect(images).toHaveCount(2);
  for (const image of await images.all()) {
    await image.scrollIntoViewIfNeeded();
    await expect
      .poll(() => image.evaluate((element) => element instanceof HTMLImageElement && element.naturalWidth))
      .toBeGreaterThan(0);
  }

  const [first] = job.artifacts;
  const answer = await page.request.get(`/artifacts/${job.jobId}/${first?.artifactId}`);
  expect(answer.status()).toBe(200);
  expect(answer.headers()).toMatchObject({
    "content-type": "image/png",
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    "cross-origin-resource-policy": "same-origin",
  });
  expect((await page.request.get(`/artifacts/${job.jobId}/art_unknown`)).status()).toBe(404);

  await artifacts.getByRole("button", { name: `Select ${first?.filename}` }).click();
  await expect(artifacts.getByText("Selected", { exact: true })).toBeVisible();
  expect((await getJob(job.jobId)).selectedArtifactId).toBe(first?.artifactId);
  await showTab(page, "Timeline");
  await expect(page.getByRole("log")).toContainText("Variant selected");
});

test("a job whose answer was lost shows what happened, and that running it again could charge twice", async ({
  page,
}) => {
  const lost = await ended((await submit({ input: textInput("Lost"), model: "sandbox-lost" })).jobId);
  await open(page, jobPath(lost.jobId));
  const alert = page.getByRole("alert").filter({ hasText: "TRANSPORT_AMBIGUOUS" });
  await expect(alert.getByText(/running it again could charge you twice/)).toHaveCount(1);
  const { error } = await getJob(lost.jobId);
  await expect(alert).toContainText(`${error?.message}${error?.resolution}`);
});

test("each tab of a job's page has its own URL, and Back leads to the tab before", {
  tag: "@long",
}, async ({ page }) => {
  const { jobId, receiptId } = await ended((await submit({ input: textInput("Parts") })).jobId);
  const chosen = page.getByRole("tablist", { name: "Parts of the job" }).getByRole("tab", { selected: true });
  const receipt = page.getByRole("region", { name: /^Receipt/ });
  await open(page, `${jobPath(jobId)}?tab=receipt`);
  await expect(chosen).toHaveText("Receipt");
  await expect(receipt).toBeVisible();
  await showTab(page, "Request");
  await expect(page.getByRole("region", { name: "Input", exact: true })).toContainText("Parts");
  await page.goBack();
  await expect(chosen).toHaveText("Receipt");
  for (const fragment of ["receipt", "receipt-title"]) {
    await page.goto("about:blank");
    await open(page, `${jobPath(jobId)}#${fragment}`);
    await expect(receipt).toBeVisible();
  }
  // The request hash is shown once on the page, where it can be copied.
  const { requestHash } = await (await call(`/v1/jobs/${jobId}/receipt`)).json();
  await expect(page.getByRole("main").getByTitle(requestHash)).toHaveCount(1);
  expect(receiptId).toMatch(/^rcpt_/);
});

test("a running job is canceled after confirmation", async ({ page }) => {
  const job = await submit({ input: textInput("Stop me"), model: "sandbox-slow" });
  await open(page, jobPath(job.jobId));
  await page.getByRole("button", { name: "Cancel" }).click();
  const question = page.getByRole("alertdialog", { name: "Cancel this job?" });
  await question.getByRole("button", { name: "Cancel job" }).click();
  await expect(page.locator("h1 + [role=status]")).toHaveText("Canceled", { timeout: 45_000 });
  await expect(page.getByRole("button", { name: "Cancel" })).toBeHidden();
  await expect(page.getByRole("alert").filter({ hasText: /cancel/i })).toBeHidden();
  await expect(page.getByRole("main").getByText("Stop me")).toHaveCount(1);
  expect((await getJob(job.jobId)).status).toBe("canceled");
});

test("private content is hidden until it is requested", async ({ page }) => {
  const words = unique("secret");
  const job = await submit({
    input: textInput(words),
    envelope: { context: { projectId: world.projectId, dataClassification: "PrivateUserContent" } },
  });
  await ended(job.jobId);
  await open(page, jobPath(job.jobId));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Private content");
  await showTab(page, "Request");
  const input = page.getByRole("region", { name: "Input", exact: true });
  await expect(input).not.toContainText(words);
  await input.getByRole("button", { name: "Show content" }).click();
  await expect(input).toContainText(words);
});

test("a missing job and one under another project's URL show the same page", { tag: "@long" }, async ({
  page,
}) => {
  const job = await submit({ input: textInput("Here") });
  for (const path of [jobPath("wfr_00000000000000000000000000"), `/projects/cpr_other/jobs/${job.jobId}`]) {
    const answer = await page.goto(path);
    expect(answer?.status()).toBe(404);
    await expect(page.getByRole("heading", { name: "Page not found" })).toBeVisible();
  }
  expect((await page.goto("/projects/cpr_nope/jobs"))?.status()).toBe(404);
  await expect(page.getByRole("heading", { name: "Page not found" })).toBeVisible();
  await expect(page.getByRole("link", { name: "Budgets" })).toHaveCount(0);
  await page.goto(`/jobs/${job.jobId}`);
  await expect(page).toHaveURL(new RegExp(`${jobPath(job.jobId)}$`));
});
