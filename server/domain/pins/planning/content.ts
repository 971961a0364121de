import type { PinnedContentView } from "@/server/contract/pinned-records";
import { openContent } from "@/server/domain/content";
import type { Ctx } from "@/server/domain/ctx";
import { payload } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { isObject } from "@/server/platform/text/json";
import { maybe, pick, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { get } from "../read";

/**
 * Members of a request that go to the vendor. For an item of a bulk, all but the input are stored with the
 * bulk.
 */
const CONTENT = ["instructions", "input", "sampling", "responseFormat", "tools", "toolChoice"];

const readRequest = statement("pinned_execution.list.request_parts", {
  params: { pinnedId: text, bulkId: maybe(text) },
  row: pick(payload, "id content is_sealed"),
  sql: `SELECT id, content, is_sealed FROM payload WHERE kind = 'request' AND pinned_id = $pinnedId
     UNION ALL SELECT id, content, is_sealed FROM payload WHERE kind = 'request' AND bulk_id = $bulkId`,
  prepared: true,
});

/** A record together with its request. `request` is null if it is not kept in full. */
export async function content(ctx: Ctx, receiptId: string): Promise<PinnedContentView> {
  const record = await get(ctx, receiptId);
  const rows = await readRequest.all(pool, { pinnedId: record.pinnedId, bulkId: record.bulkId });
  const parts = rows.map(openContent);
  const isKept = parts.length === (record.bulkId === null ? 1 : 2) && !parts.includes(null);
  return { record, request: isKept ? merged(parts) : null };
}

/** The request, assembled from its stored parts. */
function merged(parts: (string | null)[]): Record<string, Json> {
  const members: Record<string, Json> = Object.assign({}, ...parts.map((part) => JSON.parse(part ?? "{}")));
  return Object.fromEntries(
    CONTENT.flatMap((name) => {
      const value = members[name];
      return value === undefined || isEmpty(value) ? [] : [[name, value]];
    }),
  );
}

const isEmpty = (value: Json) => isObject(value) && Object.keys(value).length === 0;
