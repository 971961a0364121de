import type { Page, Response } from "@playwright/test";
import { Comparison } from "@/server/contract/comparisons";
import { call, makePerson, textInput, unique, world } from "../world";
import {
  catalogPath,
  enter,
  expect,
  expectAccessible,
  expectNoSidewaysScroll,
  jobPath,
  open,
  test,
} from "./panel";

const IMAGE = "image.generate.v1";
const TEXT = "text.general.fast.v1";
const PHONE = { width: 390, height: 844 };

const comparisonsPath = (rest = "") => `/projects/${world.projectId}/comparisons${rest}`;
const pins = (...models: string[]) =>
  models.map((model) => ({ axis: "provider", providerPin: `sandbox/sandbox-${model}` }));

/** Starts a comparison through the API. */
async function compare(capability: string, input: object, competitors: object[]): Promise<Comparison> {
  const answer = await call(`/v1/capabilities/${capability}/comparisons`, {
    body: { context: { projectId: world.projectId }, input, competitors },
  });
  if (!answer.ok) throw new Error(`The comparison answered ${answer.status}: ${await answer.text()}`);
  return Comparison.parse(await answer.json());
}

/** The comparison once all of its entries have ended. */
async function over({ comparisonId }: Pick<Comparison, "comparisonId">): Promise<Comparison> {
  for (;;) {
    const told = Comparison.parse(await (await call(`/v1/comparisons/${comparisonId}`)).json());
    if (told.nextAction !== "poll") return told;
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
}

/** Records the responses to the page's requests from now on. */
function listen(page: Page) {
  const answers: Promise<{ url: string; text: string }>[] = [];
  const onResponse = (response: Response) => {
    if (!["document", "fetch", "xhr"].includes(response.request().resourceType())) return;
    const url = response.url();
    answers.push(
      response.text().then(
        (text) => ({ url, text }),
        () => ({ url, text: "" }), // the page has navigated away
      ),
    );
  };
  page.on("response", onResponse);
  return async () => {
    page.off("response", onResponse);
    return Promise.all(answers);
  };
}

/** Words that must not appear before a judgement: model names, and members that only revealed entries have. */
const BETRAYALS = [
  /sandbox[-/]/i,
  /"sandbox"/,
  /providerPin/,
  /"costMicros"/,
  /"startedAt":"/,
  /"completedAt":"/,
  /receiptHash/,
];

async function expectBlind(page: Page, answers: { url: string; text: string }[]) {
  expect(answers.length).toBeGreaterThan(0);
  const html = await page.content();
  for (const betrayal of BETRAYALS) {
    expect(html).not.toMatch(betrayal);
    for (const { url, text } of answers) expect(`${url} ${text}`).not.toMatch(betrayal);
  }
}

const scales = (page: Page) =>
  page
    .locator("[data-scale]")
    .evaluateAll((frames) => frames.map((frame) => frame.getAttribute("data-scale")));

test("images of three competitors are compared blind, zoomed together, judged by keyboard and revealed", async ({
  page,
}) => {
  const prompt = unique("A capstan at dusk");
  await open(page, catalogPath(IMAGE));
  await page.getByLabel("Prompt").first().fill(prompt);
  await page.getByRole("link", { name: "Compare", exact: true }).click();
  await expect(page.getByRole("heading", { name: "New comparison" })).toBeVisible();
  await expect(page.getByLabel("Prompt").first()).toHaveValue(prompt);

  // The only provider's two models are chosen; a third is added, and a fourth has other fields.
  await expect(page.getByText("2 selected, 2 to 4 allowed")).toBeVisible();
  await page.getByRole("checkbox", { name: /sandbox-slow/ }).click();
  const estimate = page.locator("[data-price]");
  await expect(estimate.getByRole("row", { name: /sandbox\/sandbox-slow/ })).toContainText("$");
  await expect(estimate.getByRole("row", { name: /Total/ })).toContainText("$");
  await expect(estimate).toContainText("not a quote");
  await page.getByRole("button", { name: "Start comparison" }).dblclick();
  await page.waitForURL(/\/comparisons\/cmp_/);
  const comparisonId = page.url().split("/").at(-1) ?? "";

  // Partial results appear while another entry still runs.
  const heard = listen(page);
  await open(page, comparisonsPath(`/${comparisonId}`));
  const entries = page.locator("[data-entry]");
  await expect(entries).toHaveCount(3);
  await expect(page.getByRole("heading", { level: 2, name: "Entry C" })).toBeVisible();
  await expect(entries.getByRole("img")).toHaveCount(2);
  await expect(page.getByText("You can judge once every entry has finished.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Judge", exact: true })).toBeDisabled();
  await expect(entries.getByRole("img")).toHaveCount(3, { timeout: 60_000 });
  for (const image of await entries.getByRole("img").all())
    await expect
      .poll(() => image.evaluate((element) => element instanceof HTMLImageElement && element.naturalWidth))
      .toBeGreaterThan(0);

  // Moving one image moves all.
  const first = page.locator("[data-scale]").first();
  await first.focus();
  await page.keyboard.press("+");
  await page.keyboard.press("+");
  expect(await scales(page)).toEqual(["2.25", "2.25", "2.25"]);
  await page.keyboard.press("ArrowRight");
  const moved = await entries.getByRole("img").evaluateAll((all) => all.map((each) => each.style.transform));
  expect(new Set(moved).size).toBe(1);
  expect(moved[0]).not.toContain("translate(0%, 0%)");
  await first.hover();
  await page.mouse.wheel(0, -200);
  await expect.poll(async () => Number((await scales(page))[2])).toBeGreaterThan(2.25);
  await page.keyboard.press("0");
  expect(await scales(page)).toEqual(["1.00", "1.00", "1.00"]);
  await page.getByRole("tab", { name: "Overlay" }).click();
  await page.getByRole("slider", { name: "Divider" }).press("ArrowLeft");
  await expect(page.getByRole("slider", { name: "Divider" })).toHaveValue("49");
  await page.getByRole("tab", { name: "Side by side" }).click();
  await page.getByText("Request", { exact: true }).click();
  await expect(page.getByRole("region", { name: "request input" })).toContainText(prompt);
  await expectBlind(page, await heard());
  await expect(entries.getByText("Model, cost and duration are hidden.")).toHaveCount(3);
  const sums = await page.getByRole("main").getByText(/\$\d/).allTextContents();

  // The page of a competitor's job explains what is hidden, and links to the judgement.
  const { entries: blind } = await over({ comparisonId });
  const heardOfJob = listen(page);
  await open(page, jobPath(blind[0]?.jobId ?? ""));
  await expect(page.getByRole("link", { name: "Open comparison" })).toBeVisible();
  await expect(page.getByRole("main")).toContainText("receipt are hidden until the comparison is judged");
  await expect(page.getByRole("region", { name: /^(Receipt|Cost)/ })).toHaveCount(0);
  await expect(page.getByRole("main")).not.toContainText(/Invalid|null|NaN|undefined/);
  await expectBlind(page, await heardOfJob());
  await page.getByRole("link", { name: "Open comparison" }).click();

  // The judgement needs only the keyboard.
  await page.getByRole("radio", { name: "Entry A" }).focus();
  await page.keyboard.press("Space");
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("radio", { name: "Entry B" })).toBeChecked();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("combobox", { name: /Best value/ })).toBeFocused();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: "Judge", exact: true })).toBeFocused();
  await page.keyboard.press("Enter");
  const question = page.getByRole("alertdialog", { name: "Submit your judgement?" });
  await expect(question).toContainText("Entry B is the best and the best value.");
  await page.keyboard.press("Tab");
  await expect(question.getByRole("button", { name: "Submit judgement" })).toBeFocused();
  await page.keyboard.press("Enter");

  const table = page.getByRole("table", { name: "Revealed entries" });
  await expect(table.getByRole("row")).toHaveCount(4);
  for (const model of ["sandbox-1", "sandbox-2", "sandbox-slow"])
    await expect(table.getByText(model, { exact: true })).toBeVisible();
  await expect(table.locator("[data-revealed='Entry B']")).toContainText("Winner");
  await expect(table.locator("[data-revealed='Entry B']")).toContainText("$");
  await expect(page.locator("[data-entry='Entry B']")).toContainText("Winner");
  await expect(entries.getByText("Model, cost and duration are hidden.")).toHaveCount(0);
  for (const plate of await entries.getByText(/^sandbox-/).all()) await expect(plate).toBeVisible();
  await expect(page.locator("[data-decision=winner]")).toContainText(
    /The winner is sandbox-.* Compared with sandbox-/,
  );
  // The costs did not appear before.
  const costs = await table.getByText(/^\$\d/).allTextContents();
  expect(costs).toHaveLength(6); // two for each entry: the provider's cost and the charge
  for (const cost of costs) expect(sums).not.toContain(cost);
  const code = page.getByRole("region", { name: "Use the winner" });
  await expect(code).toContainText(prompt);
  await expect(code).toContainText('"providerPin": "sandbox"');
  await table.locator("[data-revealed='Entry A']").getByRole("link").click();
  await expect(page.getByRole("region", { name: /^Receipt/ })).toContainText("sandbox");
  await expect(page.getByRole("main")).not.toContainText("hidden until");
});

