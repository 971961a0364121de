/** @module-tag long */
import { beforeAll, expect, test } from "vitest";
import { capabilities } from "@/server/capabilities/registry.gen";
import { checkLedger } from "@/server/domain/billing";
import { publicKeys } from "@/server/domain/signing";
import * as usage from "@/server/domain/usage";
import { pool } from "@/server/platform/db";
import { type KeySet, verifyDocument } from "@/server/verify";
import { personOf } from "@/testing/sessions";
import { setSettings } from "@/testing/settings";
import { ctxOf, system } from "@/testing/tenants";
import { type Demo, makeDemo } from "./organization";
import { DEMO_KINDS } from "./work";

const COUNT = DEMO_KINDS + 60;
let demo: Demo;
beforeAll(async () => {
  demo = await makeDemo(COUNT, () => {});
}, 300_000);

async function one<T>(sql: string, ...values: unknown[]): Promise<T> {
  const { rows } = await pool.query(sql, values);
  return rows[0];
}

test("the demo has as many jobs as requested, of every capability and in every state", async () => {
  const { rows } = await pool.query<{ status: string; capability_key: string }>(
    "SELECT status, capability_key FROM job WHERE project_id = $1",
    [demo.projectId],
  );
  expect(rows).toHaveLength(COUNT);
  expect(new Set(rows.map((row) => row.capability_key))).toEqual(new Set(capabilities.map(({ key }) => key)));
  // No worker runs here, so jobs that would be running stay queued.
  expect(new Set(rows.map(({ status }) => status))).toEqual(
    new Set(["succeeded", "failed", "canceled", "awaiting_approval", "needs_attention", "queued"]),
  );
});

test("all figures of the demo's money are the sums of its rows, and none of it is live", async () => {
  const ledger = await checkLedger(system, demo.organizationId);
  expect(ledger.differences).toEqual([]);
  expect(ledger.sums).toEqual([{ currency: "USD", isTest: true, sumMicros: 0 }]);
  const owner = await one<{ id: string }>(
    "SELECT user_id AS id FROM membership WHERE organization_id = $1 AND role = 'owner'",
    demo.organizationId,
  );
  const counted = await usage.summary(ctxOf(await personOf(owner.id)), {
    projectId: demo.projectId,
    days: 31,
  });
  const rows = await one<{ executions: number; charged: number }>(
    `SELECT (SELECT count(*) FROM execution WHERE project_id = $1)::int AS executions,
       (SELECT coalesce(sum(settled_micros), 0) FROM hold WHERE project_id = $1 AND state = 'settled'
         AND billing_mode = 'managed')::int AS charged`,
    demo.projectId,
  );
  // Work that runs here, such as arithmetic, costs nothing and counts as live.
  const { live, test: sandbox } = counted;
  expect(live.totals).toMatchObject({ chargedMicros: 0, providerCostMicros: 0 });
  expect(live.totals.executions + sandbox.totals.executions).toBe(rows.executions);
  expect(sandbox.totals.chargedMicros).toBe(rows.charged);
});

test("the receipt of a copy verifies, and names its own job", async () => {
  const { rows } = await pool.query<{
    id: string;
    body: string;
    hash: string;
    key_id: string;
    signature: string;
    job_id: string;
  }>(
    `SELECT receipt.* FROM receipt JOIN job ON job.id = receipt.job_id
     WHERE job.project_id = $1 AND job.idempotency_key ~ '-[0-9]+$' AND job.status = 'succeeded' ORDER BY job.id LIMIT 5`,
    [demo.projectId],
  );
  expect(rows).toHaveLength(5);
  const keys = (await publicKeys()) as KeySet;
  for (const { body, hash, key_id, signature, job_id } of rows) {
    const receipt = JSON.parse(body);
    expect(receipt.jobId).toBe(job_id);
    const shown = {
      ...receipt,
      provenance: { ...receipt.provenance, receiptHash: hash },
      signature: { alg: "EdDSA", keyId: key_id, value: signature },
    };
    expect((await verifyDocument(shown, keys)).verified).toBe(true);
    const output = await one<{ sha256: string } | undefined>(
      "SELECT sha256 FROM payload WHERE job_id = $1 AND kind = 'output'",
      job_id,
    );
    expect(receipt.outputHash).toBe(output?.sha256 ?? null);
  }
});

test("the demo has a budget over 80 % and one that is exceeded, failed and successful deliveries, and a thing for each of 20 pages", async () => {
  const { rows: budgets } = await pool.query<{ part: number }>(
    `SELECT (settled_micros + held_micros)::float / ceiling_micros AS part FROM budget
     JOIN budget_window ON budget_id = budget.id WHERE organization_id = $1 AND is_test
     AND period_start = capstan_period_start(period, now())`,
    [demo.organizationId],
  );
  expect(budgets.some(({ part }) => part > 0.8 && part < 1)).toBe(true);
  expect(budgets.some(({ part }) => part > 1)).toBe(true);
  const { rows: deliveries } = await pool.query(
    "SELECT DISTINCT state FROM delivery WHERE project_id = $1 ORDER BY 1",
    [demo.projectId],
  );
  expect(deliveries).toEqual([{ state: "failed" }, { state: "succeeded" }]);
  expect(Object.keys(demo.places)).toHaveLength(20);
});

test("a second demo is refused, and so is one in production", async () => {
  await expect(makeDemo(COUNT, () => {})).rejects.toThrow(/already/);
  setSettings({ CAPSTAN_ENV: "production" });
  await expect(makeDemo(COUNT, () => {}, "Another demo")).rejects.toThrow(/not made in production/);
});
