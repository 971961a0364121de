import { access } from "@/server/domain/access";
import { INSTALLATION, record } from "@/server/domain/audit";
import { rewrapCredentials } from "@/server/domain/connections";
import type { Ctx } from "@/server/domain/ctx";
import { rewrapped, vaultKeys } from "@/server/platform/crypto/vault";
import { inTransaction, pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { column, int4, list, present, type Shape, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { SEALED_COLUMNS, type SealedColumn } from "./places";
import { requireReaders } from "./processes";

const BATCH = 200;

/**
 * The numbers of rewrapped values, and of values that could not be opened because they are damaged or their key is not
 * here.
 */
export type Rewrapped = { keyId: string; rewrapped: number; unopenable: number };

/**
 * Rewraps every sealed value under the current vault key while other work runs; a value written meanwhile is not
 * overwritten. The run may be stopped and repeated. Throws `PolicyRejected` while a process is alive that does not have
 * this key.
 */
export async function rewrapAll(ctx: Ctx): Promise<Rewrapped> {
  access.authorize(ctx, "operator");
  await requireReaders();
  const total = { rewrapped: 0, unopenable: 0 };
  for (const part of [...PLACES.map((each) => () => rewrapColumn(each)), rewrapCredentials]) {
    const done = await part();
    total.rewrapped += done.rewrapped;
    total.unopenable += done.unopenable;
  }
  const { sealsWith: keyId } = vaultKeys();
  const act = { organizationId: INSTALLATION, action: "vault.rewrapped", subject: keyId };
  await inTransaction((client) => record(ctx, { ...act, details: total }, client));
  return { keyId, ...total };
}

async function rewrapColumn({
  place,
  readFirst,
  readNext,
  change,
}: (typeof PLACES)[number]): Promise<Omit<Rewrapped, "keyId">> {
  const { sealsWith } = vaultKeys();
  const done = { rewrapped: 0, unopenable: 0 };
  const keys = Object.keys(place.key);
  const keyOf = (row: Row) => Object.fromEntries(keys.map((name) => [name, row[name]]));
  for (let last: Row | undefined; ; ) {
    const rows: Row[] = last
      ? await readNext.all(pool, { sealsWith, ...keyOf(last) })
      : await readFirst.all(pool, { sealsWith });
    last = rows.at(-1);
    if (!last) return done;
    const changes = rows.flatMap((row) => {
      try {
        return [{ row, old: row.sealed, fresh: rewrapped(row.sealed) }];
      } catch (error) {
        log.error(
          { err: error, table: place.table, row: keyOf(row) },
          "an encrypted value cannot be decrypted",
        );
        done.unopenable++;
        return [];
      }
    });
    done.rewrapped += await change.count(pool, {
      ...Object.fromEntries(keys.map((name) => [name, changes.map(({ row }) => row[name])])),
      old: changes.map(({ old }) => old),
      fresh: changes.map(({ fresh }) => fresh),
    });
  }
}

type Row = { sealed: string; [key: string]: unknown };

function pageStatement({ table, column, key, when }: SealedColumn, isFirst: boolean) {
  const names = Object.keys(key).join(", ");
  const after = Object.entries(key).map(([name, type]) => `$${name}::${type}`);
  const columns: Shape = Object.fromEntries(
    Object.entries(key).map(([name, type]) => [name, type === "int" ? int4 : text]),
  );
  return statement(`sealed.list.${table}${isFirst ? "" : "_after"}`, {
    params: { sealsWith: text, ...(isFirst ? {} : columns) },
    row: { ...columns, sealed: present(text, "a value that was sealed is a text") },
    sql: `SELECT ${names}, ${column} AS sealed FROM ${table}
     WHERE ${when} AND split_part(${column}, '.', 2) <> $sealsWith ${isFirst ? "" : `AND (${names}) > (${after})`}
     ORDER BY ${names} LIMIT ${BATCH}`,
  });
}

/** `rewrapped` returns null for a value under the current key, but no page contains one. */
const FRESH = column<(string | null)[]>("text[]");

function changeStatement({ table, column, key }: SealedColumn) {
  const names = Object.keys(key);
  const lists = Object.entries(key).map(([name, type]) => `$${name}::${type}[]`);
  const keys: Shape = Object.fromEntries(
    Object.entries(key).map(([name, type]) => [name, type === "int" ? list<number>("int4[]") : texts]),
  );
  return statement(`sealed.update.${table}`, {
    params: { ...keys, old: texts, fresh: FRESH },
    sql: `UPDATE ${table} SET ${column} = change.fresh
     FROM unnest(${lists.join(", ")}, $old::text[], $fresh::text[]) AS change(${names.join(", ")}, old, fresh)
     WHERE ${names.map((name) => `${table}.${name} = change.${name}`).join(" AND ")} AND ${table}.${column} = change.old`,
  });
}

const PLACES = SEALED_COLUMNS.map((place) => ({
  place,
  readFirst: pageStatement(place, true),
  readNext: pageStatement(place, false),
  change: changeStatement(place),
}));
