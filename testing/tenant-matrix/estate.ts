import { expect } from "vitest";
import { ModelAdapterCreate } from "@/server/contract/adapters";
import { SCOPES } from "@/server/contract/enums";
import { access } from "@/server/domain/access";
import * as adapters from "@/server/domain/adapters";
import * as budgets from "@/server/domain/budgets";
import * as credentials from "@/server/domain/connections";
import type { Ctx } from "@/server/domain/ctx";

import * as invitations from "@/server/domain/invitations";
import * as jobs from "@/server/domain/jobs";
import * as connections from "@/server/domain/onboarding";
import * as organizations from "@/server/domain/organizations";
import * as payments from "@/server/domain/payments";
import * as requests from "@/server/domain/requests";
import { pool } from "@/server/platform/db";
import { newId, ulid } from "@/server/platform/ids";
import { publicUrl } from "@/server/platform/settings/env";
import { DAY_MS } from "@/server/platform/time/units";
import { newAdapter } from "../adapters";
import { type Call, call, finish, keyCtx } from "../api";
import { compared } from "../comparisons";
import { HOST } from "../embeds";
import { priceOf } from "../needs";
import { cookieOf, personOf as sessionOf, signIn } from "../sessions";
import { ctxOf, system } from "../tenants";
import { fund } from "../world";
import type { Kind } from "./kinds";

const TEXT = "text.general.fast.v1";
const IMAGE = "image.generate.v1";

/** A caller: its credentials over HTTP, and its context for verbs. */
export type Caller = { name: string; kind: string; http: Call; ctx: Ctx };

type Role = "owner" | "admin" | "member" | "viewer";

/** A signed-in person of an organization. */
export async function personOf(organizationId: string, role: Role, mark = ""): Promise<Caller> {
  const email = `${mark}${newId("user")}@capstan.test`;
  const { userId } = await organizations.createUser(system, {
    email,
    displayName: `Person ${mark}`,
    organizationId,
    role,
    password: "a password of this test",
  });
  const cookie = await cookieOf(userId);
  const headers = { cookie, origin: new URL(publicUrl).origin, "content-type": "application/json" };
  return {
    name: `a person, ${role}`,
    kind: "human_session",
    http: { headers },
    ctx: ctxOf(await sessionOf(userId)),
  };
}

export async function holderOf(name: string, apiKey: string): Promise<Caller> {
  return { name, kind: "service_principal", http: { key: apiKey }, ctx: await keyCtx(apiKey) };
}

export const anonymous: Caller = {
  name: "nobody",
  kind: "anonymous",
  http: {},
  ctx: ctxOf({ kind: "anonymous", id: "anonymous", address: "203.0.113.1" }),
};

/** An organization in which every name contains its mark. */
export type House = {
  organizationId: string;
  mark: string;
  projectId: string;
  sisterId: string;
  unboundKey: string;
  owner: Caller;
};

export async function openHouse(): Promise<House> {
  const mark = `zq${ulid().slice(-14)}`;
  const { organizationId } = await organizations.createOrganization(system, { name: `House ${mark}` });
  await fund(organizationId, 1_000_000_000_000);
  const project = (name: string) =>
    organizations.createProject(system, { name: `${name} ${mark}`, organizationId });
  const [one, two] = [await project("One"), await project("Two")];
  const unbound = await organizations.createKey(system, {
    name: `unbound ${mark}`,
    organizationId,
    environment: "development",
    scopes: [...SCOPES],
  });
  const owner = await personOf(organizationId, "owner", mark);
  return {
    organizationId,
    mark,
    projectId: one.projectId,
    sisterId: two.projectId,
    unboundKey: unbound.apiKey,
    owner,
  };
}

/** Everything of one project that a request can name; texts contain the mark. */
export type Estate = {
  house: House;
  projectId: string;
  mark: string;
  key: string;
  keyId: string;
  ids: Record<Exclude<Kind, "cursor" | "idempotency">, string>;
  lockfile: object;
};

