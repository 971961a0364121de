import type { ConnectionHealth, ConnectionRepair, ConnectionTested } from "@/server/contract/connections";
import { checkCredential, connectionHealth, findConnectableProvider } from "@/server/domain/connections";
import type { Ctx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { DAY_MS } from "@/server/platform/time/units";
import { maybe, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { connectionsPageUrl, ownerOf } from "./owner";
import { readConnection } from "./read";

/** Asks the provider now whether it accepts the account, and stores the answer. */
export async function test(ctx: Ctx, connectionId: string): Promise<ConnectionTested> {
  const organizationId = await ownerOf(ctx, connectionId);
  const { outcome, message } = await checkCredential(ctx, organizationId, connectionId);
  return {
    connection: await readConnection(ctx, connectionId),
    outcome,
    message,
    testedAt: ctx.now().toISOString(),
  };
}

/** Returns how a connection has performed over the last days. */
export async function health(ctx: Ctx, connectionId: string): Promise<ConnectionHealth> {
  return connectionHealth(await readConnection(ctx, connectionId), ctx.now());
}

type Step = ConnectionRepair["steps"][number];

/** Tests the connection again. For each problem the result states what was found, what to do and where. */
export async function repair(ctx: Ctx, connectionId: string): Promise<ConnectionRepair> {
  const tested = await test(ctx, connectionId);
  const { connection, outcome, message } = tested;
  const met = await connectionHealth(connection, ctx.now());
  const provider = findConnectableProvider(connection.provider)?.title ?? connection.provider;
  // The label is added because an organization may have several accounts at one provider.
  const title = connection.label === "default" ? provider : `${provider} (${connection.label})`;
  const [bound] = connection.bindings;
  const url = await connectionsPageUrl(
    connection.organizationId,
    bound?.projectId ?? null,
    bound ? { environment: bound.environment } : {},
  );
  const steps: Step[] = [];
  if (outcome === "refused") {
    steps.push({
      code: "replace_secret",
      found: message ?? `${title} does not accept this secret.`,
      todo: `Create a new key in your ${title} account, or restore this one there, then rotate the connection to it.`,
      url,
    });
  }
  if (outcome === "unreachable") {
    steps.push({
      code: "wait_for_provider",
      found: message ?? `${title} could not be reached.`,
      todo: connection.endpointUrl
        ? `Check that ${connection.endpointUrl} is running and reachable from this server, then test again. The connection was not changed.`
        : `Your connection shows no problem. Test again in a few minutes.`,
      url,
    });
  }
  const problem = met.hours.find((hour) => hour.problem !== null);
  if (outcome === "ready" && met.state === "degraded" && problem) {
    steps.push({
      code: "look_at_failures",
      found: `${title} accepts the secret, but most recent executions on it failed: ${problem.problem}`,
      todo: `Check the limits, balance and allowed models in your ${title} account.`,
      url,
    });
  }
  if (connection.bindings.length === 0) {
    steps.push({
      code: "bind",
      found: "No project environment uses this connection.",
      todo: "Choose the environments that should use it.",
      url,
    });
  }
  return { ...tested, state: met.state, steps };
}

const KEPT_DAYS = 30;
/** A session is kept this long after its end, so that it can be told apart from one that never existed. */
const SESSION_KEPT_DAYS = 7;

const OLD = { params: { before: timestamptz, organizationId: maybe(text) } };
const IS_THEIRS =
  "($organizationId::text IS NULL OR credential_id IN (SELECT id FROM credential WHERE organization_id = $organizationId))";
const pruneHours = statement("connection_hour.prune", {
  ...OLD,
  sql: `DELETE FROM connection_hour WHERE hour < $before AND ${IS_THEIRS}`,
});
const pruneChecks = statement("connection_check.prune", {
  ...OLD,
  sql: `DELETE FROM connection_check WHERE at < $before AND ${IS_THEIRS}`,
});
const pruneSessions = statement("onboarding_session.prune", {
  ...OLD,
  sql: `DELETE FROM onboarding_session
    WHERE expires_at < $before AND ($organizationId::text IS NULL OR organization_id = $organizationId)`,
});

/**
 * Deletes old outcomes, checks and sessions, of one organization if it is given and otherwise of all. Every process may
 * run this at once.
 */
export async function prune(
  ctx: Ctx,
  { organizationId = null }: { organizationId?: string | null } = {},
): Promise<void> {
  const given = (days: number) => ({
    before: new Date(ctx.now().getTime() - days * DAY_MS),
    organizationId,
  });
  await pruneHours.run(pool, given(KEPT_DAYS));
  await pruneChecks.run(pool, given(3 * KEPT_DAYS));
  await pruneSessions.run(pool, given(SESSION_KEPT_DAYS));
}
