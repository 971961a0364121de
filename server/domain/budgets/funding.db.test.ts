import { expect, test } from "vitest";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { pool } from "@/server/platform/db";
import { Fault } from "@/server/platform/errors/errors";
import { inlineStep, makeProject, rowsOf, type TestProject } from "@/testing/world";
import * as budgets from ".";

const TEXT = "text.general.fast.v1";
const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };
const submit = (project: TestProject) => jobs.submit(project.ctx, TEXT, { input });
const operator = (project: TestProject) => systemCtx("admin", project.clock.now);

/** Returns the amount that one execution reserves. */
async function priceIn(project: TestProject): Promise<number> {
  const { jobId } = await submit(project);
  const { hold } = await rowsOf(jobId);
  await jobs.cancel(operator(project), jobId);
  return hold.amount_micros;
}

async function walletOf({ organizationId }: TestProject) {
  const { rows } = await pool.query(
    `SELECT balance_micros AS balance, held_micros AS held, allowance_used_micros AS used, allowance_held_micros AS trial
     FROM wallet WHERE organization_id = $1 AND is_test`,
    [organizationId],
  );
  return rows[0];
}

/** Submits seven jobs in an organization whose allowance covers two and whose balance covers three. */
async function submitSeven(project: TestProject, price: number, together: boolean) {
  await pool.query(
    `UPDATE wallet SET balance_micros = $2, held_micros = 0, allowance_micros = $3, allowance_used_micros = 0,
       allowance_held_micros = 0 WHERE organization_id = $1 AND is_test`,
    [project.organizationId, price * 3, price * 2],
  );
  const ids: string[] = [];
  const codes: string[] = [];
  const one = () =>
    submit(project).then(
      ({ jobId }) => void ids.push(jobId),
      (error) => void codes.push(error instanceof Fault ? error.code : String(error)),
    );
  if (together) await Promise.all(Array.from({ length: 7 }, one));
  else for (let count = 0; count < 7; count++) await one();
  const fundings = await Promise.all(ids.map(async (id) => (await rowsOf(id)).hold.funding));
  return { ids, codes, fundings: fundings.sort() };
}

test.each([
  ["one after the other", false, false],
  ["at once", true, false],
  ["one after the other, under a budget", false, true],
  ["at once, under a budget", true, true],
])("%s, jobs use the allowance first, then the balance, then are refused", async (_, together, limited) => {
  const project = await makeProject();
  const price = await priceIn(project);
  if (limited) {
    const owner = { projectId: project.projectId };
    await budgets.set(operator(project), {
      owner,
      period: "day",
      enforcement: "prevent",
      ceilingMicros: 1e9,
    });
  }
  const { ids, codes, fundings } = await submitSeven(project, price, together);
  expect(fundings).toEqual(["allowance", "allowance", "wallet", "wallet", "wallet"]);
  expect(codes).toEqual(["funding_required", "funding_required"]);
  expect(await walletOf(project)).toEqual({ balance: price * 3, held: price * 3, used: 0, trial: price * 2 });

  const spent = { allowance: 0, wallet: 0 };
  for (const [place, id] of ids.entries()) {
    if (place % 2) await jobs.cancel(operator(project), id);
    else await jobs.run(systemCtx("worker", project.clock.now), id, inlineStep(project.clock));
    const { funding, settled_micros } = (await rowsOf(id)).hold;
    spent[funding as keyof typeof spent] += settled_micros ?? 0; // both values are keys of this object
  }
  expect(spent.wallet).toBeGreaterThan(0);
  const balance = price * 3 - spent.wallet;
  expect(await walletOf(project)).toEqual({ balance, held: 0, used: spent.allowance, trial: 0 });
});
