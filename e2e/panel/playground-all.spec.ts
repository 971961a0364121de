import { readdirSync } from "node:fs";
import type { Locator, Page } from "@playwright/test";
import { call } from "../world";
import { catalogPath, expect, open, test } from "./panel";
import { sampleFile } from "./playground-files";

const keys = readdirSync("server/capabilities")
  .filter((file) => /\.v\d+\.ts$/.test(file))
  .map((file) => file.replace(/\.ts$/, ""))
  .sort();

test.describe.configure({ timeout: 180_000 });

const family = (key: string) => key.split(".", 1)[0]!;
/**
 * The families whose results take seconds to draw. `npm test` skips them, and runs the last capability by name of each other
 * family.
 */
const DRAWN = ["3d", "model", "video", "audio"];
const isShort = (key: string) =>
  !DRAWN.includes(family(key)) && key === keys.findLast((other) => family(other) === family(key));

for (const key of keys) {
  const tag = isShort(key) ? [] : "@long";
  test(`${key}: its first example runs from the playground, and its result is shown`, { tag }, async ({
    page,
  }) => {
    const descriptor = await (await call(`/v1/capabilities/${key}`)).json();
    await open(page, catalogPath(key));
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(descriptor.title);
    await fillArtifacts(page, descriptor.inputMediaTypes);
    await page.getByRole("button", { name: /^(Run|Stream|Submit job)$/ }).click();
    const run = page.locator("[data-run]");
    await expect(run).toHaveAttribute("data-run", "ended", { timeout: 150_000 });
    await expect(run.locator("[data-status]").first()).toHaveAttribute("data-status", "succeeded");
    await expect(run.getByRole("link", { name: "Record and receipt" })).toBeVisible();
    if (descriptor.output.kind === "artifact")
      await expectDrawn(page.getByRole("region", { name: "Artifacts" }));
    else await expect(page.getByRole("region", { name: "Output", exact: true })).toBeVisible();
  });
}

/** Uploads a file for each artifact of the example, because nothing runs before one is chosen. */
async function fillArtifacts(page: Page, mediaTypes: string[]): Promise<void> {
  const fields = page.getByPlaceholder("art_…");
  const run = page.getByRole("button", { name: /^(Run|Stream|Submit job)$/ });
  for (const field of await fields.all()) {
    if (!(await page.getByText("This capability needs a file").isVisible())) return;
    await expect(run).toBeDisabled();
    await expect(field).toHaveValue("");
    await field
      .locator("xpath=following-sibling::input[@type='file']")
      .setInputFiles(await sampleFile(mediaTypes));
    await expect(field).toHaveValue(/^art_/, { timeout: 30_000 });
  }
  await expect(run).toBeEnabled();
}

/** Expects the browser to have decoded every artifact of a kind it can show. */
async function expectDrawn(gallery: Locator): Promise<void> {
  await expect(gallery.getByRole("link", { name: /Download/ }).first()).toBeVisible();
  for (const image of await gallery.getByRole("img").all()) {
    await image.scrollIntoViewIfNeeded();
    await expect
      .poll(() =>
        image.evaluate((element) => !(element instanceof HTMLImageElement) || element.naturalWidth > 0),
      )
      .toBe(true);
  }
  for (const media of await gallery.locator("audio, video").all())
    await expect
      .poll(() => media.evaluate((element) => element instanceof HTMLMediaElement && element.duration > 0))
      .toBe(true);
  for (const button of await gallery.getByRole("button", { name: /in 3D$/ }).all()) {
    await button.click();
    await expect(gallery.locator("model-viewer").last()).toHaveAttribute("data-state", "loaded", {
      timeout: 60_000,
    });
  }
}
