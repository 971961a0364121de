import { Ban, CircleCheck, CircleDashed, CircleX, Hand, LoaderCircle, OctagonAlert } from "lucide-react";
import { defineStatus } from "@/components/blocks/status/status";
import type { JobStatus } from "@/server/contract/jobs";

export const { StatusBadge: JobStatusBadge, options: JOB_STATUS_OPTIONS } = defineStatus<JobStatus>({
  queued: { label: "Queued", icon: CircleDashed },
  running: { label: "Running", icon: LoaderCircle, tone: "busy", isSpinning: true },
  awaiting_approval: { label: "Awaiting approval", icon: Hand, tone: "warn" },
  succeeded: { label: "Succeeded", icon: CircleCheck, tone: "good" },
  failed: { label: "Failed", icon: CircleX, tone: "bad" },
  canceling: { label: "Canceling", icon: LoaderCircle, isSpinning: true },
  canceled: { label: "Canceled", icon: Ban },
  needs_attention: { label: "Needs attention", icon: OctagonAlert, tone: "warn" },
});
