import { z } from "zod";
import { DateTime } from "./common";

export const Session = z
  .object({
    sessionId: z.string(),
    kind: z.enum(["browser", "device"]),
    /** The browser and its system, or the name that the device sent. */
    label: z.string(),
    address: z.string().nullable(),
    createdAt: DateTime,
    lastSeenAt: DateTime,
    expiresAt: DateTime,
    /** True for the session of this request. */
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
      // The person who decides sees this name, so no character may hide or reverse its text.
      .regex(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, "must not contain invisible characters")
      .describe("The program that asks and its machine, without invisible characters.")
      .optional(),
  })
  .meta({ id: "DeviceLoginStart" });

/** Both spellings have the same values. */
export const DeviceStarted = z
  .object({
    userCode: z.string(),
    verificationUri: z.string(),
    verificationUriComplete: z.string(),
    deviceCode: z.string(),
    /** Seconds until the codes expire. */
    expiresIn: z.number(),
    /** Seconds to wait between two polls for the token. */
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
    /** Sent as `Authorization: Bearer caps_…`, with the rights of a signed-in person. It is returned only here. */
    sessionToken: z.string(),
    /** Clients that write with cookies send it as X-CSRF-Token; a bearer token needs none. */
    csrfToken: z.string(),
    principalId: z.string(),
    appBaseUrl: z.string(),
    sessionId: z.string(),
    expiresAt: DateTime,
  })
  .meta({ id: "DeviceToken" });
export type DeviceToken = z.output<typeof DeviceToken>;

/** The code as typed: case, blanks and dashes are ignored. */
export const UserCode = z.strictObject({ userCode: z.string().min(1).max(40) });
export const DecideDevice = UserCode.extend({ decision: z.enum(["approved", "denied"]) });

/** A device that waits for a person's decision. */
export const WaitingDevice = z.object({
  userCode: z.string(),
  clientName: z.string(),
  address: z.string(),
  createdAt: DateTime,
  expiresAt: DateTime,
});
export type WaitingDevice = z.output<typeof WaitingDevice>;

/** An identity provider account that the reader can sign in with. */
export const LinkedIdentity = z.object({
  /** The issuer's URL. */
  issuer: z.string(),
  name: z.string(),
  since: DateTime,
  /** False if it is the only way to sign in. */
  isSpare: z.boolean(),
});
export type LinkedIdentity = z.output<typeof LinkedIdentity>;

/** The reader's own account. */
export const OwnAccount = z.object({
  email: z.string(),
  /** False if the person signs in only through an identity provider. */
  hasPassword: z.boolean(),
  secondFactor: z.object({
    /** Null if signing in requires no code. */
    since: DateTime.nullable(),
    recoveryCodesLeft: z.int(),
  }),
  identities: z.array(LinkedIdentity),
  /** Names of organizations in which the reader has no rights until they set up a second factor. */
  askedBy: z.array(z.string()),
});
export type OwnAccount = z.output<typeof OwnAccount>;

/** Setup data for an authenticator app: the secret as text, as a URI, and as an SVG picture. */
export const NewSecondFactor = z.object({ secret: z.string(), uri: z.string(), qrCode: z.string() });
export type NewSecondFactor = z.output<typeof NewSecondFactor>;

/** The code as typed: blanks and dashes are ignored. */
export const SecondFactorCode = z.strictObject({ code: z.string().trim().min(1).max(40) });
/** The password is required if the person has one. */
export const StartSecondFactor = z.strictObject({ password: z.string().max(1000).optional() });
export const UnlinkIdentity = StartSecondFactor.extend({ issuer: z.string().min(1).max(2000) });
export type UnlinkIdentity = z.output<typeof UnlinkIdentity>;
export const RecoveryCodes = z.object({ recoveryCodes: z.array(z.string()) });
export type RecoveryCodes = z.output<typeof RecoveryCodes>;