export async function settle(house: House, projectId: string): Promise<Estate> {
  const mark = `${house.mark}${ulid().slice(-6)}`;
  const { organizationId } = house;
  const made = await organizations.createKey(system, {
    name: `bound ${mark}`,
    projectId,
    environment: "development",
    scopes: [...SCOPES],
  });
  const { apiKey: key, keyId } = made;
  const post = async (target: string, body?: unknown, more: Call = {}) => {
    const answer = await call("POST", target, { key, body, ...more });
    expect(answer.status, `${target}: ${answer.text}`).toBeLessThan(300);
    return answer.json;
  };
  const input = { messages: [{ role: "user", content: `How deep is ${mark}?` }] };
  const said = {
    tags: [mark],
    metadata: { mark },
    externalRef: mark,
    correlationId: mark,
  };
  const { endpointId } = await post("/v1/delivery-endpoints", {
    url: `https://hooks.example/${mark}`,
    secret: `a secret of these tests ${mark}`,
  });
  const { jobId } = await post(`/v1/capabilities/${IMAGE}/jobs`, {
    input: { prompt: `A kite of ${mark}`, variantCount: 2 },
    idempotencyKey: mark,
    ...said,
  });
  await jobs.announce(system, { projectId });
  const { artifacts } = await finish(jobId);
  const lost = await post(`/v1/capabilities/${TEXT}/jobs`, {
    input,
    ...said,
    execution: { executionConstraints: { preferredModel: "sandbox-lost" } },
  });
  await finish(lost.jobId);
  const [hold] = (await call("GET", "/v1/billing/holds?state=ambiguous", { key })).json.items;
  const invoked = await post("/v1/capabilities/compute.evaluate.v1/invoke", {
    input: { expression: "1 + 1" },
    ...said,
  });
  const pin = { provider: "sandbox", model: "sandbox-1", api: "responses" };
  const pinned = await post("/v1/inference/pinned", {
    idempotencyKey: mark,
    pin,
    input: `How deep is ${mark}?`,
    tags: [mark],
  });
  const bulk = await post("/v1/inference/pinned/bulk", {
    pin,
    items: ["one", "two"].map((id) => ({ id, input: mark })),
    tags: [mark],
  });
  await post(`/v1/inference/pinned/bulk/${bulk.bulkId}/cancel`);
  const manifest = await post("/v1/provenance/manifests", { label: mark, receiptIds: [pinned.receiptId] });
  const lockfile = await call("GET", `/v1/provenance/lockfile?receipt_id=${pinned.receiptId}`, { key });
  const { comparisonId, entryIds } = await compared(
    {
      post: (target: string, body?: unknown, more?: Call) => call("POST", target, { key, body, ...more }),
    } as Parameters<typeof compared>[0], // the function uses only these members of a tenant
    false,
  );
  const { quoteId } = await post(`/v1/capabilities/${TEXT}/quote`, { input });
  const { payloadId } = await post("/v1/payloads", { messages: input.messages, note: mark });
  await call("POST", `/v1/artifacts?filename=${mark}.txt`, {
    key,
    body: mark,
    headers: { "content-type": "text/plain" },
  });
  const registered = [];
  for (let n = 0; n < 2; n++)
    registered.push(
      await post("/v1/adapters", { ...newAdapter(`Adapter ${n} ${mark}`), triggerWords: [mark] }),
    );
  const { adapterId } = registered[0];
  const alias = await post("/v1/adapter-aliases", { alias: mark, target: { adapterId } });
  const request = await post("/v1/capability-requests", { summary: `Need ${mark}`, need: `Need of ${mark}` });
  await post(`/v1/capability-requests/${request.id}/submit`);
  await requests.openForReview(system, request.id);
  const quote = await requests.issueQuote(system, priceOf(request));
  const { paymentId } = await payments.startTopUp(house.owner.ctx, organizationId, {
    amountMicros: 10_000_000,
  });
  const refundId = newId("refund");
  await pool.query(
    `INSERT INTO payment_refund (id, payment_id, organization_id, reason, requested_by, note, state, created_at)
     VALUES ($1, $2, $3, 'superseded', 'test', $4, 'failed', now())`,
    [refundId, paymentId, organizationId, mark],
  );
  const budget = await budgets.set(system, {
    owner: { projectId },
    period: "total",
    ceilingMicros: 1_000_000_000_000,
    enforcement: "warn",
  });
  await budgets.increase(system, {
    budgetId: budget.budgetId,
    amountMicros: 1_000,
    until: new Date(Date.now() + DAY_MS).toISOString(),
    reason: mark,
  });
  const invitation = await invitations.invite(house.owner.ctx, {
    organizationId,
    email: `${mark}@invited.test`,
    role: "member",
  });
  const member = await personOf(organizationId, "member", mark);
  const { sessionId: onboarding } = await connections.startOnboarding(house.owner.ctx, {
    capabilities: [TEXT],
    projectId,
    environment: "development",
    accountClass: mark,
  });
  const { credential, binding } = await connected(organizationId, projectId, mark);
  const definition = await post("/v1/panel-definitions", {
    key: `panel-${mark}`,
    displayName: `Panel ${mark}`,
    capabilityKey: TEXT,
    projectId,
  });
  const ids = { panelDefinitionId: definition.id, externalSubject: mark };
  const panel = await post("/v1/panel-sessions", panelOf(projectId, ids));
  await post(`/v1/panel-sessions/${panel.sessionId}/launch-codes`);
  const one = async (sql: string, ...values: unknown[]) =>
    (await pool.query<{ id: string }>(sql, values)).rows[0]?.id ?? "";
  const notificationId = newId("notification");
  const { userId } = { userId: member.ctx.principal.id };
  await pool.query(
    `INSERT INTO notification (id, user_id, organization_id, occasion, kind, title, body, href, created_at)
     VALUES ($1, $2, $3, $4, 'test', $4, $4, '/', now())`,
    [notificationId, house.owner.ctx.principal.id, organizationId, mark],
  );
  return {
    house,
    projectId,
    mark,
    key,
    keyId,
    lockfile: lockfile.json,
    ids: {
      organization: organizationId,
      project: projectId,
      environment: await one("SELECT id FROM environment WHERE project_id = $1", projectId),
      user: userId,
      email: (house.owner.ctx.principal as { email?: string }).email ?? "", // a person's principal has an email
      session: await signIn(house.owner.ctx.principal.id),
      key: keyId,
      invitation: invitation.invitationId,
      job: jobId,
      execution: invoked.executionId,
      artifact: artifacts[0]?.artifactId ?? "",
      payload: payloadId,
      receipt: pinned.receiptId,
      manifest: manifest.manifestId,
      bulk: bulk.bulkId,
      quote: quoteId,
      budget: budget.budgetId,
      hold: hold.holdId,
      payment: paymentId,
      refund: refundId,
      endpoint: endpointId,
      delivery: await one("SELECT id FROM delivery WHERE project_id = $1", projectId),
      request: request.id,
      revision: request.currentRevisionId ?? "",
      commission: quote.quoteId,
      adapter: adapterId,
      version: alias.current.versionId,
      alias: mark,
      comparison: comparisonId,
      entry: entryIds[0] ?? "",
      credential,
      binding,
      onboarding,
      notification: notificationId,
      mail: await one("SELECT id FROM mail WHERE invitation_id = $1", invitation.invitationId),
      definition: definition.id,
      panelKey: definition.key,
      panel: panel.sessionId,
      tag: mark,
    },
  };
}

