import type {
  CreateDeliveryEndpoint,
  DeliveryEndpoint,
  DeliveryEndpointList,
  UpdateDeliveryEndpoint,
} from "@/server/contract/webhooks";
import { access } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { inTransaction, pool, type Queryable, type Transaction } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { checkedUrl } from "./address";
import { adoptJobs } from "./adopt";
import { type EndpointRow, findEndpoint, toEndpoint, visibleEndpoints } from "./rows";
import { sealed } from "./secrets";
import { signingSecretOf } from "./sign";

/** Every event is written once for each enabled endpoint, so their number is bounded. */
const MOST_ENABLED = 100;

/** The endpoint, for who gave it this secret: a text is shown once in the form that every library takes. */
function saved(row: EndpointRow, secret: string | null | undefined): DeliveryEndpoint {
  const signingSecret = secret ? signingSecretOf(secret) : null;
  return { ...toEndpoint(row), ...(signingSecret ? { signingSecret } : {}) };
}

/** Makes an endpoint. Events from now on are delivered to it, also those of jobs that are under way. */
export async function createEndpoint(ctx: Ctx, input: CreateDeliveryEndpoint): Promise<DeliveryEndpoint> {
  const { organizationId, projectId } = await ownerOf(ctx, input);
  const url = checkedUrl(input.url);
  const id = newId("endpoint");
  const now = ctx.now();
  return inTransaction(async (client) => {
    if (input.enabled) await takePlace(client, organizationId, id);
    const others = await client.query("SELECT FROM delivery_endpoint WHERE organization_id = $1 LIMIT 1", [
      organizationId,
    ]);
    const { rows } = await client.query<EndpointRow>(
      `INSERT INTO delivery_endpoint (id, organization_id, project_id, url, secret, event_types, enabled, created_by, created_at, updated_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9) RETURNING *`,
      [
        id,
        organizationId,
        projectId,
        url,
        sealed(input.secret, id),
        [...new Set(input.eventTypes ?? [])],
        input.enabled,
        ctx.principal.kind === "human_session" ? ctx.principal.id : null,
        now,
      ],
    );
    if (others.rowCount === 0) await adoptJobs(client, organizationId, now);
    await note(ctx, client, rows[0]!, { action: "endpoint.created", enabled: input.enabled });
    return saved(rows[0]!, input.secret); // INSERT … RETURNING of one row
  });
}

/** Endpoints the caller may see, newest first; with a project, those that get its events. */
export async function listEndpoints(
  ctx: Ctx,
  query: { projectId?: string | undefined },
): Promise<DeliveryEndpointList> {
  const visible = visibleEndpoints(ctx, "webhooks:read", 1);
  const project = query.projectId
    ? await access.authorize(ctx, "webhooks:read", { projectId: query.projectId })
    : null;
  const { rows } = await pool.query<EndpointRow>(
    `SELECT endpoint.* FROM delivery_endpoint endpoint WHERE ${visible.condition}
       AND ($4::text IS NULL OR endpoint.project_id = $4 OR (endpoint.project_id IS NULL AND endpoint.organization_id = $5))
     ORDER BY endpoint.id DESC`,
    [...visible.values, project?.id ?? null, project?.organizationId ?? null],
  );
  return { items: rows.map(toEndpoint) };
}

/** Changes what is given. A new secret signs the next try; a new URL also takes what still waits. */
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
    const { rows } = await client.query<EndpointRow>(
      `UPDATE delivery_endpoint SET url = $2, secret = coalesce($3, secret), event_types = coalesce($4, event_types),
         enabled = coalesce($5, enabled), disabled_reason = CASE WHEN $5 THEN NULL ELSE disabled_reason END, updated_at = $6
       WHERE id = $1 RETURNING *`,
      [
        known.id,
        url,
        secret,
        input.eventTypes ? [...new Set(input.eventTypes)] : null,
        input.enabled ?? null,
        now,
      ],
    );
    if (input.enabled === false) await stopWaiting(client, known.id, now);
    const changed = Object.keys(input).filter((name) => input[name as keyof typeof input] !== undefined);
    await note(ctx, client, rows[0]!, {
      action: "endpoint.changed",
      changed,
      enabled: input.enabled ?? known.enabled,
    });
    return saved(rows[0]!, input.secret); // found above, and endpoints are never deleted
  });
}

/** Of an address the host alone is written down: what follows it may be a secret. */
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

/** Switches an endpoint off: nothing is sent to it any more, and what waited is `disabled`. Again changes nothing. */
export function disableEndpoint(ctx: Ctx, endpointId: string): Promise<DeliveryEndpoint> {
  return updateEndpoint(ctx, endpointId, { enabled: false });
}

/** Switches an endpoint off automatically, with the reason its owner will read. */
export async function switchOff(endpointId: string, reason: string, now: Date): Promise<void> {
  await inTransaction(async (client) => {
    await client.query(
      `UPDATE delivery_endpoint SET enabled = false, disabled_reason = $2, updated_at = $3 WHERE id = $1 AND enabled`,
      [endpointId, reason, now],
    );
    await stopWaiting(client, endpointId, now);
  });
}

async function stopWaiting(client: Queryable, endpointId: string, now: Date): Promise<void> {
  await client.query(
    `UPDATE delivery SET state = 'disabled', next_attempt_at = NULL, lease_until = NULL, completed_at = $2
     WHERE endpoint_id = $1 AND (state IN ('pending', 'delivering')) IS TRUE AND state = 'pending'`,
    [endpointId, now],
  );
}

/** Refuses an endpoint that would be one too many. Those of an organization go one after the other, so any number at once do not overrun it. */
async function takePlace(client: Queryable, organizationId: string, endpointId: string): Promise<void> {
  await client.query("SELECT pg_advisory_xact_lock(hashtextextended('endpoints ' || $1, 0))", [
    organizationId,
  ]);
  const { rows } = await client.query<{ count: number }>(
    "SELECT count(*) AS count FROM delivery_endpoint WHERE organization_id = $1 AND enabled AND id <> $2",
    [organizationId, endpointId],
  );
  if ((rows[0]?.count ?? 0) < MOST_ENABLED) return;
  throw new ValidationFault([
    {
      loc: ["body", "enabled"],
      msg: `An organization can have at most ${MOST_ENABLED} enabled endpoints. Disable one first.`,
      type: "too_many",
    },
  ]);
}

type Owner = { organizationId: string; projectId: string | null };

/** Whose events go there: those of the project named or bound, or, for a person who names none, of an organization. */
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
