import { hash } from "node:crypto";
import { pool } from "@/server/db";
import { type Principal, SCOPES, type Scope } from "@/server/domain/ctx";
import { remembered } from "./cache";
import { isKeyText } from "./key-text";
import { noteUse } from "./last-used";

type ServicePrincipal = Extract<Principal, { kind: "service_principal" }>;

type Key = { principal: ServicePrincipal; expiresAt: number | null };

type KeyRow = {
  id: string;
  organization_id: string;
  project_id: string | null;
  environment: string;
  scopes: string[];
  created_by: string | null;
  expires_at: Date | null;
};

const findKey = remembered(async (digest: string): Promise<Key | null> => {
  const { rows } = await pool.query<KeyRow>({
    name: "key-by-hash",
    text: `SELECT id, organization_id, project_id, environment, scopes, created_by, expires_at
           FROM api_key WHERE hash = decode($1, 'hex') AND revoked_at IS NULL`,
    values: [digest],
  });
  const row = rows[0];
  if (!row) return null;
  return {
    expiresAt: row.expires_at?.getTime() ?? null,
    principal: {
      kind: "service_principal",
      id: row.id,
      organizationId: row.organization_id,
      projectId: row.project_id,
      environment: row.environment,
      scopes: new Set(SCOPES.filter((scope: Scope) => row.scopes.includes(scope))),
      userId: row.created_by,
    },
  };
});

/**
 * Keys that were good a while ago, with their digests: their form need not be judged again, and a flood of bad keys
 * cannot lock out their address's good ones. Whether a key is still good is asked each time.
 */
const recent = new Map<string, string>();
const MOST_RECENT = 10_000;

/** Has this key been accepted lately by this process? Costs no query and proves nothing. */
export function isRecentKey(text: string): boolean {
  return recent.has(text);
}

/** Who holds this API key; null for one that is malformed, unknown, revoked or expired. */
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
