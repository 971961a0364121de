import { ended, submit, textInput, unique, world } from "../world";
import { expect, expectAccessible, expectNoSidewaysScroll, jobsPath, open, test } from "./panel";

const PHONE = { width: 390, height: 844 };

test("jobs are listed by their subject, with a picture of the result", { tag: "@full" }, async ({ page }) => {
  const tag = unique("named");
  const [asked, drawn] = [unique("How deep is the sea"), unique("A kite over the sea")];
  const jobs = [
    await submit({ input: textInput(asked), tags: [tag] }),
    await submit({ capability: "image.generate.v1", input: { prompt: drawn }, tags: [tag] }),
  ];
  await Promise.all(jobs.map(({ jobId }) => ended(jobId)));
  await open(page, jobsPath({ tag }));
  const row = (name: string) => page.getByRole("row").filter({ hasText: name });
  await expect(row(asked)).toContainText("text.general.fast.v1");
  const picture = row(drawn).locator("[data-thumbnail]");
  await expect
    .poll(() => picture.evaluate((element) => element instanceof HTMLImageElement && element.naturalWidth))
    .toBe(72);
  await expectAccessible(page);
  await page.setViewportSize(PHONE);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
});

test("a list shows nothing of private content, and never sends it", async ({ page }) => {
  const tag = unique("hidden");
  const secret = unique("My diary");
  const { jobId } = await submit({
    input: textInput(secret),
    tags: [tag],
    envelope: { context: { projectId: world.projectId, dataClassification: "PrivateUserContent" } },
  });
  await ended(jobId);
  const answers: Promise<string>[] = [];
  page.on("response", (answer) => {
    if (answer.url().includes("/trpc/")) answers.push(answer.text());
  });
  await open(page, jobsPath({ tag }));
  await expect(page.getByRole("row").filter({ hasText: "Private content" })).toHaveCount(1);
  expect(await page.content()).not.toContain(secret);
  for (const text of await Promise.all(answers)) expect(text).not.toContain(secret);
});
