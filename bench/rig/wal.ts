import pg from "pg";

/** Counts of what was written: rows, index entries, and bytes of the write-ahead log without the images of whole pages. */
export type Written = {
  inserted: number;
  updated: number;
  deleted: number;
  indexEntries: number;
  walBytes: number;
};

const KINDS: [RegExp, keyof Written][] = [
  [/^Heap INSERT/, "inserted"],
  [/^Heap (HOT_)?UPDATE/, "updated"],
  [/^Heap DELETE/, "deleted"],
  [/^Btree (INSERT_LEAF|INSERT_POST|SPLIT_)/, "indexEntries"],
  [/^Gin (INSERT|UPDATE_META_PAGE)$/, "indexEntries"],
];

/*
 * Selects all records of a range. Those of system catalogs and of large values (TOAST) count by their bytes only.
 */
const RECORDS = `SELECT record.resource_manager || ' ' || record.record_type AS kind, record.description,
    record.record_length - record.fpi_length AS bytes, relation.relname AS relation
  FROM pg_get_wal_records_info($1::pg_lsn, $2::pg_lsn) AS record
  LEFT JOIN LATERAL (SELECT (regexp_match(record.block_ref, 'rel \\d+/(\\d+)/(\\d+)'))[2]::oid AS node) AS block ON true
  LEFT JOIN pg_class AS relation ON pg_relation_filenode(relation.oid) = block.node`;

/** Reads the write-ahead log with the extension pg_walinspect, as the superuser. */
export async function openWal(superuserUrl: string) {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  await client.query("CREATE EXTENSION IF NOT EXISTS pg_walinspect");
  async function now(): Promise<string> {
    // The switch flushes what was committed without waiting: only flushed records can be read.
    await client.query("SELECT pg_switch_wal()");
    const { rows } = await client.query<{ lsn: string }>("SELECT pg_current_wal_flush_lsn()::text AS lsn");
    return rows[0]?.lsn ?? "";
  }
  return {
    now,
    async since(start: string): Promise<Written> {
      const end = await now();
      const written: Written = { inserted: 0, updated: 0, deleted: 0, indexEntries: 0, walBytes: 0 };
      if (end === start) return written; // pg_walinspect throws when there is nothing to read
      const { rows } = await client.query<{
        kind: string;
        description: string;
        bytes: number;
        relation: string | null;
      }>(RECORDS, [start, end]);
      for (const { kind, description, bytes, relation } of rows) {
        if (kind.startsWith("XLOG ") || kind.startsWith("Standby ")) continue;
        written.walBytes += bytes;
        if (relation === null || relation.startsWith("pg_")) continue;
        if (kind.startsWith("Heap2 MULTI_INSERT"))
          written.inserted += Number(/ntuples: (\d+)/.exec(description)?.[1] ?? 0);
        for (const [pattern, field] of KINDS) if (pattern.test(kind)) written[field]++;
      }
      return written;
    },
    close: () => client.end(),
  };
}
