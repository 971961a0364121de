import { z } from "zod";
import { isPrivate } from "@/server/contract/envelope";
import { EventsQuery, JobEventPage } from "@/server/contract/job-events";
import {
  type Job,
  JobListItem,
  JobPage,
  JobRef,
  JobRights,
  JobStatus,
  ListProjectJobs,
  ProjectRef,
  UsualRun,
} from "@/server/contract/jobs";
import { ofWork } from "@/server/contract/work";
import * as jobs from "@/server/domain/jobs";
import * as api from "@/server/operations/jobs";
import { router } from "../init";
import { mutation, query, reads } from "../of";

const JobEvents = EventsQuery.extend(JobRef.shape);
const JobOfKey = ProjectRef.extend({
  operation: z.enum(["jobs", "invoke"]),
  idempotency_key: z.string().min(1).max(255),
});

const WorkPage = JobPage.extend({ items: z.array(JobListItem.extend(ofWork)) });

/** Removes private content, which is sent only when the reader asks for it. */
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

/** Removes private content from the job that a procedure returns. */
const hidden = { view: withoutPrivateContent };

export const jobsRouter = router({
  list: reads(ProjectRef.extend(ListProjectJobs.shape), WorkPage, (ctx, { project_id, ...query }) =>
    jobs.namedHistory(ctx, project_id, query),
  ),
  get: query(api.getJob, hidden),
  /** The job with its content, for a reader who chose to see private content. */
  content: query(api.getJob),
  /** The job of a request whose response was lost, for example because the page was reloaded. */
  ofKey: reads(
    JobOfKey,
    z.object({ jobId: z.string().nullable() }),
    async (ctx, { project_id, operation, idempotency_key }) => ({
      jobId: await jobs.idOfKey(ctx, project_id, { operation, key: idempotency_key }),
    }),
  ),
  events: reads(JobEvents, JobEventPage, (ctx, { job_id, ...page }) => jobs.events(ctx, job_id, page)),
  request: query(api.getJobRequest),
  receipt: query(api.getJobReceipt),
  cancel: mutation(api.cancelJob, hidden),
  /** The reader's actions on the job in this status; the status is part of the cache key. */
  rights: reads(JobRef.extend({ status: JobStatus }), JobRights, (ctx, input) =>
    jobs.rights(ctx, input.job_id),
  ),
  usualRun: reads(JobRef, UsualRun.nullable(), (ctx, input) => jobs.usualRun(ctx, input.job_id)),
  approve: mutation(api.approveJob, hidden),
  reject: mutation(api.rejectJob, hidden),
  retry: mutation(api.retryJob, hidden),
  selectVariant: mutation(api.selectJobVariant, hidden),
});
