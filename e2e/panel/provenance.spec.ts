import { readFileSync } from "node:fs";
import { call, ended, runPin, submit, textInput, unique, world } from "../world";
import { expect, expectAccessible, expectNoSidewaysScroll, open, test } from "./panel";

const PHONE = { width: 390, height: 844 };
const projectPath = `/projects/${world.projectId}`;
const lockfilePath = `${projectPath}/provenance/lockfile`;

async function lockfileOf(receiptId: string) {
  const answer = await call(`/v1/provenance/lockfile?receipt_id=${receiptId}`);
  expect(answer.status).toBe(200);
  return answer.json();
}

test("selected records become a manifest that verifies in the browser and on the server, and can be downloaded", async ({
  page,
}) => {
  const records = [await runPin({ input: unique("First") }), await runPin({ input: unique("Second") })];
  await open(page, `${projectPath}/pinned`);
  for (const { receiptId } of records) {
    const row = page.getByRole("row").filter({ has: page.getByTitle(receiptId) });
    await row.getByRole("checkbox").click();
  }
  await expect(page.getByText("2 records selected")).toBeVisible();
  await page.getByRole("button", { name: "Create manifest" }).click();
  const form = page.getByRole("dialog", { name: "Create manifest" });
  const label = unique("Depths");
  await form.getByLabel("Label").fill(label);
  await form.getByLabel("Experiment hash").fill("sha256:0001");
  await expect(form.getByLabel("Receipts")).toHaveValue(records.map(({ receiptId }) => receiptId).join("\n"));
  await form.getByRole("button", { name: "Create manifest" }).click();

  await expect(page).toHaveURL(/\/provenance\/mft_/);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(label);
  const receipts = page.getByRole("list", { name: "Manifest receipts" });
  await expect(receipts.getByRole("listitem")).toHaveCount(2);
  const seal = page.getByRole("region", { name: "Seal" });
  await expect(seal).toContainText("sha256:0001");
  await expect(seal.getByRole("status")).toContainText("This manifest is authentic");
  const there = page.getByRole("region", { name: "Stored receipts" });
  await there.getByRole("button", { name: "Verify on server" }).click();
  await expect(there).toContainText("Manifest verified");
  await expect(there).toContainText("2 of 2");

  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Manifest", exact: true }).click();
  const manifest = JSON.parse(readFileSync(await (await saved).path(), "utf8"));
  expect(manifest).toMatchObject({ schemaVersion: "service.manifest.v1", label });
  const [first] = records;
  await receipts.getByTitle(first?.receiptId ?? "").click();
  await expect(page).toHaveURL(new RegExp(`/pinned/${first?.receiptId}$`));
});

test("a manifest binds pasted receipt ids of jobs too, and invalid ids are refused in words", {
  tag: "@long",
}, async ({ page }) => {
  const job = await ended((await submit({ input: textInput("Bind me") })).jobId);
  const receiptId = String(job.receiptId);
  await open(page, `${projectPath}/provenance`);
  await page.getByRole("button", { name: "Create manifest" }).first().click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Label").fill("Jobs");
  await form.getByLabel("Receipts").fill("rcpt_00000000000000000000000000");
  await form.getByRole("button", { name: "Create manifest" }).click();
  await expect(form.getByRole("alert")).toBeVisible();
  await expect(form.getByRole("alert")).not.toContainText("body");
  await form.getByLabel("Receipts").fill(`"${receiptId}",\n${receiptId}`);
  await expect(form).toContainText("1 receipt.");
  await form.getByRole("button", { name: "Create manifest" }).click();
  await page.getByRole("list", { name: "Manifest receipts" }).getByTitle(receiptId).click();
  await expect(page).toHaveURL(new RegExp(`/jobs/${job.jobId}\\?tab=receipt$`));
});

test("a downloaded lockfile is valid, and fails with a reason when one byte changes", async ({ page }) => {
  const { receiptId } = await runPin({ input: unique("Lock"), sampling: { temperature: 0 } });
  await open(page, `${projectPath}/pinned/${receiptId}`);
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Lockfile" }).click();
  const text = readFileSync(await (await saved).path(), "utf8");
  expect(JSON.parse(text)).toEqual(await lockfileOf(receiptId));

  await open(page, lockfilePath);
  const box = page.getByRole("textbox", { name: "Lockfile" });
  const checks = page.getByRole("list", { name: "Checks" }).getByRole("listitem");
  await page
    .getByLabel("Lockfile from a file")
    .setInputFiles({ name: "a.lock.json", mimeType: "application/json", buffer: Buffer.from(text) });
  await expect(box).toHaveValue(text);
  await page.getByRole("button", { name: "Check lockfile" }).click();
  await expect(page.getByText("Lockfile still valid", { exact: true })).toBeVisible();
  await expect(checks).toHaveCount(5);
  const offline = page.getByRole("region", { name: "Signature" });
  await expect(offline.getByRole("status")).toContainText("This lockfile is authentic");

  await box.fill(text.replace('"temperature": 0', '"temperature": 1'));
  await page.getByRole("button", { name: "Check lockfile" }).click();
  await expect(page.getByText("Lockfile no longer valid", { exact: true })).toBeVisible();
  await expect(page.locator("[data-check=request_semantics_unchanged]")).toContainText(": no");
  await expect(offline.getByRole("status")).toContainText("This lockfile is not authentic");
});

test("a text that is not a lockfile is refused in words", { tag: "@long" }, async ({ page }) => {
  await open(page, lockfilePath);
  await page.getByRole("textbox", { name: "Lockfile" }).fill("not a lockfile");
  await page.getByRole("button", { name: "Check lockfile" }).click();
  await expect(page.getByRole("main").getByRole("alert")).toContainText("not a JSON object");
  await page.getByRole("textbox", { name: "Lockfile" }).fill("{}");
  await page.getByRole("button", { name: "Check lockfile" }).click();
  await expect(page.getByRole("main").getByRole("alert")).toBeVisible();
  await expect(page.getByRole("main")).not.toContainText("body.");
});

test("manifests, a verified manifest and a checked lockfile are accessible and fit a phone", {
  tag: "@long",
}, async ({ page }) => {
  const { receiptId } = await runPin({ input: unique("Looks") });
  const made = await call("/v1/provenance/manifests", {
    body: {
      context: { projectId: world.projectId },
      label: "A rather long label of a manifest, as people write them",
      receiptIds: [receiptId],
      experimentHash: "0".repeat(64),
    },
  });
  expect(made.status).toBe(200);
  const { manifestId } = await made.json();
  const lockfile = await lockfileOf(receiptId);
  for (const path of [`${projectPath}/provenance`, `${projectPath}/provenance/${manifestId}`, lockfilePath]) {
    await page.setViewportSize({ width: 1280, height: 800 });
    await open(page, path);
    if (path === lockfilePath) {
      await page.getByRole("textbox", { name: "Lockfile" }).fill(JSON.stringify(lockfile, null, 2));
      await page.getByRole("button", { name: "Check lockfile" }).click();
      await expect(page.getByRole("list", { name: "Checks" })).toBeVisible();
    } else if (path.endsWith(manifestId)) {
      await page.getByRole("button", { name: "Verify on server" }).click();
      await expect(page.getByText("Manifest verified")).toBeVisible();
    }
    await expectAccessible(page);
    await page.setViewportSize(PHONE);
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
  }
});
