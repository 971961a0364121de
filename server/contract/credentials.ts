import { z } from "zod";
import { DateTime, PathId } from "./common";

const Id = z.string().min(1).max(64);

export const CredentialPath = z.object({ organization_id: PathId, credential_id: PathId });
export const CredentialBindingPath = CredentialPath.extend({ binding_id: PathId });

/**
 * Fields that every way to connect a provider account shares. Their ids make the published document describe each field
 * once.
 */
const ConnectionLabel = z.string().trim().min(1).max(128).meta({
  id: "ConnectionLabel",
  description:
    "Its name. Of several `openai-compatible` servers in one environment, the first is in routes as `openai-compatible`, further ones as `openai-compatible:<label>`.",
});
const ConnectionEndpointUrl = z.string().trim().min(1).max(2048).meta({
  id: "ConnectionEndpointUrl",
  description:
    "Required for `openai-compatible`, and for no other provider: the server's base URL, e.g. `https://llm.example.com/v1`. It cannot change: the secret is never sent anywhere else.",
});
const ConnectionModels = z.string().trim().min(1).max(16_384).meta({
  id: "ConnectionModels",
  description:
    "Required for `openai-compatible`, and for no other provider: its models as `id:in:out,…`, with prices in US dollars per million tokens, e.g. `llama-3:0.2:0.6`. An embedding model is `id:in:embeddings`; one that reads pictures `id:in:out:pictures`, or `…:pictures=N` for at most N tokens each. Executions are estimated, budgeted and recorded at these prices.",
});
const ConnectionSecret = z.string().max(8192).meta({
  id: "ConnectionSecret",
  description:
    'The API key. If a provider needs several fields, a JSON object of them as text, e.g. `{"apikey": "…", "secretapikey": "…"}`. Checked with the provider before anything is stored; never returned.',
});

export const CreateCredential = z
  .strictObject({
    provider: z.string().min(1).max(64).meta({ description: "A provider's name, e.g. `openai`." }),
    secret: ConnectionSecret,
    label: ConnectionLabel.default("default"),
    endpointUrl: ConnectionEndpointUrl.nullish(),
    models: ConnectionModels.nullish(),
    passThrough: z
      .array(
        z
          .string()
          .regex(/^(\*|[A-Za-z_][A-Za-z0-9_.-]{0,63}\*?)$/, "must be the name of a member; it can end in *"),
      )
      .max(64)
      .meta({
        id: "PassThrough",
        description:
          "For `openai-compatible` only: members of an OpenAI request that Capstan does not interpret and passes to the server unchanged. A name can end in `*`. If left out: `top_k`, `min_p`, `repetition_penalty`, `guided_*`, `chat_template_kwargs`, `logit_bias`. A rotation does not change the list. `*` alone passes any member, but such a request is rejected while a spending limit with enforcement `prevent` applies, since a member may change the price.",
      })
      .nullish(),
  })
  .meta({ id: "ProviderCredentialCreate" });
export type CreateCredential = z.output<typeof CreateCredential>;

export const BindCredential = z
  .strictObject({
    projectId: Id,
    environment: z.string().min(1).max(64),
    provider: z.string().min(1).max(64),
  })
  .meta({ id: "ProviderCredentialBindingCreate" });
export type BindCredential = z.output<typeof BindCredential>;

export const CredentialBinding = z
  .object({
    bindingId: z.string(),
    credentialId: z.string(),
    projectId: z.string(),
    environment: z.string(),
    provider: z.string(),
    createdAt: DateTime,
  })
  .meta({ id: "ProviderCredentialBinding" });
export type CredentialBinding = z.output<typeof CredentialBinding>;

/**
 * Models whose server rejected a request field by name, and how requests to them are sent since then. A rotation clears
 * the list.
 */
const RequestRules = z
  .array(
    z.object({
      model: z.string(),
      outputLimit: z.enum(["max_tokens", "max_completion_tokens"]),
      streamOptions: z.boolean(),
    }),
  )
  .meta({
    id: "RequestRules",
    description: "What models are sent whose server refused the usual members of a request.",
  });

export const Credential = z
  .object({
    credentialId: z.string(),
    organizationId: z.string(),
    provider: z.string(),
    label: z.string(),
    /** Empty if the secret is so short that four characters would reveal it. */
    last4: z.string(),
    /** Equal for equal secrets. */
    fingerprint: z.string(),
    endpointUrl: z.string().nullable(),
    models: z.string().nullable(),
    /** Request members that are passed through; null means the default list, or a provider that accepts none. */
    passThrough: z.array(z.string()).nullable(),
    requestRules: RequestRules,
    /**
     * The provider's last verdict on the credential; `ready` if the provider cannot be asked. A check that does not reach
     * the provider leaves the status unchanged.
     */
    status: z.enum(["ready", "refused"]),
    checkedAt: DateTime.nullable(),
    createdBy: z.string().nullable(),
    createdAt: DateTime,
    rotatedAt: DateTime.nullable(),
    bindings: z.array(CredentialBinding),
  })
  .meta({ id: "ProviderCredential" });
export type Credential = z.output<typeof Credential>;

export const CheckOutcome = z.enum(["ready", "refused", "unreachable"]);
export const CredentialList = z.object({ items: z.array(Credential) }).meta({ id: "ProviderCredentialList" });
export type CredentialList = z.output<typeof CredentialList>;

export const DeletedCredential = z
  .object({ credentialId: z.string(), deleted: z.boolean() })
  .meta({ id: "ProviderCredentialDeleted" });

/** One flag, named after the action that was taken. */
export const Done = z.record(z.string(), z.boolean());

/** A provider whose accounts can be connected, with the fields of its form. */
export const ConnectableProvider = z.object({
  name: z.string(),
  title: z.string(),
  fields: z.array(z.object({ name: z.string(), description: z.string().nullable(), required: z.boolean() })),
  /** The connection must name a server and its models. */
  hasOwnServer: z.boolean(),
  /** Capabilities that the provider can serve. */
  unlocks: z.array(z.object({ key: z.string(), title: z.string() })),
});
export type ConnectableProvider = z.output<typeof ConnectableProvider>;

/**
 * Current state of a connection. `idle`: nothing ran on the connection in the last seven days, and it was never checked
 * with its provider.
 */
export const ConnectionState = z.enum(["healthy", "degraded", "idle"]);
export type ConnectionState = z.output<typeof ConnectionState>;

const ProjectConnection = Credential.extend({ state: ConnectionState });
export type ProjectConnection = z.output<typeof ProjectConnection>;

/**
 * Connections that a project's reader can see. An admin sees those of the whole organization, so that they can be used
 * here too.
 */
export const ProjectConnections = z.object({
  items: z.array(ProjectConnection),
  /** Can the reader change them? */
  canChange: z.boolean(),
});
export type ProjectConnections = z.output<typeof ProjectConnections>;

export const ProjectCredentialPath = z.object({ project_id: PathId });
export const CreateProjectCredential = CreateCredential.extend({
  environments: z.array(z.string().min(1).max(64)).max(64).optional().meta({
    description: "The project's environments that use it. Defaults to all of them.",
  }),
}).meta({ id: "ProjectCredentialCreate" });
export const ConnectProject = CreateProjectCredential.extend(ProjectCredentialPath.shape);
export type ConnectProject = z.output<typeof ConnectProject>;
