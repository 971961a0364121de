import { artifactStore } from "@/server/domain/artifacts";
import type { Ctx } from "@/server/domain/ctx";
import { artifact } from "@/server/generated/schema";
import { isSignedText, signText } from "@/server/platform/crypto/vault";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { env, publicUrl } from "@/server/platform/settings/env";
import { pick, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/*
 * The link to weights in our own store for a vendor without an account here: it serves one artifact until it
 * expires and is never stored or logged. It has no query, since vendors drop those, and ends like a weights
 * file.
 */

const PATH = "/v1/adapter-weights";
const NAME = /^(art_[0-9a-hjkmnp-tv-z]{26})\.([0-9a-z]{1,9})\.([\w-]{43})\.safetensors$/;

const PURPOSE = "adapter-weights";

/** The address at which vendors reach this installation. */
export const ownAddress = (): string => env.PUBLIC_URL ?? publicUrl;

/** The link to these weights, valid until `expiresAt`. */
export function weightsLink(artifactId: string, expiresAt: Date): string {
  const expires = Math.floor(expiresAt.getTime() / 1000).toString(36);
  const mac = signText(`${artifactId}.${expires}`, PURPOSE);
  return `${ownAddress()}${PATH}/${artifactId}.${expires}.${mac}.safetensors`;
}

/** The file behind a link. Every fault of a link gives the same NotFound. */
export async function findWeights(ctx: Ctx, name: string) {
  const [, artifactId, expires, mac] = NAME.exec(name) ?? [];
  if (!artifactId || !expires || !mac) return notThere();
  if (!isSignedText(`${artifactId}.${expires}`, PURPOSE, mac)) return notThere();
  if (Number.parseInt(expires, 36) * 1000 <= ctx.now().getTime()) return notThere();
  return (await findStored(artifactId)) ?? notThere();
}

const readStored = statement("artifact.read.unpruned", {
  params: { artifactId: text },
  row: pick(artifact, "sha256 byte_length media_type"),
  sql: "SELECT sha256, byte_length, media_type FROM artifact WHERE id = $artifactId AND pruned_at IS NULL",
});

/** The weights of an artifact; null if they are no longer in the store. */
export async function findStored(artifactId: string) {
  const found = await readStored.first(pool, { artifactId });
  return found && (await artifactStore().stat(found.sha256)) ? found : null;
}

const notThere = (): never =>
  fail("NotFound", "There are no weights at this address, or the link has expired.");
