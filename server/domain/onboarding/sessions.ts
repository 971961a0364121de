import type {
  CompleteOnboarding,
  OnboardingPlan,
  OnboardingRequest,
  OnboardingResult,
  OnboardingSession,
} from "@/server/contract/connections";
import { access, roleIn } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import * as credentials from "@/server/domain/connections";
import type { Ctx } from "@/server/domain/ctx";
import { onboardingSession } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { DAY_MS } from "@/server/platform/time/units";
import { names, type Of, pick, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { connectionsPageUrl } from "./owner";
import { plan, planIn } from "./plan";

const LASTS_MS = DAY_MS;

const ROW = pick(
  onboardingSession,
  "id organization_id project_id environment capabilities account_class created_at expires_at completed_at",
);
type SessionRow = Of<typeof ROW>;

const addSession = statement("onboarding_session.insert", {
  params: {
    sessionId: onboardingSession.id,
    organizationId: onboardingSession.organization_id,
    principalId: onboardingSession.user_id,
    projectId: onboardingSession.project_id,
    environment: onboardingSession.environment,
    capabilities: onboardingSession.capabilities,
    accountClass: onboardingSession.account_class,
    now: timestamptz,
    expiresAt: timestamptz,
    completedAt: onboardingSession.completed_at,
    status: onboardingSession.status,
  },
  row: ROW,
  sql: `INSERT INTO onboarding_session (id, organization_id, user_id, project_id, environment, capabilities, account_class,
       created_at, expires_at, completed_at, status)
     VALUES ($sessionId, $organizationId, $principalId, $projectId, $environment, $capabilities, $accountClass, $now, $expiresAt, $completedAt, $status) RETURNING ${names(ROW)}`,
});

/**
 * Begins a session. It stores what is requested and leads a person to the page where they connect the missing accounts.
 * Any member may begin one, but only an admin can connect.
 */
export async function startOnboarding(ctx: Ctx, request: OnboardingRequest): Promise<OnboardingSession> {
  const found = await plan(ctx, request);
  const row = await addSession.first(pool, {
    sessionId: newId("onboarding"),
    organizationId: found.organizationId,
    principalId: ctx.principal.id,
    projectId: found.projectId,
    environment: found.environment,
    capabilities: found.capabilities.map(({ key }) => key),
    accountClass: found.accountClass,
    now: ctx.now(),
    expiresAt: new Date(ctx.now().getTime() + LASTS_MS),
    completedAt: isDone(found) ? ctx.now() : null,
    status: isDone(found) ? "completed" : "open",
  });
  return toSession(row!, found); // `INSERT … RETURNING` of one row returns one row
}

/** True if a person has nothing left to connect. */
const isDone = ({ status }: OnboardingPlan) => status !== "interaction_required";

/** Returns a session with its current plan. Throws `Gone` after its end. */
export async function getOnboarding(ctx: Ctx, sessionId: string): Promise<OnboardingSession> {
  const row = await find(ctx, sessionId);
  const now = await planOf(ctx, row);
  return toSession(await settled(ctx, row, now), now);
}

/** Returns the outcome of a session. `result` is null until everything that can be connected is. */
export async function onboardingResult(ctx: Ctx, sessionId: string): Promise<OnboardingResult> {
  const row = await find(ctx, sessionId);
  const now = await planOf(ctx, row);
  const { completed_at } = await settled(ctx, row, now);
  const { status, action } = await toSession(row, now);
  const ready = now.capabilities.filter((each) => each.ready).map(({ key }) => key);
  const result = completed_at && {
    completedAt: completed_at.toISOString(),
    connectionIds: now.accounts.flatMap(({ connectionId }) => connectionId ?? []),
    ready,
    unserved: now.unserved,
  };
  return { sessionId, status, action, result };
}

/**
 * Connects an account that a session needs, or binds one that the organization has. The secret is stored only in the
 * vault.
 */
export async function completeOnboarding(
  ctx: Ctx,
  sessionId: string,
  input: CompleteOnboarding,
): Promise<OnboardingSession> {
  const row = await find(ctx, sessionId);
  const organizationId = row.organization_id;
  access.authorize(ctx, "admin", { organizationId });
  const all = await credentials.credentialsOf(organizationId);
  const places = await placesOf(row, input, all);
  const { provider, secret, label, endpointUrl, models, passThrough } = input;
  const note: credentials.Alongside = (client, { id: credentialId }) => {
    const act = { organizationId, projectId: row.project_id, action: "onboarding.connected" };
    return record(ctx, { ...act, subject: sessionId, details: { credentialId, provider } }, client);
  };
  if (secret) {
    const input = { provider, secret, label, endpointUrl, models, passThrough };
    await credentials.createCredential(ctx, organizationId, input, { places, alongside: note });
  } else await bindNewest(ctx, organizationId, { provider, places, all, note });
  return getOnboarding(ctx, sessionId);
}

/** Returns the place to bind the account in. The binding replaces one whose account its provider refuses. */
async function placesOf(
  { project_id: projectId, environment }: SessionRow,
  { autoBind, provider }: CompleteOnboarding,
  all: credentials.CredentialRow[],
): Promise<credentials.Binding[]> {
  if (!autoBind || projectId === null) return [];
  const replaces = all.some(
    ({ status, bindings }) =>
      status === "refused" &&
      bindings.some(
        (each) =>
          each.project_id === projectId && each.environment === environment && each.provider === provider,
      ),
  );
  return [{ projectId, environment, replaces }];
}

/** Binds the newest working connection of this provider, when no secret is given. */
async function bindNewest(
  ctx: Ctx,
  organizationId: string,
  {
    provider,
    places,
    all,
    note,
  }: {
    provider: string;
    places: credentials.Binding[];
    all: credentials.CredentialRow[];
    note: credentials.Alongside;
  },
): Promise<void> {
  const newest = all.find((each) => each.provider === provider && each.status === "ready");
  if (!newest) {
    const { title } = credentials.getProvider(provider);
    const msg = `The organization has no ${title} connection yet. Send its secret.`;
    throw new ValidationFault([{ loc: ["body", "secret"], msg, type: "missing" }]);
  }
  for (const place of places)
    await credentials.bindCredential(ctx, organizationId, newest.id, {
      input: { ...place, provider },
      alongside: note,
    });
}

const readSession = statement("onboarding_session.read", {
  params: { sessionId: text },
  row: ROW,
  sql: `SELECT ${names(ROW)} FROM onboarding_session WHERE id = $sessionId`,
});

async function find(ctx: Ctx, sessionId: string): Promise<SessionRow> {
  const row = await readSession.first(pool, { sessionId });
  if (!row || !roleIn(ctx, row.organization_id))
    return fail("NotFound", "There is no such onboarding session.");
  if (row.expires_at <= ctx.now()) fail("Gone", "This onboarding session has ended. Start a new one.", {});
  return row;
}

const planOf = (ctx: Ctx, row: SessionRow) =>
  planIn(
    ctx,
    { organizationId: row.organization_id, projectId: row.project_id },
    { capabilities: row.capabilities, environment: row.environment, accountClass: row.account_class },
  );

const markCompleted = statement("onboarding_session.update.completed", {
  params: { sessionId: text, now: timestamptz },
  row: ROW,
  sql: `UPDATE onboarding_session SET status = 'completed', completed_at = coalesce(completed_at, $now) WHERE id = $sessionId RETURNING ${names(ROW)}`,
});

/** Returns the row. The first reader who finds nothing left to connect marks it completed. */
async function settled(ctx: Ctx, row: SessionRow, now: OnboardingPlan): Promise<SessionRow> {
  if (row.completed_at || !isDone(now)) return row;
  return (await markCompleted.first(pool, { sessionId: row.id, now: ctx.now() })) ?? row;
}

async function toSession(row: SessionRow, now: OnboardingPlan): Promise<OnboardingSession> {
  const isOpen = now.status === "interaction_required";
  const url =
    isOpen && (await connectionsPageUrl(row.organization_id, row.project_id, { onboarding: row.id }));
  return {
    sessionId: row.id,
    status: now.status,
    action: url ? { type: "open_url", url } : null,
    plan: now,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    completedAt: row.completed_at?.toISOString() ?? null,
  };
}
