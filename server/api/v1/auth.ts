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
  summary: "Begin to sign a device in",
  description:
    "The device shows `userCode` to its person, who enters it at `verificationUri`, sees what asks, and approves or denies it. Meanwhile the device asks `POST /v1/auth/device/token` every `interval` seconds.",
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
  summary: "Take the session of a device that was approved",
  description:
    "428 until somebody decided; 410 for a code that is used, denied or too old (`details.reason`). The session token is in one answer only. It is a bearer token for what a signed-in person may ask, needs no CSRF token, and ends like any session.",
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
  summary: "List where you are signed in, last seen first",
  tags,
  auth: ["human_session"],
  output: SessionList,
  errors: [],
  run: async (ctx) => ({ items: await sessions.listSessions(ctx) }),
});

export const endSession = endpoint({
  method: "DELETE",
  path: "/v1/auth/sessions/{session_id}",
  summary: "End a session of yours",
  description: "This one, too. Once this is answered no request is served by it.",
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
