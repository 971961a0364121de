import { refuseUnjudged } from "@/server/domain/jobs";
import { toRecord } from "@/server/domain/pins";
import { type Sealed, toReceipt } from "@/server/domain/receipts";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { plainObject } from "@/server/platform/text/json";

/** A receipt of either kind, as its row has it now. */
export type FoundReceipt = {
  id: string;
  /** As it is shown, without content. */
  document: { [member: string]: Json };
  /** By the row of the execution itself. */
  requestHash: string;
};

type Row = Sealed & {
  id: string;
  isPinned: boolean;
  requestHash: string;
};

/** Receipts are read, and checked, this many at a time: others are served in between. */
export const AT_ONCE = 250;

/**
 * Those of these receipts that are the project's, or of one of its environments: of jobs and of pinned executions.
 * ComparisonUnjudged where one is of a competitor whose comparison is not judged.
 */
export async function receiptsOf(
  projectId: string,
  environment: string | null,
  ids: string[],
): Promise<Map<string, FoundReceipt>> {
  const found = new Map<string, FoundReceipt>();
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const { rows } = await pool.query<Row>({
      name: "receipts-by-id",
      text: `
        SELECT receipt.id, body, hash, signature, key_id AS "keyId", false AS "isPinned", job.request_hash AS "requestHash"
        FROM receipt JOIN job ON job.id = receipt.job_id
        WHERE receipt.id = ANY($2) AND receipt.project_id = $1 AND ($3::text IS NULL OR job.environment = $3)
        UNION ALL
        SELECT record.id, body, hash, signature, key_id, true, pinned.request_hash
        FROM pinned_record record JOIN pinned_execution pinned ON pinned.id = record.pinned_id
        WHERE record.id = ANY($2) AND record.project_id = $1 AND ($3::text IS NULL OR pinned.environment = $3)`,
      values: [projectId, ids.slice(from, from + AT_ONCE), environment],
    });
    await refuseUnjudged(
      projectId,
      rows.map(({ id }) => id),
    );
    for (const row of rows) {
      const document = row.isPinned ? toRecord(row, { output: null, corrections: [] }) : toReceipt(row);
      found.set(row.id, {
        id: row.id,
        document: plainObject(document),
        requestHash: row.requestHash,
      });
    }
  }
  return found;
}
