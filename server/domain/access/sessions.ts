import { hash } from "node:crypto";
import type { ClosedBecause, Principal, Role } from "@/server/domain/ctx";
import { session as sessionTable, userAccount } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { HOUR_MS } from "@/server/platform/time/units";
import { bool, json, type Of, pick, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { remembered } from "./cache";
import { isTokenText } from "./key-text";
import { noteUse } from "./last-used";
import { securityOf } from "./security";

type HumanSession = Extract<Principal, { kind: "human_session" }> & { sessionId: string };
type Session = { principal: HumanSession; expiresAt: number };

const SESSION = {
  ...pick(sessionTable, "id user_id created_at expires_at"),
  ...pick(userAccount, "email is_operator"),
  has_second_factor: bool,
  places: json<Record<string, { role: Role; security: unknown }> | null>(),
};
type Row = Of<typeof SESSION>;

/**
 * Reads a session and its person in one statement. A revoked session is not found, nor one that a password
 * change or a sign-out everywhere ended; the caller checks the expiry.
 */
const reader = (name: string, where: string) => {
  const read = statement(name, {
    params: { value: text },
    row: SESSION,
    sql: `SELECT session.id, user_id, session.created_at, expires_at, email, is_operator,
               second_factor_at IS NOT NULL AS has_second_factor,
               (SELECT json_object_agg(organization_id, json_build_object('role', role, 'security',
                  CASE jsonb_typeof(settings) WHEN 'object' THEN settings->'security' ELSE 'false' END))
                FROM membership JOIN organization ON organization.id = organization_id
                WHERE membership.user_id = user_account.id) AS places
             FROM session JOIN user_account ON user_account.id = user_id AND session_version = version
             WHERE ${where} AND revoked_at IS NULL`,
    prepared: true,
  });
  return remembered(async (value: string): Promise<Session | null> => {
    const row = await read.first(pool, { value });
    return row && toSession(row);
  });
};

const findById = reader("session.read.id", "session.id = $value AND kind = 'browser'");
const findByToken = reader("session.read.token", "token_hash = decode($value, 'hex')");

/**
 * Memberships become rights only here. An organization with damaged settings gives its members no rights, and
 * neither does one that requires a second factor to a member without it; a member of either loses operator
 * rights too. The strictest organization limits a person's sessions.
 */
function toSession(row: Row): Session {
  const memberships = new Map<string, Role>();
  const closedOrganizations = new Map<string, ClosedBecause>();
  let expiresAt = row.expires_at.getTime();
  for (const [organizationId, { role, security }] of Object.entries(row.places ?? {})) {
    const asked = securityOf(security);
    if (!asked)
      log.error(
        { organizationId },
        "the security settings of an organization are damaged; its members have no rights there",
      );
    if (asked?.sessionHours)
      expiresAt = Math.min(expiresAt, row.created_at.getTime() + asked.sessionHours * HOUR_MS);
    if (!asked) closedOrganizations.set(organizationId, "damaged");
    else if (asked.requireSecondFactor && !row.has_second_factor)
      closedOrganizations.set(organizationId, "second_factor");
    else memberships.set(organizationId, role);
  }
  return {
    expiresAt,
    principal: {
      kind: "human_session",
      id: row.user_id,
      email: row.email,
      isOperator: row.is_operator && closedOrganizations.size === 0,
      memberships,
      sessionId: row.id,
      closedOrganizations,
    },
  };
}

/** The person of a browser session; null if the session is unknown, expired or revoked. */
export async function sessionPrincipal(sessionId: string, now: Date): Promise<HumanSession | null> {
  return working(await findById(sessionId), now);
}

/**
 * The person who signed in on a device, by its bearer token; null if its session is unknown, expired or
 * revoked.
 */
export async function devicePrincipal(token: string, now: Date): Promise<HumanSession | null> {
  return isTokenText(token, "caps") ? working(await findByToken(hash("sha256", token, "hex")), now) : null;
}

function working(session: Session | null, now: Date): HumanSession | null {
  if (!session || session.expiresAt <= now.getTime()) return null;
  noteUse("session", session.principal.sessionId, now);
  return session.principal;
}
