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
  summary: "Define a panel that host pages can embed",
  description:
    "A capability, how it is shown, what it may do, and where. Its key is one in the project, or in the organization where no project is named.",
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
  summary: "List panels, newest first",
  description: "Of one project: its own and those of its organization. Archived ones are left out.",
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
  summary: "Get a panel with its current version",
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
  summary: "Change a panel",
  description:
    "What changes what runs or how it looks makes a new version, which sessions made from then on are of. With a status other than `active` its sessions are refused at once; `active` lets those go on that have time left.",
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
  summary: "Make a panel session: a short right for pages of named origins, with caps of money and jobs",
  description:
    "The access token is in this answer and nowhere else. The session runs its panel's capability (any, where it is of no panel), and reads and cancels its own jobs alone. `lockedInputs` are fields its requests cannot change.",
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
  summary: "Get a panel session and what it has used",
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
  summary: "End a panel session",
  description: "Once this is answered no request is served by its tokens. Its jobs go on.",
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
  summary: "Make a code that opens the panel's page once",
  description: "It lasts five minutes, or until the session ends.",
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
  summary: "Exchange a launch code for an access token, once",
  description:
    "For pages of the session's origins, and for our own panel page. The token is one more of the same session: the same caps, the same end, and revoked with it. 410 for a code that is unknown, used or expired.",
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
  summary: "Get what a panel's page draws itself from",
  tags,
  auth: ["panel_session"],
  output: PanelBootstrap,
  errors: [],
  run: (ctx) => panels.bootstrap(ctx),
});
