import fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { DAY_MS, HOUR_MS } from "@/server/platform/time/units";

// The provider reads this when it loads.
vi.hoisted(() => {
  process.env.OPENAI_COMPATIBLE_MODELS = "priced:1000:2000";
});

import type { Charge } from "@/server/contract/charge";
import { SCOPES } from "@/server/contract/enums";
import type { UsageFigures } from "@/server/contract/usage";
import * as billing from "@/server/domain/billing";
import * as budgets from "@/server/domain/budgets";
import { createCredential } from "@/server/domain/connections";
import { type Ctx, systemCtx } from "@/server/domain/ctx";
import { ending, unseen } from "@/server/domain/executions";
import * as jobs from "@/server/domain/jobs";
import { settleLateAnswer } from "@/server/domain/jobs/ending/after-end";
import { compareDrawings } from "@/server/domain/jobs/reading/blind.fixture";
import { lastAttemptOf } from "@/server/domain/jobs/rows";
import { readJob } from "@/server/domain/jobs/running/work";
import * as payments from "@/server/domain/payments";
import * as pins from "@/server/domain/pins";
import * as requests from "@/server/domain/requests";
import { pool } from "@/server/platform/db";
import { env } from "@/server/platform/settings/env";
import { type Script, startVendor, type Vendor } from "@/server/providers/testing/vendor";
import { runBulk, submitBulk } from "@/testing/bulks";
import { campaign } from "@/testing/campaign";
import { makePayable } from "@/testing/payable";
import { setSettings } from "@/testing/settings";
import { inlineStep, makeProject, type TestProject } from "@/testing/world";
import * as usage from ".";
import { exported, pin, resolve, total } from "./usage.fixture";

/* After any history of executions, every page of money agrees with the ledger to the micro. */

const TEXT = "text.general.fast.v1";
const messages = [{ role: "user", content: "How deep is the sea? Say it in 40 sentences, please." }];
/** Live work is prepaid, so its maximum is kept small: four tokens at 2,000 dollars a million. */
const LIVE_INPUT = { messages: [{ role: "user", content: "Hi" }], maxOutputTokens: 4 };

let vendor: Vendor;
const before = { ...env };
beforeAll(async () => {
  vendor = await startVendor();
  setSettings({ OPENAI_COMPATIBLE_BASE_URL: vendor.url, ALLOW_PRIVATE_ADDRESSES: true });
});
afterAll(async () => {
  setSettings(before);
  await vendor.stop();
});

const said = (usage: object | undefined, content = "Hi"): Script => ({
  json: { id: "c-1", choices: [{ message: { content } }], usage },
});
/** The answer of a live vendor, and the sandbox model that behaves alike with test money. */
const ANSWERS: Record<string, { live: Script; sandbox: string }> = {
  done: { live: said({ prompt_tokens: 2, completion_tokens: 3 }), sandbox: "sandbox-1" },
  // The usage is far above the estimate, so its price exceeds the hold.
  dear: { live: said({ prompt_tokens: 900, completion_tokens: 900 }), sandbox: "sandbox-2" },
  unpriced: { live: said(undefined), sandbox: "sandbox-flexquiet" },
  empty: { live: said({ prompt_tokens: 2, completion_tokens: 3 }, ""), sandbox: "sandbox-empty" },
  refused: { live: { status: 400, json: { error: { code: "invalid_prompt" } } }, sandbox: "sandbox-refuse" },
  failed: { live: { status: 500, json: {} }, sandbox: "sandbox-fail" },
  lost: { live: "close", sandbox: "sandbox-lost" },
};
type Answer = keyof typeof ANSWERS;

