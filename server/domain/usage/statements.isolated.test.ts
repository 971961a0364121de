import { expect, test } from "vitest";
import * as jobs from "@/server/domain/jobs";
import { inTransaction } from "@/server/platform/db";
import { copyJob, inlineStep, makeProject } from "@/testing/world";
import { countFrom } from "./count";
import { dayAt, startOfDay } from "./days";

/* A day of a project is counted from its own rows, however many others exist. */

const MANY = 10_000;
type Plan = { Plan: { "Shared Hit Blocks": number; "Shared Read Blocks": number } };

test("a day of one project is read through the index of its ids, without rows of other projects or days", async () => {
  const [mine, other] = [await makeProject(), await makeProject()];
  const run = async ({ ctx, clock }: typeof mine) => {
    const { jobId } = await jobs.submit(ctx, "text.general.fast.v1", {
      input: { messages: [{ role: "user", content: "Hello." }] },
    });
    await jobs.run(ctx, jobId, inlineStep(clock));
    return jobId;
  };
  const ours = await run(mine);
  const theirs = await run(other);
  const { fromUlid, untilUlid } = dayAt(startOfDay(mine.clock.now()));
  const undone = new Error("only read");
  const read = inTransaction(async (client) => {
    await copyJob(theirs, MANY, {}, client);
    await copyJob(ours, MANY, { id: "'job_0' || lpad(n::text, 25, '0')" }, client); // these ids are of other days
    await client.query("ANALYZE job");
    const { rows } = await client.query<{ "QUERY PLAN": [Plan] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) WITH asked AS MATERIALIZED (
         SELECT $1::text AS project_id, current_date AS day, $2::text AS from_ulid, $3::text AS until_ulid)
       ${countFrom("asked")}`,
      [mine.projectId, fromUlid, untilUlid],
    );
    const plan = rows[0]!["QUERY PLAN"][0].Plan; // the plan of one statement
    expect(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]).toBeLessThan(100);
    const indexes = [...JSON.stringify(plan).matchAll(/"Index Name":"(job_\w+)"/g)].map(([, name]) => name);
    // Each hold is found by its id.
    expect(indexes).toEqual(["job_project_id_id_key", "job_pkey"]);
    throw undone;
  });
  await expect(read).rejects.toBe(undone);
});
