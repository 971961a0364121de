import type { JsonObject } from "@/server/contract/common";
import {
  type EmbedDefinition,
  EmbedPolicy,
  EmbedPresentation,
  type EmbedSession,
} from "@/server/contract/embeds";
import type { Queryable } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";

export type DefinitionRow = {
  id: string;
  organization_id: string;
  project_id: string | null;
  key: string;
  display_name: string;
  status: EmbedDefinition["status"];
  origin: EmbedDefinition["origin"];
  created_at: Date;
  updated_at: Date;
  version_id: string;
  version: number;
  capability_key: string | null;
  capability_version: string | null;
  presentation: EmbedDefinition["currentVersion"]["presentation"];
  policy: EmbedDefinition["currentVersion"]["policy"];
  allowed_origins: string[];
  actions: EmbedDefinition["currentVersion"]["actions"];
  version_created_at: Date;
};

/** Definitions `d` with their newest version, by a condition on `d`. */
export async function readDefinitions(
  database: Queryable,
  condition: string,
  values: unknown[],
): Promise<DefinitionRow[]> {
  const { rows } = await database.query<DefinitionRow>(
    `SELECT d.*, v.id AS version_id, v.number AS version, v.capability_key, v.capability_version, v.presentation, v.policy,
       v.allowed_origins, v.actions, v.created_at AS version_created_at
     FROM panel_definition d JOIN panel_version v ON v.definition_id = d.id AND v.number = d.version
     WHERE ${condition}`,
    values,
  );
  return rows;
}

/** The wire's definition. */
export function toDefinition(row: DefinitionRow): EmbedDefinition {
  return {
    id: row.id,
    organizationId: row.organization_id,
    projectId: row.project_id,
    key: row.key,
    displayName: row.display_name,
    status: row.status,
    origin: row.origin,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    currentVersion: {
      id: row.version_id,
      definitionId: row.id,
      version: row.version,
      capabilityKey: row.capability_key,
      capabilityVersion: row.capability_version,
      allowedOrigins: row.allowed_origins,
      presentation: row.presentation,
      policy: row.policy,
      actions: row.actions,
      createdAt: row.version_created_at.toISOString(),
    },
  };
}

export type SessionRow = {
  id: string;
  organization_id: string;
  project_id: string;
  environment: string;
  allowed_origins: string[];
  external_subject: string | null;
  max_spend_micros: number;
  max_jobs: number;
  admitted_jobs: number;
  initial_inputs: JsonObject;
  locked_inputs: JsonObject;
  created_at: Date;
  expires_at: Date;
  revoked_at: Date | null;
  definition_id: string | null;
  definition_key: string | null;
  display_name: string | null;
  version: number | null;
  capability_key: string | null;
  presentation: EmbedPresentation | null;
  policy: EmbedPolicy | null;
  actions: DefinitionRow["actions"] | null;
  live_micros: number;
  test_micros: number;
};

const spent = (isTest: boolean) => `coalesce((
  SELECT w.held_micros + w.settled_micros FROM budget_window w JOIN budget b ON b.id = w.budget_id
  WHERE b.organization_id = s.organization_id AND b.scope = 'principal:' || s.id AND b.period = 'total' AND w.is_test = ${isTest}), 0)::bigint`;

/** Sessions `s` with what they run and what counts against their cap, by a condition on `s`. */
export async function readSessions(
  database: Queryable,
  condition: string,
  values: unknown[],
): Promise<SessionRow[]> {
  const { rows } = await database.query<SessionRow>(
    `SELECT s.*, v.definition_id, d.key AS definition_key, d.display_name, v.number AS version, v.capability_key, v.presentation,
       v.policy, v.actions, ${spent(false)} AS live_micros, ${spent(true)} AS test_micros
     FROM panel_session s LEFT JOIN panel_version v ON v.id = s.version_id LEFT JOIN panel_definition d ON d.id = v.definition_id
     WHERE ${condition}`,
    values,
  );
  return rows;
}

/** The wire's session. Test money and live money are counted apart, each against the whole cap. */
export function toSession(row: SessionRow, now: Date): EmbedSession {
  return {
    sessionId: row.id,
    organizationId: row.organization_id,
    projectId: row.project_id,
    environment: row.environment,
    panelDefinitionId: row.definition_id,
    panelDefinitionVersion: row.version,
    status: row.revoked_at ? "revoked" : row.expires_at <= now ? "expired" : "active",
    allowedOrigins: row.allowed_origins,
    externalSubject: row.external_subject,
    maxSpendMicros: row.max_spend_micros,
    spentMicros: row.live_micros,
    testSpentMicros: row.test_micros,
    maxJobs: row.max_jobs,
    admittedJobs: row.admitted_jobs,
    initialInputs: row.initial_inputs,
    lockedInputs: row.locked_inputs,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    revokedAt: row.revoked_at?.toISOString() ?? null,
  };
}

export const noSuchSession = (): never => fail("NotFound", "There is no such embed session.");
export const noSuchDefinition = (): never => fail("NotFound", "There is no such embed definition.");

/** What holds where no definition says more. */
export const USUAL_POLICY = EmbedPolicy.parse({});
export const USUAL_PRESENTATION = EmbedPresentation.parse({});
