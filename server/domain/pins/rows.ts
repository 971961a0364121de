import type { Pin, PinnedStatus } from "@/server/contract/pinned";
import type { Micros } from "@/server/money";
import type { ModelFacts, SubmissionState, Tier } from "@/server/providers/define";
import type { PinCall } from "@/server/providers/pins";
import type { Json } from "@/server/step";

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
export type PinnedRow = {
  id: string;
  project_id: string;
  organization_id: string;
  environment: string;
  principal_id: string;
  principal_kind: string;
  submitted_by: string | null;
  bulk_id: string | null;
  position: number | null;
  item_id: string | null;
  idempotency_key: string | null;
  identity_hash: string;
  status: PinnedRowStatus;
  provider: string;
  model: string;
  api: string;
  /** Null: the bulk's. */
  plan: PinnedPlan | null;
  request_hash: string;
  input_hash: string;
  estimated_micros: Micros;
  maximum_micros: Micros;
  actual_micros: Micros | null;
  is_test: boolean;
  created_at: Date;
  started_at: Date | null;
  completed_at: Date | null;
  fence: number;
  lease_owner: string | null;
  lease_until: Date | null;
  error_code: string | null;
  error: { code: string; message: string } | null;
  receipt_id: string | null;
  warnings: Record<string, Json>[];
};

/** One HTTP submission as its row has it; without an end it is open, and may have reached the vendor. */
export type PinnedAttemptRow = {
  id: string;
  pinned_id: string;
  number: number;
  submission: SubmissionState;
  /** Of the bytes that are sent. */
  sent_hash: string;
  http_status: number | null;
  error_code: string | null;
  started_at: Date;
  ended_at: Date | null;
};

/**
 * What the submissions of an execution amount to: one that nobody saw the end of makes it ambiguous, else one that the
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
