import { hash } from "node:crypto";
import { KEY_SCOPES, MANAGEMENT_SCOPES, SCOPES } from "@/server/contract/enums";
import { ManagementGrant } from "@/server/contract/management-keys";
import type { Principal, Scope } from "@/server/domain/ctx";
import { apiKey } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { maybe, pick, present, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { remembered } from "./cache";
import { isKeyText } from "./key-text";
import { noteUse } from "./last-used";

type ServicePrincipal = Extract<Principal, { kind: "service_principal" }>;

type Key = { principal: ServicePrincipal; expiresAt: number | null };

const readKey = statement("api_key.read.hash", {
  params: { digest: text },
  row: {
    ...pick(apiKey, "id organization_id project_id environment created_by management made_by_key"),
    scopes: present(apiKey.scopes, "every key is written with its list"),
    /** The end of the management key that created this key also ends this key. */
    expires_at: maybe(timestamptz),
  },
  sql: `SELECT key.id, key.organization_id, key.project_id, key.environment, key.scopes, key.created_by, key.management,
             key.made_by_key, least(key.expires_at, maker.expires_at) AS expires_at
           FROM api_key key LEFT JOIN api_key maker ON maker.id = key.made_by_key
           WHERE key.hash = decode($digest, 'hex') AND key.revoked_at IS NULL AND maker.revoked_at IS NULL`,
  prepared: true,
});

const findKey = remembered(async (digest: string): Promise<Key | null> => {
  const row = await readKey.first(pool, { digest });
  if (!row) return null;
  const possible: readonly Scope[] = row.management ? MANAGEMENT_SCOPES : KEY_SCOPES;
  return {
    expiresAt: row.expires_at?.getTime() ?? null,
    principal: {
      kind: "service_principal",
      id: row.id,
      organizationId: row.organization_id,
      projectId: row.project_id,
      environment: row.environment,
      scopes: new Set(SCOPES.filter((scope) => row.scopes.includes(scope) && possible.includes(scope))),
      userId: row.created_by,
      ...(row.management ? { management: ManagementGrant.parse(row.management) } : {}),
      ...(row.made_by_key ? { madeByKey: row.made_by_key } : {}),
    },
  };
});

/**
 * Recently accepted keys with their digests: their form need not be checked again, and a flood of bad keys
 * cannot lock out good ones from the same address. Validity is still checked each time.
 */
const recent = new Map<string, string>();
const MOST_RECENT = 10_000;

/** True if this process accepted the key recently. Costs no query and proves nothing. */
export function isRecentKey(text: string): boolean {
  return recent.has(text);
}

/** The principal of this API key; null if the key is malformed, unknown, revoked or expired. */
export async function keyPrincipal(text: string, now: Date): Promise<ServicePrincipal | null> {
  const known = recent.get(text);
  if (known === undefined && !isKeyText(text)) return null;
  const digest = known ?? hash("sha256", text, "hex");
  const key = await findKey(digest);
  if (!key || (key.expiresAt !== null && key.expiresAt <= now.getTime())) {
    recent.delete(text);
    return null;
  }
  if (known === undefined) {
    if (recent.size >= MOST_RECENT) recent.clear();
    recent.set(text, digest);
  }
  noteUse("key", key.principal.id, now);
  return key.principal;
}
