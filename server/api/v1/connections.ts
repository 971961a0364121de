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
  summary: "List what the organization has connected, newest first, without secrets",
  description:
    "A connection is a provider credential with its bindings: the same ids, the same rules. For admins of the caller's organization, or of the one that `projectId` belongs to; with it, only what serves that project.",
  query: ConnectionQuery,
  output: ConnectionList,
  errors: [],
  run: (ctx, { query }) => connections.list(ctx, query),
});

export const createConnection = endpoint({
  ...of,
  method: "POST",
  path: PATH,
  summary: "Connect an account and let an environment use it, in one step",
  description:
    "The provider is asked before anything is stored. `credentials` and `secret` are two spellings of the same; `userGuardrails` are ceilings of this connection that every execution on it is held to.",
  body: CreateConnection,
  output: ConnectionChanged,
  errors: ["AlreadyConnected", "ProviderUnavailable"],
  run: (ctx, { body }) => connections.connect(ctx, body),
});

export const getConnection = endpoint({
  ...of,
  method: "GET",
  path: ONE,
  summary: "One connection, and how it did over the last days",
  params: ConnectionPath,
  output: ConnectionDetail,
  errors: ["NotFound"],
  run: (ctx, { params }) => connections.get(ctx, params.connection_id),
});

export const deleteConnection = endpoint({
  ...of,
  method: "DELETE",
  path: ONE,
  summary: "Delete a connection with its secret, bindings and guardrails",
  description: "Work that waits and was to use it fails with ProviderUnavailable; nothing of it is sent.",
  params: ConnectionPath,
  output: Done,
  errors: ["NotFound"],
  run: (ctx, { params }) => connections.remove(ctx, params.connection_id),
});

export const listConnectionBindings = endpoint({
  ...of,
  method: "GET",
  path: `${ONE}/bindings`,
  summary: "The environments a connection serves",
  params: ConnectionPath,
  output: ConnectionBindings,
  errors: ["NotFound"],
  run: (ctx, { params }) => connections.bindings(ctx, params.connection_id),
});

export const bindConnection = endpoint({
  ...of,
  method: "POST",
  path: `${ONE}/bindings`,
  summary: "Let an environment of a project use a connection",
  description: "Again is the same binding; AlreadyConnected where another connection of the provider serves.",
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
  summary: "Take a connection away from an environment",
  params: ConnectionBindingPath,
  output: Done,
  errors: ["NotFound"],
  run: (ctx, { params }) => connections.unbind(ctx, params.connection_id, params.binding_id),
});

export const testConnection = endpoint({
  ...of,
  method: "POST",
  path: `${ONE}/test`,
  summary: "Ask the provider now whether it takes the account",
  description:
    "What it says is kept in the connection's health. `unreachable` changes nothing: nobody can say.",
  params: ConnectionPath,
  output: ConnectionTested,
  errors: ["NotFound"],
  run: (ctx, { params }) => connections.test(ctx, params.connection_id),
});

export const repairConnection = endpoint({
  ...of,
  method: "POST",
  path: `${ONE}/repair`,
  summary: "Test again, and say what to do where something is wrong",
  description:
    "Each step says what was found, what to do about it, and the address of the page where a person does it.",
  params: ConnectionPath,
  output: ConnectionRepair,
  errors: ["NotFound"],
  run: (ctx, { params }) => connections.repair(ctx, params.connection_id),
});

export const rotateConnection = endpoint({
  ...of,
  method: "POST",
  path: `${ONE}/rotate`,
  summary: "Put a new secret in the place of the old one",
  description:
    "Checked with the provider first; the id, the bindings and the address stay. `userGuardrails` changes what it names; with `projectId` the environment is bound as well.",
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
  summary: "Which accounts the capabilities somebody wants need",
  description:
    "Who could serve each, what is connected already, the fewest accounts that unlock all that can be and how they were chosen, and what stays unserved. For every member; writes nothing.",
  body: OnboardingRequest,
  output: OnboardingPlan,
  errors: [],
  run: (ctx, { body }) => connections.plan(ctx, body),
});

export const createOnboardingSession = endpoint({
  ...of,
  method: "POST",
  path: SESSIONS,
  summary: "Begin to connect what some capabilities need",
  description:
    "The session keeps what is wanted for 24 hours and has the address at which a person connects it. No secret is ever in it.",
  body: OnboardingRequest,
  output: OnboardingSession,
  errors: [],
  run: (ctx, { body }) => connections.startOnboarding(ctx, body),
});

export const getOnboardingSession = endpoint({
  ...of,
  method: "GET",
  path: SESSION,
  summary: "An onboarding session, with its plan as things are now",
  description:
    "`interaction_required`: a person has something to connect, at `action.url`. `configuration_required`: nothing is left to connect, and some capabilities stay unserved. `ready`: all of them can run.",
  params: OnboardingPath,
  output: OnboardingSession,
  errors: ["NotFound", "Gone"],
  run: (ctx, { params }) => connections.getOnboarding(ctx, params.session_id),
});

export const getOnboardingResult = endpoint({
  ...of,
  method: "GET",
  path: `${SESSION}/result`,
  summary: "What came of an onboarding session",
  description: "`result` is null until everything that can be connected is.",
  params: OnboardingPath,
  output: OnboardingResult,
  errors: ["NotFound", "Gone"],
  run: (ctx, { params }) => connections.onboardingResult(ctx, params.session_id),
});

export const completeOnboardingSession = endpoint({
  ...of,
  method: "POST",
  path: `${SESSION}/complete`,
  summary: "Connect one of the accounts a session needs",
  description:
    "With a secret as in a create; without one the organization's newest connection of the provider is bound. Once for each account; the session is complete with the last.",
  params: OnboardingPath,
  body: CompleteOnboarding,
  output: OnboardingSession,
  errors: ["NotFound", "Gone", "AlreadyConnected", "ProviderUnavailable"],
  run: (ctx, { params, body }) => connections.completeOnboarding(ctx, params.session_id, body),
});
