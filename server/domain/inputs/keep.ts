import { artifactStore, lockContent, mayRemove, type Stored } from "@/server/domain/artifacts";
import type { Ctx } from "@/server/domain/ctx";
import { artifact } from "@/server/generated/schema";
import { inTransaction, type Queryable } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { log } from "@/server/platform/log/log";
import { failpoint } from "@/server/platform/settings/failpoint";
import { HOUR_MS } from "@/server/platform/time/units";
import { maybe, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { insertArtifact } from "./artifact-row";

/** Lifetime of an artifact without an owner, which remains if its process died. */
const UNOWNED_MS = HOUR_MS;

/** Bytes in the store whose owner is about to be written. */
export type UnownedFile = Stored & {
  artifactId: string;
  createdAt: Date;
  /** Keeps the bytes until `expiresAt`, or forever if null, in the transaction that writes their owner. */
  own(database: Queryable, expiresAt: Date | null): Promise<void>;
  /** Removes the row, and the bytes if they are new, because no owner will be written. Never throws. */
  discard(): Promise<void>;
};

type Keeping = { maxBytes: number; filename: string | null; mediaType?: string };

const storeExpiry = statement("artifact.update.expires_at", {
  params: { artifactId: text, expiresAt: maybe(timestamptz) },
  sql: `UPDATE artifact SET expires_at = $expiresAt WHERE id = $artifactId`,
});

/**
 * Stores bytes as an artifact of the project whose owner is written next. An artifact row with a short expiry
 * is written before the bytes are in the store: if the process dies in between, pruning finds everything that
 * it left.
 */
export async function keepFor(
  ctx: Ctx,
  projectId: string,
  source: AsyncIterable<Uint8Array>,
  { maxBytes, filename, mediaType = "application/octet-stream" }: Keeping,
): Promise<UnownedFile> {
  const artifactId = newId("artifact");
  let isNew = false;
  let createdAt = ctx.now();
  /**
   * Time at which the store received these bytes, if it had none before; null if they are not known to be
   * new.
   */
  let putAt: Date | null = null;
  const discard = (stored: Stored) => discardArtifact(artifactId, stored.sha256, putAt);
  let announced: Stored | undefined;
  try {
    const stored = await artifactStore().put(source, {
      maxBytes,
      async beforeKept(whole) {
        failpoint("after-bytes-came");
        createdAt = ctx.now();
        await inTransaction(async (client) => {
          await lockContent(client, whole.sha256);
          await insertArtifact(
            ctx,
            {
              ...whole,
              artifactId,
              projectId,
              mediaType,
              filename,
              createdAt,
              expiresAt: new Date(createdAt.getTime() + UNOWNED_MS),
            },
            client,
          );
        });
        announced = whole;
        isNew = !(await artifactStore().stat(whole.sha256));
      },
    });
    if (isNew) putAt = (await artifactStore().stat(stored.sha256))?.storedAt ?? null;
    failpoint("after-bytes-kept");
    return {
      ...stored,
      artifactId,
      createdAt,
      async own(database, expiresAt) {
        await storeExpiry.run(database, { artifactId, expiresAt });
      },
      discard: () => discard(stored),
    };
  } catch (error) {
    if (announced) await discard(announced);
    throw error;
  }
}

const findSameContent = statement("artifact.find.same_content", {
  params: { sha256: text, artifactId: text },
  row: { id: artifact.id },
  sql: `SELECT id FROM artifact WHERE sha256 = $sha256 AND pruned_at IS NULL AND id <> $artifactId LIMIT 1`,
});

const deleteArtifact = statement("artifact.delete", {
  params: { artifactId: text },
  sql: `DELETE FROM artifact WHERE id = $artifactId`,
});

/**
 * Removes new bytes at once, unless another caller announced or put the same ones. Bytes that were there
 * before may be about to get an owner, such as a job's output; pruning removes those later.
 */
async function discardArtifact(artifactId: string, sha256: string, putAt: Date | null): Promise<void> {
  try {
    await inTransaction(async (client) => {
      if (!(await mayRemove(client))) return;
      await lockContent(client, sha256);
      const rows = await findSameContent.all(client, { sha256, artifactId });
      const isShared = rows.length > 0;
      const stored = isShared ? null : await artifactStore().stat(sha256);
      if (stored && stored.storedAt.getTime() !== putAt?.getTime()) return;
      if (stored) await artifactStore().remove(sha256);
      await deleteArtifact.run(client, { artifactId });
    });
  } catch (cause) {
    // The refusal that led here is the error to report; the row expires, and pruning removes the bytes with
    // it.
    log.warn({ err: cause, artifactId }, "an upload without an owner is left for pruning");
  }
}
