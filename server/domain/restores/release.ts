import { access } from "@/server/domain/access";
import { INSTALLATION, record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { inTransaction, pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { HELD, HELD_KINDS, type HeldKind, holdAll, isInUse } from "./held";

export type HeldWork = {
  kind: HeldKind;
  /** Not finished, of what is held. */
  unfinished: number;
  /** What was created until then is held. */
  before: string;
};

/** What this installation holds since it was restored, with counts. For operators. */
export async function heldWork(ctx: Ctx): Promise<HeldWork[]> {
  access.authorize(ctx, "operator");
  const { rows } = await pool.query<{ kind: HeldKind; before: Date }>(
    "SELECT kind, before FROM restore_hold",
  );
  const kinds = rows.toSorted((one, other) => HELD_KINDS.indexOf(one.kind) - HELD_KINDS.indexOf(other.kind));
  return Promise.all(
    kinds.map(async ({ kind, before }) => ({
      kind,
      unfinished: await unfinished(kind, before),
      before: before.toISOString(),
    })),
  );
}

async function unfinished(kind: HeldKind, before: Date): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*) AS count FROM ${HELD[kind].table} WHERE ${HELD[kind].unfinished} AND created_at <= $1`,
    [before],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Lets these kinds of work go on, and answers what was held of them; kinds that are not held are left out. The processes take
 * it up within seconds, or when what the original handed over has timed out, minutes after the snapshot. For operators.
 */
export async function releaseHeld(ctx: Ctx, kinds: readonly HeldKind[]): Promise<HeldWork[]> {
  const released = (await heldWork(ctx)).filter(({ kind }) => kinds.includes(kind));
  await inTransaction(async (client) => {
    for (const { kind, ...details } of released) {
      await client.query("DELETE FROM restore_hold WHERE kind = $1", [kind]);
      const act = { organizationId: INSTALLATION, action: "restore.released", subject: kind, details };
      await record(ctx, act, client);
    }
  });
  return released;
}

/**
 * Holds all that is unfinished in a database that was restored by other means than ours. For operators; PolicyRejected while
 * a process uses the database, which would not notice.
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
