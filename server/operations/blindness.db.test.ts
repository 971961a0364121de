/** @module-tag long */
import { afterAll, beforeAll, expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { env } from "@/server/platform/settings/env";
import { startVendor, type Vendor } from "@/server/providers/testing/vendor";
import { type Answers, walk } from "@/testing/ask-all";
import { compareAll, makeWorld, type World } from "@/testing/blind-world";
import { setSettings } from "@/testing/settings";

/*
 * Before judgement no page shows who made an entry, its cost, or its time. Every read is made by the comparisons' creator and
 * by a twin that has none: a value that the creator reads more often than the twin is a leak.
 */

/**
 * Names of providers and models to look for. The sandbox's texts and a download header contain the word "sandbox" as well, so
 * only its forms as a provider or a model count.
 */
const NAMES = [
  "quillfeather",
  "zebrafinch",
  "owletmoth",
  "openai-compatible",
  'sandbox[-/]|"sandbox"',
  "vermilion",
];
/**
 * Requests for totals, which are always exact and have one line per comparison. They may show figures and times, but
 * neither names nor entries.
 */
const BOOKS =
  /^\w+ \/v1\/(billing|budgets|connections|delivery-endpoints|deliveries|projects\/\{project_id\}\/budget)|^panel (usage\.(?!cost)|budgets|billing|webhooks|connections)/;

let vendor: Vendor;
const before = { ...env };
beforeAll(async () => {
  vendor = await startVendor();
  setSettings({ ALLOW_PRIVATE_ADDRESSES: true });
});
afterAll(async () => {
  setSettings(before);
  await vendor.stop();
});

/** Requests that show an entry once it is judged, which proves that the request before was the right one. */
const REVEALING = [
  "GET /v1/jobs",
  "GET /v1/projects/{project_id}/jobs",
  "GET /v1/jobs/{job_id}",
  "GET /v1/jobs/{job_id}/events",
  "GET /v1/jobs/{job_id}/request",
  "GET /v1/jobs/{job_id}/receipt",
  "GET /v1/comparisons/{comparison_id}",
  "GET /v1/billing/summary",
  "GET /v1/billing/usage-export",
  "GET /v1/billing/wallet/transactions",
  "panel jobs.get",
  "panel jobs.list",
  "panel usage.cost",
  "panel usage.days",
];

type Needle = { what: string; pattern: RegExp };

/** Values that reveal an entry: its maker, its cost, its time. Totals of comparisons are shown, so they are excluded. */
async function needlesOf({ comparisonIds }: World): Promise<Needle[]> {
  const { rows } = await pool.query<
    Record<string, number | Date | null> & { id: string; comparison_id: string; waits: boolean }
  >(
    `SELECT job.id, job.comparison_id, job.created_at, job.started_at, job.completed_at, job.estimated_micros, job.maximum_micros,
       job.actual_micros, hold.amount_micros, hold.settled_micros, hold.settled_micros - job.actual_micros AS fee, hold.resolved_at,
       attempt.started_at AS tried_at, attempt.submission_begun_at, attempt.answered_at, job.status = 'awaiting_approval' AS waits,
       (job.pricing->>'expectedUpstreamMicros')::bigint AS upstream_micros
     FROM job LEFT JOIN hold ON hold.execution_id = job.id LEFT JOIN attempt ON attempt.job_id = job.id
     WHERE job.comparison_id = ANY($1)`,
    [comparisonIds],
  );
  const figures = new Set<number>();
  const moments = new Set<number>();
  const created = new Set(rows.map((row) => (row.created_at as Date).getTime()));
  // A pending comparison shows the figures of its most expensive entry on each entry.
  const dearest = Math.max(
    0,
    ...rows.filter(({ waits }) => waits).map((row) => Number(row.estimated_micros)),
  );
  for (const row of rows)
    for (const value of Object.values(row)) {
      if (value instanceof Date) moments.add(value.getTime());
      if (typeof value === "number" && value > 0 && !(row.waits && row.estimated_micros === dearest))
        figures.add(value);
    }
  const events = await pool.query<{ at: Date }>(
    "SELECT event.created_at AS at FROM job_event event JOIN job ON job.id = event.job_id WHERE job.comparison_id = ANY($1)",
    [comparisonIds],
  );
  for (const { at } of events.rows) moments.add(at.getTime());
  for (const ms of created) moments.delete(ms);
  const sums = rows.reduce((made, row) => {
    for (const name of [
      "estimated_micros",
      "maximum_micros",
      "actual_micros",
      "settled_micros",
      "amount_micros",
      "fee",
    ])
      made.set(
        `${row.comparison_id} ${name}`,
        (made.get(`${row.comparison_id} ${name}`) ?? 0) + Number(row[name] ?? 0),
      );
    return made;
  }, new Map<string, number>());
  for (const sum of sums.values()) figures.delete(sum);
  const whole = (text: string) => new RegExp(`(?<![\\w.])${text.replace(/[.+]/g, "\\$&")}(?![\\w.])`, "g");
  return [
    ...rows.map(({ id }) => ({ what: `entry ${id}`, pattern: new RegExp(id, "g") })),
    ...NAMES.map((name) => ({ what: `name ${name}`, pattern: new RegExp(name, "g") })),
    ...[...figures].flatMap((micros) => [
      ...(micros >= 1_000 ? [{ what: `figure ${micros}`, pattern: whole(String(micros)) }] : []),
      { what: `figure ${micros / 1_000_000}`, pattern: whole(String(micros / 1_000_000)) },
    ]),
    ...[...moments].flatMap((ms) => [
      { what: `moment ${new Date(ms).toISOString()}`, pattern: whole(new Date(ms).toISOString()) },
      { what: `moment ${ms}`, pattern: whole(String(ms)) },
    ]),
  ];
}

const countIn = (texts: string[] | undefined, pattern: RegExp) =>
  (texts ?? []).reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0);

