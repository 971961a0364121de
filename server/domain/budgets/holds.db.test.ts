import { expect, test } from "vitest";
import { ListJobs } from "@/server/contract/jobs";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pinnedHold } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import type { Shape } from "@/server/sql/column";
import { inlineStep, makeProjectAtNoon, rowsOf, type TestProject } from "@/testing/world";
import * as budgets from ".";
import { acts, operator, person, submit, TEXT } from "./callers.fixture";
import { RESERVATION, RESOLUTION } from "./hold-columns";

/** Creates a job with an unknown charge, and returns its ambiguous hold. */
async function lose(project: TestProject) {
  const { jobId } = await submit(project, { executionConstraints: { preferredModel: "sandbox-lost" } });
  await jobs.run(systemCtx("worker", project.clock.now), jobId, inlineStep(project.clock));
  const { hold } = await rowsOf(jobId);
  expect(hold.state).toBe("ambiguous");
  return { jobId, holdId: hold.id as string, heldMicros: hold.amount_micros as number };
}

/** Inserts a live hold on the operator's account, which a test project cannot create itself. */
async function liveHoldLike({ holdId }: { holdId: string }): Promise<string> {
  const id = newId("hold");
  await pool.query(
    `WITH made AS (
       INSERT INTO pinned_hold (id, organization_id, project_id, execution_id, principal_id, billing_mode, is_test, funding, amount_micros,
         state, created_at)
       SELECT $2, organization_id, project_id, $2, principal_id, 'managed', false, funding, amount_micros, 'ambiguous', created_at
       FROM hold WHERE id = $1 RETURNING *
     )
     UPDATE wallet SET held_micros = held_micros + made.amount_micros FROM made
     WHERE wallet.organization_id = made.organization_id AND NOT wallet.is_test`,
    [holdId, id],
  );
  return id;
}

const walletOf = async (project: TestProject) => {
  const { rows } = await pool.query(
    "SELECT balance_micros, held_micros FROM wallet WHERE organization_id = $1 AND is_test",
    [project.organizationId],
  );
  return rows[0] as { balance_micros: number; held_micros: number };
};
test("resolving an ambiguous hold as charged settles budget, wallet, ledger and job, and leaves the receipt unchanged", async () => {
  const project = await makeProjectAtNoon();
  const { budgetId } = await budgets.set(operator(project), {
    owner: { projectId: project.projectId },
    period: "month",
    ceilingMicros: 1e9,
    enforcement: "prevent",
  });
  const before = await walletOf(project);
  const { jobId, holdId, heldMicros } = await lose(project);
  const receipt = await jobs.receipt(project.ctx, jobId);
  const owner = person(project, "owner");
  expect((await budgets.listHolds(owner, { state: "ambiguous" })).items).toMatchObject([
    { holdId, executionId: jobId, capabilityKey: TEXT, principalId: project.ctx.principal.id },
  ]);
  const chargedMicros = heldMicros - 3;
  const done = await budgets.resolveHold(owner, holdId, { chargedMicros, note: "On the invoice." });
  expect(done).toMatchObject({
    state: "settled",
    settledMicros: chargedMicros,
    resolvedBy: owner.principal.id,
    note: "On the invoice.",
  });
  expect((await budgets.get(owner, budgetId)).testSpend).toMatchObject({
    settledMicros: chargedMicros,
    heldMicros: 0,
  });
  expect(await walletOf(project)).toEqual({
    balance_micros: before.balance_micros - chargedMicros,
    held_micros: 0,
  });
  const { ledger } = await rowsOf(jobId);
  const byKind = Object.fromEntries(
    (ledger as unknown as { kind: string; account: string; amount_micros: number }[]).map((entry) => [
      entry.kind,
      [entry.account, entry.amount_micros],
    ]),
  );
  const fee = byKind.fee?.[1] as number;
  expect(byKind).toEqual({
    charge: [`wallet:${project.organizationId}`, -chargedMicros],
    upstream: ["provider:sandbox", chargedMicros - fee],
    fee: ["service_fee", fee],
  });
  // The fee is 600 bps of the provider's part.
  expect(Math.abs(fee - (chargedMicros - fee) * 0.06)).toBeLessThanOrEqual(1);
  const found = { outcome: "charged", chargedMicros, charged: chargedMicros / 1e6 };
  const costs = { actualCost: null, providerCostMicros: chargedMicros - fee };
  expect(await jobs.get(project.ctx, jobId)).toMatchObject({ chargeResolution: found, ...costs });
  expect((await jobs.mine(project.ctx, ListJobs.parse({}))).items).toMatchObject([costs]);
  expect(await jobs.receipt(project.ctx, jobId)).toEqual(receipt);
  expect((await budgets.listHolds(owner, {})).items).toEqual([]);
  expect(await acts(project)).toContain("hold.resolved");
});

