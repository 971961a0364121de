import { sealContent } from "@/server/domain/content";
import type { First, Holder } from "@/server/domain/envelope";
import { ADMISSION_LIMITS, type AdmissionLimits, refuseWork } from "@/server/domain/plans";
import { pinnedBulk, type pinnedBulkLater } from "@/server/generated/schema";
import { keepConnection, pool } from "@/server/platform/db";
import { bool, column, int4, maybe, pick, text, texts, timestamptz } from "@/server/sql/column";
import { leaseFor } from "@/server/sql/leases";
import { statement } from "@/server/sql/statement";
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
} & AdmissionLimits;

export type ItemAdmission = Pick<
  PinnedRow,
  "id" | "request_hash" | "input_hash" | "estimated_micros" | "maximum_micros" | "warnings"
> & { item_id: string; payload_id: string; content: string; content_sha256: string };

const BULK = pick(
  pinnedBulk,
  "id project_id organization_id environment principal_id principal_kind submitted_by idempotency_key identity_hash",
  "provider model api plan concurrency retry_of created_at",
);
/** The items' columns, each a list in the order of the items. */
const ITEMS = {
  ids: texts,
  item_ids: texts,
  request_hashes: texts,
  input_hashes: texts,
  payload_ids: texts,
  contents: column<string>("json"),
  sha256s: texts,
  byte_lengths: column<number[]>("int4[]"),
  estimates: column<number[]>("int8[]"),
  maxima: column<number[]>("int8[]"),
  warnings: column<string[]>("jsonb[]"),
};
const insertWhole = statement("bulk.insert", {
  params: {
    ...BULK,
    ...ITEMS,
    is_test: bool,
    is_sealed: bool,
    expires_at: maybe(timestamptz),
    wake_after_ms: int4,
    shared_id: text,
    shared_content: text,
    shared_sha256: text,
    shared_byte_length: int4,
    ...pick(ADMISSION_LIMITS, "most_inferences"),
  },
  row: pick(pinnedBulk, "id"),
  prepared: true,
  sql: `WITH bulk AS (
  INSERT INTO pinned_bulk (id, project_id, organization_id, environment, principal_id, principal_kind, submitted_by,
    idempotency_key, identity_hash, status, provider, model, api, plan, concurrency, lanes, item_count, retry_of, created_at,
    lease_until)
  VALUES ($id, $project_id, $organization_id, $environment, $principal_id, $principal_kind, $submitted_by, $idempotency_key, $identity_hash, 'accepted', $provider, $model, $api, $plan, $concurrency, $concurrency, cardinality($ids::text[]), $retry_of, $created_at,
    ${leaseFor("$wake_after_ms::int")})
  ON CONFLICT (project_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
  RETURNING id
), item AS MATERIALIZED (
  SELECT bulk.id AS bulk_id, each.* FROM bulk, unnest($ids::text[], $item_ids::text[], $request_hashes::text[], $input_hashes::text[], $payload_ids::text[], ARRAY(SELECT json_array_elements_text($contents::json)),
    $estimates::bigint[], $maxima::bigint[], $warnings::jsonb[], $byte_lengths::int[], $sha256s::text[]) WITH ORDINALITY AS each (id, item_id, request_hash, input_hash,
    payload_id, content, estimated_micros, maximum_micros, warnings, byte_length, sha256, position)
), items AS (
  INSERT INTO pinned_execution (id, project_id, organization_id, environment, principal_id, principal_kind, submitted_by, bulk_id,
    position, item_id, identity_hash, status, provider, model, api, request_hash, input_hash, estimated_micros, maximum_micros,
    is_test, created_at, warnings)
  SELECT id, $project_id, $organization_id, $environment, $principal_id, $principal_kind, $submitted_by, bulk_id, position::int, item_id, request_hash, 'queued', $provider, $model, $api, request_hash, input_hash,
    estimated_micros, maximum_micros, $is_test, $created_at, warnings
  FROM item
), inputs AS (
  INSERT INTO payload (id, project_id, pinned_id, kind, content, is_sealed, sha256, byte_length, created_at, expires_at)
  SELECT payload_id, $project_id, id, 'request', content, $is_sealed, sha256, byte_length, $created_at, $expires_at::timestamptz FROM item
), shared AS (
  INSERT INTO payload (id, project_id, bulk_id, kind, content, is_sealed, sha256, byte_length, created_at, expires_at)
  SELECT $shared_id, $project_id, id, 'request', $shared_content, $is_sealed, $shared_sha256, $shared_byte_length, $created_at, $expires_at::timestamptz FROM bulk
)
SELECT id FROM bulk, (SELECT CASE WHEN $most_inferences::int IS NOT NULL THEN capstan_take(ARRAY(
  SELECT ROW($organization_id::text, id, NULL::int, $most_inferences::int, cardinality($ids::text[]), $created_at::timestamptz)::plan_taking FROM bulk)) END) AS taken`,
});

/**
 * Accepts a bulk with all of its items in one statement. False if its key was taken; then nothing was
 * written.
 */
export async function insertBulk(bulk: BulkAdmission): Promise<boolean> {
  const { items, shared } = bulk;
  const stored = (content: string, id: string) => (bulk.is_sealed ? sealContent(content, id) : content);
  const all = <T>(of: (item: ItemAdmission) => T) => items.map(of);
  const given = {
    ...bulk,
    ids: all(({ id }) => id),
    item_ids: all(({ item_id }) => item_id),
    request_hashes: all(({ request_hash }) => request_hash),
    input_hashes: all(({ input_hash }) => input_hash),
    payload_ids: all(({ payload_id }) => payload_id),
    // JSON, because pg takes a sixth of a second to escape a megabyte of quotes in its own arrays.
    contents: JSON.stringify(all(({ content, payload_id }) => stored(content, payload_id))),
    sha256s: all(({ content_sha256 }) => content_sha256),
    byte_lengths: all(({ content }) => Buffer.byteLength(content)),
    estimates: all(({ estimated_micros }) => estimated_micros),
    maxima: all(({ maximum_micros }) => maximum_micros),
    warnings: all(({ warnings }) => JSON.stringify(warnings)),
    shared_id: shared.id,
    shared_content: stored(shared.content, shared.id),
    shared_sha256: shared.sha256,
    shared_byte_length: Buffer.byteLength(shared.content),
  };
  const inserted = await keepConnection((db) => insertWhole.count(db, given)).catch(refuseWork);
  return inserted === 1;
}

const listOfKey = statement("bulk.list.of_key", {
  params: { projectId: text, spellings: texts },
  row: { id: text, hash: pinnedBulk.identity_hash, spelling: text, environment: text },
  sql: `SELECT id, identity_hash AS hash, idempotency_key AS spelling, environment FROM pinned_bulk
    WHERE project_id = $projectId AND idempotency_key = ANY($spellings)`,
  prepared: true,
});

/** The bulks under any spelling of a key. */
export const bulksOfKey = (projectId: string, spellings: string[]): Promise<(First & Holder)[]> =>
  listOfKey.all(pool, { projectId, spellings });
