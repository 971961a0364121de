import { systemCtx } from "@/server/domain/ctx";
import * as pins from "@/server/domain/pins";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { inlineStep, type TestProject } from "./world";

/** A bulk with these inputs, for the sandbox model that does what each input says. */
export const bulkOf = (inputs: string[], more: Record<string, Json> = {}): Record<string, Json> => ({
  pin: { provider: "sandbox", model: "sandbox-mixed", api: "responses" },
  sampling: { maxOutputTokens: 64 },
  items: inputs.map((input, place) => ({ id: `item-${place}`, input })),
  ...more,
});

export const plain = (count: number, script = "") =>
  Array.from({ length: count }, (_, number) => `${script}${number}: what is a capstan?`);

export const submitBulk = async (project: TestProject, inputs: string[], more: Record<string, Json> = {}) =>
  (await pins.submitBulk(project.ctx, bulkOf(inputs, more))).bulkId;

/** Runs an accepted bulk to its end, as the durable engine does. */
export const runBulk = (project: TestProject, bulkId: string) =>
  pins.runBulk(systemCtx("test", project.clock.now), bulkId, inlineStep(project.clock));

export type ItemRows = {
  id: string;
  item_id: string;
  status: string;
  error_code: string | null;
  attempts: { submission: string; started_at: string; ended_at: string | null }[] | null;
  hold: string | null;
  records: number;
};

/** The items of a bulk in order, each with its rows. */
export async function itemsOf(bulkId: string): Promise<ItemRows[]> {
  const { rows } = await pool.query<ItemRows>(
    `SELECT id, item_id, status, error_code,
       (SELECT json_agg(json_build_object('submission', submission, 'started_at', started_at, 'ended_at', ended_at) ORDER BY number)
        FROM pinned_attempt WHERE pinned_id = item.id) AS attempts,
       (SELECT state FROM hold WHERE execution_id = item.id) AS hold,
       (SELECT count(*) FROM pinned_record WHERE pinned_id = item.id) AS records
     FROM pinned_execution item WHERE bulk_id = $1 ORDER BY position`,
    [bulkId],
  );
  return rows;
}

/** The largest number of a bulk's submissions that were under way at the same time. */
export function mostAtOnce(items: ItemRows[]): number {
  const changes = items
    .flatMap(({ attempts }) => attempts ?? [])
    .flatMap(({ started_at, ended_at }) => [
      { at: Date.parse(started_at), by: 1 },
      { at: Date.parse(ended_at ?? "2100-01-01"), by: -1 },
    ])
    .sort((one, other) => one.at - other.at || one.by - other.by);
  let now = 0;
  return changes.reduce((most, { by }) => {
    now += by;
    return Math.max(most, now);
  }, 0);
}

/** The number of times that the sandbox accepted each of these executions, by its own log. */
export async function seenBySandbox(items: ItemRows[]): Promise<number[]> {
  const counts: number[] = [];
  for (const { id } of items) {
    const answer = await fetch(`${process.env.SANDBOX_URL}/submissions?attemptId=${id}`);
    counts.push(((await answer.json()) as { count: number }).count);
  }
  return counts;
}
