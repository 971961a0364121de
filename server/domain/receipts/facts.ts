import type { Charge } from "@/server/contract/charge";
import type { JobArtifactRef, JobStatus } from "@/server/contract/jobs";
import type { Receipt } from "@/server/contract/receipts";
import type { Funding } from "@/server/domain/budgets";
import type { Estimate } from "@/server/domain/quotes";
import type { job } from "@/server/generated/schema";
import type { Json } from "@/server/platform/durable/step";
import type { Micros } from "@/server/platform/money";
import type { SubmissionState, Tier, Usage } from "@/server/providers/define";
import type { Of } from "@/server/sql/column";

type ReceiptAttempt = Receipt["attempts"][number];

/** What a receipt says of the request, as the row of its job has it. */
type ReceiptJob = Pick<
  Of<typeof job>,
  | "id"
  | "capability_key"
  | "principal_id"
  | "principal_kind"
  | "submitted_by"
  | "organization_id"
  | "project_id"
  | "product_id"
  | "environment"
  | "external_ref"
  | "tags"
  | "metadata"
  | "correlation_id"
  | "task_kind"
  | "data_classification"
  | "retention_requirement"
  | "maturity"
  | "mode"
  | "retry_of"
  | "execution_seconds"
  | "request_hash"
  | "quote_id"
  | "created_at"
  | "started_at"
  | "requested_variants"
>;

/** Everything a receipt says, gathered by the execution that ends. Content stays outside: hashes and figures only. */
export type ReceiptFacts = {
  job: ReceiptJob;
  status: JobStatus;
  /** Null: unknown, where the request was not kept. */
  inputHash: string | null;
  outputHash: string | null;
  provider: string | null;
  model: string | null;
  engine: string | null;
  estimate: Estimate;
  completedAt: Date;
  artifacts: JobArtifactRef[];
  attempt: {
    attemptId: string;
    number: number;
    submission: SubmissionState;
    providerRequestId: string | null;
    providerModel: string | null;
    httpStatus: number | null;
    errorCode: string | null;
    /** Requests the provider may have taken on; 2 where an unfit answer was given back. */
    submissions: number;
    capacityRejections: number;
    /** The tier that is asked for by now, and the one that was refused before. */
    tier: Tier;
    tierRefusal: ReceiptAttempt["tierRefusal"];
    startedAt: Date;
    submissionBegunAt: Date | null;
    answeredAt: Date | null;
    /** Which call before the main one; null: the main one. */
    stage: string | null;
    provider: string;
    model: string;
    usage: Usage | null;
    /** At list price; null: unknown. */
    costMicros: Micros | null;
  } | null;
  /** The attempts before that one, of an execution of several calls. */
  earlier: NonNullable<ReceiptFacts["attempt"]>[];
  /** The tier that ran; null: no answer tells. */
  tier: Tier | null;
  usage: Usage | null;
  /** `costMicros` is an estimate of ours. */
  isEstimated?: boolean;
  finishReason: string | null;
  /** How the files were made: the method of transparency, how a sheet was cut. */
  media: Record<string, Json> | null;
  error: { code: string; message: string } | null;
  /** What the provider's work cost at list price; null: unknown. */
  costMicros: Micros | null;
  /** What the customer pays, and the fee included. */
  charge: Charge;
  feeMicros: Micros;
  holdState: "settled" | "released" | "ambiguous" | null;
  /** What pays, copied from the admission. */
  funding: Funding;
  isTest: boolean;
};
