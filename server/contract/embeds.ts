import { z } from "zod";
import { MOST_MICROS } from "./budgets";
import { branded, DateTime, JsonObject, PathId, pageLimit } from "./common";
import { EMBED_SESSION_STATUSES, PRICING_DISPLAYS } from "./enums";
import { EnvironmentSlug } from "./organizations";

const Id = z.string().min(1).max(64);
const Name = z.string().trim().min(1).max(255);
const Key = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "use letters and digits, and . _ - after the first character");

const isLocal = (host: string) => host === "localhost" || host === "127.0.0.1" || host === "[::1]";

/** Host and port as URLs write them. It excludes characters that have a meaning in a CSP source list. */
const HOST = /^https?:\/\/([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d+)?$/;

/** Is this exactly the `Origin` header of a page that can embed a panel? */
export function isEmbeddingOrigin(text: string): boolean {
  if (!HOST.test(text) || !URL.canParse(text)) return false;
  const { origin, protocol, hostname } = new URL(text);
  return origin === text && (protocol === "https:" || (protocol === "http:" && isLocal(hostname)));
}

/** Origin of a host page, such as `https://app.example`; http is accepted for the local machine only. */
export const EmbeddingOrigin = z
  .string()
  .max(255)
  .refine(
    isEmbeddingOrigin,
    "must be an exact https origin such as https://app.example (http for localhost only), without a path",
  );
const MOST_ORIGINS = 20;
const Origins = z.array(EmbeddingOrigin).max(MOST_ORIGINS);

/**
 * `named_model`, `named_provider` and `exact_pin` allow requests that name one of these. With any other policy, as with
 * `lowest_cost` and `automatic`, Capstan chooses the route. A request may always leave the choice to Capstan.
 */
const RoutingPolicy = z.string().min(1).max(64);

export const EmbedPolicy = z
  .strictObject({
    defaultRoutingPolicy: RoutingPolicy.default("lowest_cost"),
    allowedRoutingPolicies: z.array(RoutingPolicy).max(16).default([]).meta({
      description:
        "What a request can choose: named_model, named_provider or exact_pin. If empty, Capstan always chooses the route.",
    }),
    allowedGenerationStrategies: z.array(z.string().min(1).max(64)).max(16).default([]),
    maxOutputs: z.int().min(1).max(64).default(16).meta({ description: "Maximum variants of one job." }),
    maxSpendPerJobMicros: z.int().min(1).max(MOST_MICROS).nullish(),
  })
  .meta({ id: "PanelPolicy" });
export type EmbedPolicy = z.output<typeof EmbedPolicy>;

export const EmbedPresentation = z
  .strictObject({
    showPrompt: z.boolean().default(true),
    showReferences: z.boolean().default(true),
    showOutputCount: z.boolean().default(true),
    showTransparency: z.boolean().default(true),
    showRouting: z.boolean().default(false),
    showGenerationStrategy: z.boolean().default(false),
    showModel: z.boolean().default(false),
    pricingDisplay: z.enum(PRICING_DISPLAYS).default("total"),
  })
  .meta({ id: "PanelPresentation" });
export type EmbedPresentation = z.output<typeof EmbedPresentation>;

/** Target of an action's link: a web page, never a script. */
const Href = z
  .string()
  .max(2_048)
  .regex(
    /^(https?:\/\/\S+|\/(?![/\\])\S*)$/i,
    "must be an http or https address, or a path that begins with /",
  );
const Handler = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("capability"), capability: z.string().min(1).max(128) }),
  z.strictObject({ kind: z.literal("projectCommand"), command: z.string().min(1).max(255) }),
  z.strictObject({ kind: z.literal("navigation"), href: Href }),
]);
const ActionInput = z.strictObject({
  key: z.string().min(1).max(128),
  label: Name,
  valueType: z.enum(["string", "number", "boolean", "string[]"]).default("string"),
});
export const SurfaceAction = z
  .strictObject({
    key: z.string().min(1).max(128),
    label: Name,
    handler: Handler,
    inputs: z.array(ActionInput).max(32).default([]),
  })
  .meta({ id: "SurfaceActionDefinition" });
const Actions = z
  .array(SurfaceAction)
  .max(32)
  .refine((all) => new Set(all.map(({ key }) => key)).size === all.length, "each action needs its own key");

