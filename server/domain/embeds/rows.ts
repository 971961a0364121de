import {
  type EmbedDefinition,
  EmbedPolicy,
  EmbedPresentation,
  type EmbedSession,
} from "@/server/contract/embeds";
import { panelDefinition, panelSession, panelVersion } from "@/server/generated/schema";
import { fail } from "@/server/platform/errors/errors";
import { beside, int8, maybe, names, type Of, pick, type Shape, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

const DEFINITION = pick(
  panelDefinition,
  "id organization_id project_id key display_name status origin created_at updated_at",
);
const VERSION = pick(
  panelVersion,
  "capability_key capability_version presentation policy allowed_origins actions",
);
const DEFINED = {
  ...DEFINITION,
  ...VERSION,
  version_id: panelVersion.id,
  version: panelVersion.number,
  version_created_at: panelVersion.created_at,
};
export type DefinitionRow = Of<typeof DEFINED>;

/** Builds a statement that reads definitions `d` with their newest version, by a condition on `d`. */
export const definitionsWhere = <P extends Shape>(name: string, params: P, condition: string) =>
  statement(name, {
    params,
    row: DEFINED,
    sql: `SELECT ${names(DEFINITION, "d")}, ${names(VERSION, "v")}, v.id AS version_id, v.number AS version,
       v.created_at AS version_created_at
     FROM panel_definition d JOIN panel_version v ON v.definition_id = d.id AND v.number = d.version
     WHERE ${condition}`,
  });

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

const SESSION = pick(
  panelSession,
  "id organization_id project_id environment allowed_origins external_subject max_spend_micros max_jobs",
  "admitted_jobs initial_inputs locked_inputs created_at expires_at revoked_at",
);
/** Columns of the version that a session runs; null if the session names no definition. */
const RUNS = pick(panelVersion, "definition_id capability_key presentation policy actions");
const OPENED = {
  ...SESSION,
  ...beside("", RUNS),
  definition_key: maybe(panelDefinition.key),
  display_name: maybe(panelDefinition.display_name),
  version: maybe(panelVersion.number),
  live_micros: int8,
  test_micros: int8,
};
export type SessionRow = Of<typeof OPENED>;

const spent = (isTest: boolean) => `coalesce((
  SELECT w.held_micros + w.settled_micros FROM budget_window w JOIN budget b ON b.id = w.budget_id
  WHERE b.organization_id = s.organization_id AND b.scope = 'principal:' || s.id AND b.period = 'total' AND w.is_test = ${isTest}), 0)::bigint`;

/**
 * Builds a statement that reads sessions `s` with their version and the money that counts against their cap,
 * by a condition on `s`.
 */
export const sessionsWhere = <P extends Shape>(name: string, params: P, condition: string) =>
  statement(name, {
    params,
    row: OPENED,
    sql: `SELECT ${names(SESSION, "s")}, ${names(RUNS, "v")}, d.key AS definition_key, d.display_name, v.number AS version,
       ${spent(false)} AS live_micros, ${spent(true)} AS test_micros
     FROM panel_session s LEFT JOIN panel_version v ON v.id = s.version_id LEFT JOIN panel_definition d ON d.id = v.definition_id
     WHERE ${condition}`,
  });
export const readSession = sessionsWhere("embed_session.read", { sessionId: text }, "s.id = $sessionId");

/** Test money and live money are counted separately, each against the whole cap. */
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

/** Defaults for a session without a definition. */
export const USUAL_POLICY = EmbedPolicy.parse({});
export const USUAL_PRESENTATION = EmbedPresentation.parse({});