const DOORS = ["job", "invoke", "stream", "pin", "bulk"] as const;
/** Cost in an answer that arrives after the end of its execution, as a multiple of the hold. */
const LATE = { "late answer": 0.4, "late answer above the hold": 3 } as const;
const AFTER = [
  "leave",
  "cancel",
  "late answer",
  "late answer above the hold",
  "write off",
  0,
  777,
  90_000_000,
] as const;
type Act = {
  door: (typeof DOORS)[number];
  money: "test" | "live";
  isByok: boolean;
  answer: Answer;
  /**
   * Leaves the execution as it is, cancels it before the run, or ends an ambiguous hold: by a person's total
   * (a number), a late answer or a write-off.
   */
  after: (typeof AFTER)[number];
};
type History = {
  acts: Act[];
  funding: "wallet" | "allowance";
  /** The project uses its own account for live work instead of the operator's. */
  hasOwn: boolean;
  hasCommission: boolean;
  comparison: "none" | "judged" | "unjudged";
};

const act: fc.Arbitrary<Act> = fc.record({
  door: fc.constantFrom(...DOORS),
  money: fc.constantFrom("test" as const, "live" as const),
  isByok: fc.boolean(),
  answer: fc.constantFrom(...(Object.keys(ANSWERS) as Answer[])),
  after: fc.constantFrom(...AFTER),
});
const history: fc.Arbitrary<History> = fc.record({
  acts: fc.array(act, { minLength: 1, maxLength: 5 }),
  funding: fc.constantFrom("wallet" as const, "allowance" as const),
  hasOwn: fc.boolean(),
  hasCommission: fc.boolean(),
  comparison: fc.constantFrom("none" as const, "judged" as const, "unjudged" as const),
});
/** Streams, pins and bulks run on the sandbox here, the last two as bring-your-own work. */
const isLive = ({ door, money }: Act) => money === "live" && (door === "job" || door === "invoke");
const kindsOf = ({ acts, hasOwn, ...rest }: History) => [
  ...Object.entries(rest).map(String),
  ...acts.flatMap((each) => {
    const account = isLive(each) ? `live ${hasOwn}` : `test ${each.isByok}`;
    return [
      `${each.door} ${account}`,
      `${each.answer} ${isLive(each)}`,
      ...(each.answer === "lost" ? [`lost ${each.after}`] : []),
    ];
  }),
];

async function makeWorld({
  funding,
  hasOwn,
  hasCommission,
}: Omit<History, "acts" | "comparison">): Promise<TestProject> {
  const payable = hasCommission ? await makePayable() : null;
  const world = payable ?? (await makeProject());
  const { principal } = world.ctx;
  if (principal.kind !== "service_principal") throw new Error("a project's context is a key's");
  const ctx: Ctx = { ...world.ctx, principal: { ...principal, scopes: new Set(SCOPES) } };
  await pool.query(
    `UPDATE wallet SET balance_micros = $2, allowance_micros = $3 WHERE organization_id = $1`,
    [world.organizationId, 1_000_000_000, funding === "allowance" ? 1_000_000_000 : 0],
  );
  if (payable) {
    const { member, quoteId } = payable;
    const { paymentId } = await requests.startCommissionCheckout(member, quoteId);
    await payments.decideTestPayment(member, paymentId, "pay");
  }
  if (hasOwn) {
    vendor.answer({ json: { data: [{ id: "priced" }] } });
    const account = { provider: "openai-compatible", endpointUrl: vendor.url, models: "priced:1000:2000" };
    await createCredential(
      systemCtx("test"),
      world.organizationId,
      { ...account, secret: "sk-own", label: "own" },
      { places: [{ projectId: world.projectId, environment: "development" }] },
    );
  }
  await budgets.set(systemCtx("test", world.clock.now), {
    owner: { projectId: world.projectId },
    period: "total",
    enforcement: "warn",
    ceilingMicros: 1,
  });
  return { ...world, ctx };
}

