import type { PinnedCorrectionView } from "@/server/contract/pinned-records";
import { leaseOwner } from "@/server/domain/executions";
import { signatureOf } from "@/server/domain/receipts";
import { signCorrection } from "@/server/domain/signing";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { newId, receiptIdOf } from "@/server/platform/ids";
import type { RecordFacts } from "./record";

/** A row of pinned_correction. */
export type CorrectionRow = {
  id: string;
  pinned_id: string;
  kind: PinnedCorrectionView["kind"];
  details: Record<string, Json>;
  signature: string;
  key_id: string;
  created_at: Date | string;
};

/** The document that the signature covers. */
const unsigned = (row: Pick<CorrectionRow, "id" | "pinned_id" | "kind" | "details">, createdAt: Date) => ({
  correctionId: row.id,
  receiptId: receiptIdOf(row.pinned_id),
  kind: row.kind,
  details: row.details,
  createdAt: createdAt.toISOString(),
});

export function toCorrection(row: CorrectionRow): PinnedCorrectionView {
  return {
    ...unsigned(row, new Date(row.created_at)),
    signature: signatureOf({ keyId: row.key_id, signature: row.signature }),
  };
}

/**
 * Stores a signed fact that became known after the end of an execution. The sealed record does not change.
 */
export async function insertCorrection(
  execution: { id: string; project_id: string },
  found: { kind: CorrectionRow["kind"]; details: Record<string, Json>; createdBy: string; now: Date },
): Promise<void> {
  const row = { id: newId("correction"), pinned_id: execution.id, ...found };
  const { signature, keyId } = await signCorrection(unsigned(row, found.now));
  await pool.query(
    `INSERT INTO pinned_correction (id, project_id, pinned_id, kind, details, signature, key_id, created_by, created_at)
     VALUES ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9)`,
    [
      row.id,
      execution.project_id,
      row.pinned_id,
      row.kind,
      JSON.stringify(row.details),
      signature,
      keyId,
      found.createdBy,
      found.now,
    ],
  );
}

/** Stores the hashes and figures of an answer whose worker had lost its lease; its content is not kept. */
export function keepLateAnswer(
  execution: { id: string; project_id: string },
  { status, code, observed }: Pick<RecordFacts, "status" | "observed"> & { code: string | null },
  { outputHash, nativeHash }: { outputHash: string | null; nativeHash: string | null },
  now: Date,
): Promise<void> {
  return insertCorrection(execution, {
    kind: "late_answer",
    details: {
      status,
      errorCode: code,
      httpStatus: observed.httpStatus,
      outputHash,
      nativeResponseHash: nativeHash,
      usage: observed.usage,
      costMicros: observed.costMicros,
      providerRequestId: observed.providerRequestId,
      providerModel: observed.providerModel,
      providerFingerprint: observed.providerFingerprint ?? null,
      answeredAt: now.toISOString(),
    },
    createdBy: leaseOwner,
    now,
  });
}
