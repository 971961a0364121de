import { beforeAll, expect, test } from "vitest";
import { endpoints } from "@/server/operations";
import { pool } from "@/server/platform/db";
import { call, makeKey } from "@/testing/api";
import { explained, type Read, readsOf, wholeReadsOf } from "@/testing/blocks";
import { campaign } from "@/testing/campaign";
import { fill } from "@/testing/fill";
import { cookieOf } from "@/testing/sessions";
import type { Known } from "@/testing/upgrades/known";
import { openUpgraded } from "@/testing/upgrades/restore";

/* The cost of a page does not grow with the installation: each list is read at two sizes, and its blocks are compared. */

const SIZES = campaign.size({ small: [900, 3_600], full: [1_000, 30_000] }) as [number, number];
/** Blocks by which a page may grow besides: deeper indexes, a bound of entries that the small size does not fill. */
const ROOM = 120;
/** Blocks for each item that only the large installation has: its row, and what is looked up beside it. */
const PER_ITEM = 10;
/** No page reads more, however large the installation is. */
const MOST = 2_200;

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
const UNKNOWN_KEY = "key_00000000000000000000000000";

/**
 * Lists that are known to read a whole table. An index of the open holds of pins would have to be updated
 * whenever one of them ends.
 */
const STILL_READ = ["/v1/billing/holds"];
const isStillRead = (what: string) => STILL_READ.some((each) => what.includes(each));

/** Filters of the lists of jobs: some match many jobs, some match none, and one is a window of time. */
const JOB_FILTERS = [
  "",
  "status=succeeded",
  "status=failed",
  "status=queued",
  "capabilityKey=image.generate.v1",
  "outcome=reusable",
  `createdAfter=${daysAgo(201)}&createdBefore=${daysAgo(200)}`,
  "provider=openai",
  "model=none",
  `principalId=${UNKNOWN_KEY}`,
  "idempotencyKey=none",
  "minCostUsd=900",
  "tag=none",
];

type Case = { path: string; query: string; as?: "idle" | "rare" | "owner" };

/** The pages that are compared, by the path of their operation. */
function casesOf({ projectId, organizationId, ids }: Known): Record<string, Case[]> {
  const all = (path: string, queries: string[], as?: Case["as"]) =>
    queries.map((query) => ({ path, query, as }));
  const project = `projectId=${projectId}`;
  const jobs = `/v1/projects/${projectId}/jobs`;
  const log = `/v1/organizations/${organizationId}/audit-log`;
  return {
    "/v1/jobs": [...all("/v1/jobs", ["", "status=failed"], "idle"), ...all("/v1/jobs", JOB_FILTERS)],
    "/v1/projects/{project_id}/jobs": [
      ...all(jobs, [...JOB_FILTERS, "selected=true"]),
      ...all(jobs, ["", "provider=openai"], "rare"),
    ],
    "/v1/projects/{project_id}/references": all(`/v1/projects/${projectId}/references`, [""]),
    "/v1/jobs/{job_id}/events": all(`/v1/jobs/${ids.execution}/events`, ["", "type=none"]),
    "/v1/adapters": all("/v1/adapters", [
      project,
      `${project}&q=none`,
      `${project}&baseModelFamily=none`,
      `${project}&health=healthy`,
    ]),
    "/v1/adapter-aliases": all("/v1/adapter-aliases", [project]),
    "/v1/adapter-aliases/{alias_name}/versions": all(`/v1/adapter-aliases/${ids.alias}/versions`, [project]),
    "/v1/inference/pinned": all("/v1/inference/pinned", [
      project,
      `${project}&bulkId=pblk_00000000000000000000000000`,
      `${project}&bulkId=${ids.bulk}`,
    ]),
    "/v1/inference/pinned/bulk/{bulk_id}": all(`/v1/inference/pinned/bulk/${ids.bulk}`, [
      "",
      "status=canceled",
    ]),
    "/v1/capability-requests": all("/v1/capability-requests", [project, `${project}&status=declined`]),
    "/v1/deliveries": all("/v1/deliveries", [
      "",
      project,
      `${project}&state=pending`,
      `${project}&state=failed`,
      `${project}&state=succeeded`,
      `jobId=${ids.job}`,
      `endpointId=${ids.endpoint}`,
      "endpointId=whe_00000000000000000000000000",
    ]),
    "/v1/billing/holds": all("/v1/billing/holds", [
      project,
      "state=ambiguous",
      "state=open",
      "test=true",
      "test=false",
    ]),
    "/v1/organizations/{organization_id}/audit-log": all(
      log,
      [
        "",
        "action=job",
        "action=vault.none",
        "actor=nobody@capstan.test",
        "actor=usr_00000000000000000000000000",
        "subject=none",
        `from=${daysAgo(201).slice(0, 10)}&to=${daysAgo(200).slice(0, 10)}`,
      ],
      "owner",
    ),
    "/v1/billing/wallet/transactions": [
      ...all("/v1/billing/wallet/transactions", ["", "test=true", "test=false"]),
      ...all("/v1/billing/wallet/transactions", [`organizationId=${organizationId}`], "owner"),
    ],
  };
}

