import type { PinnedCorrectionView } from "@/server/contract/pinned-records";
import { leaseOwner } from "@/server/domain/executions";
import { signatureOf } from "@/server/domain/receipts";
import { signCorrection } from "@/server/domain/signing";
import { pinnedCorrection } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { newId, receiptIdOf } from "@/server/platform/ids";
import { names, type Of } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import type { RecordFacts } from "./record";

/** A row of pinned_correction as JSON, in which its time is text. */
export type CorrectionRow = Omit<Of<typeof pinnedCorrection>, "created_at"> & { created_at: string };

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

const insertRow = statement("pinned_correction.insert", {
  params: pinnedCorrection,
  sql: `INSERT INTO pinned_correction (${names(pinnedCorrection)})
     VALUES ($id, $project_id, $pinned_id, $kind, $details, $signature, $key_id, $created_by, $created_at)`,
});

/**
 * Stores a signed fact that became known after the end of an execution. The sealed record does not change.
 */
export async function insertCorrection(
  execution: { id: string; project_id: string },
  found: { kind: CorrectionRow["kind"]; details: Record<string, Json>; createdBy: string; now: Date },
): Promise<void> {
  const { kind, details, createdBy, now } = found;
  const row = { id: newId("correction"), pinned_id: execution.id, kind, details };
  const { signature, keyId } = await signCorrection(unsigned(row, now));
  await insertRow.run(pool, {
    ...row,
    project_id: execution.project_id,
    signature,
    key_id: keyId,
    created_by: createdBy,
    created_at: now,
  });
}

/**
 * Stores the hashes and figures of an answer that came after another end or a lost lease; its content is not
 * kept.
 */
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
