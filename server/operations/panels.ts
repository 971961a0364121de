import { endpoint } from "@/server/api/endpoint";
import { isOwnPage } from "@/server/auth/same-origin";
import {
  ExchangedPanelSession,
  ListPanelDefinitions,
  NewPanelSession,
  PanelBootstrap,
  PanelCodeExchange,
  PanelDefinition,
  PanelDefinitionCreate,
  PanelDefinitionList,
  PanelDefinitionPatch,
  PanelDefinitionPath,
  PanelLaunchCode,
  PanelSession,
  PanelSessionCreate,
  PanelSessionPath,
} from "@/server/contract/panels";
import * as panels from "@/server/domain/panels";

const tags = ["Panels"];
const makers = ["service_principal", "human_session"] as const;
const DEFINITIONS = "/v1/panel-definitions" as const;
const SESSIONS = "/v1/panel-sessions" as const;

export const createPanelDefinition = endpoint({
  method: "POST",
  path: DEFINITIONS,
  summary: "Create an embed",
  description:
    "An embed is a panel that other sites show in their pages: a capability, its appearance, its permissions and the origins that may show it. Its key is unique within the project, or within the organization if no project is named.",
  tags,
  auth: makers,
  scope: "capabilities:run",
  body: PanelDefinitionCreate,
  output: PanelDefinition,
  errors: [],
  run: (ctx, { body }) => panels.createDefinition(ctx, body),
});

export const listPanelDefinitions = endpoint({
  method: "GET",
  path: DEFINITIONS,
  summary: "List embeds, newest first",
  description: "Lists the embeds of a project and of its organization, without archived ones.",
  tags,
  auth: makers,
  scope: "jobs:read",
  query: ListPanelDefinitions,
  output: PanelDefinitionList,
  errors: [],
  run: (ctx, { query }) => panels.listDefinitions(ctx, query),
});

export const getPanelDefinition = endpoint({
  method: "GET",
  path: `${DEFINITIONS}/{definition_id}`,
  summary: "Retrieve an embed with its current version",
  tags,
  auth: makers,
  scope: "jobs:read",
  params: PanelDefinitionPath,
  output: PanelDefinition,
  errors: ["NotFound"],
  run: (ctx, { params }) => panels.getDefinition(ctx, params.definition_id),
});

export const changePanelDefinition = endpoint({
  method: "PATCH",
  path: `${DEFINITIONS}/{definition_id}`,
  summary: "Update an embed",
  description:
    "A change to what the embed runs or to its appearance creates a new version, which later sessions use. With any status other than `active`, its sessions are rejected immediately; setting `active` again restores those that have not expired.",
  tags,
  auth: makers,
  scope: "capabilities:run",
  params: PanelDefinitionPath,
  body: PanelDefinitionPatch,
  output: PanelDefinition,
  errors: ["NotFound"],
  run: (ctx, { params, body }) => panels.changeDefinition(ctx, params.definition_id, body),
});

export const createPanelSession = endpoint({
  method: "POST",
  path: SESSIONS,
  summary: "Create an embed session",
  description:
    "Gives pages of the named origins short-lived access, with limits on spending and jobs. The access token is returned only once, in this response. The session can run the embed's capability (any capability if it has no embed) and can read and cancel only its own jobs. `lockedInputs` are fields that its requests cannot change.",
  tags,
  auth: makers,
  scope: "capabilities:run",
  body: PanelSessionCreate,
  output: NewPanelSession,
  errors: [],
  run: (ctx, { body }) => panels.createSession(ctx, body),
});

export const getPanelSession = endpoint({
  method: "GET",
  path: `${SESSIONS}/{session_id}`,
  summary: "Retrieve an embed session and its usage",
  tags,
  auth: makers,
  scope: "jobs:read",
  params: PanelSessionPath,
  output: PanelSession,
  errors: ["NotFound"],
  run: (ctx, { params }) => panels.getSession(ctx, params.session_id),
});

export const revokePanelSession = endpoint({
  method: "POST",
  path: `${SESSIONS}/{session_id}/revoke`,
  summary: "Revoke an embed session",
  description:
    "Requests with its tokens are rejected from the moment you receive the response. Its jobs continue.",
  tags,
  auth: makers,
  scope: "capabilities:run",
  params: PanelSessionPath,
  output: PanelSession,
  errors: ["NotFound"],
  run: (ctx, { params }) => panels.revokeSession(ctx, params.session_id),
});

export const createPanelLaunchCode = endpoint({
  method: "POST",
  path: `${SESSIONS}/{session_id}/launch-codes`,
  summary: "Create a launch code for an embed's page",
  description: "The code works once, within five minutes or until the session ends.",
  tags,
  auth: makers,
  scope: "capabilities:run",
  params: PanelSessionPath,
  output: PanelLaunchCode,
  errors: ["NotFound", "Gone"],
  run: (ctx, { params }) => panels.createLaunchCode(ctx, params.session_id),
});

export const exchangePanelLaunchCode = endpoint({
  method: "POST",
  path: "/v1/panel/launch-codes/exchange",
  summary: "Exchange a launch code for an access token",
  description:
    "For pages of the session's origins and for Capstan's own embed page. A code can be exchanged once. The token belongs to the same session: it has the same limits and expiry, and is revoked with it. Returns 410 if the code is unknown, used or expired.",
  tags,
  auth: ["anonymous"],
  fromPages: true,
  body: PanelCodeExchange,
  output: ExchangedPanelSession,
  errors: ["Gone"],
  run: (ctx, { body, incoming }) =>
    panels.exchangeLaunchCode(ctx, body.code, {
      origin: incoming.header("origin") ?? null,
      isOwn: isOwnPage(incoming),
    }),
});

export const bootstrapPanel = endpoint({
  method: "GET",
  path: "/v1/panel/bootstrap",
  summary: "Retrieve what an embed's page needs to render",
  tags,
  auth: ["panel_session"],
  output: PanelBootstrap,
  errors: [],
  run: (ctx) => panels.bootstrap(ctx),
});
