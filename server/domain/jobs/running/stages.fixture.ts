import { makeTenant, type Tenant } from "@/testing/api";
import { figure, upload } from "@/testing/meshes";

export const KEY = "model.generate.3d.from-image.v1";
export const SHEET = 40_000;
export const MESH = 20_000;
export const withFee = (micros: number) => Math.round(micros * 1.06);

export let tenant: Tenant;
export let base: string;

export async function openTenant(): Promise<void> {
  tenant = await makeTenant();
  base = await upload(tenant, await figure("#c33"), "image/png");
}

export async function submit(input: object = {}, more: object = {}): Promise<string> {
  const { json, status, text } = await tenant.post(`/v1/capabilities/${KEY}/jobs`, {
    input: { baseArtifactId: base, ...input },
    ...more,
  });
  if (status !== 200) throw new Error(text);
  return json.jobId;
}
export const read = async (jobId: string) => (await tenant.get(`/v1/jobs/${jobId}`)).json;
export const receiptOf = async (jobId: string) => (await tenant.get(`/v1/jobs/${jobId}/receipt`)).json;
