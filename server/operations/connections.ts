import { InProject } from "@/server/contract/common";
import {
  BindConnection,
  CompleteOnboarding,
  ConnectionBindings,
  ConnectionChanged,
  ConnectionDetail,
  ConnectionList,
  ConnectionRepair,
  ConnectionTested,
  CreateConnection,
  OnboardingPlan,
  OnboardingRequest,
  OnboardingResult,
  OnboardingSession,
  RotateConnection,
} from "@/server/contract/connections";
import { CredentialBinding, Done } from "@/server/contract/credentials";
import * as connections from "@/server/domain/onboarding";
import { byKeysAndPeople, byPeople, operations } from "./define";

const manage = operations("Connections", byKeysAndPeople("credentials:write"));
const people = operations("Connections", byPeople);

export const listConnections = manage.get("/v1/connections", {
  summary: "List connections, newest first",
  description:
    "A connection is a provider credential with its bindings, under the same id and the same rules. Secrets are never returned. For admins of the caller's organization, or of the one that owns `projectId`; with `projectId`, lists only connections that serve that project. A management key names one of its projects, and sees what serves its projects only.",
  query: InProject,
  output: ConnectionList,
  errors: ["PROJECT_REQUIRED"],
  run: (ctx, { query }) => connections.list(ctx, query),
});

export const createConnection = manage.post("/v1/connections", {
  summary: "Create a connection and bind it to an environment",
  description:
    "The secret is verified with the provider before anything is stored. `credentials` and `secret` are two names for the same field. `userGuardrails` are spending limits for executions on this connection. Of keys, only a management key can do this, in its projects and at the hosts that its owner allowed.",
  body: CreateConnection,
  example: { provider: "openai", secret: "sk-your-own-key", projectId: "cpr_01jd0000000000000000000000" },
  output: ConnectionChanged,
  errors: ["PROJECT_REQUIRED", "AlreadyConnected", "ProviderUnavailable"],
  run: (ctx, { body }) => connections.connect(ctx, body),
});

export const getConnection = manage.get("/v1/connections/{connection_id}", {
  summary: "Retrieve a connection and its recent health",
  output: ConnectionDetail,
  run: (ctx, { connection_id }) => connections.get(ctx, connection_id),
});

export const deleteConnection = manage.delete("/v1/connections/{connection_id}", {
  summary: "Delete a connection, with its secret, bindings and guardrails",
  description: "Queued work that depends on it fails with ProviderUnavailable and is not sent.",
  output: Done,
  run: (ctx, { connection_id }) => connections.remove(ctx, connection_id),
});

export const listConnectionBindings = manage.get("/v1/connections/{connection_id}/bindings", {
  summary: "List the environments a connection serves",
  output: ConnectionBindings,
  run: (ctx, { connection_id }) => connections.bindings(ctx, connection_id),
});

export const bindConnection = manage.post("/v1/connections/{connection_id}/bindings", {
  summary: "Bind a connection to an environment of a project",
  description:
    "Repeating the request returns the same binding. Returns AlreadyConnected if another connection of the same provider serves the environment.",
  body: BindConnection,
  example: { projectId: "cpr_01jd0000000000000000000000", environment: "development", provider: "openai" },
  output: CredentialBinding,
  errors: ["AlreadyConnected"],
  run: (ctx, { connection_id, body }) => connections.bind(ctx, connection_id, body),
});

export const unbindConnection = manage.delete("/v1/connections/{connection_id}/bindings/{binding_id}", {
  summary: "Remove a connection from an environment",
  output: Done,
  run: (ctx, { connection_id, binding_id }) => connections.unbind(ctx, connection_id, binding_id),
});

export const testConnection = manage.post("/v1/connections/{connection_id}/test", {
  summary: "Test a connection with its provider",
  description:
    "The outcome is stored in the connection's health. `unreachable` changes nothing, because the provider did not respond.",
  output: ConnectionTested,
  run: (ctx, { connection_id }) => connections.test(ctx, connection_id),
});

export const repairConnection = manage.post("/v1/connections/{connection_id}/repair", {
  summary: "Diagnose a connection",
  description:
    "Tests the connection again. Each step reports its finding, what to do about it, and the page where a person does it.",
  output: ConnectionRepair,
  run: (ctx, { connection_id }) => connections.repair(ctx, connection_id),
});

export const rotateConnection = manage.post("/v1/connections/{connection_id}/rotate", {
  summary: "Replace a connection's secret",
  description:
    "The new secret is verified with the provider first. The id, the bindings and the address do not change. `userGuardrails` changes only the limits that it names. With `projectId`, the environment is bound as well.",
  body: RotateConnection,
  example: { provider: "openai", secret: "sk-your-new-key" },
  output: ConnectionChanged,
  errors: ["AlreadyConnected", "ProviderUnavailable"],
  run: (ctx, { connection_id, body }) => connections.rotate(ctx, connection_id, body),
});

export const planOnboarding = people.post("/v1/connections/onboarding/plan", {
  summary: "Plan which accounts a set of capabilities needs",
  description:
    "Returns the providers that could serve each capability, the accounts already connected, the smallest set of accounts that unlocks the rest and why it was chosen, and the capabilities that remain unserved. For every member. Writes nothing.",
  body: OnboardingRequest,
  example: { capabilities: ["text.general.fast.v1"], projectId: "cpr_01jd0000000000000000000000" },
  output: OnboardingPlan,
  run: (ctx, { body }) => connections.plan(ctx, body),
});

export const createOnboardingSession = people.post("/v1/connections/onboarding/sessions", {
  summary: "Create an onboarding session",
  description:
    "Keeps the requested capabilities for 24 hours and returns the page where a person connects the accounts they need. Never contains a secret.",
  body: OnboardingRequest,
  example: { capabilities: ["text.general.fast.v1"], projectId: "cpr_01jd0000000000000000000000" },
  output: OnboardingSession,
  run: (ctx, { body }) => connections.startOnboarding(ctx, body),
});

export const getOnboardingSession = people.get("/v1/connections/onboarding/sessions/{session_id}", {
  summary: "Retrieve an onboarding session and its current plan",
  description:
    "`interaction_required`: a person must connect an account at `action.url`. `configuration_required`: every account is connected, but some capabilities remain unserved. `ready`: all capabilities can run.",
  output: OnboardingSession,
  errors: ["Gone"],
  run: (ctx, { session_id }) => connections.getOnboarding(ctx, session_id),
});

export const getOnboardingResult = people.get("/v1/connections/onboarding/sessions/{session_id}/result", {
  summary: "Retrieve the result of an onboarding session",
  description: "`result` is null until every account that can be connected is connected.",
  output: OnboardingResult,
  errors: ["Gone"],
  run: (ctx, { session_id }) => connections.onboardingResult(ctx, session_id),
});

export const completeOnboardingSession = people.post(
  "/v1/connections/onboarding/sessions/{session_id}/complete",
  {
    summary: "Connect one of the accounts an onboarding session needs",
    description:
      "Send a secret as when creating a connection, or leave it out to bind the organization's newest connection of the provider. Call it once per account; the session is complete after the last one.",
    body: CompleteOnboarding,
    example: { provider: "openai", secret: "sk-your-own-key" },
    output: OnboardingSession,
    errors: ["Gone", "AlreadyConnected", "ProviderUnavailable"],
    run: (ctx, { session_id, body }) => connections.completeOnboarding(ctx, session_id, body),
  },
);
