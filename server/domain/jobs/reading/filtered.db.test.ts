import { afterAll, beforeAll, expect, test } from "vitest";
import * as credentials from "@/server/domain/connections";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { env } from "@/server/platform/settings/env";
import { startVendor, type Vendor } from "@/server/providers/testing/vendor";
import { setSettings } from "@/testing/settings";
import { inlineStep, makeProject, rowsOf } from "@/testing/world";

const before = { ...env };

let vendor: Vendor;
beforeAll(async () => {
  vendor = await startVendor();
  setSettings({ ALLOW_PRIVATE_ADDRESSES: true });
});
afterAll(async () => {
  setSettings(before);
  await vendor.stop();
});

/** A project whose own server stops every answer by a content filter, with this usage. */
async function filtered(usage: object | null) {
  const project = await makeProject();
  vendor.answer({ json: { data: [] } });
  await credentials.createCredential(
    systemCtx("test"),
    project.organizationId,
    {
      provider: "openai-compatible",
      secret: "sk-1",
      label: "own",
      endpointUrl: vendor.url,
      models: "acme-small:1:2",
    },
    { places: [{ projectId: project.projectId, environment: "development" }] },
  );
  vendor.answer({
    json: {
      id: "chat-1",
      choices: [{ message: { content: "Four" }, finish_reason: "content_filter" }],
      usage,
    },
  });
  return project;
}

const FAST = "text.general.fast.v1";
const request = {
  input: { messages: [{ role: "user", content: "How deep is the sea?" }] },
  providerPin: "openai-compatible",
};

test.each([
  ["its usage", { prompt_tokens: 10, completion_tokens: 4 }, { state: "settled", settled_micros: 18 }],
  ["an estimate without usage", null, { state: "settled", settled_micros: 8 }],
])(
  "an answer stopped by a content filter is charged %s, and a new key is not safe",
  async (_, usage, money) => {
    const { ctx, clock } = await filtered(usage);
    const { jobId } = await jobs.submit(ctx, FAST, request);
    await jobs.run(ctx, jobId, inlineStep(clock));
    const { hold } = await rowsOf(jobId);
    expect(hold).toMatchObject(money);
    expect(await jobs.get(ctx, jobId)).toMatchObject({
      status: "failed",
      error: { code: "ProviderRejected", resolution: expect.stringMatching(/may charge for it/) },
      retry: { newKeySafe: false },
    });
    await expect(jobs.retry(ctx, jobId)).rejects.toMatchObject({ code: "RetryNotSafe" });
    expect(await jobs.rights(ctx, jobId)).toMatchObject({ retry: false });
    await expect(jobs.invoke(ctx, FAST, request)).rejects.toMatchObject({
      code: "ProviderRejected",
      message: expect.stringMatching(/may charge for it/),
    });
  },
);
