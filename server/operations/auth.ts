import {
  DeviceStart,
  DeviceStarted,
  DeviceToken,
  DeviceTokenRequest,
  EndedSession,
  SessionList,
} from "@/server/contract/sessions";
import * as sessions from "@/server/domain/sessions";
import { byPeople, operations } from "./define";

const open = operations("Session", { auth: ["anonymous"] });
const people = operations("Session", byPeople);

export const startDeviceLogin = open.post("/v1/auth/device/start", {
  summary: "Start a device sign-in",
  description:
    "The device shows `userCode` to the user, who enters it at `verificationUri`, sees which device is asking, and approves or denies it. Meanwhile the device polls `POST /v1/auth/device/token` every `interval` seconds.",
  body: DeviceStart.optional(),
  example: { clientName: "Laptop" },
  output: DeviceStarted,
  run: (ctx, { body }) => sessions.startDevice(ctx, body?.clientName),
});

export const redeemDeviceLogin = open.post("/v1/auth/device/token", {
  summary: "Exchange a device code for a session",
  description:
    "Returns 428 until the user decides, and 410 if the code was used, denied or has expired (see `details.reason`). The session token is returned only once. It is a bearer token with the permissions of the signed-in user, needs no CSRF token, and ends like any other session.",
  body: DeviceTokenRequest,
  example: { deviceCode: "a-device-code" },
  output: DeviceToken,
  errors: ["AuthorizationPending", "Gone"],
  run: (ctx, { body }) => sessions.redeemDevice(ctx, body.deviceCode ?? body.device_code ?? ""),
});

export const listSessions = people.get("/v1/auth/sessions", {
  summary: "List your sessions, most recently seen first",
  output: SessionList,
  run: async (ctx) => ({ items: await sessions.listSessions(ctx) }),
});

export const endSession = people.delete("/v1/auth/sessions/{session_id}", {
  summary: "End one of your sessions",
  description:
    "This includes the current session. Requests with the session are rejected from the moment you receive the response.",
  output: EndedSession,
  run: async (ctx, { session_id }) => {
    await sessions.endSession(ctx, session_id);
    return { sessionId: session_id, revoked: true as const };
  },
});
