import { z } from "zod";
import { DateTime } from "./common";

/** A signed-in browser or device of the caller. */
export const Session = z
  .object({
    sessionId: z.string(),
    kind: z.enum(["browser", "device"]),
    /** The browser and its system, or the name a device gave itself. */
    label: z.string(),
    address: z.string().nullable(),
    createdAt: DateTime,
    lastSeenAt: DateTime,
    expiresAt: DateTime,
    /** The session this is asked by. */
    isCurrent: z.boolean(),
  })
  .meta({ id: "Session" });
export type Session = z.output<typeof Session>;

export const SessionList = z.object({ items: z.array(Session) }).meta({ id: "SessionList" });
export const SessionRef = z.strictObject({ sessionId: z.string().min(1).max(64) });
export const EndedSession = z
  .object({ sessionId: z.string(), revoked: z.literal(true) })
  .meta({ id: "EndedSession" });

export const DeviceStart = z
  .strictObject({
    clientName: z
      .string()
      .trim()
      .min(1)
      .max(80)
      // Shown to who decides: no character may hide or turn around what is there.
      .regex(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, "must not contain invisible characters")
      .describe("The program that asks and its machine, without invisible characters.")
      .optional(),
  })
  .meta({ id: "DeviceLoginStart" });

/** Both spellings are the same values. */
export const DeviceStarted = z
  .object({
    userCode: z.string(),
    verificationUri: z.string(),
    verificationUriComplete: z.string(),
    deviceCode: z.string(),
    /** Seconds until the codes are worth nothing. */
    expiresIn: z.number(),
    /** Seconds to wait between two questions for the token. */
    interval: z.number(),
    user_code: z.string(),
    verification_uri: z.string(),
    verification_uri_complete: z.string(),
    device_code: z.string(),
    expires_in: z.number(),
  })
  .meta({ id: "DeviceLoginStarted" });
export type DeviceStarted = z.output<typeof DeviceStarted>;

const DeviceCode = z.string().min(1).max(200);
export const DeviceTokenRequest = z
  .strictObject({ deviceCode: DeviceCode.optional(), device_code: DeviceCode.optional() })
  .refine(({ deviceCode, device_code }) => (deviceCode === undefined) !== (device_code === undefined), {
    message: "Send the device code once.",
    path: ["deviceCode"],
  })
  .meta({ id: "DeviceTokenRequest" });

export const DeviceToken = z
  .object({
    /** `Authorization: Bearer caps_…`, for what a signed-in person may ask. Shown here and nowhere else. */
    sessionToken: z.string(),
    /** A client that writes with cookies sends it as X-CSRF-Token; a bearer token needs none. */
    csrfToken: z.string(),
    principalId: z.string(),
    appBaseUrl: z.string(),
    sessionId: z.string(),
    expiresAt: DateTime,
  })
  .meta({ id: "DeviceToken" });
export type DeviceToken = z.output<typeof DeviceToken>;

/** As a person types it: case, blanks and dashes do not matter. */
export const UserCode = z.strictObject({ userCode: z.string().min(1).max(40) });
export const DecideDevice = UserCode.extend({ decision: z.enum(["approved", "denied"]) });

/** What asks to be signed in, before somebody decides. */
export const WaitingDevice = z.object({
  userCode: z.string(),
  clientName: z.string(),
  address: z.string(),
  createdAt: DateTime,
  expiresAt: DateTime,
});
export type WaitingDevice = z.output<typeof WaitingDevice>;

/** An identity provider that signs the reader in. */
export const LinkedIdentity = z.object({
  /** The address the provider names itself by. */
  issuer: z.string(),
  name: z.string(),
  since: DateTime,
  /** False: it is the only way in. */
  isSpare: z.boolean(),
});
export type LinkedIdentity = z.output<typeof LinkedIdentity>;

/** The reader's own account. */
export const Account = z.object({
  email: z.string(),
  /** False for who signs in by an identity provider alone. */
  hasPassword: z.boolean(),
  secondFactor: z.object({
    /** Null: signing in asks for no code. */
    since: DateTime.nullable(),
    recoveryCodesLeft: z.int(),
  }),
  identities: z.array(LinkedIdentity),
  /** The names of organizations in which the reader has no rights until they have a second factor. */
  askedBy: z.array(z.string()),
});
export type Account = z.output<typeof Account>;

/** What an authenticator is set up with: as text, as an address, and as a picture (SVG). */
export const NewSecondFactor = z.object({ secret: z.string(), uri: z.string(), qrCode: z.string() });
export type NewSecondFactor = z.output<typeof NewSecondFactor>;

/** As it is typed: blanks and dashes do not matter. */
export const SecondFactorCode = z.strictObject({ code: z.string().trim().min(1).max(40) });
/** The password, of who has one. */
export const StartSecondFactor = z.strictObject({ password: z.string().max(1000).optional() });
export const UnlinkIdentity = StartSecondFactor.extend({ issuer: z.string().min(1).max(2000) });
export type UnlinkIdentity = z.output<typeof UnlinkIdentity>;
export const RecoveryCodes = z.object({ recoveryCodes: z.array(z.string()) });
export type RecoveryCodes = z.output<typeof RecoveryCodes>;
