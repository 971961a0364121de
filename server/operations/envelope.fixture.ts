import { expect } from "vitest";
import { finish, makeTenant, type Tenant } from "@/testing/api";
import { tapSandbox } from "@/testing/vendor-tap";

export const TEXT = "text.general.fast.v1";

export const at = (key: string, what: string) => `/v1/capabilities/${key}/${what}`;
export const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };

export let tenant: Tenant;
export let tap: Awaited<ReturnType<typeof tapSandbox>>;

export async function openTenant(): Promise<void> {
  tenant = await makeTenant();
  tap = await tapSandbox();
}

/** Runs a job to its end and returns everything that can be read afterwards. */
export async function run(body: object, key = TEXT) {
  const submitted = await tenant.post(at(key, "jobs"), body);
  expect(submitted.status, submitted.text).toBe(200);
  const jobId: string = submitted.json.jobId;
  await finish(jobId);
  const read = async (path: string) => (await tenant.get(`/v1/jobs/${jobId}${path}`)).json;
  const receipt = await read("/receipt");
  const attemptId: string | undefined = receipt.attempts[0]?.attemptId;
  const sent = attemptId ? tap.of(attemptId) : [];
  return {
    jobId,
    job: await read(""),
    request: await read("/request"),
    result: await read("/result"),
    receipt,
    sent: sent.map(({ body: text }) => JSON.parse(text)),
    wire: JSON.stringify(sent),
  };
}

export const refused = async (what: string, body: object, key = TEXT) => {
  const { status, json } = await tenant.post(at(key, what), body);
  return { status, detail: json.detail };
};