const known = { value: null as Known | null };
const world = () => known.value!; // beforeAll has set it
let headers: Record<NonNullable<Case["as"]> | "key", object>;
const filling = () => ({
  projectId: world().projectId,
  organizationId: world().organizationId,
  other: { projectId: world().otherProjectId, organizationId: world().otherOrganizationId },
  userId: world().ownerId,
  total: SIZES[1],
});

type Measured = { blocks: number; items: number; reads: Read[] };

async function measure(): Promise<Map<string, Measured>> {
  const measured = new Map<string, Measured>();
  for (const { path, query, as = "key" } of Object.values(casesOf(world())).flat()) {
    const target = query ? `${path}?${query}` : path;
    await call("GET", target, headers[as]); // fills the caches of the process
    const { result, reads } = await readsOf(() => call("GET", target, headers[as]));
    expect(result.status, `${target}: ${result.text}`).toBe(200);
    const blocks = reads.reduce((sum, read) => sum + read.blocks, 0);
    measured.set(`${as} ${target}`, { blocks, items: result.json.items?.length ?? 0, reads });
  }
  return measured;
}

let small: Map<string, Measured>;
let large: Map<string, Measured>;
beforeAll(async () => {
  known.value = await openUpgraded();
  const { projectId, ownerId } = world();
  await pool.query(
    "INSERT INTO environment (id, project_id, slug, display_name) VALUES ('env_rare', $1, 'rare', 'Rare') ON CONFLICT DO NOTHING",
    [projectId],
  );
  headers = {
    key: { key: await makeKey({ projectId }) },
    rare: { key: await makeKey({ projectId, environment: "rare" }) },
    idle: { key: await makeKey({ projectId }) },
    owner: { headers: { cookie: await cookieOf(ownerId) } },
  };
  await fill({ ...filling(), from: 1, to: SIZES[0] });
  small = await measure();
  await fill({ ...filling(), from: SIZES[0] + 1, to: SIZES[1] });
  large = await measure();
}, 300_000);

test("a page of each list, except the known ones, reads about as many blocks in a large installation as in a small one", () => {
  const grown = [...large].flatMap(([name, { blocks, items }]) => {
    const before = small.get(name) ?? { blocks: 0, items: 0 };
    const more = Math.max(0, items - before.items) * PER_ITEM;
    const most = Math.min(MOST, Math.max(1.5 * before.blocks, before.blocks + ROOM) + more);
    return blocks > most && !isStillRead(name) ? [`${name}: ${before.blocks} → ${blocks}`] : [];
  });
  expect(grown).toEqual([]);
});

test("no statement of a list, except the known ones, reads a big table or an index of one from end to end", async () => {
  const { rows } = await pool.query<{ name: string }>(
    "SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indpred IS NOT NULL",
  );
  const partial = new Set(rows.map(({ name }) => name));
  const found = [...large].flatMap(([name, { reads }]) =>
    reads.flatMap(({ plan }) => wholeReadsOf(plan, partial).map((what) => `${name}: ${what}`)),
  );
  expect(found.filter((what) => !isStillRead(what))).toEqual([]);
  expect(STILL_READ.filter((each) => !found.some((what) => what.includes(each)))).toEqual([]);
});

