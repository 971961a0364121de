import type { Connection, ConnectionHealth } from "@/server/contract/connections";
import type { ConnectionState, Credential } from "@/server/contract/credentials";
import { connectionCheck, connectionHour } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { DAY_MS, HOUR_MS } from "@/server/platform/time/units";
import { bool, int4, maybe, pick, present, text, texts, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

const SHOWN_DAYS = 7;
/**
 * A connection is failing if the current hour and the one before it have at least this many failures, and no
 * fewer than answers.
 */
const FAILURES_BEFORE = 3;

type CheckRow = { outcome: ConnectionHealth["checks"][number]["outcome"]; message: string | null; at: Date };

const listChecks = statement("connection_check.list", {
  params: { credentialId: text },
  row: pick(connectionCheck, "outcome message at"),
  sql: `SELECT outcome, message, at FROM connection_check WHERE credential_id = $credentialId ORDER BY at DESC, id DESC LIMIT 50`,
});

const listHours = statement("connection_hour.list", {
  params: { credentialId: text, after: timestamptz },
  row: pick(connectionHour, "hour answered failed problem problem_at"),
  sql: `SELECT hour, answered, failed, problem, problem_at FROM connection_hour
     WHERE credential_id = $credentialId AND hour > $after ORDER BY hour DESC`,
});

/** The health of a connection: its checks, the outcomes of its executions, and the resulting state. */
export async function connectionHealth(
  { id, status, label, bindings }: Pick<Connection, "id" | "status" | "label" | "bindings">,
  now: Date,
): Promise<ConnectionHealth> {
  const checks = await listChecks.all(pool, { credentialId: id });
  const hours = await listHours.all(pool, { credentialId: id, after: shownFrom(now) });
  const recent = hours.filter(({ hour }) => hour > recentFrom(now));
  return {
    account: { connectionId: id, label, names: [...new Set(bindings.map(({ provider }) => provider))] },
    state: stateOf({
      status,
      outcome: checks[0]?.outcome ?? null,
      answered: recent.reduce((sum, each) => sum + each.answered, 0),
      failed: recent.reduce((sum, each) => sum + each.failed, 0),
      isKnown: checks.length + hours.length > 0,
    }),
    checks: checks.map((check) => ({ ...check, at: check.at.toISOString() })),
    hours: hours.map(({ hour, problem_at, ...counts }) => ({
      ...counts,
      hour: hour.toISOString(),
      problemAt: problem_at?.toISOString() ?? null,
    })),
  };
}

const listStates = statement("connection.list.states", {
  params: { ids: texts, shownFrom: timestamptz, recentFrom: timestamptz },
  row: {
    id: present(text, "an id of the list, which holds no null"),
    outcome: maybe(connectionCheck.outcome),
    answered: int4,
    failed: int4,
    isKnown: bool,
  },
  sql: `SELECT c.id, (SELECT outcome FROM connection_check WHERE credential_id = c.id ORDER BY at DESC, id DESC LIMIT 1) AS outcome,
       coalesce(met.answered, 0)::int AS answered, coalesce(met.failed, 0)::int AS failed,
       met.hours > 0 OR EXISTS (SELECT FROM connection_check WHERE credential_id = c.id) AS "isKnown"
     FROM unnest($ids::text[]) AS c(id)
     CROSS JOIN LATERAL (SELECT count(*) AS hours, sum(answered) FILTER (WHERE hour > $recentFrom) AS answered,
       sum(failed) FILTER (WHERE hour > $recentFrom) AS failed FROM connection_hour WHERE credential_id = c.id AND hour > $shownFrom) met`,
});

/** The state of each of these connections, without details. */
export async function statesOf(
  credentials: readonly Pick<Credential, "credentialId" | "status">[],
  now: Date,
): Promise<Map<string, ConnectionState>> {
  const rows = await listStates.all(pool, {
    ids: credentials.map(({ credentialId }) => credentialId),
    shownFrom: shownFrom(now),
    recentFrom: recentFrom(now),
  });
  const met = new Map(rows.map(({ id, ...row }) => [id, row]));
  return new Map(
    credentials.map(({ credentialId, status }) => {
      const known = met.get(credentialId) ?? { outcome: null, answered: 0, failed: 0, isKnown: false };
      return [credentialId, stateOf({ status, ...known })];
    }),
  );
}

const shownFrom = (now: Date) => new Date(now.getTime() - SHOWN_DAYS * DAY_MS);
/** Hours that begin after this are the current one and the one before it. */
const recentFrom = (now: Date) => new Date(now.getTime() - 2 * HOUR_MS);

type Met = {
  status: Credential["status"];
  /** Outcome of the newest check; null if there is none. */
  outcome: CheckRow["outcome"] | null;
  answered: number;
  failed: number;
  isKnown: boolean;
};

function stateOf({ status, outcome, answered, failed, isKnown }: Met): ConnectionState {
  const isFailing = failed >= FAILURES_BEFORE && failed >= answered;
  const isWrong = status === "refused" || (outcome !== null && outcome !== "ready") || isFailing;
  return isWrong ? "degraded" : isKnown ? "healthy" : "idle";
}
