import { ended, submit, textInput, unique } from "../world";
import { expect, jobsPath, open, test } from "./panel";

test("filters live in the URL and narrow the history", async ({ page }) => {
  const tag = unique("filter");
  const [good, bad] = await Promise.all([
    submit({ input: textInput("Good"), tags: [tag] }),
    submit({ input: textInput("Bad"), tags: [tag], model: "sandbox-refuse" }),
  ]);
  await Promise.all([ended(good.jobId), ended(bad.jobId)]);

  await open(page, jobsPath());
  await page.getByRole("searchbox", { name: "Tag" }).fill(tag);
  await page.getByRole("searchbox", { name: "Tag" }).press("Enter");
  await expect(page).toHaveURL(new RegExp(`tag=${tag}$`));
  const rows = page
    .getByRole("table")
    .getByRole("row")
    .filter({ has: page.getByRole("link") });
  await expect(rows).toHaveCount(2);

  await page.getByRole("combobox", { name: "Status" }).click();
  await page.getByRole("option", { name: "Failed" }).click();
  await expect(page).toHaveURL(/status=failed/);
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText("Provider rejected");

  await page.reload();
  await expect(rows).toHaveCount(1);
  await open(page, jobsPath({ tag, status: "failed", cursor: "mistyped" }));
  await expect(rows).toHaveCount(1);
  await page.getByRole("combobox", { name: "Outcome" }).click();
  await page.getByRole("option", { name: "With reusable output" }).click();
  await expect(page.getByRole("heading", { name: "No matching jobs" })).toBeVisible();
  await page.getByRole("button", { name: "Clear" }).click();
  await expect(page).toHaveURL(new RegExp(`${jobsPath()}$`));
});

test("older pages are reached by cursor and back, newest first", { tag: "@long" }, async ({ page }) => {
  const tag = unique("paging");
  const jobIds: string[] = [];
  for (let number = 0; number < 27; number++) {
    jobIds.push((await submit({ input: textInput(`Page ${number}`), tags: [tag] })).jobId);
  }
  const newestFirst = jobIds.toReversed();
  await open(page, jobsPath({ tag }));
  const links = page.getByRole("table").getByRole("link");
  const shown = () => links.evaluateAll((all) => all.map((link) => link.getAttribute("title")));
  await expect(links).toHaveCount(25);
  expect(await shown()).toEqual(newestFirst.slice(0, 25));
  await expect(page.getByRole("button", { name: "Newer" })).toBeDisabled();

  await page.getByRole("link", { name: "Older" }).click();
  await expect(page).toHaveURL(/cursor=/);
  await expect(links).toHaveCount(2);
  expect(await shown()).toEqual(newestFirst.slice(25));

  await page.getByRole("link", { name: "Newer" }).click();
  await expect(links).toHaveCount(25);
  expect(await shown()).toEqual(newestFirst.slice(0, 25));
});

test("a running job updates in the list, and its row opens it", { tag: "@long" }, async ({ page }) => {
  const tag = unique("live");
  const job = await submit({ input: textInput("Slowly"), tags: [tag], model: "sandbox-slow" });
  await open(page, jobsPath({ tag }));
  const row = page.getByRole("row").filter({ has: page.getByRole("link") });
  await expect(row.getByText(/Queued|Running/)).toBeVisible();
  await expect(row.getByText("Succeeded")).toBeVisible({ timeout: 45_000 });
  await row.click();
  await expect(page).toHaveURL(new RegExp(`/jobs/${job.jobId}$`));
});
