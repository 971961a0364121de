import { remembered } from "@/server/domain/access";
import { credential, credentialBinding } from "@/server/generated/schema";
import type { Secret } from "@/server/platform/crypto/secret";
import { pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { type Of, pick, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import type { RulesByModel } from "./request-rules";
import { openFields } from "./secret-fields";

/** A credential bound to an environment of a project, as routing needs it, without any part of the secret. */
export type BoundConnection = {
  credentialId: string;
  /** Its name in routes: the provider's, or `provider:label` for a further server. */
  provider: string;
  models: string | null;
  /** Request members that its server receives; null for the usual ones. */
  passThrough: string[] | null;
  /** Most that one execution on it may cost; null if unlimited. */
  perExecutionMicros: number | null;
};

const BOUND = {
  ...pick(credentialBinding, "environment provider"),
  ...pick(credential, "models pass_through guardrails"),
  credential_id: credential.id,
};
type Row = Of<typeof BOUND>;

const listOfProject = statement("credential.list.project", {
  params: { projectId: text },
  row: BOUND,
  sql: `SELECT credential.id AS credential_id, binding.environment, binding.provider, credential.models,
             credential.pass_through, credential.guardrails
           FROM credential_binding binding JOIN credential ON credential.id = binding.credential_id
           WHERE binding.project_id = $projectId ORDER BY binding.id`,
  prepared: true,
});

/** Cached where changes are received; every change empties the cache in every process. */
const bound = remembered(async (projectId: string): Promise<readonly Row[]> => {
  const rows = await listOfProject.all(pool, { projectId });
  return rows;
});

const NONE: readonly BoundConnection[] = [];

/** The connections of an environment of a project. */
export async function connectionsOf(project: {
  id: string;
  environment: string;
}): Promise<readonly BoundConnection[]> {
  const rows = await bound(project.id);
  if (rows.length === 0) return NONE;
  return rows
    .filter(({ environment }) => environment === project.environment)
    .map(({ credential_id, provider, models, pass_through, guardrails }) => ({
      credentialId: credential_id,
      provider,
      models,
      passThrough: pass_through,
      perExecutionMicros: guardrails?.perExecutionMicros ?? null,
    }));
}

/** An account with its secrets opened, just before a call. */
export type OpenAccount = {
  baseUrl: string;
  credentials: Record<string, Secret>;
  /** Request members that the connection's server accepts, by model. */
  requestRules?: RulesByModel;
};

const readAccount = statement("credential.read.account", {
  params: { credentialId: text, projectId: text, environment: text, provider: text },
  row: pick(credential, "organization_id base_url sealed request_rules"),
  sql: `SELECT credential.organization_id, credential.base_url, credential.sealed, credential.request_rules
           FROM credential_binding binding
           JOIN credential ON credential.id = binding.credential_id AND credential.organization_id = binding.organization_id
           WHERE binding.credential_id = $credentialId AND binding.project_id = $projectId AND binding.environment = $environment
             AND credential.provider = split_part($provider, ':', 1)`,
  prepared: true,
});

/**
 * Opens exactly this credential for one call, with the address it was stored for. Null if it was deleted or
 * unbound from this environment, or cannot be decrypted; nothing is sent then.
 */
export async function openAccount(
  credentialId: string,
  provider: string,
  project: { id: string; environment: string },
): Promise<OpenAccount | null> {
  const row = await readAccount.first(pool, {
    credentialId,
    projectId: project.id,
    environment: project.environment,
    provider,
  });
  if (!row) return null;
  try {
    return {
      baseUrl: row.base_url,
      credentials: openFields(row.organization_id, credentialId, row.sealed),
      ...(row.request_rules ? { requestRules: row.request_rules } : {}),
    };
  } catch (err) {
    log.error({ err, credentialId }, "a stored credential cannot be decrypted");
    return null;
  }
}