/** Performs the act and returns the ids of its executions. */
async function perform(world: TestProject, one: Act): Promise<string[]> {
  const { ctx, clock } = world;
  const { live, sandbox } = ANSWERS[one.answer]!; // the answer is a key of this record
  if (one.door === "pin") return [await pin(world, sandbox)];
  if (one.door === "bulk") {
    const bulkId = await submitBulk(world, ["one", "two"], {
      pin: { provider: "sandbox", model: sandbox, api: "responses" },
    });
    if (one.after === "cancel") await pins.cancelBulk(ctx, bulkId);
    else await runBulk(world, bulkId);
    const { rows } = await pool.query<{ id: string }>("SELECT id FROM pinned_execution WHERE bulk_id = $1", [
      bulkId,
    ]);
    const { items } = await pins.getBulk(ctx, bulkId);
    for (const { charge } of items) expect(charge).toMatchObject({ state: "byok", chargedMicros: 0 });
    return rows.map(({ id }) => id);
  }
  vendor.answer(live);
  const envelope = isLive(one)
    ? { input: LIVE_INPUT, pin: { target: "openai-compatible/priced" } }
    : {
        input: { messages },
        ...(one.isByok ? { billingMode: "byok" } : {}),
        execution: { executionConstraints: { preferredModel: sandbox } },
      };
  if (one.door === "invoke") {
    const outcome = await jobs.invoke(ctx, TEXT, envelope as never).then(
      ({ executionId, charge }) => ({ executionId, charge }),
      (fault: { details: { executionId: string } }) => ({ ...fault.details, charge: null }),
    );
    if (outcome.charge) expect(outcome.charge).toEqual((await jobs.get(ctx, outcome.executionId)).charge);
    return [outcome.executionId];
  }
  if (one.door === "stream") {
    const streamed = await jobs.invoke(ctx, TEXT, { ...envelope, executionMode: "Stream" } as never);
    expect(streamed.charge.state).toBe(one.isByok ? "byok" : "reserved");
    for await (const { hasEnded } of await jobs.followFrames(ctx, streamed.executionId, undefined)) {
      if (hasEnded) break;
    }
    return [streamed.executionId];
  }
  const { jobId, charge } = await jobs.submit(ctx, TEXT, envelope as never);
  expect(charge).toEqual((await jobs.get(ctx, jobId)).charge);
  if (one.after === "cancel") await jobs.cancel(ctx, jobId);
  else await jobs.run(systemCtx("worker", clock.now), jobId, inlineStep(clock));
  return [jobId];
}

/** Ends an ambiguous hold. Late answers and write-offs end only those of managed jobs. */
async function endLate(world: TestProject, hold: budgets.ExecutionHold, after: Act["after"]): Promise<void> {
  const { clock, projectId } = world;
  const { execution_id: id, amount_micros: heldMicros } = hold;
  if (typeof after === "number") return resolve(world, id, after);
  if (after === "write off") {
    clock.advance(2 * HOUR_MS);
    const limits = { afterHours: 1, limitMicros: 1_000_000_000 };
    await jobs.writeOff(systemCtx("worker", clock.now), { ...limits, projectId });
  } else if (after in LATE) {
    const job = await readJob(id);
    const attempt = job && (await lastAttemptOf(job));
    if (!attempt) return;
    const costMicros = Math.round(heldMicros * LATE[after as keyof typeof LATE]); // the condition above found this key
    const late = ending("result", { ...unseen("attempted"), costMicros });
    await settleLateAnswer(job, attempt, late, clock.now());
  } else return;
  const { rows } = await pool.query("SELECT state FROM hold WHERE id = $1", [hold.id]);
  if (hold.billing_mode === "managed") expect(["settled", "released"]).toContain(rows[0].state);
  else expect(rows[0].state).toBe("ambiguous");
}

