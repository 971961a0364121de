import type {
  CreateDeliveryEndpoint,
  DeliveryEndpoint,
  DeliveryEndpointList,
  UpdateDeliveryEndpoint,
} from "@/server/contract/webhooks";
import { access } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { deliveryEndpoint } from "@/server/generated/schema";
import { inTransaction, pool, type Queryable, type Transaction } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { bool, int8, maybe, text, texts, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { checkedUrl } from "./address";
import { adoptJobs } from "./adopt";
import { type EndpointRow, findEndpoint, IS_VISIBLE, toEndpoint, VISIBLE, visibleEndpoints } from "./rows";
import { sealed } from "./secrets";
import { signingSecretOf } from "./sign";

/** Every event is stored once for each enabled endpoint, so the number of enabled endpoints is limited. */
const MOST_ENABLED = 100;

/**
 * Returns the endpoint to the caller who set this secret. If the secret is a plain text, the result also has its
 * `whsec_` form, which no read returns.
 */
function saved(row: EndpointRow, secret: string | null | undefined): DeliveryEndpoint {
  const signingSecret = secret ? signingSecretOf(secret) : null;
  return { ...toEndpoint(row), ...(signingSecret ? { signingSecret } : {}) };
}

const anyEndpoint = statement("endpoint.find.organization", {
  params: { organizationId: text },
  sql: `SELECT FROM delivery_endpoint WHERE organization_id = $organizationId LIMIT 1`,
});

const insertEndpoint = statement("endpoint.insert", {
  params: {
    endpointId: deliveryEndpoint.id,
    organizationId: deliveryEndpoint.organization_id,
    projectId: deliveryEndpoint.project_id,
    url: deliveryEndpoint.url,
    secret: deliveryEndpoint.secret,
    eventTypes: deliveryEndpoint.event_types,
    enabled: deliveryEndpoint.enabled,
    createdBy: deliveryEndpoint.created_by,
    now: timestamptz,
  },
  row: deliveryEndpoint,
  sql: `INSERT INTO delivery_endpoint (id, organization_id, project_id, url, secret, event_types, enabled, created_by, created_at, updated_at)
       VALUES ($endpointId, $organizationId, $projectId, $url, $secret, $eventTypes, $enabled, $createdBy, $now, $now) RETURNING *`,
});

/**
 * Creates an endpoint. It receives the events from now on, including those of jobs that are already under way. A person
 * who names no project creates it for a whole organization. Throws a `ValidationFault` for a refused URL, or if the
 * organization has too many enabled endpoints.
 */
export async function createEndpoint(ctx: Ctx, input: CreateDeliveryEndpoint): Promise<DeliveryEndpoint> {
  const { organizationId, projectId } = await ownerOf(ctx, input);
  const url = checkedUrl(input.url);
  const id = newId("endpoint");
  const now = ctx.now();
  return inTransaction(async (client) => {
    if (input.enabled) await takePlace(client, organizationId, id);
    const others = await anyEndpoint.count(client, { organizationId });
    const found = await insertEndpoint.first(client, {
      endpointId: id,
      organizationId,
      projectId,
      url,
      secret: sealed(input.secret, id),
      eventTypes: [...new Set(input.eventTypes ?? [])],
      enabled: input.enabled,
      createdBy: ctx.principal.kind === "human_session" ? ctx.principal.id : null,
      now,
    });
    if (others === 0) await adoptJobs(client, organizationId, now);
    await note(ctx, client, found!, { action: "endpoint.created", enabled: input.enabled });
    return saved(found!, input.secret); // `INSERT … RETURNING` of one row returns one row
  });
}

const readEndpoints = statement("endpoint.list.visible", {
  params: { ...VISIBLE, projectId: maybe(text), organizationId: maybe(text) },
  row: deliveryEndpoint,
  sql: `SELECT endpoint.* FROM delivery_endpoint endpoint WHERE ${IS_VISIBLE}
       AND ($projectId::text IS NULL OR endpoint.project_id = $projectId
         OR (endpoint.project_id IS NULL AND endpoint.organization_id = $organizationId))
     ORDER BY endpoint.id DESC`,
});

/**
 * Returns the endpoints that the caller may see, newest first. With a project, the list has only those that receive
 * that project's events.
 */
export async function listEndpoints(
  ctx: Ctx,
  query: { projectId?: string | undefined },
): Promise<DeliveryEndpointList> {
  const visible = visibleEndpoints(ctx, "webhooks:read");
  const project = query.projectId
    ? await access.authorize(ctx, "webhooks:read", { projectId: query.projectId })
    : null;
  const rows = await readEndpoints.all(pool, {
    ...visible,
    projectId: project?.id,
    organizationId: project?.organizationId,
  });
  return { items: rows.map(toEndpoint) };
}

const changeEndpoint = statement("endpoint.update.given", {
  params: {
    endpointId: text,
    url: deliveryEndpoint.url,
    secret: maybe(text),
    eventTypes: maybe(texts),
    enabled: maybe(bool),
    now: timestamptz,
  },
  row: deliveryEndpoint,
  sql: `UPDATE delivery_endpoint SET url = $url, secret = coalesce($secret, secret), event_types = coalesce($eventTypes, event_types),
         enabled = coalesce($enabled, enabled), disabled_reason = CASE WHEN $enabled THEN NULL ELSE disabled_reason END, updated_at = $now
       WHERE id = $endpointId RETURNING *`,
});

/**
 * Changes the given fields. The next try is signed with a new secret, and deliveries that are still waiting go to a new
 * URL. Throws as `createEndpoint` does, and `NotFound` for an endpoint that the caller may not see.
 */
export async function updateEndpoint(
  ctx: Ctx,
  endpointId: string,
  input: UpdateDeliveryEndpoint,
): Promise<DeliveryEndpoint> {
  const known = await findEndpoint(ctx, endpointId, "webhooks:write");
  const url = input.url ? checkedUrl(input.url) : known.url;
  const secret = input.secret ? sealed(input.secret, known.id) : null;
  const now = ctx.now();
  return inTransaction(async (client) => {
    if (input.enabled) await takePlace(client, known.organization_id, known.id);
    const row = await changeEndpoint.first(client, {
      endpointId: known.id,
      url,
      secret,
      eventTypes: input.eventTypes ? [...new Set(input.eventTypes)] : null,
      enabled: input.enabled ?? null,
      now,
    });
    if (input.enabled === false) await stopWaiting(client, known.id, now);
    const changed = Object.keys(input).filter((name) => input[name as keyof typeof input] !== undefined);
    await note(ctx, client, row!, {
      action: "endpoint.changed",
      changed,
      enabled: input.enabled ?? known.enabled,
    });
    return saved(row!, input.secret); // the endpoint was found above, and endpoints are never deleted
  });
}

/** Records an action. Only the host of the URL is recorded, because the rest may contain a secret. */
function note(
  ctx: Ctx,
  client: Transaction,
  row: EndpointRow,
  { action, ...more }: { action: string; [detail: string]: Json },
): Promise<void> {
  const { organization_id: organizationId, project_id: projectId, id: subject, url } = row;
  const details = { host: new URL(url).host, ...more };
  return record(ctx, { organizationId, projectId, subject, action, details }, client);
}

/**
 * Disables an endpoint: nothing more is sent to it, and its waiting deliveries become `disabled`. An endpoint that is
 * already disabled stays so.
 */
export function disableEndpoint(ctx: Ctx, endpointId: string): Promise<DeliveryEndpoint> {
  return updateEndpoint(ctx, endpointId, { enabled: false });
}

const disableEnabled = statement("endpoint.disable.enabled", {
  params: { endpointId: text, reason: deliveryEndpoint.disabled_reason, now: timestamptz },
  sql: `UPDATE delivery_endpoint SET enabled = false, disabled_reason = $reason, updated_at = $now WHERE id = $endpointId AND enabled`,
});

/** Disables an endpoint automatically, and stores the reason for its owner to read. */
export async function switchOff(endpointId: string, reason: string, now: Date): Promise<void> {
  await inTransaction(async (client) => {
    await disableEnabled.run(client, { endpointId, reason, now });
    await stopWaiting(client, endpointId, now);
  });
}

const disablePending = statement("delivery.disable.pending", {
  params: { endpointId: text, now: timestamptz },
  sql: `UPDATE delivery SET state = 'disabled', next_attempt_at = NULL, lease_until = NULL, completed_at = $now
     WHERE endpoint_id = $endpointId AND (state IN ('pending', 'delivering')) IS TRUE AND state = 'pending'`,
});

async function stopWaiting(client: Queryable, endpointId: string, now: Date): Promise<void> {
  await disablePending.run(client, { endpointId, now });
}

const countEnabled = statement("endpoint.count.other_enabled", {
  params: { organizationId: text, endpointId: text },
  row: { count: int8 },
  sql: `SELECT count(*) AS count FROM delivery_endpoint WHERE organization_id = $organizationId AND enabled AND id <> $endpointId`,
});

/**
 * Throws a `ValidationFault` if this endpoint would be one too many. The lock makes the callers of an organization take
 * turns, so that simultaneous calls cannot exceed the limit.
 */
async function takePlace(client: Queryable, organizationId: string, endpointId: string): Promise<void> {
  await client.query("SELECT pg_advisory_xact_lock(hashtextextended('endpoints ' || $1, 0))", [
    organizationId,
  ]);
  const found = await countEnabled.first(client, { organizationId, endpointId });
  if ((found?.count ?? 0) < MOST_ENABLED) return;
  throw new ValidationFault([
    {
      loc: ["body", "enabled"],
      msg: `An organization can have at most ${MOST_ENABLED} enabled endpoints. Disable one first.`,
      type: "too_many",
    },
  ]);
}

type Owner = { organizationId: string; projectId: string | null };

/**
 * Returns the owner of a new endpoint: the project that the caller named or that its key is bound to, or, for a person
 * who names no project, an organization. Throws `PROJECT_REQUIRED` if a person with several organizations names
 * neither.
 */
async function ownerOf(ctx: Ctx, input: CreateDeliveryEndpoint): Promise<Owner> {
  const { principal } = ctx;
  if (input.projectId || principal.kind !== "human_session") {
    if (input.organizationId) {
      throw new ValidationFault([
        {
          loc: ["body", "organizationId"],
          msg: "Only a signed-in person can create an endpoint for a whole organization. With a key, name a project.",
          type: "value_error",
        },
      ]);
    }
    const project = await access.authorize(ctx, "webhooks:write", { projectId: input.projectId });
    return { organizationId: project.organizationId, projectId: project.id };
  }
  const allowed = access.authorize(ctx, "webhooks:write", "rows").organizationIds ?? [];
  if (input.organizationId && !allowed.includes(input.organizationId))
    fail("AuthorizationFailed", "You have no access to that organization. Check the organization id.");
  const [only, ...others] = input.organizationId ? [input.organizationId] : allowed;
  if (!only)
    return fail(
      "AuthorizationFailed",
      "Your role does not allow this in any of your organizations. Ask an owner or admin.",
    );
  if (others.length > 0)
    fail(
      "PROJECT_REQUIRED",
      "You belong to several organizations. Name a project, or an organization in organizationId.",
    );
  return { organizationId: only, projectId: null };
}
