import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";
import { call, ended, submit, textInput, world } from "../world";
import { expect, expectAccessible, expectNoSidewaysScroll, open, test } from "./panel";

const PHONE = { width: 390, height: 844 };
const webhooksPath = `/projects/${world.projectId}/webhooks`;

/** Starts an HTTP server that records the requests it receives and answers with `state.status`. */
async function startReceiver(path: string) {
  const received: { headers: Record<string, string>; body: string }[] = [];
  const state = { status: 204 };
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
      received.push({ headers: Object.fromEntries(headers), body });
      response.writeHead(state.status).end();
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/${path}`,
    received,
    state,
    stop: () => new Promise((closed) => server.close(closed)),
  };
}

/** A job's received events, in the order of their first arrival. */
function eventsOf(received: { body: string }[], jobId: string): unknown[] {
  const events = received.map(({ body }) => JSON.parse(body)).filter((event) => event.jobId === jobId);
  return events.filter((event, place) => events.findIndex(({ id }) => id === event.id) === place);
}

test("an endpoint receives a job's signed events, and can be edited, replayed and disabled", async ({
  page,
}) => {
  const receiver = await startReceiver("panel");
  try {
    await open(page, webhooksPath);
    await page.getByRole("button", { name: "Add endpoint" }).first().click();
    const form = page.getByRole("dialog", { name: "Add endpoint" });
    await form.getByLabel("URL").fill(receiver.url);
    await form.getByRole("button", { name: "Add endpoint" }).click();
    const shown = page.getByRole("dialog", { name: "Copy the signing secret now" });
    const secret = (await shown.getByTestId("new-secret").textContent()) ?? "";
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    await shown.getByRole("button", { name: "Done" }).click();
    await expect(page.getByText(secret)).toHaveCount(0);
    const row = page.getByRole("listitem").filter({ hasText: receiver.url });
    await expect(row).toContainText("Enabled");
    await expect(row).toContainText("All events");

    const { jobId } = await submit({ input: textInput("Tell my server.") });
    await ended(jobId);
    const { events } = (await (await call(`/v1/jobs/${jobId}/events?limit=200`)).json()) as {
      events: unknown[];
    };
    await expect(() => expect(eventsOf(receiver.received, jobId)).toEqual(events)).toPass({
      timeout: 20_000,
    });
    const verifier = new Webhook(secret);
    for (const { body, headers } of receiver.received) verifier.verify(body, headers);

    // The log, one delivery in full, and its replay.
    await page.reload();
    const eventId = `evt_${jobId.slice(4)}_1`;
    const line = page.locator(`tr[data-delivery="${eventId}"]`).filter({ hasText: receiver.url });
    await expect(line).toContainText("Succeeded");
    await line.getByRole("button").click();
    const detail = page.getByRole("dialog", { name: "job.queued" });
    await expect(detail.getByRole("list", { name: "Attempts, newest first" })).toContainText("HTTP 204");
    await expect(detail.getByRole("region", { name: "Body" })).toContainText(jobId);
    const before = receiver.received.filter(({ headers }) => headers["webhook-id"] === eventId);
    await detail.getByRole("button", { name: "Replay" }).click();
    await expect(() => {
      const all = receiver.received.filter(({ headers }) => headers["webhook-id"] === eventId);
      expect(all).toHaveLength(before.length + 1);
      expect(all.at(-1)?.body).toBe(before[0]?.body);
    }).toPass({ timeout: 20_000 });
    await expect(
      detail.getByRole("list", { name: "Attempts, newest first" }).getByRole("listitem"),
    ).toHaveCount(2);
    await page.keyboard.press("Escape");

    // Subscribe to one event type, then disable.
    await row.getByRole("button", { name: "Edit" }).click();
    const edit = page.getByRole("dialog", { name: "Edit endpoint" });
    await edit.getByRole("radio", { name: "Choose events" }).check();
    await edit.getByRole("checkbox", { name: "job.succeeded" }).click();
    await edit.getByRole("button", { name: "Save" }).click();
    await expect(row).toContainText("job.succeeded");
    const second = await submit({ input: textInput("Only the end, please.") });
    await expect(() =>
      expect(eventsOf(receiver.received, second.jobId)).toMatchObject([{ type: "job.succeeded" }]),
    ).toPass({ timeout: 20_000 });
    await row.getByRole("button", { name: "Disable" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Disable endpoint" }).click();
    await expect(row.getByRole("button", { name: "Enable" })).toBeVisible();
  } finally {
    await receiver.stop();
  }
});

test("an invalid URL is refused beside the field", { tag: "@long" }, async ({ page }) => {
  await open(page, webhooksPath);
  await page.getByRole("button", { name: "Add endpoint" }).first().click();
  const form = page.getByRole("dialog");
  await form.getByLabel("URL").fill("ftp://example.com/");
  await form.getByRole("button", { name: "Add endpoint" }).click();
  await expect(form.getByRole("alert")).toContainText("https");
});

test("webhooks, their dialogs and a failed delivery are accessible and fit a phone", {
  tag: "@long",
}, async ({ page }) => {
  const receiver = await startReceiver("looks");
  receiver.state.status = 410;
  try {
    const body = { projectId: world.projectId, url: receiver.url, secret: "a secret of this test alone" };
    expect((await call("/v1/delivery-endpoints", { body })).status).toBe(201);
    const { jobId } = await submit({ input: textInput("Gone.") });
    await ended(jobId);
    await open(page, webhooksPath);
    const row = page.getByRole("listitem").filter({ hasText: receiver.url });
    await expect(async () => {
      await page.reload();
      await expect(row).toContainText("HTTP 410", { timeout: 1_000 });
    }).toPass({ timeout: 20_000 });
    for (const path of [webhooksPath, `${webhooksPath}?state=failed`, `${webhooksPath}?state=delivering`]) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await open(page, path);
      await expectAccessible(page);
      await page.setViewportSize(PHONE);
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
    }
    await open(page, `${webhooksPath}?state=failed`);
    await page
      .getByRole("button", { name: /^Delivery of/ })
      .first()
      .click();
    await expect(page.getByRole("dialog").getByRole("region", { name: "Body" })).toBeVisible();
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Add endpoint" }).first().click();
    await expect(page.getByRole("dialog")).toBeVisible();
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
  } finally {
    await receiver.stop();
  }
});
