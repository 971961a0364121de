import type { Pin } from "@/server/contract/pinned";
import type { PinnedStatus } from "@/server/contract/pinned-records";
import { pinnedAttempt, type pinnedExecution } from "@/server/generated/schema";
import type { Json } from "@/server/platform/durable/step";
import type { ModelFacts, SubmissionState, Tier } from "@/server/providers/define";
import type { PinCall } from "@/server/providers/pins";
import { type Of, omit } from "@/server/sql/column";

/** What a request is made of beside its pin: what goes to the vendor, each member as the caller gave it or absent. */
export type PinnedContent = PinCall;
/** The same without the input: what the items of a bulk share. */
export type SharedContent = Omit<PinCall, "input">;

/** What was fixed at admission; travels with the row, or with the bulk for all its items. Hashes and settings, no content. */
export type PinnedPlan = {
  pin: Pin;
  isolation: "stateless";
  processing: "standard" | "deferred";
  /** Asked for by `processing`; nothing else is ever asked for. */
  tier: Tier;
  /** As they are sent, in the vendor's words. */
  settings: Record<string, Json>;
  /** The same in the caller's words, so that the settings can be made again when the content is gone. */
  sampling: PinCall["sampling"];
  toolChoice?: Json;
  instructionsHash: string | null;
  toolsHash: string | null;
  responseFormatHash: string | null;
  limits: { timeoutSeconds: number; admissionDeadlineSeconds: number };
  includeNativeResponse: boolean;
  /** The project's own account it runs on; null: the sandbox, which needs none. */
  credentialId: string | null;
  /** Of a model that the account's owner lists: as it was, with its price. */
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
  /** How long content is kept, in milliseconds; null: until it is deleted. */
  contentKeptMs: number | null;
};

export type PinnedRowStatus = PinnedStatus | "queued" | "running" | "canceled";
export const ENDED: readonly PinnedRowStatus[] = ["succeeded", "failed", "ambiguous", "canceled"];

/** A pinned execution as the database has it. */
export type PinnedRow = Of<typeof pinnedExecution>;

/** One HTTP submission as it is read; without an end it is open, and may have reached the vendor. */
export const PINNED_ATTEMPT = omit(pinnedAttempt, "project_id", "fence");
export type PinnedAttemptRow = Of<typeof PINNED_ATTEMPT>;

/**
 * What the submissions of an execution amount to: one that no one saw the end of makes it ambiguous, else one that the
 * vendor answered makes it attempted.
 */
export function submissionOf(attempts: Pick<PinnedAttemptRow, "submission">[]): SubmissionState {
  const has = (state: SubmissionState) => attempts.some(({ submission }) => submission === state);
  return has("ambiguous") ? "ambiguous" : has("attempted") ? "attempted" : "not_attempted";
}

/** When its turn came: of an item of a bulk later than its admission. */
export const startOf = ({ started_at, created_at }: Pick<PinnedRow, "started_at" | "created_at">) =>
  started_at ?? created_at;

/** What was waited between submissions, in milliseconds, as their rows tell. */
export function waitsBetween(attempts: PinnedAttemptRow[]): number {
  let waited = 0;
  for (const [place, { started_at }] of attempts.entries()) {
    const before = attempts[place - 1]?.ended_at;
    if (before) waited += Math.max(0, started_at.getTime() - before.getTime());
  }
  return waited;
}
