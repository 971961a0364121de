import { readFileSync } from "node:fs";
import { runPin, unique, world } from "../world";
import { expect, expectAccessible, expectNoSidewaysScroll, open, test } from "./panel";

const PHONE = { width: 390, height: 844 };
const listPath = `/projects/${world.projectId}/pinned`;
const recordPath = (receiptId: string) => `${listPath}/${receiptId}`;

test("a pinned request made over the API shows its record with timing, output, request and hashes, and verifies", async ({
  page,
}) => {
  const words = unique("How deep is the sea");
  const record = await runPin({
    instructions: "Answer in one word.",
    input: words,
    sampling: { temperature: 0, maxOutputTokens: 64 },
    includeNativeResponse: true,
    tags: ["depth"],
  });
  await open(page, listPath);
  await page
    .getByRole("table")
    .getByRole("row")
    .filter({ has: page.getByTitle(record.receiptId) })
    .click();
  await expect(page).toHaveURL(new RegExp(`${recordPath(record.receiptId)}$`));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("sandbox-mixed");
  await expect(page.locator("h1 + [role=status]")).toHaveText("Succeeded");

  const timing = page.getByRole("region", { name: "Timing" });
  const lines = timing.getByRole("list", { name: "Timing" }).getByRole("listitem");
  await expect(lines.first()).toContainText("Submission 1");
  await expect(lines.first()).toContainText("answered, HTTP 200");
  await expect(lines.last()).toContainText("Total");
  await expect(lines).toHaveCount(3);

  await expect(page.getByRole("region", { name: "Output" })).toContainText(record.output?.text ?? "no text");
  const request = page.getByRole("region", { name: "Request" });
  await expect(request).toContainText(words);
  await expect(request).toContainText("Answer in one word.");
  await request.getByRole("tab", { name: "Settings" }).click();
  await expect(request).toContainText('"temperature": 0');
  await expect(page.getByRole("region", { name: "Native response" })).toContainText("finishReason");
  await expect(page.getByRole("region", { name: "Not safe to retry" })).toBeVisible();

  const proof = page.getByRole("region", { name: "Proof" });
  for (const hash of [record.recordHash, record.requestHash, record.inputHash, record.signature.keyId])
    await expect(proof.getByTitle(hash)).toBeVisible();
  // The verification starts automatically.
  await expect(proof.getByRole("status")).toContainText("This record is authentic");
  await expect(proof.getByRole("status")).toContainText(/Verified in this browser in \d+ ms/);

  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Record", exact: true }).click();
  const file = await saved;
  expect(file.suggestedFilename()).toBe(`${record.receiptId}.json`);
  expect(JSON.parse(readFileSync(await file.path(), "utf8"))).toEqual(record);
});

test("a forged copy of a record fails at the changed line, and the restored copy is authentic", {
  tag: "@full",
}, async ({ page }) => {
  const record = await runPin({ input: unique("Forge me") });
  await open(page, recordPath(record.receiptId));
  const proof = page.getByRole("region", { name: "Proof" });
  await proof.getByRole("button", { name: "Try to forge it" }).click();
  const forgery = proof.getByRole("region", { name: "Forgery" });
  await expect(forgery.getByRole("status")).toContainText("This copy is not authentic");
  await expect(forgery.getByRole("status")).toContainText("Its content was changed");
  await expect(forgery.locator("[data-line]")).toHaveCount(1);
  await expectAccessible(page);

  await forgery.getByRole("button", { name: "Restore" }).click();
  await expect(forgery.getByRole("status")).toContainText("This copy is authentic");
  const text = await forgery.getByRole("textbox").inputValue();
  const line = text.split("\n").findIndex((each) => each.includes('"model"'));
  await forgery.getByRole("textbox").fill(text.replace('"model": "s', '"model": "z'));
  await expect(forgery.locator(`[data-line="${line + 1}"]`)).toContainText('"model": "z');
  await expect(forgery.getByRole("status")).toContainText("This copy is not authentic");
  await page.setViewportSize(PHONE);
  await expectNoSidewaysScroll(page);
});