test("recounting a budget reads fewer blocks than half of the jobs table, and a new ceiling reads few", async () => {
  const { organizationId } = world();
  const now = new Date();
  await pool.query(
    `INSERT INTO budget (id, organization_id, scope, period, ceiling_micros, enforcement, created_by, created_at, updated_at)
     VALUES ('bud_of_day', $1, 'organization:' || $1, 'day', 9000000, 'prevent', 'test', $2, $2) ON CONFLICT DO NOTHING`,
    [organizationId, now],
  );
  const { rows } = await pool.query(
    "SELECT id FROM budget WHERE organization_id = $1 AND scope = 'organization:' || $1 AND period = 'day'",
    [organizationId],
  );
  const blocksOf = async (name: string) =>
    (await explained({ text: `SELECT ${name}($1, $2)`, values: [rows[0].id, now] })).blocks;
  await pool.query("SELECT capstan_recount_budget($1, $2)", [rows[0].id, now]);
  const all = (await pool.query("SELECT pg_relation_size('job') / 8192 AS blocks")).rows[0].blocks;
  expect(await blocksOf("capstan_recount_budget")).toBeLessThan(all / 2);
  expect(await blocksOf("capstan_apply_ceiling")).toBeLessThan(ROOM);
});

/** All items of a list, page after page, and how many pages were empty although another followed. */
async function walk(target: string, as: keyof typeof headers) {
  const items: Record<string, unknown>[] = [];
  let empty = 0;
  for (let cursor: string | undefined, first = true; first || cursor; first = false) {
    const { status, text, json } = await call(
      "GET",
      cursor ? `${target}&cursor=${cursor}` : target,
      headers[as],
    );
    expect(status, text).toBe(200);
    items.push(...json.items);
    cursor = json.nextCursor ?? undefined;
    if (cursor && json.items.length === 0) empty++;
  }
  return { items, empty };
}

const countOf = async (from: string, ...values: unknown[]) =>
  Number((await pool.query(`SELECT count(*) AS n FROM ${from}`, values)).rows[0].n);

test("lists whose pages stop at the bound have every match once, and continue after empty pages", async () => {
  const { projectId, organizationId } = world();
  const jobs = `/v1/projects/${projectId}/jobs?limit=100`;
  const inPlace = "job WHERE project_id = $1 AND environment = 'development' AND NOT is_blind";
  const log = `/v1/organizations/${organizationId}/audit-log?limit=200`;
  const lists: [target: string, as: keyof typeof headers, many: number][] = [
    [`${jobs}&minCostUsd=900`, "key", 0],
    [`${jobs}&model=none`, "key", 0],
    [`${jobs}&provider=sandbox`, "key", await countOf(`${inPlace} AND provider = 'sandbox'`, projectId)],
    [
      `${jobs}&provider=sandbox&status=failed`,
      "key",
      await countOf(`${inPlace} AND provider = 'sandbox' AND status = 'failed'`, projectId),
    ],
    [
      `${jobs}&outcome=reusable`,
      "key",
      await countOf(`${inPlace} AND status = 'succeeded' AND artifact_count > 0`, projectId),
    ],
    [`${log}&action=job.none&projectId=${projectId}`, "owner", 0],
    [
      `${log}&projectId=${projectId}`,
      "owner",
      await countOf("audit_entry WHERE organization_id = $1 AND project_id = $2", organizationId, projectId),
    ],
    [
      "/v1/billing/wallet/transactions?limit=100&test=true",
      "key",
      await countOf(
        "account_line WHERE organization_id = $1 AND account = ANY($3) AND is_test AND (project_id IS NULL OR project_id = $2)",
        organizationId,
        projectId,
        [`wallet:${organizationId}`, `allowance:${organizationId}`],
      ),
    ],
  ];
  for (const [target, as, many] of lists) {
    const { items, empty } = await walk(target, as);
    const ids = items.map((item) => item.jobId ?? item.entryId ?? item.id);
    expect([target, ids.length, new Set(ids).size]).toEqual([target, many, many]);
    if (many === 0) expect(empty, target).toBeGreaterThan(0);
  }
});

/** Parameters that name a place or a page; every other one is a filter. */
const PLACES = new Set(["cursor", "limit", "projectId", "organizationId", "environment"]);

test("each list of the API is measured, with each of its filters", () => {
  const cases = casesOf(world());
  const lists = endpoints.flatMap(({ method, path, query }) => {
    const names = Object.keys(query?.shape ?? {});
    return method === "GET" && names.includes("cursor")
      ? [{ path, filters: names.filter((name) => !PLACES.has(name)) }]
      : [];
  });
  expect(lists.map(({ path }) => path).sort()).toEqual(Object.keys(cases).sort());
  const missing = lists.flatMap(({ path, filters }) =>
    filters
      .filter((name) => !cases[path]!.some(({ query }) => new URLSearchParams(query).has(name)))
      .map((name) => `${path} ${name}`),
  );
  expect(missing).toEqual([]);
});
