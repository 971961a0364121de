import { z } from "zod";
import { BudgetSpend, UserGuardrails } from "./budgets";
import { DateTime, PathId } from "./common";
import {
  BindCredential,
  CheckOutcome,
  ConnectionState,
  CreateCredential,
  Credential,
  CredentialBinding,
} from "./credentials";

const Id = z.string().min(1).max(64);
const Environment = z.string().min(1).max(64).default("development");
const Capabilities = z.array(z.string().min(1).max(128)).min(1).max(100);

export const ConnectionPath = z.object({ connection_id: PathId });
export const OnboardingPath = z.object({ session_id: PathId });

/** The only way to make a connection is to paste a key of one's own account. */
export const BootstrapMode = z.enum(["manual_api_key"], {
  error: "Only manual_api_key is supported: a person sends a key of their own account.",
});
const BootstrapModeGiven = BootstrapMode.nullable()
  .transform((mode) => mode ?? "manual_api_key")
  .default("manual_api_key");

const { secret: _secret, ...ofCredential } = CreateCredential.shape;
const Spelled = {
  credentials: z
    .union([z.record(z.string().min(1).max(64), z.string().max(8192)), z.string().max(8192)])
    .nullish()
    .meta({
      description: "The secret, or its fields by name. Send either this or `secret`.",
    }),
  secret: CreateCredential.shape.secret.nullish(),
};

export const CreateConnection = z
  .strictObject({
    ...ofCredential,
    ...Spelled,
    bootstrapMode: BootstrapModeGiven,
    autoBind: z.boolean().default(true).meta({
      description:
        "Binds the connection to `environment` of `projectId` in the same step. Without `projectId`, nothing is bound.",
    }),
    replaceExisting: z.boolean().default(false).meta({
      description:
        "Replaces the connection of this provider that the environment uses. Without it, the request fails with 409 AlreadyConnected. The replaced connection is kept, unbound.",
    }),
    projectId: Id.nullish(),
    environment: Environment,
    userGuardrails: UserGuardrails.nullish(),
  })
  .meta({ id: "ConnectionCreate" });
export type CreateConnection = z.output<typeof CreateConnection>;

/** The same body as on creation; without a label, the current one stays. */
export const RotateConnection = CreateConnection.extend({
  label: z.string().trim().min(1).max(128).optional(),
}).meta({ id: "ConnectionRotate" });
export type RotateConnection = z.output<typeof RotateConnection>;

export const BindConnection = BindCredential.extend({
  provider: BindCredential.shape.provider.nullish(),
}).meta({ id: "ConnectionBindingCreate" });
export type BindConnection = z.output<typeof BindConnection>;

export const Connection = Credential.omit({ credentialId: true })
  .extend({
    id: z.string(),
    bootstrapMode: z.literal("manual_api_key"),
    /** Ceilings at list price, per UTC day and per execution; null means no ceiling. */
    userGuardrails: z.object({
      dailyMicros: z.int().nullable(),
      perExecutionMicros: z.int().nullable(),
    }),
    /** Spend that counts against the daily ceiling; null if there is no ceiling. */
    spend: BudgetSpend.nullable(),
  })
  .meta({ id: "Connection" });
export type Connection = z.output<typeof Connection>;

export const ConnectionCheck = z.object({
  outcome: CheckOutcome,
  /**
   * The provider's refusal, or why the check could not reach the provider; null if the provider accepts the account.
   */
  message: z.string().nullable(),
  at: DateTime,
});
export const ConnectionHour = z.object({
  hour: DateTime,
  answered: z.int(),
  failed: z.int(),
  /** Problem of the newest failure. */
  problem: z.string().nullable(),
  problemAt: DateTime.nullable(),
});
export const ConnectionHealth = z
  .object({
    /** Identifies the account as metrics, routes and receipts name it. */
    account: z.object({
      connectionId: z.string(),
      label: z.string(),
      /** Names within environments: the provider, or `openai-compatible:<label>` for further servers. */
      names: z.array(z.string()),
    }),
    state: ConnectionState,
    /** Results of checks with the provider, newest first. */
    checks: z.array(ConnectionCheck),
    /** Outcomes of provider calls in the last seven days, by hour, newest first. */
    hours: z.array(ConnectionHour),
  })
  .meta({ id: "ConnectionHealth" });
export type ConnectionHealth = z.output<typeof ConnectionHealth>;

export const ConnectionList = z.object({ items: z.array(Connection) }).meta({ id: "ConnectionList" });
export const ConnectionDetail = Connection.extend({ health: ConnectionHealth }).meta({
  id: "ConnectionDetail",
});
export type ConnectionDetail = z.output<typeof ConnectionDetail>;
export const ConnectionChanged = z
  .object({ connection: Connection.extend({ action: z.enum(["created", "replaced", "rotated"]) }) })
  .meta({ id: "ConnectionChanged" });
export type ConnectionChanged = z.output<typeof ConnectionChanged>;
export const ConnectionBindings = z
  .object({ items: z.array(CredentialBinding) })
  .meta({ id: "ConnectionBindings" });

export const ConnectionTested = z
  .object({
    connection: Connection,
    outcome: CheckOutcome,
    message: z.string().nullable(),
    testedAt: DateTime,
  })
  .meta({ id: "ConnectionTested" });
