import { refuseUnjudged } from "@/server/domain/jobs";
import { toRecord } from "@/server/domain/pins";
import { toReceipt } from "@/server/domain/receipts";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { plainObject } from "@/server/platform/text/json";
import { bool, maybe, present, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/** A receipt of a job or of a pinned execution, as stored now. */
export type FoundReceipt = {
  id: string;
  /** The receipt as shown, without content. */
  document: { [member: string]: Json };
  /** Request hash from the row of the execution. */
  requestHash: string;
};

/** Number of receipts that are read and checked at a time; other requests are served in between. */
export const AT_ONCE = 250;

const SIGNED = "every end signs its receipt";
const listReceipts = statement("receipt.list.ids", {
  params: { projectId: text, ids: texts, environment: maybe(text) },
  row: {
    id: text,
    body: text,
    hash: text,
    signature: present(text, SIGNED),
    keyId: present(text, SIGNED),
    isPinned: bool,
    requestHash: text,
  },
  sql: `
        SELECT receipt.id, body, hash, signature, key_id AS "keyId", false AS "isPinned", job.request_hash AS "requestHash"
        FROM receipt JOIN job ON job.id = receipt.job_id
        WHERE receipt.id = ANY($ids) AND receipt.project_id = $projectId AND ($environment::text IS NULL OR job.environment = $environment)
        UNION ALL
        SELECT record.id, body, hash, signature, key_id, true, pinned.request_hash
        FROM pinned_record record JOIN pinned_execution pinned ON pinned.id = record.pinned_id
        WHERE record.id = ANY($ids) AND record.project_id = $projectId AND ($environment::text IS NULL OR pinned.environment = $environment)`,
  prepared: true,
});

/**
 * Returns the receipts that belong to the project, or to one of its environments, by id. Throws
 * ComparisonUnjudged if one belongs to a competitor whose comparison is not judged.
 */
export async function receiptsOf(
  projectId: string,
  environment: string | null,
  ids: string[],
): Promise<Map<string, FoundReceipt>> {
  const found = new Map<string, FoundReceipt>();
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const rows = await listReceipts.all(pool, {
      projectId,
      ids: ids.slice(from, from + AT_ONCE),
      environment,
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
