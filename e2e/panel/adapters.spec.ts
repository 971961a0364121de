import { createHash } from "node:crypto";
import type { Page } from "@playwright/test";
import { startHub, weights } from "@/server/model-sources/hub.fixture";
import { BAD_FILES } from "@/testing/corpora/safetensors/bad-files";
import { call, makePerson, unique, world } from "../world";
import { enter, expect, expectAccessible, expectNoSidewaysScroll, open, test } from "./panel";

const DESK = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };
const rooms = `/projects/${world.projectId}/adapters`;

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
/** Small weights that are unique. */
const freshWeights = (metadata: Record<string, string> = {}) =>
  weights({ rank: 1, metadata: { note: unique("weights"), ...metadata } });

type Adapter = { adapterId: string; displayName: string };

/** Uploads weights with a key. */
async function putAdapter(displayName: string, fields: Record<string, string> = {}): Promise<Adapter> {
  const form = new FormData();
  for (const [name, value] of Object.entries({ displayName, ...fields })) form.set(name, value);
  form.set("file", new Blob([new Uint8Array(freshWeights())]), "lora.safetensors");
  const answer = await fetch(new URL(`/v1/adapters/upload?projectId=${world.projectId}`, world.baseUrl), {
    method: "POST",
    headers: { authorization: `Bearer ${world.apiKey}`, connection: "close" },
    body: form,
  });
  if (!answer.ok) throw new Error(`the upload answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}

async function post(path: string, body: unknown) {
  const answer = await call(path, { body });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}

const putAlias = (alias: string, adapterId: string) =>
  post(`/v1/adapter-aliases?projectId=${world.projectId}`, { alias, target: { adapterId } });
const promoteTo = (alias: string, adapterId: string, weight: number) =>
  post(`/v1/adapter-aliases/${alias}/promotions?projectId=${world.projectId}`, {
    target: { adapterId, weight },
  });
const countOf = async (q: string): Promise<number> =>
  (await (await call(`/v1/adapters?${new URLSearchParams({ projectId: world.projectId, q })}`)).json()).items
    .length;

/** Drops a file on the zone, as a person would. */
async function drop(page: Page, name: string, bytes: Buffer): Promise<void> {
  const dataTransfer = await page.evaluateHandle(
    ({ name, base64 }) => {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], name));
      return transfer;
    },
    { name, base64: bytes.toString("base64") },
  );
  for (const type of ["dragenter", "dragover", "drop"])
    await page.getByTestId("drop-zone").dispatchEvent(type, { dataTransfer });
}

test("weights are dropped, checked and uploaded, and the adapter is found by name and by filter", async ({
  page,
}) => {
  const name = unique("dropped");
  const file = freshWeights();
  await open(page, rooms);
  await page.getByRole("link", { name: "Add adapter" }).first().click();
  await expect(page.getByRole("heading", { name: "Add adapter" })).toBeVisible();
  await drop(page, `${name}.safetensors`, file);
  await expect(page.getByText("trained for flux1 according to the file")).toBeVisible();
  await expect(page.getByRole("textbox", { name: "Name", exact: true })).toHaveValue(name);
  await page.getByRole("textbox", { name: "Strength" }).fill("0.7");
  await page.getByRole("button", { name: "Upload", exact: true }).click();

  await page.waitForURL(/\/adapters\/adp_/);
  await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
  await expect(page.getByTitle(sha256(file))).toBeVisible();
  await expect(page.getByRole("region", { name: "Health" })).toContainText("Healthy");
  await expect(page.getByRole("region", { name: "About" })).toContainText("0.7 recommended");
  const use = page.getByRole("region", { name: "input with this adapter" });
  await expect(use).toContainText(`"adapterId": "${page.url().split("/").at(-1)}"`);
  await page.getByRole("button", { name: "Check again" }).click();
  await expect(page.getByText("Checked: Healthy")).toBeVisible();

  await open(page, rooms);
  await page.getByLabel("Name, alias, trigger word or source").fill(name.toUpperCase());
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/q=DROPPED/);
  const list = page.getByRole("table", { name: "Adapters, newest first" });
  await expect(list.locator("tbody").getByRole("row")).toHaveCount(1);
  await expect(list).toContainText("FLUX.1");
  await page.getByRole("combobox", { name: "Health" }).click();
  await page.getByRole("option", { name: "Missing" }).click();
  await expect(page.getByText("No matching adapters")).toBeVisible();
  await page.getByRole("link", { name: "Show all adapters" }).click();
  await list.getByRole("link", { name }).click();
  await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
});

test("a hostile file is refused with its rule: before the upload if its header is invalid, else by the server", async ({
  page,
}) => {
  const sent: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST" && request.url().includes("/v1/adapters/upload"))
      sent.push(request.url());
  });
  const bytesOf = (wanted: string) => {
    const found = BAD_FILES.find(({ name }) => name === wanted);
    if (!found) throw new Error(`the corpus has no file “${wanted}”`);
    return found.bytes();
  };
  await open(page, `${rooms}/new`);
  await drop(page, "model.safetensors", bytesOf("pickle whose length would do"));
  await expect(page.getByRole("alert").filter({ hasText: "Rule" })).toContainText("header_first_byte");
  await expect(page.getByRole("button", { name: "Upload", exact: true })).toBeDisabled();
  expect(sent).toEqual([]);

  const name = unique("hostile");
  await drop(page, `${name}.safetensors`, bytesOf("a ZIP in the last tensor"));
  await page.getByRole("button", { name: "Upload", exact: true }).click();
  const refusal = page.getByRole("alert").filter({ hasText: "File refused" });
  // The file has no pairs of matrices, which the server notices before the last bytes arrive.
  await expect(refusal).toContainText("not_a_lora");
  expect(sent).toHaveLength(1);
  expect(await countOf(name)).toBe(0);

  const good = freshWeights();
  await drop(page, `${name}.safetensors`, Buffer.concat([good, Buffer.alloc(1)]));
  await page.getByRole("button", { name: "Upload", exact: true }).click();
  await expect(refusal).toContainText("trailing_bytes");
  expect(await countOf(name)).toBe(0);

  const { displayName } = await putAdapter(unique("taken"));
  await drop(page, `${name}.safetensors`, good);
  await page.getByRole("textbox", { name: "Name", exact: true }).fill(displayName.toUpperCase());
  await page.getByRole("button", { name: "Upload", exact: true }).click();
  await expect(page.getByRole("alert").filter({ hasText: "Upload failed" })).toContainText("has this name");
});

test("a slow upload shows its progress and can be canceled; nothing is saved", { tag: "@long" }, async ({
  page,
}) => {
  const name = unique("slow");
  await open(page, `${rooms}/new`);
  const line = await page.context().newCDPSession(page);
  await line.send("Network.enable");
  await line.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: 100_000,
  });
  await drop(page, `${name}.safetensors`, weights({ rank: 64 }));
  await page.getByRole("button", { name: "Upload", exact: true }).click();
  const bar = page.getByRole("progressbar", { name: "Upload" });
  await expect(bar).toBeVisible();
  await expect(page.getByText(/of 1\.57 MB · .*\/s · .* left/)).toBeVisible();
  await expect(page.getByRole("button", { name: "Upload", exact: true })).toBeDisabled();
  await page.getByRole("button", { name: "Cancel upload" }).click();
  await expect(bar).toHaveCount(0);
  expect(await countOf(name)).toBe(0);
  await expect(page.getByRole("button", { name: "Upload", exact: true })).toBeEnabled();
});

test.describe("links", () => {
  let hub: Awaited<ReturnType<typeof startHub>>;
  test.beforeAll(async () => {
    const at = process.env.HF_BASE_URL;
    if (!at) throw new Error("HF_BASE_URL is not set: it names where the product looks for the Hub.");
    hub = await startHub("hf_of_this_test", Number(new URL(at).port));
  });
  test.afterAll(() => hub.stop());

  const COMMIT = "0123456789abcdef0123456789abcdef01234567";
  function putRepo(files: Record<string, Buffer>, more: object = {}): string {
    const repo = `ada/${unique("repo")}`;
    hub.repos[repo] = { refs: { main: COMMIT }, commits: { [COMMIT]: files }, ...more };
    return repo;
  }
  async function lookUp(page: Page, text: string): Promise<void> {
    await open(page, `${rooms}/new`);
    await page.getByRole("tab", { name: "Paste a link" }).click();
    await page.getByLabel("Link or name").fill(text);
    await page.getByRole("button", { name: "Look up" }).click();
  }

  test("a link is looked up and registered as shown; the same link again is the same adapter", {
    tag: "@long",
  }, async ({ page }) => {
    const card =
      "---\nlicense: apache-2.0\ninstance_prompt: ohwx moss\nbase_model: black-forest-labs/FLUX.1-dev\n---\n";
    const repo = putRepo({ "moss.safetensors": freshWeights(), "README.md": Buffer.from(card) });
    await lookUp(page, repo);
    const preview = page.getByRole("region", { name: "Link preview" });
    await expect(preview).toContainText(COMMIT);
    await expect(preview).toContainText("ohwx moss");
    await expect(preview).toContainText("apache-2.0");
    await expect(preview.getByRole("radio", { name: /moss\.safetensors/ })).toBeChecked();
    await preview.getByRole("button", { name: "Register" }).click();
    await page.waitForURL(/\/adapters\/adp_/);
    const first = page.url();
    await expect(page.getByTitle(COMMIT)).toBeVisible();
    await expect(page.getByRole("region", { name: "About" })).toContainText("apache-2.0 (declared)");
    await lookUp(page, repo);
    await preview.getByRole("button", { name: "Register" }).click();
    await expect(page.getByText("Already registered")).toBeVisible();
    await expect(page).toHaveURL(first);
  });

  test("one of several files is chosen, and an unknown base model must be chosen", { tag: "@long" }, async ({
    page,
  }) => {
    const unsaid = freshWeights({ ss_base_model_version: "" });
    const repo = putRepo({ "one.safetensors": unsaid, "two.safetensors": unsaid });
    await lookUp(page, repo);
    const preview = page.getByRole("region", { name: "Link preview" });
    await expect(preview).toContainText("Choose one of 2 files");
    await expect(preview.getByRole("button", { name: "Register" })).toBeDisabled();
    await preview.getByRole("radio", { name: /two\.safetensors/ }).click();
    await preview.getByRole("combobox", { name: "Base model" }).click();
    await page.getByRole("option", { name: "Qwen-Image", exact: true }).click();
    await preview.getByRole("button", { name: "Register" }).click();
    await page.waitForURL(/\/adapters\/adp_/);
    await expect(page.getByRole("region", { name: "Source", exact: true })).toContainText("two.safetensors");
    await expect(page.locator("main")).toContainText("Qwen-Image");
  });

  test("a missing or gated source and one without usable weights are reported with the reason", {
    tag: "@long",
  }, async ({ page }) => {
    const alert = page.getByRole("alert").filter({ hasText: /\w/ });
    await lookUp(page, "ada/nothing-here");
    await expect(alert).toContainText("No public source has this name");
    await lookUp(page, putRepo({ "model.bin": Buffer.alloc(10) }));
    await expect(alert).toContainText("The source has no usable weights");
    await lookUp(page, putRepo({ "a.safetensors": freshWeights() }, { gated: "manual" }));
    await expect(page.locator("main")).toContainText(/gated/);
    await lookUp(page, unique("no such name"));
    await expect(page.locator("main")).toContainText("Nothing found");
  });
});

test("an alias is created, promoted after its diff is shown, pinned by the recipe and set as the default", async ({
  page,
}) => {
  const alias = unique("hero");
  const one = await putAdapter(unique("one"), { triggerWords: "ohwx", recommendedWeight: "0.8" });
  const two = await putAdapter(unique("two"), { triggerWords: "ohwx, stone" });
  await open(page, `${rooms}/aliases`);
  await page.getByRole("button", { name: "Create alias" }).first().click();
  const form = page.getByRole("dialog", { name: "Create alias" });
  await form.getByLabel("Name", { exact: true }).fill(alias);
  await form.getByLabel("Adapter", { exact: true }).fill(one.displayName);
  await form.getByRole("radio", { name: one.displayName }).click();
  await form.getByRole("button", { name: "Create alias" }).click();
  await expect(page.getByRole("heading", { name: alias, level: 1 })).toBeVisible();
  const current = page.getByRole("region", { name: "Target" });
  await expect(current).toContainText(one.displayName);
  await expect(current).toContainText("0.8 (recommended)");

  await page.getByRole("button", { name: "Promote", exact: true }).click();
  const promote = page.getByRole("dialog", { name: `Promote “${alias}”` });
  await expect(promote.getByText("No differences.")).toBeVisible();
  await expect(promote.getByRole("button", { name: "Promote to version 2" })).toBeDisabled();
  await promote.getByLabel("Adapter", { exact: true }).fill(two.displayName);
  await promote.getByRole("radio", { name: two.displayName }).click();
  await promote.getByLabel("Strength").fill("0.5");
  const changes = promote.getByLabel("What changes");
  await expect(changes).toContainText(two.displayName);
  await expect(changes).toContainText("+ stone");
  await expect(changes).toContainText("0.5");
  await expect(promote.getByText(/^Unchanged: .*Base model/)).toBeVisible();
  await promote.getByRole("button", { name: "Promote to version 2" }).click();
  await expect(promote).toHaveCount(0);

  const versions = page
    .getByRole("table", { name: "Versions, newest first" })
    .locator("tbody")
    .getByRole("row");
  await expect(versions).toHaveCount(2);
  await expect(versions.nth(0)).toContainText(two.displayName);
  await expect(versions.nth(0)).toContainText("Current");
  await expect(versions.nth(0)).toContainText(world.member.email);
  await expect(versions.nth(1)).toContainText(one.displayName);
  const compared = page.getByRole("region", { name: "What changed" });
  await expect(compared.getByLabel("What changes")).toContainText("+ stone");
  await compared.getByRole("combobox", { name: "To" }).click();
  await page.getByRole("option", { name: /^Version 1/ }).click();
  await expect(compared.getByText("No differences.")).toBeVisible();

  const recipe = page.getByRole("region", { name: "Recipe" });
  await expect(recipe).toContainText("Follows the alias");
  await recipe.getByRole("combobox", { name: "Version" }).click();
  await page.getByRole("option", { name: /^1:/ }).click();
  await recipe.getByRole("button", { name: "Pin version" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Pin version 1" }).click();
  await expect(recipe).toContainText("Pinned to version 1");

  await open(page, `${rooms}/defaults`);
  const image = page.getByRole("region", { name: /image/i });
  await image.getByRole("combobox", { name: "Alias" }).click();
  await page.getByRole("option", { name: new RegExp(alias) }).click();
  await image.getByRole("button", { name: "Set default" }).click();
  await expect(image).toContainText("pinned to version 1 by the recipe");

  // An adapter in use is not deleted, and the page lists its uses.
  await open(page, `${rooms}/${two.adapterId}`);
  await page.getByRole("button", { name: "Delete" }).click();
  const removal = page.getByRole("dialog");
  await removal.getByRole("button", { name: "Delete adapter" }).click();
  await expect(removal.getByRole("link", { name: `Alias “${alias}” points to it` })).toBeVisible();
  await removal.getByRole("link", { name: "Default for image.generate.v1" }).click();
  await image.getByRole("button", { name: "Clear" }).click();
  await expect(image).toContainText("No default");
});

test("an unused adapter is deleted", { tag: "@long" }, async ({ page }) => {
  const { adapterId, displayName } = await putAdapter(unique("unwanted"));
  await open(page, `${rooms}/${adapterId}`);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete adapter" }).click();
  await page.waitForURL((url) => url.pathname.endsWith("/adapters"));
  expect(await countOf(displayName)).toBe(0);
});

test.describe("a viewer", () => {
  test.use({ storageState: { cookies: [], origins: [] } });

  test("a viewer sees adapters, aliases and defaults, and no action that changes them", {
    tag: "@long",
  }, async ({ page }) => {
    const adapter = await putAdapter(unique("seen"));
    const alias = unique("seen");
    await putAlias(alias, adapter.adapterId);
    await enter(page.context(), makePerson("viewer"));
    await open(page, rooms);
    await expect(page.getByRole("link", { name: adapter.displayName })).toBeVisible();
    await expect(page.getByRole("link", { name: "Add adapter" })).toHaveCount(0);
    await open(page, `${rooms}/${adapter.adapterId}`);
    await expect(page.getByRole("heading", { name: adapter.displayName })).toBeVisible();
    for (const name of ["Delete", "Check again"])
      await expect(page.getByRole("button", { name })).toHaveCount(0);
    await open(page, `${rooms}/aliases/${alias}`);
    await expect(page.getByRole("region", { name: "Recipe" })).toContainText("Your role here is viewer");
    await expect(page.getByRole("button", { name: /promote|pin/i })).toHaveCount(0);
    await open(page, `${rooms}/defaults`);
    await expect(page.locator("main")).toContainText("Your role here is viewer");
    await expect(page.getByRole("button", { name: /set default|clear/i })).toHaveCount(0);
    await open(page, `${rooms}/new`);
    await expect(page.locator("main")).toContainText("Members of your organization can add adapters");
    await expectAccessible(page);
  });
});

test("adapter pages and their dialogs are accessible and fit a phone", { tag: "@long" }, async ({ page }) => {
  const alias = unique("looks");
  const one = await putAdapter(unique("a rather long name of an adapter that nobody would write"), {
    triggerWords: "ohwx, wet stone, a rather long trigger word of some people",
  });
  const two = await putAdapter(unique("two"));
  await putAlias(alias, one.adapterId);
  await promoteTo(alias, two.adapterId, 0.5);
  const paths = [
    rooms,
    `${rooms}?q=${unique("none")}`,
    `${rooms}/${one.adapterId}`,
    `${rooms}/new`,
    `${rooms}/aliases`,
    `${rooms}/aliases/${alias}`,
    `${rooms}/defaults`,
  ];
  for (const path of paths) {
    await page.setViewportSize(DESK);
    await open(page, path);
    await expectAccessible(page);
    await page.setViewportSize(PHONE);
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
  }
  await open(page, `${rooms}/aliases/${alias}`);
  await page.getByRole("button", { name: "Promote version 1 again" }).click();
  await expect(page.getByRole("dialog").getByLabel("What changes")).toBeVisible();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await open(page, `${rooms}/aliases`);
  await page.getByRole("button", { name: "Create alias" }).first().click();
  await expect(page.getByRole("dialog").getByRole("radio").first()).toBeVisible();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await open(page, `${rooms}/new`);
  for (const way of ["Paste a link", "Other source"]) {
    await page.getByRole("tab", { name: way }).click();
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
  }
});
