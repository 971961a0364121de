import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import * as jobs from "@/server/domain/jobs";
import { env } from "@/server/platform/settings/env";
import { campaign } from "@/testing/campaign";
import { runJobKilledAt } from "@/testing/processes";
import { inlineStep, makeProject, rowsOf } from "@/testing/world";

/*
 * A worker dies in the step that claimed the job, and the engine delivers that step of the same run again,
 * before any lease has ended.
 */

async function killedAt(place: Parameters<typeof runJobKilledAt>[1]) {
  const project = await makeProject();
  const { jobId } = await jobs.submit(project.ctx, "text.general.fast.v1", {
    messages: [{ role: "user", content: "What is a capstan?" }],
  });
  const runId = randomUUID();
  expect(await runJobKilledAt(jobId, place, runId)).toBe("SIGKILL");
  const [killed] = (await rowsOf(jobId)).attempts;
  const deliver = (toRun: string) =>
    jobs.run(project.ctx, jobId, { ...inlineStep(project.clock), runId: toRun });
  const sent = async () => {
    const answer = await fetch(`${env.SANDBOX_URL}/submissions?attemptId=${killed.id}`);
    return ((await answer.json()) as { count: number }).count;
  };
  return { jobId, runId, deliver, sent };
}

const PLACES = [
  { place: "after-claim", status: "succeeded", error: null, sentBefore: 0, sentAfter: 1 },
  {
    place: "after-submission-begun",
    status: "failed",
    error: "TRANSPORT_AMBIGUOUS",
    sentBefore: 0,
    sentAfter: 0,
  },
  { place: "after-answer", status: "succeeded", error: null, sentBefore: 1, sentAfter: 1 },
  { place: "before-receipt", status: "succeeded", error: null, sentBefore: 1, sentAfter: 1 },
] as const;

test.each(campaign.inTurn(PLACES, 1))(
  "the run of a worker that died $place continues its claim, and another run does not",
  async ({ place, status, error, sentBefore, sentAfter }) => {
    const { jobId, runId, deliver, sent } = await killedAt(place);
    expect(await sent()).toBe(sentBefore);
    const before = await rowsOf(jobId);
    await deliver(randomUUID());
    expect(await rowsOf(jobId)).toEqual(before);

    await deliver(runId);
    const { job, attempts, events, receipts } = await rowsOf(jobId);
    expect(job).toMatchObject({ status, error_code: error, fence: before.job.fence, lease_owner: null });
    expect(attempts).toHaveLength(1);
    expect(receipts).toHaveLength(1);
    expect(events.filter(({ type }) => type === "job.started")).toHaveLength(1);
    expect(await sent()).toBe(sentAfter);
  },
);