test("texts are compared side by side and as a diff; a failed entry is marked; a tie can be judged", {
  tag: "@long",
}, async ({ page }) => {
  const comparison = await compare(TEXT, textInput(unique("Tell of kites")), pins("1", "2", "refuse"));
  const { entries } = await over(comparison);
  const failed = entries.findIndex(({ status }) => status === "failed");
  const heard = listen(page);
  await open(page, comparisonsPath(`/${comparison.comparisonId}`));
  await expect(page.locator("[data-status=partial]")).toHaveText("Partly failed");
  await expect(page.locator("[data-entry]").nth(failed)).toContainText(/Entry [A-C] failed/);
  const widths = await page
    .locator("[data-entry]")
    .evaluateAll((cards) => cards.map((card) => Math.round(card.getBoundingClientRect().width)));
  expect(new Set(widths).size).toBe(1);
  await page.getByRole("tab", { name: "Differences" }).click();
  await expect(page.getByRole("tabpanel", { name: "Differences" })).toContainText(/\w{3}/);
  await expectBlind(page, await heard());
  await page.getByRole("radio", { name: "Tie" }).check();
  await expect(page.getByRole("radio", { name: `Entry ${"ABC"[failed]}` })).toBeDisabled();
  await page.getByRole("button", { name: "Judge", exact: true }).click();
  await page.getByRole("button", { name: "Submit judgement" }).click();
  await expect(page.locator("[data-decision=tie]")).toBeVisible();
  await expect(page.getByText("sandbox-refuse").first()).toBeVisible();

  await open(page, comparisonsPath(`?judged=yes&capability=${TEXT}&status=partial`));
  await expect(page.getByRole("row", { name: new RegExp(comparison.comparisonId.slice(-6)) })).toContainText(
    "Tie",
  );
  await open(page, comparisonsPath("?judged=no&status=partial"));
  await expect(page.getByText(comparison.comparisonId.slice(-6))).toHaveCount(0);
});

