import { z } from "zod";
import { JsonObject } from "@/server/contract/common";
import { isPrivate } from "@/server/contract/envelope";
import { ProjectRef } from "@/server/contract/jobs";
import { BulkPage, ListBulks, PinChoice } from "@/server/contract/pinned";
import {
  PinnedAnswer,
  PinnedContentView,
  type PinnedRecord,
  PinnedRef,
} from "@/server/contract/pinned-records";
import * as pins from "@/server/domain/pins";
import * as bulks from "@/server/operations/pinned-bulks";
import * as api from "@/server/operations/pins";
import { isObject } from "@/server/platform/text/json";
import { router } from "../init";
import { does, mutation, query, reads } from "../of";

const Run = ProjectRef.extend({ body: JsonObject });

/** Removes private content, which is sent only when the reader asks for it. */
function withoutPrivateContent(record: PinnedRecord): PinnedRecord {
  if (!isPrivate(record.dataClassification)) return record;
  const { nativeResponse: _native, ...rest } = record;
  return { ...rest, output: null };
}

export const pinnedRouter = router({
  list: query(api.listPinned, { needs: ["projectId"] }),
  get: query(api.getPinned, { view: withoutPrivateContent }),
  /** The record with its request and response, for a reader who chose to see private content. */
  content: reads(PinnedRef, PinnedContentView, (ctx, input) => pins.content(ctx, input.receipt_id)),
  choices: reads(ProjectRef, z.array(PinChoice), (ctx, input) => pins.choices(ctx, input.project_id)),
  /** The form's request always runs in the project of its page, whatever the request says. */
  run: does(Run, PinnedAnswer, (ctx, { project_id, body }) =>
    pins.run(ctx, {
      ...body,
      context: { ...(isObject(body.context) ? body.context : {}), projectId: project_id },
    }),
  ),
  bulks: reads(ListBulks.required({ projectId: true }), BulkPage, pins.listBulks),
  bulk: query(bulks.getPinnedBulk),
  cancelBulk: mutation(bulks.cancelPinnedBulk),
  retryBulk: mutation(bulks.retryPinnedBulk),
});
