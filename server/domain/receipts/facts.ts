import type { Charge } from "@/server/contract/charge";
import type { Maturity } from "@/server/contract/envelope";
import type { JobArtifactRef, JobStatus } from "@/server/contract/jobs";
import type { Receipt } from "@/server/contract/receipts";
import type { Funding } from "@/server/domain/budgets";
import type { Estimate } from "@/server/domain/quotes";
import type { Micros } from "@/server/money";
import type { SubmissionState, Tier, Usage } from "@/server/providers/define";
import type { Json } from "@/server/step";

type ReceiptAttempt = Receipt["attempts"][number];

/** Everything a receipt says, gathered by the execution that ends. Content stays outside: hashes and figures only. */
export type ReceiptFacts = {
  jobId: string;
  capabilityKey: string;
  status: JobStatus;
  principalId: string;
  principalKind: string;
  /** The person behind the principal. */
  submittedBy: string | null;
  organizationId: string;
  projectId: string;
  productId: string;
  environment: string;
  externalRef: string | null;
  tags: string[];
  metadata: unknown;
  correlationId: string | null;
  taskKind: string | null;
  dataClassification: string;
  retentionRequirement: string;
  maturity: Maturity | null;
  mode: string;
  retryOf: string | null;
  executionSeconds: number;
  requestHash: string;
  /** Null: unknown, where the request was not kept. */
  inputHash: string | null;
  outputHash: string | null;
  provider: string | null;
  model: string | null;
  engine: string | null;
  estimate: Estimate;
  quoteId: string | null;
  createdAt: Date;
  startedAt: Date | null;
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
  finishReason: string | null;
  requestedVariants: number | null;
  /** How the files were made: the method of transparency, how a sheet was cut. */
  media: Record<string, Json> | null;
  error: { code: string; message: string } | null;
  /** What the provider's work cost at list price; null: unknown. */
  costMicros: Micros | null;
  /** What the customer pays, and the fee that is part of it. */
  charge: Charge;
  feeMicros: Micros;
  holdState: "settled" | "released" | "ambiguous" | null;
  /** What pays, copied from the admission. */
  funding: Funding;
  isTest: boolean;
};
