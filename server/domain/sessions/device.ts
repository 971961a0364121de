import { hash, randomBytes } from "node:crypto";
import type { DeviceStarted, DeviceToken, WaitingDevice } from "@/server/contract/sessions";
import { makeTokenText } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { enforceBruteForceLimit } from "@/server/domain/organizations";
import { inTransaction, pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { networkOf } from "@/server/platform/network-of";
import { publicUrl } from "@/server/platform/settings/env";
import { DAY_SECONDS } from "@/server/platform/time/units";
import { currentId, ownId, recordOwn } from "./own";
import { makeUserCode, readUserCode, showUserCode } from "./user-code";

/** How long a person has to enter the code. */
const CODE_SECONDS = 15 * 60;
/** How long a device waits before it asks for its token again. */
const INTERVAL_SECONDS = 2;
/** How long an approved device stays signed in, unless an organization of the person asks for less. */
const DEVICE_SECONDS = 30 * DAY_SECONDS;
/** So many logins may be begun from one address while a code lives: more waiting ones make guessing easier. */
const MOST_STARTED = 30;

/** Begins the sign-in of a device: it shows the user code to its person, and asks for its token with the device code. */
export async function startDevice(ctx: Ctx, clientName = "A device"): Promise<DeviceStarted> {
  const [deviceCode, userCode, now] = [randomBytes(32).toString("base64url"), makeUserCode(), ctx.now()];
  const { rowCount } = await pool.query(
    `INSERT INTO device_login (id, code_hash, user_code, client_name, address, created_at, expires_at)
     SELECT $1, $2, $3, $4, $5, $6, $6::timestamptz + make_interval(secs => $7)
     WHERE (SELECT count(*) FROM device_login
            WHERE address = $5 AND created_at > $6::timestamptz - make_interval(secs => $7)) < $8`,
    [
      newId("deviceLogin"),
      hash("sha256", deviceCode, "buffer"),
      userCode,
      clientName,
      networkOf(ctx.address ?? ""),
      now,
      CODE_SECONDS,
      MOST_STARTED,
    ],
  );
  if (rowCount === 0)
    fail(
      "RateLimited",
      "Too many devices are signing in from this address. Wait a few minutes, then try again.",
      {
        retryAfterSeconds: CODE_SECONDS,
      },
    );
  const shown = showUserCode(userCode);
  const verificationUri = new URL("/device", publicUrl).href;
  const verificationUriComplete = `${verificationUri}?${new URLSearchParams({ code: shown })}`;
  return {
    userCode: shown,
    verificationUri,
    verificationUriComplete,
    deviceCode,
    expiresIn: CODE_SECONDS,
    interval: INTERVAL_SECONDS,
    user_code: shown,
    verification_uri: verificationUri,
    verification_uri_complete: verificationUriComplete,
    device_code: deviceCode,
    expires_in: CODE_SECONDS,
  };
}

type Waiting = {
  user_code: string;
  client_name: string;
  address: string;
  created_at: Date;
  expires_at: Date;
};

/** What asks with this code. NotFound for a code no one waits with; guesses are counted by person and by address. */
export function lookAtDevice(ctx: Ctx, userCode: string): Promise<WaitingDevice> {
  ownId(ctx);
  return enforceBruteForceLimit(ctx, "device", async () => {
    const { rows } = await pool.query<Waiting>(
      "SELECT * FROM device_login WHERE user_code = $1 AND decision IS NULL AND expires_at > $2",
      [readUserCode(userCode), ctx.now()],
    );
    const row = rows[0] ?? noDevice();
    return {
      userCode: showUserCode(row.user_code),
      clientName: row.client_name,
      address: row.address,
      createdAt: row.created_at.toISOString(),
      expiresAt: row.expires_at.toISOString(),
    };
  });
}

/** Lets a waiting device in as the caller, or turns it away; once. For browsers: a device signs in no other device. */
export function decideDevice(
  ctx: Ctx,
  { userCode, decision }: { userCode: string; decision: "approved" | "denied" },
): Promise<void> {
  const userId = ownId(ctx);
  return enforceBruteForceLimit(ctx, "device", () =>
    inTransaction(async (client) => {
      const { rows } = await client.query<{ id: string; client_name: string; address: string }>(
        `UPDATE device_login SET decision = $3, decided_by = session.user_id, version = session.version FROM session
         WHERE user_code = $1 AND decision IS NULL AND device_login.expires_at > $2
           AND session.id = $4 AND kind = 'browser' AND revoked_at IS NULL
         RETURNING device_login.id, client_name, device_login.address`,
        [readUserCode(userCode), ctx.now(), decision, currentId(ctx)],
      );
      const row = rows[0] ?? noDevice();
      const details = { clientName: row.client_name, deviceAddress: row.address };
      await recordOwn(ctx, { userId, action: `device.${decision}`, subject: row.id, details }, client);
    }),
  );
}

function noDevice(): never {
  fail("NotFound", "No device is waiting with this code. Check the code, or start again on the device.");
}

/**
 * The session of an approved device, once. AuthorizationPending until somebody decided; Gone for a code that is used, denied
 * or too old.
 */
export async function redeemDevice(ctx: Ctx, deviceCode: string): Promise<DeviceToken> {
  const codeHash = hash("sha256", deviceCode, "buffer");
  const [sessionToken, sessionId, now] = [makeTokenText("caps"), newId("session"), ctx.now()];
  const begun = await inTransaction(async (client) => {
    // Who moves used_at is the one who gets the session. An approval of before a password change is none.
    const { rows } = await client.query<{ user_id: string; expires_at: Date }>(
      `WITH used AS (
         UPDATE device_login SET used_at = $2 FROM user_account
         WHERE code_hash = $1 AND decision = 'approved' AND used_at IS NULL AND expires_at > $2
           AND user_account.id = decided_by AND session_version = version
         RETURNING decided_by, version, client_name
       )
       INSERT INTO session (id, user_id, kind, label, address, version, token_hash, created_at, last_seen_at, expires_at)
       SELECT $3, decided_by, 'device', client_name, $4, version, $5, $2, $2, $2::timestamptz + make_interval(secs => $6)
       FROM used RETURNING user_id, expires_at`,
      [codeHash, now, sessionId, ctx.address ?? "", hash("sha256", sessionToken, "buffer"), DEVICE_SECONDS],
    );
    const [session] = rows;
    if (session)
      await recordOwn(
        ctx,
        { userId: session.user_id, action: "session.started", subject: sessionId },
        client,
      );
    return session;
  });
  if (!begun) return refuseDevice(codeHash, now);
  return {
    sessionToken,
    csrfToken: randomBytes(32).toString("hex"),
    principalId: begun.user_id,
    appBaseUrl: publicUrl,
    sessionId,
    expiresAt: begun.expires_at.toISOString(),
  };
}

async function refuseDevice(codeHash: Buffer, now: Date): Promise<never> {
  const { rows } = await pool.query<{ decision: string | null; used_at: Date | null; expires_at: Date }>(
    "SELECT decision, used_at, expires_at FROM device_login WHERE code_hash = $1",
    [codeHash],
  );
  const row = rows[0];
  if (row?.used_at)
    fail("Gone", "This device code was already used. Start again on the device.", { reason: "used" });
  if (row?.decision === "denied")
    fail("Gone", "The sign-in of this device was denied.", { reason: "denied" });
  if (row && row.decision === null && row.expires_at > now)
    fail(
      "AuthorizationPending",
      "This device is not approved yet. Ask again after details.interval seconds.",
      { interval: INTERVAL_SECONDS },
    );
  return fail("Gone", "This device code has expired. Start again.", { reason: "expired" });
}
