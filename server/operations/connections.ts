import { endpoint } from "@/server/api/endpoint";
import {
  BindConnection,
  CompleteOnboarding,
  ConnectionBindingPath,
  ConnectionBindings,
  ConnectionChanged,
  ConnectionDetail,
  ConnectionList,
  ConnectionPath,
  ConnectionQuery,
  ConnectionRepair,
  ConnectionTested,
  CreateConnection,
  OnboardingPath,
  OnboardingPlan,
  OnboardingRequest,
  OnboardingResult,
  OnboardingSession,
  RotateConnection,
} from "@/server/contract/connections";
import { CredentialBinding, Done } from "@/server/contract/credentials";
import * as connections from "@/server/domain/connections";

const of = { tags: ["Connections"], auth: ["human_session"] } as const;
const PATH = "/v1/connections" as const;
const ONE = `${PATH}/{connection_id}` as const;
const SESSIONS = `${PATH}/onboarding/sessions` as const;
const SESSION = `${SESSIONS}/{session_id}` as const;

export const listConnections = endpoint({
  ...of,
  method: "GET",
  path: PATH,
  summary: "List connections, newest first",
  description:
    "A connection is a provider credential with its bindings, under the same id and the same rules. Secrets are never returned. For admins of the caller's organization, or of the one that owns `projectId`; with `projectId`, lists only connections that serve that project.",
  query: ConnectionQuery,
  output: ConnectionList,
  errors: [],
  run: (ctx, { query }) => connections.list(ctx, query),
});

export const createConnection = endpoint({
  ...of,
  method: "POST",
  path: PATH,
  summary: "Create a connection and bind it to an environment",
  description:
    "The secret is verified with the provider before anything is stored. `credentials` and `secret` are two names for the same field. `userGuardrails` are spending limits for executions on this connection.",
  body: CreateConnection,
  output: ConnectionChanged,
  errors: ["AlreadyConnected", "ProviderUnavailable"],
  run: (ctx, { body }) => connections.connect(ctx, body),
});

export const getConnection = endpoint({
  ...of,
  method: "GET",
  path: ONE,
  summary: "Retrieve a connection and its recent health",
  params: ConnectionPath,
  output: ConnectionDetail,
  errors: ["NotFound"],
  run: (ctx, { params }) => connections.get(ctx, params.connection_id),
});

export const deleteConnection = endpoint({
  ...of,
  method: "DELETE",
  path: ONE,
  summary: "Delete a connection, with its secret, bindings and guardrails",
  description: "Queued work that depends on it fails with ProviderUnavailable and is not sent.",
  params: ConnectionPath,
  output: Done,
  errors: ["NotFound"],
  run: (ctx, { params }) => connections.remove(ctx, params.connection_id),
});

export const listConnectionBindings = endpoint({
  ...of,
  method: "GET",
  path: `${ONE}/bindings`,
  summary: "List the environments a connection serves",
  params: ConnectionPath,
  output: ConnectionBindings,
  errors: ["NotFound"],
  run: (ctx, { params }) => connections.bindings(ctx, params.connection_id),
});

export const bindConnection = endpoint({
  ...of,
  method: "POST",
  path: `${ONE}/bindings`,
  summary: "Bind a connection to an environment of a project",
  description:
    "Repeating the request returns the same binding. Returns AlreadyConnected if another connection of the same provider serves the environment.",
  params: ConnectionPath,
  body: BindConnection,
  output: CredentialBinding,
  errors: ["NotFound", "AlreadyConnected"],
  run: (ctx, { params, body }) => connections.bind(ctx, params.connection_id, body),
});

export const unbindConnection = endpoint({
  ...of,
  method: "DELETE",
  path: `${ONE}/bindings/{binding_id}`,
  summary: "Remove a connection from an environment",
  params: ConnectionBindingPath,
  output: Done,
  errors: ["NotFound"],
  run: (ctx, { params }) => connections.unbind(ctx, params.connection_id, params.binding_id),
});

