import * as credentials from "@/server/domain/connections";
import { newId } from "@/server/platform/ids";
import type { Vendor } from "@/server/providers/testing/vendor";
import type { Tenant } from "@/testing/api";
import { system } from "@/testing/tenants";
import { MODELS, vendorAsOpenAi } from "@/testing/vault";

export const TEXT = "text.general.fast.v1";
export const at = (what: string) => `/v1/capabilities/${TEXT}/${what}`;
export const input = { messages: [{ role: "user", content: "How deep is the sea?" }], maxOutputTokens: 100 };
export const ANSWER = {
  json: {
    id: "resp_1",
    model: "gpt-5.6-luna",
    status: "completed",
    service_tier: "flex",
    output: [{ type: "message", content: [{ type: "output_text", text: "Eleven kilometres." }] }],
    usage: { input_tokens: 20, output_tokens: 5 },
  },
};

export let vendor: Vendor;
export let closeVendor: () => Promise<void>;

export async function openVendor(): Promise<void> {
  ({ vendor, close: closeVendor } = await vendorAsOpenAi());
}

type Wish = { secret?: string; provider?: string; endpointUrl?: string; models?: string };
/** Connects a project of the tenant with a secret of its own. */
export async function connect(
  { organizationId, projectId }: Tenant,
  { secret = `sk-${newId("credential")}`, provider = "openai", ...server }: Wish = {},
  place = { projectId, environment: "development" },
) {
  vendor.answer(MODELS);
  const wanted = { provider, secret, label: "default", ...server };
  const { credentialId, bindings } = await credentials.createCredential(system, organizationId, wanted, {
    places: [place],
  });
  return { credentialId, bindingId: bindings[0]?.bindingId ?? "", secret };
}

export const quoted = async (tenant: Tenant, execution: object = {}, key = tenant.key) =>
  (await tenant.post(at("quote"), { input, execution }, { key })).json;
export const submit = async (tenant: Tenant) =>
  (await tenant.post(at("jobs"), { input })).json.jobId as string;
export const receiptOf = async (tenant: Tenant, jobId: string) =>
  (await tenant.get(`/v1/jobs/${jobId}/receipt`)).json;
export const sent = () => vendor.arrived.filter(({ method }) => method === "POST");
