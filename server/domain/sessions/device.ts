import { hash, randomBytes } from "node:crypto";
import type { DeviceStarted, DeviceToken, WaitingDevice } from "@/server/contract/sessions";
import { makeTokenText } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { enforceBruteForceLimit } from "@/server/domain/organizations";
import { deviceLogin, session } from "@/server/generated/schema";
import { inTransaction, pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { networkOf } from "@/server/platform/network-of";
import { publicUrl } from "@/server/platform/settings/env";
import { DAY_SECONDS } from "@/server/platform/time/units";
import { column, int8, maybe, pick, text, timestamptz } from "@/server/sql/column";
import { people } from "@/server/sql/people";
import { statement } from "@/server/sql/statement";
import { currentId, ownId, recordOwn } from "./own";
import { makeUserCode, readUserCode, showUserCode } from "./user-code";

/** A person has this long to enter the code. */
const CODE_SECONDS = 15 * 60;
/** A device waits this long before it asks for its token again. */
const INTERVAL_SECONDS = 2;
/** An approved device stays signed in this long, unless an organization of the person requires less. */
const DEVICE_SECONDS = 30 * DAY_SECONDS;
/**
 * At most this many sign-ins can begin from one address while a code is valid, because more waiting ones make guessing
 * easier.
 */
const MOST_STARTED = 30;

const insertLogin = statement("device_login.insert", {
  params: {
    deviceLoginId: deviceLogin.id,
    codeHash: deviceLogin.code_hash,
    userCode: deviceLogin.user_code,
    clientName: deviceLogin.client_name,
    address: deviceLogin.address,
    now: timestamptz,
    seconds: column<number>("float8"),
    limit: int8,
  },
  sql: `INSERT INTO device_login (id, code_hash, user_code, client_name, address, created_at, expires_at)
     SELECT $deviceLoginId, $codeHash, $userCode, $clientName, $address, $now, $now::timestamptz + make_interval(secs => $seconds)
     WHERE (SELECT count(*) FROM device_login
            WHERE address = $address AND created_at > $now::timestamptz - make_interval(secs => $seconds)) < $limit`,
});

/**
 * Begins the sign-in of a device. The device shows the user code to its person and asks for its token with the device
 * code. Throws `RateLimited` if too many sign-ins began from this address.
 */
export async function startDevice(ctx: Ctx, clientName = "A device"): Promise<DeviceStarted> {
  const [deviceCode, userCode, now] = [randomBytes(32).toString("base64url"), makeUserCode(), ctx.now()];
  const rowCount = await insertLogin.count(pool, {
    deviceLoginId: newId("deviceLogin"),
    codeHash: hash("sha256", deviceCode, "buffer"),
    userCode,
    clientName,
    address: networkOf(ctx.address ?? ""),
    now,
    seconds: CODE_SECONDS,
    limit: MOST_STARTED,
  });
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

/**
 * Returns the device that waits with this code. Throws `NotFound` if none does. Guesses are limited by person and by
 * address.
 */
export function lookAtDevice(ctx: Ctx, userCode: string): Promise<WaitingDevice> {
  ownId(ctx);
  return enforceBruteForceLimit(ctx, "device", async () => {
    const row =
      (await people.deviceLogin.findUnique({
        where: { userCode: readUserCode(userCode), decision: null, expiresAt: { gt: ctx.now() } },
      })) ?? noDevice();
    return {
      userCode: showUserCode(row.userCode),
      clientName: row.clientName,
      address: row.address,
      createdAt: row.createdAt.toISOString(),
      expiresAt: row.expiresAt.toISOString(),
    };
  });
}

const decideLogin = statement("device_login.decide", {
  params: { userCode: text, now: timestamptz, decision: deviceLogin.decision, sessionId: maybe(text) },
  row: pick(deviceLogin, "id client_name address"),
  sql: `UPDATE device_login SET decision = $decision, decided_by = session.user_id, version = session.version FROM session
         WHERE user_code = $userCode AND decision IS NULL AND device_login.expires_at > $now
           AND session.id = $sessionId AND kind = 'browser' AND revoked_at IS NULL
         RETURNING device_login.id, client_name, device_login.address`,
});

/**
 * Approves or denies a waiting device, once. An approved device is signed in as the caller. Only a session of a browser
 * can decide, so a device signs in no other device. Throws `NotFound` if no device waits with this code.
 */
export function decideDevice(
  ctx: Ctx,
  { userCode, decision }: { userCode: string; decision: "approved" | "denied" },
): Promise<void> {
  const userId = ownId(ctx);
  return enforceBruteForceLimit(ctx, "device", () =>
    inTransaction(async (client) => {
      const row =
        (await decideLogin.first(client, {
          userCode: readUserCode(userCode),
          now: ctx.now(),
          decision,
          sessionId: currentId(ctx),
        })) ?? noDevice();
      const details = { clientName: row.client_name, deviceAddress: row.address };
      await recordOwn(ctx, { userId, action: `device.${decision}`, subject: row.id, details }, client);
    }),
  );
}

function noDevice(): never {
  fail("NotFound", "No device is waiting with this code. Check the code, or start again on the device.");
}

const insertDeviceSession = statement("session.insert.device", {
  params: {
    codeHash: deviceLogin.code_hash,
    now: timestamptz,
    sessionId: session.id,
    address: session.address,
    tokenHash: session.token_hash,
    seconds: column<number>("float8"),
  },
  row: pick(session, "user_id expires_at"),
  sql: `WITH used AS (
         UPDATE device_login SET used_at = $now FROM user_account
         WHERE code_hash = $codeHash AND decision = 'approved' AND used_at IS NULL AND expires_at > $now
           AND user_account.id = decided_by AND session_version = version
         RETURNING decided_by, version, client_name
       )
       INSERT INTO session (id, user_id, kind, label, address, version, token_hash, created_at, last_seen_at, expires_at)
       SELECT $sessionId, decided_by, 'device', client_name, $address, version, $tokenHash, $now, $now, $now::timestamptz + make_interval(secs => $seconds)
       FROM used RETURNING user_id, expires_at`,
});

/**
 * Starts the session of an approved device, once. Throws `AuthorizationPending` until a person has decided,
 * and `Gone` for a code that is unknown, used, denied or expired.
 */
export async function redeemDevice(ctx: Ctx, deviceCode: string): Promise<DeviceToken> {
  const codeHash = hash("sha256", deviceCode, "buffer");
  const [sessionToken, sessionId, now] = [makeTokenText("caps"), newId("session"), ctx.now()];
  const begun = await inTransaction(async (client) => {
    // The call that sets `used_at` gets the session. An approval from before a password change does not count.
    const rows = await insertDeviceSession.all(client, {
      codeHash,
      now,
      sessionId,
      address: ctx.address ?? "",
      tokenHash: hash("sha256", sessionToken, "buffer"),
      seconds: DEVICE_SECONDS,
    });
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
  const row = await people.deviceLogin.findUnique({ where: { codeHash: new Uint8Array(codeHash) } });
  if (row?.usedAt)
    fail("Gone", "This device code was already used. Start again on the device.", { reason: "used" });
  if (row?.decision === "denied")
    fail("Gone", "The sign-in of this device was denied.", { reason: "denied" });
  if (row && row.decision === null && row.expiresAt > now)
    fail(
      "AuthorizationPending",
      "This device is not approved yet. Ask again after details.interval seconds.",
      { interval: INTERVAL_SECONDS },
    );
  return fail("Gone", "This device code has expired. Start again.", { reason: "expired" });
}
