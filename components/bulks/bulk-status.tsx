import { CircleCheck, CircleDashed, CircleX, LoaderCircle, SplitIcon } from "lucide-react";
import { defineStatus } from "@/components/blocks/status/status";
import type { BulkStatus } from "@/server/contract/pinned";

export const { StatusBadge: BulkStatusBadge } = defineStatus<BulkStatus>({
  accepted: { label: "Accepted", icon: CircleDashed },
  running: { label: "Running", icon: LoaderCircle, tone: "busy", isSpinning: true },
  succeeded: { label: "Succeeded", icon: CircleCheck, tone: "good" },
  partial: { label: "Partly succeeded", icon: SplitIcon, tone: "warn" },
  failed: { label: "Failed", icon: CircleX, tone: "bad" },
});
