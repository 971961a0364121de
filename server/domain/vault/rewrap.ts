import { access } from "@/server/domain/access";
import { INSTALLATION, record } from "@/server/domain/audit";
import { rewrapCredentials } from "@/server/domain/connections";
import type { Ctx } from "@/server/domain/ctx";
import { rewrapped, vaultKeys } from "@/server/platform/crypto/vault";
import { inTransaction, pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { SEALED_COLUMNS, type SealedColumn } from "./places";
import { requireReaders } from "./processes";

const BATCH = 200;

/** What was handed over, and what could not be: it is damaged, or its key is not here. */
export type Rewrapped = { keyId: string; rewrapped: number; unopenable: number };

/**
 * Hands every sealed value to the vault key that seals now, beside the running work: a value that is written meanwhile keeps
 * what was written. May be stopped and run again. PolicyRejected while a process lives that does not have this key.
 */
export async function rewrapAll(ctx: Ctx): Promise<Rewrapped> {
  access.authorize(ctx, "operator");
  await requireReaders();
  const total = { rewrapped: 0, unopenable: 0 };
  for (const part of [...SEALED_COLUMNS.map((place) => () => rewrapColumn(place)), rewrapCredentials]) {
    const done = await part();
    total.rewrapped += done.rewrapped;
    total.unopenable += done.unopenable;
  }
  const { sealsWith: keyId } = vaultKeys();
  const act = { organizationId: INSTALLATION, action: "vault.rewrapped", subject: keyId };
  await inTransaction((client) => record(ctx, { ...act, details: total }, client));
  return { keyId, ...total };
}

async function rewrapColumn(place: SealedColumn): Promise<Omit<Rewrapped, "keyId">> {
  const done = { rewrapped: 0, unopenable: 0 };
  for (let after: unknown[] | null = null; ; ) {
    const rows: Record<string, unknown>[] = await nextRows(place, after);
    const last = rows.at(-1);
    if (!last) return done;
    after = keyOf(place, last);
    const changes = rows.flatMap((row) => {
      try {
        return [{ key: keyOf(place, row), old: row.sealed, fresh: rewrapped(String(row.sealed)) }];
      } catch (error) {
        log.error(
          { err: error, table: place.table, row: keyOf(place, row) },
          "an encrypted value cannot be decrypted",
        );
        done.unopenable++;
        return [];
      }
    });
    done.rewrapped += await writeChanges(place, changes);
  }
}

const keyOf = ({ key }: SealedColumn, row: Record<string, unknown>) =>
  Object.keys(key).map((name) => row[name]);

async function nextRows({ table, column, key, when }: SealedColumn, after: unknown[] | null) {
  const names = Object.keys(key).join(", ");
  const places = Object.values(key).map((type, index) => `$${index + 2}::${type}`);
  const { rows } = await pool.query(
    `SELECT ${names}, ${column} AS sealed FROM ${table}
     WHERE ${when} AND split_part(${column}, '.', 2) <> $1 ${after ? `AND (${names}) > (${places})` : ""}
     ORDER BY ${names} LIMIT ${BATCH}`,
    [vaultKeys().sealsWith, ...(after ?? [])],
  );
  return rows;
}

async function writeChanges(
  { table, column, key }: SealedColumn,
  changes: { key: unknown[]; old: unknown; fresh: string | null }[],
): Promise<number> {
  const names = Object.keys(key);
  const arrays = [...Object.values(key), "text", "text"].map((type, index) => `$${index + 1}::${type}[]`);
  const { rowCount } = await pool.query(
    `UPDATE ${table} SET ${column} = change.fresh
     FROM unnest(${arrays.join(", ")}) AS change(${names.join(", ")}, old, fresh)
     WHERE ${names.map((name) => `${table}.${name} = change.${name}`).join(" AND ")} AND ${table}.${column} = change.old`,
    [
      ...names.map((_, index) => changes.map((change) => change.key[index])),
      changes.map(({ old }) => old),
      changes.map(({ fresh }) => fresh),
    ],
  );
  return rowCount ?? 0;
}
