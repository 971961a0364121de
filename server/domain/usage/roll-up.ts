import type { PoolClient } from "pg";
import type { Ctx } from "@/server/domain/ctx";
import { usageCounted, usageDay } from "@/server/generated/schema";
import { inTransaction, pool } from "@/server/platform/db";
import { madeAt } from "@/server/platform/ids";
import { log } from "@/server/platform/log/log";
import { HOUR_MS } from "@/server/platform/time/units";
import {
  type Column,
  column,
  int8,
  maybe,
  type Of,
  omit,
  pick,
  present,
  text,
  texts,
  timestamptz,
} from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { CORRECTED_SINCE, COUNTS, countFrom, GROUP_COLUMNS, KIND_PREFIXES, UNJUDGED } from "./count";
import { type DayRange, dayAt, startOfDay } from "./days";

/** Maximum number of days per call; after a long pause the next call continues. */
const MOST_DAYS = 31;

type Pair = { project_id: string; organization_id: string; day: string };

/**
 * Counts ended days into `usage_day`, so a long summary need not read every execution. It counts the days
 * since the last call, and again days that had unfinished executions or charges that a person resolved
 * since. Returns the number of counted pairs of project and day.
 */
export async function rollUp(ctx: Ctx): Promise<{ counted: number }> {
  return inTransaction(async (client) => {
    const { rows: locked } = await client.query(
      "SELECT pg_try_advisory_xact_lock(hashtextextended('usage roll-up', 0)) AS mine",
    );
    if (!locked[0]?.mine) return { counted: 0 };
    const pairs = await openPairs(client);
    const known = new Set(pairs.map(({ project_id, day }) => `${project_id} ${day}`));
    for (const pair of await newPairs(client, ctx.now())) {
      if (!known.has(`${pair.project_id} ${pair.day}`)) pairs.push(pair);
    }
    if (await tryToCount(client, pairs, ctx.now())) return { counted: pairs.length };
    let counted = 0;
    for (const pair of pairs) if (await tryToCount(client, [pair], ctx.now())) counted++;
    return { counted };
  });
}

/** Calendar days as text. */
const dates: Column<string[]> = column("date[]");

const readLastDay = statement("usage_counted.read.last_day", {
  row: { last: maybe(text) },
  sql: `SELECT to_char(max(day), 'YYYY-MM-DD') AS last FROM usage_counted`,
});

const findFirst = statement("execution.find.first_after", {
  params: { prefixes: texts, from: text },
  row: { first_id: text },
  sql: `SELECT first.id AS first_id FROM unnest($prefixes::text[]) AS kind(prefix), LATERAL (
         SELECT id FROM execution WHERE id >= kind.prefix || $from AND id < kind.prefix || '~' ORDER BY id LIMIT 1) first
       ORDER BY right(first.id, 26) LIMIT 1`,
});

const listPairs = statement("execution.list.pairs", {
  params: { day: text, prefixes: texts, fromUlid: text, untilUlid: text },
  row: { project_id: text, organization_id: text, day: text },
  sql: `SELECT DISTINCT mine.project_id, mine.organization_id, $day AS day FROM unnest($prefixes::text[]) AS kind(prefix), LATERAL (
         SELECT project_id, organization_id FROM execution
         WHERE id >= kind.prefix || $fromUlid AND id < kind.prefix || $untilUlid OFFSET 0) mine`,
});

/**
 * Finds the days with executions after the last counted day. A day is ready one hour after its end, in case
 * an admission was slow.
 */
async function newPairs(client: PoolClient, now: Date): Promise<Pair[]> {
  const row = await readLastDay.first(client, {});
  const last = row?.last;
  const end = startOfDay(new Date(now.getTime() - HOUR_MS));
  const pairs: Pair[] = [];
  let from = last ? dayAt(Date.parse(last)).untilUlid : "";
  for (let days = 0; days < MOST_DAYS; days++) {
    const next = await findFirst.all(client, { prefixes: KIND_PREFIXES, from });
    const firstId = next[0]?.first_id;
    if (!firstId || madeAt(firstId) >= end) break;
    const { day, fromUlid, untilUlid } = dayAt(startOfDay(new Date(madeAt(firstId))));
    const found = await listPairs.all(client, { day, prefixes: KIND_PREFIXES, fromUlid, untilUlid });
    pairs.push(...found);
    from = untilUlid;
  }
  return pairs;
}

const listOpen = statement("usage_counted.list.open", {
  row: { ...pick(usageCounted, "project_id organization_id"), day: text },
  sql: `SELECT project_id, organization_id, to_char(day, 'YYYY-MM-DD') AS day FROM usage_counted WHERE NOT is_closed`,
});

const listResolved = statement("hold.list.resolved_since", {
  row: { project_id: text, organization_id: text, execution_id: text },
  sql: `SELECT project_id, organization_id, execution_id FROM hold WHERE resolved_by IS NOT NULL
       AND resolved_at >= (SELECT max(computed_at) FROM usage_counted) - interval '1 minute'`,
});

