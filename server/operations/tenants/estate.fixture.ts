import { expect } from "vitest";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { type Adapters, openAdapters } from "@/testing/adapters";
import {
  type Answer,
  type Call,
  call,
  finish,
  keyCtx,
  makeTenant,
  sessionHeaders,
  submitWaiting,
  type Tenant,
} from "@/testing/api";
import { compared } from "@/testing/comparisons";
import { openPanels, type Panels } from "@/testing/embeds";
import { needIn, quotedNeed } from "@/testing/needs";
import { withoutRequestId } from "@/testing/requests";
import { openRooms, type Rooms } from "@/testing/rooms";
import { otherSessionOf } from "@/testing/sessions";
import { openVault, type Vault } from "@/testing/vault";

export const TEXT = "text.general.fast.v1";
export const IMAGE = "image.generate.v1";
export const MATH = "compute.evaluate.v1";
export const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };

/** Everything of one tenant that a request can name. */
export type Estate = {
  tenant: Tenant;
  projectId: string;
  otherProjectId: string;
  jobId: string;
  artifactId: string;
  executionId: string;
  /** The record of a pinned execution, and its manifest. */
  receiptId: string;
  manifestId: string;
  /** A bulk of pinned executions, canceled before it ran. */
  bulkId: string;
  /** A judged comparison. */
  comparison: Awaited<ReturnType<typeof compared>>;
  queuedId: string;
  approvedId: string;
  rejectedId: string;
  canceledId: string;
  quoteId: string;
  endpointId: string;
  /** Another endpoint, which tests may disable. */
  spareEndpointId: string;
  deliveryId: string;
  lora: Adapters;
  /** Its organization, projects and keys. */
  rooms: Rooms;
  /** Its embeds and their sessions. */
  panels: Panels;
  /** The hold of an execution whose charge is unknown. */
  holdId: string;
  budgetId: string;
  /** A session of its owner. */
  sessionId: string;
  /** A capability request, and one with a quote. */
  requestId: string;
  pricedId: string;
  /** A signed-in owner of the organization, for endpoints that only people may call. */
  owner: Call;
  /** Connections of an organization of their own, because work of this project would run on them. */
  vault: Vault;
};

export const PIN = {
  pin: { provider: "sandbox", model: "sandbox-1", api: "responses" },
  input: "How deep is the sea?",
};
export const BULK = { pin: PIN.pin, items: [{ id: "one", input: PIN.input }] };
export const HOOK = { url: "https://hooks.example/in", secret: "a secret of this test alone" };

const budgetOf = (projectId: string) => ({
  owner: { projectId },
  period: "total",
  ceilingMicros: 1e12,
  enforcement: "warn",
});

async function makeEstate(): Promise<Estate> {
  const tenant = await makeTenant();
  const submit = async (key: string, body: unknown) =>
    (await tenant.post(`/v1/capabilities/${key}/jobs`, body)).json.jobId as string;
  const { endpointId } = (await tenant.post("/v1/delivery-endpoints", HOOK)).json;
  const spare = await tenant.post("/v1/delivery-endpoints", { ...HOOK, enabled: false });
  const jobId = await submit(IMAGE, { prompt: "A kite", variantCount: 2 });
  await jobs.announce(systemCtx("test"), tenant);
  const deliveryId = (await tenant.get("/v1/deliveries")).json.items[0].deliveryId;
  const { artifacts } = await finish(jobId);
  const decided = async (decision: string) => {
    const waiting = await submitWaiting(tenant, TEXT, { input });
    expect((await tenant.post(`/v1/jobs/${waiting.jobId}/${decision}`)).status).toBe(200);
    return waiting.jobId;
  };
  const lost = await tenant.post(`/v1/capabilities/${TEXT}/jobs`, {
    input,
    execution: { executionConstraints: { preferredModel: "sandbox-lost" } },
  });
  await finish(lost.json.jobId);
  const [hold] = (await tenant.get("/v1/billing/holds?state=ambiguous")).json.items;
  const { bulkId } = (await tenant.post("/v1/inference/pinned/bulk", BULK)).json;
  await tenant.post(`/v1/inference/pinned/bulk/${bulkId}/cancel`);
  const receiptId = (await tenant.post("/v1/inference/pinned", PIN)).json.receiptId;
  const owner = { headers: await sessionHeaders(tenant.organizationId, "owner") };
  return {
    tenant,
    bulkId,
    comparison: await compared(tenant, true),
    manifestId: (await tenant.post("/v1/provenance/manifests", { label: "x", receiptIds: [receiptId] })).json
      .manifestId,
    holdId: hold.holdId,
    budgetId: (await call("PUT", "/v1/budgets", { ...owner, body: budgetOf(tenant.projectId) })).json
      .budgetId,
    requestId: (await needIn(await keyCtx(tenant.key), "draft")).id,
    pricedId: (await quotedNeed(await keyCtx(tenant.key))).request.id,
    owner,
    sessionId: await otherSessionOf(owner.headers.cookie),
    projectId: tenant.projectId,
    otherProjectId: tenant.otherProjectId,
    jobId,
    artifactId: artifacts[0]?.artifactId ?? "",
    executionId: (await tenant.post(`/v1/capabilities/${MATH}/invoke`, { expression: "1 + 1" })).json
      .executionId,
    receiptId,
    queuedId: await submit(TEXT, { input, idempotencyKey: "shared" }),
    approvedId: await decided("approve"),
    rejectedId: await decided("reject"),
    canceledId: await decided("cancel"),
    quoteId: (await tenant.post(`/v1/capabilities/${TEXT}/quote`, { input })).json.quoteId,
    endpointId,
    spareEndpointId: spare.json.endpointId,
    deliveryId,
    lora: await openAdapters(tenant),
    rooms: await openRooms(tenant),
    panels: await openPanels(tenant),
    vault: await openVault(),
  };
}

/** Two tenants with the same objects, set by `beforeAll(openEstates)`. */
export let mine: Estate;
export let theirs: Estate;

export async function openEstates(): Promise<void> {
  [mine, theirs] = [await makeEstate(), await makeEstate()];
}

export async function closeEstates(): Promise<void> {
  await theirs.lora.close();
  await mine.lora.close();
  await mine.vault.close();
  await theirs.vault.close();
}

/** An answer without the parts that differ on every request. */
export function comparable({ status, headers, text }: Answer) {
  const { "x-request-id": _id, "ratelimit-remaining": _left, "ratelimit-reset": _reset, ...rest } = headers;
  return { status, text: withoutRequestId(text), headers: rest };
}