const panelOf = (projectId: string, more: object = {}) => ({
  projectId,
  allowedOrigins: [HOST],
  maxSpendMicros: 1_000_000_000,
  maxJobs: 1_000,
  expiresInMinutes: 120,
  ...more,
});

/** A page with a new embed session of an estate's project; the session may run any capability and has created nothing yet. */
export async function pageOf({ key, projectId }: Estate): Promise<Caller> {
  const { json } = await call("POST", "/v1/panel-sessions", { key, body: panelOf(projectId) });
  const principal = await access.embedHolder(json.accessToken, new Date());
  if (!principal) throw new Error("the session has no token");
  return {
    name: "a panel session",
    kind: "panel_session",
    http: { key: json.accessToken, headers: { origin: HOST } },
    ctx: ctxOf(principal),
  };
}

async function connected(organizationId: string, projectId: string, mark: string) {
  const { credentialId: credential } = await credentials.createCredential(
    system,
    organizationId,
    { provider: "openai", secret: `sk-${mark}`, label: mark },
    { places: [] },
  );
  const place = { projectId, environment: "development", provider: "openai", replaces: true };
  const { bindingId: binding } = await credentials.bindCredential(system, organizationId, credential, {
    input: place,
  });
  return { credential, binding };
}

/** Replaces an object that a destructive request has ended, for the next request. */
export async function renew(estate: Estate, kind: Kind): Promise<void> {
  const { ids, mark, projectId } = estate;
  const { organizationId, owner } = estate.house;
  switch (kind) {
    case "credential":
    case "binding":
      Object.assign(ids, await connected(organizationId, projectId, mark));
      break;
    case "panel":
      ids.panel = (
        await call("POST", "/v1/panel-sessions", { key: estate.key, body: panelOf(projectId) })
      ).json.sessionId;
      break;
    case "session":
      ids.session = await signIn(owner.ctx.principal.id);
      break;
    case "user":
      ids.user = (await personOf(organizationId, "member")).ctx.principal.id;
      break;
    case "key":
      ids.key = (
        await organizations.createKey(system, { name: "spare", projectId, environment: "development" })
      ).keyId;
      break;
    case "adapter": {
      const body = ModelAdapterCreate.parse(newAdapter());
      ids.adapter = (await adapters.register(owner.ctx, { projectId }, body)).adapterId;
      break;
    }
    case "invitation": {
      const email = `${newId("invitation")}@invited.test`;
      ids.invitation = (
        await invitations.invite(owner.ctx, { organizationId, email, role: "member" })
      ).invitationId;
      break;
    }
    default:
  }
}

const TAIL = 16;
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** An unused id with the same time, so that its neighbours in a list are the same. */
export function twinOf(id: string): string {
  const scrambled = [...id.slice(-TAIL)].map((letter) => {
    const at = ALPHABET.indexOf(letter);
    return at < 0 ? letter : ALPHABET[(at + 7) % ALPHABET.length];
  });
  return id.slice(0, -TAIL) + scrambled.join("");
}
