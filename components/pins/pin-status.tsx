import { Ban, CircleCheck, CircleDashed, CircleQuestionMark, CircleX, LoaderCircle } from "lucide-react";
import type { z } from "zod";
import { defineStatus } from "@/components/blocks/status/status";
import type { BulkItemStatus } from "@/server/contract/pinned";
import type { PinnedRecord } from "@/server/contract/pinned-records";

export type ItemStatus = z.output<typeof BulkItemStatus>;
export const {
  StatusBadge: PinStatusBadge,
  options: ITEM_STATUS_OPTIONS,
  labelOf: itemStatusLabel,
} = defineStatus<ItemStatus>({
  succeeded: { label: "Succeeded", icon: CircleCheck, tone: "good" },
  failed: { label: "Failed", icon: CircleX, tone: "bad" },
  ambiguous: { label: "Ambiguous", icon: CircleQuestionMark, tone: "warn" },
  running: { label: "Running", icon: LoaderCircle, tone: "busy", isSpinning: true },
  queued: { label: "Queued", icon: CircleDashed },
  canceled: { label: "Canceled", icon: Ban },
});

/** The colour of a status's part of a bulk's bar. */
export const ITEM_FILL: Record<ItemStatus, string> = {
  succeeded: "bg-series-4",
  failed: "bg-series-5",
  ambiguous: "bg-series-2",
  running: "bg-series-6",
  queued: "bg-line",
  canceled: "bg-series-rest",
};

type Submission = PinnedRecord["providerSubmission"];

/** Descriptions of whether the request was sent and answered. */
export const SUBMISSION_WORDS: Record<Submission, string> = {
  not_attempted: "Not sent",
  attempted: "Sent and answered",
  ambiguous: "Sent, may have run",
};