/** Finds counted days that are still open, and those on which a person has resolved a charge since. */
async function openPairs(client: PoolClient): Promise<Pair[]> {
  const rows = await listOpen.all(client, {});
  const corrected = await listResolved.all(client, {});
  const pairs = new Map(rows.map((pair) => [`${pair.project_id} ${pair.day}`, pair]));
  for (const { execution_id, ...whose } of corrected) {
    const { day } = dayAt(startOfDay(new Date(madeAt(execution_id))));
    pairs.set(`${whose.project_id} ${day}`, { ...whose, day });
  }
  return [...pairs.values()];
}

/**
 * Counts all of these days or none. A day that fails stays as it was and does not block others; summaries
 * read its executions directly.
 */
async function tryToCount(client: PoolClient, pairs: Pair[], now: Date): Promise<boolean> {
  await client.query("SAVEPOINT counting");
  try {
    await count(client, pairs, now);
    return true;
  } catch (cause) {
    await client.query("ROLLBACK TO SAVEPOINT counting");
    const [first] = pairs;
    if (pairs.length === 1 && first)
      log.error({ err: cause, projectId: first.project_id, day: first.day }, "a day could not be counted");
    return false;
  }
}

const deleteCounts = statement("usage_day.delete", {
  params: { projectIds: texts, days: dates },
  sql: `DELETE FROM usage_day USING unnest($projectIds::text[], $days::date[]) AS asked(project_id, day)
     WHERE usage_day.project_id = asked.project_id AND usage_day.day = asked.day`,
});

const insertCounts = statement("usage_day.insert", {
  params: { projectIds: texts, days: dates, fromUlids: texts, untilUlids: texts, now: timestamptz },
  sql: `WITH asked AS (SELECT * FROM unnest($projectIds::text[], $days::date[], $fromUlids::text[], $untilUlids::text[])
         AS x(project_id, day, from_ulid, until_ulid)),
       counts AS (${countFrom("asked")}), stored AS (
       INSERT INTO usage_day (${[...GROUP_COLUMNS, ...COUNTS].join(", ")})
       SELECT ${[...GROUP_COLUMNS, ...COUNTS].join(", ")} FROM counts
     )
     INSERT INTO usage_counted (organization_id, project_id, day, is_closed, computed_at)
     SELECT organization_id, project_id, day, bool_and(executions = succeeded + failed + canceled), $now
     FROM counts GROUP BY organization_id, project_id, day
     ON CONFLICT (project_id, day) DO UPDATE SET is_closed = excluded.is_closed, computed_at = excluded.computed_at`,
});

async function count(client: PoolClient, pairs: Pair[], now: Date): Promise<void> {
  if (pairs.length === 0) return;
  const days = pairs.map(({ day }) => dayAt(Date.parse(day)));
  const places = { projectIds: pairs.map((pair) => pair.project_id), days: days.map(({ day }) => day) };
  await deleteCounts.run(client, places);
  await insertCounts.run(client, {
    ...places,
    fromUlids: days.map(({ fromUlid }) => fromUlid),
    untilUlids: days.map(({ untilUlid }) => untilUlid),
    now,
  });
}

const COUNTED = "never null in a row of either kind";
/** A count is an integer in the table and a bigint in the union. */
const GROUP = {
  ...omit(usageDay, "day"),
  project_id: present(text, COUNTED),
  day: present(text, COUNTED),
  executions: int8,
  succeeded: int8,
  failed: int8,
  canceled: int8,
  unknown_costs: int8,
  charged_micros: present(int8, COUNTED),
  fee_micros: present(int8, COUNTED),
  [UNJUDGED]: int8,
};
export type GroupRow = Of<typeof GROUP>;

const listGroups = statement("usage_day.list.groups", {
  params: { projectIds: texts, days: dates, fromUlids: texts, untilUlids: texts },
  row: GROUP,
  sql: `WITH asked AS MATERIALIZED (
       SELECT asked.*, counted.is_closed IS TRUE AND NOT ${CORRECTED_SINCE} AS is_counted
       FROM (SELECT * FROM unnest($projectIds::text[]) AS project(project_id),
         unnest($days::date[], $fromUlids::text[], $untilUlids::text[]) AS x(day, from_ulid, until_ulid)) asked
       LEFT JOIN usage_counted counted USING (project_id, day)
     ), open AS MATERIALIZED (SELECT * FROM asked WHERE NOT is_counted)
     SELECT to_char(day, 'YYYY-MM-DD') AS day,
       ${[...GROUP_COLUMNS.filter((name) => name !== "day"), ...COUNTS, UNJUDGED].join(", ")} FROM (
       SELECT ${GROUP_COLUMNS.join(", ")}, ${COUNTS.join(", ")}, 0 AS ${UNJUDGED} FROM asked JOIN usage_day USING (project_id, day) WHERE is_counted
       UNION ALL
       SELECT ${GROUP_COLUMNS.join(", ")}, ${COUNTS.join(", ")}, ${UNJUDGED} FROM (${countFrom("open")}) live
     ) both_kinds ORDER BY day`,
});

/**
 * Returns the usage of these projects on these days, by group. Closed days come from their counts, all
 * others from the executions, so the result is always current.
 */
export async function usageByGroup(projectIds: string[], days: DayRange[]): Promise<GroupRow[]> {
  return listGroups.all(pool, {
    projectIds,
    days: days.map(({ day }) => day),
    fromUlids: days.map(({ fromUlid }) => fromUlid),
    untilUlids: days.map(({ untilUlid }) => untilUlid),
  });
}
