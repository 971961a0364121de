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

/** The columns of the job that describe the request on a receipt. */
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

/**
 * Everything that a receipt is composed from, gathered when its execution ends. Content is present only as hashes and
 * figures.
 */
export type ReceiptFacts = {
  job: ReceiptJob;
  status: JobStatus;
  /** Null if the request was not kept, so that its hash is unknown. */
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
    /**
     * Requests sent, except those refused for lack of capacity or for their tier; 2 if an unusable answer was
     * sent back for repair.
     */
    submissions: number;
    capacityRejections: number;
    /** `tier` is the tier requested now, and `tierRefusal` is the tier that was refused before. */
    tier: Tier;
    tierRefusal: ReceiptAttempt["tierRefusal"];
    startedAt: Date;
    submissionBegunAt: Date | null;
    answeredAt: Date | null;
    /** The name of a preliminary call; null for the main call. */
    stage: string | null;
    provider: string;
    model: string;
    usage: Usage | null;
    /** The cost at list price, in micros; null if it is unknown. */
    costMicros: Micros | null;
  } | null;
  /** The earlier attempts of an execution that makes several calls. */
  earlier: NonNullable<ReceiptFacts["attempt"]>[];
  /** The tier that ran; null if no answer reported it. */
  tier: Tier | null;
  usage: Usage | null;
  /** True if `costMicros` is our own estimate. */
  isEstimated?: boolean;
  finishReason: string | null;
  /** Details on how the files were made, such as the method of transparency or the cuts of a sheet. */
  media: Record<string, Json> | null;
  error: { code: string; message: string } | null;
  /** The provider's cost at list price, in micros; null if it is unknown. */
  costMicros: Micros | null;
  /** The amount that the customer is charged. It includes `feeMicros`. */
  charge: Charge;
  feeMicros: Micros;
  holdState: "settled" | "released" | "ambiguous" | null;
  /** The source of the money, copied from the admission. */
  funding: Funding;
  isTest: boolean;
};