export const testConnection = endpoint({
  ...of,
  method: "POST",
  path: `${ONE}/test`,
  summary: "Test a connection with its provider",
  description:
    "The outcome is stored in the connection's health. `unreachable` changes nothing, because the provider did not respond.",
  params: ConnectionPath,
  output: ConnectionTested,
  errors: ["NotFound"],
  run: (ctx, { params }) => connections.test(ctx, params.connection_id),
});

export const repairConnection = endpoint({
  ...of,
  method: "POST",
  path: `${ONE}/repair`,
  summary: "Diagnose a connection",
  description:
    "Tests the connection again. Each step reports its finding, what to do about it, and the page where a person does it.",
  params: ConnectionPath,
  output: ConnectionRepair,
  errors: ["NotFound"],
  run: (ctx, { params }) => connections.repair(ctx, params.connection_id),
});

export const rotateConnection = endpoint({
  ...of,
  method: "POST",
  path: `${ONE}/rotate`,
  summary: "Replace a connection's secret",
  description:
    "The new secret is verified with the provider first. The id, the bindings and the address do not change. `userGuardrails` changes only the limits that it names. With `projectId`, the environment is bound as well.",
  params: ConnectionPath,
  body: RotateConnection,
  output: ConnectionChanged,
  errors: ["NotFound", "AlreadyConnected", "ProviderUnavailable"],
  run: (ctx, { params, body }) => connections.rotate(ctx, params.connection_id, body),
});

export const planOnboarding = endpoint({
  ...of,
  method: "POST",
  path: `${PATH}/onboarding/plan`,
  summary: "Plan which accounts a set of capabilities needs",
  description:
    "Returns the providers that could serve each capability, the accounts already connected, the smallest set of accounts that unlocks the rest and why it was chosen, and the capabilities that remain unserved. For every member. Writes nothing.",
  body: OnboardingRequest,
  output: OnboardingPlan,
  errors: [],
  run: (ctx, { body }) => connections.plan(ctx, body),
});

export const createOnboardingSession = endpoint({
  ...of,
  method: "POST",
  path: SESSIONS,
  summary: "Create an onboarding session",
  description:
    "Keeps the requested capabilities for 24 hours and returns the page where a person connects the accounts they need. Never contains a secret.",
  body: OnboardingRequest,
  output: OnboardingSession,
  errors: [],
  run: (ctx, { body }) => connections.startOnboarding(ctx, body),
});

export const getOnboardingSession = endpoint({
  ...of,
  method: "GET",
  path: SESSION,
  summary: "Retrieve an onboarding session and its current plan",
  description:
    "`interaction_required`: a person must connect an account at `action.url`. `configuration_required`: every account is connected, but some capabilities remain unserved. `ready`: all capabilities can run.",
  params: OnboardingPath,
  output: OnboardingSession,
  errors: ["NotFound", "Gone"],
  run: (ctx, { params }) => connections.getOnboarding(ctx, params.session_id),
});

export const getOnboardingResult = endpoint({
  ...of,
  method: "GET",
  path: `${SESSION}/result`,
  summary: "Retrieve the result of an onboarding session",
  description: "`result` is null until every account that can be connected is connected.",
  params: OnboardingPath,
  output: OnboardingResult,
  errors: ["NotFound", "Gone"],
  run: (ctx, { params }) => connections.onboardingResult(ctx, params.session_id),
});

export const completeOnboardingSession = endpoint({
  ...of,
  method: "POST",
  path: `${SESSION}/complete`,
  summary: "Connect one of the accounts an onboarding session needs",
  description:
    "Send a secret as when creating a connection, or leave it out to bind the organization's newest connection of the provider. Call it once per account; the session is complete after the last one.",
  params: OnboardingPath,
  body: CompleteOnboarding,
  output: OnboardingSession,
  errors: ["NotFound", "Gone", "AlreadyConnected", "ProviderUnavailable"],
  run: (ctx, { params, body }) => connections.completeOnboarding(ctx, params.session_id, body),
});
