import type { Visit } from "./visit";

/**
 * Kills the worker between two steps of a job: the vendor was busy, the step's result is stored, and the job waits for its
 * next step. Another worker continues with the stored result.
 */
export async function killBetweenSteps(
  { house, pool, must, ask, until }: Visit,
  key: string,
  path: string,
  body: object,
) {
  const { jobId } = await must("POST", path, { key, body });
  const isBetween = async () => {
    const { rows } = await pool.query(
      "SELECT FROM graphile_worker.jobs WHERE key = $1 AND locked_at IS NULL AND run_at > now()",
      [`job/admitted:${jobId}`],
    );
    return rows.length > 0;
  };
  await until(isBetween, "a job between two steps");
  await house.killWorker();
  for (const part of ["", "/events"]) await ask("GET", `/v1/jobs/${jobId}${part}`, { key });
  house.replaceWorker();
  await until(
    async () =>
      (await pool.query("SELECT FROM job WHERE id = $1 AND status = 'succeeded'", [jobId])).rowCount === 1,
    "the job that another worker goes on with",
    60_000,
  );
  return jobId;
}
