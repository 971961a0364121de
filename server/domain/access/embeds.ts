import { hash } from "node:crypto";
import type { EmbedTerms } from "@/server/contract/embeds";
import type { Principal } from "@/server/domain/ctx";
import { panelOrigin, panelSession, panelVersion } from "@/server/generated/schema";
import { pool, type Queryable } from "@/server/platform/db";
import { DAY_MS, HOUR_MS } from "@/server/platform/time/units";
import { column, maybe, pick, present, text, texts, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { remembered } from "./cache";
import { isTokenText } from "./key-text";

type EmbedSession = Extract<Principal, { kind: "panel_session" }>;
type Known = { principal: EmbedSession; expiresAt: number };

const readToken = statement("panel_token.read.session", {
  params: { digest: text },
  row: {
    ...pick(panelSession, "id organization_id project_id environment expires_at"),
    created_by_kind: column<"human_session" | "service_principal">("text"),
    allowed_origins: present(panelSession.allowed_origins, "every session is written with its list"),
    user_id: maybe(text),
    locked_inputs: column<EmbedTerms["lockedInputs"]>("jsonb"),
    initial_inputs: column<EmbedTerms["initialInputs"]>("jsonb"),
    capability_key: maybe(panelVersion.capability_key),
    policy: column<EmbedTerms["policy"] | null>("jsonb", true),
  },
  sql: `SELECT session.id, session.organization_id, session.project_id, session.environment, session.allowed_origins,
             session.created_by_kind,
             CASE session.created_by_kind WHEN 'human_session' THEN session.created_by
               ELSE (SELECT created_by FROM api_key WHERE api_key.id = session.created_by) END AS user_id,
             session.expires_at, session.locked_inputs, session.initial_inputs, version.capability_key, version.policy
           FROM panel_token token JOIN panel_session session ON session.id = token.session_id
           LEFT JOIN panel_version version ON version.id = session.version_id
           LEFT JOIN panel_definition definition ON definition.id = version.definition_id
           WHERE token.hash = decode($digest, 'hex') AND session.revoked_at IS NULL
             AND coalesce(definition.status, 'active') = 'active'`,
  prepared: true,
});

const findToken = remembered(async (digest: string): Promise<Known | null> => {
  const row = await readToken.first(pool, { digest });
  if (!row) return null;
  return {
    expiresAt: row.expires_at.getTime(),
    principal: {
      kind: "panel_session",
      id: row.id,
      organizationId: row.organization_id,
      projectId: row.project_id,
      environment: row.environment,
      givenBy: row.created_by_kind,
      userId: row.user_id,
      origins: row.allowed_origins,
      terms: {
        capabilityKey: row.capability_key,
        lockedInputs: row.locked_inputs,
        initialInputs: row.initial_inputs,
        policy: row.policy,
      },
    },
  };
});

/**
 * The embed session of this access token; null if the token is malformed, unknown, expired or revoked, or its
 * embed is not active.
 */
export async function embedHolder(text: string, now: Date): Promise<EmbedSession | null> {
  if (!isTokenText(text, "capp")) return null;
  const known = await findToken(hash("sha256", text, "hex"));
  return known && known.expiresAt > now.getTime() ? known.principal : null;
}

/** The least time after the end of its last session in which a page can still read that the session has ended. */
const KNOWN_AFTER_END_MS = DAY_MS;
/** Additional time, so that an origin's row need not change with each session. */
const SPARE_MS = HOUR_MS;

const readOrigin = statement("panel_origin.read", {
  params: { origin: text },
  row: { told_until: panelOrigin.told_until },
  sql: `SELECT told_until FROM panel_origin WHERE origin = $origin`,
  prepared: true,
});

// An origin without a session is not cached: a new session is visible at once, and invented origins evict
// nothing.
const findOrigin = remembered(
  async (origin: string): Promise<number | null> => {
    const found = await readOrigin.first(pool, { origin });
    return found?.told_until.getTime() ?? null;
  },
  { isKept: (until) => until !== null && until > Date.now() },
);

/**
 * True if a page of this origin may read our answers to embed sessions: if a session is bound to it, or one ended
 * within the last day, or up to an hour earlier. A browser hides even the expiry of a session from the page
 * unless the answer names its origin.
 */
export async function isEmbedOrigin(origin: string, now: Date): Promise<boolean> {
  if (origin.length > 255 || !/^https?:\/\//.test(origin)) return false;
  const until = await findOrigin(origin);
  return until !== null && until > now.getTime();
}

const admit = statement("panel_origin.admit", {
  params: { origins: texts, until: timestamptz, sparedUntil: timestamptz },
  sql: `INSERT INTO panel_origin (origin, told_until)
     SELECT origin, $sparedUntil FROM (SELECT DISTINCT unnest($origins::text[]) AS origin) wanted
     WHERE NOT EXISTS (SELECT FROM panel_origin known WHERE known.origin = wanted.origin AND known.told_until >= $until)
     ORDER BY origin
     ON CONFLICT (origin) DO UPDATE SET told_until = greatest(panel_origin.told_until, excluded.told_until)`,
});

/** Lets pages of these origins read the answers to a session that expires at this time. */
export async function admitOrigins(client: Queryable, origins: string[], expiresAt: Date): Promise<void> {
  const until = expiresAt.getTime() + KNOWN_AFTER_END_MS;
  // The query looks before it writes: even an upsert that changes nothing would lock the row, and all
  // sessions of a page would wait for it.
  await admit.run(client, { origins, until: new Date(until), sparedUntil: new Date(until + SPARE_MS) });
}