test("a double click starts one comparison, and a recipe has its own fields", { tag: "@long" }, async ({
  page,
}) => {
  const words = unique("Say ahoy");
  await open(page, comparisonsPath(`/new?capability=${TEXT}`));
  await page.getByLabel("Content").first().fill(words);
  for (const box of await page.getByRole("checkbox", { name: /sandbox\/sandbox-[12]$/ }).all())
    if (await box.isChecked()) await box.click();
  await expect(page.getByRole("button", { name: "Start comparison" })).toBeDisabled();
  await page.getByRole("checkbox", { name: /sandbox\/sandbox-1$/ }).click();
  await page.getByRole("button", { name: "Add recipe" }).click();
  await page.getByLabel("Name of recipe 1").fill("Short");
  await page.getByRole("combobox", { name: "Change field of recipe 1" }).click();
  await page.getByRole("option", { name: "Max output tokens" }).click();
  const recipe = page.getByRole("group", { name: "Recipe 1" });
  await recipe
    .getByLabel(/Max output tokens/)
    .first()
    .fill("64");
  await expect(page.locator("[data-price]")).toContainText("Short");
  const created: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("comparisons.create")) created.push(request.postData() ?? "");
  });
  await page.getByRole("button", { name: "Start comparison" }).dblclick();
  await page.waitForURL(/\/comparisons\/cmp_/);
  expect(created).toHaveLength(1);
  const { entries } = await over({ comparisonId: page.url().split("/").at(-1) ?? "" });
  expect(entries.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
});