test("a hold resolved as not charged is released, the operator pays what exceeds a hold, and only one of many resolutions succeeds", async () => {
  const project = await makeProjectAtNoon();
  const owner = person(project, "owner");
  const before = await walletOf(project);
  const released = await lose(project);
  const answers = await Promise.allSettled(
    Array.from({ length: 6 }, () =>
      budgets.resolveHold(owner, released.holdId, { notCharged: true, note: "Not on the invoice." }),
    ),
  );
  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const answer of answers)
    if (answer.status === "rejected")
      expect(answer.reason).toMatchObject({ code: "HoldNotAmbiguous", details: { state: "released" } });
  expect(await walletOf(project)).toEqual(before);
  expect((await jobs.get(project.ctx, released.jobId)).chargeResolution).toMatchObject({
    outcome: "not_charged",
    chargedMicros: 0,
  });
  const over = await lose(project);
  await budgets.resolveHold(owner, over.holdId, { chargedMicros: 2 * over.heldMicros, note: "More." });
  const { ledger } = await rowsOf(over.jobId);
  expect(ledger).toContainEqual(expect.objectContaining({ kind: "excess", account: "operator" }));
  expect((await rowsOf(over.jobId)).hold.settled_micros).toBe(over.heldMicros);
  expect(ledger.reduce((sum, { amount_micros }) => sum + amount_micros, 0)).toBe(0);
});

test("owners and operators resolve a hold, but not admins, strangers or keys, and not while its job runs", async () => {
  const project = await makeProjectAtNoon();
  const { holdId } = await lose(project);
  const resolve = (ctx: Ctx, id = holdId) =>
    budgets.resolveHold(ctx, id, { notCharged: true, note: "Looked." });
  await expect(resolve(person(project, "admin"))).rejects.toMatchObject({ code: "AuthorizationFailed" });
  for (const ctx of [person(project, null), project.ctx])
    await expect(resolve(ctx)).rejects.toMatchObject({ code: "NotFound" });
  await expect(resolve(operator(project), newId("hold"))).rejects.toMatchObject({ code: "NotFound" });
  const { jobId } = await submit(project);
  const { hold } = await rowsOf(jobId);
  await expect(resolve(operator(project), hold.id)).rejects.toMatchObject({
    code: "HoldNotAmbiguous",
    details: { state: "open" },
  });
  expect((await resolve(operator(project))).state).toBe("released");
});

test("only an operator resolves a live hold on the operator's account below its amount", async () => {
  const project = await makeProjectAtNoon();
  const lost = await lose(project);
  const { heldMicros } = lost;
  const owner = person(project, "owner");
  const [first, second] = [await liveHoldLike(lost), await liveHoldLike(lost)];
  for (const found of [{ notCharged: true as const }, { chargedMicros: heldMicros - 1 }])
    await expect(budgets.resolveHold(owner, first, { ...found, note: "Looked." })).rejects.toMatchObject({
      code: "AuthorizationFailed",
    });
  expect(
    await budgets.resolveHold(owner, first, { chargedMicros: heldMicros, note: "On the invoice." }),
  ).toMatchObject({ state: "settled", settledMicros: heldMicros, resolution: "person" });
  expect(
    await budgets.resolveHold(operator(project), second, { notCharged: true, note: "Not on ours." }),
  ).toMatchObject({ state: "released", resolution: "person" });
});

