import { z } from "zod";
import { JsonObject } from "@/server/contract/common";
import { isPrivate } from "@/server/contract/envelope";
import { ProjectRef } from "@/server/contract/jobs";
import {
  BulkPage,
  BulkQuery,
  BulkRef,
  ListBulks,
  ListPinned,
  PinChoice,
  PinnedAnswer,
  PinnedBulk,
  PinnedContentView,
  PinnedPage,
  PinnedRecord,
  PinnedRef,
} from "@/server/contract/pinned";
import * as pins from "@/server/domain/pins";
import { human, router } from "./init";

const ProjectRecords = ListPinned.omit({ projectId: true }).extend(ProjectRef.shape);
const ProjectBulks = ListBulks.omit({ projectId: true }).extend(ProjectRef.shape);
const Run = ProjectRef.extend({ body: JsonObject });

/** Private content is not sent until the reader asks for it. */
function withoutPrivateContent(record: PinnedRecord): PinnedRecord {
  if (!isPrivate(record.dataClassification)) return record;
  const { nativeResponse: _native, ...rest } = record;
  return { ...rest, output: null };
}

export const pinnedRouter = router({
  list: human
    .input(ProjectRecords)
    .output(PinnedPage)
    .query(({ ctx, input: { project_id, ...page } }) => pins.list(ctx, { ...page, projectId: project_id })),
  get: human
    .input(PinnedRef)
    .output(PinnedRecord)
    .query(async ({ ctx, input }) => withoutPrivateContent(await pins.get(ctx, input.receipt_id))),
  /** The record with its request and response, for a reader who chose to see private content. */
  content: human
    .input(PinnedRef)
    .output(PinnedContentView)
    .query(({ ctx, input }) => pins.content(ctx, input.receipt_id)),
  choices: human
    .input(ProjectRef)
    .output(z.array(PinChoice))
    .query(({ ctx, input }) => pins.choices(ctx, input.project_id)),
  /** The form's request always runs in the project of its page, whatever the request says. */
  run: human
    .input(Run)
    .output(PinnedAnswer)
    .mutation(({ ctx, input: { project_id, body } }) =>
      pins.run(ctx, {
        ...body,
        context: { ...(isObject(body.context) ? body.context : {}), projectId: project_id },
      }),
    ),
  bulks: human
    .input(ProjectBulks)
    .output(BulkPage)
    .query(({ ctx, input: { project_id, ...page } }) =>
      pins.listBulks(ctx, { ...page, projectId: project_id }),
    ),
  bulk: human
    .input(BulkQuery.extend(BulkRef.shape))
    .output(PinnedBulk)
    .query(({ ctx, input: { bulk_id, ...query } }) => pins.getBulk(ctx, bulk_id, query)),
  cancelBulk: human
    .input(BulkRef)
    .output(PinnedBulk)
    .mutation(({ ctx, input }) => pins.cancelBulk(ctx, input.bulk_id)),
  retryBulk: human
    .input(BulkRef)
    .output(PinnedBulk)
    .mutation(({ ctx, input }) => pins.retrySafely(ctx, input.bulk_id)),
});

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