test("a record shows whether its request is safe to retry", { tag: "@long" }, async ({ page }) => {
  const [refused, lost] = await Promise.all([
    runPin({ input: "[refuse] This?" }),
    runPin({ input: "[lost] That?" }),
  ]);
  expect(refused).toMatchObject({ status: "failed", safelyRetryable: true });
  expect(lost).toMatchObject({ status: "ambiguous", safelyRetryable: false });
  await open(page, recordPath(refused.receiptId));
  await expect(page.getByRole("region", { name: "Safe to retry" })).toContainText(
    "You can send the same request again",
  );
  await expect(page.getByRole("main").getByRole("alert")).toContainText("ProviderRejected");
  await open(page, recordPath(lost.receiptId));
  await expect(page.getByRole("region", { name: "Not safe to retry" })).toContainText("may have run");
  await expect(page.getByRole("main").getByRole("alert")).toContainText("TRANSPORT_AMBIGUOUS");
});

test("waits between submissions are part of the timing", { tag: "@long" }, async ({ page }) => {
  const record = await runPin({ input: "[busy 2] And now?" });
  expect(record).toMatchObject({ status: "succeeded", capacityRejections: 2 });
  await open(page, recordPath(record.receiptId));
  const lines = page.getByRole("list", { name: "Timing" }).getByRole("listitem");
  await expect(lines.filter({ hasText: "HTTP 429" })).toHaveCount(2);
  const waits = lines.filter({ hasText: "Wait before submission" });
  await expect(waits).toHaveCount(2);
  await expect(waits.last()).toHaveText(/after [\d.]+ m?s[\d.]+ m?s$/);
});

test("private content is shown only on request", { tag: "@long" }, async ({ page }) => {
  const words = unique("secret");
  const { receiptId } = await runPin({
    input: words,
    context: { projectId: world.projectId, dataClassification: "PrivateUserContent" },
  });
  await open(page, recordPath(receiptId));
  const request = page.getByRole("region", { name: "Request" });
  await expect(request.getByRole("button", { name: "Show content" })).toBeVisible();
  expect(await page.content()).not.toContain(words);
  await request.getByRole("button", { name: "Show content" }).click();
  await expect(request).toContainText(words);
});

test("a pinned request runs from the form, and the same request is shown as code", async ({ page }) => {
  await open(page, `${listPath}/new`);
  const words = unique("By hand");
  await page.getByRole("textbox", { name: "Input" }).fill(words);
  await page.getByText("Sampling", { exact: false }).first().click();
  await page.getByRole("textbox", { name: "Temperature" }).fill("0.5");
  const code = page.getByRole("region", { name: "curl code" });
  await expect(code).toContainText("/v1/inference/pinned");
  await expect(code).toContainText('"temperature": 0.5');
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const answer = page.getByRole("region", { name: "Response", exact: true });
  await expect(answer.getByText("Succeeded")).toBeVisible();
  await answer.getByRole("link", { name: "Record" }).click();
  await expect(page.getByRole("region", { name: "Request" })).toContainText(words);
});

test("an invalid field is refused beside the field, in words without paths", { tag: "@long" }, async ({
  page,
}) => {
  await open(page, `${listPath}/new`);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const input = page.getByRole("textbox", { name: "Input" });
  await expect(input).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByRole("main")).not.toContainText("body.");
  await page.getByText("Sampling", { exact: false }).first().click();
  await input.fill("Hello");
  await page.getByRole("textbox", { name: "Temperature" }).fill("warm");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.getByRole("textbox", { name: "Temperature" })).toHaveAttribute("aria-invalid", "true");
});

test("pinned records, a record and the run page are accessible and fit a phone", { tag: "@long" }, async ({
  page,
}) => {
  const [good, lost] = await Promise.all([
    runPin({ input: "[busy 1] Looks", includeNativeResponse: true }),
    runPin({ input: "[lost] Looks" }),
  ]);
  for (const path of [listPath, `${listPath}/new`, recordPath(good.receiptId), recordPath(lost.receiptId)]) {
    await page.setViewportSize({ width: 1280, height: 800 });
    await open(page, path);
    await expectAccessible(page);
    await page.setViewportSize(PHONE);
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
  }
});
