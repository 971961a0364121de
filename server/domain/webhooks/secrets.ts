import { isGoodSecret } from "@/server/contract/webhooks";
import { deliveryEndpoint } from "@/server/generated/schema";
import { openSecret, sealSecret } from "@/server/platform/crypto/vault";
import { pool } from "@/server/platform/db";
import { int8, pick, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/** A sealed secret and the id of its endpoint. */
type Sealed = { id: string; secret: string };

/** The context that a secret is sealed with, so that a secret copied to another row does not open. */
const placeOf = (endpointId: string) => `delivery_endpoint|${endpointId}|secret`;

export const sealed = (secret: string, endpointId: string): string => sealSecret(secret, placeOf(endpointId));

/** Opens the secret of an endpoint for signing. Throws if it is damaged or belongs to another endpoint. */
export const endpointSecret = ({ id, secret }: Sealed): string =>
  openSecret(secret, placeOf(id)).toString("utf8");

/** True if the secret would be refused today. Earlier versions accepted any text. */
export function hasWeakSecret(endpoint: Sealed): boolean {
  try {
    return !isGoodSecret(endpointSecret(endpoint));
  } catch {
    return true; // a damaged secret cannot sign, and is replaced in the same way
  }
}

const PAGE = 500;

const pageOfEndpoints = statement("endpoint.list.secrets", {
  params: { after: text, limit: int8 },
  row: pick(deliveryEndpoint, "id organization_id secret"),
  sql: `SELECT id, organization_id, secret FROM delivery_endpoint WHERE enabled AND id > $after ORDER BY id LIMIT $limit`,
});

/** Returns the enabled endpoints of the whole installation that have a weak secret, for its operator. */
export async function weakEndpoints(): Promise<{ endpointId: string; organizationId: string }[]> {
  const found: { endpointId: string; organizationId: string }[] = [];
  for (let after = ""; ; ) {
    const rows = await pageOfEndpoints.all(pool, { after, limit: PAGE });
    for (const row of rows)
      if (hasWeakSecret(row)) found.push({ endpointId: row.id, organizationId: row.organization_id });
    if (rows.length < PAGE) return found;
    after = rows.at(-1)?.id ?? after;
  }
}
