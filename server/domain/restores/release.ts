import { access } from "@/server/domain/access";
import { INSTALLATION, record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { restoreHold } from "@/server/generated/schema";
import { inTransaction, pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { int8, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { forEachKind, HELD_KINDS, HELD_WORK, type HeldKind, holdAll, isInUse } from "./held";

export type HeldWork = {
  kind: HeldKind;
  /** The number of unfinished rows that are held. */
  unfinished: number;
  /** Rows created up to this time are held. */
  before: string;
};

const listHolds = statement("restore_hold.list", {
  row: restoreHold,
  sql: `SELECT kind, before FROM restore_hold`,
});

/** Returns the work that is held since this installation was restored, with counts. Only operators may call this. */
export async function heldWork(ctx: Ctx): Promise<HeldWork[]> {
  access.authorize(ctx, "operator");
  const rows = await listHolds.all(pool, {});
  const kinds = rows.toSorted((one, other) => HELD_KINDS.indexOf(one.kind) - HELD_KINDS.indexOf(other.kind));
  return Promise.all(
    kinds.map(async ({ kind, before }) => ({
      kind,
      unfinished: await unfinished(kind, before),
      before: before.toISOString(),
    })),
  );
}

const countUnfinished = forEachKind((kind) =>
  statement(`restore_hold.count.${kind}`, {
    params: { before: timestamptz },
    row: { count: int8 },
    sql: `SELECT count(*) AS count FROM ${HELD_WORK[kind].table} WHERE ${HELD_WORK[kind].unfinished} AND created_at <= $before`,
  }),
);

async function unfinished(kind: HeldKind, before: Date): Promise<number> {
  const counted = await countUnfinished[kind].first(pool, { before });
  return counted?.count ?? 0;
}

const endHold = statement("restore_hold.delete.released", {
  params: { kind: text },
  sql: `DELETE FROM restore_hold WHERE kind = $kind`,
});

/**
 * Releases these kinds of work, and returns what was held of them; kinds that are not held are left out. Processes
 * resume the work within seconds, or some minutes after the snapshot if a handover by the original must time out first.
 * Only operators may call this.
 */
export async function releaseHeld(ctx: Ctx, kinds: readonly HeldKind[]): Promise<HeldWork[]> {
  const released = (await heldWork(ctx)).filter(({ kind }) => kinds.includes(kind));
  await inTransaction(async (client) => {
    for (const { kind, ...details } of released) {
      await endHold.run(client, { kind });
      const act = { organizationId: INSTALLATION, action: "restore.released", subject: kind, details };
      await record(ctx, act, client);
    }
  });
  return released;
}

/**
 * Holds all unfinished work in a database that was restored by other means. Only operators may call this. Throws
 * `PolicyRejected` while a process uses the database, since it would not notice.
 */
export async function holdRestored(ctx: Ctx): Promise<HeldWork[]> {
  access.authorize(ctx, "operator");
  await inTransaction(async (client) => {
    if (await isInUse(client))
      fail(
        "PolicyRejected",
        "Processes use this database. Stop web and worker, wait a minute, then run it again.",
      );
    await holdAll(client);
    const act = { organizationId: INSTALLATION, action: "restore.held", subject: "all", details: {} };
    await record(ctx, act, client);
  });
  return heldWork(ctx);
}
