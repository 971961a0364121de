import { pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { HOUR_MS } from "@/server/platform/time/units";
import { ProviderFault } from "@/server/providers/define";
import { column, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

const WRITE_AFTER_MS = 5_000;

type Outcome = {
  credentialId: string;
  hour: Date;
  answered: number;
  failed: number;
  problem: string | null;
  at: Date;
};

const outcomes = new Map<string, Outcome>();
let timer: NodeJS.Timeout | undefined;

/**
 * Records the outcome of an execution on a connection: an answer, or a failure of the vendor or the account.
 * It is written with others after a few seconds, so that no execution waits. A refusal of the request itself
 * counts as an answer.
 */
export function recordConnectionOutcome(credentialId: string, cause: unknown, at: Date): void {
  const problem = problemOf(cause);
  const hour = new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS);
  const name = `${credentialId} ${hour.getTime()}`;
  const known = outcomes.get(name) ?? { credentialId, hour, answered: 0, failed: 0, problem: null, at };
  outcomes.set(name, {
    ...known,
    answered: known.answered + (problem === null ? 1 : 0),
    failed: known.failed + (problem === null ? 0 : 1),
    ...(problem === null ? {} : { problem, at }),
  });
  timer ??= setTimeout(
    () =>
      writeConnectionOutcomes().catch((error) =>
        log.warn({ err: error }, "the outcomes of connections could not be written"),
      ),
    WRITE_AFTER_MS,
  ).unref();
}

/** Refusals that concern the account: its key, its payment, its rights. */
const OF_THE_ACCOUNT: Record<number, string> = {
  401: "The provider rejected the key (401).",
  402: "The provider requires payment (402).",
  403: "The provider rejected the account (403).",
};

/**
 * Describes a failure in our own words, without any part of the request or the answer. Null if the provider
 * answered, or if the failure is not the provider's.
 */
function problemOf(cause: unknown): string | null {
  if (!(cause instanceof ProviderFault)) return null;
  const { status } = cause.details;
  const said = status === undefined ? "" : ` (${status})`;
  switch (cause.kind) {
    case "refused":
      return OF_THE_ACCOUNT[status ?? 0] ?? null;
    case "capacity":
      return `The provider had no capacity for the account${said}.`;
    case "unreachable":
      return `The provider could not be reached${said}.`;
    case "failed":
      return `The provider failed${said}.`;
    case "lost":
      return "The connection was lost before an answer arrived.";
  }
}

const addOutcomes = statement("connection_hour.add", {
  params: {
    ids: texts,
    hours: column<Date[]>("timestamptz[]"),
    answered: column<number[]>("int4[]"),
    failed: column<number[]>("int4[]"),
    problems: column<(string | null)[]>("text[]"),
    times: column<Date[]>("timestamptz[]"),
  },
  // Rows are locked in one order, and only those of connections that still exist.
  sql: `WITH noted AS MATERIALIZED (
       SELECT noted.* FROM unnest($ids::text[], $hours::timestamptz[], $answered::int[], $failed::int[], $problems::text[], $times::timestamptz[])
         AS noted (id, hour, answered, failed, problem, at)
       JOIN credential USING (id) ORDER BY id, hour FOR KEY SHARE OF credential
     )
     INSERT INTO connection_hour AS known (credential_id, hour, answered, failed, problem, problem_at)
     SELECT id, hour, answered, failed, problem, CASE WHEN problem IS NOT NULL THEN at END FROM noted
     ON CONFLICT (credential_id, hour) DO UPDATE SET answered = known.answered + excluded.answered,
       failed = known.failed + excluded.failed,
       problem = CASE WHEN known.problem_at > excluded.problem_at THEN known.problem ELSE coalesce(excluded.problem, known.problem) END,
       problem_at = greatest(known.problem_at, excluded.problem_at)`,
});

/** Writes the recorded outcomes now. */
export async function writeConnectionOutcomes(): Promise<void> {
  clearTimeout(timer);
  timer = undefined;
  if (outcomes.size === 0) return;
  const noted = [...outcomes.values()];
  outcomes.clear();
  await addOutcomes.run(pool, {
    ids: noted.map(({ credentialId }) => credentialId),
    hours: noted.map(({ hour }) => hour),
    answered: noted.map(({ answered }) => answered),
    failed: noted.map(({ failed }) => failed),
    problems: noted.map(({ problem }) => problem),
    times: noted.map(({ at }) => at),
  });
}