const Origin = z.enum(["service", "project"]);
const OriginGiven = branded(/^(?!project$)[a-z0-9_-]{1,64}$/, "service", Origin);
export const EmbedStatus = z.enum(["active", "disabled", "archived"]);

export const EmbedDefinitionCreate = z
  .strictObject({
    key: Key,
    displayName: Name,
    capabilityKey: z.string().min(1).max(128).nullish(),
    capabilityVersion: z.string().min(1).max(64).nullish(),
    projectId: Id.nullish().meta({
      description: "Limits the embed to this project. If left out, the whole organization can use it.",
    }),
    presentation: EmbedPresentation.prefault({}),
    policy: EmbedPolicy.prefault({}),
    allowedOrigins: Origins.default([]).meta({
      description: "Origins of the pages that can embed it. If empty, each session sets its own.",
    }),
    actions: Actions.default([]),
    origin: OriginGiven.default("service"),
  })
  .meta({ id: "PanelDefinitionCreate" });
export type EmbedDefinitionCreate = z.output<typeof EmbedDefinitionCreate>;

/**
 * The panel's form. An embed of a whole organization needs the organization's id, since a person can belong to several.
 */
export const DefineEmbed = EmbedDefinitionCreate.extend({ organizationId: Id.optional() });

export const EmbedDefinitionPatch = z
  .strictObject({
    displayName: Name.nullish(),
    status: EmbedStatus.nullish(),
    origin: OriginGiven.nullish(),
    presentation: EmbedPresentation.nullish(),
    policy: EmbedPolicy.nullish(),
    allowedOrigins: Origins.nullish(),
    actions: Actions.nullish(),
  })
  .meta({ id: "PanelDefinitionPatch" });
export type EmbedDefinitionPatch = z.output<typeof EmbedDefinitionPatch>;

export const EmbedVersion = z
  .object({
    id: z.string(),
    definitionId: z.string(),
    version: z.int(),
    capabilityKey: z.string().nullable(),
    capabilityVersion: z.string().nullable(),
    allowedOrigins: z.array(z.string()),
    presentation: EmbedPresentation,
    policy: EmbedPolicy,
    actions: z.array(SurfaceAction),
    createdAt: DateTime,
  })
  .meta({ id: "PanelDefinitionVersion" });

export const EmbedDefinition = z
  .object({
    id: z.string(),
    organizationId: z.string(),
    projectId: z.string().nullable(),
    key: z.string(),
    displayName: z.string(),
    status: EmbedStatus,
    origin: Origin,
    createdAt: DateTime,
    updatedAt: DateTime,
    currentVersion: EmbedVersion,
  })
  .meta({ id: "PanelDefinition" });
export type EmbedDefinition = z.output<typeof EmbedDefinition>;

export const EmbedDefinitionList = z
  .object({ definitions: z.array(EmbedDefinition) })
  .meta({ id: "PanelDefinitionList" });
export const EmbedDefinitionPath = z.object({ definition_id: PathId });

export const EmbedSessionCreate = z
  .strictObject({
    projectId: Id,
    allowedOrigins: Origins.min(1),
    maxSpendMicros: z.int().min(1).max(MOST_MICROS),
    panelDefinitionId: Id.nullish(),
    panelDefinitionKey: Key.nullish(),
    externalSubject: z
      .string()
      .min(1)
      .max(255)
      .nullish()
      .meta({ description: "Your own id for the person who uses it." }),
    environment: EnvironmentSlug.optional().meta({
      description: "Defaults to the key's own environment, or `development`.",
    }),
    maxJobs: z.int().min(1).max(1_000).default(10),
    expiresInMinutes: z.int().min(5).max(120).default(60),
    initialInputs: JsonObject.default({}),
    lockedInputs: JsonObject.default({}),
  })
  .meta({ id: "PanelSessionCreate" });
export type EmbedSessionCreate = z.output<typeof EmbedSessionCreate>;

