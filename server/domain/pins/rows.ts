import type { Pin } from "@/server/contract/pinned";
import type { PinnedStatus } from "@/server/contract/pinned-records";
import { pinnedAttempt, type pinnedExecution } from "@/server/generated/schema";
import type { Json } from "@/server/platform/durable/step";
import type { ModelFacts, SubmissionState, Tier } from "@/server/providers/define";
import type { PinCall } from "@/server/providers/pins";
import { type Of, omit } from "@/server/sql/column";

/** The parts of a request that go to the vendor, each as the caller gave it or absent. */
export type PinnedContent = PinCall;
/** The same parts without the input: the items of a bulk share them. */
export type SharedContent = Omit<PinCall, "input">;

/**
 * Hashes and settings that were fixed at admission, without content. They are stored with the row, or with
 * the bulk for all its items.
 */
export type PinnedPlan = {
  pin: Pin;
  isolation: "stateless";
  processing: "standard" | "deferred";
  /** Requested through `processing`; no other tier is ever requested. */
  tier: Tier;
  /** The settings as they are sent, in the vendor's terms. */
  settings: Record<string, Json>;
  /** The settings in the caller's terms, so that they can be computed again after the content was removed. */
  sampling: PinCall["sampling"];
  toolChoice?: Json;
  instructionsHash: string | null;
  toolsHash: string | null;
  responseFormatHash: string | null;
  limits: { timeoutSeconds: number; admissionDeadlineSeconds: number };
  includeNativeResponse: boolean;
  /** The project's own account; null for the sandbox, which needs none. */
  credentialId: string | null;
  /**
   * The model and its price at admission if the account's own server lists it; null for a model of this
   * catalog.
   */
  model: ModelFacts | null;
  billingMode: "byok";
  serviceFeeBps: 0;
  pricingVersion: string;
  externalRef: string | null;
  tags: string[];
  metadata: Record<string, Json>;
  correlationId: string | null;
  dataClassification: string;
  retentionRequirement: string;
  /** How long content is kept, in milliseconds; null if it is kept until it is deleted. */
  contentKeptMs: number | null;
};

export type PinnedRowStatus = PinnedStatus | "queued" | "running" | "canceled";
export const PIN_ENDED: readonly PinnedRowStatus[] = ["succeeded", "failed", "ambiguous", "canceled"];

/** A row of pinned_execution. */
export type PinnedRow = Of<typeof pinnedExecution>;

/** One HTTP submission. Without an end it is open, and may have reached the vendor. */
export const PINNED_ATTEMPT = omit(pinnedAttempt, "project_id", "fence");
export type PinnedAttemptRow = Of<typeof PINNED_ATTEMPT>;

/**
 * The submission state of a whole execution: ambiguous if the end of one submission is unknown, else
 * attempted if the vendor answered one.
 */
export function submissionOf(attempts: Pick<PinnedAttemptRow, "submission">[]): SubmissionState {
  const has = (state: SubmissionState) => attempts.some(({ submission }) => submission === state);
  return has("ambiguous") ? "ambiguous" : has("attempted") ? "attempted" : "not_attempted";
}

/** The moment when its turn came; for an item of a bulk that is later than its admission. */
export const startOf = ({ started_at, created_at }: Pick<PinnedRow, "started_at" | "created_at">) =>
  started_at ?? created_at;

/** The time between submissions in milliseconds, computed from their rows. */
export function waitsBetween(attempts: PinnedAttemptRow[]): number {
  let waited = 0;
  for (const [place, { started_at }] of attempts.entries()) {
    const before = attempts[place - 1]?.ended_at;
    if (before) waited += Math.max(0, started_at.getTime() - before.getTime());
  }
  return waited;
}