/** The values that the creator read more often than the twin, by request. */
function leaks(answers: Answers, twin: Answers, needles: Needle[]): string[] {
  const found: string[] = [];
  for (const [name, texts] of answers)
    for (const { what, pattern } of needles) {
      if (BOOKS.test(name) ? /^(figure|moment)/.test(what) : /^entry/.test(what)) continue;
      if (/deliver/.test(name) && what.startsWith("entry")) continue; // deliveries name their job
      const [here, there] = [countIn(texts, pattern), countIn(twin.get(name), pattern)];
      if (here > there) found.push(`${name}: ${what}, ${here - there} times`);
    }
  return found;
}

test("before judgement no answer, event, header, webhook or panel query reveals the maker, cost or time of an entry", {
  timeout: 600_000,
}, async () => {
  const world = await makeWorld(vendor);
  const twin = await makeWorld(vendor);
  await compareAll(vendor, world);
  const needles = await needlesOf(world);
  const twinAnswers = await walk(twin);
  const answers = await walk(world);
  expect(answers.size).toBeGreaterThan(80);
  const missed = leaks(answers, twinAnswers, needles);
  expect(missed).toEqual([]);
  expect(answers.split).toEqual([]);

  // A control: once judged, the same requests are answered in full.
  for (const id of world.comparisonIds)
    await pool.query("UPDATE job SET is_blind = false WHERE comparison_id = $1", [id]);
  const revealed = leaks(await walk(world), twinAnswers, needles);
  const seen = new Set(revealed.map((line) => line.split(": ")[1]?.split(" ")[0]));
  expect(seen).toEqual(new Set(["entry", "name", "figure", "moment"]));
  for (const name of NAMES)
    expect(
      revealed.some((line) => line.includes(`name ${name}`)),
      name,
    ).toBe(true);
  const places = new Set(revealed.map((line) => line.split(": ")[0]));
  for (const place of REVEALING) expect(places).toContain(place);
  await Promise.all([world.receiver.stop(), twin.receiver.stop()]);
});