export type ConnectionTested = z.output<typeof ConnectionTested>;

export const RepairStep = z.object({
  code: z.enum(["replace_secret", "wait_for_provider", "look_at_failures", "bind"]),
  /** The finding, in the provider's words if it sent any. */
  found: z.string(),
  /** The action to take. */
  todo: z.string(),
  /** The page on which a person takes it. */
  url: z.string(),
});
export const ConnectionRepair = ConnectionTested.extend({
  state: ConnectionHealth.shape.state,
  /** The steps in the order to take them; empty if the connection works and an environment uses it. */
  steps: z.array(RepairStep),
}).meta({ id: "ConnectionRepair" });
export type ConnectionRepair = z.output<typeof ConnectionRepair>;

export const SetConnectionGuardrails = UserGuardrails.extend({ connection_id: Id });

export const OnboardingRequest = z
  .strictObject({
    capabilities: Capabilities,
    projectId: Id.nullish(),
    environment: Environment,
    accountClass: z.string().min(1).max(64).default("individual").meta({
      description: "Returned unchanged. Every account belongs to the organization.",
    }),
  })
  .meta({ id: "OnboardingPlanBody" });
export type OnboardingRequest = z.output<typeof OnboardingRequest>;

export const OnboardingStatus = z.enum(["ready", "interaction_required", "configuration_required"]);
export type OnboardingStatus = z.output<typeof OnboardingStatus>;

/**
 * `connected`: bound to the environment. `bind`: the organization has the account and must bind it. `connect`: the
 * account must be connected.
 */
export const AccountState = z.enum(["connected", "bind", "connect"]);

export const PlannedAccount = z.object({
  provider: z.string(),
  title: z.string(),
  state: AccountState,
  /** Null unless the reader is an admin of the organization. */
  connectionId: z.string().nullable(),
  /** The requested capabilities that use this account. */
  unlocks: z.array(z.string()),
  /** The page on which a person connects the account; null if it is connected or no project is named. */
  url: z.string().nullable(),
});
export type PlannedAccount = z.output<typeof PlannedAccount>;

export const PlannedCapability = z.object({
  key: z.string(),
  title: z.string(),
  ready: z.boolean(),
  /**
   * One item per provider call that the capability can make; each needs one of its providers. Empty if it needs no
   * provider.
   */
  needs: z.array(
    z.object({
      what: z.string(),
      providers: z.array(z.object({ provider: z.string(), title: z.string(), state: AccountState })),
    }),
  ),
});
export type PlannedCapability = z.output<typeof PlannedCapability>;

export const OnboardingPlan = z
  .object({
    organizationId: z.string(),
    projectId: z.string().nullable(),
    environment: z.string(),
    accountClass: z.string(),
    status: OnboardingStatus,
    capabilities: z.array(PlannedCapability),
    /** The fewest accounts that unlock every capability that can be served; connected ones come first. */
    accounts: z.array(PlannedAccount),
    /** Keys of capabilities that no connectable provider of this installation serves. */
    unserved: z.array(z.string()),
    /** Explains the choice of accounts. */
    explanation: z.string(),
  })
  .meta({ id: "OnboardingPlan" });
export type OnboardingPlan = z.output<typeof OnboardingPlan>;

export const OnboardingSession = z
  .object({
    sessionId: z.string(),
    status: OnboardingStatus,
    /** The next action of a person; null if there is none. */
    action: z.object({ type: z.literal("open_url"), url: z.string() }).nullable(),
    plan: OnboardingPlan,
    createdAt: DateTime,
    expiresAt: DateTime,
    completedAt: DateTime.nullable(),
  })
  .meta({ id: "OnboardingSession" });
export type OnboardingSession = z.output<typeof OnboardingSession>;

export const OnboardingResult = z
  .object({
    sessionId: z.string(),
    status: OnboardingStatus,
    action: OnboardingSession.shape.action,
    /** Null until every account that can be connected is connected. */
    result: z
      .object({
        completedAt: DateTime,
        /** The connections in use; shown only to admins of the organization. */
        connectionIds: z.array(z.string()),
        /** The requested capabilities that can run now. */
        ready: z.array(z.string()),
        unserved: z.array(z.string()),
      })
      .nullable(),
  })
  .meta({ id: "OnboardingResult" });
export type OnboardingResult = z.output<typeof OnboardingResult>;

export const CompleteOnboarding = z
  .strictObject({
    provider: CreateCredential.shape.provider,
    secret: CreateCredential.shape.secret.nullish().meta({
      description: "If left out, the organization's newest connection of this provider is bound.",
    }),
    bootstrapMode: BootstrapModeGiven,
    endpointUrl: CreateCredential.shape.endpointUrl,
    models: CreateCredential.shape.models,
    passThrough: CreateCredential.shape.passThrough,
    federationMetadata: z
      .null({ error: "Federated sign-up is not supported. Send a key of your own account as secret." })
      .optional(),
    label: CreateCredential.shape.label,
    autoBind: z.boolean().default(true),
  })
  .meta({ id: "OnboardingCompleteBody" });
export type CompleteOnboarding = z.output<typeof CompleteOnboarding>;