test("a viewer sees the entries but cannot judge", { tag: "@long" }, async ({ browser }) => {
  const comparison = await compare(TEXT, textInput(unique("Look")), pins("1", "2"));
  await over(comparison);
  const context = await browser.newContext({ storageState: { cookies: [], origins: [] } });
  const page = await context.newPage();
  await enter(page.context(), makePerson("viewer"));
  await open(page, comparisonsPath(`/${comparison.comparisonId}`));
  await expect(page.locator("[data-entry]")).toHaveCount(2);
  await expect(page.getByRole("radio", { name: "Entry A" })).toBeDisabled();
  await expect(page.getByText("Your role here is viewer.")).toBeVisible();
  await open(page, comparisonsPath());
  await expect(page.getByRole("link", { name: "New comparison" })).toHaveCount(0);
  await open(page, comparisonsPath(`/new?capability=${TEXT}`));
  await expect(page.getByText("Your role here is viewer.")).toBeVisible();
  await context.close();
});

/** Checks pages with axe at both widths, and that they do not scroll sideways on a phone. */
async function expectForEverybody(page: Page, paths: string[]) {
  for (const path of paths) {
    await page.setViewportSize({ width: 1280, height: 900 });
    await open(page, path);
    await expectAccessible(page);
    await page.setViewportSize(PHONE);
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
  }
}

test("the list and the form are accessible and fit a phone", { tag: "@long" }, async ({ page }) => {
  await compare(TEXT, textInput("Looks"), pins("1", "2"));
  await expectForEverybody(page, [
    comparisonsPath(),
    comparisonsPath("?status=failed&judged=yes"),
    comparisonsPath("/new"),
    comparisonsPath(`/new?capability=${IMAGE}`),
  ]);
});

test("images, texts and the job of an entry are accessible and fit a phone", { tag: "@long" }, async ({
  page,
}) => {
  const [images, texts] = await Promise.all([
    compare(IMAGE, { prompt: "Looks", variantCount: 2 }, pins("1", "2", "refuse")),
    compare(TEXT, textInput("Looks"), pins("1", "2")),
  ]);
  await Promise.all([over(images), over(texts)]);
  await expectForEverybody(page, [
    comparisonsPath(`/${texts.comparisonId}`),
    jobPath(images.entries[0]?.jobId ?? ""),
    comparisonsPath(`/${images.comparisonId}`),
  ]);
  await page.getByRole("tab", { name: "Overlay" }).click();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
});

test("a judged comparison is accessible and fits a phone", { tag: "@long" }, async ({ page }) => {
  const judged = await over(await compare(TEXT, textInput("Looks again"), pins("1", "2")));
  const { entryId = "" } = judged.entries.find(({ status }) => status === "succeeded") ?? {};
  const answer = await call(`/v1/comparisons/${judged.comparisonId}/judgements`, {
    body: { decision: "winner", overallWinnerEntryId: entryId },
  });
  expect(answer.status).toBe(200);
  await expectForEverybody(page, [comparisonsPath(`/${judged.comparisonId}`)]);
});
