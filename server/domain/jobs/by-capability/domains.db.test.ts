import { expect, test } from "vitest";
import { known } from "@/server/capabilities/domain/names";
import { describeCapability, getCapability } from "@/server/domain/catalog";
import * as jobs from "@/server/domain/jobs";
import type { Json } from "@/server/platform/durable/step";
import { makeProject, rowsOf } from "@/testing/world";

/* Domain names and their prices from the registrar of the sandbox. */

const SEARCH = "domain.search.v1";
const PRICING = "domain.pricing.v1";

async function look(key: string, input: Record<string, Json>, preferredModel = "sandbox-1") {
  const { ctx } = await makeProject();
  return jobs.invoke(ctx, key, { input, preferredModel });
}

test("a lookup of a name returns its availability and its prices", async () => {
  const { executionId, typedOutput } = await look(SEARCH, { domain: "Lighthouse-Keepers.COM." });
  expect(typedOutput).toMatchObject({
    domain: "lighthouse-keepers.com",
    priceUsd: 10.18,
    firstYearPriceUsd: 10.18,
    renewalPriceUsd: 11.08,
    transferPriceUsd: 11.08,
    credentialSource: "platform",
  });
  expect(getCapability(SEARCH).output.safeParse(typedOutput).success).toBe(true);
  const { hold, job, receipts } = await rowsOf(executionId);
  expect(JSON.parse(receipts[0].body).provenance).toMatchObject({ providerBacked: true, modelBacked: false });
  expect(hold).toBeUndefined();
  expect(job.actual_micros).toBe(0);
  expect((await look(SEARCH, { domain: "example.com" })).typedOutput).toMatchObject({ available: false });
});

test("a price or an agreement that the registrar does not state is absent, never null", () => {
  const { output } = getCapability(SEARCH);
  const said = { domain: "example.com", available: false, premium: false, credentialSource: "platform" };
  expect(output.safeParse(said).success).toBe(true);
  for (const field of ["priceUsd", "transferPriceUsd", "agreementUrl", "agreementVersion"])
    expect(output.safeParse({ ...said, [field]: null }).success).toBe(false);
  expect(known({ priceUsd: null, agreementUrl: "https://example.com" })).toEqual({
    agreementUrl: "https://example.com",
  });
});

test("a name in another script is looked up in its ASCII form", async () => {
  expect((await look(SEARCH, { domain: "bücher-turm.de.com" })).typedOutput).toMatchObject({
    domain: "xn--bcher-turm-9db.de.com",
  });
});

test("the pricing lists the requested endings in their order, or all of them", async () => {
  const { typedOutput } = await look(PRICING, { tlds: [".Org", "com", "com"], credentialSource: "customer" });
  expect(typedOutput).toEqual({
    credentialSource: "customer",
    tlds: [
      { tld: "org", firstYearPriceUsd: 7.5, renewalPriceUsd: 10.74, transferPriceUsd: 10.74 },
      { tld: "com", firstYearPriceUsd: 10.18, renewalPriceUsd: 11.08, transferPriceUsd: 11.08 },
    ],
  });
  const all = (await look(PRICING, {})).typedOutput as { tlds: unknown[] };
  expect(all.tlds.length).toBeGreaterThan(5);
});

test.each<[string, Record<string, Json>]>([
  [SEARCH, { domain: "name.nowhere" }],
  [PRICING, { tlds: ["com", "nowhere"] }],
])("%s %j with an unsold ending is UnsupportedTld", async (key, input) => {
  await expect(look(key, input)).rejects.toMatchObject({ code: "UnsupportedTld" });
});

test.each(["nodot", "a b.com", "-a.com", "a..com", "1.2.3.4", `${"a".repeat(64)}.com`, "http://a.com"])(
  "%s is not a domain name",
  async (domain) => {
    await expect(look(SEARCH, { domain })).rejects.toMatchObject({
      issues: [{ loc: ["body", "input", "domain"] }],
    });
  },
);

test.each<[string, string]>([
  ["sandbox-refuse", "ProviderRejected"],
  ["sandbox-fail", "PROVIDER_ERROR"],
  ["sandbox-lost", "TRANSPORT_AMBIGUOUS"],
  ["sandbox-empty", "PROVIDER_EMPTY_OUTPUT"],
])("a lookup on %s fails as %s", async (model, code) => {
  await expect(look(PRICING, { tlds: ["com"] }, model)).rejects.toMatchObject({ code });
});

test("a budget does not block a free lookup", async () => {
  const { ctx } = await makeProject();
  const budget = { enforcement: "prevent", maximumEstimatedCost: 0.000001 };
  const { status } = await jobs.invoke(ctx, SEARCH, { input: { domain: "quiet-harbour.org" }, budget });
  expect(status).toBe("succeeded");
});

test.each([SEARCH, PRICING])("%s is described as free, with the accounts that may be used", (key) => {
  const descriptor = describeCapability(getCapability(key), false);
  expect(descriptor).toMatchObject({
    family: "domain",
    executionModes: ["invoke_sync"],
    credentialSources: ["platform", "customer"],
    defaultCredentialSource: "platform",
    features: { purchaseRequiresHumanApproval: true },
    pricing: { mode: "free", billable: false, quote: { supported: false } },
  });
  expect(descriptor.billingModes).toBeUndefined();
});
