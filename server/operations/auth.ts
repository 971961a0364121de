import { endpoint } from "@/server/api/endpoint";
import {
  DeviceStart,
  DeviceStarted,
  DeviceToken,
  DeviceTokenRequest,
  EndedSession,
  SessionList,
  SessionPath,
} from "@/server/contract/sessions";
import * as sessions from "@/server/domain/sessions";

const tags = ["Session"];

export const startDeviceLogin = endpoint({
  method: "POST",
  path: "/v1/auth/device/start",
  summary: "Start a device sign-in",
  description:
    "The device shows `userCode` to the user, who enters it at `verificationUri`, sees which device is asking, and approves or denies it. Meanwhile the device polls `POST /v1/auth/device/token` every `interval` seconds.",
  tags,
  auth: ["anonymous"],
  body: DeviceStart.optional(),
  output: DeviceStarted,
  errors: [],
  run: (ctx, { body }) => sessions.startDevice(ctx, body?.clientName),
});

export const redeemDeviceLogin = endpoint({
  method: "POST",
  path: "/v1/auth/device/token",
  summary: "Exchange a device code for a session",
  description:
    "Returns 428 until the user decides, and 410 if the code was used, denied or has expired (see `details.reason`). The session token is returned only once. It is a bearer token with the permissions of the signed-in user, needs no CSRF token, and ends like any other session.",
  tags,
  auth: ["anonymous"],
  body: DeviceTokenRequest,
  output: DeviceToken,
  errors: ["AuthorizationPending", "Gone"],
  run: (ctx, { body }) => sessions.redeemDevice(ctx, body.deviceCode ?? body.device_code ?? ""),
});

export const listSessions = endpoint({
  method: "GET",
  path: "/v1/auth/sessions",
  summary: "List your sessions, most recently seen first",
  tags,
  auth: ["human_session"],
  output: SessionList,
  errors: [],
  run: async (ctx) => ({ items: await sessions.listSessions(ctx) }),
});

export const endSession = endpoint({
  method: "DELETE",
  path: "/v1/auth/sessions/{session_id}",
  summary: "End one of your sessions",
  description:
    "This includes the current session. Requests with the session are rejected from the moment you receive the response.",
  tags,
  auth: ["human_session"],
  params: SessionPath,
  output: EndedSession,
  errors: ["NotFound"],
  run: async (ctx, { params }) => {
    await sessions.endSession(ctx, params.session_id);
    return { sessionId: params.session_id, revoked: true as const };
  },
});