test("owners of the named organization resolve many holds at once, except live managed ones below their amounts", async () => {
  const project = await makeProjectAtNoon();
  const other = await makeProjectAtNoon();
  await lose(project);
  const mine = await lose(project);
  await lose(other);
  const resolve = (ctx: Ctx, more: object = {}) =>
    budgets.resolveHolds(ctx, {
      filter: { organizationId: project.organizationId, ...more },
      outcome: "not_charged",
      note: "Not on the invoice.",
      dryRun: false,
    });
  const owner = person(project, "owner");
  await expect(resolve(person(project, "admin"))).rejects.toMatchObject({ code: "AuthorizationFailed" });
  await expect(resolve(owner, { organizationId: undefined })).rejects.toMatchObject({
    code: "AuthorizationFailed",
  });
  for (const ctx of [person(project, null), project.ctx])
    await expect(resolve(ctx)).rejects.toMatchObject({ code: "NotFound" });
  await liveHoldLike(mine);
  expect(await resolve(owner)).toMatchObject({
    matched: 3,
    resolved: 2,
    refused: 1,
    reservedMicros: 2 * mine.heldMicros,
    chargedMicros: 0,
  });
  expect((await acts(project)).filter((action) => action === "hold.resolved")).toHaveLength(2);
  expect((await budgets.listHolds(person(other, "owner"), { state: "ambiguous" })).items).toHaveLength(1);
  expect(await resolve(operator(project))).toMatchObject({ matched: 1, resolved: 1, refused: 0 });
});

test("the migrated database has the members of the types and the columns of the hold view, in their order", async () => {
  const { rows } = await pool.query<{ name: string; columns: string[] }>(
    `SELECT relname AS name, array_agg(attname || ' ' || coalesce(base.typname, own.typname) ORDER BY attnum) AS columns
     FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid JOIN pg_type own ON own.oid = atttypid
       LEFT JOIN pg_type base ON base.oid = own.typbasetype
     WHERE attrelid IN ('reservation'::regclass, 'resolution'::regclass, 'hold'::regclass) AND NOT attisdropped
     GROUP BY relname ORDER BY relname`,
  );
  const described = (of: Shape) =>
    Object.entries(of).map(([name, { type }]) => `${name} ${type.replace(/^(.*)\[\]$/, "_$1")}`);
  expect(rows).toEqual([
    { name: "hold", columns: described(pinnedHold) },
    { name: "reservation", columns: described(RESERVATION.members) },
    { name: "resolution", columns: described(RESOLUTION.members) },
  ]);
});

test("an unconfirmed live charge is listed, however many newer test holds exist", async () => {
  const project = await makeProjectAtNoon();
  const live = await liveHoldLike(await lose(project));
  for (let made = 0; made < 2; made++) await submit(project);
  const listed = async (query: object) =>
    (await budgets.listHolds(project.ctx, query)).items.map(({ holdId, isTest }) => [holdId, isTest]);
  expect(await listed({ test: false, limit: 1 })).toEqual([[live, false]]);
  expect((await listed({ test: true })).map(([, isTest]) => isTest)).toEqual([true, true, true]);
  expect(await listed({})).toHaveLength(4);
});

test("callers who may read billing list holds page by page, and a key sees those of its project", async () => {
  const [project, other] = [await makeProjectAtNoon(), await makeProjectAtNoon()];
  for (let made = 0; made < 3; made++) await submit(project);
  await submit(other);
  const first = await budgets.listHolds(project.ctx, { limit: 2 });
  const second = await budgets.listHolds(project.ctx, { limit: 2, cursor: first.nextCursor });
  expect(first.items).toHaveLength(2);
  expect(second).toEqual({
    items: [expect.objectContaining({ state: "open", projectId: project.projectId })],
  });
  expect((await budgets.listHolds(person(other, "viewer"), {})).items).toHaveLength(1);
  const foreign = { projectId: other.projectId };
  await expect(budgets.listHolds(project.ctx, foreign)).rejects.toMatchObject({
    code: "AuthorizationFailed",
  });
  await expect(
    budgets.listHolds(person(project, "owner"), { organizationId: other.organizationId }),
  ).rejects.toMatchObject({ code: "NotFound" });
});
