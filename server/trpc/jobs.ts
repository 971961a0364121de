import { z } from "zod";
import { isPrivate } from "@/server/contract/envelope";
import {
  EventsQuery,
  Job,
  JobEventPage,
  JobPage,
  JobRef,
  JobRights,
  JobStatus,
  ListProjectJobs,
  ProjectRef,
  SelectVariant,
} from "@/server/contract/jobs";
import { Receipt } from "@/server/contract/receipts";
import * as jobs from "@/server/domain/jobs";
import { human, router } from "./init";

const ProjectJobs = ListProjectJobs.omit({ selected: true }).extend(ProjectRef.shape);
const JobEvents = EventsQuery.extend(JobRef.shape);
const JobOfKey = ProjectRef.extend({
  operation: z.enum(["jobs", "invoke"]),
  idempotency_key: z.string().min(1).max(255),
});
const Variant = SelectVariant.extend(JobRef.shape);

/** Private content is not sent until the reader asks for it. */
export function withoutPrivateContent(job: Job): Job {
  if (!isPrivate(job.dataClassification)) return job;
  const { capability, productId, environment, idempotencyKey } = job.requestSnapshot ?? {};
  const requestSnapshot = { capability, productId, environment, idempotencyKey };
  return {
    ...job,
    typedOutput: job.typedOutput === null ? null : {},
    outputs: job.outputs === null ? null : {},
    requestSnapshot: JSON.parse(JSON.stringify(requestSnapshot)),
    error: jobs.withoutVendorWords(job.error),
  };
}

export const jobsRouter = router({
  list: human
    .input(ProjectJobs)
    .output(JobPage)
    .query(({ ctx, input: { project_id, ...filter } }) => jobs.history(ctx, project_id, filter)),
  get: human
    .input(JobRef)
    .output(Job)
    .query(async ({ ctx, input }) => withoutPrivateContent(await jobs.get(ctx, input.job_id))),
  /** The job with its content, for a reader who chose to see private content. */
  content: human
    .input(JobRef)
    .output(Job)
    .query(({ ctx, input }) => jobs.get(ctx, input.job_id)),
  /** The job of a request whose response was lost, for example because the page was reloaded. */
  ofKey: human
    .input(JobOfKey)
    .output(z.object({ jobId: z.string().nullable() }))
    .query(async ({ ctx, input: { project_id, operation, idempotency_key } }) => ({
      jobId: await jobs.idOfKey(ctx, project_id, { operation, key: idempotency_key }),
    })),
  events: human
    .input(JobEvents)
    .output(JobEventPage)
    .query(({ ctx, input: { job_id, ...page } }) => jobs.events(ctx, job_id, page)),
  request: human
    .input(JobRef)
    .output(z.json())
    .query(({ ctx, input }) => jobs.request(ctx, input.job_id)),
  receipt: human
    .input(JobRef)
    .output(Receipt)
    .query(({ ctx, input }) => jobs.receipt(ctx, input.job_id)),
  cancel: human
    .input(JobRef)
    .output(Job)
    .mutation(async ({ ctx, input }) => withoutPrivateContent(await jobs.cancel(ctx, input.job_id))),
  /** What the reader may do with the job in this status; the status is part of the cache key. */
  rights: human
    .input(JobRef.extend({ status: JobStatus }))
    .output(JobRights)
    .query(({ ctx, input }) => jobs.rights(ctx, input.job_id)),
  approve: human
    .input(JobRef)
    .output(Job)
    .mutation(async ({ ctx, input }) => withoutPrivateContent(await jobs.approve(ctx, input.job_id))),
  reject: human
    .input(JobRef)
    .output(Job)
    .mutation(async ({ ctx, input }) => withoutPrivateContent(await jobs.reject(ctx, input.job_id))),
  retry: human
    .input(JobRef)
    .output(Job)
    .mutation(async ({ ctx, input }) => withoutPrivateContent(await jobs.retry(ctx, input.job_id))),
  selectVariant: human
    .input(Variant)
    .output(Job)
    .mutation(async ({ ctx, input: { job_id, ...choice } }) =>
      withoutPrivateContent(await jobs.selectVariant(ctx, job_id, choice)),
    ),
});