export const EmbedSessionStatus = z.enum(EMBED_SESSION_STATUSES);
export const EmbedSession = z
  .object({
    sessionId: z.string(),
    organizationId: z.string(),
    projectId: z.string(),
    environment: z.string(),
    panelDefinitionId: z.string().nullable(),
    panelDefinitionVersion: z.int().nullable(),
    status: EmbedSessionStatus,
    allowedOrigins: z.array(z.string()),
    externalSubject: z.string().nullable(),
    maxSpendMicros: z.int(),
    /** Settled and held amounts. Test money and live money are counted separately, each against the whole limit. */
    spentMicros: z.int(),
    testSpentMicros: z.int(),
    maxJobs: z.int(),
    admittedJobs: z.int(),
    initialInputs: JsonObject,
    lockedInputs: JsonObject,
    createdAt: DateTime,
    expiresAt: DateTime,
    revokedAt: DateTime.nullable(),
  })
  .meta({ id: "PanelSession" });
export type EmbedSession = z.output<typeof EmbedSession>;
export const NewEmbedSession = EmbedSession.extend({
  accessToken: z.string().meta({ description: "Returned only in this response." }),
}).meta({ id: "NewPanelSession" });
export type NewEmbedSession = z.output<typeof NewEmbedSession>;
/** Filters of a project's list of embed sessions. */
export const ListEmbedSessions = z.object({
  definition_id: Id.optional(),
  external_subject: z.string().min(1).max(255).optional(),
  status: EmbedSessionStatus.optional(),
  /** The `nextCursor` of the previous page, a session id. */
  cursor: z.string().max(64).optional(),
  limit: pageLimit(100, 25),
});
export type ListEmbedSessions = z.output<typeof ListEmbedSessions>;
export const EmbedSessionPage = z.object({ items: z.array(EmbedSession), nextCursor: z.string().optional() });
export type EmbedSessionPage = z.output<typeof EmbedSessionPage>;
export const EmbedSessionPath = z.object({ session_id: PathId });

export const EmbedLaunchCode = z
  .object({
    launchCodeId: z.string(),
    sessionId: z.string(),
    code: z.string().meta({ description: "Returned only in this response, and valid for one exchange." }),
    expiresAt: DateTime,
    embedUrl: z.string(),
  })
  .meta({ id: "PanelLaunchCode" });
export type EmbedLaunchCode = z.output<typeof EmbedLaunchCode>;

export const EmbedCodeExchange = z
  .looseObject({ code: z.string().min(1).max(255) })
  .meta({ id: "PanelCodeExchange" });
export const ExchangedEmbedSession = z
  .object({ sessionId: z.string(), accessToken: z.string(), expiresAt: DateTime })
  .meta({ id: "ExchangedPanelSession" });
export type ExchangedEmbedSession = z.output<typeof ExchangedEmbedSession>;

/** All data that the embedded page needs to draw itself. */
export const EmbedBootstrap = z
  .object({
    protocol: z.literal("service.panel.v1"),
    session: EmbedSession.pick({
      sessionId: true,
      projectId: true,
      environment: true,
      externalSubject: true,
      allowedOrigins: true,
      expiresAt: true,
    }),
    limits: z.object({
      maxSpendMicros: z.int(),
      remainingMicros: z.int(),
      maxJobs: z.int(),
      remainingJobs: z.int(),
    }),
    definition: EmbedDefinition.pick({ id: true, key: true, displayName: true })
      .extend({ version: z.int() })
      .nullable(),
    presentation: EmbedPresentation,
    policy: EmbedPolicy,
    actions: z.array(SurfaceAction),
    initialInputs: JsonObject,
    lockedInputs: JsonObject,
    /** The capability from which the form is built; null for a session that is not bound to exactly one capability. */
    capability: z
      .object({
        key: z.string(),
        title: z.string(),
        description: z.string(),
        inputSchema: JsonObject,
        executionModes: z.array(z.string()),
        output: JsonObject,
        examples: z.array(JsonObject),
      })
      .nullable(),
  })
  .meta({ id: "PanelBootstrap" });
export type EmbedBootstrap = z.output<typeof EmbedBootstrap>;

/** Terms that apply to every request of a session. */
export type EmbedTerms = {
  /** Null allows any capability. */
  capabilityKey: string | null;
  lockedInputs: JsonObject;
  initialInputs: JsonObject;
  /** Null if the session has no definition; the default policy applies then. */
  policy: EmbedPolicy | null;
};
