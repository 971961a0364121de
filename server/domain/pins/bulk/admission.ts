import { sealContent } from "@/server/domain/content";
import type { First, Holder } from "@/server/domain/envelope";
import { type Bounds, refuseWork } from "@/server/domain/plans";
import type { pinnedBulkLater } from "@/server/generated/schema";
import { pool, queryKeeping } from "@/server/platform/db";
import { leaseFor } from "@/server/sql/leases";
import type { PinnedRow } from "../rows";
import type { BulkRow } from "./rows";

/** All data that the acceptance of a bulk writes. */
export type BulkAdmission = Omit<
  BulkRow,
  keyof typeof pinnedBulkLater | "status" | "lanes" | "item_count"
> & {
  is_test: boolean;
  /** Delay after which a lost wake is sent again. */
  wake_after_ms: number;
  /** Applies to the shared content and to the content of each item. */
  is_sealed: boolean;
  expires_at: Date | null;
  shared: { id: string; content: string; sha256: string };
  items: ItemAdmission[];
} & Bounds;

export type ItemAdmission = Pick<
  PinnedRow,
  "id" | "item_id" | "request_hash" | "input_hash" | "estimated_micros" | "maximum_micros" | "warnings"
> & { payload_id: string; content: string; content_sha256: string };

const INSERT = `WITH bulk AS (
  INSERT INTO pinned_bulk (id, project_id, organization_id, environment, principal_id, principal_kind, submitted_by,
    idempotency_key, identity_hash, status, provider, model, api, plan, concurrency, lanes, item_count, retry_of, created_at,
    lease_until)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'accepted', $10, $11, $12, $13, $14, $14, cardinality($15::text[]), $16, $17,
    ${leaseFor("$18::int")})
  ON CONFLICT (project_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
  RETURNING id
), item AS MATERIALIZED (
  SELECT bulk.id AS bulk_id, each.* FROM bulk, unnest($15::text[], $19::text[], $20::text[], $21::text[], $22::text[], ARRAY(SELECT json_array_elements_text($23::json)),
    $24::bigint[], $25::bigint[], $26::jsonb[], $27::int[], $35::text[]) WITH ORDINALITY AS each (id, item_id, request_hash, input_hash,
    payload_id, content, estimated_micros, maximum_micros, warnings, byte_length, sha256, position)
), items AS (
  INSERT INTO pinned_execution (id, project_id, organization_id, environment, principal_id, principal_kind, submitted_by, bulk_id,
    position, item_id, identity_hash, status, provider, model, api, request_hash, input_hash, estimated_micros, maximum_micros,
    is_test, created_at, warnings)
  SELECT id, $2, $3, $4, $5, $6, $7, bulk_id, position::int, item_id, request_hash, 'queued', $10, $11, $12, request_hash, input_hash,
    estimated_micros, maximum_micros, $28, $17, warnings
  FROM item
), inputs AS (
  INSERT INTO payload (id, project_id, pinned_id, kind, content, is_sealed, sha256, byte_length, created_at, expires_at)
  SELECT payload_id, $2, id, 'request', content, $29, sha256, byte_length, $17, $30::timestamptz FROM item
), shared AS (
  INSERT INTO payload (id, project_id, bulk_id, kind, content, is_sealed, sha256, byte_length, created_at, expires_at)
  SELECT $31, $2, id, 'request', $32, $29, $33, $34, $17, $30::timestamptz FROM bulk
)
SELECT id FROM bulk, (SELECT CASE WHEN $36::int IS NOT NULL THEN capstan_take(ARRAY(
  SELECT ROW($3::text, id, NULL::int, $36::int, cardinality($15::text[]), $17::timestamptz)::plan_taking FROM bulk)) END) AS taken`;

/**
 * Accepts a bulk with all of its items in one statement. False if its key was taken; then nothing was
 * written.
 */
export async function insertBulk(bulk: BulkAdmission): Promise<boolean> {
  const { items, shared } = bulk;
  const stored = (content: string, id: string) => (bulk.is_sealed ? sealContent(content, id) : content);
  const all = <T>(of: (item: ItemAdmission) => T) => items.map(of);
  const { rowCount } = await queryKeeping({
    name: "insert-bulk",
    text: INSERT,
    values: [
      bulk.id,
      bulk.project_id,
      bulk.organization_id,
      bulk.environment,
      bulk.principal_id,
      bulk.principal_kind,
      bulk.submitted_by,
      bulk.idempotency_key,
      bulk.identity_hash,
      bulk.provider,
      bulk.model,
      bulk.api,
      JSON.stringify(bulk.plan),
      bulk.concurrency,
      all(({ id }) => id),
      bulk.retry_of,
      bulk.created_at,
      bulk.wake_after_ms,
      all(({ item_id }) => item_id),
      all(({ request_hash }) => request_hash),
      all(({ input_hash }) => input_hash),
      all(({ payload_id }) => payload_id),
      // JSON, because pg takes a sixth of a second to escape a megabyte of quotes in its own arrays.
      JSON.stringify(all(({ content, payload_id }) => stored(content, payload_id))),
      all(({ estimated_micros }) => estimated_micros),
      all(({ maximum_micros }) => maximum_micros),
      all(({ warnings }) => JSON.stringify(warnings)),
      all(({ content }) => Buffer.byteLength(content)),
      bulk.is_test,
      bulk.is_sealed,
      bulk.expires_at,
      shared.id,
      stored(shared.content, shared.id),
      shared.sha256,
      Buffer.byteLength(shared.content),
      all(({ content_sha256 }) => content_sha256),
      bulk.most_inferences,
    ],
  }).catch(refuseWork);
  return rowCount === 1;
}

/** The bulks under any spelling of a key. */
export async function bulksOfKey(projectId: string, spellings: string[]): Promise<(First & Holder)[]> {
  const { rows } = await pool.query<First & Holder>({
    name: "bulks-of-key",
    text: `SELECT id, identity_hash AS hash, idempotency_key AS spelling, environment FROM pinned_bulk
           WHERE project_id = $1 AND idempotency_key = ANY($2)`,
    values: [projectId, spellings],
  });
  return rows;
}
