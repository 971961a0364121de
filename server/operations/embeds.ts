import { isOwnPage, isProgram } from "@/server/api/own-page";
import { InProject } from "@/server/contract/common";
import {
  EmbedBootstrap,
  EmbedCodeExchange,
  EmbedDefinition,
  EmbedDefinitionCreate,
  EmbedDefinitionList,
  EmbedDefinitionPatch,
  EmbedLaunchCode,
  EmbedSession,
  EmbedSessionCreate,
  ExchangedEmbedSession,
  NewEmbedSession,
} from "@/server/contract/embeds";
import * as embeds from "@/server/domain/embeds";
import { byKeysAndPeople, operations } from "./define";

const run = operations("Panels", byKeysAndPeople("capabilities:run"));
const read = operations("Panels", byKeysAndPeople("jobs:read"));
const open = operations("Panels", { auth: ["anonymous"] });
const own = operations("Panels", { auth: ["panel_session"] });

export const createPanelDefinition = run.post("/v1/panel-definitions", {
  summary: "Create an embed",
  description:
    "An embed is shown by other sites in their pages. It has a capability, an appearance, permissions, and the origins that may show it. Its key is unique within the project, or within the organization if no project is named.",
  body: EmbedDefinitionCreate,
  example: {
    key: "images",
    displayName: "Images",
    capabilityKey: "image.generate.v1",
    allowedOrigins: ["https://app.example.com"],
  },
  output: EmbedDefinition,
  run: (ctx, { body }) => embeds.createDefinition(ctx, body),
});

export const listPanelDefinitions = read.get("/v1/panel-definitions", {
  summary: "List embeds, newest first",
  description: "Lists the embeds of a project and of its organization, without archived ones.",
  query: InProject,
  output: EmbedDefinitionList,
  run: (ctx, { query }) => embeds.listDefinitions(ctx, query),
});

export const getPanelDefinition = read.get("/v1/panel-definitions/{definition_id}", {
  summary: "Retrieve an embed with its current version",
  output: EmbedDefinition,
  run: (ctx, { definition_id }) => embeds.getDefinition(ctx, definition_id),
});

export const changePanelDefinition = run.patch("/v1/panel-definitions/{definition_id}", {
  summary: "Update an embed",
  description:
    "A change to what the embed runs or to its appearance creates a new version, which later sessions use. With any status other than `active`, its sessions are rejected immediately; setting `active` again restores those that have not expired.",
  body: EmbedDefinitionPatch,
  example: { displayName: "Images" },
  output: EmbedDefinition,
  run: (ctx, { definition_id, body }) => embeds.changeDefinition(ctx, definition_id, body),
});

export const createPanelSession = run.post("/v1/panel-sessions", {
  summary: "Create an embed session",
  description:
    "Gives pages of the named origins short-lived access, with limits on spending and jobs. The access token is returned only once, in this response. The session can run the embed's capability (any capability if it has no embed) and can read and cancel only its own jobs. `lockedInputs` are fields that its requests cannot change.",
  body: EmbedSessionCreate,
  example: {
    projectId: "cpr_01jd0000000000000000000000",
    panelDefinitionKey: "images",
    allowedOrigins: ["https://app.example.com"],
    maxSpendMicros: 1_000_000,
  },
  output: NewEmbedSession,
  run: (ctx, { body }) => embeds.createSession(ctx, body),
});

export const getPanelSession = read.get("/v1/panel-sessions/{session_id}", {
  summary: "Retrieve an embed session and its usage",
  output: EmbedSession,
  run: (ctx, { session_id }) => embeds.getSession(ctx, session_id),
});

export const revokePanelSession = run.post("/v1/panel-sessions/{session_id}/revoke", {
  summary: "Revoke an embed session",
  description:
    "Requests with its tokens are rejected from the moment you receive the response. Its jobs continue.",
  output: EmbedSession,
  run: (ctx, { session_id }) => embeds.revokeSession(ctx, session_id),
});

export const createPanelLaunchCode = run.post("/v1/panel-sessions/{session_id}/launch-codes", {
  summary: "Create a launch code for an embed's page",
  description: "The code works once, within five minutes or until the session ends.",
  output: EmbedLaunchCode,
  errors: ["Gone"],
  run: (ctx, { session_id }) => embeds.createLaunchCode(ctx, session_id),
});

export const exchangePanelLaunchCode = open.post("/v1/panel/launch-codes/exchange", {
  summary: "Exchange a launch code for an access token",
  description:
    "For pages of the session's origins and for Capstan's own embed page. A code can be exchanged once. The token belongs to the same session: it has the same limits and expiry, and is revoked with it. Returns 410 if the code is unknown, used or expired.",
  fromPages: true,
  body: EmbedCodeExchange,
  example: { code: "a-launch-code" },
  output: ExchangedEmbedSession,
  errors: ["Gone"],
  http: (ctx, { body, incoming }) =>
    embeds.exchangeLaunchCode(ctx, body.code, {
      origin: incoming.header("origin") ?? null,
      isTrusted: isOwnPage(incoming) || isProgram(incoming),
    }),
});

export const bootstrapPanel = own.get("/v1/panel/bootstrap", {
  summary: "Retrieve what an embed's page needs to render",
  fromPrograms: true,
  output: EmbedBootstrap,
  run: (ctx) => embeds.bootstrap(ctx),
});