/** Ledger amounts of one execution. */
type Booked = { id: string; taken: number; fee: number; own: number; is_open: boolean; is_test: boolean };
async function booksOf({ projectId }: TestProject): Promise<Map<string, Booked>> {
  const { rows } = await pool.query<Booked>(
    `SELECT execution.id, execution.is_test, coalesce(hold.state IN ('open', 'ambiguous'), false) AS is_open,
       coalesce(-sum(ledger_entry.amount_micros) FILTER (WHERE account ~ '^(wallet|allowance):'), 0)::bigint AS taken,
       coalesce(-sum(ledger_entry.amount_micros) FILTER (WHERE account ~ '^external:'), 0)::bigint AS own,
       coalesce(sum(ledger_entry.amount_micros) FILTER (WHERE account = 'service_fee'), 0)::bigint AS fee
     FROM execution LEFT JOIN hold ON hold.execution_id = execution.id LEFT JOIN ledger_entry ON hold_id = hold.id
     WHERE execution.project_id = $1 GROUP BY 1, 2, 3`,
    [projectId],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

const sum = <T>(items: Iterable<T>, of: (item: T) => number) =>
  [...items].reduce((whole, item) => whole + of(item), 0);

/** Compares the charge of an execution with the ledger. */
function expectCharge(charge: Charge | null, { taken, is_open }: Booked) {
  if (!charge) throw new Error("an execution that is not blind shows its charge");
  const isManagedAndOpen = is_open && charge.state !== "byok";
  expect(charge.chargedMicros).toBe(isManagedAndOpen ? null : taken);
  expect(["reserved", "unsettled"].includes(charge.state)).toBe(isManagedAndOpen);
}

async function checkEverything(world: TestProject, blind: ReadonlySet<string>) {
  const { ctx, projectId, organizationId, clock } = world;
  const books = await booksOf(world);
  const listed = new Map(
    (await jobs.history(ctx, projectId, { limit: 100 })).items.map((item) => [item.jobId, item]),
  );
  for (const booked of books.values()) {
    if (blind.has(booked.id)) {
      expect(await jobs.get(ctx, booked.id)).toMatchObject({ charge: null });
      expect(listed.get(booked.id)).toMatchObject({ charge: null });
      expect(await usage.cost(ctx, booked.id)).toBeNull();
      continue;
    }
    const cost = await usage.cost(ctx, booked.id);
    expectCharge(cost?.charge ?? null, booked);
    if (cost?.charge.chargedMicros != null) expect(cost.feeMicros).toBe(booked.fee);
    if (!booked.id.startsWith("job_")) continue;
    const job = await jobs.get(ctx, booked.id);
    expect(job.charge).toEqual(cost?.charge);
    expect(listed.get(booked.id)?.charge).toEqual(cost?.charge);
    const sealed = job.pricing;
    // A receipt stays as sealed, whatever a person decides later.
    if (!sealed || job.chargeResolution) continue;
    const { charge, customerCharge, serviceInferenceFeeMicros } = sealed;
    if (job.charge?.chargedMicros == null) expect(charge).toBeNull();
    else
      expect((charge?.customerCharge.amountMicros ?? 0) + (sealed.trialCoveredMicros ?? 0)).toBe(
        booked.taken,
      );
    expect(serviceInferenceFeeMicros).toBe(booked.fee);
    if (customerCharge) expect(customerCharge.customerTotalMicros).toBe(booked.taken);
  }

  const summary = await usage.summary(ctx, { days: 7, projectId });
  const { lines } = await exported(ctx);
  const money = await billing.wallet(ctx);
  const transactions = (await billing.walletTransactions(ctx, { limit: 100 })).items;
  for (const isTest of [false, true]) {
    const side = isTest ? summary.test : summary.live;
    const own = [...books.values()].filter(({ is_test }) => is_test === isTest);
    const [taken, fee] = [sum(own, (each) => each.taken), sum(own, (each) => each.fee)];
    expect(side.totals).toMatchObject({ executions: own.length, chargedMicros: taken, feeMicros: fee });
    const groups: UsageFigures[][] = [
      side.byDay,
      side.byCapability,
      side.byProvider,
      side.byModel,
      side.byBillingMode,
    ];
    for (const group of groups)
      for (const name of ["chargedMicros", "feeMicros", "providerCostMicros"] as const)
        expect(sum(group, (each) => each[name])).toBe(side.totals[name]);
    const byok = side.byBillingMode.find(({ billingMode }) => billingMode === "byok");
    expect(byok?.chargedMicros ?? 0).toBe(0);
    const matching = lines.filter(({ x_IsTest }) => x_IsTest === String(isTest));
    expect(total(matching, "x_Charge")).toBe(BigInt(taken));
    for (const column of ["BilledCost", "EffectiveCost"])
      expect(total(matching, column)).toBe(isTest ? 0n : BigInt(taken));
    const ofOwn = matching.filter(({ x_BillingMode }) => x_BillingMode === "byok");
    expect(total(ofOwn, "ListCost")).toBe(total(ofOwn, "x_ProviderCost"));
    expect(total(matching, "ListCost") - total(ofOwn, "ListCost")).toBe(BigInt(taken));
    expect(total(matching, "x_Fee")).toBe(BigInt(fee));
    expect(total(matching, "x_ProviderCost")).toBe(BigInt(side.totals.providerCostMicros));
    const entries = transactions.filter((each) => each.test === isTest && each.kind === "charge");
    expect(sum(entries, ({ amount }) => -amount.amountMicros)).toBe(taken);
    const { balance, allowance } = isTest ? money.test : money;
    expect(1_000_000_000 - balance.amountMicros + allowance.used.amountMicros).toBe(taken);
  }

  // Charges on own accounts count for limits, although the customer is not charged.
  const [budget] = (await budgets.list(systemCtx("test", clock.now), { projectId })).items;
  for (const [isTest, spend] of [
    [false, budget?.spend],
    [true, budget?.testSpend],
  ] as const) {
    const own = [...books.values()].filter(({ is_test }) => is_test === isTest);
    expect(spend?.settledMicros).toBe(sum(own, (each) => each.taken + each.own));
  }
  // The balance was set without an entry; the amounts taken from it are checked above.
  const { differences } = await billing.checkLedger(systemCtx("test", clock.now), organizationId);
  expect(differences.filter(({ what }) => !what.endsWith("wallet: balance"))).toEqual([]);
  return summary;
}

test(
  "every page and every total of money agrees with the ledger to the micro, after any history",
  async () => {
    await fc.assert(
      fc.asyncProperty(history, async (drawn) => {
        const world = await makeWorld(drawn);
        const blind = new Set<string>();
        if (drawn.comparison !== "none") {
          const { comparisonId, jobIds } = await compareDrawings(world);
          for (const jobId of jobIds) await jobs.run(world.ctx, jobId, inlineStep(world.clock));
          if (drawn.comparison === "unjudged") for (const jobId of jobIds) blind.add(jobId);
          else await pool.query("UPDATE job SET is_blind = false WHERE comparison_id = $1", [comparisonId]);
        }
        for (const one of drawn.acts) {
          for (const id of await perform(world, one)) {
            const hold = await budgets.readAmbiguous.first(pool, { executionId: id });
            if (hold) await endLate(world, hold, one.after);
          }
        }
        const { live, test: sandbox } = await checkEverything(world, blind);

        // The totals stay the same after the ended days are counted.
        world.clock.advance(DAY_MS + HOUR_MS);
        await usage.rollUp(systemCtx("roll-up", world.clock.now));
        const later = await usage.summary(world.ctx, { days: 7, projectId: world.projectId });
        expect([later.live.totals, later.test.totals]).toEqual([live.totals, sandbox.totals]);
      }),
      campaign.covering(history, kindsOf, 300),
    );
  },
  campaign.size({ small: 120_000, full: 1_800_000 }),
);

test("a text job that fails with HTTP 500 costs 0 wherever it is shown", async () => {
  const world = await makeWorld({ funding: "wallet", hasOwn: false, hasCommission: false });
  const failed = { door: "job", isByok: false, answer: "failed", after: "leave" } as const;
  for (const money of ["test", "live"] as const) {
    const [jobId = ""] = await perform(world, { ...failed, money });
    const free = { chargedMicros: 0, state: "not_charged" };
    expect(await jobs.get(world.ctx, jobId)).toMatchObject({
      status: "failed",
      error: { code: "PROVIDER_ERROR" },
      charge: free,
      pricing: { charge: { customerCharge: { amountMicros: 0 } }, providerCost: { status: "unknown" } },
    });
  }
  const { live, test: sandbox } = await checkEverything(world, new Set());
  for (const side of [live, sandbox])
    expect(side.totals).toMatchObject({ executions: 1, failed: 1, chargedMicros: 0, feeMicros: 0 });
});
