import { pool } from "@/server/platform/db";
import { type Call, finish, makeTenant, sessionHeaders, type Tenant } from "@/testing/api";
import { ask, type ExpectedStatus } from "./ask.fixture";

/** The tenant of a file and a signed-in owner of its organization, set by `beforeAll(openTenant)`. */
export let tenant: Tenant;
export let owner: Call;

export async function openTenant(): Promise<void> {
  tenant = await makeTenant();
  owner = { headers: await sessionHeaders(tenant.organizationId, "owner") };
}

export const get = (wanted: ExpectedStatus, target: string, options: Call = {}) =>
  ask(wanted, "GET", target, { key: tenant.key, ...options });
export const post = (wanted: ExpectedStatus, target: string, body?: unknown, options: Call = {}) =>
  ask(wanted, "POST", target, { key: tenant.key, body, ...options });

export const TEXT = "text.general.fast.v1";
export const JSON_TEXT = "text.structured.generation.v1";
export const IMAGE = "image.generate.v1";
export const MATH = "compute.evaluate.v1";
export const at = (key: string, what: string) => `/v1/capabilities/${key}/${what}`;
export const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };
export const PINNED = "/v1/inference/pinned";
export const MANIFESTS = "/v1/provenance/manifests";
export const CHAT = "/v1/chat/completions";
export const RESPONSES = "/v1/responses";
export const PIN = {
  pin: { provider: "sandbox", model: "sandbox-1", api: "responses" },
  input: "How deep is the sea?",
};
export const BULKS = `${PINNED}/bulk`;
export const BULK = {
  pin: PIN.pin,
  items: ["one", "two"].map((id) => ({ id, input: `How deep is sea ${id}?` })),
};
export const say = (content: string) => ({ input: { messages: [{ role: "user", content }] } });
export const hookBody = {
  url: "https://hooks.example/in",
  secret: "a secret of this test alone",
  enabled: false,
};

/** The fields of a succeeded job with artifacts that tests read. */
export type Finished = {
  jobId: string;
  artifacts: { artifactId: string; sha256: string; byteLength: number }[];
};

/** A succeeded image job with two variants. */
export async function drawTwo(prompt: string): Promise<Finished> {
  const { json } = await tenant.post(at(IMAGE, "jobs"), { prompt, variantCount: 2 });
  return (await finish(json.jobId)) as unknown as Finished; // a succeeded image job has all three
}

export const settings = (projectId: string, values: object) =>
  pool.query("UPDATE project SET settings = $2 WHERE id = $1", [projectId, JSON.stringify(values)]);

/** The hold of a job whose charge is unknown. */
export async function loseHold(of: Tenant): Promise<string> {
  const execution = { executionConstraints: { preferredModel: "sandbox-lost" } };
  const { json } = await of.post(at(TEXT, "jobs"), { input, execution });
  await finish(json.jobId);
  const { rows } = await pool.query("SELECT id FROM hold WHERE execution_id = $1", [json.jobId]);
  return rows[0].id;
}
